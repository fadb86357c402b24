//! The sum.

use schema::{MicroUsd, Usage};

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// What tokens cost.
    pub rates: Rates,
    /// What they cost in a long request, where that differs.
    pub long: Option<Long>,
}

/// What tokens cost, in millionths of a dollar for a million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Of the request.
    pub input: u64,
    /// Of the answer.
    pub output: u64,
    /// Of the request, from the vendor's cache.
    pub cache_read: u64,
    /// Of the request, into the vendor's cache for minutes.
    pub cache_write: u64,
    /// Of the request, into the vendor's cache for an hour.
    pub cache_write_long: u64,
    /// Of the answer's thoughts.
    pub reasoning: u64,
}

/// What a long request costs, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Long {
    /// The most input tokens at the usual rates.
    pub above: u64,
    /// What tokens cost beyond that.
    pub rates: Rates,
}

impl Rates {
    /// Rates of which some are left out: cache reads and writes are then as other input, a write for an hour as one for
    /// minutes, thoughts as other output.
    #[must_use]
    pub fn new(
        input: u64,
        output: u64,
        cache_read: Option<u64>,
        cache_write: Option<u64>,
        cache_write_long: Option<u64>,
        reasoning: Option<u64>,
    ) -> Self {
        let cache_write = cache_write.unwrap_or(input);
        Self {
            input,
            output,
            cache_read: cache_read.unwrap_or(input),
            cache_write,
            cache_write_long: cache_write_long.unwrap_or(cache_write),
            reasoning: reasoning.unwrap_or(output),
        }
    }
}

impl From<Rates> for Price {
    fn from(rates: Rates) -> Self {
        Self { rates, long: None }
    }
}

impl Price {
    /// What a call that used this much came to, rounded once, half up.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> MicroUsd {
        let rates = match &self.long {
            Some(long) if usage.input_tokens > long.above => &long.rates,
            _ => &self.rates,
        };
        let of_cache = usage
            .cache_read_tokens
            .saturating_add(usage.cache_write_tokens)
            .saturating_add(usage.cache_write_long_tokens);
        // Parts that add up to more than the whole are the vendor's mistake; they count as told, the rest as nothing.
        let other_input = usage.input_tokens.saturating_sub(of_cache);
        let other_output = usage.output_tokens.saturating_sub(usage.reasoning_tokens);
        let parts = [
            (other_input, rates.input),
            (usage.cache_read_tokens, rates.cache_read),
            (usage.cache_write_tokens, rates.cache_write),
            (usage.cache_write_long_tokens, rates.cache_write_long),
            (other_output, rates.output),
            (usage.reasoning_tokens, rates.reasoning),
        ];
        // A product of two 64-bit numbers fits 128 bits, and no sum of six real ones comes near the end.
        let total = parts
            .into_iter()
            .fold(0u128, |sum, (tokens, rate)| sum.saturating_add(u128::from(tokens) * u128::from(rate)));
        let micros = total.saturating_add(500_000) / 1_000_000;
        MicroUsd(i64::try_from(micros).unwrap_or(i64::MAX))
    }
}
