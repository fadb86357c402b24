//! Sinks: places that whoever operates the database cannot change afterwards.
//!
//! A sink takes documents and says whether all of them arrived. It does not remember anything: `shipment.rs` does.

mod file;
mod http;
mod s3;
mod sigv4;

use std::path::PathBuf;

use crypto::{NotKept, SecretSource};
use egress::{Client, EgressError, Limits, Reach, Refusal, Request, Trust, Wanted};
use schema::Timestamp;
use std::time::Duration;
use tokio::task::JoinSet;

use crate::document::Document;

pub use s3::Bucket;

/// How many documents are on their way at once.
const TOGETHER: usize = 8;

const LIMITS: Limits = Limits { connect: Duration::from_secs(10), total: Duration::from_secs(30), body: 0 };

/// Where copies go, and of what.
#[derive(Debug)]
pub struct Sink {
    pub(crate) name: String,
    target: Target,
    /// How it is told of runs; not at all, if there is nothing.
    pub(crate) runs: Option<Shape>,
}

/// How a sink is told of runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Shape {
    /// As `punk.context/1`.
    #[default]
    Punk,
    /// With that inside an envelope as InsForge reads them.
    InsForge {
        /// Which environment this is.
        environment: Option<String>,
    },
}

/// Whether the address of a sink may be a private one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Private {
    /// It may not.
    Refused,
    /// It may: the operator has named it. No other may.
    Allowed,
}

#[derive(Debug)]
enum Target {
    File(file::File),
    Http(http::Http),
    S3(s3::S3),
}

/// Why documents may not have arrived.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// The file cannot be written to.
    #[error("the file cannot be written")]
    File(#[source] std::io::Error),
    /// Nobody answered.
    #[error(transparent)]
    Unreached(#[from] EgressError),
    /// Somebody answered something else than that it has arrived.
    #[error("{origin} answers {status}")]
    Answered {
        /// Who.
        origin: egress::Origin,
        /// What.
        status: ::http::StatusCode,
    },
    /// The credential is not to be had.
    #[error(transparent)]
    NotKept(#[from] NotKept),
    /// A document or a credential is in no form that can be sent.
    #[error("{0} cannot be sent")]
    Unfit(&'static str),
}

impl Sink {
    /// Lines at the end of the file at `path`.
    #[must_use]
    pub fn file(name: impl Into<String>, path: PathBuf) -> Self {
        Self { name: name.into(), target: Target::File(file::File::new(path)), runs: None }
    }

    /// A `POST` each to `url`, with a bearer token if there is one.
    ///
    /// # Errors
    /// The address is one that may not be reached.
    pub fn http(
        name: impl Into<String>,
        url: &str,
        token: Option<SecretSource>,
        private: Private,
        trust: Trust,
    ) -> Result<Self, Refusal> {
        let client = client(url, private, trust)?;
        let target = Target::Http(http::Http::new(client, url, token));
        Ok(Self { name: name.into(), target, runs: None })
    }

    /// An object each in a bucket of an S3-compatible store.
    ///
    /// # Errors
    /// The address is one that may not be reached.
    pub fn s3(
        name: impl Into<String>,
        bucket: Bucket,
        private: Private,
        trust: Trust,
    ) -> Result<Self, Refusal> {
        let client = client(&bucket.endpoint, private, trust)?;
        let authority = client.judge(&bucket.endpoint)?.authority();
        Ok(Self { name: name.into(), target: Target::S3(s3::S3::new(client, bucket, authority)), runs: None })
    }

    /// The same, told what became of every run.
    #[must_use]
    pub fn with_runs(self, shape: Shape) -> Self {
        Self { runs: Some(shape), ..self }
    }

    /// Sends all of `documents`. After an error some of them may have arrived.
    pub(crate) async fn ship(&self, documents: Vec<Document>, now: Timestamp) -> Result<(), ShipError> {
        match &self.target {
            Target::File(file) => file.append(documents).await,
            Target::Http(http) => send_all(http.client(), http.requests(&documents).await?).await,
            Target::S3(s3) => send_all(s3.client(), s3.requests(&documents, now).await?).await,
        }
    }
}

/// A client that goes to public places, and to the address of the sink wherever that is, if it may be private.
fn client(url: &str, private: Private, trust: Trust) -> Result<Client, Refusal> {
    let reach = match private {
        Private::Refused => Reach::public(),
        Private::Allowed => Reach::public().and(Reach::private().judge(url)?.place().clone()),
    };
    reach.judge(url)?;
    Ok(Client::new(reach, trust))
}

/// Sends a few at a time, until all have arrived or one has not. Dropping the future ends all of them.
async fn send_all(client: &Client, requests: Vec<Request>) -> Result<(), ShipError> {
    let mut on_their_way = JoinSet::new();
    for request in requests {
        if on_their_way.len() == TOGETHER {
            arrived(&mut on_their_way).await?;
        }
        let (client, request) = (client.clone(), request.limits(LIMITS).wanted(Wanted::Head));
        on_their_way.spawn(async move { client.send(&request).await });
    }
    while !on_their_way.is_empty() {
        arrived(&mut on_their_way).await?;
    }
    Ok(())
}

/// Waits for the next one to arrive.
async fn arrived(on_their_way: &mut JoinSet<Result<egress::Answer, EgressError>>) -> Result<(), ShipError> {
    match on_their_way.join_next().await {
        None => Ok(()),
        Some(Ok(sent)) => {
            let answer = sent?;
            if answer.status.is_success() {
                return Ok(());
            }
            Err(ShipError::Answered { origin: answer.origin, status: answer.status })
        }
        // Nobody stops one of them alone, so it has panicked.
        Some(Err(_)) => Err(ShipError::Unfit("a document")),
    }
}
