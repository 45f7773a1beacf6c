//! Parser of `MessagePack`, the container of `BinaryCIF`.
//!
//! Strings and byte strings are borrowed. Depth and number of values are limited, and nothing is
//! allocated by a length field alone, so memory stays proportional to the file.

use crate::molecule::error::ReadErrorKind::{self, InvalidMessagePack};

/// Maximum nesting; `BinaryCIF` needs about fourteen levels.
const MAX_DEPTH: usize = 32;

/// Maximum number of values in a file; a large entry has some hundred thousand.
const MAX_VALUES: usize = 8_000_000;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    List(Vec<Value<'a>>),
    /// Entries with text keys; others are skipped.
    Map(Vec<(&'a str, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// The value of a key; `None` if this is not a map.
    pub(super) fn get(&self, key: &str) -> Option<&Value<'a>> {
        let Self::Map(entries) = self else {
            return None;
        };
        let entry = entries.iter().find(|(name, _)| *name == key);
        entry.map(|(_, value)| value)
    }

    /// The list of a key; empty if there is none.
    pub(super) fn list(&self, key: &str) -> &[Value<'a>] {
        match self.get(key) {
            Some(Self::List(values)) => values,
            _ => &[],
        }
    }

    /// The text of a key.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        match self.get(key)? {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The integer of a key.
    pub(super) fn integer(&self, key: &str) -> Option<i64> {
        match *self.get(key)? {
            Self::Int(value) => Some(value),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 1.0e15 => {
                Some(value as i64)
            }
            _ => None,
        }
    }

    /// The number of a key.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        match *self.get(key)? {
            Self::Int(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            _ => None,
        }
    }
}

/// Parses one value; the error contains the byte offset.
pub(super) fn parse(bytes: &[u8]) -> Result<Value<'_>, (usize, ReadErrorKind)> {
    let mut parser = Parser {
        bytes,
        offset: 0,
        values: 0,
    };
    parser.value(0).map_err(|kind| (parser.offset, kind))
}

struct Parser<'a> {
    bytes: &'a [u8],
    offset: usize,
    values: usize,
}

impl<'a> Parser<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], ReadErrorKind> {
        let rest = &self.bytes[self.offset..];
        let Some(taken) = rest.get(..count) else {
            return Err(InvalidMessagePack("the data ends inside a value"));
        };
        self.offset += count;
        Ok(taken)
    }

    /// A big-endian unsigned integer of `count` (at most eight) bytes.
    fn unsigned(&mut self, count: usize) -> Result<u64, ReadErrorKind> {
        let taken = self.take(count)?;
        Ok(taken
            .iter()
            .fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn length(&mut self, count: usize) -> Result<usize, ReadErrorKind> {
        let length = self.unsigned(count)?;
        usize::try_from(length).map_err(|_| InvalidMessagePack("a length is too large"))
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, ReadErrorKind> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(ReadErrorKind::TooLarge {
                what: "the number of MessagePack values",
                limit: MAX_VALUES as u64,
            });
        }
        if depth > MAX_DEPTH {
            return Err(InvalidMessagePack("the data is nested too deeply"));
        }
        let tag = self.take(1)?[0];
        Ok(match tag {
            0x00..=0x7f => Value::Int(i64::from(tag)),
            0xe0..=0xff => Value::Int(i64::from(tag as i8)),
            0x80..=0x8f => self.map(usize::from(tag & 0x0f), depth)?,
            0x90..=0x9f => self.array(usize::from(tag & 0x0f), depth)?,
            0xa0..=0xbf => self.string(usize::from(tag & 0x1f))?,
            0xc0 => Value::Nil,
            0xc2 => Value::Bool(false),
            0xc3 => Value::Bool(true),
            0xc4..=0xc6 => {
                let length = self.length(1 << (tag - 0xc4))?;
                Value::Bytes(self.take(length)?)
            }
            0xca => Value::Float(f64::from(f32::from_bits(self.unsigned(4)? as u32))),
            0xcb => Value::Float(f64::from_bits(self.unsigned(8)?)),
            0xcc..=0xcf => {
                let value = self.unsigned(1 << (tag - 0xcc))?.try_into();
                Value::Int(value.map_err(|_| InvalidMessagePack("an integer is too large"))?)
            }
            0xd0..=0xd3 => {
                let size = 1 << (tag - 0xd0);
                let unused = 64 - 8 * size as u32;
                // Shifting left and right extends the sign.
                Value::Int(((self.unsigned(size)? << unused) as i64) >> unused)
            }
            0xd9..=0xdb => {
                let length = self.length(1 << (tag - 0xd9))?;
                self.string(length)?
            }
            0xdc | 0xdd => {
                let count = self.length(2 << (tag - 0xdc))?;
                self.array(count, depth)?
            }
            0xde | 0xdf => {
                let count = self.length(2 << (tag - 0xde))?;
                self.map(count, depth)?
            }
            _ => {
                return Err(InvalidMessagePack("a value has an unknown type"));
            }
        })
    }

    fn string(&mut self, length: usize) -> Result<Value<'a>, ReadErrorKind> {
        std::str::from_utf8(self.take(length)?)
            .map(Value::Text)
            .map_err(|_| InvalidMessagePack("a string is not UTF-8"))
    }

    fn array(&mut self, count: usize, depth: usize) -> Result<Value<'a>, ReadErrorKind> {
        let values = (0..count).map(|_| self.value(depth + 1));
        values.collect::<Result<_, _>>().map(Value::List)
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Value<'a>, ReadErrorKind> {
        let mut entries = Vec::new();
        for _ in 0..count {
            let key = self.value(depth + 1)?;
            let value = self.value(depth + 1)?;
            if let Value::Text(key) = key {
                entries.push((key, value));
            }
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_parsed() {
        let cases: [(&[u8], Value<'_>); 14] = [
            (&[0x7f], Value::Int(127)),
            (&[0xff], Value::Int(-1)),
            (&[0xc0], Value::Nil),
            (&[0xc3], Value::Bool(true)),
            (&[0xc4, 2, 8, 9], Value::Bytes(&[8, 9])),
            (&[0xca, 0x3f, 0x80, 0, 0], Value::Float(1.0)),
            (&[0xcb, 0x40, 0, 0, 0, 0, 0, 0, 0], Value::Float(2.0)),
            (&[0xcd, 1, 0], Value::Int(256)),
            (&[0xd0, 0x80], Value::Int(-128)),
            (&[0xd1, 0xff, 0xfe], Value::Int(-2)),
            (
                &[0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                Value::Int(-1),
            ),
            (&[0xd9, 1, b'x'], Value::Text("x")),
            (
                &[0x92, 1, 0x90],
                Value::List(vec![Value::Int(1), Value::List(vec![])]),
            ),
            (
                &[0x81, 0xa1, b'k', 5],
                Value::Map(vec![("k", Value::Int(5))]),
            ),
        ];
        for (bytes, expected) in cases {
            assert_eq!(parse(bytes).unwrap(), expected, "{bytes:x?}");
        }
    }

    #[test]
    fn invalid_lengths_and_deep_nesting_are_rejected() {
        let mut deep = vec![0x91; 100];
        deep.push(0xc0);
        let cases: [&[u8]; 7] = [
            &[],
            &[0xdd, 0xff, 0xff, 0xff, 0xff],
            &[0xc6, 0xff, 0xff, 0xff, 0xff, 1],
            &[0xa2, 0xff, 0xff],
            &[0xc1],
            &[0xcf, 0xff, 0, 0, 0, 0, 0, 0, 0],
            &deep,
        ];
        for bytes in cases {
            assert!(parse(bytes).is_err(), "{bytes:x?}");
        }
    }
}
