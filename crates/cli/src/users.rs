//! `punk users`: the people who log in, in the store itself. It asks no gateway, so it helps whoever is locked out.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use config::Settings;
use crypto::SecretString;
use gateway::{Admin, BootstrapError, ChangeError, Directory, Email, bootstrap};
use schema::{TenantId, Timestamp};
use serde_json::{Value, json};
use store::Store;

use crate::answer::{Answer, columns};
use crate::args::{Common, UsersCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::serve::private_folder;
use crate::{clock, runtime, settings, storage};

/// More than any password has.
const LONGEST_LINE: u64 = 4_096;

pub(crate) fn run(common: &Common, command: &UsersCommand) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    runtime::block_on(async {
        let by = gateway::By::installation("punk users");
        match command {
            UsersCommand::List => {
                storage::must_exist(&settings, "asked for its people")?;
                let store = storage::open_to_read(&settings).await?;
                list(&Directory::new(store)).await
            }
            UsersCommand::Add { email, name, role, tenant } => {
                let email = address(email)?;
                let password = ask_password(&email)?;
                let directory = to_change(&settings).await?;
                let tenant = tenant.unwrap_or(TenantId::NIL);
                let new =
                    gateway::NewPerson { email: email.clone(), name: name.clone(), password, verified: true };
                let id = directory
                    .add_with_password(new, &by, now())
                    .await
                    .map_err(|error| not_changed(&error))?;
                let made = directory.make(tenant, id, Some(*role), Vec::new(), &by, now()).await;
                made.map_err(|error| not_changed(&BootstrapError::Change(error)))?;
                Ok(Answer::success(
                    format!("{email} is {role}\n"),
                    json!({ "id": id, "email": email, "role": role }),
                ))
            }
            UsersCommand::ResetPassword { email } => {
                let email = address(email)?;
                let password = ask_password(&email)?;
                let directory = to_change(&settings).await?;
                let reset = directory.reset_password(&email, &password, &by, now()).await;
                known(reset, &email)?;
                Ok(Answer::success(
                    format!("{email} has another password, and is logged out everywhere\n"),
                    json!({ "email": email }),
                ))
            }
            UsersCommand::Disable { email } => disable(&settings, email, true, &by).await,
            UsersCommand::Enable { email } => disable(&settings, email, false, &by).await,
        }
    })
}

async fn disable(
    settings: &Settings,
    email: &str,
    is_out: bool,
    by: &gateway::By,
) -> Result<Answer, Failure> {
    let email = address(email)?;
    let directory = to_change(settings).await?;
    known(directory.keep_out(&email, is_out, by, now()).await, &email)?;
    let text = if is_out { "is kept out" } else { "is let in" };
    Ok(Answer::success(format!("{email} {text}\n"), json!({ "email": email, "disabled": is_out })))
}

async fn list(directory: &Directory) -> Result<Answer, Failure> {
    let (mut people, mut before) = (Vec::new(), None);
    loop {
        let page = directory.people(before, gateway::PAGE).await;
        let page = page.map_err(|error| not_changed(&BootstrapError::Change(error)))?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        people.extend(page);
    }
    if people.is_empty() {
        return Ok(Answer::success("nobody\n", json!({ "users": [] })));
    }
    let title = ["ID", "EMAIL", "NAME", "STATE"].map(str::to_owned);
    let rows = people.iter().map(|person| {
        let state = if person.disabled_at.is_some() { "kept out" } else { "let in" };
        [
            person.id.to_string(),
            person.email.to_string(),
            person.name.clone().unwrap_or_default(),
            state.to_owned(),
        ]
    });
    let rows: Vec<_> = std::iter::once(title).chain(rows).collect();
    let users: Vec<Value> = people
        .iter()
        .map(|person| {
            json!({ "id": person.id, "email": person.email, "name": person.name, "disabledAt": person.disabled_at })
        })
        .collect();
    Ok(Answer::success(columns(&rows), json!({ "users": users })))
}

/// The directory of the store that is configured, to be changed.
async fn to_change(settings: &Settings) -> Result<Directory, Failure> {
    if settings.secret("store.url").is_none() && settings.db_path() == Path::new(":memory:") {
        let message = "the store is in memory, so whoever is made here is gone at once";
        return Err(Failure::new(Exit::Usage, "punk_not_sqlite", message).hint("set store.path to a file"));
    }
    let data = settings.data_dir();
    private_folder(data).map_err(|error| {
        Failure::of(Exit::Environment, "punk_data_unwritable", &error)
            .hint(format!("make {} writable, or choose another with --data-dir", data.display()))
    })?;
    let store = storage::open(settings).await?;
    let keys = storage::open_keys(settings)?;
    store.seal_with(storage::masters(&keys));
    Ok(Directory::new(store))
}

/// Who is to be the first administrator, if somebody is.
pub(crate) fn first_administrator(settings: &Settings) -> Result<Option<Admin>, Failure> {
    let Some(email) = settings.text("auth.admin_email") else { return Ok(None) };
    let email = address(email)?;
    let password = match (settings.secret("auth.admin_password"), settings.text("auth.admin_credential_file"))
    {
        (Some(password), _) => password.duplicate(),
        (None, Some(path)) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::of(Exit::Environment, "punk_admin_unreadable", &error)
                    .hint(format!("make {path} readable, or unset auth.admin_credential_file"))
            })?;
            SecretString::new(text.lines().next().unwrap_or_default().to_owned())
        }
        (None, None) => {
            let message = "auth.admin_email is set and no password for it";
            return Err(Failure::new(Exit::Usage, "punk_admin_password", message)
                .hint("set PUNK_ADMIN_PASSWORD, or make people with `punk users add`"));
        }
    };
    Ok(Some(Admin { email, password }))
}

/// Makes the first administrator, if they are missing.
pub(crate) async fn make_first_administrator(store: &Arc<dyn Store>, admin: Admin) -> Result<(), Failure> {
    let made = bootstrap(&Directory::new(store.clone()), admin, now()).await;
    if made.map_err(|error| not_changed(&error))? {
        tracing::info!("made the first administrator");
    }
    Ok(())
}

fn now() -> Timestamp {
    clock::wall()
}

fn address(text: &str) -> Result<Email, Failure> {
    Email::try_from(text.to_owned()).map_err(|why| {
        Failure::new(Exit::Usage, "punk_email", format!("{text}: {why}")).hint("write ada@example.org")
    })
}

/// A password from the keyboard, or the first line of standard input: never from the command line, which others can read.
fn ask_password(email: &Email) -> Result<SecretString, Failure> {
    let input = std::io::stdin();
    let _hidden = input.is_terminal().then(|| {
        let mut err = std::io::stderr().lock();
        // Who closed standard error does not want to be asked.
        let _ = write!(err, "password for {email}: ");
        let _ = err.flush();
        Hidden::begin()
    });
    let mut line = String::new();
    let mut limited = std::io::Read::take(input.lock(), LONGEST_LINE);
    let read = limited.read_line(&mut line);
    read.map_err(|error| Failure::of(Exit::Environment, "punk_no_password", &error))?;
    let password = SecretString::new(line.trim_end_matches(['\r', '\n']).to_owned());
    if password.expose().is_empty() {
        return Err(Failure::new(Exit::Usage, "punk_no_password", "no password was given")
            .hint("type one, or pipe it in: `punk users add ada@example.org < file`"));
    }
    Ok(password)
}

/// What is typed is not shown, until this is dropped.
struct Hidden(#[cfg(unix)] Option<rustix::termios::Termios>);

impl Hidden {
    #[cfg(unix)]
    fn begin() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let input = std::io::stdin();
        let Ok(before) = tcgetattr(&input) else { return Self(None) };
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let _ = tcsetattr(&input, OptionalActions::Flush, &silent);
        Self(Some(before))
    }

    #[cfg(not(unix))]
    fn begin() -> Self {
        Self()
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ =
                rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Flush, before);
            // The line that was not shown has ended.
            let _ = writeln!(std::io::stderr());
        }
    }
}

/// Whether there was such a person.
fn known(outcome: Result<bool, BootstrapError>, email: &Email) -> Result<(), Failure> {
    match outcome {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::new(Exit::No, "punk_no_such_user", format!("there is no {email}"))
            .hint("`punk users list` shows everybody")),
        Err(error) => Err(not_changed(&error)),
    }
}

fn not_changed(error: &BootstrapError) -> Failure {
    match error {
        BootstrapError::Password(_) => Failure::of(Exit::Usage, "punk_password_refused", error),
        BootstrapError::Change(ChangeError::Taken) => Failure::of(Exit::No, "punk_taken", error)
            .hint("`punk users reset-password` gives somebody another password"),
        BootstrapError::Change(_) | BootstrapError::Hash(_) | BootstrapError::Full(_) => {
            Failure::of(Exit::Environment, "punk_store_unavailable", error)
        }
    }
}
