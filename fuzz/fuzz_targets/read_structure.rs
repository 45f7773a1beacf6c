//! Whatever the bytes, reading them gives a structure or an error: no panic, no endless memory.
//!
//! The first byte chooses the format (see the README); the rest is the file.
#![no_main]

use bevy_rapier_molecules::molecule::{
    AssemblyChoice, Format, LoadOptions, ModelChoice, SplitBy, read_bytes,
};
use libfuzzer_sys::fuzz_target;

/// Copies of an assembly times atoms that a case may build, so that cases stay quick.
const MAX_COPIED_ATOMS: usize = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    let format = match choice % 4 {
        0 => Some(Format::Pdb),
        1 => Some(Format::Mmcif),
        2 => Some(Format::BinaryCif),
        _ => None,
    };
    let options = LoadOptions {
        format,
        model: ModelChoice::All,
        waters: true,
        ..LoadOptions::default()
    };
    let Ok(structure) = read_bytes(bytes, "case", &options) else {
        return;
    };
    let _ = structure.template(&LoadOptions::default());
    let _ = structure.split_by(SplitBy::Residue, &options);
    for assembly in structure.assemblies().iter().take(2) {
        if assembly.operators.len() * structure.atoms().len() > MAX_COPIED_ATOMS {
            continue;
        }
        let one_body = LoadOptions {
            assembly: AssemblyChoice::OneBody(assembly.id.clone()),
            ..options.clone()
        };
        let _ = structure.template(&one_body);
        let instances = LoadOptions {
            assembly: AssemblyChoice::Instances(assembly.id.clone()),
            ..options.clone()
        };
        let _ = structure.instances(&instances);
    }
});
