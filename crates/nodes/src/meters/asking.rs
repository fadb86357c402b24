//! The scripts, and how they are asked.

use std::collections::BTreeMap;
use std::future::Future;

use redis::{ErrorKind, FromRedisValue, RedisError, ScriptInvocation};
use schema::{TenantId, Timestamp};
use store::{MeterKey, ReservationId};

use super::owed::Debt;
use super::{COUNTED, Demand, EXACT_TRIES, LOADING, MOST, SLACK, TRIES, TenantMeters};
use crate::error::MeterError;

/// How many debts somebody pays who only wants to reserve.
const DEBTS_AT_ONCE: u32 = 64;

/// What a script says of meters.
pub(super) enum Answer {
    /// How each stands, and whether what was wanted is held.
    Stands(bool, Vec<(u64, u64)>),
    /// Of some it is not known what is spent: under which names that is to be read. No name where it is known.
    Load(Vec<String>),
}

impl TenantMeters<'_> {
    /// Asks `script` until Redis knows what is spent of all these meters.
    pub(super) async fn loaded<F>(
        &self,
        keys: &[MeterKey],
        now: Timestamp,
        script: impl Fn(String) -> F,
    ) -> Result<(bool, Vec<(u64, u64)>), MeterError>
    where
        F: Future<Output = Result<Answer, MeterError>>,
    {
        for attempt in 0..TRIES {
            let names = match script(self.shared.reading()).await? {
                Answer::Stands(held, stands) => return Ok((held, stands)),
                Answer::Load(names) => names,
            };
            let unknown = keys.iter().zip(names).filter(|(_, name)| !name.is_empty());
            let (unknown, names): (Vec<MeterKey>, Vec<String>) = unknown.unzip();
            let read = self.shared.truth.tenant(self.tenant).levels(&unknown, now).await?;
            let mut learn = self.shared.scripts.learn.prepare_invoke();
            learn.arg(millis(COUNTED)).arg(if attempt < EXACT_TRIES { "exact" } else { "enough" });
            for ((key, name), (spent, _)) in unknown.iter().zip(names).zip(read) {
                let meter = self.meter(key);
                learn.key(counter(&meter)).key(note(&meter)).arg(name).arg(spent.min(MOST));
            }
            self.send::<()>(&learn).await?;
        }
        Err(MeterError::Forgetful)
    }

    pub(super) async fn try_reserve(
        &self,
        id: ReservationId,
        meters: &BTreeMap<MeterKey, Demand>,
        now: Timestamp,
        until: Timestamp,
        name: String,
    ) -> Result<Answer, MeterError> {
        let mut reserve = self.shared.scripts.reserve.prepare_invoke();
        let keep = until.as_millis().saturating_sub(now.as_millis()).saturating_add(millis(SLACK));
        reserve.key(held(self.tenant, id)).arg(hex(id)).arg(now.as_millis()).arg(until.as_millis()).arg(keep);
        reserve.arg(name).arg(millis(LOADING));
        for (key, demand) in meters {
            self.add_keys(&mut reserve, key);
            // Limits are compared with, and never added to: they may be as large as they like.
            let hard = demand.hard.map(|limit| limit.to_string()).unwrap_or_default();
            reserve.arg(demand.amount.min(MOST)).arg(hard);
        }
        // Asked again it reserves the same anew, so a lost answer is no reason to give up.
        self.send_again(&reserve).await.and_then(read)
    }

    pub(super) async fn try_levels(
        &self,
        keys: &[MeterKey],
        now: Timestamp,
        name: String,
    ) -> Result<Answer, MeterError> {
        let mut levels = self.shared.scripts.levels.prepare_invoke();
        levels.arg(now.as_millis()).arg(name).arg(millis(LOADING));
        for key in keys {
            self.add_keys(&mut levels, key);
        }
        self.send_again(&levels).await.and_then(read)
    }

    /// Ends a reservation. What Redis was not told, or may have been told, it is told again later.
    pub(super) async fn end(&self, debt: Debt) -> Result<(), MeterError> {
        let told = match self.send::<()>(&self.ending(&debt, "add")).await {
            // Whether the first attempt counted is not known.
            Err(error) if was_cut(&error) => self.send(&self.ending(&debt, "forget")).await,
            told => told,
        };
        told.inspect_err(|_| self.shared.owed.add(debt))
    }

    /// Tells Redis what it could not be told before.
    pub(super) async fn pay(&self) {
        for _ in 0..DEBTS_AT_ONCE {
            let Some(debt) = self.shared.owed.next() else { break };
            let whose = self.shared.tenant(debt.tenant);
            if self.send::<()>(&whose.ending(&debt, "forget")).await.is_err() {
                self.shared.owed.add(debt);
                break;
            }
        }
    }

    fn ending(&self, debt: &Debt, how: &str) -> ScriptInvocation<'_> {
        let mut ending = self.shared.scripts.settled.prepare_invoke();
        ending.key(held(self.tenant, debt.id)).arg(hex(debt.id)).arg(how);
        for (key, amount) in &debt.spent {
            let meter = self.meter(key);
            ending.key(counter(&meter)).key(note(&meter)).arg((*amount).min(MOST));
        }
        ending
    }

    async fn send_again<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, MeterError> {
        match self.send(script).await {
            Err(error) if was_cut(&error) => self.send(script).await,
            answer => answer,
        }
    }

    async fn send<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, MeterError> {
        let mut connection = self.shared.connection.clone();
        script.invoke_async(&mut connection).await.map_err(MeterError::Unavailable)
    }

    /// The three keys of a meter, in the order of the scripts.
    fn add_keys(&self, script: &mut ScriptInvocation<'_>, key: &MeterKey) {
        let meter = self.meter(key);
        script.key(format!("{meter}:reserved")).key(counter(&meter)).key(note(&meter));
    }

    /// What the keys of a meter begin with. All that a tenant has is in one slot of a cluster.
    fn meter(&self, key: &MeterKey) -> String {
        format!("punk:{{{}}}:meter:{}:{}", self.tenant, key.meter, key.window)
    }
}

/// Whether there was no connection any more. The next attempt makes a new one.
fn was_cut(error: &MeterError) -> bool {
    matches!(error, MeterError::Unavailable(error) if error.is_io_error() && !error.is_timeout())
}

fn counter(meter: &str) -> String {
    format!("{meter}:spent")
}

fn note(meter: &str) -> String {
    format!("{meter}:loading")
}

fn held(tenant: TenantId, id: ReservationId) -> String {
    format!("punk:{{{tenant}}}:held:{}", hex(id))
}

fn hex(ReservationId(bytes): ReservationId) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A word, and a name or two numbers for each meter.
fn read(answer: Vec<String>) -> Result<Answer, MeterError> {
    let mut answer = answer.into_iter();
    let word = answer.next().unwrap_or_default();
    if word == "load" {
        return Ok(Answer::Load(answer.collect()));
    }
    let numbers: Result<Vec<u64>, _> = answer.map(|number| number.parse()).collect();
    let numbers = numbers.map_err(|_| {
        let error = (ErrorKind::UnexpectedReturnType, "a meter does not stand at a number");
        MeterError::Unavailable(RedisError::from(error))
    })?;
    let stands = numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    Ok(Answer::Stands(word == "held", stands))
}
