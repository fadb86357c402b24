//! Devices that logged in before, proved by a cookie.
//!
//! ```text
//! d1.<16 random bytes in hex>.<HMAC-SHA256 of account and random bytes, in hex>
//! ```
//!
//! The cookie says only that whoever holds it once knew the password of the account: it moves a login to a lane of its
//! own and opens nothing. So nothing is stored, every node knows every device, and a cookie of one account means nothing
//! for another.

use crypto::random::{self, RandomError};
use crypto::{Secret, SecretString, hmac_sha256};
use subtle::ConstantTimeEq as _;

const VERSION: &str = "d1";

/// A device that logged in to one account before.
#[derive(Clone, PartialEq, Eq)]
pub struct Device {
    id: [u8; 16],
}

impl Device {
    pub(super) fn id(&self) -> &[u8; 16] {
        &self.id
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Device(…)")
    }
}

/// There is no key to make cookies with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// No key was given.
    #[error("there is no key to know devices by")]
    NoKey,
}

/// Makes and knows the cookies.
#[derive(Debug)]
pub struct Devices {
    keys: Vec<Secret<[u8; 32]>>,
}

impl Devices {
    /// The first key makes cookies, all of them know them. A shell takes `derive_secret("login devices")` of the ring's
    /// token keys, the newest first.
    pub fn new(keys: Vec<Secret<[u8; 32]>>) -> Self {
        Self { keys }
    }

    /// A new cookie for whoever has just logged in to `account`. Hand it out at every login: HttpOnly, for a year.
    pub fn introduce(&self, account: &str) -> Result<SecretString, DeviceError> {
        let key = self.keys.first().ok_or(DeviceError::NoKey)?;
        let id = random::bytes::<16>()?;
        let proof = proof(key, account, &id);
        Ok(SecretString::new(format!("{VERSION}.{}.{}", hex::encode(id), hex::encode(proof))))
    }

    /// The device, when `cookie` was made for `account`.
    pub fn recognise(&self, account: &str, cookie: &str) -> Option<Device> {
        let (id, given) = cookie.strip_prefix(VERSION)?.strip_prefix('.')?.split_once('.')?;
        let (mut device, mut proved) = (Device { id: [0; 16] }, [0; 32]);
        hex::decode_to_slice(id, &mut device.id).ok()?;
        hex::decode_to_slice(given, &mut proved).ok()?;
        let known = self.keys.iter().any(|key| proof(key, account, &device.id).ct_eq(&proved).into());
        known.then_some(device)
    }
}

fn proof(key: &Secret<[u8; 32]>, account: &str, id: &[u8; 16]) -> [u8; 32] {
    let mut text = b"punk/login-device/v1\n".to_vec();
    text.extend_from_slice(id);
    text.extend_from_slice(account.as_bytes());
    hmac_sha256(key.expose(), &text)
}
