//! A throw-away Postgres: `initdb` into the run's folder, then the server itself as our child.
//!
//! The server runs in the foreground instead of behind `pg_ctl start`, which would detach it: as a child it is
//! stopped by the same drop as everything else. Postgres refuses to run as root; root runs it as Debian's
//! user `postgres`, or `nobody`.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Signal, geteuid};

use super::{Place, command};
use crate::process::Running;
use crate::stop::Stop;
use crate::tool;

pub(super) fn url(port: u16) -> String {
    format!("postgres://punk@127.0.0.1:{port}/postgres")
}

pub(super) fn spawn(place: &Place, port: u16) -> Result<Running, String> {
    let owner = unprivileged()?;
    if let Some((user, group)) = owner {
        chown(&place.folder, Some(user), Some(group)).map_err(|error| format!("chown: {error}"))?;
    }
    let data = place.folder.join("data");

    let mut initdb = command("initdb", place)?;
    initdb.arg("--pgdata").arg(&data);
    // Anyone on this machine may connect while the tests run; there is nothing in it but their data.
    initdb.args(["--username=punk", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
    let made = Running::start(become_owner(&mut initdb, owner))?.wait(&Stop::default(), None);
    made.map_err(|trouble| {
        format!("{trouble}: {}", std::fs::read_to_string(&place.log).unwrap_or_default().trim())
    })?;

    let mut server = command("postgres", place)?;
    server.arg("-D").arg(&data).args(["-p", &port.to_string()]);
    for setting in [
        "listen_addresses=127.0.0.1",
        // A socket's path is limited to about a hundred characters; the temporary folder's is not.
        "unix_socket_directories=",
        "max_connections=200",
        // What a power cut would lose is thrown away a minute later.
        "fsync=off",
        "synchronous_commit=off",
        "full_page_writes=off",
    ] {
        server.args(["-c", setting]);
    }
    // SIGQUIT is Postgres' immediate shutdown: it waits neither for clients nor for a checkpoint.
    Ok(Running::start(become_owner(&mut server, owner))?.ended_by(Signal::QUIT))
}

pub(super) fn answers(port: u16) -> bool {
    let Some(pg_isready) = tool::find("pg_isready") else {
        return false;
    };
    let mut asking = Command::new(pg_isready);
    asking.args(["--quiet", "--host=127.0.0.1", "--username=punk", &format!("--port={port}")]);
    asking.stdin(Stdio::null()).status().is_ok_and(|status| status.success())
}

type Owner = Option<(u32, u32)>;

fn become_owner(command: &mut Command, owner: Owner) -> &mut Command {
    match owner {
        Some((user, group)) => command.uid(user).gid(group),
        None => command,
    }
}

/// Whom to run as, when we are root.
fn unprivileged() -> Result<Owner, String> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let ids = ["postgres", "nobody"].into_iter().find_map(|name| Some((id("-u", name)?, id("-g", name)?)));
    ids.map(Some)
        .ok_or_else(|| "postgres cannot run as root, and there is no user `postgres` or `nobody`".into())
}

fn id(which: &str, name: &str) -> Option<u32> {
    let output = Command::new("id").args([which, name]).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
