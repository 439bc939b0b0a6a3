//! A look at a text in a global heap before the HDF5 library reads it.
//!
//! The library trusts such texts: where a file is damaged, release 1.10 reads beyond its memory or
//! never returns. Layout: "HDF5 File Format Specification Version 3.0", III.E and IV.A.2.m.

use crate::format::{u32_at, u64_at};

/// Where attributes of the root group are looked for: at both ends of a file, before and behind what
/// it holds.
const END_BYTES: usize = 1 << 20;

/// Most places that are looked at.
const MOST_PLACES: usize = 64;

/// Whether every text of variable length that may be the attribute `name` of the file `bytes` lies
/// soundly in its heap; `None` where no such is found.
pub(super) fn text_is_sound(bytes: &[u8], name: &str) -> Option<bool> {
    let wanted = [name.as_bytes(), b"\0"].concat();
    let tail = bytes.len().saturating_sub(END_BYTES).max(END_BYTES);
    let places = (0..bytes.len().min(END_BYTES)).chain(tail..bytes.len());
    let references: Vec<usize> = places
        .filter(|&at| bytes[at..].starts_with(&wanted))
        .filter_map(|at| reference_after(bytes, at, wanted.len()))
        .take(MOST_PLACES)
        .collect();
    (!references.is_empty()).then(|| references.iter().all(|&at| leads_to_text(bytes, at)))
}

/// Where the value lies of an attribute whose name starts at `name`, if one does there.
fn reference_after(bytes: &[u8], name: usize, len: usize) -> Option<usize> {
    let size_at = |at: usize| {
        let word = bytes.get(at..at.checked_add(2)?)?;
        Some(usize::from(u16::from_le_bytes([word[0], word[1]])))
    };
    for (version, back) in [(1u8, 8usize), (2, 8), (3, 9)] {
        let Some(start) = name.checked_sub(back) else {
            continue;
        };
        if bytes[start] != version || size_at(start + 2) != Some(len) {
            continue;
        }
        let (kind, space) = (size_at(start + 4)?, size_at(start + 6)?);
        let padded = |size: usize| match version {
            1 => size.next_multiple_of(8),
            _ => size,
        };
        return Some(name + padded(len) + padded(kind) + padded(space));
    }
    None
}

/// Whether length, heap address and index at `at` name a whole object of a sound heap.
fn leads_to_text(bytes: &[u8], at: usize) -> bool {
    let found = || -> Option<bool> {
        let len = u64::from(u32_at(bytes, at)?);
        let heap = usize::try_from(u64_at(bytes, at + 4)?).ok()?;
        let index = u32_at(bytes, at + 12)?;
        let head = bytes.get(heap..heap.checked_add(16)?)?;
        if !head.starts_with(b"GCOL\x01") {
            return Some(false);
        }
        let end = heap.checked_add(usize::try_from(u64_at(bytes, heap + 8)?).ok()?)?;
        bytes.get(heap..end)?;
        let (mut object, mut is_there) = (heap + 16, false);
        while object + 16 <= end {
            let own = u32_at(bytes, object)? & 0xffff;
            let size = usize::try_from(u64_at(bytes, object + 8)?).ok()?;
            if own == 0 {
                // What is left, its own head among it.
                return Some(is_there && object.checked_add(size)? == end);
            }
            is_there |= own == index && size as u64 == len;
            object = object
                .checked_add(16)?
                .checked_add(size.checked_next_multiple_of(8)?)?;
        }
        Some(is_there && object <= end)
    };
    found().unwrap_or(false)
}
