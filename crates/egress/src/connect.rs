//! Connections to pinned addresses, and to nothing else.
//!
//! There is no function here that takes a name. An address is judged once more before it is dialled, and a connection is
//! asked where it ended before anything is sent: what lies between us and the network, a test's double or somebody's
//! transparent proxy, cannot lead us elsewhere unnoticed.

use crate::error::{BoxError, EgressError};
use crate::origin::{Host, Scheme};
use crate::resolve::Pinned;
use crate::trust::Trust;
use async_trait::async_trait;
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Makes connections. A seam for tests, which watch who is dialled; everybody else has [`Tcp`].
#[async_trait]
pub trait Dial: Send + Sync {
    /// A connection to `address`. Whoever calls gives it up when it takes too long, and checks where it ended.
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// The network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tcp;

#[async_trait]
impl Dial for Tcp {
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// A connection over which a request can be sent.
pub(crate) enum Stream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Connects to one of the addresses of `pinned`, in their order. Each has an equal share of `patience`, so that one that
/// says nothing does not cost the others their turn. Encrypted if the target says so.
pub(crate) async fn connect(
    dial: &dyn Dial,
    trust: &Trust,
    pinned: &Pinned,
    patience: Duration,
) -> Result<Stream, EgressError> {
    let origin = pinned.target().origin();
    let stream = reach(dial, pinned, patience).await?;
    if origin.scheme() == Scheme::Http {
        return Ok(Stream::Plain(stream));
    }
    let failed = |cause: BoxError| EgressError::Tls { origin: origin.clone(), cause };
    let name = match origin.host() {
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(|error| failed(error.into()))?,
        Host::Address(address) => ServerName::from(*address),
    };
    let encrypted = TlsConnector::from(Arc::clone(trust.config())).connect(name, stream).await;
    encrypted.map(|stream| Stream::Encrypted(Box::new(stream))).map_err(|error| failed(error.into()))
}

async fn reach(dial: &dyn Dial, pinned: &Pinned, patience: Duration) -> Result<TcpStream, EgressError> {
    let origin = pinned.target().origin();
    let addresses = pinned.addresses();
    let share = patience / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let mut cause: BoxError = "there is no address".into();
    for &address in addresses {
        // It was judged when it was pinned. Should anything ever get in between, it ends here.
        pinned.target().admit(address.ip())?;
        match timeout(share, dial.dial(address)).await {
            Ok(Ok(stream)) => {
                return check(stream, address).ok_or(EgressError::Strayed { origin: origin.clone() });
            }
            Ok(Err(error)) => cause = error.into(),
            Err(_) => cause = format!("nobody answered within {share:?}").into(),
        }
    }
    Err(EgressError::Connect { origin: origin.clone(), cause })
}

/// `stream`, if `address` is at its other end.
fn check(stream: TcpStream, address: SocketAddr) -> Option<TcpStream> {
    let peer = stream.peer_addr().ok()?;
    let is_there = peer.ip().to_canonical() == address.ip() && peer.port() == address.port();
    is_there.then_some(stream)
}
