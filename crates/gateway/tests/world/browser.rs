//! People with browsers: what they type, and the cookies that their browsers keep.

use super::{OPERATOR, Reply, World};
use http::header::SET_COOKIE;
use serde_json::{Value, json};

/// What everybody's password is.
pub(crate) const PASSWORD: &str = "seven parrots and a kettle";

/// A browser, with whoever is logged in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Browser {
    pub(crate) cookies: Vec<(String, String)>,
    pub(crate) csrf: String,
    pub(crate) user: String,
}

impl Browser {
    /// The cookies as a browser sends them.
    pub(crate) fn cookie(&self) -> String {
        let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("; ")
    }

    /// The token of its session.
    pub(crate) fn token(&self) -> &str {
        let found = self.cookies.iter().find(|(name, _)| name == "punk_session");
        found.map_or("", |(_, value)| value)
    }

    /// Keeps what an answer sets.
    pub(crate) fn keep(&mut self, reply: &Reply) {
        for line in reply.headers.get_all(SET_COOKIE) {
            let (name, rest) = line.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            self.cookies.retain(|(known, _)| known != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        if let Ok(body) = serde_json::from_slice::<Value>(&reply.body)
            && let Some(csrf) = body["csrfToken"].as_str()
        {
            self.csrf = csrf.to_owned();
            self.user = body["user"]["id"].as_str().unwrap().to_owned();
        }
    }
}

impl World {
    /// Where its own pages come from.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The headers that a page of ours sends for whoever is logged in.
    pub(crate) fn headers(&self, browser: &Browser) -> Vec<(String, String)> {
        let headers = [
            ("cookie", browser.cookie()),
            ("origin", self.origin()),
            ("sec-fetch-site", "same-origin".to_owned()),
            ("x-punk-csrf", browser.csrf.clone()),
        ];
        headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// What a page of ours sends for whoever is logged in.
    pub(crate) async fn page(&self, browser: &Browser, method: &str, path: &str, body: &Value) -> Reply {
        let headers = self.headers(browser);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.send(method, path, &headers, body).await
    }

    /// Makes somebody something in an organisation.
    pub(crate) async fn person(&self, email: &str, role: &str, tenant: Option<&str>) -> Value {
        let mut new = json!({ "email": email, "password": PASSWORD, "role": role });
        if let Some(tenant) = tenant {
            new["tenant"] = json!(tenant);
        }
        let made = self.with(OPERATOR, "POST", "/api/v1/users", &new).await;
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["user"].clone()
    }

    /// Logs somebody in.
    pub(crate) async fn log_in(&self, email: &str) -> Browser {
        let mut browser = Browser::default();
        let login = json!({ "email": email, "password": PASSWORD });
        let reply = self.send("POST", "/api/v1/auth/login", &[], &login).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        browser.keep(&reply);
        browser
    }

    /// Makes somebody, and logs them in.
    pub(crate) async fn somebody(&self, email: &str, role: &str, tenant: Option<&str>) -> Browser {
        self.person(email, role, tenant).await;
        self.log_in(email).await
    }

    /// Makes a tenant; its id.
    pub(crate) async fn tenant(&self, name: &str) -> String {
        let made = self.operate("POST", "/api/v1/tenants", &json!({ "name": name })).await.json();
        made["tenant"]["id"].as_str().unwrap().to_owned()
    }
}
