use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};
use thiserror::Error;

/// Largest frame that is read; a longer length is garbage, not a message.
pub const MAX_FRAME_BYTES: usize = 64 << 20;

/// Why a frame could not be read.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The other side closed between two frames.
    #[error("the control pipe was closed")]
    Closed,
    /// The other side closed inside a frame.
    #[error("the control pipe was closed after {got} of {expected} bytes of a frame")]
    Torn {
        /// Bytes that arrived.
        got: usize,
        /// Bytes that were announced.
        expected: usize,
    },
    /// The length cannot be that of a message: something else was written into the pipe, such as a
    /// library's greeting before the worker could take its standard output away.
    #[error(
        "expected a frame, found bytes that start with {start:?}: read as a length they are \
         {length}, and at most {MAX_FRAME_BYTES} are allowed"
    )]
    TooLong {
        /// The length that the bytes are.
        length: usize,
        /// The same bytes as text.
        start: String,
    },
    /// The bytes are no message.
    #[error("a frame holds no message: {message}; it starts with {start:?}")]
    Garbage {
        /// The parser's complaint.
        message: String,
        /// The first bytes, for the reader of the error.
        start: String,
    },
    /// The pipe failed.
    #[error("the control pipe failed: {cause}")]
    Io {
        /// The cause; the text holds it, so it is no `source()`.
        cause: io::Error,
    },
}

impl From<io::Error> for FrameError {
    fn from(cause: io::Error) -> Self {
        Self::Io { cause }
    }
}

/// Writes one message and flushes.
///
/// # Errors
/// Any write error; `InvalidData` when the message cannot be serialised or is too long.
pub fn write_frame(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let body = serde_json::to_vec(message).map_err(io::Error::other)?;
    if body.len() > MAX_FRAME_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a message of {} bytes exceeds the frame limit", body.len()),
        ));
    }
    let mut frame = Vec::with_capacity(4 + body.len());
    frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
    frame.extend_from_slice(&body);
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one message.
///
/// # Errors
/// [`FrameError`]; the stream is unusable after any of them but [`FrameError::Garbage`].
pub fn read_frame<T: DeserializeOwned>(from: &mut impl Read) -> Result<T, FrameError> {
    parse_frame(&read_frame_body(from)?)
}

/// Reads the bytes of one message, whatever they hold.
///
/// # Errors
/// Any [`FrameError`] but [`FrameError::Garbage`].
pub fn read_frame_body(from: &mut impl Read) -> Result<Vec<u8>, FrameError> {
    let mut length = [0u8; 4];
    match read_up_to(from, &mut length)? {
        0 => return Err(FrameError::Closed),
        4 => {}
        got => return Err(FrameError::Torn { got, expected: 4 }),
    }
    let expected = u32::from_le_bytes(length) as usize;
    if expected > MAX_FRAME_BYTES {
        return Err(FrameError::TooLong {
            length: expected,
            start: String::from_utf8_lossy(&length).into_owned(),
        });
    }
    // Grown as bytes arrive: a lying length must not allocate what never comes.
    let mut body = Vec::new();
    let got = from.take(expected as u64).read_to_end(&mut body)?;
    if got < expected {
        return Err(FrameError::Torn { got, expected });
    }
    Ok(body)
}

/// The message that the bytes of a frame are.
///
/// # Errors
/// [`FrameError::Garbage`].
pub fn parse_frame<T: DeserializeOwned>(body: &[u8]) -> Result<T, FrameError> {
    serde_json::from_slice(body).map_err(|error| FrameError::Garbage {
        message: error.to_string(),
        start: String::from_utf8_lossy(&body[..body.len().min(64)]).into_owned(),
    })
}

fn read_up_to(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_and_a_torn_one_says_so() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &vec![1u32, 2, 3]).unwrap();
        assert_eq!(
            read_frame::<Vec<u32>>(&mut bytes.as_slice()).unwrap(),
            [1, 2, 3]
        );
        assert!(matches!(
            read_frame::<Vec<u32>>(&mut &bytes[..6]),
            Err(FrameError::Torn {
                got: 2,
                expected: 7
            })
        ));
        assert!(matches!(
            read_frame::<Vec<u32>>(&mut &bytes[..0]),
            Err(FrameError::Closed)
        ));
        assert!(matches!(
            read_frame::<Vec<u32>>(&mut &[0xffu8; 40][..]),
            Err(FrameError::TooLong { .. })
        ));
        let greeting = read_frame::<Vec<u32>>(&mut &b"Loading tables\n"[..]).unwrap_err();
        assert!(greeting.to_string().contains("\"Load\""), "{greeting}");
        let garbage = [&7u32.to_le_bytes()[..], b"garbage"].concat();
        assert!(matches!(
            read_frame::<Vec<u32>>(&mut garbage.as_slice()),
            Err(FrameError::Garbage { .. })
        ));
    }
}
