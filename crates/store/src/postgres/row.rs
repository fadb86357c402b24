//! Rows and columns: between our types and what the driver takes.

use schema::{Digest, Id, Prefix, Seq, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use crate::error::StoreError;

/// A bigint of `number`. Beyond what a bigint holds nothing is ever stored, so the largest one compares rightly.
pub(super) fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn millis(at: Timestamp) -> i64 {
    bigint(at.as_millis())
}

/// The JSON of `value`. Rows, events and payloads are JSON already, so this does not fail.
pub(super) fn json(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(value).map_err(StoreError::unavailable)
}

/// A column that must hold what we wrote there; what else it holds is damage, named by table and column.
pub(super) struct Column<'a> {
    row: &'a Row,
    table: &'static str,
    name: &'static str,
}

/// The column `name` of a row of `table`.
pub(super) fn column<'a>(row: &'a Row, table: &'static str, name: &'static str) -> Column<'a> {
    Column { row, table, name }
}

impl<'a> Column<'a> {
    pub(super) fn id<K: Prefix>(&self) -> Result<Id<K>, StoreError> {
        self.bytes()?.try_into().map(Id::from_bytes).map_err(|_| self.damaged("is no id"))
    }

    pub(super) fn optional_id<K: Prefix>(&self) -> Result<Option<Id<K>>, StoreError> {
        let bytes: Option<&[u8]> = self.row.try_get(self.name)?;
        bytes.map(|_| self.id()).transpose()
    }

    pub(super) fn digest(&self) -> Result<Digest, StoreError> {
        self.bytes()?.try_into().map(Digest::from_bytes).map_err(|_| self.damaged("is no digest"))
    }

    pub(super) fn optional_digest(&self) -> Result<Option<Digest>, StoreError> {
        self.optional_blob()?.map(|_| self.digest()).transpose()
    }

    pub(super) fn number<T: TryFrom<i64>>(&self) -> Result<T, StoreError> {
        let number: i64 = self.row.try_get(self.name)?;
        T::try_from(number).map_err(|_| self.damaged("is out of range"))
    }

    pub(super) fn seq(&self) -> Result<Seq, StoreError> {
        self.number().map(Seq)
    }

    pub(super) fn time(&self) -> Result<Timestamp, StoreError> {
        Timestamp::from_millis(self.number()?).map_err(|_| self.damaged("is no time"))
    }

    pub(super) fn optional_time(&self) -> Result<Option<Timestamp>, StoreError> {
        let millis: Option<i64> = self.row.try_get(self.name)?;
        millis.map(|_| self.time()).transpose()
    }

    pub(super) fn text(&self) -> Result<String, StoreError> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| self.damaged("is no UTF-8"))
    }

    pub(super) fn optional_text(&self) -> Result<Option<String>, StoreError> {
        let bytes: Option<&[u8]> = self.row.try_get(self.name)?;
        bytes.map(|_| self.text()).transpose()
    }

    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        serde_json::from_slice(self.bytes()?)
            .map_err(|error| self.damaged(&format!("cannot be read: {error}")))
    }

    pub(super) fn damaged(&self, how: &str) -> StoreError {
        StoreError::Damaged(format!("column {}.{} {how}", self.table, self.name))
    }

    pub(super) fn blob(&self) -> Result<&'a [u8], StoreError> {
        self.bytes()
    }

    pub(super) fn optional_blob(&self) -> Result<Option<&'a [u8]>, StoreError> {
        Ok(self.row.try_get(self.name)?)
    }

    fn bytes(&self) -> Result<&'a [u8], StoreError> {
        Ok(self.row.try_get(self.name)?)
    }
}
