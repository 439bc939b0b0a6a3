use crate::remote::{Answer, Body, Identity, Remote, read_once};
use crate::{Limits, SourceError, Trouble};
use std::io;
use std::ops::Range;
use std::time::Duration;
use ureq::http::{HeaderMap, StatusCode, Uri};
use ureq::{Agent, Error, Proxy, ResponseExt};

/// A file on an HTTP server.
pub(crate) struct Http<'a> {
    url: &'a str,
    agent: Agent,
    limits: &'a Limits,
}

impl<'a> Http<'a> {
    /// With `secure`, nothing but HTTPS is spoken, wherever a redirect leads.
    pub(crate) fn new(url: &'a str, secure: bool, limits: &'a Limits) -> Self {
        let config = Agent::config_builder()
            .https_only(secure)
            .http_status_as_error(false)
            .max_redirects(limits.redirects)
            .max_redirects_will_error(true)
            .save_redirect_history(true)
            .user_agent(&limits.user_agent)
            // What is stored is what is checked: no encoding for the way.
            .accept_encoding("identity")
            .proxy(limits.proxy.then(Proxy::try_from_env).flatten())
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_per_read(Some(limits.stall))
            .timeout_per_write(Some(limits.stall))
            .timeout_recv_response(Some(limits.stall.saturating_mul(2)))
            .max_idle_connections_per_host(limits.connections)
            .build();
        Self {
            url,
            agent: config.new_agent(),
            limits,
        }
    }

    fn wrong(
        &self,
        trouble: Trouble,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> SourceError {
        SourceError::new(self.url, trouble, expected, found)
    }

    fn refused(&self, status: StatusCode, headers: &HeaderMap) -> SourceError {
        let code = status.as_u16();
        let passing = status.is_server_error() || code == 408 || code == 429;
        let trouble = match passing {
            // These say that it will never work.
            _ if matches!(code, 501 | 505) => Trouble::Refused(code),
            true => Trouble::Unable(code),
            false => Trouble::Refused(code),
        };
        let reason = status.canonical_reason().unwrap_or("no reason");
        let mut error = self.wrong(trouble, "the file", format!("status {code} ({reason})"));
        error.retry_after = text(headers, "retry-after")
            .and_then(|seconds| seconds.parse().ok())
            .map(Duration::from_secs);
        error
    }

    /// That no redirect on the way led from HTTPS to HTTP, also from a URL of HTTP.
    fn trust_the_way(&self, history: &[Uri]) -> Result<(), SourceError> {
        let downgrade = history.windows(2).find(|pair| {
            let [from, to] = pair else { return false };
            from.scheme_str() == Some("https") && to.scheme_str() != Some("https")
        });
        match downgrade {
            None => Ok(()),
            Some(pair) => Err(self.wrong(
                Trouble::Redirect,
                "redirects that stay with https",
                format!("one from {} to {}", pair[0], pair[1]),
            )),
        }
    }
}

impl Remote for Http<'_> {
    fn open(
        &self,
        range: &Range<u64>,
        known: Option<&Identity>,
    ) -> Result<Answer<'_>, SourceError> {
        let asked = match (range.start, range.end) {
            (0, u64::MAX) => None,
            (start, u64::MAX) => Some(format!("bytes={start}-")),
            (start, end) => Some(format!("bytes={start}-{}", end.saturating_sub(1))),
        };
        let mut request = self.agent.get(self.url).header("accept", "*/*");
        if let Some(asked) = &asked {
            request = request.header("range", asked);
        }
        let asked = asked.unwrap_or_else(|| "the whole file".to_owned());
        if let Some(validator) = known.and_then(if_range) {
            request = request.header("if-range", validator);
        }
        let response = request
            .call()
            .map_err(|error| failure(self.url, &error, self.limits))?;
        self.trust_the_way(response.get_redirect_history().unwrap_or_default())?;
        let status = response.status();
        let headers = response.headers();
        let mut identity = Identity {
            total: None,
            etag: text(headers, "etag").map(str::to_owned),
            modified: text(headers, "last-modified").map(str::to_owned),
        };
        let length = text(headers, "content-length").and_then(|length| length.parse().ok());
        let range = match status {
            StatusCode::OK => {
                identity.total = length;
                0..length.unwrap_or(u64::MAX)
            }
            StatusCode::PARTIAL_CONTENT => {
                let told = text(headers, "content-range").unwrap_or("no Content-Range");
                let Some((given, total)) = content_range(told) else {
                    return Err(self.wrong(
                        Trouble::Protocol,
                        "a Content-Range as RFC 9110 has it",
                        format!("`{told}`"),
                    ));
                };
                if given.start != range.start || given.end > range.end {
                    return Err(self.wrong(Trouble::Protocol, asked, format!("`{told}`")));
                }
                identity.total = total;
                given
            }
            StatusCode::RANGE_NOT_SATISFIABLE => {
                let told = text(headers, "content-range").unwrap_or("no size");
                let mut error = self.refused(status, headers);
                error.expected = asked;
                error.found = format!("status 416 (the file is shorter: {told})");
                return Err(error);
            }
            _ => return Err(self.refused(status, headers)),
        };
        Ok(Answer {
            identity,
            range,
            partial: status == StatusCode::PARTIAL_CONTENT,
            content_type: text(headers, "content-type").map(str::to_owned),
            body: Box::new(HttpBody {
                url: self.url.to_owned(),
                limits: self.limits.clone(),
                reader: response.into_body().into_reader(),
            }),
        })
    }

    fn in_parallel(&self) -> bool {
        true
    }

    fn interrupt(&self) {
        self.agent.clone().shutdown();
    }
}

struct HttpBody {
    url: String,
    limits: Limits,
    reader: ureq::BodyReader<'static>,
}

impl Body for HttpBody {
    fn read(&mut self, chunk: &mut [u8]) -> Result<usize, SourceError> {
        read_once(&mut self.reader, chunk)
            .map_err(|error| failure(&self.url, &Error::from(error), &self.limits))
    }
}

/// The validator for `If-Range`: a weak `ETag` is none (RFC 9110, 13.1.5).
fn if_range(known: &Identity) -> Option<&str> {
    match &known.etag {
        Some(etag) if etag.starts_with("W/") => None,
        Some(etag) => Some(etag),
        None => known.modified.as_deref(),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// `bytes FIRST-LAST/TOTAL`, where the total may be `*`.
fn content_range(text: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.trim().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let end = last.checked_add(1)?;
    let total = match total {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    (first < end && total.is_none_or(|total| end <= total)).then_some((first..end, total))
}

fn failure(url: &str, error: &Error, limits: &Limits) -> SourceError {
    let wrong =
        |trouble, expected: &str| SourceError::new(url, trouble, expected, error.to_string());
    const ANSWER: &str = "an answer of HTTP";
    match error {
        Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => {
            wrong(Trouble::Unreachable, "a connection")
        }
        Error::Timeout(_) => SourceError::new(
            url,
            Trouble::Stalled,
            "bytes to come",
            format!("none for {} s", limits.stall.as_secs_f64()),
        ),
        Error::HostNotFound | Error::ConnectionFailed | Error::ConnectProxyFailed(_) => {
            wrong(Trouble::Unreachable, "a connection")
        }
        Error::Io(cause) => match cause.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => wrong(Trouble::Cut, "the connection to last"),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                wrong(Trouble::Stalled, "bytes to come")
            }
            io::ErrorKind::InvalidData => wrong(Trouble::Tls, "a connection that can be trusted"),
            _ => wrong(Trouble::Unreachable, "a connection"),
        },
        Error::Tls(_) | Error::Rustls(_) => wrong(Trouble::Tls, "a connection that can be trusted"),
        Error::TooManyRedirects => SourceError::new(
            url,
            Trouble::Redirect,
            format!("at most {} redirects", limits.redirects),
            "more",
        ),
        Error::RequireHttpsOnly(to) => SourceError::new(
            url,
            Trouble::Redirect,
            "redirects that stay with https",
            format!("one to {to}"),
        ),
        Error::RedirectFailed | Error::BadUri(_) => {
            wrong(Trouble::Redirect, "a redirect to an http or https URL")
        }
        _ => wrong(Trouble::Protocol, ANSWER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_range_is_read_as_it_is_written() {
        assert_eq!(content_range("bytes 0-9/100"), Some((0..10, Some(100))));
        assert_eq!(content_range("bytes 5-5/*"), Some((5..6, None)));
        for wrong in [
            "bytes 0-9",
            "bytes 9-0/100",
            "bytes 0-100/100",
            "bytes */100",
            "0-9/100",
            "bytes 0-18446744073709551615/*",
            "bytes -1-9/100",
        ] {
            assert_eq!(content_range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_a_strong_validator_is_sent() {
        let known = |etag: Option<&str>, modified: Option<&str>| Identity {
            total: None,
            etag: etag.map(str::to_owned),
            modified: modified.map(str::to_owned),
        };
        assert_eq!(if_range(&known(Some("\"a\""), Some("then"))), Some("\"a\""));
        assert_eq!(if_range(&known(Some("W/\"a\""), Some("then"))), None);
        assert_eq!(if_range(&known(None, Some("then"))), Some("then"));
        assert_eq!(if_range(&known(None, None)), None);
    }

    #[test]
    fn a_way_that_leaves_https_is_not_taken() {
        let limits = Limits::default();
        let http = Http::new("http://a/b", false, &limits);
        let way = |urls: &[&str]| -> Vec<Uri> { urls.iter().map(|u| u.parse().unwrap()).collect() };
        let good = way(&["http://a/b", "http://a/c", "https://d/e", "https://f/g"]);
        assert_eq!(http.trust_the_way(&good), Ok(()));
        let bad = way(&["http://a/b", "https://d/e", "http://f/g"]);
        let error = http.trust_the_way(&bad).unwrap_err();
        assert_eq!(error.trouble, Trouble::Redirect);
        assert!(
            error.to_string().contains("https://d/e to http://f/g"),
            "{error}"
        );
    }
}
