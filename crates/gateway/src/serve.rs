//! The process: a listener, the handlers, and an orderly end.

use std::future::Future;
use std::net::SocketAddr;

use axum::serve::ListenerExt as _;
use store::Recovered;
use tokio::net::TcpListener;

use crate::app::{App, Installation, StartError};
use crate::endpoints;

/// A gateway that is bound to its address and ready to answer.
pub struct Server {
    app: App,
    listener: TcpListener,
    /// Where it listens; the port is the real one, also when 0 was asked for.
    pub address: SocketAddr,
    /// What was found in the ledger.
    pub recovered: Recovered,
}

/// Why the gateway does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Others could reach it, and nobody would have to show a key.
    #[error("{0} is reachable from other machines, and no API key is set")]
    Open(SocketAddr),
    /// Something it needs is not there.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// The listener broke.
    #[error("the listener stopped")]
    Listen(#[source] std::io::Error),
}

impl Server {
    /// Opens the ledger and binds the address. The address comes first: a second gateway on the same port must not
    /// touch anything.
    ///
    /// # Errors
    /// See [`ServeError`].
    pub async fn bind(address: SocketAddr, installation: Installation) -> Result<Self, ServeError> {
        if !address.ip().is_loopback() && installation.api_key.is_none() {
            return Err(ServeError::Open(address));
        }
        let listener =
            TcpListener::bind(address).await.map_err(|cause| ServeError::Bind { address, cause })?;
        let address = listener.local_addr().map_err(|cause| ServeError::Bind { address, cause })?;
        let (app, recovered) = App::start(installation)?;
        Ok(Self { app, listener, address, recovered })
    }

    /// Answers until `stop` is done, then finishes what it has begun.
    ///
    /// # Errors
    /// The listener broke.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        let listener = self.listener.tap_io(|stream| {
            // Small answers must not wait for a full packet; a socket that refuses this still works.
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, endpoints::router(self.app))
            .with_graceful_shutdown(stop)
            .await
            .map_err(ServeError::Listen)
    }
}
