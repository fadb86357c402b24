//! How every connection is made: the pool's, the listener's and the one that migrates.

use deadpool_postgres::{Manager, ManagerConfig, RecyclingMethod};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::OpenError;
use super::{PATIENCE, tls};

/// Where the database is and how to get in.
#[derive(Clone)]
pub(super) struct Target {
    config: Config,
    tls: MakeRustlsConnect,
    /// Host, port and database, for people.
    pub(super) at: String,
}

/// What carries a connection's bytes.
pub(super) type Carrier = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

impl Target {
    /// Reads a URL. Nothing is connected yet.
    pub(super) fn from_url(url: &str) -> Result<Self, OpenError> {
        let (url, wish) = tls::take(url)?;
        let mut config: Config = url.parse().map_err(|_| OpenError::Url)?;
        let at = place(&config);
        // An @ that was not escaped: the rest of the password was read as the host, and must not be shown as one.
        // And a mode that the driver finds and we did not, in another spelling, must not be overruled.
        if at.contains('@') || config.get_ssl_mode() != SslMode::Prefer {
            return Err(OpenError::Url);
        }
        config.ssl_mode(wish.mode);
        // A server that vanished without a word is noticed in seconds, not in the kernel's quarter of an hour.
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(PATIENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("punk");
        }
        // A certificate may be for an address, too.
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
        }
        Ok(Self { config, tls: wish.connector()?, at })
    }

    /// The same, with `role` in the name under which the server lists the connection.
    pub(super) fn named(mut self, role: &str) -> Self {
        let name = self.config.get_application_name().unwrap_or_default();
        let name = format!("{name} {role}");
        self.config.application_name(name.trim());
        self
    }

    /// Makes a connection. It lives while its carrier is polled.
    pub(super) async fn connect(&self) -> Result<(Client, Carrier), Error> {
        self.config.connect(self.tls.clone()).await
    }

    /// Makes the pool's connections.
    pub(super) fn manager(&self) -> Manager {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        Manager::from_config(self.config.clone(), self.tls.clone(), recycling)
    }

    /// Why the first connection failed, and what to do about it.
    pub(super) fn unreachable(&self, cause: Error) -> OpenError {
        let at = self.at.clone();
        match tls::advice(&cause) {
            Some(advice) => OpenError::Untrusted { at, advice, cause },
            None => OpenError::Unreachable { at, cause },
        }
    }
}

/// Where the database is, without saying how to get in.
fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config.get_hostaddrs().first().map_or_else(|| "?".to_owned(), ToString::to_string),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("{host}:{port}/{}", config.get_dbname().or(config.get_user()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_of_a_url_loses_its_encryption() {
        let target = Target::from_url("postgres://me@h/d?sslmode=disable").ok().unwrap();
        assert_eq!((target.config.get_ssl_mode(), target.at.as_str()), (SslMode::Disable, "h:5432/d"));
        for url in ["host=h sslmode=require", "postgres://me@h/d?ssl%6dode=require"] {
            assert!(matches!(Target::from_url(url), Err(OpenError::Url)), "{url}");
        }
    }
}
