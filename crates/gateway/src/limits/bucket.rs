//! A bucket holds a minute, of which every request takes its share, and fills up evenly (GCRA): there is no edge of a
//! minute at which twice as much gets through. All that is known of a bucket is what is missing in it.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use ledger::sha256;
use schema::{ApiKeyId, Digest, UserId};

use crate::gate::Surface;

const MINUTE: u64 = 60_000_000_000;

/// Who is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Key(ApiKeyId),
    User(UserId),
    Address(IpAddr),
}

impl Who {
    /// The nearest that is known of somebody. What has a key counts by it, also a person's; a person without one counts by
    /// who they are, from wherever they ask.
    pub(crate) fn of(key: Option<ApiKeyId>, user: Option<UserId>, peer: IpAddr) -> Self {
        key.map(Self::Key).or(user.map(Self::User)).unwrap_or(Self::Address(peer))
    }
}

/// What a bucket is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum What {
    /// What one caller asks.
    Requests(Surface),
    /// All that comes from an address.
    Address,
    /// All that a person asks, with whatever they show.
    Person,
    /// Wrong credentials.
    Failures,
}

/// Whose bucket, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Bucket {
    pub(super) who: Who,
    pub(super) what: What,
}

impl Bucket {
    /// What it is called where others could read it.
    pub(super) fn name(&self) -> Digest {
        let what = match self.what {
            What::Requests(Surface::Model) => 0,
            What::Requests(Surface::Rest) => 1,
            What::Address => 2,
            What::Person => 3,
            What::Failures => 4,
        };
        let (kind, bytes) = match self.who {
            Who::Key(key) => (0, *key.as_bytes()),
            Who::User(user) => (1, *user.as_bytes()),
            Who::Address(IpAddr::V4(address)) => (2, address.to_ipv6_mapped().octets()),
            Who::Address(IpAddr::V6(address)) => (2, address.octets()),
        };
        sha256(&[b"limit".as_slice(), &[what, kind], &bytes].concat())
    }
}

/// How many requests a bucket holds, which is at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate(NonZeroU32);

impl Rate {
    /// Nothing where there is no limit.
    pub(super) fn new(limit: u32) -> Option<Self> {
        NonZeroU32::new(limit).map(Self)
    }

    pub(super) fn limit(self) -> u32 {
        self.0.get()
    }

    /// What one request takes, in nanoseconds.
    pub(super) fn cost(self) -> u64 {
        // No limit is so large that nothing would be left.
        (MINUTE / u64::from(self.limit())).max(1)
    }

    /// What a bucket holds: as many requests as it says and not a part of one more.
    fn room(self) -> u64 {
        self.cost() * u64::from(self.limit())
    }

    /// How many requests there is room for.
    pub(super) fn fits(self, missing: u64) -> u32 {
        u32::try_from(self.room().saturating_sub(missing) / self.cost()).unwrap_or(u32::MAX)
    }

    /// Until there is room for one more.
    pub(super) fn wait(self, missing: u64) -> Duration {
        Duration::from_nanos((missing + self.cost()).saturating_sub(self.room()))
    }
}

/// Whether a request is to take its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Take,
    Look,
}

/// What is wanted of one bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) bucket: Bucket,
    pub(super) rate: Rate,
    pub(super) how: How,
}

/// How a bucket stands, after what was wanted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    /// Whether there was room for one request.
    pub(super) fits: bool,
    /// How long it takes to fill up, in nanoseconds.
    pub(super) missing: u64,
}

/// What becomes of a bucket.
pub(super) fn drawn(rate: Rate, how: How, missing: u64) -> Level {
    let fits = rate.fits(missing) > 0;
    let taken = if fits && how == How::Take { rate.cost() } else { 0 };
    Level { fits, missing: missing + taken }
}
