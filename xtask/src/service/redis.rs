//! A throw-away Redis: in memory only, on the loopback address only.

use super::{Place, command};
use crate::process::Running;

pub(super) fn spawn(place: &Place, port: u16) -> Result<Running, String> {
    let mut server = command("redis-server", place)?;
    server.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    server.args(["--daemonize", "no"]).arg("--dir").arg(&place.folder);
    Running::start(&mut server)
}
