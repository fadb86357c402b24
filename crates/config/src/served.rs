//! Who serves models and at what price: the named tables and the built-in vendors, as types.

use crate::keys::{self, Named};
use crate::origin::Origin;
use crate::settings::{Setting, Settings};
use crate::value::Value;
use crypto::SecretString;
use std::time::Duration;

/// Headers with their secret values.
pub type Headers<'s> = &'s [(String, SecretString)];

/// One of the vendors that have a section of their own.
#[derive(Debug, Clone, Copy)]
pub struct Vendor<'s> {
    /// The key, if one is set.
    pub api_key: Option<&'s SecretString>,
    /// Where it is.
    pub base_url: &'s str,
    /// Whether it is to be called: it has a key, or was told to be elsewhere, where none may be needed.
    pub configured: bool,
}

/// `[upstreams.NAME]`.
#[derive(Debug)]
pub struct Upstream<'s> {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub base_url: &'s str,
    /// What it speaks.
    pub wire: UpstreamWire,
    /// Whether it speaks OpenAI responses as well.
    pub responses: bool,
    /// Its keys: `api_key` first, then `api_keys`.
    pub api_keys: Vec<&'s SecretString>,
    /// Patterns of the models that it serves.
    pub models: &'s [String],
    /// Headers for every call.
    pub headers: Headers<'s>,
    /// Its share of the load.
    pub weight: u32,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long until the answer begins.
    pub first_byte_timeout: Duration,
    /// How long an answer may be silent.
    pub idle_timeout: Duration,
    /// How long all of it may take.
    pub total_timeout: Duration,
}

/// What an upstream speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpstreamWire {
    /// OpenAI chat completions.
    #[default]
    OpenAi,
    /// Anthropic messages.
    Anthropic,
}

/// `[models."NAME"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry<'s> {
    /// The model's name.
    pub name: String,
    /// The model that is meant.
    pub alias_of: Option<&'s str>,
    /// Who serves it: `upstream` first, then `upstreams`.
    pub upstreams: Vec<&'s str>,
    /// What to try when nobody of those answers.
    pub fallbacks: &'s [String],
}

/// `[prices."MODEL"]`, all in millionths of a dollar for a million tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceEntry {
    /// The model's name.
    pub model: String,
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens that the vendor had in its cache.
    pub cache_read: Option<u64>,
    /// Tokens that the vendor put into its cache for minutes.
    pub cache_write: Option<u64>,
    /// Tokens that the vendor put into its cache for an hour.
    pub cache_write_long: Option<u64>,
    /// Tokens of thoughts.
    pub reasoning: Option<u64>,
}

/// `[cache]`, what concerns answers to the very same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactCache {
    /// Whether there is one.
    pub enabled: bool,
    /// How long an answer may be given again.
    pub ttl: Duration,
    /// How many answers are kept.
    pub max_entries: u64,
    /// Whether only what leaves nothing to chance is given again.
    pub deterministic_only: bool,
}

impl Settings {
    /// `providers.default`; nothing when it is to be inferred.
    pub fn provider_default(&self) -> Option<&str> {
        self.text("providers.default")
    }

    /// `[providers.openai]`.
    pub fn openai(&self) -> Vendor<'_> {
        self.vendor("providers.openai.api_key", "providers.openai.base_url")
    }

    /// `[providers.anthropic]`.
    pub fn anthropic(&self) -> Vendor<'_> {
        self.vendor("providers.anthropic.api_key", "providers.anthropic.base_url")
    }

    /// `[providers.openrouter]`.
    pub fn openrouter(&self) -> Vendor<'_> {
        self.vendor("providers.openrouter.api_key", "providers.openrouter.base_url")
    }

    /// `providers.openrouter.site_url`, else the address of this installation.
    pub fn openrouter_site(&self) -> Option<&str> {
        self.text("providers.openrouter.site_url")
    }

    /// `providers.openrouter.app_name`.
    pub fn openrouter_app(&self) -> &str {
        self.text("providers.openrouter.app_name").unwrap_or("Punk Chorus")
    }

    /// Whether the mock streams without pauses (`providers.mock.pace`).
    pub fn mock_is_instant(&self) -> bool {
        self.text("providers.mock.pace") == Some("instant")
    }

    /// `[cache]`.
    pub fn exact_cache(&self) -> ExactCache {
        ExactCache {
            enabled: self.boolean("cache.exact_enabled").unwrap_or(true),
            ttl: Duration::from_secs(self.integer("cache.exact_ttl_seconds").unwrap_or(86_400)),
            max_entries: self.integer("cache.exact_max_entries").unwrap_or(100_000),
            deterministic_only: self.boolean("cache.deterministic_only").unwrap_or(true),
        }
    }

    /// Every `[upstreams.NAME]`, in the order of the file.
    pub fn upstreams(&self) -> Vec<Upstream<'_>> {
        self.names("upstreams").map(|name| self.upstream(name)).collect()
    }

    /// Every `[models."NAME"]`, in the order of the file.
    pub fn models(&self) -> Vec<ModelEntry<'_>> {
        self.names("models").map(|name| self.model(name)).collect()
    }

    /// Every `[prices."MODEL"]`, in the order of the file.
    pub fn prices(&self) -> Vec<PriceEntry> {
        self.names("prices").map(|model| self.price(model)).collect()
    }

    fn vendor(&self, api_key: &str, base_url: &str) -> Vendor<'_> {
        let api_key = self.secret(api_key);
        let moved = self.get(base_url).is_some_and(|setting| setting.origin != Origin::Default);
        Vendor {
            api_key,
            base_url: self.text(base_url).unwrap_or_default(),
            configured: api_key.is_some() || moved,
        }
    }

    fn upstream(&self, name: String) -> Upstream<'_> {
        let path = |field: &str| format!("upstreams.{name}.{field}");
        let seconds =
            |field: &str, default| Duration::from_secs(self.integer(&path(field)).unwrap_or(default));
        let mut api_keys: Vec<_> = self.secret(&path("api_key")).into_iter().collect();
        if let Some(Value::Secrets(more)) = self.value(&path("api_keys")) {
            api_keys.extend(more);
        }
        let headers = match self.value(&path("headers")) {
            Some(Value::Headers(headers)) => headers.as_slice(),
            _ => &[],
        };
        Upstream {
            base_url: self.text(&path("base_url")).unwrap_or_default(),
            wire: match self.text(&path("wire")) {
                Some("anthropic") => UpstreamWire::Anthropic,
                _ => UpstreamWire::OpenAi,
            },
            responses: self.boolean(&path("responses")).unwrap_or(false),
            api_keys,
            models: self.texts(&path("models")),
            headers,
            weight: self.integer(&path("weight")).and_then(|weight| weight.try_into().ok()).unwrap_or(1),
            connect_timeout: seconds("connect_timeout_seconds", 10),
            first_byte_timeout: seconds("first_byte_timeout_seconds", 300),
            idle_timeout: seconds("idle_timeout_seconds", 120),
            total_timeout: seconds("total_timeout_seconds", 1800),
            name,
        }
    }

    fn model(&self, name: String) -> ModelEntry<'_> {
        let path = |field: &str| format!("models.{name}.{field}");
        let more = self.texts(&path("upstreams")).iter().map(String::as_str);
        ModelEntry {
            alias_of: self.text(&path("alias_of")),
            upstreams: self.text(&path("upstream")).into_iter().chain(more).collect(),
            fallbacks: self.texts(&path("fallbacks")),
            name,
        }
    }

    fn price(&self, model: String) -> PriceEntry {
        let micros = |field: &str| match self.value(&format!("prices.{model}.{field}_per_million_usd")) {
            Some(Value::MicroDollars(micros)) => Some(*micros),
            _ => None,
        };
        PriceEntry {
            input: micros("input").unwrap_or_default(),
            output: micros("output").unwrap_or_default(),
            cache_read: micros("cache_read"),
            cache_write: micros("cache_write"),
            cache_write_long: micros("cache_write_long"),
            reasoning: micros("reasoning"),
            model,
        }
    }

    pub(crate) fn names(&self, table: &str) -> impl Iterator<Item = String> {
        let all: Vec<_> = self.iter().filter_map(table_of).filter(|(kind, _)| kind.name == table).collect();
        distinct(all).into_iter().map(|(_, name)| name)
    }
}

/// The named tables that `settings` are of.
pub(crate) fn tables(settings: &[Setting]) -> Vec<(&'static Named, String)> {
    distinct(settings.iter().filter_map(table_of).collect())
}

/// The named table that a setting is of: what its path has between the kind and the field.
fn table_of(setting: &Setting) -> Option<(&'static Named, String)> {
    let (kind, rest) = setting.path.split_once('.')?;
    let kind = keys::named_tables().iter().find(|table| table.name == kind)?;
    let (name, _) = rest.rsplit_once('.')?;
    Some((kind, name.to_owned()))
}

fn distinct(all: Vec<(&'static Named, String)>) -> Vec<(&'static Named, String)> {
    let mut seen = std::collections::HashSet::new();
    all.into_iter().filter(|(kind, name)| seen.insert((kind.name, name.clone()))).collect()
}
