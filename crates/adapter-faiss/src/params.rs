use crate::bits::{Kind, names_bits};
use crate::factory::check_sizes;
use crate::native::{Graph, NativeIndex, PlanValues, Shape, refused};
use annbench_core::{AdapterError, BuildSpec, ElementType, Metric, ParamDoc, ParamKind, Params};

const MAX_EF: i64 = 1 << 24;

/// Parameters of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BuildParams {
    pub(crate) index: String,
    pub(crate) ef_construction: Option<i32>,
}

impl BuildParams {
    pub(crate) fn docs() -> Vec<ParamDoc> {
        vec![
            ParamDoc::required(
                "index",
                ParamKind::Text,
                "FAISS factory string, such as `HNSW16` or `IVF1024,PQ32x4fs,RFlat`; on bits `BFlat`, \
                 `BHNSW<M>`, `BIVF<nlist>` or `BIVF<nlist>_HNSW<M>`",
            ),
            ParamDoc::optional(
                "ef_construction",
                ParamKind::Int,
                "candidates kept while a vertex is inserted, where the index has an HNSW graph; 1 \
                 to 16777216, FAISS takes 40 when it is not given",
            ),
        ]
    }

    /// Reads `spec`'s parameters and makes sure that FAISS knows such an index.
    pub(crate) fn read(spec: &BuildSpec) -> Result<(Self, Shape), AdapterError> {
        let mut reader = spec.params.reader();
        let index = reader.text("index")?;
        let ef_construction = reader.optional_int("ef_construction", 1..=MAX_EF)?;
        reader.finish()?;
        let shape = match spec.element {
            ElementType::Bits => shape_of_bits(&index, spec)?,
            _ => shape_of_floats(&index, spec)?,
        };
        if ef_construction.is_some() && shape.graph.is_none() {
            return Err(AdapterError::Rejected(format!(
                "parameter `ef_construction`: index `{index}` has no HNSW graph"
            )));
        }
        if let Some(nlist) = shape.nlist.filter(|&nlist| nlist > spec.n) {
            return Err(AdapterError::Rejected(format!(
                "index `{index}`: {nlist} lists cannot be trained on {} rows",
                spec.n
            )));
        }
        let params = Self {
            index,
            // Within MAX_EF.
            ef_construction: ef_construction.map(|v| v as i32),
        };
        Ok((params, shape))
    }
}

fn shape_of_floats(index: &str, spec: &BuildSpec) -> Result<Shape, AdapterError> {
    let rejected = |reason| AdapterError::Rejected(format!("index `{index}`: {reason}"));
    if names_bits(index) {
        return Err(rejected(format!(
            "an index of bits, but the vectors are {}",
            spec.element
        )));
    }
    check_sizes(index, spec.n).map_err(rejected)?;
    NativeIndex::sketch(spec.dim, index, is_inner_product(spec.metric))?
        .shape()
        .map_err(|error| refused(index, error))
}

fn shape_of_bits(index: &str, spec: &BuildSpec) -> Result<Shape, AdapterError> {
    let kind = Kind::parse(index)
        .map_err(|reason| AdapterError::Rejected(format!("index `{index}`: {reason}")))?;
    if !spec.dim.is_multiple_of(8) {
        return Err(AdapterError::Rejected(format!(
            "dim {}: FAISS's indexes of bits take whole bytes only, a multiple of 8 bits",
            spec.dim
        )));
    }
    Ok(kind.shape())
}

/// Whether FAISS is to compare by inner product: for cosine too, over normalised vectors.
pub(crate) fn is_inner_product(metric: Metric) -> bool {
    metric != Metric::L2
}

/// The documentation of search parameters.
pub(crate) fn search_docs() -> Vec<ParamDoc> {
    vec![
        ParamDoc::optional(
            "nprobe",
            ParamKind::Int,
            "inverted lists visited, required where the index has them; 1 to their number",
        ),
        ParamDoc::optional(
            "ef_search",
            ParamKind::Int,
            "candidates kept while searching, required where the index has an HNSW graph; at \
             least what is asked of the graph: k, k * k_factor_rf, or nprobe over centroids",
        ),
        ParamDoc::optional(
            "k_factor_rf",
            ParamKind::Int,
            "k_factor_rf * k candidates are refined, required where the index ends in a \
             refinement; 1 to 65535",
        ),
    ]
}

/// Reads the search parameters that an index of `shape` has: each of those, and no other.
pub(crate) fn read_search(
    params: &Params,
    shape: Shape,
    k: usize,
) -> Result<PlanValues, AdapterError> {
    let mut reader = params.reader();
    let nprobe = reader.optional_int("nprobe", 1..=i64::MAX)?;
    let ef_search = reader.optional_int("ef_search", 1..=MAX_EF)?;
    let k_factor = reader.optional_int("k_factor_rf", 1..=i64::from(u16::MAX))?;
    reader.finish()?;

    let nprobe = present("nprobe", nprobe, shape.nlist.is_some(), "inverted lists")?;
    let ef_search = present("ef_search", ef_search, shape.graph.is_some(), "HNSW graph")?;
    let k_factor = present("k_factor_rf", k_factor, shape.refine, "refinement")?;

    if let (Some(nprobe), Some(nlist)) = (nprobe, shape.nlist)
        && nprobe as u64 > nlist as u64
    {
        return Err(AdapterError::Rejected(format!(
            "parameter `nprobe`: expected at most the {nlist} lists of the index, found {nprobe}; \
             FAISS would visit {nlist}"
        )));
    }
    if let (Some(ef_search), Some(graph)) = (ef_search, shape.graph) {
        let (asked, what) = match graph {
            Graph::Centroids => (nprobe.unwrap_or(1) as u64, "nprobe"),
            Graph::Vectors if shape.refine => (
                (k as u64).saturating_mul(k_factor.unwrap_or(1) as u64),
                "k * k_factor_rf",
            ),
            Graph::Vectors => (k as u64, "k"),
        };
        if (ef_search as u64) < asked {
            return Err(AdapterError::Rejected(format!(
                "parameter `ef_search`: expected at least {what} = {asked}, found {ef_search}; \
                 FAISS would search with {asked}"
            )));
        }
    }
    Ok(PlanValues {
        // Positive, and within the ranges read above.
        nprobe: nprobe.unwrap_or(1) as u64,
        ef_search: ef_search.unwrap_or(1) as i32,
        k_factor: k_factor.unwrap_or(1) as u16,
    })
}

/// A parameter must be there exactly where the index has what it sets.
fn present(
    name: &str,
    value: Option<i64>,
    has: bool,
    what: &str,
) -> Result<Option<i64>, AdapterError> {
    match (value, has) {
        (Some(_), false) => Err(AdapterError::Rejected(format!(
            "parameter `{name}`: this index has no {what}"
        ))),
        (None, true) => Err(AdapterError::Rejected(format!(
            "parameter `{name}` is missing: this index has {what}"
        ))),
        _ => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::ParamValue;

    fn int(name: &str, value: i64) -> Params {
        Params::new().with(name, ParamValue::Int(value))
    }

    fn shape_of(factory: &str) -> Result<Shape, AdapterError> {
        let params = Params::new().with("index", ParamValue::Text(factory.to_owned()));
        let spec = BuildSpec::new(Metric::L2, ElementType::F32, 100_000, 128, params);
        BuildParams::read(&spec).map(|(_, shape)| shape)
    }

    fn search(factory: &str, k: usize, values: &[(&str, i64)]) -> Result<PlanValues, String> {
        let params = values.iter().fold(Params::new(), |p, (name, v)| {
            p.with(name, ParamValue::Int(*v))
        });
        read_search(&params, shape_of(factory).expect("a known index"), k)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn shapes_show_what_can_be_set() {
        let shape = |nlist, graph, refine, counted| Shape {
            nlist,
            graph,
            refine,
            counted,
        };
        for (factory, expected) in [
            ("Flat", shape(None, None, false, false)),
            ("SQ8", shape(None, None, false, false)),
            ("HNSW16", shape(None, Some(Graph::Vectors), false, true)),
            ("HNSW16_SQ8", shape(None, Some(Graph::Vectors), false, true)),
            (
                "HNSW32,PQ16",
                shape(None, Some(Graph::Vectors), false, true),
            ),
            ("IVF447,Flat", shape(Some(447), None, false, true)),
            ("IVF1k,PQ32x4fs,RFlat", shape(Some(1024), None, true, false)),
            (
                "IVF256_HNSW32,Flat",
                shape(Some(256), Some(Graph::Centroids), false, true),
            ),
            ("OPQ16,IVF256,PQ16", shape(Some(256), None, false, true)),
            (
                "PCA64,HNSW16,Refine(SQ8)",
                shape(None, Some(Graph::Vectors), true, false),
            ),
            ("IVF64,RaBitQ", shape(Some(64), None, false, true)),
        ] {
            assert_eq!(shape_of(factory), Ok(expected), "{factory}");
        }
    }

    #[test]
    fn strings_that_faiss_or_the_shim_cannot_use_are_refused_in_plain_words() {
        for (factory, words) in [
            ("HNWS16", "could not parse"),
            ("", "could not parse"),
            ("IVF16", "could not parse"),
            ("PQ17", "multiple of"),
            ("IVF99999999999999999999,Flat", "does not fit"),
            (
                "IVF200000,Flat",
                "200000 lists cannot be trained on 100000 rows",
            ),
            ("IVF16(Index7),Flat", "keeps for itself"),
            ("PQ4x17", "2^17 centroids cannot be trained on 100000 rows"),
            ("IDMap,Flat", "row numbers"),
            ("NSG32", "no search width per search"),
            ("IVF16_NSG32,Flat", "coarse quantiser"),
            (
                "IVF16,Flat,Refine(IVF16,Flat)",
                "cannot measure single vectors",
            ),
            ("IVF16(Flat", "parentheses"),
            ("IVF16,RQ8x4fs_Nrq2x4", "no nprobe"),
        ] {
            let reason = shape_of(factory).expect_err(factory);
            assert!(
                matches!(reason, AdapterError::Rejected(_)),
                "{factory}: {reason:?}"
            );
            let reason = reason.to_string();
            assert!(reason.contains(words), "{factory}: {reason}");
            assert!(!reason.contains(".cpp"), "{factory}: {reason}");
        }
    }

    #[test]
    fn a_search_parameter_is_taken_exactly_where_the_index_has_it() {
        assert!(search("Flat", 10, &[]).is_ok());
        assert!(search("Flat", 10, &[("nprobe", 1)]).is_err());
        assert!(search("IVF64,Flat", 10, &[]).is_err());
        assert!(search("IVF64,Flat", 10, &[("nprobe", 64)]).is_ok());
        assert!(search("IVF64,Flat", 10, &[("ef_search", 64)]).is_err());
        assert!(search("HNSW16", 10, &[("ef_search", 10)]).is_ok());
        assert!(search("HNSW16", 10, &[("nprobe", 10)]).is_err());
        assert!(search("IVF64,Flat,RFlat", 10, &[("nprobe", 4)]).is_err());
        assert!(search("IVF64,Flat,RFlat", 10, &[("nprobe", 4), ("k_factor_rf", 2)]).is_ok());
        assert!(search("HNSW16", 10, &[("efSearch", 10)]).is_err());
    }

    #[test]
    fn what_faiss_would_clamp_is_refused() {
        let refused = |factory, k, values: &[(&str, i64)], words: &str| {
            let reason = search(factory, k, values).expect_err(factory);
            assert!(reason.contains(words), "{reason}");
        };
        refused("IVF64,Flat", 10, &[("nprobe", 65)], "at most the 64 lists");
        refused("HNSW16", 10, &[("ef_search", 9)], "at least k = 10");
        refused(
            "HNSW16_SQ8,RFlat",
            10,
            &[("ef_search", 39), ("k_factor_rf", 4)],
            "k * k_factor_rf = 40",
        );
        refused(
            "IVF64_HNSW8,Flat",
            10,
            &[("nprobe", 16), ("ef_search", 15)],
            "nprobe = 16",
        );
        assert!(
            search(
                "IVF64_HNSW8,Flat",
                100,
                &[("nprobe", 16), ("ef_search", 16)]
            )
            .is_ok()
        );
    }

    #[test]
    fn bits_and_floats_have_indexes_of_their_own() {
        let read = |factory: &str, element, metric, dim| {
            let params = Params::new().with("index", ParamValue::Text(factory.to_owned()));
            let spec = BuildSpec::new(metric, element, 1000, dim, params);
            BuildParams::read(&spec).map(|(_, shape)| shape)
        };
        let bits = |factory: &str, dim| read(factory, ElementType::Bits, Metric::Hamming, dim);
        let shape = |nlist, graph| Shape {
            nlist,
            graph,
            refine: false,
            counted: nlist.is_some(),
        };
        for (factory, expected) in [
            ("BFlat", shape(None, None)),
            ("BHNSW16", shape(None, Some(Graph::Vectors))),
            ("BIVF100", shape(Some(100), None)),
            ("BIVF100_HNSW8", shape(Some(100), Some(Graph::Centroids))),
        ] {
            assert_eq!(bits(factory, 256), Ok(expected), "{factory}");
            let reason = read(factory, ElementType::F32, Metric::L2, 256).expect_err(factory);
            let words = "an index of bits, but the vectors are f32";
            assert!(reason.to_string().contains(words), "{factory}: {reason}");
        }
        for (factory, dim, words) in [
            ("HNSW16", 256, "no index of bits; bits take BFlat"),
            ("IVF16,Flat", 256, "no index of bits; bits take BFlat"),
            (
                "BFlat",
                250,
                "dim 250: FAISS's indexes of bits take whole bytes",
            ),
            ("BIVF1001", 256, "1001 lists cannot be trained on 1000 rows"),
            ("BHash16", 256, "no nflip per search"),
        ] {
            let reason = bits(factory, dim).expect_err(factory);
            assert!(matches!(reason, AdapterError::Rejected(_)), "{reason:?}");
            assert!(reason.to_string().contains(words), "{factory}: {reason}");
        }
    }

    #[test]
    fn ef_construction_needs_a_graph() {
        let read = |factory: &str| {
            let params =
                int("ef_construction", 80).with("index", ParamValue::Text(factory.to_owned()));
            let spec = BuildSpec::new(Metric::L2, ElementType::F32, 1000, 32, params);
            BuildParams::read(&spec).map(|(p, _)| p.ef_construction)
        };
        assert_eq!(read("HNSW16"), Ok(Some(80)));
        assert_eq!(read("IVF16_HNSW8,Flat"), Ok(Some(80)));
        assert!(read("IVF16,Flat").is_err());
    }
}
