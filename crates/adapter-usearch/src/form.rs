use crate::params::BuildParams;
use crate::quantization::Quantization;
use annbench_core::{
    AdapterError, BuildSpec, ElementType, Metric, Vector, Vectors, bit_base, bit_query, row_base,
    row_query,
};
use half::f16;
use usearch::b1x8;

/// In which of the library's own types vectors are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    F32,
    F16,
    I8,
    U8,
    /// Bytes as f32, converted here: the library itself would divide them by 127 or 255 on the way
    /// to any other type, and round.
    WidenedI8,
    WidenedU8,
    Bits,
}

/// One vector as the library takes it.
#[derive(Clone, Copy)]
pub(crate) enum Handed<'a> {
    F32(&'a [f32]),
    F16(&'a [usearch::f16]),
    I8(&'a [i8]),
    U8(&'a [u8]),
    Bits(&'a [b1x8]),
}

impl Form {
    /// How vectors of the build are handed over.
    ///
    /// # Errors
    /// [`AdapterError::Rejected`] where the library would make nonsense of them without a word.
    pub(crate) fn of(spec: &BuildSpec, params: &BuildParams) -> Result<Self, AdapterError> {
        let quantization = params.quantization;
        let form = match (spec.element, quantization) {
            (ElementType::Bits, Quantization::B1) => Form::Bits,
            (ElementType::Bits, _) => {
                return Err(refused(
                    quantization,
                    "bits are held as b1 and searched as such",
                ));
            }
            (_, Quantization::B1) => {
                return Err(refused(
                    quantization,
                    "usearch would keep the signs only, and measures no distance of numbers on \
                     them",
                ));
            }
            (ElementType::U8, Quantization::U8) => Form::U8,
            (_, Quantization::U8) => {
                return Err(refused(
                    quantization,
                    "usearch takes u8 vectors as they are; of others it sets negative components \
                     to 0 and scales the rest by the vector's own length",
                ));
            }
            (ElementType::I8, Quantization::I8) => Form::I8,
            (_, Quantization::I8) if spec.metric != Metric::Cosine => {
                return Err(refused(
                    quantization,
                    "usearch scales each vector that is not i8 by its own length, which keeps the \
                     order of distances under cosine only",
                ));
            }
            (ElementType::F32, _) => Form::F32,
            (ElementType::F16, _) => Form::F16,
            (ElementType::I8, _) => Form::WidenedI8,
            (ElementType::U8, _) => Form::WidenedU8,
            (other, _) => {
                return Err(AdapterError::Rejected(format!(
                    "element type {other}: usearch has no vectors of it"
                )));
            }
        };
        Ok(form)
    }

    /// Checks that the base is that of the build, and that no component lies beyond what the index
    /// holds: e4m3 would hold 1000 as 448.
    ///
    /// A query is not looked at again, since that would cost time that is measured; where its
    /// components lie beyond, recall shows it.
    ///
    /// # Errors
    /// [`AdapterError::Rejected`] naming the first such component.
    pub(crate) fn check_base(
        base: Vectors<'_>,
        spec: &BuildSpec,
        params: &BuildParams,
    ) -> Result<(), AdapterError> {
        let largest = params.quantization.largest();
        let beyond = match spec.element {
            ElementType::F32 => first_beyond(row_base::<f32>(base, spec)?.data(), largest),
            ElementType::F16 => first_beyond(row_base::<f16>(base, spec)?.data(), largest),
            ElementType::I8 => first_beyond(row_base::<i8>(base, spec)?.data(), largest),
            ElementType::U8 => first_beyond(row_base::<u8>(base, spec)?.data(), largest),
            _ => {
                bit_base(base, spec)?;
                None
            }
        };
        match (beyond, largest) {
            (Some((at, value)), Some(largest)) => Err(AdapterError::Rejected(format!(
                "parameter `quantization`: {} holds numbers up to {largest}, found {value} in row \
                 {} at component {}; take a wider one",
                params.quantization.name(),
                at / spec.dim,
                at % spec.dim
            ))),
            _ => Ok(()),
        }
    }

    /// `vector` as the library takes it. `scratch` is where it is widened.
    ///
    /// # Errors
    /// [`AdapterError::Failed`] for another element type or dimension.
    #[inline]
    pub(crate) fn hand<'a>(
        self,
        vector: Vector<'a>,
        dim: usize,
        scratch: &'a mut Vec<f32>,
    ) -> Result<Handed<'a>, AdapterError> {
        Ok(match self {
            Form::F32 => Handed::F32(row_query::<f32>(vector, dim)?),
            Form::F16 => {
                let bits: &[i16] = bytemuck::cast_slice(row_query::<f16>(vector, dim)?);
                Handed::F16(usearch::f16::from_i16s(bits))
            }
            Form::I8 => Handed::I8(row_query::<i8>(vector, dim)?),
            Form::U8 => Handed::U8(row_query::<u8>(vector, dim)?),
            Form::WidenedI8 => Handed::F32(widened(row_query::<i8>(vector, dim)?, scratch)),
            Form::WidenedU8 => Handed::F32(widened(row_query::<u8>(vector, dim)?, scratch)),
            Form::Bits => Handed::Bits(b1x8::from_u8s(bit_query(vector, dim)?.bytes)),
        })
    }
}

fn widened<'s, T: Copy + Into<f32>>(row: &[T], scratch: &'s mut Vec<f32>) -> &'s [f32] {
    scratch.clear();
    scratch.extend(row.iter().map(|&v| v.into()));
    scratch
}

/// Where the first component stands whose magnitude exceeds `largest`, and what it is.
fn first_beyond<T: Copy + Into<f32>>(data: &[T], largest: Option<f32>) -> Option<(usize, f32)> {
    let largest = largest?;
    let at = data.iter().position(|&v| v.into().abs() > largest)?;
    Some((at, data[at].into()))
}

fn refused(quantization: Quantization, why: &str) -> AdapterError {
    AdapterError::Rejected(format!(
        "parameter `quantization`: {} does not go with this dataset: {why}",
        quantization.name()
    ))
}
