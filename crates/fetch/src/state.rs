use crate::ranges::Ranges;
use crate::remote::Identity;
use serde::{Deserialize, Serialize};

/// What is known of a part file, beside it, so that another process can go on with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// The form of this record.
    version: u32,
    /// Where the bytes come from.
    pub(crate) url: String,
    /// Of which version of the file.
    pub(crate) identity: Identity,
    /// The checksum that the bytes are meant to have, if one is known.
    pub(crate) checksum: Option<String>,
    /// Bytes that are wanted.
    pub(crate) total: u64,
    /// Bytes that are there.
    pub(crate) done: Ranges,
}

const VERSION: u32 = 1;

/// A state file is small: one that is larger is none.
pub(crate) const LARGEST: u64 = 16 << 20;

impl State {
    pub(crate) fn new(url: &str, identity: Identity, checksum: Option<String>, total: u64) -> Self {
        Self {
            version: VERSION,
            url: url.to_owned(),
            identity,
            checksum,
            total,
            done: Ranges::default(),
        }
    }

    /// The state that `bytes` hold, or why they hold none.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let state: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if state.version != VERSION {
            return Err(format!("its form is {}, not {VERSION}", state.version));
        }
        if state.done.end() > state.total {
            return Err("more is there than is wanted".to_owned());
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_and_nothing_else_does() {
        let mut state = State::new("http://a/b", Identity::default(), None, 100);
        state.done.insert(10..20);
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(State::parse(text.as_bytes()).unwrap(), state);
        for (from, to) in [
            ("\"version\":1", "\"version\":2"),
            ("[[10,20]]", "[[10,101]]"),
            ("[[10,20]]", "[[20,10]]"),
            ("\"total\":100", "\"total\":-1"),
            ("\"total\"", "\"other\""),
            ("{", ""),
        ] {
            assert!(
                State::parse(text.replace(from, to).as_bytes()).is_err(),
                "{to}"
            );
        }
        assert!(State::parse(&text.as_bytes()[..30]).is_err());
    }
}
