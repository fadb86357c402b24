//! Checks of what is reached over the network: the port, who can reach it, the database, Redis.

use super::Finding;
use crate::runtime;
use config::Settings;
use crypto::SecretString;
use nodes::RedisMeters;
use std::error::Error as _;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn port(host: IpAddr, port: u16) -> Vec<Finding> {
    let address = SocketAddr::new(host, port);
    vec![match TcpListener::bind(address) {
        Ok(_) => Finding::ok("port", format!("{address} is free")),
        Err(error) => Finding::fail(
            "port",
            format!("cannot listen on {address}: {error}"),
            "stop what listens there (unless it is Punk itself), or set PUNK_PORT and PUNK_HOST",
        ),
    }]
}

pub(super) fn exposure(settings: &Settings) -> Vec<Finding> {
    const SHORTEST: usize = 16;
    let host = settings.host();
    match settings.api_key() {
        None if !host.is_loopback() => vec![Finding::warn(
            "access",
            format!("{host} is reachable by others, and no key is asked for"),
            "set PUNK_API_KEY, or PUNK_HOST=127.0.0.1",
        )],
        Some(key) if key.expose().len() < SHORTEST => vec![Finding::warn(
            "access",
            format!("PUNK_API_KEY is shorter than {SHORTEST} characters and can be guessed"),
            "use a longer one, for example from `openssl rand -hex 32`",
        )],
        None => vec![Finding::ok("access", "only this machine can connect; no key is asked for")],
        Some(_) => vec![Finding::ok("access", "a key is asked for")],
    }
}

/// Only whether somebody listens there: who it is and whether we may come in shows at the start.
pub(super) fn database(url: &SecretString) -> Finding {
    let fix = "check PUNK_DATABASE_URL, and that the server runs and listens";
    let Some((host, port)) = host_and_port(url.expose()) else {
        return Finding::warn("database", "store.url names no host to connect to", fix);
    };
    let addresses = match (host, port).to_socket_addrs() {
        Ok(addresses) => addresses,
        Err(error) => return Finding::fail("database", format!("{host} is not found: {error}"), fix),
    };
    let mut why = "it has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(_) => return Finding::ok("database", format!("{host}:{port} answers")),
            Err(error) => why = error.to_string(),
        }
    }
    Finding::fail("database", format!("{host}:{port} does not answer: {why}"), fix)
}

/// Whether Redis answers and lets us in. The server starts without it, and refuses whatever has a limit.
pub(super) fn redis(url: &SecretString) -> Finding {
    let fix = "check PUNK_REDIS_URL, and that the server runs, listens and lets this user in";
    match runtime::block_on(async { Ok(RedisMeters::answers(url.expose()).await) }) {
        Ok(Ok(())) => Finding::ok("redis", "it answers"),
        Ok(Err(error)) => {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            Finding::fail("redis", format!("{error}{cause}"), fix)
        }
        Err(failure) => Finding::fail("redis", format!("{failure:?}"), fix),
    }
}

/// Host and port of a database URL. User, password and the rest stay behind.
fn host_and_port(url: &str) -> Option<(&str, u16)> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let address = authority.rsplit('@').next()?;
    let (host, port) = match address.rsplit_once(':') {
        // A colon inside brackets is part of an IPv6 address.
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (address, 5432),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::*;

    #[test]
    fn host_and_port_are_found_and_nothing_else() {
        assert_eq!(host_and_port("postgres://me:p:w@db.example:6000/x?y"), Some(("db.example", 6000)));
        assert_eq!(host_and_port("postgres://db/x"), Some(("db", 5432)));
        assert_eq!(host_and_port("postgres://me@[::1]/x"), Some(("::1", 5432)));
        assert_eq!(host_and_port("postgres://[::1]:1/x"), Some(("::1", 1)));
        assert_eq!(host_and_port("postgres://me:pw@/x"), None);
        assert_eq!(host_and_port("postgres://db:port/x"), None);
    }

    #[test]
    fn a_listening_database_is_fine_and_a_silent_one_fails_without_its_password() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let url = SecretString::new(format!("postgres://me:hunter2@127.0.0.1:{port}/punk"));
        assert_eq!(database(&url).grade, Grade::Ok);
        drop(server);
        let finding = database(&url);
        assert_eq!(finding.grade, Grade::Fail);
        assert!(!format!("{finding:?}").contains("hunter2"));
    }

    #[test]
    fn a_taken_port_fails() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = server.local_addr().unwrap();
        assert_eq!(port(taken.ip(), taken.port())[0].grade, Grade::Fail);
    }
}
