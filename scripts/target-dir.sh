# shellcheck shell=bash
# Sourced by the other scripts, from the root of the checkout: one target directory
# outside of it, so that a fresh clone does not compile the dependencies again.

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/bevy_rapier_molecules/target}"

# Cargo tells by file times what is up to date, and takes what another checkout built
# for its own. So each checkout builds this crate anew; the dependencies stay.
forget_other_checkouts() {
    local stamp=$CARGO_TARGET_DIR/.checkout
    if [[ $(cat "$stamp" 2>/dev/null) == "$PWD" ]]; then
        return
    fi
    cargo clean --quiet -p bevy_rapier_molecules
    cargo clean --quiet --release -p bevy_rapier_molecules
    mkdir -p "$CARGO_TARGET_DIR"
    printf '%s\n' "$PWD" >"$stamp"
}
