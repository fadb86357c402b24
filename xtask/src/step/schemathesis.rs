//! The REST API does what its own description says: schemathesis reads `/api/v1/openapi.json` of a running Punk and tries
//! every operation with inputs that fit the description and inputs that do not.
//!
//! A server error, a status that is not described, and an answer of another shape than the described are failures.

use std::fs;
use std::time::Duration;

use super::{Chosen, Ending, Outcome, clients, packages};
use crate::junit;
use crate::process::Trouble;
use crate::world::World;

const DESCRIPTION: &str = "/api/v1/openapi.json";
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance";
const LIMIT: Duration = Duration::from_secs(420);

pub(super) fn run(world: &World, _: &Chosen) -> Outcome {
    match tried(world) {
        Ok(outcome) => outcome,
        Err(reason) => Outcome::failed(reason),
    }
}

fn tried(world: &World) -> Result<Outcome, String> {
    clients::build(world)?;
    let python = packages::python(world)?;
    let punk = clients::serve(world, "schemathesis-punk", &clients::configuration(clients::MOCK))?;
    let report = world.folder().join("schemathesis.xml");
    let mut command = world.command(python.join("schemathesis"));
    command.current_dir(world.folder());
    command.args(["run", &format!("{}{DESCRIPTION}", punk.url)]);
    command.args([
        "--header",
        &format!("Authorization: Bearer {}", clients::CALLERS_KEY),
        "--checks",
        CHECKS,
    ]);
    // It never ends, and each try of it would be waited for.
    command.args(["--exclude-path", "/api/v1/events"]);
    // The same inputs each time: what fails here fails for whoever looks into it.
    // One worker: CPython before 3.12 counts how deep `ast.parse` is for the whole interpreter, so that two threads which
    // describe a strategy at the same moment end in "AST constructor recursion depth mismatch" now and then.
    command.args(["--seed", "1", "--max-examples", "25", "--workers", "1", "--no-color"]);
    command.arg(format!("--report-junit-path={}", report.display()));
    let result = world.run_within(&mut command, Some(LIMIT));
    let mut tests = fs::read_to_string(&report).map(|xml| junit::tests(&xml)).unwrap_or_default();
    for test in &mut tests {
        test.name = format!("schemathesis {}", test.name);
    }
    let failed = tests.iter().filter(|test| test.failed).count();
    let ending = match result {
        Ok(()) if tests.is_empty() => Ending::Failed("the description has no operation".into()),
        Ok(()) => Ending::Passed,
        Err(Trouble::Failed(_)) if failed > 0 => {
            Ending::Failed(format!("{failed} of {} operations do not do what is described", tests.len()))
        }
        Err(trouble) => Ending::Failed(trouble.to_string()),
    };
    Ok(Outcome { ending, tests, notes: Vec::new() })
}
