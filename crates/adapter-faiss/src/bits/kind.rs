use crate::native::{Graph, Shape};

/// An index of bits that FAISS's binary factory makes and this adapter can search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `BFlat`.
    Flat,
    /// `BHNSW<M>`.
    Graph,
    /// `BIVF<nlist>`, or `BIVF<nlist>_HNSW<M>` with a graph of the centroids.
    Lists { nlist: usize, graph: bool },
}

/// What the strings look like.
const FORMS: &str = "bits take BFlat, BHNSW<M>, BIVF<nlist> or BIVF<nlist>_HNSW<M>";

/// The lowest layer has 2 M links per vertex, which FAISS counts in 32 bits.
const MAX_M: i32 = i32::MAX / 2;

impl Kind {
    /// Reads a whole factory string. FAISS reads as much of one as it understands and ignores the
    /// rest: `BHNSW16_SQ8` would be built as `BHNSW16`.
    pub(crate) fn parse(factory: &str) -> Result<Self, String> {
        if factory == "BFlat" {
            return Ok(Kind::Flat);
        }
        if factory.starts_with("BHash") {
            return Err(format!(
                "this index takes no nflip per search in FAISS; {FORMS}"
            ));
        }
        if let Some(m) = factory.strip_prefix("BHNSW") {
            links(m)?;
            return Ok(Kind::Graph);
        }
        if let Some(lists) = factory.strip_prefix("BIVF") {
            let (nlist, m) = match lists.split_once("_HNSW") {
                Some((nlist, m)) => (nlist, Some(m)),
                None => (lists, None),
            };
            let nlist = number(nlist)?;
            if nlist < 1 {
                return Err("no lists".to_owned());
            }
            m.map(links).transpose()?;
            return Ok(Kind::Lists {
                nlist: nlist as usize,
                graph: m.is_some(),
            });
        }
        Err(format!("no index of bits; {FORMS}"))
    }

    /// What can be set per search. `counted` is of FAISS's own counters: those of a graph of bits
    /// lack its hops, but the graph's search says what it did.
    pub(crate) fn shape(self) -> Shape {
        let (nlist, graph) = match self {
            Kind::Flat => (None, None),
            Kind::Graph => (None, Some(Graph::Vectors)),
            Kind::Lists { nlist, graph } => (Some(nlist), graph.then_some(Graph::Centroids)),
        };
        Shape {
            nlist,
            graph,
            refine: false,
            counted: nlist.is_some(),
        }
    }
}

/// Whether `factory` is meant for FAISS's binary factory.
pub(crate) fn names_bits(factory: &str) -> bool {
    ["BFlat", "BHNSW", "BIVF", "BHash"]
        .iter()
        .any(|name| factory.starts_with(name))
}

fn links(digits: &str) -> Result<(), String> {
    match number(digits)? {
        2..=MAX_M => Ok(()),
        m => Err(format!(
            "HNSW{m}: a graph has 2 to {MAX_M} links per vertex"
        )),
    }
}

fn number(digits: &str) -> Result<i32, String> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("expected a number, found `{digits}`; {FORMS}"));
    }
    digits
        .parse()
        .map_err(|_| format!("{digits} does not fit 32 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_strings_are_read() {
        let lists = |nlist, graph| Kind::Lists { nlist, graph };
        for (factory, kind) in [
            ("BFlat", Kind::Flat),
            ("BHNSW16", Kind::Graph),
            ("BIVF447", lists(447, false)),
            ("BIVF1024_HNSW32", lists(1024, true)),
        ] {
            assert_eq!(Kind::parse(factory), Ok(kind), "{factory}");
            assert!(names_bits(factory), "{factory}");
        }
    }

    #[test]
    fn what_faiss_would_read_in_part_or_not_survive_is_refused() {
        for (factory, words) in [
            ("BHNSW16_SQ8", "found `16_SQ8`"),
            ("BHNSW", "found ``"),
            ("BHNSW 16", "found ` 16`"),
            ("BHNSW-16", "expected a number"),
            ("BHNSW1", "2 to"),
            ("BHNSW1073741824", "2 to"),
            ("BIVF0", "no lists"),
            ("BIVF4k", "found `4k`"),
            ("BIVF16,Flat", "found `16,Flat`"),
            ("BIVF16_HNSW", "found ``"),
            ("BIVF16_HNSW0", "2 to"),
            ("BIVF99999999999", "does not fit"),
            ("BFlat ", "no index of bits"),
            ("BHash16", "no nflip per search"),
            ("BHash4x16", "no nflip per search"),
            ("HNSW16", "BHNSW<M>"),
            ("", "no index of bits"),
        ] {
            let reason = Kind::parse(factory).expect_err(factory);
            assert!(reason.contains(words), "{factory}: {reason}");
        }
    }
}
