//! A text that comes in pieces.

use std::sync::Arc;

use crate::detectors::Detectors;
use crate::finding::Finding;
use crate::scan::Scan;

/// The scan of one text that comes in pieces. What is found does not depend on where the pieces end.
#[derive(Debug)]
pub struct Stream {
    detectors: Arc<Detectors>,
    scan: Scan,
}

impl Stream {
    pub(crate) fn new(detectors: Arc<Detectors>) -> Self {
        let scan = Scan::new(&detectors, 0);
        Self { detectors, scan }
    }

    /// Takes in the next piece, and adds to `found` what is now certain.
    pub fn push(&mut self, text: &str, found: &mut Vec<Finding>) {
        self.scan.push(&self.detectors, text, found);
    }

    /// Says that nothing follows, and adds what is left to `found`.
    pub fn finish(&mut self, found: &mut Vec<Finding>) {
        self.scan.finish(&self.detectors, found);
    }

    /// How much of the stream is decided, in bytes and on a character boundary: every finding that was reported ends at or before this,
    /// and none will come that begins before it.
    pub fn settled(&self) -> usize {
        self.scan.settled()
    }
}
