//! The process: a listener, the handlers, and an orderly end.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::app::{App, Installation, StartError};
use crate::connection::Connections;
use crate::{endpoints, governor, learning, people, store_watch};

/// How long the last runs may take to be recorded.
const RECORDING: Duration = Duration::from_secs(10);

/// How long a kept connection may still be used, where the next process takes over: what is on its way on one is answered,
/// and told to come on another.
const PARTING: Duration = Duration::from_millis(500);

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

/// How a gateway comes to its end.
#[derive(Debug, Clone, Copy)]
pub struct Drain {
    /// How long it goes on, no longer ready, after it was asked to stop.
    pub delay: Duration,
    /// How long what has begun may take after that.
    pub patience: Duration,
    /// Whose the socket is.
    pub socket: Socket,
}

/// Whose the listening socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Socket {
    /// This process's own: with it, the address is gone.
    Own,
    /// Handed over by whoever started the process, and kept for the next one: connections wait in it meanwhile.
    Handed,
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
    /// The socket that was handed over cannot be listened on.
    #[error("cannot listen on the socket that was handed over")]
    Handed(#[source] std::io::Error),
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
        closed_to_others(address, access)?;
        let bind = |cause| ServeError::Bind { address, cause };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        Ok(Self { listener, address })
    }

    /// Takes a socket that somebody else listens on already and keeps when this process ends.
    ///
    /// # Errors
    /// It is none that can be used, or others could reach it without a key.
    pub fn take(listener: std::net::TcpListener, access: Access) -> Result<Self, ServeError> {
        let address = listener.local_addr().map_err(ServeError::Handed)?;
        closed_to_others(address, access)?;
        listener.set_nonblocking(true).map_err(ServeError::Handed)?;
        let listener = TcpListener::from_std(listener).map_err(ServeError::Handed)?;
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

/// Refuses an address that others can reach, if whoever reaches it may call.
fn closed_to_others(address: SocketAddr, access: Access) -> Result<(), ServeError> {
    if !address.ip().is_loopback() && access == Access::Open {
        return Err(ServeError::Open(address));
    }
    Ok(())
}

impl Server {
    /// Answers until `stop` is done. Then readiness says no, and for `drain.delay` all goes on, so that whoever shares out the
    /// load looks elsewhere. Then nobody new gets in, requests that have begun have `drain.patience` to be finished, and what
    /// is left is cut. Returns how many connections that were.
    pub async fn run(self, stop: impl Future<Output = ()>, drain: Drain) -> usize {
        let Self { app, mut listener, .. } = self;
        app.limits.meet().await;
        let mut connections = Connections::new(endpoints::router(&app), app.bounds, app.max_body_bytes);
        let watching = tokio::spawn(governor::watch(app.clone()));
        let sweeping = tokio::spawn(people::sweep(app.clone()));
        let looking = tokio::spawn(store_watch::watch(app.clone()));
        let learning = tokio::spawn(learning::watch(app.clone()));
        accept_until(stop, &mut listener, &mut connections).await;
        app.leaving.store(true, Ordering::Relaxed);
        match drain.socket {
            Socket::Own => accept_until(sleep(drain.delay), &mut listener, &mut connections).await,
            // Whoever comes from now on waits for the next process.
            Socket::Handed => sleep(drain.delay.max(PARTING)).await,
        }
        drop(listener);
        watching.abort();
        sweeping.abort();
        learning.abort();
        app.draining.send_replace(true);
        let cut = connections.finish(drain.patience).await;
        // What was cut is a run too, and is still being written.
        app.tasks.close();
        let _ = tokio::time::timeout(RECORDING, app.tasks.wait()).await;
        looking.abort();
        if !app.tasks.is_empty() {
            tracing::error!(
                runs = app.tasks.len(),
                "runs could not be recorded before the end, and are lost"
            );
        }
        cut
    }
}

/// Takes in whoever comes, until `end`.
async fn accept_until(
    end: impl Future<Output = ()>,
    listener: &mut TcpListener,
    connections: &mut Connections,
) {
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return,
            // axum's: it waits and tries again where the operating system says no.
            (stream, from) = Listener::accept(listener) => connections.add(stream, from),
        }
    }
}
