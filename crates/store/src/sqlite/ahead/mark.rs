//! How far the journal is in the database, as the database says.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schema::Seq;

use super::super::row::{Sql, damaged};
use super::super::sum::sum;
use super::journal::Name;

/// The name that the database shares with its journal, and the number of the newest commit that is in it. A database that has
/// none gets a name.
pub(super) fn find_or_begin(connection: &Connection) -> rusqlite::Result<(Name, u64)> {
    if let Some(found) = find(connection)? {
        return Ok(found);
    }
    let name: Name =
        crypto::random::bytes().map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    connection.execute(
        "INSERT INTO ahead (one, name, applied, sum) VALUES (1, ?, 0, ?)",
        params![name, checksum(&name, 0)],
    )?;
    Ok((name, 0))
}

/// The same, if the database has a name.
pub(super) fn find(connection: &Connection) -> rusqlite::Result<Option<(Name, u64)>> {
    connection.prepare_cached("SELECT name, applied, sum FROM ahead")?.query_row([], parse).optional()
}

/// The row, if it is as it was written.
pub(in super::super) fn parse(row: &Row<'_>) -> rusqlite::Result<(Name, u64)> {
    let (name, Sql(Seq(applied)), written): (Name, Sql<Seq>, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
    if checksum(&name, applied) == written {
        return Ok((name, applied));
    }
    Err(damaged("how far the journal is in the database is not as it was written"))
}

/// Notes that all up to this number is in the database.
pub(super) fn put(connection: &Connection, applied: u64) -> rusqlite::Result<()> {
    let Some((name, _)) = find(connection)? else {
        return Err(damaged("the database has lost the name of its journal"));
    };
    connection
        .prepare_cached("UPDATE ahead SET applied = ?, sum = ?")?
        .execute(params![Sql(Seq(applied)), checksum(&name, applied)])
        .map(drop)
}

fn checksum(name: &Name, applied: u64) -> u32 {
    sum(&[&name[..], &applied.to_be_bytes()], "")
}
