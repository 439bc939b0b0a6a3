use super::refused;
use crate::DatasetError;
use crate::mapped::MappedFile;

/// The lines of a file of text, without their ends.
pub(super) fn lines(file: &MappedFile) -> Result<impl Iterator<Item = &str>, DatasetError> {
    let text = std::str::from_utf8(file.bytes()).map_err(|error| {
        let place = format!("byte {}", error.valid_up_to());
        refused(
            file.path(),
            place,
            "text in UTF-8".to_owned(),
            "bytes that are none".to_owned(),
        )
    })?;
    Ok(text.lines())
}
