//! Writer of `BinaryCIF` with instances.

use std::borrow::Cow;
use std::io::{self, Write};

use glam::{DMat3, DVec3};

use super::column_encoding::{
    Encoded, Encoding, NumberType, encode_count, encode_decimals, encode_ints, encode_strings,
    fixed_point, fixed_point_factor,
};
use super::contents::{Column, Contents, Table, Value};
use super::message_pack_writer::MessagePackWriter;
use super::{ANGSTROM_DECIMALS, MATRIX_DECIMALS, PROGRESS_EVERY};
use crate::export::{ExportError, ExportOptions, ExportSummary};
use crate::scene_files::{Scene, WriteProgress};

/// Version of `BinaryCIF`.
const VERSION: &str = "0.3.0";

/// Name and version of this library.
const ENCODER: &str = concat!("bevy_rapier_molecules ", env!("CARGO_PKG_VERSION"));

/// Number of columns of an operator: nine entries of a matrix and three of a vector.
const ENTRIES: usize = 12;

/// Writes `BinaryCIF` with the atoms of each kind once, and an operator for each molecule; see the
/// [module](crate::scene_files::instanced_cif).
///
/// The periodic box is that of the options, else of the scene, and the title that of the options,
/// else the name of the scene.
///
/// # Errors
/// [`ExportError`] if the writer fails, a pose is invalid or out of range, or a name contains
/// control characters. The output is then incomplete.
pub fn write_binary_cif(
    writer: impl Write,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let contents = Contents::new(scene, options)?;
    let mut tables = contents.tables();
    tables.push(contents.atom_table());
    tables.retain(|table| table.rows > 0);
    let has_operators = contents.summary.molecules > 0;

    let mut out = MessagePackWriter::new(writer);
    out.map(3)?;
    out.text("version")?;
    out.text(VERSION)?;
    out.text("encoder")?;
    out.text(ENCODER)?;
    out.text("dataBlocks")?;
    out.array(1)?;
    out.map(2)?;
    out.text("header")?;
    out.text(&contents.block)?;
    out.text("categories")?;
    out.array(tables.len() + usize::from(has_operators))?;
    for table in &tables {
        write_table(&mut out, table)?;
    }
    if has_operators {
        write_operators(&mut out, &contents, progress)?;
    }
    let mut summary = contents.summary;
    summary.bytes = out.finish()?;
    Ok(summary)
}

/// Writes the head of a category; its columns follow.
fn write_category<W: Write>(
    out: &mut MessagePackWriter<W>,
    name: &str,
    rows: usize,
    columns: usize,
) -> io::Result<()> {
    out.map(3)?;
    out.text("name")?;
    out.text(name)?;
    out.text("rowCount")?;
    out.int(rows as i64)?;
    out.text("columns")?;
    out.array(columns)
}

fn write_table<W: Write>(out: &mut MessagePackWriter<W>, table: &Table<'_>) -> io::Result<()> {
    write_category(out, table.category, table.rows, table.columns.len())?;
    for column in &table.columns {
        let (data, mask) = encode_column(column, table.rows);
        write_column_name(out, column.name)?;
        write_encoded(out, &data)?;
        out.text("mask")?;
        match mask {
            Some(mask) => write_encoded(out, &mask)?,
            None => out.nil()?,
        }
    }
    Ok(())
}

/// Writes the start of a column; its data and the mask follow.
fn write_column_name<W: Write>(out: &mut MessagePackWriter<W>, name: &str) -> io::Result<()> {
    out.map(3)?;
    out.text("name")?;
    out.text(name)?;
    out.text("data")
}

/// Writes the operators, one column after the other. The lengths of columns are known, so nothing
/// is kept.
fn write_operators<W: Write>(
    out: &mut MessagePackWriter<W>,
    contents: &Contents<'_>,
    progress: WriteProgress<'_>,
) -> Result<(), ExportError> {
    let count = contents.summary.molecules;
    write_category(out, "_pdbx_struct_oper_list", count, 1 + ENTRIES)?;
    write_column_name(out, "id")?;
    write_encoded(out, &encode_count(count))?;
    out.text("mask")?;
    out.nil()?;
    let mut written = 0;
    for entry in 0..ENTRIES {
        let (row, column) = (entry / 4, entry % 4);
        let is_vector = column == 3;
        let factor = if is_vector {
            fixed_point_factor(contents.max_vector, ANGSTROM_DECIMALS)
        } else {
            fixed_point_factor(1.0, MATRIX_DECIMALS)
        };
        let value = |(matrix, vector): (DMat3, DVec3)| {
            if is_vector {
                vector[row]
            } else {
                matrix.col(column)[row]
            }
        };
        if is_vector {
            write_column_name(out, &format!("vector[{}]", row + 1))?;
        } else {
            write_column_name(out, &format!("matrix[{}][{}]", row + 1, column + 1))?;
        }
        out.map(2)?;
        out.text("data")?;
        out.bytes(count.saturating_mul(size_of::<i32>()))?;
        for operator in contents.operators() {
            out.raw(&fixed_point(value(operator?), factor).to_le_bytes())?;
            written += 1;
            if written % (PROGRESS_EVERY * ENTRIES) == 0 {
                progress(written / ENTRIES);
            }
        }
        out.text("encoding")?;
        let bytes = Encoding::ByteArray(NumberType::I32);
        write_encodings(out, &[Encoding::FixedPoint { factor }, bytes])?;
        out.text("mask")?;
        out.nil()?;
    }
    Ok(())
}

/// The values of a column and, if some are missing, which.
fn encode_column(column: &Column<'_>, rows: usize) -> (Encoded, Option<Encoded>) {
    let values = || (0..rows).map(|row| (column.value)(row));
    let first = values().find(|value| !matches!(value, Value::Inapplicable | Value::Unknown));
    let data = match first {
        Some(Value::Int(_)) => {
            let ints: Vec<i32> = values()
                .map(|value| match value {
                    Value::Int(value) => value,
                    _ => 0,
                })
                .collect();
            encode_ints(&ints)
        }
        Some(Value::Decimal(_, decimals)) => {
            let numbers: Vec<f64> = values()
                .map(|value| match value {
                    Value::Decimal(value, _) => value,
                    _ => 0.0,
                })
                .collect();
            encode_decimals(&numbers, decimals)
        }
        _ => {
            let texts: Vec<Option<Cow<'_, str>>> = values()
                .map(|value| match value {
                    Value::Text(text) => Some(text),
                    _ => None,
                })
                .collect();
            encode_strings(texts.iter().map(Option::as_deref))
        }
    };
    let mask: Vec<i32> = values()
        .map(|value| match value {
            Value::Inapplicable => 1,
            Value::Unknown => 2,
            _ => 0,
        })
        .collect();
    let is_complete = mask.iter().all(|&value| value == 0);
    (data, (!is_complete).then(|| encode_ints(&mask)))
}

fn write_encoded<W: Write>(out: &mut MessagePackWriter<W>, encoded: &Encoded) -> io::Result<()> {
    out.map(2)?;
    out.text("data")?;
    out.bytes(encoded.bytes.len())?;
    out.raw(&encoded.bytes)?;
    out.text("encoding")?;
    write_encodings(out, &encoded.encodings)
}

fn write_encodings<W: Write>(
    out: &mut MessagePackWriter<W>,
    encodings: &[Encoding],
) -> io::Result<()> {
    out.array(encodings.len())?;
    for encoding in encodings {
        write_encoding(out, encoding)?;
    }
    Ok(())
}

fn write_encoding<W: Write>(out: &mut MessagePackWriter<W>, encoding: &Encoding) -> io::Result<()> {
    let mut start = |kind: &str, parameters: usize| {
        out.map(1 + parameters)?;
        out.text("kind")?;
        out.text(kind)
    };
    match encoding {
        Encoding::ByteArray(kind) => {
            start("ByteArray", 1)?;
            write_int(out, "type", *kind as i64)
        }
        Encoding::IntegerPacking {
            byte_count,
            is_unsigned,
            size,
        } => {
            start("IntegerPacking", 3)?;
            write_int(out, "byteCount", i64::from(*byte_count))?;
            write_int(out, "srcSize", *size as i64)?;
            out.text("isUnsigned")?;
            out.boolean(*is_unsigned)
        }
        Encoding::RunLength { size } => {
            start("RunLength", 2)?;
            write_int(out, "srcType", NumberType::I32 as i64)?;
            write_int(out, "srcSize", *size as i64)
        }
        Encoding::Delta { origin } => {
            start("Delta", 2)?;
            write_int(out, "srcType", NumberType::I32 as i64)?;
            write_int(out, "origin", i64::from(*origin))
        }
        Encoding::FixedPoint { factor } => {
            start("FixedPoint", 2)?;
            write_int(out, "srcType", NumberType::F64 as i64)?;
            write_int(out, "factor", i64::from(*factor))
        }
        Encoding::StringArray {
            text,
            offsets,
            indices,
        } => {
            start("StringArray", 4)?;
            out.text("stringData")?;
            out.text(text)?;
            out.text("offsets")?;
            out.bytes(offsets.bytes.len())?;
            out.raw(&offsets.bytes)?;
            out.text("offsetEncoding")?;
            write_encodings(out, &offsets.encodings)?;
            out.text("dataEncoding")?;
            write_encodings(out, indices)
        }
    }
}

fn write_int<W: Write>(out: &mut MessagePackWriter<W>, key: &str, value: i64) -> io::Result<()> {
    out.text(key)?;
    out.int(value)
}
