//! Checks of what lies on this machine: configuration, folders, keys, clock.

use super::Finding;
use config::{Origin, Settings, Status};
use crypto::KeyRing;
use crypto::keyring::{KeyState, Purpose};
use jiff::Timestamp;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

pub(super) fn configuration(settings: &Settings) -> Vec<Finding> {
    let set: Vec<_> = settings.iter().filter(|setting| setting.origin != Origin::Default).collect();
    let mut findings =
        vec![Finding::ok("configuration", format!("right; {} settings differ from the default", set.len()))];
    for setting in set {
        if let Status::Reserved(until) = setting.key.status {
            let what = format!("{} ({}) is set and does nothing yet", setting.path, setting.origin);
            findings.push(Finding::warn(
                "configuration",
                what,
                format!("it waits for {until}; leave it out until then"),
            ));
        }
    }
    findings
}

pub(super) fn data_folder(folder: &Path) -> Vec<Finding> {
    // A folder that does not exist yet is created at the first start, in the nearest one that does.
    let existing = folder.ancestors().map(or_here).find(|ancestor| ancestor.exists());
    let Some(existing) = existing else {
        return vec![Finding::fail(
            "data folder",
            format!("{} has no parent folder", folder.display()),
            "set PUNK_DATA_DIR",
        )];
    };
    let shown = folder.display();
    vec![match try_to_write(existing) {
        Ok(()) if existing == or_here(folder) => {
            Finding::ok("data folder", format!("{shown} can be written"))
        }
        Ok(()) => Finding::ok("data folder", format!("{shown} will be created at the first start")),
        Err(error) => Finding::fail(
            "data folder",
            format!("{} cannot be written: {error}", existing.display()),
            format!("give this user the right to write into {}, or set PUNK_DATA_DIR", existing.display()),
        ),
    }]
}

/// The parent of `data` is the empty path, which stands for the working directory.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn try_to_write(folder: &Path) -> io::Result<()> {
    let trial = folder.join(format!(".punk-doctor-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&trial)?;
    fs::remove_file(&trial)
}

pub(super) fn keys(folder: &Path, now: Timestamp) -> Vec<Finding> {
    let ring = match KeyRing::open(folder) {
        Ok(ring) => ring,
        Err(error) => {
            // Our messages end in `; what to do` where there is something to do.
            let message = error.to_string();
            let (what, fix) = message
                .rsplit_once("; ")
                .unwrap_or((&message, "restore the file from a backup, or check keys.dir"));
            return vec![Finding::fail("keys", what, fix)];
        }
    };
    let mut findings: Vec<Finding> = Purpose::ALL
        .into_iter()
        .map(|purpose| match ring.active(purpose) {
            Some(key) => Finding::ok("keys", format!("{} is the active {purpose} key", key.id)),
            None => Finding::warn(
                "keys",
                format!("there is no active {purpose} key in {}", folder.display()),
                format!("run `punk keys generate {purpose}`"),
            ),
        })
        .collect();
    findings.extend(ring.keys().iter().filter(|key| key.created > now && key.state == KeyState::Active).map(
        |key| {
            let what = format!("{} was made at {:.3}, which is yet to come", key.id, key.created);
            Finding::warn("clock", what, "set the clock, for example with `timedatectl set-ntp true`")
        },
    ));
    findings
}

pub(super) fn clock(now: Timestamp) -> Vec<Finding> {
    // The year this was written, and the year from which a clock is more likely broken than right.
    let sane = ["2026-01-01T00:00:00Z", "2100-01-01T00:00:00Z"].map(|text| text.parse::<Timestamp>().ok());
    let [Some(earliest), Some(latest)] = sane else {
        return Vec::new();
    };
    vec![if (earliest..latest).contains(&now) {
        Finding::ok("clock", format!("{now:.0}"))
    } else {
        let what = format!("it says {now:.0}, and everything in the ledger would be dated by it");
        Finding::fail("clock", what, "set the clock, for example with `timedatectl set-ntp true`")
    }]
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::*;

    #[test]
    fn a_clock_outside_its_time_fails() {
        let grade = |time: &str| clock(time.parse().unwrap())[0].grade;
        assert_eq!(grade("1970-01-01T00:00:10Z"), Grade::Fail);
        assert_eq!(grade("2026-11-15T00:00:00Z"), Grade::Ok);
        assert_eq!(grade("2106-02-07T06:28:15Z"), Grade::Fail);
    }

    #[test]
    fn keys_from_the_future_are_a_warning() {
        let home = tempfile::tempdir().unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let mut ring = KeyRing::open(home.path().join("keys")).unwrap();
        ring.generate(Purpose::Log, at("2027-01-01T00:00:00Z")).unwrap();
        let findings = keys(ring.folder(), at("2026-11-15T00:00:00Z"));
        assert!(findings.iter().any(|finding| finding.check == "clock" && finding.grade == Grade::Warn));
    }
}
