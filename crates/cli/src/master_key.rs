//! The master key of the vault: printed by a command, else in a file, else in the environment, else the sealing key of the
//! key ring.
//!
//! - There is no default key: whatever is set and is no key refuses the start.
//! - What a command or a file says is in no message.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::storage;
use config::Settings;
use crypto::keyring::read_private;
use crypto::{KeyRing, SealKey};
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use vault::{KeyTextError, MasterKeys};
use zeroize::Zeroizing;

/// How long a command may take to print a key.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much it may print. A key has 64 characters at most.
const MOST: u64 = 4_096;

/// Where the active key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Command,
    File,
    Environment,
    Ring,
}

impl Origin {
    pub(crate) fn of(settings: &Settings) -> Self {
        if !settings.master_key_command().is_empty() {
            Self::Command
        } else if settings.master_key_file().is_some() {
            Self::File
        } else if settings.master_key().is_some() {
            Self::Environment
        } else {
            Self::Ring
        }
    }
}

/// The master keys as they are configured.
pub(crate) fn masters(settings: &Settings, ring: &KeyRing) -> Result<MasterKeys, Failure> {
    let mut old = Vec::new();
    for file in settings.old_key_files() {
        old.push(in_file("vault.old_key_files", file)?);
    }
    // What was sealed before another key was set is still to be opened.
    old.extend(ring.seal_keys().map(SealKey::duplicate));
    let active = match (Origin::of(settings), settings.master_key_file(), settings.master_key()) {
        (Origin::Command, ..) => printed(settings.master_key_command(), PATIENCE)?,
        (Origin::File, Some(file), _) => in_file("vault.master_key_file", file)?,
        (Origin::Environment, _, Some(key)) => {
            MasterKeys::parse(key.expose()).map_err(|error| unfit("vault.master_key", &error))?
        }
        _ => ring.seal_key().map(SealKey::duplicate).ok_or_else(|| {
            let message = format!("there is no sealing key in {}", ring.folder().display());
            Failure::new(Exit::Environment, "punk_vault_key", message)
                .hint("`punk serve` makes one when it first starts, and so does `punk keys generate seal`")
        })?,
    };
    Ok(MasterKeys::new(active, old))
}

/// Reads the keys again, where they may have changed since the start. A command is run once.
pub(crate) fn again(settings: &Settings) -> Option<MasterKeys> {
    if Origin::of(settings) == Origin::Command {
        return None;
    }
    let masters = storage::open_keys(settings).and_then(|ring| masters(settings, &ring));
    masters.inspect_err(|failure| tracing::warn!(?failure, "the master keys cannot be read again")).ok()
}

fn in_file(setting: &str, path: &Path) -> Result<SealKey, Failure> {
    let bytes = read_private(path).map_err(|error| {
        Failure::of(Exit::Environment, "punk_vault_key", &error).hint_if_none(&format!(
            "{setting} names the file; it must be readable by its owner and by nobody else"
        ))
    })?;
    let text = str::from_utf8(&bytes).map_err(|_| KeyTextError::Format);
    text.and_then(MasterKeys::parse)
        .map_err(|error| unfit(&format!("{setting} ({})", path.display()), &error))
}

fn unfit(what: &str, error: &KeyTextError) -> Failure {
    Failure::new(Exit::Usage, "punk_vault_key", format!("{what}: {error}"))
}

/// The key that a program prints.
fn printed(words: &[String], patience: Duration) -> Result<SealKey, Failure> {
    let failed = |why: &str| {
        Failure::new(Exit::Environment, "punk_vault_key", format!("vault.master_key_command: {why}"))
            .hint("run it by hand: it has to print the key, and nothing else, and end with exit code 0")
    };
    let [program, arguments @ ..] = words else { return Err(failed("there is no program")) };
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|error| failed(&format!("it does not start: {error}")))?;
    let output = read(&mut child, patience);
    let fits = output.as_ref().is_some_and(|output| output.len() as u64 <= MOST);
    // Whatever has become of it, it does not outlive this.
    let ended = until_ended(&mut child, if fits { patience } else { Duration::ZERO });
    let output = Zeroizing::new(output.ok_or_else(|| failed("it did not end in time"))?);
    if !fits {
        return Err(failed("it prints more than a key"));
    }
    match ended {
        None => return Err(failed("it did not end in time")),
        Some(status) if !status.success() => return Err(failed(&format!("it ended with {status}"))),
        Some(_) => {}
    }
    let text = str::from_utf8(&output).map_err(|_| KeyTextError::Format);
    text.and_then(MasterKeys::parse).map_err(|error| failed(&error.to_string()))
}

/// All that it prints, up to a byte more than it may; nothing when that takes too long.
fn read(child: &mut Child, patience: Duration) -> Option<Vec<u8>> {
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.take(MOST + 1).read_to_end(&mut output);
        // Nobody may be waiting any more.
        let _ = sender.send(read.map(|_| output));
    });
    receiver.recv_timeout(patience).ok()?.ok()
}

/// How it ended; killed when that takes too long.
fn until_ended(child: &mut Child, patience: Duration) -> Option<std::process::ExitStatus> {
    const STEP: Duration = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    while waited <= patience {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(STEP),
            Err(_) => break,
        }
        waited += STEP;
    }
    // It may have ended in this moment.
    let _ = child.kill();
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{FileSource, Sources};
    use std::os::unix::fs::PermissionsExt as _;

    const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn settings(environment: &[(&str, &str)]) -> Settings {
        let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        config::load(&Sources { flags: Vec::new(), environment, file: FileSource::Absent }).unwrap()
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn shell(script: &str, patience: Duration) -> Result<SealKey, String> {
        printed(&words(&["sh", "-c", script]), patience).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn a_command_prints_the_key_and_nothing_else_in_time() {
        let wanted = MasterKeys::parse(KEY).unwrap().id();
        assert_eq!(shell(&format!("echo {KEY}"), PATIENCE).unwrap().id(), wanted);
        for (script, why) in [
            ("echo hunter2", "32 bytes"),
            ("exit 3", "exit status: 3"),
            ("yes hunter2", "prints more than a key"),
            (&*format!("echo {KEY}; exit 1"), "exit status: 1"),
        ] {
            let failure = shell(script, PATIENCE).unwrap_err();
            assert!(failure.contains(why), "{script}: {failure}");
            assert!(!failure.contains("hunter2") && !failure.contains(KEY), "{failure}");
        }
        let late = shell("sleep 60", Duration::from_millis(20)).unwrap_err();
        assert!(late.contains("in time"), "{late}");
        let absent = printed(&words(&["/there/is/no/such/program"]), PATIENCE).unwrap_err();
        assert!(format!("{absent:?}").contains("does not start"));
    }

    #[test]
    fn no_shell_looks_at_the_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        let arguments = words(&["echo", &format!("; touch {}", made.display())]);
        assert!(printed(&arguments, PATIENCE).is_err());
        assert!(!made.exists());
    }

    #[test]
    fn a_file_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, format!("{KEY}\n")).unwrap();
        for (mode, fits) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(in_file("vault.master_key_file", &path).is_ok(), fits, "{mode:o}");
        }
        let missing = in_file("vault.master_key_file", &folder.path().join("none")).unwrap_err();
        assert!(format!("{missing:?}").contains("none"));
    }

    #[test]
    fn a_command_is_asked_before_a_file_that_before_the_environment_and_the_ring_last() {
        let all = [
            ("PUNK_VAULT_KEY_COMMAND", "pass, show, punk"),
            ("PUNK_VAULT_KEY_FILE", "key"),
            ("PUNK_VAULT_KEY", KEY),
        ];
        let origins: Vec<Origin> =
            (0..=all.len()).map(|left_out| Origin::of(&settings(&all[left_out..]))).collect();
        assert_eq!(origins, [Origin::Command, Origin::File, Origin::Environment, Origin::Ring]);
        assert_eq!(settings(&all).master_key_command(), ["pass", "show", "punk"]);
    }

    #[test]
    fn what_is_no_key_refuses_the_start_and_the_rings_keys_still_open() {
        let folder = tempfile::tempdir().unwrap();
        let mut ring = KeyRing::open(folder.path().join("keys")).unwrap();
        assert!(masters(&settings(&[]), &ring).is_err());
        ring.generate(crypto::Purpose::Seal, jiff::Timestamp::UNIX_EPOCH).unwrap();
        let of_ring = ring.seal_key().unwrap().id();
        assert_eq!(masters(&settings(&[]), &ring).unwrap().active().id(), of_ring);
        let given = masters(&settings(&[("PUNK_VAULT_KEY", KEY)]), &ring).unwrap();
        assert!(given.active().id() != of_ring && given.has(of_ring));
        let refused = masters(&settings(&[("PUNK_VAULT_KEY", "changeme")]), &ring).unwrap_err();
        assert!(format!("{refused:?}").contains("vault.master_key"), "{refused:?}");
        assert!(!format!("{refused:?}").contains("changeme"));
    }
}
