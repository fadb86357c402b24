//! The lists: the built-in one, and one with configured prices over it.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use super::cost::{Long, Price, Rates};
use super::find::names;

/// Where prices were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Whose prices.
    pub vendor: String,
    /// The vendor's list.
    pub list: String,
    /// When it was like this.
    pub as_of: String,
}

/// Configured prices over the built-in ones.
#[derive(Debug, Clone, Default)]
pub struct PriceList(HashMap<String, Price>);

impl PriceList {
    /// The built-in list with `configured` prices over it.
    pub fn new(configured: impl IntoIterator<Item = (String, Price)>) -> Self {
        Self(configured.into_iter().collect())
    }

    /// What `model` costs, by its canonical name; nothing when that is not known. A configured price for any name of the
    /// model comes before the built-in ones.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<&Price> {
        names(model).into_iter().find_map(|name| self.0.get(name)).or_else(|| price(model))
    }
}

/// What `model` costs by the built-in list, by its canonical name; nothing when that is not known.
#[must_use]
pub fn price(model: &str) -> Option<&'static Price> {
    names(model).into_iter().find_map(|name| BUILT_IN.prices.get(name))
}

/// Where and when the built-in prices were read, a vendor each.
#[must_use]
pub fn sources() -> &'static [Source] {
    &BUILT_IN.sources
}

/// The models of a vendor that the built-in list has, in the order of their names.
#[must_use]
pub fn models(vendor: &str) -> &'static [String] {
    BUILT_IN.models.get(vendor).map_or(&[], Vec::as_slice)
}

#[derive(Default)]
struct BuiltIn {
    sources: Vec<Source>,
    /// By vendor.
    models: HashMap<String, Vec<String>>,
    prices: HashMap<String, Price>,
}

// A test reads the file strictly; here a row that cannot be read is a price that is not known.
static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(|| read(include_str!("prices.toml")).unwrap_or_default());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vendor {
    list: String,
    as_of: String,
    models: BTreeMap<String, Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    input: f64,
    #[serde(default)]
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_long: Option<f64>,
    long: Option<LongRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongRow {
    above: u64,
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_long: Option<f64>,
}

fn read(text: &str) -> Result<BuiltIn, toml::de::Error> {
    let vendors: BTreeMap<String, Vendor> = toml::from_str(text)?;
    let mut built_in = BuiltIn::default();
    for (vendor, Vendor { list, as_of, models }) in vendors {
        built_in.models.insert(vendor.clone(), models.keys().cloned().collect());
        built_in.sources.push(Source { vendor, list, as_of });
        built_in.prices.extend(models.into_iter().map(|(model, row)| (model, row.price())));
    }
    Ok(built_in)
}

impl Row {
    fn price(&self) -> Price {
        let part = |dollars: Option<f64>| dollars.map(micros);
        let rates = Rates::new(
            micros(self.input),
            micros(self.output),
            part(self.cache_read),
            part(self.cache_write),
            part(self.cache_write_long),
            None,
        );
        let long = self.long.as_ref().map(|long| Long {
            above: long.above,
            rates: Rates::new(
                micros(long.input),
                micros(long.output),
                part(long.cache_read),
                part(long.cache_write),
                part(long.cache_write_long),
                None,
            ),
        });
        Price { rates, long }
    }
}

/// Exact for the few digits that prices have: a double is off by far less than half a millionth.
fn micros(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

#[cfg(test)]
pub(super) mod checks {
    use super::*;

    /// Every row of the built-in list, or why it cannot be read.
    pub(crate) fn rows() -> Result<Vec<(String, Price)>, String> {
        read(include_str!("prices.toml"))
            .map(|list| list.prices.into_iter().collect())
            .map_err(|error| error.to_string())
    }
}
