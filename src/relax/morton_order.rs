//! Sorts molecules along a Morton curve.
//!
//! Every stage of an iteration reads a molecule together with its neighbors in space, so
//! neighbors in space should be neighbors in memory.

use glam::Vec3;

use crate::crowd::CrowdMember;

/// Largest coordinate on the curve: three times ten bits fit a 32-bit code.
const MAX_COORDINATE: f32 = 1023.0;

/// Indices of `members` along a Morton curve through their current positions.
pub(super) fn morton_order(members: &[CrowdMember]) -> Vec<u32> {
    let positions = members.iter().map(|member| member.pose.position);
    let low = positions.clone().fold(Vec3::INFINITY, Vec3::min);
    let high = positions.clone().fold(Vec3::NEG_INFINITY, Vec3::max);
    let size = (high - low).max_element();
    let scale = if size > 0.0 {
        MAX_COORDINATE / size
    } else {
        0.0
    };
    let mut keyed: Vec<(u32, u32)> = positions
        .zip(0..)
        .map(|(position, index)| (morton((position - low) * scale), index))
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, index)| index).collect()
}

/// Interleaves the bits of three coordinates between 0 and [`MAX_COORDINATE`].
fn morton(point: Vec3) -> u32 {
    let spread = |value: f32| {
        let mut bits = value as u32 & 0x3ff;
        bits = (bits | bits << 16) & 0x0300_00ff;
        bits = (bits | bits << 8) & 0x0300_f00f;
        bits = (bits | bits << 4) & 0x030c_30c3;
        (bits | bits << 2) & 0x0924_9249
    };
    spread(point.x) | spread(point.y) << 1 | spread(point.z) << 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::Pose;

    fn members(positions: &[Vec3]) -> Vec<CrowdMember> {
        positions
            .iter()
            .map(|&position| CrowdMember {
                pose: Pose::from_translation(position),
                ..CrowdMember::default()
            })
            .collect()
    }

    #[test]
    fn every_member_appears_once_and_octants_stay_together() {
        let corners: Vec<Vec3> = (0..64)
            .map(|k| {
                let octant = Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2 & 1) as f32);
                octant * 100.0 + Vec3::splat((k >> 3) as f32)
            })
            .collect();
        let order = morton_order(&members(&corners));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..64));
        for octant in order.chunks(8) {
            assert!(octant.iter().all(|k| k % 8 == octant[0] % 8));
        }
    }

    #[test]
    fn coincident_and_no_members_are_sorted() {
        assert!(morton_order(&[]).is_empty());
        assert_eq!(morton_order(&members(&[Vec3::ONE; 3])), [0, 1, 2]);
    }
}
