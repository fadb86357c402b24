//! Providers: whoever answers a model request.
//!
//! [`mock`] is the built-in one: deterministic, offline and in need of no key, so that the whole way of a request can be
//! walked on a bare machine. [`model`] says who serves the model that was asked for, [`pricing`] what a call cost,
//! [`tokens`] how long a text is, and [`upstream`] is the way out to everybody else.

pub mod mock;
pub mod model;
pub mod pricing;
pub mod tokens;
pub mod upstream;
