//! The server under load: where it is and what every request to it carries.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Uri};
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;
use url::Url;

use super::super::report::Hint;
use super::tls;

pub struct Target {
    pub addresses: Vec<SocketAddr>,
    pub tls: Option<(TlsConnector, ServerName<'static>)>,
    headers: HeaderMap,
    /// The path before `/crawled` and `/request`, without a slash at the end.
    path: String,
}

/// What the command line says of the server.
pub struct TargetOptions<'a> {
    pub url: &'a Url,
    pub user: Option<&'a str>,
    pub ca_cert: Option<&'a Path>,
    pub insecure: bool,
    pub allow_remote: bool,
}

impl Target {
    pub fn new(options: &TargetOptions) -> anyhow::Result<Target> {
        let url = options.url;
        let host = url.host_str().context("--url has no host")?;
        let port = url.port_or_known_default().context("--url has no port")?;
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<SocketAddr> =
            (name, port).to_socket_addrs().with_context(|| format!("cannot resolve {host}"))?.collect();
        ensure!(!addresses.is_empty(), "{host} has no address");
        let local = addresses.iter().all(|address| address.ip().is_loopback());
        if !local && !options.allow_remote {
            let error =
                anyhow!("{host} is not this machine: a load test of a server needs its owner's consent");
            return Err(error).hint("give --allow-remote if you have it");
        }
        let tls = match url.scheme() {
            "http" => None,
            "https" => {
                let connector = tls::connector(options.ca_cert, options.insecure)?;
                let name =
                    ServerName::try_from(name.to_owned()).with_context(|| format!("{name} in --url"))?;
                Some((connector, name))
            }
            scheme => bail!("--url starts with {scheme}: only http and https are spoken"),
        };
        let mut headers = HeaderMap::new();
        let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        headers.insert(HOST, authority.parse()?);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(user) = options.user {
            ensure!(user.contains(':'), "--user is no login:password");
            let mut value: HeaderValue = format!("Basic {}", BASE64_STANDARD.encode(user)).parse()?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        Ok(Target { addresses, tls, headers, path })
    }

    pub fn get(&self, uri: &Uri) -> Request<Full<Bytes>> {
        self.request(Method::GET, uri, Bytes::new())
    }

    pub fn post(&self, uri: &Uri, content_type: &HeaderValue, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = self.request(Method::POST, uri, body);
        request.headers_mut().insert(CONTENT_TYPE, content_type.clone());
        request
    }

    pub fn uri(&self, path_and_query: &str) -> anyhow::Result<Uri> {
        Ok(format!("{}{path_and_query}", self.path).parse()?)
    }

    fn request(&self, method: Method, uri: &Uri, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}
