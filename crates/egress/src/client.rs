//! A request, hop by hop.
//!
//! Every hop goes the same way: its address is judged, its name looked up, what was found is judged and pinned, and the
//! connection goes to exactly that. A redirect is a new hop and nothing of the old one's leave comes with it.

use crate::connect::{Dial, Tcp, connect};
use crate::error::EgressError;
use crate::exchange::{Outcome, exchange};
use crate::guard::{Reach, Target};
use crate::origin::Origin;
use crate::refusal::Refusal;
use crate::request::{Answer, Request};
use crate::resolve::{Pinned, Resolver, System};
use crate::trust::Trust;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use std::sync::Arc;
use tokio::time::timeout;

/// How many redirects are followed.
const FOLLOWED: usize = 5;

/// Sends requests to where they may go. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    reach: Arc<Reach>,
    resolver: Arc<dyn Resolver>,
    dial: Arc<dyn Dial>,
    trust: Trust,
}

impl Client {
    /// A client that goes as far as `reach`, asks the system for names and knows the certificates of `trust`.
    #[must_use]
    pub fn new(reach: Reach, trust: Trust) -> Self {
        Self { reach: Arc::new(reach), resolver: Arc::new(System), dial: Arc::new(Tcp), trust }
    }

    /// The same, asking `resolver` for names.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, ..self }
    }

    /// The same, over connections of `dial`'s.
    #[must_use]
    pub fn with_dial(self, dial: Arc<dyn Dial>) -> Self {
        Self { dial, ..self }
    }

    /// Whether `url` may be reached as far as can be told without looking up its name; for whoever is about to keep it.
    pub fn judge(&self, url: &str) -> Result<Origin, Refusal> {
        self.reach.judge(url)
    }

    /// Sends `request` and waits for all of the answer. Dropping the future ends the connection.
    pub async fn send(&self, request: &Request) -> Result<Answer, EgressError> {
        let target = self.reach.target(&request.url)?;
        let (origin, after) = (target.origin().clone(), request.limits.total);
        let walked = timeout(after, self.walk(target, request)).await;
        walked.unwrap_or(Err(EgressError::Total { origin, after }))
    }

    async fn walk(&self, first: Target, request: &Request) -> Result<Answer, EgressError> {
        let mut headers = request.headers.clone();
        let (mut hop, mut outcome) = self.hop(first, None, request, &headers).await?;
        for _ in 0..FOLLOWED {
            let Outcome::Redirect(location) = outcome else { break };
            let next = self.next(&hop, &location)?;
            if next.origin() != hop.target().origin() {
                headers = for_strangers(&headers);
            }
            (hop, outcome) = self.hop(next, Some(&hop), request, &headers).await?;
        }
        match outcome {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::Redirect(_) => {
                Err(EgressError::Endless { origin: hop.target().origin().clone(), followed: FOLLOWED })
            }
        }
    }

    /// Where the server of `hop` sends us on to.
    fn next(&self, hop: &Pinned, location: &HeaderValue) -> Result<Target, EgressError> {
        let location = location.to_str().map_err(|_| Refusal::Malformed);
        let next = location.and_then(|location| self.reach.redirected(hop.target(), location));
        next.map_err(|refusal| redirected(hop, refusal))
    }

    /// One hop: from a judged address to what the server there says.
    async fn hop(
        &self,
        target: Target,
        from: Option<&Pinned>,
        request: &Request,
        headers: &HeaderMap,
    ) -> Result<(Pinned, Outcome), EgressError> {
        let patience = request.limits.connect;
        let origin = target.origin().clone();
        let connecting = async {
            let pinned = Pinned::pin(&*self.resolver, target).await;
            let pinned = pinned.map_err(|error| match (error, from) {
                (EgressError::Refused(refusal), Some(from)) => redirected(from, refusal),
                (error, _) => error,
            })?;
            if let Some(from) = from.filter(|from| from.may_be_outside() && !pinned.is_public()) {
                return Err(redirected(from, Refusal::Inward));
            }
            let stream = connect(&*self.dial, &self.trust, &pinned, patience).await?;
            Ok((pinned, stream))
        };
        let late = || format!("no connection was made within {patience:?}").into();
        let connected = timeout(patience, connecting).await;
        let (pinned, stream) =
            connected.unwrap_or_else(|_| Err(EgressError::Connect { origin, cause: late() }))?;
        let outcome = exchange(stream, pinned.target(), request, headers).await?;
        Ok((pinned, outcome))
    }
}

fn redirected(from: &Pinned, refusal: Refusal) -> EgressError {
    EgressError::Redirected { origin: from.target().origin().clone(), refusal }
}

/// What of `headers` may be shown to a server that the caller did not name. A list of what may, for nobody knows under
/// which names credentials travel.
fn for_strangers(headers: &HeaderMap) -> HeaderMap {
    let shown = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT].into_iter();
    shown.filter_map(|name| headers.get(&name).map(|value| (name, value.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Method, Redirects};
    use crate::scripted::Scripted;
    use std::io;
    use std::net::{IpAddr, SocketAddr};
    use tokio::net::TcpStream;

    /// Connects to nobody.
    struct Nobody;

    #[async_trait::async_trait]
    impl Dial for Nobody {
        async fn dial(&self, _: SocketAddr) -> io::Result<TcpStream> {
            Err(io::ErrorKind::ConnectionRefused.into())
        }
    }

    /// What comes of a redirect from one address to another, by a client that may reach both.
    async fn sent_on(from: &str, to: &str) -> EgressError {
        let addresses =
            |text: &str| -> Vec<IpAddr> { text.split(',').map(|one| one.parse().unwrap()).collect() };
        let names =
            Scripted::new().answer("from.example", &addresses(from)).answer("to.example", &addresses(to));
        let client = Client::new(Reach::private(), Trust::only(&[]).unwrap());
        let client = client.with_resolver(Arc::new(names)).with_dial(Arc::new(Nobody));
        let first = client.reach.target("http://from.example").unwrap();
        let from = Pinned::pin(&*client.resolver, first).await.unwrap();
        let next = client.next(&from, &HeaderValue::from_static("http://to.example")).unwrap();
        let request = Request::new(Method::Get, "").redirects(Redirects::Follow);
        let sent = client.hop(next, Some(&from), &request, &HeaderMap::new()).await;
        sent.err().unwrap()
    }

    #[tokio::test]
    async fn no_public_server_sends_a_request_inside_even_where_inside_is_allowed() {
        for inside in ["127.0.0.1", "10.0.0.1", "fd12::1", "100.64.0.1", "1.1.1.1,10.0.0.1"] {
            for from in ["8.8.8.8", "10.0.0.2,8.8.8.8"] {
                let error = sent_on(from, inside).await;
                assert_eq!(error.refusal(), Some(&Refusal::Inward), "{from} to {inside}");
            }
        }
        for (from, to) in [("8.8.8.8", "1.1.1.1"), ("10.0.0.1", "10.0.0.2"), ("10.0.0.1", "8.8.8.8")] {
            let error = sent_on(from, to).await;
            assert!(matches!(error, EgressError::Connect { .. }), "{from} to {to}: {error}");
        }
    }
}
