//! This program as a proxy that does nothing.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{BARE, Target};
use crate::process::{Running, free_address};

pub(crate) fn start(folder: &Path, upstream: SocketAddr) -> Result<Target, String> {
    let address = free_address()?;
    let this = std::env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
    let mut command = Command::new(this);
    command.args(["bare", "--listen", &address.to_string(), "--upstream", &upstream.to_string()]);
    let mut process = Running::start(command, &folder.join("bare.log"))?;
    process.wait_for_port(Duration::from_secs(10), address)?;
    Ok(Target { name: BARE.to_owned(), address, process: Some(process), ..Target::direct(upstream) })
}
