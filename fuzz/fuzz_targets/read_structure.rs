//! Readers must return a structure or an error for any bytes, without panics, in bounded memory.
//!
//! The first byte is the format (see the README), the rest is the file.
#![no_main]

use bevy_rapier_molecules::molecule::{
    AssemblyChoice, Format, LoadOptions, ModelChoice, SplitBy, read_bytes,
};
use libfuzzer_sys::fuzz_target;

/// Maximum number of copied atoms of an assembly, so that inputs run fast.
const MAX_COPIED_ATOMS: usize = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    let format = match choice % 5 {
        0 => Some(Format::Pdb),
        1 => Some(Format::Mmcif),
        2 => Some(Format::BinaryCif),
        3 => Some(Format::Gro),
        _ => None,
    };
    let options = LoadOptions {
        format,
        model: ModelChoice::All,
        waters: true,
        ..LoadOptions::default()
    };
    let Ok(structure) = read_bytes(bytes, "input", &options) else {
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
