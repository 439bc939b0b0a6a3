use crate::checked::{Mismatch, hash};
use crate::part::{Part, left_of};
use crate::remote::{Answer, Identity, remote};
use crate::state::State;
use crate::transfer::{Ended, Line, Transfer, compare_header};
use crate::{
    Cut, DownloadError, Event, Expected, HashError, Limits, Source, SourceError, Trouble,
    free_space,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A file that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// Where it belongs. What is there is replaced, once the new file is complete and verified.
    pub file: PathBuf,
    /// Where it can be had; the next is tried when one fails.
    pub sources: Vec<Source>,
    /// What is known of the file at the sources.
    pub expected: Expected,
    /// Only its first bytes are wanted; its checksums cannot be compared then.
    pub cut: Option<Cut>,
}

/// What an earlier time left of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlreadyThere {
    /// Bytes of the file that need not come again from its first source.
    pub of_use: u64,
    /// Bytes of the file system that are taken already, of use or not: what comes is written over them.
    pub taken: u64,
}

impl Download {
    /// What an earlier time left beside the place of the file; nothing is changed, and no server asked.
    pub fn already_there(&self) -> AlreadyThere {
        let Some((state, taken)) = left_of(&self.file) else {
            return AlreadyThere::default();
        };
        let state = state.ok().flatten().zip(self.sources.first());
        let going_on = state.and_then(|(state, source)| self.going_on(state, source.url()).ok());
        AlreadyThere {
            of_use: going_on.map_or(0, |state| state.done.len()),
            taken,
        }
    }

    /// Bytes that are wanted, where that is known before a server is asked.
    pub fn wanted(&self) -> Option<u64> {
        match &self.cut {
            Some(cut) => Some(cut.bytes),
            None => self.expected.bytes,
        }
    }

    /// The checksum by which bytes from different sources and times may be joined.
    fn checksum(&self) -> Option<String> {
        match self.cut {
            Some(_) => None,
            None => self
                .expected
                .sha256
                .clone()
                .or_else(|| self.expected.md5.clone()),
        }
    }

    /// `state`, which an earlier time left, as the source at `url` can go on with it; else why it cannot.
    fn going_on(&self, mut state: State, url: &str) -> Result<State, &'static str> {
        let same_file = state.checksum.is_some() && state.checksum == self.checksum();
        let same_source = state.url == url;
        if self.wanted().is_some_and(|wanted| wanted != state.total) {
            Err("what is there belongs to a file of another size")
        } else if same_file {
            if !same_source {
                // The checksum will tell; what this server says of its copy is not what the other said.
                state.identity = Identity {
                    total: state.identity.total,
                    ..Identity::default()
                };
            }
            Ok(state)
        } else if !same_source {
            Err(
                "what is there comes from another source, and no checksum would tell whether they agree",
            )
        } else if !state.identity.has_validator() {
            Err("neither the server nor a checksum would tell whether the file is still the same")
        } else {
            Ok(state)
        }
    }
}

/// A file that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// From where.
    pub url: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// Bytes that were there from an earlier time.
    pub resumed: u64,
    /// Whether a checksum was known and agrees.
    pub compared: bool,
}

/// Downloads a file, or goes on with it where an earlier attempt stopped.
///
/// `interrupted` is looked at between chunks and in waits; once it is set, what came is kept and the
/// call returns. `tell` hears what goes on, from several threads.
///
/// # Errors
/// [`DownloadError::Sources`] when no source gives the expected file; the other variants for what would
/// stop every source.
pub fn download(
    download: &Download,
    limits: &Limits,
    interrupted: &AtomicBool,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Downloaded, DownloadError> {
    let part = Part::open(&download.file)?;
    let mut failures: Vec<SourceError> = Vec::new();
    for source in &download.sources {
        if let Some(failure) = failures.last() {
            // Another source would only throw away what came from this one.
            if interrupted.load(Ordering::Relaxed) {
                return Err(stopped(download, &part));
            }
            tell(Event::NextSource {
                why: failure.to_string(),
            });
        }
        let remote = remote(source, limits, interrupted);
        let attempt = Attempt {
            download,
            part: &part,
            line: Line {
                remote: remote.as_ref(),
                url: source.url(),
                limits,
                interrupted,
                tell,
            },
        };
        match attempt.run() {
            Ok(downloaded) => {
                part.publish(&download.file)?;
                return Ok(downloaded);
            }
            Err(Ended::Source(failure) | Ended::Joined(failure)) => failures.push(failure),
            Err(Ended::Here(DownloadError::Interrupted { done, total, .. })) => {
                return Err(DownloadError::Interrupted {
                    file: download.file.clone(),
                    done,
                    total,
                });
            }
            Err(Ended::Here(error)) => return Err(error),
        }
    }
    // Nothing came: no empty part is left behind.
    if part.state().is_ok_and(|state| state.is_none()) {
        part.discard()?;
    }
    Err(DownloadError::Sources {
        file: download.file.clone(),
        failures,
    })
}

fn stopped(download: &Download, part: &Part) -> DownloadError {
    let done = match part.state() {
        Ok(Some(state)) => state.done.len(),
        _ => 0,
    };
    DownloadError::Interrupted {
        file: download.file.clone(),
        done,
        total: download.wanted().unwrap_or(0),
    }
}

/// One source.
struct Attempt<'a> {
    download: &'a Download,
    part: &'a Part,
    line: Line<'a>,
}

/// How a source is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Ranges,
    /// From the first byte to the last, since the server gives nothing else.
    Whole,
}

impl Attempt<'_> {
    fn run(&self) -> Result<Downloaded, Ended> {
        let mut way = Way::Ranges;
        let mut restarts = 0;
        let mut separated = false;
        loop {
            let failure = match self.fetch(way) {
                Err(Ended::Source(failure)) => failure,
                Err(Ended::Joined(failure)) if separated => failure,
                Err(Ended::Joined(failure)) => {
                    separated = true;
                    self.restart(failure.to_string())?;
                    continue;
                }
                other => return other,
            };
            match failure.trouble {
                Trouble::NoRanges if way == Way::Ranges => way = Way::Whole,
                // What is there is of another version, or too long for this one.
                Trouble::Changed | Trouble::Refused(416)
                    if restarts < self.line.limits.restarts =>
                {
                    restarts += 1;
                }
                Trouble::OtherHeader | Trouble::OtherChecksum => {
                    self.part.reset(0)?;
                    return Err(Ended::Source(failure));
                }
                _ => return Err(Ended::Source(failure)),
            }
            self.restart(failure.to_string())?;
        }
    }

    /// Throws away what is there.
    fn restart(&self, why: String) -> Result<(), DownloadError> {
        self.part.reset(0)?;
        (self.line.tell)(Event::Restarted {
            url: self.line.url.to_owned(),
            why,
        });
        Ok(())
    }

    fn fetch(&self, way: Way) -> Result<Downloaded, Ended> {
        let limits = self.line.limits;
        let before = self.left()?;
        let missing = before
            .as_ref()
            .map(|state| state.done.missing(state.total, limits.piece));
        let (state, answer, ranged) = match (before, missing.as_deref()) {
            // An earlier time ended after the last byte, before it was verified.
            (Some(state), Some([])) => (state, None, false),
            (before, missing) => {
                let first = match (missing, way) {
                    (Some([first, ..]), Way::Ranges) => first.clone(),
                    (_, Way::Whole) => 0..u64::MAX,
                    _ => 0..self.download.wanted().unwrap_or(u64::MAX).min(limits.piece),
                };
                let answer = self.open(&first, before.as_ref().map(|state| &state.identity))?;
                let ranged =
                    way == Way::Ranges && answer.partial && answer.range.start == first.start;
                let state = self.begin(before, &answer, ranged)?;
                (state, Some(answer), ranged)
            }
        };
        let (resumed, total) = (state.done.len(), state.total);
        // Without it, every answer may be of another version.
        let validated = state.identity.has_validator();
        let cut = self.download.cut.as_ref();
        let transfer = Transfer::new(self.line, self.part, cut, state, ranged);
        let connections = transfer.connections();
        (self.line.tell)(Event::Started {
            url: self.line.url.to_owned(),
            done: resumed,
            total,
            connections,
        });
        let answers = transfer.run(answer, connections)?;
        match self.verify(total, resumed) {
            Err(Ended::Source(failure))
                if failure.trouble == Trouble::OtherChecksum
                    && (resumed > 0 || (answers > 1 && !validated)) =>
            {
                Err(Ended::Joined(failure))
            }
            verified => verified,
        }
    }

    /// What an earlier time left, if this source can go on with it.
    fn left(&self) -> Result<Option<State>, DownloadError> {
        let state = match self.part.state() {
            Ok(None) => return Ok(None),
            Ok(Some(state)) => state,
            Err(why) => {
                self.restart(format!(
                    "the state of an earlier download is of no use: {why}"
                ))?;
                return Ok(None);
            }
        };
        let done = state.done.len();
        match self.download.going_on(state, self.line.url) {
            Ok(state) => return Ok(Some(state)),
            Err(why) if done > 0 => self.restart(why.to_owned())?,
            Err(_) => self.part.reset(0)?,
        }
        Ok(None)
    }

    /// The first answer, with what little a server that was never reached is tried again for.
    fn open(&self, range: &Range<u64>, known: Option<&Identity>) -> Result<Answer<'_>, Ended> {
        let mut attempt = 1;
        loop {
            let opened = self.line.watched(|| self.line.remote.open(range, known));
            let mut failure = match opened {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if self.line.is_interrupted() {
                return Err(stopped(self.download, self.part).into());
            }
            failure.attempts = attempt;
            if !failure.trouble.may_pass() || attempt >= self.line.limits.tries {
                return Err(Ended::Source(failure));
            }
            attempt += 1;
            self.line.pause(&failure, attempt);
        }
    }

    /// What the first answer means for what is there, and whether there is space for the rest.
    fn begin(
        &self,
        before: Option<State>,
        answer: &Answer<'_>,
        ranged: bool,
    ) -> Result<State, Ended> {
        let wrong = |trouble, expected: String, found: String| {
            Ended::Source(SourceError::new(self.line.url, trouble, expected, found))
        };
        let page = answer
            .content_type
            .as_deref()
            .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/html"));
        let expected = &self.download.expected;
        if page && expected.bytes != answer.identity.total {
            let found = "a web page (Content-Type text/html)".to_owned();
            return Err(wrong(Trouble::Page, "the file".to_owned(), found));
        }
        if let Some(state) = &before
            && let Some((then, now)) = state.identity.difference(&answer.identity)
        {
            return Err(wrong(Trouble::Changed, format!("{then}, as before"), now));
        }
        if let (Some(bytes), Some(total)) = (expected.bytes, answer.identity.total)
            && bytes != total
        {
            let (bytes, total) = (format!("{bytes} bytes"), format!("{total}"));
            return Err(wrong(Trouble::OtherSize, bytes, total));
        }
        let Some(whole) = expected.bytes.or(answer.identity.total) else {
            let (expected, found) = ("a size", "none, from the server or in the entry");
            return Err(wrong(
                Trouble::NoSize,
                expected.to_owned(),
                found.to_owned(),
            ));
        };
        let total = self.download.cut.as_ref().map_or(whole, |cut| cut.bytes);
        if total > whole {
            let expected = format!("at least {total} bytes");
            return Err(wrong(Trouble::OtherSize, expected, whole.to_string()));
        }
        // What is there is of use only where the rest can be asked for.
        let state = match before.filter(|_| ranged) {
            Some(mut state) => {
                state.url = self.line.url.to_owned();
                state.identity = answer.identity.clone();
                state
            }
            None => State::new(
                self.line.url,
                answer.identity.clone(),
                self.download.checksum(),
                total,
            ),
        };
        // What is not gone on with is written over, too.
        let taken = self.part.taken()?.max(state.done.len());
        let needed = total.saturating_sub(taken);
        let folder = self.part.path();
        let free = free_space(folder)
            .map_err(DownloadError::io("look how much is free beside", folder))?;
        if needed > free {
            return Err(Ended::Here(DownloadError::NoSpace {
                url: self.line.url.to_owned(),
                file: self.download.file.clone(),
                needed,
                free,
            }));
        }
        if state.done.len() == 0 {
            self.part.reset(total)?;
        }
        self.part.save(&state)?;
        Ok(state)
    }

    /// Checks the part, which is complete, and gives a cut its header.
    fn verify(&self, total: u64, resumed: u64) -> Result<Downloaded, Ended> {
        if let Some(cut) = &self.download.cut {
            // What is written over is not seen again.
            compare_header(self.part, cut, self.line.url)?;
            self.part.write(&cut.header_here, 0)?;
        }
        let nothing = Expected::default();
        let expected = match self.download.cut {
            Some(_) => &nothing,
            None => &self.download.expected,
        };
        let sums = hash(
            self.part.path(),
            expected,
            self.line.interrupted,
            self.line.tell,
        )
        .map_err(|error| match error {
            HashError::Interrupted { .. } => DownloadError::Interrupted {
                file: self.download.file.clone(),
                done: total,
                total,
            },
            HashError::Io { path, cause } => DownloadError::io("read", path)(cause),
        })?;
        if let Some(Mismatch {
            kind,
            expected,
            found,
        }) = expected.mismatch(&sums)
        {
            let (expected, found) = (format!("{kind} {expected}"), found);
            return Err(Ended::Source(SourceError::new(
                self.line.url,
                Trouble::OtherChecksum,
                expected,
                found,
            )));
        }
        Ok(Downloaded {
            url: self.line.url.to_owned(),
            bytes: total,
            sha256: sums.sha256,
            resumed,
            compared: expected.has_checksum(),
        })
    }
}
