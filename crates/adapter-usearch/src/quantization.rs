use usearch::ScalarKind;

/// In what the index holds the components. Queries are converted to it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantization {
    F64,
    F32,
    F16,
    Bf16,
    E5m2,
    E4m3,
    E3m2,
    E2m3,
    I8,
    U8,
    B1,
}

impl Quantization {
    pub(crate) const ALL: [Quantization; 11] = [
        Quantization::F64,
        Quantization::F32,
        Quantization::F16,
        Quantization::Bf16,
        Quantization::E5m2,
        Quantization::E4m3,
        Quantization::E3m2,
        Quantization::E2m3,
        Quantization::I8,
        Quantization::U8,
        Quantization::B1,
    ];

    /// The library's own word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Quantization::F64 => "f64",
            Quantization::F32 => "f32",
            Quantization::F16 => "f16",
            Quantization::Bf16 => "bf16",
            Quantization::E5m2 => "e5m2",
            Quantization::E4m3 => "e4m3",
            Quantization::E3m2 => "e3m2",
            Quantization::E2m3 => "e2m3",
            Quantization::I8 => "i8",
            Quantization::U8 => "u8",
            Quantization::B1 => "b1",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|q| q.name() == name)
    }

    pub(crate) const fn kind(self) -> ScalarKind {
        match self {
            Quantization::F64 => ScalarKind::F64,
            Quantization::F32 => ScalarKind::F32,
            Quantization::F16 => ScalarKind::F16,
            Quantization::Bf16 => ScalarKind::BF16,
            Quantization::E5m2 => ScalarKind::E5M2,
            Quantization::E4m3 => ScalarKind::E4M3,
            Quantization::E3m2 => ScalarKind::E3M2,
            Quantization::E2m3 => ScalarKind::E2M3,
            Quantization::I8 => ScalarKind::I8,
            Quantization::U8 => ScalarKind::U8,
            Quantization::B1 => ScalarKind::B1,
        }
    }

    /// The largest magnitude that is held as a number; beyond it the library saturates or makes an
    /// infinity. `None` where no f32 lies beyond, or where the library scales.
    ///
    /// E4M3 and E5M2: P. Micikevicius et al., FP8 Formats for Deep Learning, arXiv:2209.05433,
    /// table 1; E3M2 and E2M3: OCP Microscaling Formats (MX) 1.0, table 1.
    pub(crate) const fn largest(self) -> Option<f32> {
        match self {
            Quantization::F16 => Some(65504.0),
            // All seven bits of the mantissa set, the largest exponent below infinity's.
            Quantization::Bf16 => Some(f32::from_bits(0x7f7f_0000)),
            Quantization::E5m2 => Some(57344.0),
            Quantization::E4m3 => Some(448.0),
            Quantization::E3m2 => Some(28.0),
            Quantization::E2m3 => Some(7.5),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_names_one() {
        for quantization in Quantization::ALL {
            assert_eq!(Quantization::named(quantization.name()), Some(quantization));
        }
        assert_eq!(Quantization::named("F32"), None);
    }
}
