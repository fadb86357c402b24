//! An object for each document, in a bucket of an S3-compatible store. A bucket that keeps versions, or lets nothing be
//! deleted for a time, is what makes such a copy worth something.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crypto::{SecretSource, SecretString};
use egress::{Client, Method, Request};
use http::{HeaderName, HeaderValue};
use ledger::sha256;
use schema::Timestamp;

use super::ShipError;
use super::sigv4::{Signer, amz_date};
use crate::document::{Document, escaped};

/// A bucket, and what it takes to write to it.
#[derive(Debug)]
pub struct Bucket {
    /// Where the store is, without the bucket.
    pub endpoint: String,
    /// The bucket's name.
    pub name: String,
    /// What the names of objects begin with; may be empty.
    pub prefix: String,
    /// The region.
    pub region: String,
    /// The id of the access key.
    pub access_key_id: String,
    /// The access key.
    pub secret_access_key: SecretSource,
}

/// A bucket, and the way there.
pub(super) struct S3 {
    client: Client,
    bucket: Bucket,
    /// What the `host` header will say.
    authority: String,
}

impl S3 {
    pub(super) fn new(client: Client, bucket: Bucket, authority: String) -> Self {
        Self { client, bucket, authority }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) async fn requests(
        &self,
        documents: &[Document],
        now: Timestamp,
    ) -> Result<Vec<Request>, ShipError> {
        let secret = self.bucket.secret_access_key.fetch().await?;
        documents.iter().map(|document| self.request(document, &secret, now)).collect()
    }

    /// One object, addressed by path: names of buckets need not be names of hosts then.
    fn request(
        &self,
        document: &Document,
        secret_access_key: &SecretString,
        now: Timestamp,
    ) -> Result<Request, ShipError> {
        let Bucket { endpoint, name, prefix, region, access_key_id, .. } = &self.bucket;
        let object = format!("/{name}/{prefix}{}", document.name);
        let url = format!("{}{}", endpoint.trim_end_matches('/'), escaped(&object));
        // A line, so that objects one after the other are what a file would be.
        let body = format!("{}\n", document.json);
        let digest = sha256(body.as_bytes());
        let (date, payload) = (amz_date(now), digest.to_string());
        // Buckets that lock their objects ask for it.
        let checksum = BASE64.encode(digest.as_bytes());
        // In the order of their names, as they are signed.
        let headers = [
            ("content-type", "application/json"),
            ("host", &self.authority),
            ("x-amz-checksum-sha256", &checksum),
            ("x-amz-content-sha256", &payload),
            ("x-amz-date", &date),
        ];
        let signer = Signer { access_key_id, secret_access_key, region, service: "s3" };
        let authorization = signer.authorization("PUT", path_of(&url), &headers, &payload, &date);
        let request = Request::new(Method::Put, &url).body(body);
        let all = headers.into_iter().chain([("authorization", authorization.as_str())]);
        // The connection sets it, to what was signed.
        let mut all = all.filter(|(name, _)| *name != "host");
        all.try_fold(request, |request, (name, value)| {
            let value = HeaderValue::try_from(value).map_err(|_| ShipError::Unfit("the access key"))?;
            let name = HeaderName::from_static(name);
            request.header(name, value).map_err(|_| ShipError::Unfit("a header"))
        })
    }
}

/// What comes after scheme and host.
fn path_of(url: &str) -> &str {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    authority.find('/').map_or("/", |start| &authority[start..])
}

/// Neither the bucket nor its keys.
impl std::fmt::Debug for S3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S3").finish_non_exhaustive()
    }
}
