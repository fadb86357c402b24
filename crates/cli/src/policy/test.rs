//! `punk policy test`: whether policies decide as grids expect.

use super::check::counted;
use super::files::{self, Read};
use super::grid::Grid;
use super::told;
use crate::answer::Answer;
use crate::args::{Common, TestArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use governance::{PolicySet, decide};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How names of grids end.
const ENDING: &str = "grid";

/// A row that was decided in another way.
struct Difference {
    grid: String,
    line: usize,
    row: String,
    /// Nothing, if nothing was expected yet.
    expected: Option<String>,
    decided: String,
}

pub(super) fn run(common: &Common, args: &TestArgs) -> Result<Answer, Failure> {
    let paths: Vec<PathBuf> = args.policies.clone().into_iter().collect();
    let Read { set, .. } = files::read(common, &paths)?;
    let grids = match &args.grids[..] {
        [] => in_folder(&args.policies.clone().map_or_else(|| files::folder(common), Ok)?)?,
        named => named.to_vec(),
    };
    let (mut rows, mut differences, mut changed) = (0, Vec::new(), Vec::new());
    for path in &grids {
        let mut grid = read(path)?;
        let before = differences.len();
        rows += decide_all(&set, &mut grid, path, &mut differences)?;
        if differences.len() > before {
            changed.push((path, grid));
        }
    }
    if args.update {
        // All of them were read and decided: nothing is left half done by a grid that cannot be read.
        for (path, grid) in &changed {
            write(path, &grid.to_string())?;
        }
    }
    Ok(answer(rows, grids.len(), &differences, args.update))
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let grids = if folder.is_dir() { files::listed(folder, &[ENDING])? } else { Vec::new() };
    if grids.is_empty() {
        let message = format!("there are no grids in {}", folder.display());
        return Err(Failure::new(Exit::No, "punk_no_grids", message)
            .hint("write one as docs/how-to/policies.md shows, with a name that ends in .grid"));
    }
    Ok(grids)
}

fn read(path: &Path) -> Result<Grid, Failure> {
    Grid::parse(&files::text(path)?)
        .map_err(|error| invalid(path, &format!("{}:{}: {}", error.line, error.column, error.message)))
}

fn invalid(path: &Path, what: &str) -> Failure {
    Failure::new(Exit::No, "punk_grid_invalid", format!("{}:{what}", path.display()))
        .hint("docs/reference/policies.md has everything that a grid can say")
}

/// Decides every row, and has each expect what was decided. Returns how many there are.
fn decide_all(
    set: &PolicySet,
    grid: &mut Grid,
    path: &Path,
    differences: &mut Vec<Difference>,
) -> Result<usize, Failure> {
    let mut rows = 0;
    for row in grid.rows_mut() {
        rows += 1;
        let refused = |message: &str| invalid(path, &format!("{}: {message}", row.line));
        let action = row.situation.action().ok_or_else(|| refused("no action is said"))?;
        let facts = row.situation.facts(set, action).map_err(|message| refused(&message))?;
        let verdict = decide(set, &facts, action);
        if row.expected.as_ref().is_some_and(|expected| expected.fits(&verdict)) {
            continue;
        }
        differences.push(Difference {
            grid: path.display().to_string(),
            line: row.line,
            row: row.shown().to_owned(),
            expected: row.expected.as_ref().map(ToString::to_string),
            decided: told(&verdict),
        });
        row.expect(&verdict);
    }
    Ok(rows)
}

/// Puts a text in the place of a file, whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| {
        Failure::new(Exit::Environment, "punk_unwritable", format!("{}: {error}", path.display()))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    let permissions = std::fs::metadata(path).map_err(unwritable)?.permissions();
    file.write_all(text.as_bytes())
        .and_then(|()| file.as_file().set_permissions(permissions))
        .and_then(|()| file.as_file().sync_all())
        .map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(())
}

fn answer(rows: usize, grids: usize, differences: &[Difference], updated: bool) -> Answer {
    let mut text = String::new();
    for Difference { grid, line, row, expected, decided } in differences {
        let expected = expected.as_deref().unwrap_or("nothing yet");
        text += &format!("{grid}:{line}: {row}\n  expected  {expected}\n  decided   {decided}\n");
    }
    let what = format!("{} in {}", counted(rows, "row", "rows"), counted(grids, "grid", "grids"));
    text += &match (differences.len(), updated) {
        (0, _) => format!("{what}, all decided as expected\n"),
        (count, true) => format!("{what}, {count} rewritten\n"),
        (1, false) => format!("{what}, 1 decided differently\n"),
        (count, false) => format!("{what}, {count} decided differently\n"),
    };
    let json = json!({
        "passed": differences.is_empty(), "updated": updated, "rows": rows, "grids": grids,
        "differences": differences.iter().map(described).collect::<Vec<_>>(),
    });
    let exit = if differences.is_empty() || updated { Exit::Success } else { Exit::No };
    Answer { text, json, exit }
}

fn described(difference: &Difference) -> Value {
    let Difference { grid, line, row, expected, decided } = difference;
    json!({ "grid": grid, "line": line, "row": row, "expected": expected, "decided": decided })
}
