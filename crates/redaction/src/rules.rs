//! The rules that are built in.

use crate::detector::Detector;
use crate::{pii, placeholder, secret};

/// All of them. A family of rules joins here.
pub(crate) fn built_in() -> impl Iterator<Item = &'static Detector> {
    [placeholder::DETECTORS, secret::DETECTORS, pii::DETECTORS].into_iter().flatten()
}
