//! A secret from standard input: all of it when it is a file or a pipe, a line when somebody types it.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::{Command, Stdio};

use crypto::SecretString;
use vault::LONGEST_VALUE;

use crate::exit::Exit;
use crate::failure::Failure;

/// The value of the credential `name`.
pub(super) fn value(name: &str) -> Result<SecretString, Failure> {
    let text = if std::io::stdin().is_terminal() { asked(name) } else { piped() };
    let text = text.map_err(|error| Failure::of(Exit::Environment, "punk_no_value", &error))?;
    let value = SecretString::new(text.expose().strip_suffix('\n').unwrap_or(text.expose()).to_owned());
    let value = SecretString::new(value.expose().strip_suffix('\r').unwrap_or(value.expose()).to_owned());
    vault::value(value).map_err(|error| {
        Failure::new(Exit::Usage, "punk_no_value", format!("the value on standard input: {error}"))
    })
}

fn piped() -> std::io::Result<SecretString> {
    // A line end and a byte more than allowed, to tell what just fits from what does not.
    let most = LONGEST_VALUE as u64 + 3;
    let mut text = String::with_capacity(LONGEST_VALUE + 4);
    std::io::stdin().lock().take(most).read_to_string(&mut text)?;
    Ok(SecretString::new(text))
}

fn asked(name: &str) -> std::io::Result<SecretString> {
    let mut shown = std::io::stderr().lock();
    let hidden = echo(false);
    let warning = if hidden { "" } else { " (it will be seen as you type)" };
    write!(shown, "value of {name}{warning}: ")?;
    shown.flush()?;
    let mut text = String::new();
    let read = std::io::stdin().read_line(&mut text);
    if hidden {
        echo(true);
        writeln!(shown)?;
    }
    read?;
    Ok(SecretString::new(text))
}

/// Has the terminal show what is typed, or not. Whether that was done.
fn echo(on: bool) -> bool {
    let mut stty = Command::new("stty");
    let stty = stty.arg(if on { "echo" } else { "-echo" }).stdin(Stdio::inherit()).stdout(Stdio::null());
    stty.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
