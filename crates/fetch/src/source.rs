use percent_encoding::percent_decode_str;
use std::fmt;
use thiserror::Error;
use ureq::http::Uri;

/// Where a file can be had: an `http`, `https` or `ftp` URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    url: String,
    scheme: Scheme,
}

/// How to talk to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
    Ftp(FtpPlace),
}

/// A file on an FTP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FtpPlace {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Decoded, and free of control characters, which would end the command that names it.
    pub(crate) path: String,
}

/// A text that is no URL from which files are downloaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{url}: expected an http, https or ftp URL of a file, found {found}; {next}")]
pub struct BadUrl {
    /// The text.
    pub url: String,
    /// What it is instead.
    pub found: String,
    /// What to do.
    pub next: &'static str,
}

impl Source {
    /// The source that `url` names.
    ///
    /// # Errors
    /// When it is no URL, has another scheme than `http`, `https` or `ftp`, names a user, or is an FTP
    /// URL of a folder.
    pub fn new(url: &str) -> Result<Self, BadUrl> {
        let bad = |found: &str, next| BadUrl {
            url: url.to_owned(),
            found: found.to_owned(),
            next,
        };
        const CORRECT: &str = "correct the URL";
        let uri: Uri = url
            .parse()
            .map_err(|error| bad(&format!("a text that is none ({error})"), CORRECT))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(bad("no scheme or no host", CORRECT));
        };
        if authority.as_str().contains('@') {
            return Err(bad(
                "a user name in it",
                "leave it out: only files that are public without an account are fetched",
            ));
        }
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "ftp" => Scheme::Ftp(FtpPlace {
                host: authority.host().trim_matches(['[', ']']).to_owned(),
                port: authority.port_u16().unwrap_or(21),
                path: ftp_path(uri.path()).map_err(|found| bad(found, CORRECT))?,
            }),
            other => {
                return Err(bad(
                    &format!("the scheme `{other}`"),
                    "copy a local file to its place instead, or name a server that has it",
                ));
            }
        };
        Ok(Self {
            url: url.to_owned(),
            scheme,
        })
    }

    /// The URL as it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The last part of its path, decoded; `None` for that of a folder, and for a name that could stand
    /// for another place than one file in a folder.
    pub fn file_name(&self) -> Option<String> {
        let path = self.url.split(['?', '#']).next().unwrap_or_default();
        let (_, rest) = path.split_once("://")?;
        let (_, name) = rest.rsplit_once('/')?;
        let name = percent_decode_str(name).decode_utf8().ok()?;
        let plain = !name.is_empty()
            && !name.starts_with('.')
            && !name.contains(['/', '\\'])
            && !name.chars().any(char::is_control);
        plain.then(|| name.into_owned())
    }

    pub(crate) fn scheme(&self) -> &Scheme {
        &self.scheme
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

fn ftp_path(path: &str) -> Result<String, &'static str> {
    let path = percent_decode_str(path)
        .decode_utf8()
        .map_err(|_| "a path that is no UTF-8")?;
    if path.chars().any(char::is_control) {
        return Err("control characters in the path");
    }
    if path.is_empty() || path.ends_with('/') {
        return Err("the URL of a folder");
    }
    Ok(path.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_schemes_are_taken() {
        for url in ["http://a/b", "https://a/b?c=d", "ftp://a/b", "HTTP://a/b"] {
            assert_eq!(Source::new(url).unwrap().url(), url);
        }
        for url in [
            "file:///etc/passwd",
            "gopher://a/b",
            "a/b",
            "/a/b",
            "",
            "ftp://a/",
            "ftp://a",
            "http://me:secret@a/b",
            "ftp://a/b%0d%0aDELE%20c",
            "http://a b/c",
        ] {
            let error = Source::new(url).unwrap_err();
            assert!(
                error.to_string().starts_with(&format!("{url}: ")),
                "{error}"
            );
        }
    }

    #[test]
    fn an_ftp_url_names_a_host_a_port_and_a_decoded_path() {
        let source = Source::new("ftp://[::1]:2121/local/a%20b.gz").unwrap();
        let Scheme::Ftp(place) = source.scheme() else {
            panic!("{source:?}");
        };
        assert_eq!(
            (place.host.as_str(), place.port, place.path.as_str()),
            ("::1", 2121, "/local/a b.gz")
        );
    }

    #[test]
    fn a_file_name_is_one_file_in_a_folder() {
        let name = |url| Source::new(url).unwrap().file_name();
        assert_eq!(name("https://a/b/c.hdf5?x=/y"), Some("c.hdf5".to_owned()));
        assert_eq!(name("https://a/b%20c"), Some("b c".to_owned()));
        for url in [
            "https://a/b/",
            "https://a",
            "https://a/..",
            "https://a/%2e%2e%2fb",
        ] {
            assert_eq!(name(url), None, "{url}");
        }
    }
}
