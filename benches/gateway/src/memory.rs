//! What ours holds after many requests: whether it grows.

use serde::Serialize;

use crate::cell::SAT;
use crate::load::Until;
use crate::target::Target;

/// Memory at two marks.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Memory {
    /// Requests answered, and the megabytes held then; at a fifth of them and at the end.
    pub(crate) marks: Vec<(u64, f64)>,
}

impl Memory {
    /// Puts `requests` on the target, 64 connections at a time.
    pub(crate) fn measure(target: &Target, requests: u64) -> Result<Self, String> {
        let (mut asked, mut marks) = (0, Vec::new());
        for mark in [requests / 5, requests] {
            let figures =
                target.measure(&SAT, Until::Requests(mark - asked)).ok_or("the target cannot be asked")??;
            if !figures.is_sound() {
                return Err(format!(
                    "{} of {mark} requests failed: {:?}",
                    figures.errors, figures.first_error
                ));
            }
            asked = mark;
            marks.push((asked, figures.rss_mb.unwrap_or_default()));
            eprintln!("after {asked} requests: {:.1} MB", figures.rss_mb.unwrap_or_default());
        }
        Ok(Self { marks })
    }

    /// Megabytes at the end.
    pub(crate) fn last_mb(&self) -> f64 {
        self.marks.last().map(|(_, held)| *held).unwrap_or_default()
    }

    /// The end beside the first mark.
    pub(crate) fn growth(&self) -> Option<f64> {
        let (_, first) = self.marks.first()?;
        Some(self.last_mb() / first)
    }
}
