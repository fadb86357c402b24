//! A throw-away nginx: the bare reverse proxy that benches compare with.
//!
//! It serves `www/hello.txt` from its folder, and `/proxied/…` passes to itself, so that one server shows
//! both of its uses.

use std::fs;

use super::{Place, command};
use crate::process::Running;

pub(super) fn spawn(place: &Place, port: u16) -> Result<Running, String> {
    let folder = place.folder.display().to_string();
    let write = || -> std::io::Result<()> {
        fs::create_dir(place.folder.join("www"))?;
        fs::write(place.folder.join("www/hello.txt"), "hello from nginx\n")?;
        fs::write(place.folder.join("nginx.conf"), configuration(&folder, port))
    };
    write().map_err(|error| format!("cannot write to {folder}: {error}"))?;
    let mut server = command("nginx", place)?;
    server.args(["-p", &folder, "-c", "nginx.conf", "-e", "stderr"]);
    Running::start(&mut server)
}

fn configuration(folder: &str, port: u16) -> String {
    // One process, in the foreground: a worker could outlive a killed master.
    format!(
        "daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/www;
        location /proxied/ {{ proxy_pass http://127.0.0.1:{port}/; }}
    }}
}}
"
    )
}
