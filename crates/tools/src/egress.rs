//! A proxy for commands that have no network: HTTP and HTTPS to the hosts that are allowed, nothing else.
//!
//! A command in a network namespace of its own cannot reach any socket of this process. So the sandbox's helper listens inside
//! and sends the listening socket here, over a Unix socket; connections are accepted here and lead out from here. The Unix
//! socket stays open in the command and its children: when the last of them is gone, so is the listener.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, PROXY_AUTHORIZATION};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

/// How many connections one command may have at a time.
const CONNECTIONS: usize = 64;

/// How long a host may take to answer a connection.
const PATIENCE: Duration = Duration::from_secs(10);

type Body = BoxBody<Bytes, hyper::Error>;

/// Serves the commands that are told about its socket, until it is dropped.
#[derive(Debug)]
pub struct Egress {
    path: PathBuf,
    _serving: AbortOnDropHandle<()>,
}

impl Egress {
    /// Listens at `path` for commands that may reach these hosts: `example.com`, `*.example.com`, `localhost:8080`.
    ///
    /// # Errors
    /// When the socket cannot be made. Must be called in a runtime.
    pub fn start(path: PathBuf, hosts: Vec<String>) -> io::Result<Self> {
        let listener = UnixListener::bind(&path)?;
        let hosts: Arc<[String]> = hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve_command(stream, Arc::clone(&hosts)));
            }
        });
        Ok(Self { path, _serving: AbortOnDropHandle::new(serving) })
    }

    /// Where the helper finds it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn serve_command(stream: UnixStream, hosts: Arc<[String]>) {
    // A command that sends something else has no network.
    let Ok(listener) = receive(&stream).await else { return };
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (Ok((connection, _)), Ok(permit)) = (accepted, Arc::clone(&room).acquire_owned().await) else { return };
                let hosts = Arc::clone(&hosts);
                tokio::spawn(async move {
                    let service = service_fn(|request| answer(request, Arc::clone(&hosts)));
                    let serving = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), service);
                    let _ = serving.with_upgrades().await;
                    drop(permit);
                });
            }
            () = ended(&stream) => return,
        }
    }
}

/// Waits until the last process of the command is gone, or one of them says something: nothing more is to be said.
async fn ended(stream: &UnixStream) {
    loop {
        if stream.readable().await.is_err() {
            return;
        }
        match stream.try_read(&mut [0; 1]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return,
        }
    }
}

/// The listening socket that the helper sends.
async fn receive(stream: &UnixStream) -> io::Result<TcpListener> {
    let descriptor = stream.async_io(Interest::READABLE, || receive_descriptor(stream)).await?;
    let listener = std::net::TcpListener::from(descriptor);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

fn receive_descriptor(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0; 1];
    recvmsg(stream, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let descriptor = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptor.ok_or_else(|| io::Error::other("there is no descriptor in the message"))
}

async fn answer(request: Request<Incoming>, hosts: Arc<[String]>) -> Result<Response<Body>, hyper::Error> {
    let is_tunnel = request.method() == Method::CONNECT;
    let usual_port = if is_tunnel { 443 } else { 80 };
    let uri = request.uri().clone();
    let Some(host) = uri.host().filter(|_| is_tunnel || uri.scheme_str() == Some("http")) else {
        return Ok(say(
            StatusCode::BAD_REQUEST,
            "this is a proxy for HTTP and for tunnels by CONNECT".to_owned(),
        ));
    };
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    let port = uri.port_u16().unwrap_or(usual_port);
    if !is_allowed(&hosts, &host, port) {
        let text = format!(
            "{host}:{port} is not among the hosts that commands may reach: sandbox.network.allowedDomains"
        );
        return Ok(say(StatusCode::FORBIDDEN, text));
    }
    let connected = tokio::time::timeout(PATIENCE, connect(&host, port)).await;
    let upstream = match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
        Ok(upstream) => upstream,
        Err(error) => return Ok(say(StatusCode::BAD_GATEWAY, format!("{host}:{port}: {error}"))),
    };
    if is_tunnel {
        tokio::spawn(tunnel(request, upstream));
        return Ok(Response::new(nothing()));
    }
    forward(request, &uri, upstream).await
}

/// Passes a request on to its host.
async fn forward(
    mut request: Request<Incoming>,
    uri: &Uri,
    upstream: TcpStream,
) -> Result<Response<Body>, hyper::Error> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(upstream)).await?;
    tokio::spawn(connection);
    // A host is sent the path alone; what was meant for the proxy stays here.
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
    request.headers_mut().remove("proxy-connection");
    request.headers_mut().remove(PROXY_AUTHORIZATION);
    if let Some(host) = uri.authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok()) {
        request.headers_mut().insert(hyper::header::HOST, host);
    }
    Ok(sender.send_request(request).await?.map(|body| body.boxed()))
}

async fn tunnel(request: Request<Incoming>, mut upstream: TcpStream) {
    if let Ok(upgraded) = hyper::upgrade::on(request).await {
        let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(upgraded), &mut upstream).await;
    }
}

/// Connects to a host by name. A name that leads to this machine is refused, unless the name says so: whoever owns a domain
/// chooses its addresses, and the bridge and the cloud's metadata are local.
async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let is_local_name = host == "localhost" || host.parse::<IpAddr>().is_ok();
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await?.collect();
    let usable: Vec<SocketAddr> =
        addresses.into_iter().filter(|address| is_local_name || !is_local(address.ip())).collect();
    if usable.is_empty() {
        return Err(io::Error::other("the name leads to this machine"));
    }
    TcpStream::connect(&*usable).await
}

fn is_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local() || address.is_unspecified(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unicast_link_local() || address.is_unspecified()
        }
    }
}

fn is_allowed(hosts: &[String], host: &str, port: u16) -> bool {
    let host = host.trim_end_matches('.');
    hosts.iter().any(|allowed| {
        let (allowed, wanted_port) = match allowed.rsplit_once(':') {
            Some((name, number)) if number.parse::<u16>().is_ok() => (name, number.parse::<u16>().ok()),
            _ => (allowed.as_str(), None),
        };
        let fits = match allowed.strip_prefix("*.") {
            Some(domain) => {
                host.strip_suffix(domain).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            None => allowed == host,
        };
        fits && wanted_port.is_none_or(|wanted| wanted == port)
    })
}

fn say(status: StatusCode, text: String) -> Response<Body> {
    let body = Full::new(Bytes::from(text + "\n")).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

fn nothing() -> Body {
    Full::new(Bytes::new()).map_err(|never| match never {}).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_hosts_are_allowed() {
        let hosts: Vec<String> =
            ["example.com", "*.example.org", "localhost:8080"].map(str::to_owned).to_vec();
        for (host, port, allowed) in [
            ("example.com", 443, true),
            ("example.com.", 443, true),
            ("www.example.com", 443, false),
            ("notexample.com", 443, false),
            ("a.example.org", 80, true),
            ("a.b.example.org", 80, true),
            ("example.org", 80, false),
            ("evilexample.org", 80, false),
            (".example.org", 80, false),
            ("localhost", 8080, true),
            ("localhost", 7410, false),
            ("127.0.0.1", 8080, false),
        ] {
            assert_eq!(is_allowed(&hosts, host, port), allowed, "{host}:{port}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_local() {
        for (address, local) in [
            ("127.0.0.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("169.254.169.254", true),
            ("fe80::1", true),
            ("0.0.0.0", true),
            ("192.0.2.1", false),
        ] {
            assert_eq!(is_local(address.parse().unwrap()), local, "{address}");
        }
    }
}
