/// Refuses factory strings whose sizes FAISS does not check before it divides by them, loops over
/// them or allocates for them: found by giving it such strings, which ended its process.
///
/// `n` is the number of rows to train on.
pub(crate) fn check_sizes(factory: &str, n: usize) -> Result<(), String> {
    // FAISS names parenthesised parts so itself, and aborts when one is out of place.
    if factory.contains("(Index") {
        return Err("`(Index...)` is a notation that FAISS keeps for itself".to_owned());
    }
    for (before, digits) in numbers(factory) {
        let value: u32 = digits
            .parse()
            .ok()
            .filter(|&v| i32::try_from(v).is_ok())
            .ok_or_else(|| format!("{digits} does not fit 32 bits"))?;
        if value == 0 {
            return Err(format!("a size of 0 after `{before}`"));
        }
        if before.ends_with("HNSW") && value == 1 {
            return Err("HNSW1: a graph needs at least 2 links per vertex".to_owned());
        }
        // Bits of a code, as in PQ8x12: each quantiser keeps 2^bits centroids.
        let is_bits = before.ends_with('x') && before[..before.len() - 1].ends_with(is_digit);
        let centroids = 1usize.checked_shl(value);
        if is_bits && centroids.is_none_or(|centroids| centroids > n) {
            return Err(format!(
                "x{digits}: 2^{digits} centroids cannot be trained on {n} rows"
            ));
        }
    }
    Ok(())
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Every run of digits with the text before it.
fn numbers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(is_digit)?;
        let len = text[start..]
            .find(|c| !is_digit(c))
            .unwrap_or(text.len() - start);
        from = start + len;
        Some((&text[..start], &text[start..from]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_with_what_stands_before_them() {
        let all: Vec<_> = numbers("OPQ16,IVF4k,PQ8x4").collect();
        assert_eq!(
            all,
            [
                ("OPQ", "16"),
                ("OPQ16,IVF", "4"),
                ("OPQ16,IVF4k,PQ", "8"),
                ("OPQ16,IVF4k,PQ8x", "4")
            ]
        );
        assert_eq!(numbers("Flat").count(), 0);
    }

    #[test]
    fn what_would_end_the_process_is_refused() {
        for factory in [
            "IVF0,Flat",
            "HNSW0",
            "HNSW1",
            "IVF16_HNSW1,Flat",
            "PQ0",
            "PQ4x0",
            "PQ00x4fs",
            "OPQ0,PQ4x4",
            "PQ4x10",
            "PQ1x24",
            "PQ1x99999999999999999999",
            "IVF16(Index7),Flat",
        ] {
            assert!(check_sizes(factory, 1000).is_err(), "{factory}");
        }
        for factory in [
            "Flat",
            "HNSW",
            "HNSW16",
            "HNSW10,PQ10x9",
            "IVF100,PQ32x4fs_64,RFlat",
            "IVF16,ITQ8,SH-1e10m",
            "RQ2x9_2x4_Nrq2x4",
        ] {
            assert_eq!(check_sizes(factory, 1000), Ok(()), "{factory}");
        }
    }
}
