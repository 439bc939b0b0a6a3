use crate::quantization::Quantization;
use annbench_core::{AdapterError, ParamDoc, ParamKind, Params};
use std::ops::RangeInclusive;

/// The library takes 0 for its default and refuses 1. The upper end is where the lowest layer alone
/// takes half a megabyte per point.
const CONNECTIVITY: RangeInclusive<i64> = 2..=1 << 16;

/// The library takes 0 for its default, and reserves heaps of this many entries before it looks at
/// the data.
const EXPANSION: RangeInclusive<i64> = 1..=1 << 24;

/// Parameters of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BuildParams {
    pub(crate) connectivity: usize,
    pub(crate) expansion_add: usize,
    pub(crate) quantization: Quantization,
}

impl BuildParams {
    pub(crate) fn docs() -> Vec<ParamDoc> {
        vec![
            ParamDoc::required(
                "connectivity",
                ParamKind::Int,
                "links per point and layer (M), twice that in the lowest layer; 2 to 65536",
            ),
            ParamDoc::required(
                "expansion_add",
                ParamKind::Int,
                "candidates kept while a point is inserted (ef_construction); 1 to 16777216",
            ),
            ParamDoc::required(
                "quantization",
                ParamKind::Text,
                "what the index holds: f64, f32, f16, bf16, e5m2, e4m3, e3m2 (to 28) or e2m3 (to \
                 7.5) of any numbers; i8 of i8 vectors, under cosine of any numbers; u8 of u8 \
                 vectors; b1 of bits, and nothing else of bits",
            ),
        ]
    }

    pub(crate) fn read(params: &Params) -> Result<Self, AdapterError> {
        let mut reader = params.reader();
        let connectivity = reader.int("connectivity", CONNECTIVITY)?;
        let expansion_add = reader.int("expansion_add", EXPANSION)?;
        let name = reader.text("quantization")?;
        reader.finish()?;
        let quantization = Quantization::named(&name).ok_or_else(|| {
            AdapterError::Rejected(format!(
                "parameter `quantization`: expected one of {}, found `{name}`",
                Quantization::ALL.map(Quantization::name).join(", ")
            ))
        })?;
        Ok(Self {
            connectivity: connectivity as usize,
            expansion_add: expansion_add as usize,
            quantization,
        })
    }
}

/// Parameters of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchParams {
    pub(crate) expansion_search: usize,
}

impl SearchParams {
    pub(crate) fn docs() -> Vec<ParamDoc> {
        vec![ParamDoc::required(
            "expansion_search",
            ParamKind::Int,
            "candidates kept while searching (ef); k to 16777216",
        )]
    }

    /// Refuses expansion_search < k: the library would search with k in its place.
    pub(crate) fn read(params: &Params, k: usize) -> Result<Self, AdapterError> {
        let mut reader = params.reader();
        let expansion_search = reader.int("expansion_search", EXPANSION)? as usize;
        reader.finish()?;
        if expansion_search < k {
            return Err(AdapterError::Rejected(format!(
                "parameter `expansion_search`: expected at least k = {k}, found \
                 {expansion_search}; usearch would search with {k}"
            )));
        }
        Ok(Self { expansion_search })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::ParamValue;

    fn build(connectivity: i64, expansion_add: i64, quantization: &str) -> Params {
        Params::new()
            .with("connectivity", ParamValue::Int(connectivity))
            .with("expansion_add", ParamValue::Int(expansion_add))
            .with("quantization", ParamValue::Text(quantization.to_owned()))
    }

    #[test]
    fn what_the_library_takes_for_its_defaults_is_refused() {
        for (connectivity, expansion_add) in [(0, 100), (1, 100), (16, 0)] {
            let params = build(connectivity, expansion_add, "f32");
            assert!(BuildParams::read(&params).is_err(), "{params}");
        }
        assert_eq!(
            BuildParams::read(&build(2, 1, "bf16")),
            Ok(BuildParams {
                connectivity: 2,
                expansion_add: 1,
                quantization: Quantization::Bf16,
            })
        );
    }

    #[test]
    fn an_unknown_quantization_is_told_the_known_ones() {
        let reason = BuildParams::read(&build(16, 100, "int8")).unwrap_err();
        let reason = reason.to_string();
        assert!(
            reason.contains("`int8`") && reason.contains("i8, u8, b1"),
            "{reason}"
        );
    }

    #[test]
    fn expansion_below_k_is_refused_not_raised() {
        let params = Params::new().with("expansion_search", ParamValue::Int(9));
        let expected = SearchParams {
            expansion_search: 9,
        };
        assert_eq!(SearchParams::read(&params, 9), Ok(expected));
        let reason = SearchParams::read(&params, 10).unwrap_err().to_string();
        assert!(reason.contains("at least k = 10"), "{reason}");
    }
}
