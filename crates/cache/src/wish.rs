//! What a caller wishes about cached answers, and what the installation's rules are.

use std::num::NonZeroU32;

/// The rules of an installation or a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Whether answers are kept and used at all.
    pub enabled: bool,
    /// Whether only requests without chance in them are.
    pub deterministic_only: bool,
    /// How long an answer may be used.
    pub ttl_seconds: u64,
    /// How many answers a tenant may have; absent is without end.
    pub at_most: Option<NonZeroU32>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            enabled: true,
            deterministic_only: true,
            ttl_seconds: 24 * 60 * 60,
            at_most: NonZeroU32::new(100_000),
        }
    }
}

/// What one request says: by `Cache-Control`, as in HTTP, and by `x-punk-cache: on | off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wish {
    /// The answer must be new (`no-cache`, `no-store`).
    pub fresh: bool,
    /// The answer must not be kept (`no-store`).
    pub forget: bool,
    /// An answer older than this many seconds will not do (`max-age`).
    pub max_age: Option<u64>,
    /// Only a kept answer will do (`only-if-cached`).
    pub only_kept: bool,
    /// An answer may be kept and used though there is chance in it (`x-punk-cache: on`).
    pub despite_chance: bool,
}

/// The header says what nobody understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `on` or `off`")]
pub struct WishError;

impl Wish {
    /// Reads both headers. Directives that are not known are ignored, as HTTP has it.
    ///
    /// # Errors
    /// `x-punk-cache` is neither `on` nor `off`.
    pub fn read(cache_control: Option<&str>, punk: Option<&str>) -> Result<Self, WishError> {
        let mut wish = Self::default();
        for directive in cache_control.unwrap_or_default().split(',') {
            let (name, value) = directive.trim().split_once('=').unwrap_or((directive.trim(), ""));
            match name.to_ascii_lowercase().as_str() {
                "no-cache" => wish.fresh = true,
                "no-store" => (wish.fresh, wish.forget) = (true, true),
                "only-if-cached" => wish.only_kept = true,
                "max-age" => wish.max_age = value.trim_matches('"').parse().ok(),
                _ => {}
            }
        }
        match punk.map(str::trim) {
            None => {}
            Some("on") => wish.despite_chance = true,
            Some("off") => (wish.fresh, wish.forget) = (true, true),
            Some(_) => return Err(WishError),
        }
        Ok(wish)
    }

    /// The rules as this request has them.
    #[must_use]
    pub fn over(self, rules: &Rules) -> Rules {
        Rules { deterministic_only: rules.deterministic_only && !self.despite_chance, ..rules.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directives_of_http_are_honoured() {
        let read = |text| Wish::read(Some(text), None).unwrap();
        assert_eq!(read("no-cache"), Wish { fresh: true, ..Wish::default() });
        assert_eq!(read("No-Store, foo=1"), Wish { fresh: true, forget: true, ..Wish::default() });
        assert_eq!(read("max-age=60"), Wish { max_age: Some(60), ..Wish::default() });
        assert_eq!(read("only-if-cached"), Wish { only_kept: true, ..Wish::default() });
        assert_eq!(read("max-age=soon"), Wish::default());
    }

    #[test]
    fn our_own_header_is_strict() {
        assert_eq!(Wish::read(None, Some("on")), Ok(Wish { despite_chance: true, ..Wish::default() }));
        assert_eq!(Wish::read(None, Some("off")), Ok(Wish { fresh: true, forget: true, ..Wish::default() }));
        assert_eq!(Wish::read(None, Some("yes")), Err(WishError));
    }
}
