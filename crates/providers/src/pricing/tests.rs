#![allow(clippy::unwrap_used, reason = "tests")]

use super::list::checks::rows;
use super::*;
use proptest::prelude::*;
use schema::{MicroUsd, Usage};

static ROWS: std::sync::LazyLock<Vec<(String, Price)>> = std::sync::LazyLock::new(|| rows().unwrap());

fn input_of(model: &str) -> Option<u64> {
    price(model).map(|price| price.rates.input)
}

fn usage(input_tokens: u64, output_tokens: u64, cache_read_tokens: u64, cache_write_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, ..Usage::default() }
}

#[test]
fn the_list_can_be_read_and_no_row_is_nonsense() {
    let rows = rows().unwrap();
    assert!(rows.len() > 100, "{}", rows.len());
    for (model, price) in rows {
        let long = price.long.map(|long| long.rates);
        for rates in std::iter::once(price.rates).chain(long) {
            assert!(rates.input > 0 && rates.input < 1_000_000_000, "{model}");
            assert!(
                rates.cache_read <= rates.input,
                "{model}: reading a cache costs more than not having it"
            );
            assert!(
                rates.cache_write >= rates.input && rates.cache_write_long >= rates.cache_write,
                "{model}"
            );
            assert!(rates.output == 0 || rates.output >= rates.input, "{model}");
        }
        assert!(
            long.is_none_or(|long| long.input > price.rates.input && long.output > price.rates.output),
            "{model}"
        );
    }
    for source in sources() {
        assert!(source.as_of.starts_with("202") && !source.list.is_empty(), "{source:?}");
    }
}

#[test]
fn a_snapshot_costs_what_its_model_costs() {
    for (snapshot, model) in [
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("gpt-4-0613", "gpt-4"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("mistral-large-2411", "mistral-large"),
        ("google/gemini-2.5-pro", "gemini-2.5-pro"),
        ("o1-preview-2024-09-12", "o1"),
    ] {
        assert!(price(model).is_some(), "{model}");
        assert_eq!(price(snapshot), price(model), "{snapshot}");
    }
}

#[test]
fn models_that_begin_alike_are_not_mistaken_for_each_other() {
    assert_eq!((input_of("gpt-4o"), input_of("gpt-4o-mini")), (Some(2_500_000), Some(150_000)));
    assert_eq!(
        (input_of("o1"), input_of("o1-pro"), input_of("o1-mini")),
        (Some(15_000_000), Some(150_000_000), Some(1_100_000))
    );
    assert_eq!(input_of("gpt-4o-2024-05-13"), Some(5_000_000));
    assert_eq!(
        (input_of("claude-opus-4-1"), input_of("claude-opus-4-5")),
        (Some(15_000_000), Some(5_000_000))
    );
    assert_eq!((input_of("gpt-4-1106-preview"), input_of("gpt-4")), (Some(10_000_000), Some(30_000_000)));
    for unknown in [
        "gpt-4o-maxi",
        "gpt",
        "claude",
        "claude-opus-4-11",
        "gpt-4o-",
        "",
        "-2024-08-06",
        "ft:gpt-4o-2024-08-06:org::x",
    ] {
        assert_eq!(price(unknown), None, "{unknown}");
    }
}

/// Calls whose sums were published to the cent: https://wandb.ai/wandb/compare-claude-caching.
#[test]
fn published_sums_come_out() {
    let cents = |model: &str, usage: Usage| (price(model).unwrap().cost(&usage).0 + 5_000) / 10_000;
    assert_eq!(cents("claude-3-5-sonnet", usage(908_434, 3_190, 0, 0)), 277);
    assert_eq!(cents("claude-3-5-sonnet", usage(3_699 + 753_060 + 150_612, 2_725, 753_060, 150_612)), 84);
    assert_eq!(cents("claude-3-haiku", usage(907_452, 2_158, 0, 0)), 23);
    assert_eq!(cents("claude-3-haiku", usage(2_693 + 753_060 + 150_612, 1_787, 753_060, 150_612)), 7);
}

#[test]
fn every_kind_of_token_has_its_own_price() {
    let million = 1_000_000;
    let sonnet = price("claude-sonnet-4-6").unwrap();
    let all = Usage {
        input_tokens: 4 * million,
        output_tokens: 2 * million,
        cache_read_tokens: million,
        cache_write_tokens: million,
        cache_write_long_tokens: million,
        reasoning_tokens: million,
    };
    assert_eq!(sonnet.cost(&all), MicroUsd(3_000_000 + 300_000 + 3_750_000 + 6_000_000 + 30_000_000));
}

#[test]
fn all_of_a_long_request_costs_the_higher_price() {
    let sonnet = price("claude-sonnet-4-5").unwrap();
    assert_eq!(sonnet.cost(&usage(200_000, 0, 0, 0)), MicroUsd(600_000));
    assert_eq!(sonnet.cost(&usage(200_001, 1_000, 0, 0)), MicroUsd(1_200_006 + 22_500));
}

#[test]
fn a_sum_is_rounded_once_and_half_up() {
    let price = Price::from(Rates::new(1, 1, None, None, None, None));
    let cost = |input, output| price.cost(&usage(input, output, 0, 0)).0;
    // Rounded each, these two halves would make two.
    assert_eq!((cost(500_000, 500_000), cost(500_000, 0), cost(499_999, 0)), (1, 1, 0));
}

#[test]
fn a_configured_price_comes_before_the_built_in_one() {
    let mine = Price::from(Rates::new(7, 9, None, None, None, None));
    let list = PriceList::new([("gpt-4o".to_owned(), mine), ("llama".to_owned(), mine)]);
    assert_eq!(list.find("gpt-4o"), Some(&mine));
    assert_eq!(list.find("gpt-4o-2024-05-13"), Some(&mine));
    assert_eq!(list.find("llama"), Some(&mine));
    assert_eq!(list.find("gpt-4o-mini"), price("gpt-4o-mini"));
    assert_eq!(list.find("nobody"), None);
}

fn any_usage() -> impl Strategy<Value = Usage> {
    let tokens = || 0..2_000_000u64;
    (tokens(), tokens(), tokens(), tokens(), tokens(), tokens()).prop_map(
        |(input, output, read, write, long, thoughts)| Usage {
            input_tokens: input + read + write + long,
            output_tokens: output + thoughts,
            cache_read_tokens: read,
            cache_write_tokens: write,
            cache_write_long_tokens: long,
            reasoning_tokens: thoughts,
        },
    )
}

proptest! {
    #[test]
    fn more_tokens_never_cost_less(used in any_usage(), more in any_usage()) {
        let sum = Usage {
            input_tokens: used.input_tokens + more.input_tokens,
            output_tokens: used.output_tokens + more.output_tokens,
            cache_read_tokens: used.cache_read_tokens + more.cache_read_tokens,
            cache_write_tokens: used.cache_write_tokens + more.cache_write_tokens,
            cache_write_long_tokens: used.cache_write_long_tokens + more.cache_write_long_tokens,
            reasoning_tokens: used.reasoning_tokens + more.reasoning_tokens,
        };
        for (model, price) in ROWS.iter() {
            prop_assert!(price.cost(&sum) >= price.cost(&used), "{}", model);
        }
    }

    #[test]
    fn no_token_is_paid_for_twice(used in any_usage()) {
        // At one price for everything, where tokens come from makes no difference to the sum.
        let flat = Price::from(Rates::new(3_000_000, 3_000_000, None, None, None, None));
        prop_assert_eq!(flat.cost(&used).0 as u64, (used.input_tokens + used.output_tokens) * 3);
    }

    #[test]
    fn a_cache_makes_a_call_cheaper_by_exactly_the_difference(input in 0..1_000_000u64, read in 0..1_000_000u64) {
        let price = price("gpt-4o").unwrap();
        let (without, with) = (usage(input + read, 0, 0, 0), usage(input + read, 0, read, 0));
        let saved = (price.cost(&without).0 - price.cost(&with).0) as f64;
        prop_assert!((saved - read as f64 * 1.25).abs() <= 1.0);
    }

    #[test]
    fn no_usage_makes_the_sum_overflow(tokens in any::<[u64; 6]>()) {
        let [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_long_tokens, reasoning_tokens] = tokens;
        let usage = Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_long_tokens, reasoning_tokens };
        for (_, price) in ROWS.iter() {
            prop_assert!(price.cost(&usage).0 >= 0);
        }
    }

    #[test]
    fn a_date_at_the_end_changes_no_price(year in 2020..2030u32, month in 1..13u32, day in 1..29u32) {
        for model in ["gpt-4o-mini", "claude-sonnet-5", "o3", "gpt-5.4"] {
            prop_assert_eq!(price(&format!("{model}-{year}-{month:02}-{day:02}")), price(model));
            prop_assert_eq!(price(&format!("{model}-{year}{month:02}{day:02}")), price(model));
        }
    }
}
