//! The process: a listener, the handlers, and an orderly end.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::TcpListener;

use crate::app::{App, Installation, StartError};
use crate::connection::Connections;
use crate::{endpoints, governor, people};

/// How long the last runs may take to be recorded.
const RECORDING: Duration = Duration::from_secs(10);

/// An address that is taken, with nothing behind it yet. It comes first: a second gateway on the same port must not
/// touch the ledger or the keys.
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
}

/// A gateway that is ready to answer.
pub struct Server {
    app: App,
    listener: TcpListener,
    /// Where it listens; the port is the real one, also when 0 was asked for.
    pub address: SocketAddr,
}

/// Whether callers have to show a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// They have to.
    ByKey,
    /// Whoever reaches the address may call.
    Open,
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
}

impl Door {
    /// Takes the address.
    ///
    /// # Errors
    /// It cannot be had, or others could reach it without a key.
    pub async fn bind(address: SocketAddr, access: Access) -> Result<Self, ServeError> {
        if !address.ip().is_loopback() && access == Access::Open {
            return Err(ServeError::Open(address));
        }
        let bind = |cause| ServeError::Bind { address, cause };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        Ok(Self { listener, address })
    }

    /// Opens the ledger behind the door.
    ///
    /// # Errors
    /// Something the gateway needs is not there.
    pub fn open(self, installation: Installation) -> Result<Server, ServeError> {
        let app = App::start(installation)?;
        Ok(Server { app, listener: self.listener, address: self.address })
    }
}

impl Server {
    /// Answers until `stop` is done. Then nobody new gets in, requests that have begun have `patience` to be finished, and
    /// what is left is cut. Returns how many connections that were.
    pub async fn run(self, stop: impl Future<Output = ()>, patience: Duration) -> usize {
        let Self { app, mut listener, .. } = self;
        app.limits.meet().await;
        let mut connections = Connections::new(endpoints::router(&app));
        let watching = tokio::spawn(governor::watch(app.clone()));
        let sweeping = tokio::spawn(people::sweep(app.clone()));
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                // axum's: it waits and tries again where the operating system says no.
                (stream, from) = Listener::accept(&mut listener) => connections.add(stream, from),
            }
        }
        drop(listener);
        watching.abort();
        sweeping.abort();
        app.draining.send_replace(true);
        let cut = connections.finish(patience).await;
        // What was cut is a run too, and is still being written.
        app.tasks.close();
        let _ = tokio::time::timeout(RECORDING, app.tasks.wait()).await;
        cut
    }
}
