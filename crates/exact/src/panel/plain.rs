use super::{HALF, LANES, Sum};

/// Rows whose sums are kept in registers together.
const ROWS: usize = 4;

#[inline(always)]
fn products<T: Sum>(
    units: usize,
    rows: &[u32],
    panel: &[u32],
    out: &mut [[T; LANES]],
    add_product: impl Fn(T, u32, u32) -> T,
) {
    for (rows, out) in rows
        .chunks_exact(ROWS * units)
        .zip(out.as_chunks_mut::<ROWS>().0)
    {
        for (half, queries) in panel.chunks_exact(units * HALF).enumerate() {
            let mut sums = [[T::ZERO; HALF]; ROWS];
            for (u, queries) in queries.as_chunks::<HALF>().0.iter().enumerate() {
                for (r, sums) in sums.iter_mut().enumerate() {
                    let x = rows[r * units + u];
                    for (sum, &q) in sums.iter_mut().zip(queries) {
                        *sum = add_product(*sum, x, q);
                    }
                }
            }
            for (out, sums) in out.iter_mut().zip(&sums) {
                out[half * HALF..(half + 1) * HALF].copy_from_slice(sums);
            }
        }
    }
}

pub(super) fn words(units: usize, rows: &[u32], panel: &[u32], out: &mut [[i32; LANES]]) {
    let halves = |v: u32| {
        (
            i32::from(v as u16 as i16),
            i32::from((v >> 16) as u16 as i16),
        )
    };
    products(units, rows, panel, out, |sum, x, q| {
        let ((x0, x1), (q0, q1)) = (halves(x), halves(q));
        sum + (x0 * q0 + x1 * q1)
    });
}

pub(super) fn floats(units: usize, rows: &[u32], panel: &[u32], out: &mut [[f32; LANES]]) {
    products(units, rows, panel, out, |sum, x, q| {
        sum + f32::from_bits(x) * f32::from_bits(q)
    });
}
