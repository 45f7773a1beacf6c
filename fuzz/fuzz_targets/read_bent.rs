//! The reader of `.bent` files must return a file or an error for any bytes, without panics.
#![no_main]

use bevy_rapier_molecules::recipe::bent::BentFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match BentFile::read(data, "input") {
        Ok(file) => {
            let references = file
                .compartments
                .iter()
                .flat_map(|compartment| compartment.shape.references())
                .chain(
                    file.segments
                        .iter()
                        .flat_map(|segment| segment.compartments.iter().map(String::as_str)),
                );
            for id in references {
                assert!(file.compartment(id).is_some(), "unknown compartment {id}");
            }
        }
        Err(error) => assert!(error.to_string().starts_with("input:")),
    }
});
