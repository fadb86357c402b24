//! Proves the harness itself: each private server is asked something that only a working one can answer.

use super::{Chosen, Outcome};
use crate::service::{Kind, Server, exchange};
use crate::tool;
use crate::world::World;

pub(super) fn run(world: &World, _: &Chosen) -> Outcome {
    let all = asked(world, Kind::Postgres, |server| postgres(world, server))
        .and_then(|()| asked(world, Kind::Redis, redis))
        .and_then(|()| asked(world, Kind::Nginx, nginx));
    all.into()
}

fn asked(world: &World, kind: Kind, ask: impl Fn(&Server) -> Result<(), String>) -> Result<(), String> {
    let server = world.server(kind).ok_or_else(|| format!("{} does not run", kind.name()))?;
    ask(server).map_err(|reason| format!("{}: {reason}", kind.name()))?;
    println!("{} on port {} answers", kind.name(), server.port);
    Ok(())
}

fn postgres(world: &World, server: &Server) -> Result<(), String> {
    let psql = tool::find("psql").ok_or("psql is not installed; it comes with the server's package")?;
    let url = server.variable().map(|(_, url)| url).unwrap_or_default();
    let mut command = world.command(psql);
    command.args(["--no-psqlrc", "--tuples-only", "--no-align", "--command=select 1", &url]);
    expect("select 1", "1", world.output(&mut command)?.trim())
}

fn redis(server: &Server) -> Result<(), String> {
    // QUIT makes the server close, which is where `exchange` stops reading.
    let answer = exchange(server.port, "PING\r\nSET harness works\r\nGET harness\r\nQUIT\r\n")?;
    expect("PING, SET, GET", "+PONG\r\n+OK\r\n$5\r\nworks\r\n+OK\r\n", &answer)
}

fn nginx(server: &Server) -> Result<(), String> {
    for path in ["/hello.txt", "/proxied/hello.txt"] {
        let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        let answer = exchange(server.port, &request)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or(&answer);
        expect(path, "hello from nginx\n", body)?;
    }
    Ok(())
}

fn expect(question: &str, wanted: &str, got: &str) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("asked {question}, expected {wanted:?}, got {got:?}")) }
}
