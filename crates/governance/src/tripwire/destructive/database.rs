//! Clients of databases: what they are told to run.

use super::command::Call;
use super::{Category, Findings, Severity, sql};

/// Whether the program sends SQL to a database.
pub(super) fn is_client(name: &str) -> bool {
    matches!(
        name,
        "psql"
            | "mysql"
            | "mariadb"
            | "sqlite3"
            | "sqlite"
            | "sqlcmd"
            | "cqlsh"
            | "clickhouse-client"
            | "bq"
            | "snowsql"
            | "duckdb"
            | "cockroach"
    )
}

/// Tells what the client would run.
pub(super) fn judge(call: &Call<'_>, told: &mut Findings) {
    match call.name.as_str() {
        name if is_client(name) => {
            for argument in &call.arguments {
                let text = argument
                    .split_once('=')
                    .filter(|(option, _)| option.starts_with("--"))
                    .map_or(*argument, |(_, text)| text);
                sql::judge(text, told);
            }
        }
        "dropdb" => {
            told.push((Category::Database, Severity::Grave, "deletes a database"));
        }
        "dropuser" => {
            told.push((Category::Database, Severity::Risky, "takes away an account of a database"));
        }
        "mysqladmin" if call.operands().any(|word| word.eq_ignore_ascii_case("drop")) => {
            told.push((Category::Database, Severity::Grave, "deletes a database"));
        }
        "redis-cli" | "valkey-cli"
            if call
                .operands()
                .any(|word| matches!(word.to_ascii_lowercase().as_str(), "flushall" | "flushdb")) =>
        {
            told.push((Category::Database, Severity::Grave, "empties a database"));
        }
        "rails" | "rake" | "bin/rails"
            if call
                .operands()
                .any(|word| matches!(word, "db:drop" | "db:reset" | "db:purge" | "db:migrate:reset")) =>
        {
            told.push((Category::Database, Severity::Grave, "deletes a database"));
        }
        "prisma" if call.operands().any(|word| word == "reset") => {
            told.push((Category::Database, Severity::Grave, "deletes a database"));
        }
        "curl" | "http" | "wget" => judge_request(call, told),
        _ => {}
    }
}

/// A request that deletes at an address whose last part names everything.
fn judge_request(call: &Call<'_>, told: &mut Findings) {
    let mut words = call.arguments.iter();
    let deletes = words.any(|word| {
        let word = word.to_ascii_lowercase();
        word == "delete" || word == "-xdelete" || word == "--request=delete"
    });
    if deletes {
        let everything = call.operands().any(|word| word.ends_with("/_all") || word.ends_with("/*"));
        let severity = if everything { Severity::Grave } else { Severity::Risky };
        told.push((Category::Database, severity, "asks a service to delete"));
    }
}
