//! The floor: nginx as a bare reverse proxy, two workers, connections kept on both sides, nothing buffered.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{NGINX, Target};
use crate::process::{Running, free_address};

pub(crate) fn start(folder: &Path, upstream: SocketAddr) -> Result<Target, String> {
    let folder = folder.join("nginx");
    let address = free_address()?;
    let configuration = include_str!("nginx.conf")
        .replace("{folder}", &folder.display().to_string())
        .replace("{listen}", &address.to_string())
        .replace("{upstream}", &upstream.to_string());
    let write = || {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("nginx.conf"), configuration)
    };
    write().map_err(|error| format!("{}: {error}", folder.display()))?;
    // Debian keeps it off the path of an ordinary user.
    let program = if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" };
    let mut command = Command::new(program);
    command.arg("-p").arg(&folder).args(["-c", "nginx.conf", "-e", "stderr"]);
    let mut process = Running::start(command, &folder.join("log"))
        .map_err(|error| format!("{error}; install it (Debian: `apt-get install nginx`)"))?;
    process.wait_for_port(Duration::from_secs(10), address)?;
    let direct = Target::direct(upstream);
    Ok(Target { name: NGINX.to_owned(), address, process: Some(process), ..direct })
}
