//! A listening socket from whoever started the process, as systemd hands them over (`LISTEN_FDS`): it outlives the process, so
//! connections that come between two of them wait in it instead of being refused.

use crate::exit::Exit;
use crate::failure::Failure;
use listenfd::ListenFd;
use std::net::TcpListener;

/// The socket that was handed over, if one was.
pub(crate) fn socket() -> Result<Option<TcpListener>, Failure> {
    let unfit = |error: std::io::Error| {
        Failure::of(Exit::Environment, "punk_cannot_listen", &error)
            .hint("hand over one TCP socket that listens, as a systemd .socket unit with ListenStream= does")
    };
    let mut handed = ListenFd::from_env();
    let socket = handed.take_tcp_listener(0).map_err(unfit)?;
    if handed.len() > 1 {
        let many = format!("{} sockets were handed over, and one is listened on", handed.len());
        let failure = Failure::new(Exit::Usage, "punk_cannot_listen", many);
        return Err(failure.hint("write one ListenStream= in the .socket unit"));
    }
    Ok(socket)
}
