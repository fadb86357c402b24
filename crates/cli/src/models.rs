//! The models behind the gateway, as they are configured: who is called, for what, and at what price.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::secrets::source;
use config::{Settings, UpstreamWire, Vendor};
use gateway::Models;
use http::{HeaderName, HeaderValue};
use providers::mock::Pace;
use providers::model::{Catalogue, ModelRule, UpstreamModels};
use providers::pricing::{Price, PriceList, Rates};
use providers::upstream::{Auth, Spec, Timeouts, Trust, Upstream};
use std::collections::HashMap;
use std::sync::Arc;
use vault::Vault;
use wire::Wire;

/// Everybody who can be asked, ready to be.
pub(crate) fn models(settings: &Settings, vault: &Arc<Vault>) -> Result<Models, Failure> {
    let catalogue = catalogue(settings);
    let mut upstreams = HashMap::new();
    let mut trust = None;
    for spec in specs(settings, vault)? {
        // The certificates of the system are read once, and only if somebody is to be called.
        let trust = match &trust {
            Some(trust) => trust,
            None => trust.insert(Trust::system(&[]).map_err(|error| not_configured(&error))?),
        };
        let name = spec.name.clone();
        let upstream: Arc<Upstream> = Upstream::new(spec, trust).map_err(|error| not_configured(&error))?;
        upstreams.insert(name, upstream);
    }
    for unserved in catalogue.unserved() {
        tracing::warn!("{unserved}");
    }
    let pace = if settings.mock_is_instant() { Pace::Instant } else { Pace::Realistic };
    Ok(Models { catalogue, upstreams, prices: prices(settings), pace })
}

fn catalogue(settings: &Settings) -> Catalogue {
    let texts = |texts: &[String]| texts.to_vec();
    Catalogue {
        openai: settings.openai().configured,
        anthropic: settings.anthropic().configured,
        openrouter: settings.openrouter().configured,
        default: settings.provider_default().map(str::to_owned),
        upstreams: (settings.upstreams().into_iter())
            .map(|upstream| UpstreamModels { models: texts(upstream.models), name: upstream.name })
            .collect(),
        models: (settings.models().into_iter())
            .map(|model| ModelRule {
                name: model.name,
                alias_of: model.alias_of.map(str::to_owned),
                upstreams: model.upstreams.into_iter().map(str::to_owned).collect(),
                fallbacks: texts(model.fallbacks),
            })
            .collect(),
    }
}

fn prices(settings: &Settings) -> PriceList {
    PriceList::new(settings.prices().into_iter().map(|entry| {
        let rates = Rates::new(
            entry.input,
            entry.output,
            entry.cache_read,
            entry.cache_write,
            entry.cache_write_long,
            entry.reasoning,
        );
        (entry.model, Price { rates, long: None })
    }))
}

/// The vendors that have a section of their own, and everybody else who is named.
fn specs(settings: &Settings, vault: &Arc<Vault>) -> Result<Vec<Spec>, Failure> {
    let mut specs = Vec::new();
    let openai: &[Wire] = &[Wire::Chat, Wire::Responses];
    let vendors = [
        ("openai", settings.openai(), Auth::Bearer, openai),
        ("anthropic", settings.anthropic(), Auth::ApiKey, &[Wire::Messages]),
        ("openrouter", settings.openrouter(), Auth::Bearer, &[Wire::Chat]),
    ];
    for (name, vendor, auth, speaks) in vendors {
        let Vendor { api_key, base_url, configured } = vendor;
        if configured {
            let mut spec = Spec::new(name, base_url, auth, speaks).map_err(|error| not_configured(&error))?;
            let key = |key| source(Some(vault), &format!("providers.{name}.api_key"), key);
            spec.keys = api_key.into_iter().map(key).collect::<Result<_, _>>()?;
            if name == "openrouter" {
                spec.headers = attribution(settings);
            }
            specs.push(spec);
        }
    }
    for upstream in settings.upstreams() {
        let (auth, speaks): (_, &[Wire]) = match (upstream.wire, upstream.responses) {
            (UpstreamWire::Anthropic, _) => (Auth::ApiKey, &[Wire::Messages]),
            (UpstreamWire::OpenAi, true) => (Auth::Bearer, &[Wire::Chat, Wire::Responses]),
            (UpstreamWire::OpenAi, false) => (Auth::Bearer, &[Wire::Chat]),
        };
        let mut spec = Spec::new(&upstream.name, upstream.base_url, auth, speaks)
            .map_err(|error| not_configured(&error))?;
        let key = |key| source(Some(vault), &format!("upstreams.{}.api_key", upstream.name), key);
        spec.keys = upstream.api_keys.iter().copied().map(key).collect::<Result<_, _>>()?;
        spec.headers =
            upstream.headers.iter().filter_map(|(name, value)| header(name, value.expose())).collect();
        spec.timeouts = Timeouts {
            connect: upstream.connect_timeout,
            first_byte: upstream.first_byte_timeout,
            idle: upstream.idle_timeout,
            total: upstream.total_timeout,
        };
        spec.weight = upstream.weight;
        specs.push(spec);
    }
    Ok(specs)
}

/// What OpenRouter attributes calls to.
fn attribution(settings: &Settings) -> Vec<(HeaderName, HeaderValue)> {
    let site = settings.openrouter_site().and_then(|site| header("http-referer", site));
    site.into_iter().chain(header("x-title", settings.openrouter_app())).collect()
}

/// The configuration has checked names and values; what is none is left out.
fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((name.parse().ok()?, value.parse().ok()?))
}

fn not_configured(error: &dyn std::error::Error) -> Failure {
    Failure::of(Exit::Usage, "punk_upstream_invalid", error)
        .hint("`punk config show` tells where each setting comes from")
}
