//! What a run has found, for people, for machines, and as the page of the documentation. Pure.

use std::fmt::Write as _;

use serde::Serialize;

use crate::bars::{Bar, Limit, Standing};
use crate::cell::{BIG, C1, CELLS, Cell, HIT1, M1, S1, SAT, SSAT, X1};
use crate::machine::Machine;
use crate::memory::Memory;
use crate::sample::{Figure, Samples};

/// All of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) version: String,
    pub(crate) machine: Machine,
    pub(crate) seconds_per_cell: f64,
    #[serde(flatten)]
    pub(crate) samples: Samples,
    pub(crate) bars: Vec<Bar>,
    pub(crate) proof: Vec<String>,
    /// Whose figures are there, with their releases.
    pub(crate) peers: Vec<&'static str>,
    /// Who or what is missing, and why.
    pub(crate) not_measured: Vec<(String, String)>,
    pub(crate) memory: Option<Memory>,
}

struct Column {
    title: &'static str,
    cell: &'static Cell,
    figure: Figure,
}

const fn column(title: &'static str, cell: &'static Cell, figure: Figure) -> Column {
    Column { title, cell, figure }
}

const CPU: Figure = |figures| figures.cpu;
const P50: Figure = |figures| Some(figures.p50);

const REQUESTS: [Column; 8] = [
    column("c1 p50", &C1, P50),
    column("c1 p99", &C1, |figures| Some(figures.p99)),
    column("c1 CPU", &C1, CPU),
    column("sat requests/s", &SAT, |figures| Some(figures.per_second)),
    column("sat CPU", &SAT, CPU),
    column("sat p99", &SAT, |figures| Some(figures.p99)),
    column("sat RSS MB", &SAT, |figures| figures.rss_mb),
    column("big CPU", &BIG, CPU),
];

const STREAMS: [Column; 6] = [
    column("s1 first byte p50", &S1, |figures| Some(figures.first_byte_p50)),
    column("s1 gap p99", &S1, |figures| Some(figures.gap_p99)),
    column("s1 final gap p50", &S1, |figures| Some(figures.final_gap_p50)),
    column("s1 final gap p99", &S1, |figures| Some(figures.final_gap_p99)),
    column("ssat streams/s", &SSAT, |figures| Some(figures.per_second)),
    column("ssat CPU", &SSAT, CPU),
];

const REST: [Column; 6] = [
    column("m1 p50", &M1, P50),
    column("m1 CPU", &M1, CPU),
    column("hit1 p50", &HIT1, P50),
    column("hit1 CPU", &HIT1, CPU),
    column("x1 p50", &X1, P50),
    column("x1 CPU", &X1, CPU),
];

impl Report {
    /// Whether every bar was measured and met.
    pub(crate) fn holds(&self) -> bool {
        self.bars.iter().all(|bar| bar.standing == Standing::Met)
    }

    /// For people, on a terminal.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("\n{}\n\n{}\n{}", self.circumstances(), self.tables(), self.bar_table());
        for line in &self.proof {
            writeln!(text, "proven: {line}").ok();
        }
        for (name, reason) in &self.not_measured {
            writeln!(text, "not measured: {name}: {reason}").ok();
        }
        text
    }

    /// The page `docs/performance.md`.
    pub(crate) fn page(&self) -> String {
        let list = |lines: &mut dyn Iterator<Item = String>| {
            lines.map(|line| format!("- {line}\n")).collect::<String>().trim_end().to_owned()
        };
        let missing = match self.not_measured.as_slice() {
            [] => "- Nothing was left out.".to_owned(),
            missing => list(&mut missing.iter().map(|(name, reason)| format!("{name}: {reason}"))),
        };
        include_str!("performance.md")
            .replace("{circumstances}", &self.circumstances())
            .replace(
                "{cells}",
                &list(&mut CELLS.iter().map(|cell| format!("`{}`: {}", cell.name, cell.about))),
            )
            .replace("{tables}", self.tables().trim_end())
            .replace("{bars}", self.bar_table().trim_end())
            // A list inside an item of another.
            .replace("{proof}", &format!("  {}", list(&mut self.proof.iter().cloned()).replace('\n', "\n  ")))
            .replace("{missing}", &missing)
    }

    fn circumstances(&self) -> String {
        let Machine { processor, cores, memory_gb, kernel } = &self.machine;
        let loads = || self.samples.samples.iter().map(|sample| sample.load_average);
        let (least, most) = (loads().fold(f64::INFINITY, f64::min), loads().fold(0.0, f64::max));
        let commit = |of: fn(&crate::commit::Commit) -> f64| {
            crate::load::median(self.samples.commits.iter().map(of)).unwrap_or_default()
        };
        format!(
            "{}, {processor}, {cores} cores, {memory_gb} GB, Linux {kernel}; load average {least:.1} to {most:.1}. \
             Repeats: {}, {} s a cell. A bare commit: {:.0} µs in SQLite, {:.0} µs with fdatasync. Peers: {}.",
            self.version,
            self.samples.commits.len(),
            self.seconds_per_cell,
            commit(|commit| commit.sqlite),
            commit(|commit| commit.fdatasync),
            if self.peers.is_empty() { "none".to_owned() } else { self.peers.join(", ") },
        )
    }

    fn tables(&self) -> String {
        let tables =
            [table(&self.samples, &REQUESTS), table(&self.samples, &STREAMS), table(&self.samples, &REST)];
        let mut text = tables.join("\n");
        if let Some(memory) = &self.memory {
            text += "\n";
            for (requests, held) in &memory.marks {
                writeln!(text, "Memory of ours after {requests} requests: {held:.1} MB.").ok();
            }
        }
        text
    }

    fn bar_table(&self) -> String {
        let rows = self.bars.iter().map(|bar| {
            let figure = bar.figure.map_or("–".to_owned(), |figure| number(figure) + " " + bar.unit);
            let limit = match bar.limit {
                Limit::AtMost(limit) => format!("≤ {limit}"),
                Limit::AtLeast(limit) => format!("≥ {limit}"),
            };
            let standing = match bar.standing {
                Standing::Met => "met",
                Standing::Missed => "MISSED",
                Standing::NotMeasured => "not measured",
            };
            vec![bar.name.to_owned(), figure, limit, standing.to_owned()]
        });
        let titles = ["bar", "figure", "allowed", ""].map(str::to_owned).to_vec();
        markdown(&std::iter::once(titles).chain(rows).collect::<Vec<_>>())
    }
}

/// A row for each target that has any of the figures.
fn table(samples: &Samples, columns: &[Column]) -> String {
    let titles = std::iter::once(String::new()).chain(columns.iter().map(|column| column.title.to_owned()));
    let mut rows = vec![titles.collect::<Vec<_>>()];
    for target in samples.targets() {
        let figures: Vec<Option<f64>> =
            columns.iter().map(|column| samples.figure(target, column.cell, column.figure)).collect();
        if figures.iter().any(Option::is_some) {
            let told = figures.into_iter().map(|figure| figure.map_or("–".to_owned(), number));
            rows.push(std::iter::once(target.to_owned()).chain(told).collect());
        }
    }
    markdown(&rows)
}

/// Three digits that mean something are enough.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A table that can be read as it stands; the first row has the titles.
fn markdown(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            let padded = if column == 0 { format!("{cell}{padding}") } else { format!("{padding}{cell}") };
            write!(text, "| {padded} ").ok();
        }
        text += "|\n";
        if index == 0 {
            for (column, width) in widths.iter().enumerate() {
                let rule = "-".repeat(width + 1);
                text += &if column == 0 { format!("|{rule}-") } else { format!("|{rule}:") };
            }
            text += "|\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::sample::tests::{COMMIT, sample};

    #[test]
    fn the_table_has_medians_and_leaves_out_who_was_not_asked() {
        let mut samples = Samples { commits: vec![COMMIT; 3], ..Samples::default() };
        for (repeat, p50) in [60.0, 50.0, 900.0].into_iter().enumerate() {
            samples.samples.push(sample("nginx", &C1, repeat, p50, 30.25));
            samples.samples.push(sample("peer", &SAT, repeat, p50, 1234.5));
        }
        let columns = [column("p50", &C1, P50), column("CPU", &C1, CPU)];
        expect![[r#"
            |       |  p50 |  CPU |
            |-------|-----:|-----:|
            | nginx | 60.0 | 30.2 |
        "#]]
        .assert_eq(&table(&samples, &columns));
    }

    #[test]
    fn the_page_has_all_of_a_report() {
        let report = Report {
            version: "punk 0.1.0".to_owned(),
            machine: Machine { processor: "P".to_owned(), cores: 2, memory_gb: 8, kernel: "6".to_owned() },
            seconds_per_cell: 3.0,
            samples: Samples { samples: vec![sample("ours", &C1, 0, 1.0, 2.0)], commits: vec![COMMIT] },
            bars: Vec::new(),
            proof: vec!["seen".to_owned()],
            peers: Vec::new(),
            not_measured: vec![("peer".to_owned(), "gone".to_owned())],
            memory: None,
        };
        let page = report.page();
        assert!(!page.contains('{'), "everything is filled in");
        for part in ["punk 0.1.0, P, 2 cores", "| ours |", "- seen", "- peer: gone"] {
            assert!(page.contains(part), "{part}");
        }
    }
}
