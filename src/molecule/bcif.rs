//! Reader of `BinaryCIF` files.

use super::error::{Place, ReadCause, ReadError};
use super::reader::StructureReader;
use super::structure::Structure;

/// Reads `BinaryCIF` files, plain or gzipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct BinaryCifReader;

impl StructureReader for BinaryCifReader {
    fn read(&self, _bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
        Err(ReadError::new(
            source,
            Place::File,
            ReadCause::UnknownFormat,
        ))
    }
}
