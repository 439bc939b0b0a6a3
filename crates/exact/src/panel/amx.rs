//! The loop of the parent module in tile registers: 32 rows by 32 queries at a time, in four tiles of
//! sums, over 64 bytes of the components a step. The compiler has no intrinsics for them yet.

use super::{HALF, LANES, ROW_STEP, UNIT_STEP};
use std::arch::asm;
use std::arch::x86_64::__cpuid_count;
use std::sync::OnceLock;

/// Bytes of a row of a tile.
const ROW_BYTES: usize = 64;

/// `ARCH_REQ_XCOMP_PERM` of `<asm/prctl.h>`.
const REQUEST_PERMISSION: libc::c_ulong = 0x1023;

/// The number of the tiles' data among the processor's state components.
const TILE_DATA: libc::c_ulong = 18;

/// Bits of EDX in leaf 7 of CPUID: bfloat16 in tiles, tiles, bytes in tiles.
const FEATURES: u32 = (1 << 22) | (1 << 24) | (1 << 25);

pub(super) fn permitted() -> bool {
    static PERMITTED: OnceLock<bool> = OnceLock::new();
    *PERMITTED.get_or_init(|| {
        let has = __cpuid_count(7, 0).edx & FEATURES == FEATURES;
        // SAFETY: the call changes only what this process may use.
        has && unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) } == 0
    })
}

/// What `ldtilecfg` reads: palette 1, eight tiles of 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

static SHAPES: Shapes = Shapes {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

macro_rules! products {
    ($name:ident, $sum:ty, $multiply:literal) => {
        /// # Safety
        /// [`permitted`] has said yes; `rows` is `[out.len(), units]`, `panel` `[2, units, 16]`,
        /// `units` is a multiple of [`UNIT_STEP`], not zero, and `out` holds a multiple of
        /// [`ROW_STEP`] rows.
        pub(super) unsafe fn $name(
            units: usize,
            rows: &[u32],
            panel: &[u32],
            out: &mut [[$sum; LANES]],
        ) {
            let steps = units / UNIT_STEP;
            if steps == 0 {
                return;
            }
            // SAFETY: the shapes are valid ones, and what the tiles held before is not used.
            unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const SHAPES, options(nostack)) };
            let queries = panel.as_ptr();
            for (rows, out) in rows
                .chunks_exact(ROW_STEP * units)
                .zip(out.as_chunks_mut::<ROW_STEP>().0)
            {
                // SAFETY: a step reads 16 rows of 64 bytes from each half of the 32 rows, which are
                // `units` * 4 = `steps` * 64 bytes apart, and 16 * 64 bytes from each half of the
                // panel, `steps` times; the stores fill the 32 rows of 128 bytes of `out`.
                unsafe {
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm1",
                        "tilezero tmm2",
                        "tilezero tmm3",
                        "2:",
                        "tileloadd tmm4, [{x0} + {stride}]",
                        "tileloadd tmm6, [{q0} + {packed}]",
                        "tileloadd tmm7, [{q1} + {packed}]",
                        "tileloadd tmm5, [{x1} + {stride}]",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        concat!($multiply, " tmm1, tmm4, tmm7"),
                        concat!($multiply, " tmm2, tmm5, tmm6"),
                        concat!($multiply, " tmm3, tmm5, tmm7"),
                        "add {x0}, 64",
                        "add {x1}, 64",
                        "add {q0}, 1024",
                        "add {q1}, 1024",
                        "dec {steps}",
                        "jnz 2b",
                        "tilestored [{out} + {out_stride}], tmm0",
                        "tilestored [{out} + {out_stride} + 64], tmm1",
                        "add {out}, 2048",
                        "tilestored [{out} + {out_stride}], tmm2",
                        "tilestored [{out} + {out_stride} + 64], tmm3",
                        x0 = inout(reg) rows.as_ptr() => _,
                        x1 = inout(reg) rows.as_ptr().add(16 * units) => _,
                        q0 = inout(reg) queries => _,
                        q1 = inout(reg) queries.add(units * HALF) => _,
                        steps = inout(reg) steps => _,
                        stride = in(reg) units * 4,
                        packed = in(reg) ROW_BYTES,
                        out = inout(reg) out.as_mut_ptr() => _,
                        out_stride = in(reg) LANES * 4,
                        out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                        out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                        options(nostack),
                    );
                }
            }
            // SAFETY: gives the tiles back, so that nobody saves their contents.
            unsafe { asm!("tilerelease", options(nomem, nostack)) };
        }
    };
}

products!(unsigned_bytes, i32, "tdpbuud");
products!(signed_bytes, i32, "tdpbssd");
products!(bf16, f32, "tdpbf16ps");
