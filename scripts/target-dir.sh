# shellcheck shell=bash
# Sourced by the other scripts from the root of the checkout. Sets one target directory outside
# of it, so that a fresh clone does not compile the dependencies again.

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/bevy_rapier_molecules/target}"

# Cargo compares file times and would reuse the build of another checkout of this crate. So a
# new checkout rebuilds the crate, but not its dependencies.
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
