//! The sinks that are configured, ready to be sent to.

use crate::exit::Exit;
use crate::failure::Failure;
use config::{Settings, SinkShape, SinkTarget};
use crypto::Secret;
use egress::{Refusal, Trust};
use outbox::{Bucket, Private, Shape, Sink};

/// Every `[sinks.NAME]`. One whose address may not be reached is refused at the start, not when something is to be copied.
pub(crate) fn sinks(settings: &Settings, trust: &Trust) -> Result<Vec<Sink>, Failure> {
    let sink = |sink: config::Sink<'_>| {
        let path = format!("sinks.{}", sink.name);
        made(sink, trust).map_err(|refusal| refused(&path, &refusal))
    };
    settings.sinks().into_iter().map(sink).collect()
}

fn made(sink: config::Sink<'_>, trust: &Trust) -> Result<Sink, Refusal> {
    let private = if sink.allow_private { Private::Allowed } else { Private::Refused };
    let made = match sink.target {
        SinkTarget::File { path } => Sink::file(sink.name, path.to_owned()),
        SinkTarget::Http { url, token } => {
            Sink::http(sink.name, url, token.map(Secret::duplicate), private, trust.clone())?
        }
        SinkTarget::S3 { endpoint, bucket, prefix, region, access_key_id, secret_access_key } => {
            let bucket = Bucket {
                endpoint: endpoint.to_owned(),
                name: bucket.to_owned(),
                prefix: prefix.to_owned(),
                region: region.to_owned(),
                access_key_id: access_key_id.to_owned(),
                secret_access_key: secret_access_key
                    .map_or_else(|| Secret::new(String::new()), Secret::duplicate),
            };
            Sink::s3(sink.name, bucket, private, trust.clone())?
        }
    };
    let shape = match sink.shape {
        SinkShape::Punk => Shape::Punk,
        SinkShape::InsForge => Shape::InsForge { environment: sink.environment.map(str::to_owned) },
    };
    Ok(if sink.runs { made.with_runs(shape) } else { made })
}

fn refused(path: &str, refusal: &Refusal) -> Failure {
    Failure::new(Exit::Usage, "punk_sink_refused", format!("{path}: {refusal}")).hint(format!(
        "only public addresses are reached; if this one is yours, set {path}.allow_private to true"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{FileSource, Sources};

    fn made_of(text: &str) -> Result<usize, String> {
        let file = FileSource::Text { name: "punk.toml".into(), text: text.into() };
        let settings = config::load(&Sources { file, ..Sources::default() }).unwrap();
        let made = sinks(&settings, &Trust::only(&[]).unwrap());
        made.map(|sinks| sinks.len()).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn a_sink_of_each_kind_is_made_and_a_private_address_only_with_leave() {
        let s3 = "[sinks.c]\nkind = 's3'\nendpoint = 'http://10.0.0.7:9000'\nbucket = 'b'\naccess_key_id = 'a'\nsecret_access_key = 'hunter2'\n";
        let all = format!(
            "[sinks.a]\nkind = 'file'\npath = 'x'\n[sinks.b]\nkind = 'http'\nurl = 'https://a.org'\nruns = true\n{s3}"
        );
        let refused = made_of(&all).unwrap_err();
        assert!(refused.contains("sinks.c: 10.0.0.7 is a private address"), "{refused}");
        assert!(!refused.contains("hunter"));
        assert_eq!(made_of(&format!("{all}allow_private = true\n")), Ok(3));
    }
}
