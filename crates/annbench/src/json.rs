//! Answers for programs: one document each, with the names that records use.

use anyhow::Context;
use serde::Serialize;

/// `document` as text with its final newline.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn document(document: &impl Serialize) -> anyhow::Result<String> {
    let mut text = serde_json::to_string_pretty(document).context("writing the answer as JSON")?;
    text.push('\n');
    Ok(text)
}
