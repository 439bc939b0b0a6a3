//! An FTP server with one file, which fails as a test tells it to.

use super::http_server::wait_for_the_end;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// What goes wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Bytes that the first transfers bring before they break, each.
    pub torn_at: Option<usize>,
    /// The same, but the connection stays.
    pub stalled_at: Option<usize>,
    /// How many transfers do so.
    pub times: usize,
    /// Whether `SIZE`, `MDTM` and `REST` are not known.
    pub old: bool,
    /// Whether `MDTM` alone is not known.
    pub timeless: bool,
    /// The answer to `USER`.
    pub login: Option<&'static str>,
    /// The answer to `RETR`.
    pub retrieve: Option<&'static str>,
    /// The file changes its time with every connection.
    pub restless: bool,
    /// Nothing is said, not even a greeting.
    pub silent: bool,
}

/// Stops when it is dropped.
pub struct FtpServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    file: Vec<u8>,
    faults: Faults,
    stop: AtomicBool,
    connections: AtomicUsize,
    transfers: AtomicUsize,
    commands: Mutex<Vec<String>>,
    /// What the first transfer gives in place of the file.
    first: Mutex<Option<Vec<u8>>>,
}

impl FtpServer {
    pub fn new(file: Vec<u8>) -> Self {
        Self::with(file, Faults::default())
    }

    pub fn with(file: Vec<u8>, faults: Faults) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            file,
            faults,
            stop: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            transfers: AtomicUsize::new(0),
            commands: Mutex::default(),
            first: Mutex::default(),
        });
        let acceptor = thread::spawn({
            let shared = shared.clone();
            move || {
                for stream in listener.incoming().flatten() {
                    if shared.stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let shared = shared.clone();
                    thread::spawn(move || session(stream, &shared));
                }
            }
        });
        Self {
            address,
            shared,
            acceptor: Some(acceptor),
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("ftp://{}{path}", self.address)
    }

    /// The first transfer gives `file`, as if it were replaced after it.
    pub fn first_gives(&self, file: Vec<u8>) {
        *self.shared.first.lock().unwrap() = Some(file);
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub fn commands(&self) -> Vec<String> {
        self.shared.commands.lock().unwrap().clone()
    }
}

impl Drop for FtpServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn session(mut stream: TcpStream, shared: &Shared) {
    let faults = shared.faults;
    let number = shared.connections.fetch_add(1, Ordering::SeqCst);
    if faults.silent {
        return wait_for_the_end(&mut stream, &shared.stop);
    }
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut data: Option<TcpListener> = None;
    let mut offset = 0;
    let mut say = |line: &str| stream.write_all(format!("{line}\r\n").as_bytes()).is_ok();
    say("220-welcome\r\n220 ready");
    while let Some(Ok(line)) = lines.next() {
        shared.commands.lock().unwrap().push(line.clone());
        let (command, argument) = line.split_once(' ').unwrap_or((&line, ""));
        let went = match command {
            "USER" => say(faults.login.unwrap_or("331 any password")),
            "PASS" => say("230 in"),
            "TYPE" => say("200 binary"),
            "SIZE" | "MDTM" | "REST" if faults.old => say("502 what?"),
            "SIZE" => say(&format!("213 {}", shared.file.len())),
            "MDTM" if faults.timeless => say("502 what?"),
            "MDTM" if faults.restless => say(&format!("213 2026010203040{}", number % 10)),
            "MDTM" => say("213 20260102030405"),
            "REST" => {
                offset = argument.parse().unwrap();
                say("350 from there")
            }
            "PASV" => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let port = listener.local_addr().unwrap().port();
                data = Some(listener);
                // Another host's address, as behind a gateway, or in an attack.
                let (high, low) = (port >> 8, port & 255);
                say(&format!(
                    "227 entering passive mode (192,0,2,1,{high},{low})"
                ))
            }
            "RETR" => match (faults.retrieve, data.take()) {
                (Some(refusal), _) => say(refusal),
                (None, None) => say("425 no connection"),
                (None, Some(listener)) => {
                    let opening = say("150 here it comes");
                    let (to, _) = listener.accept().unwrap();
                    let first = shared.first.lock().unwrap().take();
                    let file = first.as_ref().unwrap_or(&shared.file);
                    opening && transfer(to, &file[offset..], shared) && say("226 done")
                }
            },
            _ => say("500 what?"),
        };
        if !went {
            return;
        }
    }
}

/// Whether everything was sent.
fn transfer(mut to: TcpStream, bytes: &[u8], shared: &Shared) -> bool {
    let faults = shared.faults;
    let number = shared.transfers.fetch_add(1, Ordering::SeqCst);
    let ailing = number < faults.times;
    let limit = faults.torn_at.or(faults.stalled_at).filter(|_| ailing);
    let sent = &bytes[..limit.unwrap_or(bytes.len()).min(bytes.len())];
    if to.write_all(sent).is_err() {
        return false;
    }
    if ailing && faults.stalled_at.is_some() {
        wait_for_the_end(&mut to, &shared.stop);
    }
    limit.is_none()
}
