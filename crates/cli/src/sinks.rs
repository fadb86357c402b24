//! The sinks that are configured, ready to be sent to.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::secrets::source;
use config::{Settings, SinkShape, SinkTarget};
use crypto::SecretString;
use egress::{Refusal, Trust};
use outbox::{Bucket, Private, Shape, Sink};
use std::sync::Arc;
use vault::Vault;

/// Every `[sinks.NAME]`. One whose address may not be reached is refused at the start, not when something is to be copied.
pub(crate) fn sinks(
    settings: &Settings,
    vault: Option<&Arc<Vault>>,
    trust: &Trust,
) -> Result<Vec<Sink>, Failure> {
    settings.sinks().into_iter().map(|sink| made(sink, vault, trust)).collect()
}

fn made(sink: config::Sink<'_>, vault: Option<&Arc<Vault>>, trust: &Trust) -> Result<Sink, Failure> {
    let path = format!("sinks.{}", sink.name);
    let secret = |field: &str, secret: &SecretString| source(vault, &format!("{path}.{field}"), secret);
    let unreached = |refusal: Refusal| refused(&path, &refusal);
    let private = if sink.allow_private { Private::Allowed } else { Private::Refused };
    let made = match sink.target {
        SinkTarget::File { path } => Sink::file(sink.name, path.to_owned()),
        SinkTarget::Http { url, token } => {
            let token = token.map(|token| secret("token", token)).transpose()?;
            Sink::http(sink.name, url, token, private, trust.clone()).map_err(unreached)?
        }
        SinkTarget::S3 { endpoint, bucket, prefix, region, access_key_id, secret_access_key } => {
            let bucket = Bucket {
                endpoint: endpoint.to_owned(),
                name: bucket.to_owned(),
                prefix: prefix.to_owned(),
                region: region.to_owned(),
                access_key_id: access_key_id.to_owned(),
                secret_access_key: match secret_access_key {
                    Some(key) => secret("secret_access_key", key)?,
                    None => SecretString::new(String::new()).into(),
                },
            };
            Sink::s3(sink.name, bucket, private, trust.clone()).map_err(unreached)?
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

    async fn made_of(text: &str) -> Result<usize, String> {
        let masters = vault::MasterKeys::new(crypto::SealKey::from_bytes([1; 32]), Vec::new());
        let vault = Vault::start(Arc::new(store::memory::MemoryStore::new()), masters, None).await.unwrap();
        let file = FileSource::Text { name: "punk.toml".into(), text: text.into() };
        let settings = config::load(&Sources { file, ..Sources::default() }).unwrap();
        let made = sinks(&settings, Some(&Arc::new(vault)), &Trust::only(&[]).unwrap());
        made.map(|sinks| sinks.len()).map_err(|failure| format!("{failure:?}"))
    }

    #[tokio::test]
    async fn a_sink_of_each_kind_is_made_and_a_private_address_only_with_leave() {
        let s3 = "[sinks.c]\nkind = 's3'\nendpoint = 'http://10.0.0.7:9000'\nbucket = 'b'\naccess_key_id = 'a'\nsecret_access_key = 'hunter2'\n";
        let all = format!(
            "[sinks.a]\nkind = 'file'\npath = 'x'\n[sinks.b]\nkind = 'http'\nurl = 'https://a.org'\nruns = true\n{s3}"
        );
        let refused = made_of(&all).await.unwrap_err();
        assert!(refused.contains("sinks.c: 10.0.0.7 is a private address"), "{refused}");
        assert!(!refused.contains("hunter"));
        assert_eq!(made_of(&format!("{all}allow_private = true\n")).await, Ok(3));
        let kept = "[sinks.b]\nkind = 'http'\nurl = 'https://a.org'\ntoken = ";
        assert_eq!(made_of(&format!("{kept}'cred:siem'")).await, Ok(1), "it need not be there yet");
        let refused = made_of(&format!("{kept}'cred:hunter/2'")).await.unwrap_err();
        assert!(
            refused.contains("sinks.b.token: what follows `cred:`") && !refused.contains("hunter"),
            "{refused}"
        );
    }
}
