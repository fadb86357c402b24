//! Between SQL and our types.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use schema::{Digest, Id, Prefix, Seq, Timestamp};

use crate::error::{BoxError, StoreError};

/// What SQLite said, in the store's words: damage and a full disk are named as such, everything else may pass.
pub(super) fn unavailable(error: rusqlite::Error) -> StoreError {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    use rusqlite::ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase};
    // We wrote every column ourselves: one that cannot be read is not what we wrote.
    if let FromSqlConversionFailure(..)
    | InvalidColumnType(..)
    | IntegralValueOutOfRange(..)
    | Utf8Error(..) = error
    {
        return StoreError::Damaged(error.to_string());
    }
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => StoreError::Damaged(error.to_string()),
        Some(DiskFull) => StoreError::Full(error.into()),
        // The index of the write-ahead log is a file too, and could not grow.
        Some(_) if extended(&error) == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
            StoreError::Full(error.into())
        }
        _ => StoreError::unavailable(error),
    }
}

/// A row that is not what was written.
pub(super) fn damaged(what: impl Into<BoxError>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, what.into())
}

fn extended(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}

/// A value of ours in a column: ids and digests as bytes, places and times as integers.
pub(super) struct Sql<T>(pub(super) T);

impl<K: Prefix> ToSql for Sql<Id<K>> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.0.as_bytes())))
    }
}
impl<K: Prefix> FromSql for Sql<Id<K>> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?.try_into().map_err(|_| FromSqlError::InvalidType)?;
        Ok(Self(Id::from_bytes(bytes)))
    }
}
impl ToSql for Sql<Digest> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.0.as_bytes())))
    }
}
impl FromSql for Sql<Digest> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?.try_into().map_err(|_| FromSqlError::InvalidType)?;
        Ok(Self(Digest::from_bytes(bytes)))
    }
}
impl ToSql for Sql<Seq> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        integer(self.0.0)
    }
}
impl FromSql for Sql<Seq> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        unsigned(value).map(|seq| Self(Seq(seq)))
    }
}
impl ToSql for Sql<Timestamp> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        integer(self.0.as_millis())
    }
}
impl FromSql for Sql<Timestamp> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let millis = unsigned(value)?;
        Timestamp::from_millis(millis).map(Self).map_err(|_| FromSqlError::OutOfRange(0))
    }
}

pub(super) fn integer(number: u64) -> rusqlite::Result<ToSqlOutput<'static>> {
    let number =
        i64::try_from(number).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    Ok(ToSqlOutput::from(number))
}

pub(super) fn unsigned(value: ValueRef<'_>) -> FromSqlResult<u64> {
    let number = value.as_i64()?;
    u64::try_from(number).map_err(|_| FromSqlError::OutOfRange(number))
}
