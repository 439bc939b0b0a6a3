//! An HTTP server that answers as a test tells it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A request, as far as tests look at it.
#[derive(Clone, Debug)]
pub struct Request {
    /// Counted from 1.
    pub number: usize,
    pub path: String,
    /// First and last byte.
    pub range: Option<(u64, Option<u64>)>,
    pub if_range: Option<String>,
    pub user_agent: String,
}

/// An answer, byte for byte.
pub struct Reply {
    pub head: String,
    pub body: Vec<u8>,
    pub after: After,
}

/// What follows the body.
pub enum After {
    Close,
    /// Nothing more, while the connection stays.
    Stall,
    /// The rest, a byte at a time with this pause.
    Trickle(Vec<u8>, Duration),
}

impl Reply {
    /// Headers are `name: value` lines.
    pub fn new(status: &str, headers: &[String], body: impl Into<Vec<u8>>) -> Self {
        let mut head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        Self {
            head,
            body: body.into(),
            after: After::Close,
        }
    }

    /// Without a body.
    pub fn status(status: &str) -> Self {
        Self::new(status, &["content-length: 0".to_owned()], "")
    }

    pub fn redirect(to: &str) -> Self {
        let headers = [format!("location: {to}"), "content-length: 0".to_owned()];
        Self::new("302 Found", &headers, "")
    }

    /// As a server does that answers ranges of `bytes`, with these validators.
    pub fn ranged(request: &Request, bytes: &[u8], validators: &[&str]) -> Self {
        let total = bytes.len() as u64;
        let mut headers: Vec<String> = validators.iter().map(|&line| line.to_owned()).collect();
        let same = match &request.if_range {
            Some(asked) => validators.iter().any(|line| line.ends_with(asked.as_str())),
            None => true,
        };
        match request.range.filter(|_| same) {
            None => {
                headers.push(format!("content-length: {total}"));
                Self::new("200 OK", &headers, bytes)
            }
            Some((first, _)) if first >= total => {
                headers.push(format!("content-range: bytes */{total}"));
                headers.push("content-length: 0".to_owned());
                Self::new("416 Range Not Satisfiable", &headers, "")
            }
            Some((first, last)) => {
                let end = last.map_or(total, |last| total.min(last + 1));
                headers.push(format!("content-range: bytes {first}-{}/{total}", end - 1));
                headers.push(format!("content-length: {}", end - first));
                let body = &bytes[first as usize..end as usize];
                Self::new("206 Partial Content", &headers, body)
            }
        }
    }

    /// As a server does that knows no ranges.
    pub fn whole(bytes: &[u8]) -> Self {
        let headers = [format!("content-length: {}", bytes.len())];
        Self::new("200 OK", &headers, bytes)
    }

    /// Only the first `length` bytes of the body.
    pub fn torn(mut self, length: usize) -> Self {
        self.body.truncate(length);
        self
    }

    pub fn then(mut self, after: After) -> Self {
        self.after = after;
        self
    }
}

type Script = dyn Fn(&Request) -> Reply + Send + Sync;

/// Stops when it is dropped.
pub struct HttpServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<Request>>>,
    acceptor: Option<JoinHandle<()>>,
}

impl HttpServer {
    pub fn new(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let script: Arc<Script> = Arc::new(script);
        let acceptor = thread::spawn({
            let (stop, requests) = (stop.clone(), requests.clone());
            move || {
                let count = Arc::new(AtomicUsize::new(0));
                for stream in listener.incoming().flatten() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let (script, stop) = (script.clone(), stop.clone());
                    let (requests, count) = (requests.clone(), count.clone());
                    thread::spawn(move || answer(stream, &*script, &stop, &requests, &count));
                }
            }
        });
        Self {
            address,
            stop,
            requests,
            acceptor: Some(acceptor),
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn answer(
    mut stream: TcpStream,
    script: &Script,
    stop: &AtomicBool,
    requests: &Mutex<Vec<Request>>,
    count: &AtomicUsize,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else {
        return;
    };
    let mut request = Request {
        number: count.fetch_add(1, Ordering::SeqCst) + 1,
        path: first.split(' ').nth(1).unwrap_or_default().to_owned(),
        range: None,
        if_range: None,
        user_agent: String::new(),
    };
    for line in lines {
        let Ok(line) = line else { return };
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                let (first, last) = value
                    .strip_prefix("bytes=")
                    .and_then(|range| range.split_once('-'))
                    .unwrap();
                request.range = Some((first.parse().unwrap(), last.parse().ok()));
            }
            "if-range" => request.if_range = Some(value.to_owned()),
            "user-agent" => request.user_agent = value.to_owned(),
            _ => {}
        }
    }
    requests.lock().unwrap().push(request.clone());
    let reply = script(&request);
    let _ = stream.write_all(reply.head.as_bytes());
    let _ = stream.write_all(&reply.body);
    let _ = stream.flush();
    match reply.after {
        After::Close => {}
        After::Stall => wait_for_the_end(&mut stream, stop),
        After::Trickle(rest, pause) => {
            for byte in rest {
                if stop.load(Ordering::Relaxed) || stream.write_all(&[byte]).is_err() {
                    break;
                }
                thread::sleep(pause);
            }
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

/// Until the client goes, or the test is over.
pub fn wait_for_the_end(stream: &mut TcpStream, stop: &AtomicBool) {
    stream
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let mut byte = [0];
    while !stop.load(Ordering::Relaxed) {
        match stream.read(&mut byte) {
            Ok(0) => return,
            Err(error)
                if !matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) =>
            {
                return;
            }
            _ => {}
        }
    }
}
