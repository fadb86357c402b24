//! The network, for whoever asks other issuers for their keys.

use std::time::Duration;

use async_trait::async_trait;
use crypto::SecretString;
use egress::{Client, Limits, Method, Request};
use http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Uri};
use identity::http::{Answer, Http, LONGEST_BODY, NoAnswer};
use url::Url;

/// `egress`, as the port that `identity` wants.
pub struct Network(Client);

impl Network {
    /// Through this client.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self(client)
    }

    async fn send(&self, request: Request) -> Result<Answer, NoAnswer> {
        let seconds = Duration::from_secs;
        let limits = Limits { connect: seconds(5), total: seconds(10), body: LONGEST_BODY };
        let answer =
            self.0.send(&request.limits(limits)).await.map_err(|error| NoAnswer(error.to_string()))?;
        let cache_control = answer.headers.get(CACHE_CONTROL).and_then(|value| value.to_str().ok());
        Ok(Answer {
            status: answer.status.as_u16(),
            cache_control: cache_control.map(str::to_owned),
            body: answer.body.to_vec(),
        })
    }
}

fn with(request: Request, name: HeaderName, text: &str, is_secret: bool) -> Result<Request, NoAnswer> {
    let mut value = HeaderValue::from_str(text).map_err(|error| NoAnswer(error.to_string()))?;
    value.set_sensitive(is_secret);
    request.header(name, value).map_err(|error| NoAnswer(error.to_string()))
}

#[async_trait]
impl Http for Network {
    async fn get(&self, url: &Url) -> Result<Answer, NoAnswer> {
        let _: Uri = url.as_str().parse().map_err(|_| NoAnswer("the address cannot be read".to_owned()))?;
        self.send(with(Request::new(Method::Get, url.as_str()), ACCEPT, "application/json", false)?).await
    }

    async fn post_form(
        &self,
        url: &Url,
        form: SecretString,
        authorization: Option<SecretString>,
    ) -> Result<Answer, NoAnswer> {
        let request = Request::new(Method::Post, url.as_str()).body(form.expose().clone());
        let request = with(request, CONTENT_TYPE, "application/x-www-form-urlencoded", false)?;
        let mut request = with(request, ACCEPT, "application/json", false)?;
        if let Some(authorization) = authorization {
            request = with(request, AUTHORIZATION, authorization.expose(), true)?;
        }
        self.send(request).await
    }
}
