//! Prices: what a call cost.
//!
//! [`price`] finds what a model costs in the built-in list, and [`Price::cost`] what a call of it came to. A
//! [`PriceList`] puts configured prices over the built-in ones. Whole numbers throughout: prices are millionths of a
//! dollar for a million tokens, a cost is summed up exactly and rounded once, half up, to a millionth of a dollar.
//!
//! `prices.toml` is the list, with where and when each vendor's part was read; `find.rs` says which row a model's id
//! belongs to; `cost.rs` does the sum.
//!
//! - A model without a row costs an unknown amount, which is not zero.
//! - No token is paid for twice: what came from the vendor's cache is not also other input.

mod cost;
mod find;
mod list;

pub use cost::{Long, Price, Rates};
pub use list::{PriceList, Source, models, price, sources};

#[cfg(test)]
mod tests;
