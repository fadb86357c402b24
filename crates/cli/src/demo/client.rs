//! The agent's side of the wire: requests over HTTP, as any client of the gateway sends them.

use std::time::Duration;

use egress::{Limits, Method, Reach, Request, Trust};
use http::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;

/// More than a packet with a learned program in it has.
const LONGEST: usize = 64 << 20;

/// How often, and after how long, a gateway is asked again that has no room or no store for a moment.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_secs(1);

/// Who talks to the gateway.
pub(super) struct Client {
    http: egress::Client,
    url: String,
}

/// What came back.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) route: String,
    pub(super) run: String,
    pub(super) bytes: Vec<u8>,
    pub(super) json: Value,
}

impl Client {
    pub(super) fn new(url: &str) -> Result<Self, Failure> {
        let trust = Trust::system(&[]);
        let trust = trust.map_err(|error| Failure::of(Exit::Environment, "punk_no_certificates", &error))?;
        Ok(Self { http: egress::Client::new(Reach::private(), trust), url: url.to_owned() })
    }

    /// Where the gateway is.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// One request; whatever is answered is an answer. A gateway that cannot record anything just now says so, and is asked
    /// again, as any client should.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: &Value,
    ) -> Result<Reply, Failure> {
        for _ in 0..TRIES {
            let reply = self.send_once(method, path, headers, body).await?;
            if reply.status != 503 {
                return Ok(reply);
            }
            tokio::time::sleep(PAUSE).await;
        }
        self.send_once(method, path, headers, body).await
    }

    async fn send_once(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: &Value,
    ) -> Result<Reply, Failure> {
        let broken =
            |error: &dyn std::error::Error| Failure::of(Exit::Environment, "punk_demo_failed", error);
        let limits = Limits { body: LONGEST, ..Limits::default() };
        let mut request = Request::new(method, format!("{}{path}", self.url)).limits(limits);
        if !body.is_null() {
            request = request.body(body.to_string());
            let json = HeaderValue::from_static("application/json");
            request = request.header(http::header::CONTENT_TYPE, json).map_err(|error| broken(&error))?;
        }
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).map_err(|error| broken(&error))?;
            request = request.header(HeaderName::from_static(name), value).map_err(|error| broken(&error))?;
        }
        let answer = self.http.send(&request).await.map_err(|error| broken(&error))?;
        let header = |name: &str| {
            let value = answer.headers.get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        Ok(Reply {
            status: answer.status.as_u16(),
            route: header("x-punk-route"),
            run: header("x-punk-run-id"),
            json: serde_json::from_slice(&answer.body).unwrap_or_default(),
            bytes: answer.body.to_vec(),
        })
    }
}

impl Reply {
    /// The same, if it is what a step goes on from.
    pub(super) fn expect(self, status: u16, what: &str) -> Result<Self, Failure> {
        if self.status == status {
            return Ok(self);
        }
        let said = self.json["error"]["message"].as_str().unwrap_or("nothing that explains it").to_owned();
        let message =
            format!("{what}: expected status {status}, the gateway answered {} ({said})", self.status);
        Err(Failure::new(Exit::Environment, "punk_demo_failed", message).hint(
            "the folder of an older demo may be in the way: name another with --data-dir, or delete it",
        ))
    }

    /// What a model said.
    pub(super) fn said(&self) -> String {
        self.json["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
    }

    /// Why something was refused: the code, and who says so.
    pub(super) fn refusal(&self) -> String {
        let error = &self.json["error"];
        let code = error["code"].as_str().unwrap_or_default();
        match error["verdict"].is_object() {
            true => {
                format!("{} {code}, says {}", self.status, crate::gateway_client::rule(&error["verdict"]))
            }
            false => format!("{} {code}", self.status),
        }
    }
}
