//! The provider as a process, and the plainest of HTTP clients to talk to it.

use crypto::SecretString;
use identity::http::{Answer, Http, NoAnswer};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use url::Url;

/// A provider of its own for each test; it ends with the test, however that ends.
pub(crate) struct Provider {
    pub(crate) url: String,
    child: Child,
}

impl Provider {
    pub(crate) fn start() -> Self {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/oidc"));
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let node = folder.join(format!("node_modules/node-linux-{machine}/bin/node"));
        assert!(
            node.exists(),
            "the OpenID provider of the tests is not installed: run `cargo xtask test rust` once, or \
             `npm ci --ignore-scripts` in tests/oidc"
        );
        // It lives as long as the other end of its standard input, so it outlives no test, not even one that is killed.
        let mut child = Command::new(node)
            .arg(folder.join("server.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Some(url) = line.trim_end().strip_prefix("oidc listens on ") else {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("the OpenID provider did not start: {line}{said}");
        };
        Self { url: url.to_owned(), child }
    }

    /// New keys instead of the old ones.
    pub(crate) fn rotate(&self) {
        let url = Url::parse(&format!("{}/test/rotate", self.url)).unwrap();
        assert_eq!(exchange("POST", &url, &[], Some("")).unwrap().status, 200);
    }

    /// A token of the machine client for `resource`, whose last part is the algorithm.
    pub(crate) fn machine_token(&self, resource: &str) -> String {
        let url = Url::parse(&format!("{}/token", self.url)).unwrap();
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "client_credentials")
            .append_pair("scope", "run:read")
            .append_pair("resource", resource)
            .finish();
        // `robot` and `the secret of the robot`, form-encoded.
        let basic = ("authorization", "Basic cm9ib3Q6dGhlK3NlY3JldCtvZit0aGUrcm9ib3Q=".to_owned());
        let answer = exchange("POST", &url, &[basic], Some(&form)).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        body["access_token"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer with all its headers.
pub(crate) struct Whole {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Whole {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// One request on a connection of its own. HTTP/1.0, so that the end of the answer is the end of the connection.
pub(crate) fn exchange(
    method: &str,
    url: &Url,
    headers: &[(&str, String)],
    form: Option<&str>,
) -> std::io::Result<Whole> {
    let address = (url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect(address)?;
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let mut request = format!("{method} {path} HTTP/1.0\r\nhost: {}:{}\r\n", address.0, address.1);
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    if let Some(form) = form {
        request += &format!(
            "content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
            form.len()
        );
    } else {
        request += "\r\n";
    }
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    Ok(Whole { status, headers: lines.map(pair).collect(), body: answer[end + 4..].to_vec() })
}

/// What the gateway gives in earnest: here without any guard, to reach the loopback.
pub(crate) struct Plain;

#[async_trait::async_trait]
impl Http for Plain {
    async fn get(&self, url: &Url) -> Result<Answer, NoAnswer> {
        answer(exchange("GET", url, &[], None))
    }

    async fn post_form(
        &self,
        url: &Url,
        form: SecretString,
        authorization: Option<SecretString>,
    ) -> Result<Answer, NoAnswer> {
        let header = authorization.map(|value| ("authorization", value.expose().clone()));
        answer(exchange("POST", url, header.as_slice(), Some(form.expose())))
    }
}

fn answer(whole: std::io::Result<Whole>) -> Result<Answer, NoAnswer> {
    let whole = whole.map_err(|error| NoAnswer(error.to_string()))?;
    let cache_control = whole.header("cache-control").map(str::to_owned);
    Ok(Answer { status: whole.status, cache_control, body: whole.body })
}
