use crate::remote::{Answer, Body, Identity, Remote, read_once};
use crate::source::FtpPlace;
use crate::{Limits, SourceError, Trouble};
use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use suppaftp::types::FileType;
use suppaftp::{FtpError, FtpStream, Mode};

/// How often a wait for bytes looks whether it should end.
const LOOK: Duration = Duration::from_millis(100);

/// A file on an FTP server, by an anonymous user over passive connections.
pub(crate) struct Ftp<'a> {
    url: &'a str,
    place: &'a FtpPlace,
    limits: &'a Limits,
    interrupted: &'a AtomicBool,
    stop: Arc<Stop>,
}

/// What ends waits from another thread.
#[derive(Default)]
struct Stop {
    stopped: AtomicBool,
    /// The socket of the control connection.
    control: Mutex<Option<TcpStream>>,
}

impl Stop {
    fn is_set(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn set(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.shut();
    }

    /// Ends waits for an answer on `control`, too, once it is set.
    fn watch(&self, control: TcpStream) {
        *self.control() = Some(control);
        if self.is_set() {
            self.shut();
        }
    }

    fn shut(&self) {
        if let Some(control) = self.control().as_ref() {
            let _ = control.shutdown(Shutdown::Both);
        }
    }

    fn control(&self) -> MutexGuard<'_, Option<TcpStream>> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Ftp<'a> {
    pub(crate) fn new(
        url: &'a str,
        place: &'a FtpPlace,
        limits: &'a Limits,
        interrupted: &'a AtomicBool,
    ) -> Self {
        Self {
            url,
            place,
            limits,
            interrupted,
            stop: Arc::default(),
        }
    }

    fn failure(&self, expected: &str) -> impl Fn(FtpError) -> SourceError {
        let (url, expected, stall) = (self.url.to_owned(), expected.to_owned(), self.limits.stall);
        move |error| failure(&url, &expected, error, stall)
    }

    /// A control connection, logged in.
    fn session(&self) -> Result<FtpStream, SourceError> {
        let stream = self.connect()?;
        let ipv6 = stream.peer_addr().is_ok_and(|address| address.is_ipv6());
        if let Ok(control) = stream.try_clone() {
            self.stop.watch(control);
        }
        let (connect, stall) = (self.limits.connect, self.limits.stall);
        let stop = self.stop.clone();
        let mut session = FtpStream::connect_with_stream(stream)
            .map_err(self.failure("a greeting"))?
            .passive_stream_builder(move |address: SocketAddr| {
                let data =
                    connect_within(address, connect, &stop).map_err(FtpError::ConnectionError)?;
                data.set_read_timeout(Some(LOOK.min(stall)))
                    .map_err(FtpError::ConnectionError)?;
                Ok(data)
            });
        // The data come from the host that was asked, whatever address it names.
        session.set_passive_nat_workaround(true);
        session.set_mode(if ipv6 {
            Mode::ExtendedPassive
        } else {
            Mode::Passive
        });
        session
            .login("anonymous", "annbench@")
            .map_err(self.failure("to be logged in as anonymous"))?;
        session
            .transfer_type(FileType::Binary)
            .map_err(self.failure("binary transfer"))?;
        Ok(session)
    }

    fn connect(&self) -> Result<TcpStream, SourceError> {
        let unreachable =
            |found: String| SourceError::new(self.url, Trouble::Unreachable, "a connection", found);
        let limit = self.limits.connect;
        let (host, port) = (self.place.host.clone(), self.place.port);
        let look_up = move || Ok((host.as_str(), port).to_socket_addrs()?.collect::<Vec<_>>());
        let addresses = within(limit, &self.stop, "the name of the host", look_up)
            .map_err(|error| unreachable(error.to_string()))?;
        let mut last = "no address of that host".to_owned();
        for address in addresses {
            match connect_within(address, limit, &self.stop) {
                Ok(stream) => {
                    let bounded = stream
                        .set_read_timeout(Some(self.limits.stall))
                        .and_then(|()| stream.set_write_timeout(Some(self.limits.stall)));
                    return match bounded {
                        Ok(()) => Ok(stream),
                        Err(error) => Err(unreachable(error.to_string())),
                    };
                }
                Err(error) => last = error.to_string(),
            }
        }
        Err(unreachable(last))
    }
}

impl Remote for Ftp<'_> {
    fn open(
        &self,
        range: &Range<u64>,
        _known: Option<&Identity>,
    ) -> Result<Answer<'_>, SourceError> {
        let mut session = self.session()?;
        let path = &self.place.path;
        let mut identity = Identity::default();
        // Neither is in the first standard; a server without them may still have the file.
        match session.size(path) {
            Ok(size) => identity.total = Some(size as u64),
            Err(error) => refusal(error).map_err(self.failure("the size of the file"))?,
        }
        match session.mdtm(path) {
            Ok(time) => identity.modified = Some(time.to_string()),
            Err(error) => refusal(error).map_err(self.failure("the time of the file"))?,
        }
        let offset = usize::try_from(range.start).map_err(|_| {
            SourceError::new(
                self.url,
                Trouble::NoRanges,
                "an offset that this machine can count",
                range.start.to_string(),
            )
        })?;
        session
            .resume_transfer(offset)
            .map_err(self.failure("an offset"))?;
        let control = session.get_ref().try_clone().map_err(|error| {
            SourceError::new(self.url, Trouble::Cut, "a connection", error.to_string())
        })?;
        let transfer = session.retr_as_stream(path).map_err(|error| {
            let mut error = self.failure("the file")(error);
            // 501, 502, 504: the command that names the offset is not known.
            if offset > 0 && matches!(error.trouble, Trouble::Refused(501 | 502 | 504)) {
                error.trouble = Trouble::NoRanges;
            }
            error
        })?;
        Ok(Answer {
            range: range.start..identity.total.unwrap_or(u64::MAX),
            identity,
            partial: true,
            content_type: None,
            body: Box::new(FtpBody {
                url: self.url.to_owned(),
                transfer: Box::new(transfer),
                control,
                stall: self.limits.stall,
                interrupted: self.interrupted,
            }),
        })
    }

    fn in_parallel(&self) -> bool {
        false
    }

    fn interrupt(&self) {
        self.stop.set();
    }
}

struct FtpBody<'a> {
    url: String,
    transfer: Box<dyn Read>,
    /// The socket of the control connection.
    control: TcpStream,
    stall: Duration,
    interrupted: &'a AtomicBool,
}

impl Body for FtpBody<'_> {
    fn read(&mut self, chunk: &mut [u8]) -> Result<usize, SourceError> {
        let since = Instant::now();
        loop {
            match read_once(&mut self.transfer, chunk) {
                // The socket's own timeout is short, so that the flag is seen.
                Err(error) if waited(&error) => {
                    if self.interrupted.load(Ordering::Relaxed) {
                        return Err(broken(&self.url, Trouble::Cut, "an interruption"));
                    }
                    if since.elapsed() >= self.stall {
                        let found = format!("none for {} s", self.stall.as_secs_f64());
                        return Err(broken(&self.url, Trouble::Stalled, found));
                    }
                }
                Err(error) => return Err(broken(&self.url, Trouble::Cut, error.to_string())),
                Ok(n) => return Ok(n),
            }
        }
    }
}

impl Drop for FtpBody<'_> {
    /// Spares the wait for the server's last word: that the file is complete is told by its size.
    fn drop(&mut self) {
        let _ = self.control.shutdown(Shutdown::Both);
    }
}

/// What `work` gives, which has no limit of its own that can be relied on: it is left alone once `limit` has
/// passed or `stop` is set.
fn within<T: Send + 'static>(
    limit: Duration,
    stop: &Stop,
    what: &str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (give, take) = mpsc::channel();
    // Nobody may be there any more to take it.
    let worker = move || drop(give.send(work()));
    thread::Builder::new().spawn(worker)?;
    let since = Instant::now();
    loop {
        match take.recv_timeout(LOOK.min(limit)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other(format!("{what}: no answer")));
            }
            Err(RecvTimeoutError::Timeout) if stop.is_set() => {
                return Err(io::Error::other("an interruption"));
            }
            Err(RecvTimeoutError::Timeout) if since.elapsed() >= limit => {
                let seconds = limit.as_secs_f64();
                let found = format!("{what}: nothing for {seconds} s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, found));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn connect_within(address: SocketAddr, limit: Duration, stop: &Stop) -> io::Result<TcpStream> {
    let connect = move || TcpStream::connect_timeout(&address, limit);
    within(limit, stop, "a connection", connect)
}

fn broken(url: &str, trouble: Trouble, found: impl Into<String>) -> SourceError {
    SourceError::new(url, trouble, "bytes to come", found)
}

fn waited(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// Nothing, where the server only does not know the command or the answer; else the error.
fn refusal(error: FtpError) -> Result<(), FtpError> {
    match &error {
        FtpError::UnexpectedResponse(response) => match response.status.code() {
            // The file is not there, or the server will not go on.
            550 | 421 => Err(error),
            _ => Ok(()),
        },
        FtpError::BadResponse => Ok(()),
        _ => Err(error),
    }
}

fn failure(url: &str, expected: &str, error: FtpError, stall: Duration) -> SourceError {
    let (trouble, found) = match &error {
        FtpError::ConnectionError(cause) if waited(cause) => (
            Trouble::Stalled,
            format!("nothing for {} s", stall.as_secs_f64()),
        ),
        FtpError::ConnectionError(cause) => match cause.kind() {
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable => (Trouble::Unreachable, cause.to_string()),
            _ => (Trouble::Cut, cause.to_string()),
        },
        FtpError::UnexpectedResponse(response) => {
            let code = u16::try_from(response.status.code()).unwrap_or(0);
            let trouble = match code {
                400..500 => Trouble::Unable(code),
                _ => Trouble::Refused(code),
            };
            let said = response.as_string().unwrap_or_default();
            (trouble, format!("the answer `{}`", said.trim()))
        }
        other => (Trouble::Protocol, other.to_string()),
    };
    SourceError::new(url, trouble, expected, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_answers_is_left_alone() {
        let long = Duration::from_secs(600);
        let never = move || {
            thread::sleep(long);
            Ok(())
        };
        let stop = Stop::default();
        let error = within(Duration::from_millis(20), &stop, "the name", never).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains("the name"), "{error}");
        stop.set();
        let error = within(long, &stop, "the name", never).unwrap_err();
        assert_eq!(error.to_string(), "an interruption");
        // An answer counts, also then.
        assert_eq!(within(long, &Stop::default(), "it", || Ok(7)).unwrap(), 7);
    }
}
