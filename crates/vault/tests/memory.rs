//! The promises of a vault over the store in memory.

mod promises;

use std::sync::Arc;
use store::memory::MemoryStore;

promises::promises!(Arc::new(MemoryStore::new()));
