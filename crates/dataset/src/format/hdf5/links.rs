//! A look at the names of the root group's links before the HDF5 library reads them.
//!
//! Where their heap lies outside of the file, release 1.10 copies from nowhere and ends the process. Layout:
//! "HDF5 File Format Specification Version 3.0", II.A, III.C and III.D.

use crate::format::{u32_at, u64_at};

/// Whether the names lie in the file, as far as a file of the older layout tells; `None` where it is
/// another, whose names are checksummed.
pub(super) fn names_are_sound(bytes: &[u8]) -> Option<bool> {
    // Version 0, or 1 with a word more; addresses and sizes of 8 bytes each.
    let word = match bytes.get(8)? {
        0 => 0,
        1 => 4,
        _ => return None,
    };
    let base = u64_at(bytes, 24 + word)?;
    if bytes.get(13..15)? != [8, 8] || base != 0 {
        return None;
    }
    let header = usize::try_from(u64_at(bytes, 64 + word)?).ok()?;
    // The root group's entry tells the heap of its names again where it says that it does.
    let told = match u32_at(bytes, 72 + word)? {
        1 => Some(u64_at(bytes, 88 + word)?),
        _ => None,
    };
    let mut heaps = symbol_table_heap(bytes, header).into_iter().chain(told);
    let sound = |heap| heap_is_sound(bytes, heap).unwrap_or(false);
    Some(heaps.all(sound))
}

/// The heap that the symbol table message in the object header at `header` names, where one is in the
/// header's first block.
fn symbol_table_heap(bytes: &[u8], header: usize) -> Option<u64> {
    const SYMBOL_TABLE: u16 = 0x11;
    let head = bytes.get(header..header.checked_add(16)?)?;
    let messages = header + 16;
    let end = messages.checked_add(u32_at(head, 8)? as usize)?;
    let mut at = messages;
    while head[0] == 1 && at < end {
        let message = bytes.get(at..at.checked_add(8)?)?;
        let kind = u16::from_le_bytes([message[0], message[1]]);
        if kind == SYMBOL_TABLE {
            return u64_at(bytes, at.checked_add(16)?);
        }
        at += 8 + usize::from(u16::from_le_bytes([message[2], message[3]]));
    }
    None
}

fn heap_is_sound(bytes: &[u8], heap: u64) -> Option<bool> {
    let heap = usize::try_from(heap).ok()?;
    let head = bytes.get(heap..heap.checked_add(32)?)?;
    let (size, segment) = (u64_at(head, 8)?, u64_at(head, 24)?);
    let end = segment.checked_add(size)?;
    Some(head.starts_with(b"HEAP") && end <= bytes.len() as u64)
}
