//! Instructions: what stays the same from request to request, and what in it does not.
//!
//! Numbers, dates, ids and addresses in them are taken out and belong to the input. To find those costs more than anything else that a
//! request is asked before a program answers it, and the same instructions come again and again, mostly in the same manner: so
//! whoever reads many requests keeps what it found ([`Known`]), and what kind of work the first was.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use artifact::token::tokens;
use schema::{Digest, TenantId};
use wire::{Format, Reasoning, Request, Sampling};

/// Instructions that were read.
#[derive(Debug)]
pub(crate) struct Instructions {
    /// With kinds in the place of what is different every time.
    pub(crate) fixed: String,
    /// What is different every time, with spaces between.
    pub(crate) varying: String,
    /// What people may call the work: the first words.
    pub(crate) name: String,
    /// What kind of work they are in the manner that came first.
    kind: OnceLock<(Manner, Digest)>,
}

/// How an answer is asked for, where there is nothing to call.
#[derive(Debug)]
struct Manner {
    model: String,
    roles: Vec<&'static str>,
    format: Format,
    sampling: Sampling,
    reasoning: Option<Reasoning>,
}

impl Manner {
    fn is(&self, model: &str, roles: &[&'static str], request: &Request) -> bool {
        self.model == model
            && self.roles == roles
            && self.format == request.format
            && self.sampling == request.sampling
            && self.reasoning == request.reasoning
    }
}

/// Words of a name.
const NAME_WORDS: usize = 6;

impl Instructions {
    pub(crate) fn read(text: &str) -> Self {
        let (fixed, varying) = masked(text);
        Self { fixed, varying: varying.join(" "), name: name(text), kind: OnceLock::new() }
    }

    /// What kind of work `request` is, which has these instructions and nothing to call; `made` says so where it is not known.
    pub(crate) fn kind(
        &self,
        model: &str,
        roles: &[&'static str],
        request: &Request,
        made: impl FnOnce() -> Digest,
    ) -> Digest {
        if let Some((manner, kind)) = self.kind.get()
            && manner.is(model, roles, request)
        {
            return *kind;
        }
        let kind = made();
        let manner = Manner {
            model: model.to_owned(),
            roles: roles.to_vec(),
            format: request.format.clone(),
            sampling: request.sampling.clone(),
            reasoning: request.reasoning.clone(),
        };
        let _ = self.kind.set((manner, kind));
        kind
    }
}

/// The text with kinds in the place of numbers, dates, ids and addresses, and those.
fn masked(text: &str) -> (String, Vec<&str>) {
    let (mut fixed, mut varying, mut from) = (String::with_capacity(text.len()), Vec::new(), 0);
    for token in tokens(text) {
        let Some(kind) = token.kind else { continue };
        fixed.push_str(&text[from..token.start]);
        fixed.push_str(&format!("{{{kind:?}}}"));
        varying.push(token.text);
        from = token.start + token.text.len();
    }
    fixed.push_str(&text[from..]);
    (fixed, varying)
}

fn name(instructions: &str) -> String {
    let words = artifact::text::words(instructions);
    let words: Vec<&str> = words.iter().take(NAME_WORDS).map(|word| word.text.as_str()).collect();
    words.join("-").chars().take(60).collect()
}

/// Instructions that were met of late, tenant by tenant: how long it takes to read some tells nobody what others ask.
#[derive(Debug, Default)]
pub(crate) struct Known(RwLock<HashMap<TenantId, OfTenant>>);

#[derive(Debug, Default)]
struct OfTenant {
    instructions: HashMap<String, Arc<Instructions>>,
    bytes: usize,
}

/// Bytes of a tenant's that are kept, and of one text. Where there are more, it begins anew.
const MOST_BYTES: usize = 128 << 10;
const LONGEST: usize = 16 << 10;
/// Tenants.
const MOST_TENANTS: usize = 32;

impl Known {
    /// What these instructions of a tenant's say.
    pub(crate) fn read(&self, tenant: TenantId, text: &str) -> Arc<Instructions> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&tenant).and_then(|known| known.instructions.get(text)) {
            return Arc::clone(known);
        }
        drop(known);
        let read = Arc::new(Instructions::read(text));
        if text.len() <= LONGEST {
            self.keep(tenant, text, &read);
        }
        read
    }

    fn keep(&self, tenant: TenantId, text: &str, read: &Arc<Instructions>) {
        let mut tenants = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() >= MOST_TENANTS && !tenants.contains_key(&tenant) {
            tenants.clear();
        }
        let known = tenants.entry(tenant).or_default();
        if known.bytes + text.len() > MOST_BYTES {
            *known = OfTenant::default();
        }
        known.bytes += text.len();
        known.instructions.insert(text.to_owned(), Arc::clone(read));
    }

    /// Nothing is known any more.
    pub(crate) fn forget(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_what_would_be_read() {
        let known = Known::default();
        for text in ["Pick one of 3 labels.", "Today is 2026-11-18.", "", "Pick one of 3 labels."] {
            let (known, read) = (known.read(TenantId::NIL, text), Instructions::read(text));
            assert_eq!((&known.fixed, &known.varying, &known.name), (&read.fixed, &read.varying, &read.name));
        }
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        let known = Known::default();
        let sizes = || {
            let known = known.0.read().unwrap();
            let bytes = known.values().map(|known| known.instructions.keys().map(String::len).sum::<usize>());
            (known.len(), bytes.max().unwrap_or(0))
        };
        for at in 0..300 {
            known.read(TenantId::NIL, &format!("Pick label {at}. {}", "Be kind. ".repeat(100)));
            known.read(TenantId::new(at, [1; 10]), "Pick a label.");
            assert!(sizes().0 <= MOST_TENANTS && sizes().1 <= MOST_BYTES, "{:?}", sizes());
        }
        known.forget();
        known.read(TenantId::NIL, &"long ".repeat(LONGEST));
        assert_eq!(sizes(), (0, 0));
    }
}
