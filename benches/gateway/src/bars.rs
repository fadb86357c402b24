//! The bars: what ours must hold against nginx, the best peer and itself. Pure; a row each.

use serde::Serialize;

use crate::cell::{BIG, C1, HIT1, S1, SAT, SSAT, X1};
use crate::memory::Memory;
use crate::sample::{Figure, Repeat, Samples};
use crate::target::{BARE, DIRECT, NGINX, OURS, OURS_PLAIN};

/// How a bar stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Standing {
    Met,
    Missed,
    /// Somebody whom it compares with was not there.
    NotMeasured,
}

/// A bar, and what was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Bar {
    pub(crate) name: &'static str,
    pub(crate) figure: Option<f64>,
    pub(crate) limit: Limit,
    pub(crate) unit: &'static str,
    pub(crate) standing: Standing,
}

/// What is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

use Limit::{AtLeast, AtMost};

const CPU: Figure = |figures| figures.cpu;
const P50: Figure = |figures| Some(figures.p50);
const PER_SECOND: Figure = |figures| Some(figures.per_second);
const FIRST_BYTE: Figure = |figures| Some(figures.first_byte_p50);
const GAP: Figure = |figures| Some(figures.gap_p99);

fn bar(name: &'static str, figure: Option<f64>, limit: Limit, unit: &'static str) -> Bar {
    let standing = match (figure, limit) {
        (None, _) => Standing::NotMeasured,
        (Some(figure), AtMost(limit)) if figure <= limit => Standing::Met,
        (Some(figure), AtLeast(limit)) if figure >= limit => Standing::Met,
        _ => Standing::Missed,
    };
    Bar { name, figure, limit, unit, standing }
}

/// Every bar. Of the peers, whoever is best in a repeat counts in it.
pub(crate) fn judge(all: &Samples, memory: Option<&Memory>) -> Vec<Bar> {
    let others = [DIRECT, NGINX, BARE, OURS, OURS_PLAIN];
    let peers: Vec<&str> = all.targets().into_iter().filter(|name| !others.contains(name)).collect();
    let ratio = |make: &dyn Fn(Repeat<'_>) -> Option<(f64, f64)>| {
        all.median_of(|repeat| make(repeat).map(|(ours, theirs)| ours / theirs))
    };
    let to_nginx = |ours, cell, figure| {
        ratio(&|r| Some((r.figure(ours, cell, figure)?, r.figure(NGINX, cell, figure)?)))
    };
    let added = |r: Repeat<'_>, target| Some(r.figure(target, &C1, P50)? - r.figure(DIRECT, &C1, P50)?);
    let to_itself = |cell| ratio(&|r| Some((r.figure(OURS, cell, CPU)?, r.figure(OURS, &C1, CPU)?)));
    let mut bars = vec![
        bar("CPU of a proxied request beside nginx", to_nginx(OURS, &SAT, CPU), AtMost(2.0), "×"),
        bar(
            "CPU of a proxied request beside the best peer",
            ratio(&|r| Some((r.figure(OURS, &SAT, CPU)?, r.least(&peers, &SAT, CPU)?))),
            AtMost(0.5),
            "×",
        ),
        bar("requests/s at 64 connections beside nginx", to_nginx(OURS, &SAT, PER_SECOND), AtLeast(0.6), "×"),
        bar(
            "added p50 at one connection beside 1.5 × nginx's and a bare commit",
            ratio(&|r| Some((added(r, OURS)?, 1.5 * added(r, NGINX)? + r.commit()?))),
            AtMost(1.0),
            "×",
        ),
        bar("CPU of a 64 KB prompt beside nginx, redaction on", to_nginx(OURS, &BIG, CPU), AtMost(4.0), "×"),
        bar(
            "CPU of a 64 KB prompt beside nginx, redaction off",
            to_nginx(OURS_PLAIN, &BIG, CPU),
            AtMost(2.0),
            "×",
        ),
        bar("CPU of a stream of 32 chunks beside nginx", to_nginx(OURS, &SSAT, CPU), AtMost(2.5), "×"),
        bar(
            "p99 gap inside a stream, more than nginx's",
            all.median_of(|r| Some(r.figure(OURS, &S1, GAP)? - r.figure(NGINX, &S1, GAP)?)),
            AtMost(1_000.0),
            "µs",
        ),
        bar(
            "added time to the first byte of a stream, p50",
            all.median_of(|r| Some(r.figure(OURS, &S1, FIRST_BYTE)? - r.figure(DIRECT, &S1, FIRST_BYTE)?)),
            AtMost(500.0),
            "µs",
        ),
        bar("CPU of an exact hit beside a proxied request", to_itself(&HIT1), AtMost(1.0), "×"),
        bar(
            "p50 of an exact hit beside nginx's forward and a bare commit",
            ratio(&|r| Some((r.figure(OURS, &HIT1, P50)?, r.figure(NGINX, &C1, P50)? + r.commit()?))),
            AtMost(1.0),
            "×",
        ),
        bar("CPU of a translated request beside one passed through", to_itself(&X1), AtMost(1.5), "×"),
    ];
    if let Some(memory) = memory {
        bars.push(bar(
            "memory after all requests of the memory stage",
            Some(memory.last_mb()),
            AtMost(40.0),
            "MB",
        ));
        bars.push(bar("memory after all of them beside a fifth of them", memory.growth(), AtMost(1.05), "×"));
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::{COMMIT, sample};

    fn standing(bars: &[Bar], name: &str) -> (Option<f64>, Standing) {
        let bar = bars.iter().find(|bar| bar.name.contains(name)).unwrap();
        (bar.figure, bar.standing)
    }

    #[test]
    fn bars_are_met_missed_or_not_measured() {
        let mut all = Samples { commits: vec![COMMIT], ..Samples::default() };
        for (target, p50, cpu) in [
            (DIRECT, 20.0, 0.0),
            (NGINX, 60.0, 30.0),
            (OURS, 120.0, 66.0),
            ("slow", 900.0, 400.0),
            ("quick", 200.0, 120.0),
        ] {
            all.samples.extend([sample(target, &C1, 0, p50, cpu), sample(target, &SAT, 0, p50, cpu)]);
        }
        all.samples.push(sample(OURS, &HIT1, 0, 81.0, 60.0));
        let bars = judge(&all, None);
        assert_eq!(standing(&bars, "beside nginx"), (Some(2.2), Standing::Missed));
        assert_eq!(standing(&bars, "the best peer"), (Some(0.55), Standing::Missed));
        // 100 µs added; allowed are 1.5 × 40 and a commit of 20.
        assert_eq!(standing(&bars, "added p50"), (Some(1.25), Standing::Missed));
        assert_eq!(standing(&bars, "CPU of an exact hit").1, Standing::Met);
        assert_eq!(standing(&bars, "p50 of an exact hit").1, Standing::Missed);
        assert_eq!(standing(&bars, "64 KB"), (None, Standing::NotMeasured));
    }

    #[test]
    fn a_limit_belongs_to_what_is_allowed() {
        assert_eq!(bar("", Some(0.6), AtLeast(0.6), "").standing, Standing::Met);
        assert_eq!(bar("", Some(0.59), AtLeast(0.6), "").standing, Standing::Missed);
        assert_eq!(bar("", Some(2.0), AtMost(2.0), "").standing, Standing::Met);
    }
}
