//! Files of rows one after another: the flat layouts, texmex and NumPy.

use super::ExportError;
use super::recast::Recast;
use crate::DatasetError;
use crate::format::{Format, header};
use crate::progress::Meter;
use annbench_core::ElementType;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// Writes the rows of `part` as a whole file of `format`, none of HDF5.
pub(super) fn write_rows(
    path: &Path,
    format: Format,
    part: &Recast<'_>,
    meter: &Meter<'_>,
) -> Result<(), ExportError> {
    let mut out = Out::create(path)?;
    let row = part.element.row_bytes(part.dim()).unwrap_or(0);
    match format {
        Format::Fvecs | Format::Bvecs => {
            let prefix = (part.width() as u32).to_le_bytes();
            part.read(meter, &mut |bytes| {
                for row in bytes.chunks_exact(row) {
                    out.write(&prefix)?;
                    out.write(row)?;
                }
                Ok(())
            })?;
        }
        _ => {
            match format {
                Format::Npy => {
                    out.write(&npy_header(npy_type(part.element), part.n(), part.width()))?
                }
                // Entries hold at most 32 bits of either.
                _ => out.write(&header(part.n() as u32, part.width() as u32))?,
            }
            part.read(meter, &mut |bytes| out.write(bytes))?;
        }
    }
    Ok(out.finish()?)
}

/// Writes neighbours `[queries, width]` as a whole file of `format`: ivecs, ibin or npy.
pub(super) fn write_ids(
    path: &Path,
    format: Format,
    width: usize,
    ids: &[u32],
) -> Result<(), DatasetError> {
    let mut out = Out::create(path)?;
    let queries = ids.len() / width;
    match format {
        Format::Npy => out.write(&npy_header("<u4", queries, width))?,
        Format::Ivecs => {}
        _ => out.write(&header(queries as u32, width as u32))?,
    }
    for row in ids.chunks_exact(width) {
        if format == Format::Ivecs {
            out.write(&(width as u32).to_le_bytes())?;
        }
        out.write(bytemuck::cast_slice(row))?;
    }
    out.finish()
}

fn npy_type(element: ElementType) -> &'static str {
    match element {
        ElementType::F32 => "<f4",
        ElementType::F16 => "<f2",
        ElementType::I8 => "|i1",
        _ => "|u1",
    }
}

/// The header of an array of two dimensions in C order, version 1.0, padded so that the values start
/// at a multiple of 64 bytes.
fn npy_header(descr: &str, rows: usize, width: usize) -> Vec<u8> {
    let dict =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {width}), }}");
    let len = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&(len as u16).to_le_bytes());
    header.extend_from_slice(dict.as_bytes());
    header.resize(10 + len - 1, b' ');
    header.push(b'\n');
    header
}

/// A file that is being written.
struct Out<'p> {
    path: &'p Path,
    file: BufWriter<File>,
}

impl<'p> Out<'p> {
    fn create(path: &'p Path) -> Result<Self, DatasetError> {
        let file =
            File::create_new(path).map_err(|cause| DatasetError::io("write", path, cause))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { path, file })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), DatasetError> {
        self.file
            .write_all(bytes)
            .map_err(|cause| DatasetError::io("write", self.path, cause))
    }

    fn finish(mut self) -> Result<(), DatasetError> {
        self.file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all())
            .map_err(|cause| DatasetError::io("write", self.path, cause))
    }
}
