//! Names of builds and points: the hash of everything that defines them.

use crate::{BuildIdentity, PointIdentity};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Beyond this, neighbouring integers are one and the same double, which is all that RFC 8785 knows.
const LARGEST_EXACT: u64 = 1 << 53;

/// Why an identity has no name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IdentityError {
    /// JSON has no such number.
    #[error(
        "identity field `{field}`: expected a finite number, found none; check the parameters of the sweep"
    )]
    NotFinite {
        /// Path of the field.
        field: String,
    },
    /// It could not be written as JSON.
    #[error(
        "the identity cannot be written as JSON: {reason}; this is a fault of annbench, please report it"
    )]
    Json {
        /// Why.
        reason: String,
    },
}

/// Hash of everything that defines a build, 64 hexadecimal digits.
///
/// # Errors
/// [`IdentityError::NotFinite`] for a parameter that is no finite number.
pub fn build_key(identity: &BuildIdentity) -> Result<String, IdentityError> {
    hash(identity)
}

/// Hash of everything that defines a point, 64 hexadecimal digits.
///
/// # Errors
/// [`IdentityError::NotFinite`] for a parameter that is no finite number.
pub fn point_id(identity: &PointIdentity) -> Result<String, IdentityError> {
    hash(identity)
}

fn hash(identity: &impl Serialize) -> Result<String, IdentityError> {
    let digest = Sha256::digest(canonical_json(identity)?.as_bytes());
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// RFC 8785 with integers beyond ±2^53 as strings, as section 3.2.2.3's note advises: the RFC writes
/// numbers as doubles, and 1.0 as 1.
fn canonical_json(identity: &impl Serialize) -> Result<String, IdentityError> {
    let json = |error: serde_json::Error| IdentityError::Json {
        reason: error.to_string(),
    };
    let mut value = serde_json::to_value(identity).map_err(json)?;
    spell_large_integers(&mut value, "")?;
    serde_json_canonicalizer::to_string(&value).map_err(json)
}

fn spell_large_integers(value: &mut Value, path: &str) -> Result<(), IdentityError> {
    match value {
        // Identities have no optional fields: a null is what serde_json makes of NaN and infinity.
        Value::Null => Err(IdentityError::NotFinite {
            field: path.trim_start_matches('.').to_owned(),
        }),
        Value::Number(number) => {
            let magnitude = number
                .as_u64()
                .or_else(|| number.as_i64().map(i64::unsigned_abs));
            if magnitude.is_some_and(|m| m > LARGEST_EXACT) {
                *value = Value::String(number.to_string());
            }
            Ok(())
        }
        Value::Array(values) => values
            .iter_mut()
            .enumerate()
            .try_for_each(|(i, v)| spell_large_integers(v, &format!("{path}.{i}"))),
        Value::Object(fields) => fields
            .iter_mut()
            .try_for_each(|(name, v)| spell_large_integers(v, &format!("{path}.{name}"))),
        Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_form_is_canonical() {
        let text = canonical_json(&json!({"b": 1.0, "a": [1e21, 0.1, -0.0], "ä": "\n"})).unwrap();
        assert_eq!(text, r#"{"a":[1e+21,0.1,0],"b":1,"ä":"\n"}"#);
    }

    #[test]
    fn integers_beyond_a_double_keep_their_digits() {
        let large = LARGEST_EXACT + 1;
        let text = canonical_json(&json!([LARGEST_EXACT, large, u64::MAX, i64::MIN])).unwrap();
        assert_eq!(
            text,
            r#"[9007199254740992,"9007199254740993","18446744073709551615","-9223372036854775808"]"#
        );
    }
}
