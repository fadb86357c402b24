//! Sessions: somebody is logged in, until they have been away too long, or at the latest after a while.
//!
//! A session is a family of tokens. Each is a record of its own, named by the hash of the token, in the default tenant; what
//! is not there does not hold, on any node, with the next request. A token is replaced every few minutes. For a moment the
//! old one is good as well, because browsers ask for several things at once; after that, whoever shows it is not the one who
//! got the new one, so nobody keeps the session.
//!
//! [`Session::standing`] is all that time does to a session, and it is pure.

use std::time::Duration;

use crypto::random;
use crypto::token::{Token, TokenHash, TokenKind};
use schema::{Digest, SessionId, TenantId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Record, RecordBody, RecordChange, RecordFilter, RecordKind};

use super::directory::{By, ChangeError, Directory, HOME, PAGE, Versioned, body, new_id, read};

/// The group of all sessions, by which what is over is found.
pub(crate) const GROUP: &str = "live";
/// How often an end is tried when tokens are replaced meanwhile.
const TRIES: u32 = 16;

/// How long sessions last.
#[derive(Debug, Clone, Copy)]
pub struct SessionRules {
    /// How long somebody may be away. It is told by the age of the token, so it is right to [`Self::rotate`].
    pub idle: Duration,
    /// How long at most.
    pub lifetime: Duration,
    /// How old a token becomes.
    pub rotate: Duration,
    /// How long a token is good after it was replaced.
    pub grace: Duration,
}

impl Default for SessionRules {
    fn default() -> Self {
        let minutes = |count: u64| Duration::from_secs(count * 60);
        Self {
            idle: minutes(12 * 60),
            lifetime: minutes(7 * 24 * 60),
            rotate: minutes(15),
            grace: Duration::from_secs(30),
        }
    }
}

/// One token of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Session {
    /// The session, whatever its token is.
    pub(crate) id: SessionId,
    pub(crate) user: UserId,
    /// The organisation in which they act.
    pub(crate) organisation: TenantId,
    /// What a page of ours shows to prove that it is one. Nothing without the cookie.
    pub(crate) csrf: String,
    /// When they logged in.
    pub(crate) since: Timestamp,
    /// When this token was given out.
    pub(crate) issued_at: Timestamp,
    /// When another took its place.
    #[serde(default)]
    pub(crate) replaced_at: Option<Timestamp>,
    /// From where they logged in, for whoever looks at the list.
    pub(crate) address: String,
    pub(crate) client: Option<String>,
}

/// What time has made of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It holds.
    Good,
    /// It holds, and wants to be replaced.
    Old,
    /// It was replaced a moment ago.
    Passing,
    /// It was replaced long ago: somebody shows a copy.
    Copied,
    /// Its time is over.
    Over,
}

impl Session {
    pub(crate) fn standing(&self, rules: &SessionRules, now: Timestamp) -> Standing {
        let age = |since: Timestamp| Duration::from_millis(now.as_millis().saturating_sub(since.as_millis()));
        if age(self.since) >= rules.lifetime || age(self.issued_at) >= rules.idle {
            return Standing::Over;
        }
        match self.replaced_at {
            Some(at) if age(at) >= rules.grace => Standing::Copied,
            Some(_) => Standing::Passing,
            None if age(self.issued_at) >= rules.rotate => Standing::Old,
            None => Standing::Good,
        }
    }

    /// When it is over at the latest.
    pub(crate) fn ends_at(&self, rules: &SessionRules) -> Timestamp {
        let millis =
            self.since.as_millis() + u64::try_from(rules.lifetime.as_millis()).unwrap_or(u64::MAX / 2);
        Timestamp::from_millis(millis).unwrap_or(Timestamp::LAST)
    }

    fn change(&self, id: String, expected: u64, rules: &SessionRules) -> Result<RecordChange, ChangeError> {
        let to = body(GROUP, self, self.since, Some(self.ends_at(rules)))?;
        let to = Some(RecordBody { key: Some(of_user(self.user)), ..to });
        Ok(RecordChange { kind: RecordKind::Session, id, expected, to })
    }
}

/// A session that was found by its token.
#[derive(Debug, Clone)]
pub(crate) struct FoundSession {
    pub(crate) session: Session,
    pub(crate) standing: Standing,
    record: String,
    version: u64,
}

/// A session as its person sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownSession {
    pub(crate) id: SessionId,
    pub(crate) organisation: TenantId,
    pub(crate) since: Timestamp,
    /// When it was last known to be used, to the minutes that a token lasts.
    pub(crate) seen_at: Timestamp,
    address: String,
    client: Option<String>,
    /// Whether it is the one that asks.
    pub(crate) current: bool,
}

/// Whom a session is for, and from where.
#[derive(Debug, Clone)]
pub(crate) struct NewSession {
    pub(crate) user: UserId,
    pub(crate) organisation: TenantId,
    pub(crate) address: String,
    pub(crate) client: Option<String>,
}

impl Directory {
    /// Logs somebody in: a new session with a new token, whatever they had before.
    pub(crate) async fn open_session(
        &self,
        new: NewSession,
        rules: &SessionRules,
        by: &By,
        at: Timestamp,
    ) -> Result<(Token, Session), ChangeError> {
        let session = Session {
            id: new_id(at)?,
            user: new.user,
            organisation: new.organisation,
            csrf: csrf()?,
            since: at,
            issued_at: at,
            replaced_at: None,
            address: new.address,
            client: new.client,
        };
        let token = Token::generate(TokenKind::Session)?;
        let change = session.change(name(&token.hash()), 0, rules)?;
        let details = json!({ "session": session.id });
        let done = ("audit.logged_in", session.user.to_string(), details);
        self.commit(HOME, vec![change], Some(done), by, at).await?;
        Ok((token, session))
    }

    /// The session that a token is of.
    pub(crate) async fn find_session(
        &self,
        token: &Token,
        rules: &SessionRules,
        now: Timestamp,
    ) -> Result<Option<FoundSession>, ChangeError> {
        let record = name(&token.hash());
        let found: Option<Versioned<Session>> = self.record(HOME, RecordKind::Session, &record).await?;
        Ok(found.map(|Versioned { value: session, version }| {
            let standing = session.standing(rules, now);
            FoundSession { session, standing, record, version }
        }))
    }

    /// Gives a session another token. Nothing, if somebody else just did, or it is over.
    pub(crate) async fn rotate_session(
        &self,
        found: &FoundSession,
        rules: &SessionRules,
        at: Timestamp,
    ) -> Result<Option<Token>, ChangeError> {
        let token = Token::generate(TokenKind::Session)?;
        let old = Session { replaced_at: Some(at), ..found.session.clone() };
        let new = Session { issued_at: at, ..found.session.clone() };
        let changes = vec![
            old.change(found.record.clone(), found.version, rules)?,
            new.change(name(&token.hash()), 0, rules)?,
        ];
        match self.commit(HOME, changes, None, &By::installation("sessions"), at).await {
            Ok(()) => Ok(Some(token)),
            Err(ChangeError::Moved) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Has somebody act in another organisation from now on.
    pub(crate) async fn move_session(
        &self,
        session: &Session,
        organisation: TenantId,
        rules: &SessionRules,
        at: Timestamp,
    ) -> Result<(), ChangeError> {
        let mut changes = Vec::new();
        for record in self.tokens_of(session.user).await? {
            let Versioned { value, version } = read::<Session>(&record)?;
            if value.id == session.id {
                changes.push(Session { organisation, ..value }.change(record.id, version, rules)?);
            }
        }
        self.commit(HOME, changes, None, &By::installation("sessions"), at).await
    }

    /// The sessions of somebody, the last first.
    pub(crate) async fn sessions(
        &self,
        user: UserId,
        rules: &SessionRules,
        now: Timestamp,
    ) -> Result<Vec<ShownSession>, ChangeError> {
        let mut shown: Vec<ShownSession> = Vec::new();
        for record in self.tokens_of(user).await? {
            let session = read::<Session>(&record)?.value;
            if matches!(session.standing(rules, now), Standing::Good | Standing::Old) {
                shown.push(ShownSession {
                    id: session.id,
                    organisation: session.organisation,
                    since: session.since,
                    seen_at: session.issued_at,
                    address: session.address,
                    client: session.client,
                    current: false,
                });
            }
        }
        shown.sort_by_key(|session| std::cmp::Reverse(session.id));
        Ok(shown)
    }

    /// Whether a session goes on, whatever its token is by now.
    pub(crate) async fn is_session_live(
        &self,
        user: UserId,
        session: SessionId,
        rules: &SessionRules,
        now: Timestamp,
    ) -> Result<bool, ChangeError> {
        Ok(self.sessions(user, rules, now).await?.iter().any(|each| each.id == session))
    }

    /// Ends sessions of somebody: those that `which` is true of. How many that were.
    pub(crate) async fn end_sessions(
        &self,
        user: UserId,
        which: impl Fn(&Session) -> bool,
        why: &str,
        by: &By,
        at: Timestamp,
    ) -> Result<usize, ChangeError> {
        for _ in 0..TRIES {
            let (mut changes, mut ended) = (Vec::new(), std::collections::BTreeSet::new());
            for record in self.tokens_of(user).await? {
                let session = read::<Session>(&record)?.value;
                if which(&session) {
                    ended.insert(session.id.to_string());
                    changes.push(RecordChange {
                        kind: RecordKind::Session,
                        id: record.id,
                        expected: record.version,
                        to: None,
                    });
                }
            }
            if changes.is_empty() {
                return Ok(0);
            }
            let details = json!({ "sessions": ended, "why": why });
            let done = ("audit.sessions_ended", user.to_string(), details);
            match self.commit(HOME, changes, Some(done), by, at).await {
                Ok(()) => return Ok(ended.len()),
                // A token was replaced in that moment; the new one has to go as well.
                Err(ChangeError::Moved) => {}
                Err(error) => return Err(error),
            }
        }
        Err(ChangeError::Moved)
    }

    /// Every token of somebody's sessions.
    async fn tokens_of(&self, user: UserId) -> Result<Vec<Record>, ChangeError> {
        let filter = RecordFilter { key: Some(of_user(user)), ..RecordFilter::of(RecordKind::Session) };
        let (mut all, mut before): (Vec<Record>, Option<String>) = (Vec::new(), None);
        loop {
            let page = self.records(HOME, &filter, before.as_deref(), PAGE).await?;
            let is_last = page.len() < PAGE.get() as usize;
            before = page.last().map(|record| record.id.clone());
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }
}

/// What the sessions of a person are found by.
fn of_user(user: UserId) -> Digest {
    Digest::from_bytes(*TokenHash::of(&format!("sessions of {user}")).as_bytes())
}

/// How the record of a token is named.
fn name(hash: &TokenHash) -> String {
    Digest::from_bytes(*hash.as_bytes()).to_string()
}

fn csrf() -> Result<String, ChangeError> {
    let bytes: [u8; 32] = random::bytes()?;
    Ok(Digest::from_bytes(bytes).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(since: u64, issued: u64, replaced: Option<u64>) -> Session {
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1_000).unwrap();
        Session {
            id: SessionId::NIL,
            user: UserId::NIL,
            organisation: TenantId::NIL,
            csrf: String::new(),
            since: at(since),
            issued_at: at(issued),
            replaced_at: replaced.map(at),
            address: String::new(),
            client: None,
        }
    }

    #[test]
    fn time_replaces_a_token_tells_a_copy_and_ends_a_session() {
        let seconds = Duration::from_secs;
        let rules = SessionRules {
            idle: seconds(1_000),
            lifetime: seconds(5_000),
            rotate: seconds(100),
            grace: seconds(10),
        };
        let check = |session: Session, now: u64| {
            session.standing(&rules, Timestamp::from_millis(now * 1_000).unwrap())
        };
        assert_eq!(check(session(0, 0, None), 99), Standing::Good);
        assert_eq!(check(session(0, 0, None), 100), Standing::Old);
        assert_eq!(check(session(0, 0, None), 999), Standing::Old);
        assert_eq!(check(session(0, 0, None), 1_000), Standing::Over, "away too long");
        assert_eq!(check(session(0, 4_950, None), 4_999), Standing::Good);
        assert_eq!(check(session(0, 4_950, None), 5_000), Standing::Over, "as long as it may be");
        assert_eq!(check(session(0, 0, Some(100)), 109), Standing::Passing);
        assert_eq!(check(session(0, 0, Some(100)), 110), Standing::Copied);
        assert_eq!(check(session(50, 50, None), 0), Standing::Good, "a clock that went back");
    }
}
