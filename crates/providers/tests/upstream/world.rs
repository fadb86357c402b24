//! Upstreams and calls for tests: no jitter, no waiting, and only the time-outs that a test asks for.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use crypto::{SecretSource, SecretString};
use http::HeaderMap;
use providers::upstream::{
    Attempts, Auth, Dispatcher, Next, Policy, Prepared, Spec, Target, Trust, Upstream,
};
use wire::Wire;

pub(crate) const MODEL: &str = "model-1";
/// Larger than any body in these tests.
pub(crate) const LIMIT: usize = 1 << 20;

/// An upstream called `name` at `address` with one key, changed by `change`.
pub(crate) fn upstream(name: &str, address: SocketAddr, change: impl FnOnce(&mut Spec)) -> Arc<Upstream> {
    let mut spec = Spec::new(name, &format!("http://{address}"), Auth::Bearer, &[Wire::Chat]).unwrap();
    spec.keys = vec![key("sk-only")];
    change(&mut spec);
    Upstream::new(spec, &Trust::only(&[]).unwrap()).unwrap()
}

pub(crate) fn key(text: &str) -> SecretSource {
    SecretString::new(text.to_owned()).into()
}

/// A dispatcher whose draws are all zero: it never waits on its own account.
pub(crate) fn dispatcher() -> Dispatcher {
    Dispatcher::new(Policy::default(), || 0)
}

/// A call that tries `upstreams` one after the other.
pub(crate) fn call(upstreams: &[&Arc<Upstream>]) -> Attempts {
    let groups = upstreams.iter().map(|upstream| vec![Target::new(upstream, MODEL)]).collect();
    dispatcher().begin(groups, None)
}

/// The next thing that comes of `attempts`, for a small request.
pub(crate) async fn next(attempts: &mut Attempts) -> Next {
    let caller = HeaderMap::new();
    let body = Bytes::from_static(b"{\"model\":\"model-1\"}");
    attempts.next(|_| Ok(Prepared::post("/chat/completions", body.clone(), &caller))).await
}

/// What a whole call comes to, as `status body`, and what was tried.
pub(crate) async fn run(upstreams: &[&Arc<Upstream>]) -> (String, Vec<String>) {
    let mut attempts = call(upstreams);
    let said = match next(&mut attempts).await {
        Next::Answer(reply) | Next::Last(reply) => {
            let status = reply.status.as_u16();
            let body = reply.body.collect(LIMIT).await.unwrap();
            format!("{status} {}", String::from_utf8(body.to_vec()).unwrap())
        }
        Next::Failed(error) => error.to_string(),
        Next::Unavailable { retry_after } => {
            format!("unavailable for {} s", retry_after.as_secs_f32().ceil())
        }
        Next::Keyless { upstream } => format!("no key of {upstream}"),
        Next::Unfit => "unfit".to_owned(),
    };
    (said, attempts.records().iter().map(ToString::to_string).collect())
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
