//! The value of a field: its own, or one that somebody else holds as well.
//!
//! What was asked of a model can be long, and is still held by the call when it is recorded. Sharing it costs a counter;
//! copying it would cost its length.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A value that can be read and not changed.
#[derive(Debug, Clone)]
pub enum Said {
    /// Nobody else has it.
    Own(Value),
    /// Others may have it, too.
    Shared(Arc<Value>),
}

impl Deref for Said {
    type Target = Value;

    fn deref(&self) -> &Value {
        match self {
            Self::Own(value) => value,
            Self::Shared(value) => value,
        }
    }
}

impl From<Value> for Said {
    fn from(value: Value) -> Self {
        Self::Own(value)
    }
}

impl From<Arc<Value>> for Said {
    fn from(value: Arc<Value>) -> Self {
        Self::Shared(value)
    }
}

impl PartialEq for Said {
    /// What they say, whoever holds it.
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::Own)
    }
}
