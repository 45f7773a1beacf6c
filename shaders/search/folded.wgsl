// Coordinates of cells that repeat in space.

/// `floor(value · per_nm)` modulo a power of two, exact: the CPU uses 64 bits, this uses
/// integers. Beyond 2⁶³ there is a single cell, as on the CPU.
fn folded_coordinate(value: f32, mask: u32, per_nm: f32) -> u32 {
    // value = ± mantissa · 2^exponent, and so is per_nm.
    let bits = bitcast<u32>(value);
    let scale = bitcast<u32>(per_nm);
    let biased = (bits >> 23u) & 0xffu;
    let mantissa = (bits & 0x7fffffu) | (u32(biased != 0u) << 23u);
    let factor = (scale & 0x7fffffu) | 0x800000u;
    let shift = i32(max(biased, 1u)) + i32((scale >> 23u) & 0xffu) - 300;
    let negative = (bits >> 31u) != 0u;
    // The product has 48 bits: multiplied in halves of 12 bits, combined as 16 + 32.
    let lows = (mantissa & 0xfffu) * (factor & 0xfffu);
    let mixed = (mantissa & 0xfffu) * (factor >> 12u) + (mantissa >> 12u) * (factor & 0xfffu);
    let highs = (mantissa >> 12u) * (factor >> 12u);
    let lower = lows + ((mixed & 0xfffu) << 12u);
    let upper = highs + (mixed >> 12u) + (lower >> 24u);
    let low = (upper << 24u) | (lower & 0xffffffu);
    let high = upper >> 8u;
    if (low | high) == 0u {
        return 0u;
    }
    if shift >= 0 {
        let length = select(32u - countLeadingZeros(low), 64u - countLeadingZeros(high), high != 0u);
        if i32(length) + shift > 63 {
            return select(mask, 0u, negative);
        }
        let quotient = select(low << u32(min(shift, 31)), 0u, shift > 31);
        return select(quotient, 0u - quotient, negative) & mask;
    }
    // Truncated; the floor of a negative value is one less if bits were cut off.
    let right = u32(-shift);
    var quotient = 0u;
    var cut = true;
    if right < 32u {
        quotient = (low >> right) | (high << (32u - right));
        cut = (low & ((1u << right) - 1u)) != 0u;
    } else if right < 64u {
        quotient = high >> (right - 32u);
        cut = low != 0u || (high & ((1u << (right - 32u)) - 1u)) != 0u;
    }
    return select(quotient, 0u - (quotient + u32(cut)), negative) & mask;
}
