//! A `POST` for each document.

use crypto::{SecretSource, SecretString};
use egress::{Client, Method, Request};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};

use super::ShipError;
use crate::delivery::JSON;
use crate::document::{Document, escaped};

/// What a receiver can tell copies of a document by.
const DOCUMENT: HeaderName = HeaderName::from_static("x-punk-document");

/// Somebody who takes documents.
pub(super) struct Http {
    client: Client,
    url: String,
    token: Option<SecretSource>,
}

impl Http {
    pub(super) fn new(client: Client, url: &str, token: Option<SecretSource>) -> Self {
        Self { client, url: url.to_owned(), token }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) async fn requests(&self, documents: &[Document]) -> Result<Vec<Request>, ShipError> {
        let token = match &self.token {
            Some(token) => Some(token.fetch().await?),
            None => None,
        };
        documents.iter().map(|document| self.request(document, token.as_deref())).collect()
    }

    fn request(&self, document: &Document, token: Option<&SecretString>) -> Result<Request, ShipError> {
        let mut headers = vec![(CONTENT_TYPE, JSON)];
        let name = HeaderValue::try_from(escaped(&document.name))
            .map_err(|_| ShipError::Unfit("the document's name"))?;
        headers.push((DOCUMENT, name));
        if let Some(token) = token {
            let value = HeaderValue::try_from(format!("Bearer {}", token.expose()));
            let mut value = value.map_err(|_| ShipError::Unfit("the token"))?;
            value.set_sensitive(true);
            headers.push((AUTHORIZATION, value));
        }
        let request = Request::new(Method::Post, &self.url).body(document.json.clone());
        let with_all =
            headers.into_iter().try_fold(request, |request, (name, value)| request.header(name, value));
        with_all.map_err(|_| ShipError::Unfit("a header"))
    }
}

/// Neither the path of the address nor the token.
impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}
