//! A proxy that does nothing, on the stack that ours is on: what of the cost is that of the stack, and what is ours.
//!
//! It passes heads and bodies on as they come. Every client has a connection of its own to the upstream, so there is not even
//! a pool to ask.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, client, server};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

/// Serves until the process is ended.
pub(crate) fn serve(listen: SocketAddr, upstream: SocketAddr) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(listen).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            // A caller that goes away ends its connection and nothing else.
            tokio::spawn(async move { converse(stream, upstream).await.ok() });
        }
    })
}

async fn converse(
    caller: TcpStream,
    upstream: SocketAddr,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    caller.set_nodelay(true)?;
    let stream = TcpStream::connect(upstream).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let host = HeaderValue::try_from(upstream.to_string())?;
    let sender = Arc::new(Mutex::new(sender));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.headers_mut().insert(HOST, host.clone());
        let sender = Arc::clone(&sender);
        async move {
            let mut sender = sender.lock().await;
            sender.ready().await?;
            sender.send_request(request).await
        }
    });
    server::conn::http1::Builder::new().serve_connection(TokioIo::new(caller), service).await?;
    Ok(())
}
