//! Model ids: who serves the model that was asked for, and under which name.
//!
//! [`Catalogue::resolve`] takes an id as a caller wrote it and gives the upstreams to try, in groups: the choices of a
//! group share the load, and the next group is for when nobody of the one before answers. [`Catalogue::canonical`] is the
//! one name of a model, whatever it was called, so that caches, prices and evidence are shared. Pure functions of the id
//! and the configuration.
//!
//! The first of these that fits decides:
//!
//! 1. `mock` forced, or nothing configured at all: the mock.
//! 2. A prefix `NAME:` of an upstream or a vendor picks it.
//! 3. What `[models."NAME"]` says: an alias, the upstreams, the fallbacks.
//! 4. Upstreams with a pattern that fits.
//! 5. `mock-…` is the mock's, `claude-…` Anthropic's.
//! 6. `vendor/model` is OpenRouter's; without it, `openai/…` and `anthropic/…` go to those.
//! 7. The default provider; without one OpenAI, or the only upstream there is.
//!
//! A vendor without a key is an error that names the variable to set, never a silent mock.

use std::collections::HashSet;

#[cfg(test)]
mod tests;

/// The name of the built-in provider.
pub const MOCK: &str = "mock";
const OPENAI: &str = "openai";
const ANTHROPIC: &str = "anthropic";
const OPENROUTER: &str = "openrouter";

/// Who serves what, as configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// Whether OpenAI is to be called.
    pub openai: bool,
    /// Whether Anthropic is to be called.
    pub anthropic: bool,
    /// Whether OpenRouter is to be called.
    pub openrouter: bool,
    /// The default provider, if one was set; `mock` forces the mock.
    pub default: Option<String>,
    /// The named upstreams, in the order of the configuration.
    pub upstreams: Vec<UpstreamModels>,
    /// What is said of single models.
    pub models: Vec<ModelRule>,
}

/// A named upstream and the models that it serves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamModels {
    /// Its name.
    pub name: String,
    /// Patterns in which `*` stands for any text.
    pub models: Vec<String>,
}

/// What is said of one model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelRule {
    /// The model's name.
    pub name: String,
    /// The model that is meant.
    pub alias_of: Option<String>,
    /// Who serves it.
    pub upstreams: Vec<String>,
    /// What to try when nobody of those answers.
    pub fallbacks: Vec<String>,
}

/// Whom to ask for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The one name of the model.
    pub canonical: String,
    /// The choices: those of a group share the load, groups come one after the other. There is at least one choice.
    pub groups: Vec<Vec<Choice>>,
}

/// An upstream and the name it knows the model by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The upstream: a configured name, or `openai`, `anthropic`, `openrouter`, `mock`.
    pub upstream: String,
    /// The model as that upstream calls it.
    pub model: String,
}

/// Why nobody serves a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unserved {
    /// The vendor that serves it has no key.
    #[error("model {model:?} is served by {vendor}, which has no key: set {variable}{instead}")]
    NoKey {
        /// The model as it was asked for.
        model: String,
        /// The vendor.
        vendor: &'static str,
        /// The variable that holds its key.
        variable: &'static str,
        /// Another way, if there is one, beginning with a comma.
        instead: String,
    },
    /// The id names no model.
    #[error("{0:?} names no model")]
    Empty(String),
}

/// An id taken apart.
struct Parsed<'a> {
    /// The upstream that a prefix picked.
    picked: Option<&'a str>,
    /// The bare model.
    model: &'a str,
    /// The rules that were followed, the nearest first.
    rules: Vec<&'a ModelRule>,
}

impl Catalogue {
    /// Whom to ask for `requested`.
    pub fn resolve(&self, requested: &str) -> Result<Resolution, Unserved> {
        let parsed = self.parse(requested);
        if parsed.model.is_empty() {
            return Err(Unserved::Empty(requested.to_owned()));
        }
        let canonical = self.canonical(requested);
        if self.is_mock() {
            let choice = Choice { upstream: MOCK.to_owned(), model: parsed.model.to_owned() };
            return Ok(Resolution { canonical, groups: vec![vec![choice]] });
        }
        let mut groups = vec![self.serving(requested, &parsed)?];
        let fallbacks =
            parsed.rules.iter().map(|rule| &rule.fallbacks).find(|fallbacks| !fallbacks.is_empty());
        for fallback in fallbacks.into_iter().flatten() {
            // One without a key is left out: `unserved` tells of it at start, and the others still help.
            groups.extend(self.serving(fallback, &self.parse(fallback)));
        }
        let mut seen = HashSet::new();
        for group in &mut groups {
            group.retain(|choice| seen.insert(choice.clone()));
        }
        groups.retain(|group| !group.is_empty());
        Ok(Resolution { canonical, groups })
    }

    /// The one name of a model: aliases followed, prefixes gone, a vendor's slug without the vendor. A dated snapshot
    /// stays itself: it may answer differently.
    #[must_use]
    pub fn canonical(&self, model: &str) -> String {
        let mut name = model.to_owned();
        let mut followed = HashSet::new();
        loop {
            let parsed = self.parse(&name);
            let next = native(parsed.model).unwrap_or_else(|| parsed.model.to_owned());
            // Aliases that lead in a circle end where they come back to.
            if next == name || !followed.insert(name) {
                return next;
            }
            name = next;
        }
    }

    /// What is configured about models and cannot be served: for a warning at start.
    #[must_use]
    pub fn unserved(&self) -> Vec<Unserved> {
        if self.is_mock() {
            return Vec::new();
        }
        let named = self.models.iter().flat_map(|rule| std::iter::once(&rule.name).chain(&rule.fallbacks));
        named.filter_map(|model| self.serving(model, &self.parse(model)).err()).collect()
    }

    /// Whether everything goes to the mock: it is forced, or there is nobody else.
    #[must_use]
    pub fn is_mock(&self) -> bool {
        let nobody = !(self.openai || self.anthropic || self.openrouter) && self.upstreams.is_empty();
        self.default.as_deref() == Some(MOCK) || (nobody && self.default.is_none())
    }

    /// The choices for a model, without its fallbacks.
    fn serving(&self, requested: &str, parsed: &Parsed<'_>) -> Result<Vec<Choice>, Unserved> {
        let one = |upstream: &str, model: &str| {
            self.reachable(requested, upstream)
                .map(|()| vec![Choice { upstream: upstream.to_owned(), model: model.to_owned() }])
        };
        let model = parsed.model;
        if let Some(upstream) = parsed.picked {
            return one(upstream, model);
        }
        let told = parsed.rules.iter().map(|rule| &rule.upstreams).find(|upstreams| !upstreams.is_empty());
        if let Some(upstreams) = told {
            return self.together(requested, upstreams, model);
        }
        let fits = |upstream: &&UpstreamModels| upstream.models.iter().any(|pattern| matches(pattern, model));
        let fitting: Vec<_> =
            self.upstreams.iter().filter(fits).map(|upstream| upstream.name.clone()).collect();
        if !fitting.is_empty() {
            return self.together(requested, &fitting, model);
        }
        if model.starts_with("mock-") {
            return one(MOCK, model);
        }
        if model.starts_with("claude-") {
            return one(ANTHROPIC, model);
        }
        if let Some((vendor, _)) = model.split_once('/') {
            let of_its_own = match vendor {
                OPENAI => self.openai && !self.openrouter,
                ANTHROPIC => self.anthropic && !self.openrouter,
                _ => false,
            };
            return match native(model).filter(|_| of_its_own) {
                Some(name) => match self.parse(&name).model {
                    "" => Err(Unserved::Empty(requested.to_owned())),
                    bare => one(vendor, bare),
                },
                None => one(OPENROUTER, model),
            };
        }
        one(self.fallback_provider(), model)
    }

    /// Those of `upstreams` that can be called; an error only when none can.
    fn together(&self, requested: &str, upstreams: &[String], model: &str) -> Result<Vec<Choice>, Unserved> {
        let mut choices = Vec::new();
        let mut refused = None;
        for upstream in upstreams {
            match self.reachable(requested, upstream) {
                Ok(()) => choices.push(Choice { upstream: upstream.clone(), model: model.to_owned() }),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match refused {
            Some(error) if choices.is_empty() => Err(error),
            _ => Ok(choices),
        }
    }

    fn reachable(&self, requested: &str, upstream: &str) -> Result<(), Unserved> {
        let (configured, vendor, variable) = match upstream {
            OPENAI => (self.openai, OPENAI, "OPENAI_API_KEY"),
            ANTHROPIC => (self.anthropic, ANTHROPIC, "ANTHROPIC_API_KEY"),
            OPENROUTER => (self.openrouter, OPENROUTER, "OPENROUTER_API_KEY"),
            _ => return Ok(()),
        };
        if configured {
            return Ok(());
        }
        let bare = self.parse(requested).model;
        let instead = if self.openrouter && !bare.contains('/') {
            format!(", or ask for \"{vendor}/{bare}\" to have it from {OPENROUTER}")
        } else {
            String::new()
        };
        Err(Unserved::NoKey { model: requested.to_owned(), vendor, variable, instead })
    }

    /// Who serves what no rule is about.
    fn fallback_provider(&self) -> &str {
        match (&self.default, self.upstreams.as_slice()) {
            (Some(default), _) => default,
            // With nobody else there is nothing to mistake.
            (None, [only]) if !(self.openai || self.anthropic || self.openrouter) => &only.name,
            (None, _) => OPENAI,
        }
    }

    /// Takes prefixes off and follows aliases until a bare model is left. Every rule is followed once, so that an alias
    /// may name the same model at an upstream (`gpt-4o` as `openai:gpt-4o`).
    fn parse<'a>(&'a self, id: &'a str) -> Parsed<'a> {
        let mut parsed = Parsed { picked: None, model: id, rules: Vec::new() };
        loop {
            let model = parsed.model;
            let rule = self.models.iter().find(|rule| rule.name == model);
            let rule = rule.filter(|rule| !parsed.rules.iter().any(|known| std::ptr::eq(*known, *rule)));
            if let Some(rule) = rule {
                parsed.rules.push(rule);
                parsed.model = rule.alias_of.as_deref().unwrap_or(model);
            } else if let Some((upstream, rest)) = self.prefix(model) {
                parsed.picked = parsed.picked.or(Some(upstream));
                parsed.model = rest;
            } else {
                return parsed;
            }
        }
    }

    /// `NAME:rest`, when there is an upstream of that name. Other colons belong to the model (`llama3:8b`).
    fn prefix<'a>(&self, model: &'a str) -> Option<(&'a str, &'a str)> {
        let (name, rest) = model.split_once(':')?;
        let vendor = [MOCK, OPENAI, ANTHROPIC, OPENROUTER].contains(&name);
        (vendor || self.upstreams.iter().any(|upstream| upstream.name == name)).then_some((name, rest))
    }
}

/// The vendor's own name for what OpenRouter calls `openai/…` or `anthropic/…`. Anthropic writes versions with dashes.
fn native(slug: &str) -> Option<String> {
    let (vendor, model) = slug.split_once('/')?;
    match vendor {
        OPENAI if !model.is_empty() => Some(model.to_owned()),
        ANTHROPIC if model.starts_with("claude-") => Some(model.replace('.', "-")),
        _ => None,
    }
}

/// Whether `model` is what `pattern` describes; `*` stands for any text, also none.
fn matches(pattern: &str, model: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| model.strip_prefix(first)) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(place) = rest.find(piece) else { return false };
        rest = &rest[place + piece.len()..];
    }
    true
}
