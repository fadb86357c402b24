//! The throttle: guessing gets slower and slower, and the owner can always get in.
//!
//! A lock-out that counts failures of an account is a gift to whoever wants its owner locked out. So nothing is ever
//! locked; attempts wait, and they wait in *lanes*:
//!
//! | an attempt comes from | its lane | who slows it down |
//! |---|---|---|
//! | a device that logged in to this account before | account and device | itself |
//! | an address that logged in to this account before | account and address | that address |
//! | anywhere else | account and address, and the lane of all strangers to the account | all strangers |
//!
//! In a lane the first attempts are free; every further one waits twice as long as the one before, up to a limit. A
//! stranger waits for both of its lanes. What strangers do never slows a known device or address.
//!
//! [`Throttle::attempt`] asks and counts in one step, *before* the password is looked at, so that a hundred attempts
//! at once are a hundred attempts. [`Throttle::succeeded`] takes the attempt back. A device proves itself with the
//! cookie that [`Devices`] made for it, which needs no memory here and holds on every node.
//!
//! Deliberately absent: limits per address over all accounts (the gateway's limits have them), and a clock.
//!
//! - Accounts are named by what was typed, so that one that does not exist behaves as one that does.
//! - Memory is bounded: when it is full, who failed least is forgotten first. A flood of new names cannot wash away the
//!   lane of a guesser (`a_flood_does_not_wash_a_guesser_away`).
//! - What is kept are keyed digests; neither names nor addresses can be read from it.

mod device;
mod lanes;
#[cfg(test)]
mod tests;

pub use device::{Device, DeviceError, Devices};

use crypto::Secret;
use crypto::random::{self, RandomError};
use lanes::{Lane, Lanes};
use schema::Timestamp;
use std::net::IpAddr;
use std::time::Duration;

/// How a lane slows down.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Attempts before the first wait.
    free: u32,
    /// The first wait; each further one is twice as long.
    first: Duration,
    /// The longest wait.
    longest: Duration,
}

/// For one device or address: five at will, then one second, two, four … a quarter of an hour.
const ONE: Pace = Pace { free: 5, first: Duration::from_secs(1), longest: Duration::from_secs(900) };
/// For all strangers together: an owner on a new device shares this lane with whoever attacks, so it is never slow.
const STRANGERS: Pace = Pace { free: 20, first: Duration::from_secs(1), longest: Duration::from_secs(30) };

/// A lane that was quiet for so long begins anew.
const QUIET: Duration = Duration::from_secs(24 * 3600);
/// An address that nobody logged in from for so long is a stranger again.
const AWAY: Duration = Duration::from_secs(90 * 24 * 3600);
/// How many lanes and how many known addresses are remembered: about 100 bytes each.
const CAPACITY: usize = 100_000;

/// Where an attempt comes from.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The address of the caller, as the shell trusts it.
    pub address: IpAddr,
    /// The device, when its cookie was one that [`Devices::recognise`] knew for this account.
    pub device: Option<&'a Device>,
}

/// The attempt comes too early: nothing was looked at, and it was not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many attempts; try again in {} s", .wait.as_secs().max(1))]
pub struct TooEarly {
    /// How long from now.
    pub wait: Duration,
}

/// The attempts of late. One for the process, behind a lock of the shell; no call takes longer than microseconds,
/// except that a full memory is swept once a minute at most.
#[derive(Debug)]
pub struct Throttle {
    secret: Secret<[u8; 32]>,
    lanes: Lanes,
    /// Addresses that logged in to an account.
    known: Lanes,
}

impl Throttle {
    /// An empty one, with a new key for its digests.
    pub fn new() -> Result<Self, RandomError> {
        Ok(Self::with(Secret::new(random::bytes()?), CAPACITY))
    }

    fn with(secret: Secret<[u8; 32]>, capacity: usize) -> Self {
        Self { secret, lanes: Lanes::new(capacity, QUIET), known: Lanes::new(capacity, AWAY) }
    }

    /// Whether `account` may be tried now. If so, the attempt is counted as failed until [`Throttle::succeeded`].
    pub fn attempt(&mut self, account: &str, origin: Origin<'_>, now: Timestamp) -> Result<(), TooEarly> {
        let lanes = self.lanes_of(account, origin, now);
        let waits = lanes.iter().flatten().map(|(lane, pace)| self.lanes.wait(*lane, *pace, now));
        let wait = waits.max().unwrap_or_default();
        if !wait.is_zero() {
            return Err(TooEarly { wait });
        }
        for (lane, _) in lanes.into_iter().flatten() {
            self.lanes.count(lane, now);
        }
        Ok(())
    }

    /// The last attempt was right: it no longer counts, and its address is known from now on.
    pub fn succeeded(&mut self, account: &str, origin: Origin<'_>, now: Timestamp) {
        let [own, strangers] = self.lanes_of(account, origin, now);
        if let Some((lane, _)) = own {
            self.lanes.forget(lane);
        }
        if let Some((lane, _)) = strangers {
            // Only this attempt: the guesses of others stay counted.
            self.lanes.take_back(lane);
        }
        self.known.count(self.address_lane(account, origin.address), now);
    }

    /// The lane of the caller alone, and the one it shares with other strangers.
    fn lanes_of(&self, account: &str, origin: Origin<'_>, now: Timestamp) -> [Option<(Lane, Pace)>; 2] {
        if let Some(device) = origin.device {
            return [Some((self.lane("device", account, device.id()), ONE)), None];
        }
        let own = self.address_lane(account, origin.address);
        let strangers = (self.lane("strangers", account, &[]), STRANGERS);
        [Some((own, ONE)), (!self.known.is_remembered(own, now)).then_some(strangers)]
    }

    fn address_lane(&self, account: &str, address: IpAddr) -> Lane {
        match address.to_canonical() {
            IpAddr::V4(address) => self.lane("address", account, &address.octets()),
            // Whoever has one address of a /64 has all of them.
            IpAddr::V6(address) => self.lane("address", account, &address.octets()[..8]),
        }
    }

    fn lane(&self, kind: &str, account: &str, rest: &[u8]) -> Lane {
        Lane::of(self.secret.expose(), kind, account, rest)
    }
}
