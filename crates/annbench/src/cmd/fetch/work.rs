use super::answer::{Fetched, FetchedFile, State};
use super::bar::Bar;
use super::plan::{Packed, Set, Way};
use crate::terminal::say;
use annbench_fetch::{
    DownloadError, Downloaded, HashError, Limits, UnpackError, UnpackLimits, Unpacked, download,
    hash, unpack,
};
use std::sync::atomic::AtomicBool;

/// Brings what is missing.
pub struct Worker {
    /// Whether archives stay after their files were taken out.
    pub keep_archives: bool,
    pub interrupted: &'static AtomicBool,
}

impl Worker {
    /// Brings what is missing of `set`. What cannot be had is told, and the rest goes on.
    ///
    /// # Errors
    /// Only when it was interrupted.
    pub fn fetch(&self, set: &Set) -> anyhow::Result<Fetched> {
        let mut fetched = Fetched::planned(set);
        say(&format!("{}: licence: {}", set.name, set.licence));
        if let Some(why) = fetched.no_space() {
            say(&format!("{}: {why}", set.name));
            fetched.fail_all(&why);
            return Ok(fetched);
        }
        for (wanted, file) in set.files.iter().zip(&mut fetched.files) {
            if let Way::Download { download: plan, .. } = &wanted.way {
                let bar = Bar::new(&wanted.file);
                let got = download(plan, &Limits::default(), self.interrupted, &|event| {
                    bar.observe(event);
                });
                drop(bar);
                match got {
                    Ok(got) => file.downloaded(&got),
                    Err(error @ DownloadError::Interrupted { .. }) => return Err(error.into()),
                    Err(error) => file.fail(&error.to_string()),
                }
            }
        }
        for (index, packed) in set.archives.iter().enumerate() {
            let got = self.take_out(packed)?;
            let from = set.files.iter().zip(&mut fetched.files);
            for (_, file) in from.filter(
                |(wanted, _)| matches!(wanted.way, Way::Packed { archive } if archive == index),
            ) {
                match &got {
                    Ok(unpacked) => file.unpacked(packed.url(), unpacked),
                    Err(why) => file.fail(why),
                }
            }
        }
        // Files of one archive fail for one reason.
        let mut told = Vec::new();
        for file in &fetched.files {
            if let (State::Failed, Some(reason)) = (file.state, &file.reason)
                && !told.contains(&reason)
            {
                say(&format!("{}: {reason}", set.name));
                told.push(reason);
            }
        }
        Ok(fetched)
    }

    /// The files of an archive, which is downloaded unless it lies at its place; the inner error says why
    /// they are not there.
    fn take_out(&self, packed: &Packed) -> anyhow::Result<Result<Vec<Unpacked>, String>> {
        let archive = &packed.download.file;
        let name = archive.file_name().unwrap_or_default().to_string_lossy();
        let bar = Bar::new(&name);
        let tell = |event| bar.observe(event);
        let was_there = archive.is_file();
        let complete = if was_there {
            self.is_expected(packed, &tell)?
        } else {
            match download(
                &packed.download,
                &Limits::default(),
                self.interrupted,
                &tell,
            ) {
                Ok(Downloaded { .. }) => Ok(()),
                Err(error @ DownloadError::Interrupted { .. }) => return Err(error.into()),
                Err(error) => Err(error.to_string()),
            }
        };
        if let Err(why) = complete {
            return Ok(Err(why));
        }
        let limits = UnpackLimits {
            most: most_unpacked(packed),
        };
        let (packing, members) = (packed.packing, &packed.members);
        match unpack(archive, packing, members, limits, self.interrupted, &tell) {
            Ok(unpacked) => {
                if was_there {
                    say(&format!("{} is not needed any more", archive.display()));
                } else if !self.keep_archives
                    && let Err(error) = std::fs::remove_file(archive)
                {
                    say(&format!("{} stays: {error}", archive.display()));
                }
                Ok(Ok(unpacked))
            }
            Err(error @ UnpackError::Interrupted { .. }) => Err(error.into()),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// Whether the archive that lies at its place is the one that the entry means.
    fn is_expected(
        &self,
        packed: &Packed,
        tell: &(dyn Fn(annbench_fetch::Event) + Sync),
    ) -> anyhow::Result<Result<(), String>> {
        let (archive, expected) = (&packed.download.file, &packed.download.expected);
        let wrong = |what: &str, expected: &str, found: &str| {
            Ok(Err(format!(
                "{}: expected {what} {expected}, found {found}; remove it and run the same again",
                archive.display()
            )))
        };
        if let (Some(bytes), Ok(facts)) = (expected.bytes, archive.metadata())
            && bytes != facts.len()
        {
            return wrong("a size of", &bytes.to_string(), &facts.len().to_string());
        }
        if !expected.has_checksum() {
            return Ok(Ok(()));
        }
        let sums = match hash(archive, expected, self.interrupted, tell) {
            Ok(sums) => sums,
            Err(error @ HashError::Interrupted { .. }) => return Err(error.into()),
            Err(error) => return Ok(Err(error.to_string())),
        };
        match expected.mismatch(&sums) {
            None => Ok(Ok(())),
            Some(mismatch) => wrong(mismatch.kind, &mismatch.expected, &mismatch.found),
        }
    }
}

/// Bytes that may come out of an archive: several times those of the wanted members, for there are others
/// beside them, such as those for learning.
fn most_unpacked(packed: &Packed) -> u64 {
    let wanted = packed.members.iter().map(|member| member.expected.bytes);
    let wanted = wanted.sum::<Option<u64>>().unwrap_or(0);
    let packed = packed
        .download
        .file
        .metadata()
        .map_or(0, |facts| facts.len());
    wanted
        .saturating_mul(8)
        .max(packed.saturating_mul(20))
        .saturating_add(1 << 30)
}

impl FetchedFile {
    fn downloaded(&mut self, got: &Downloaded) {
        self.state = State::Fetched;
        self.url = Some(got.url.clone());
        self.bytes = Some(got.bytes);
        self.sha256 = Some(got.sha256.clone());
        self.compared = Some(got.compared);
        self.resumed = Some(got.resumed);
    }

    fn unpacked(&mut self, url: &str, unpacked: &[Unpacked]) {
        let Some(own) = unpacked.iter().find(|member| member.file == self.belongs) else {
            return self.fail("the archive gave it not");
        };
        self.state = State::Fetched;
        self.url = Some(url.to_owned());
        self.bytes = Some(own.bytes);
        self.sha256 = Some(own.sha256.clone());
        self.compared = Some(own.compared);
    }
}
