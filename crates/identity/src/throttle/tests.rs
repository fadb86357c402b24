//! The laws of the throttle.

use super::*;
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

const OWNER: &str = "maria@example.org";

fn throttle(capacity: usize) -> Throttle {
    Throttle::with(Secret::new([7; 32]), capacity)
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + millis).unwrap()
}

fn from(last: u32) -> Origin<'static> {
    Origin { address: IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + last)), device: None }
}

fn devices() -> Devices {
    Devices::new(vec![Secret::new([1; 32]), Secret::new([2; 32])])
}

#[test]
fn the_wait_doubles_up_to_a_quarter_of_an_hour() {
    let mut throttle = throttle(10);
    let mut now = 0;
    let mut waits = Vec::new();
    for _ in 0..18 {
        if let Err(early) = throttle.attempt(OWNER, from(1), at(now)) {
            waits.push(early.wait.as_secs());
            now += early.wait.as_millis() as u64;
            throttle.attempt(OWNER, from(1), at(now)).unwrap();
        }
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
}

#[test]
fn an_attempt_that_comes_too_early_is_not_counted() {
    let mut throttle = throttle(10);
    while throttle.attempt(OWNER, from(1), at(0)).is_ok() {}
    for _ in 0..100 {
        assert_eq!(throttle.attempt(OWNER, from(1), at(500)).unwrap_err().wait, Duration::from_millis(500));
    }
    throttle.attempt(OWNER, from(1), at(1000)).unwrap();
}

#[test]
fn a_success_begins_anew() {
    let mut throttle = throttle(10);
    for _ in 0..50 {
        throttle.attempt(OWNER, from(1), at(0)).unwrap();
        throttle.succeeded(OWNER, from(1), at(0));
    }
}

#[test]
fn the_addresses_of_one_ipv6_network_are_one() {
    let mut throttle = throttle(10);
    let one = |host: u128| Origin {
        address: IpAddr::V6(Ipv6Addr::from((0x2001_0db8_u128 << 96) + host)),
        device: None,
    };
    let admitted = (0..100).filter(|host| throttle.attempt(OWNER, one(*host), at(0)).is_ok()).count();
    assert_eq!(admitted, 5);
}

#[test]
fn an_ipv4_address_in_ipv6_clothes_is_the_same() {
    let mut throttle = throttle(10);
    while throttle.attempt(OWNER, from(1), at(0)).is_ok() {}
    let mapped = Origin { address: IpAddr::V6(Ipv4Addr::from(0x0a00_0001).to_ipv6_mapped()), device: None };
    assert!(throttle.attempt(OWNER, mapped, at(0)).is_err());
}

#[test]
fn a_cookie_is_known_for_its_own_account_only_and_under_every_key() {
    let cookie = devices().introduce(OWNER).unwrap();
    assert!(devices().recognise(OWNER, cookie.expose()).is_some());
    assert!(devices().recognise("other@example.org", cookie.expose()).is_none());
    let rotated = Devices::new(vec![Secret::new([3; 32]), Secret::new([1; 32])]);
    assert!(rotated.recognise(OWNER, cookie.expose()).is_some());
    assert!(Devices::new(vec![Secret::new([3; 32])]).recognise(OWNER, cookie.expose()).is_none());
    assert!(Devices::new(Vec::new()).introduce(OWNER).is_err());
}

#[test]
fn a_cookie_with_any_character_changed_is_not_known() {
    let cookie = devices().introduce(OWNER).unwrap();
    for position in 0..cookie.expose().len() {
        let mut bytes = cookie.expose().clone().into_bytes();
        bytes[position] = if bytes[position] == b'0' { b'1' } else { b'0' };
        assert!(devices().recognise(OWNER, &String::from_utf8(bytes).unwrap()).is_none(), "{position}");
    }
}

#[test]
fn a_stolen_device_slows_itself_down_and_not_the_owner_elsewhere() {
    let mut throttle = throttle(100);
    let [stolen, own] = [(); 2].map(|()| {
        let cookie = devices().introduce(OWNER).unwrap();
        devices().recognise(OWNER, cookie.expose()).unwrap()
    });
    let with = |device| Origin { device: Some(device), ..from(1) };
    while throttle.attempt(OWNER, with(&stolen), at(0)).is_ok() {}
    throttle.attempt(OWNER, with(&own), at(0)).unwrap();
}

/// The guesser has five tries and waits; then as many names as the memory holds twice over.
#[test]
fn a_flood_does_not_wash_a_guesser_away() {
    let mut throttle = throttle(64);
    while throttle.attempt(OWNER, from(1), at(0)).is_ok() {}
    for name in 0..200 {
        let _ = throttle.attempt(&format!("nobody-{name}"), from(1), at(0));
    }
    assert!(throttle.attempt(OWNER, from(1), at(0)).is_err());
}

#[test]
fn what_is_long_over_makes_room_first() {
    let mut throttle = throttle(4);
    while throttle.attempt(OWNER, from(1), at(0)).is_ok() {}
    let day = QUIET.as_millis() as u64;
    for name in ["a", "b", "c"] {
        throttle.attempt(name, from(1), at(day)).unwrap();
    }
    assert!(throttle.lanes.len() <= 4);
    throttle.attempt(OWNER, from(1), at(day)).unwrap();
}

/// One attempt: who, where from, after how many milliseconds, and whether the password was right.
fn any_attempts() -> impl Strategy<Value = Vec<(u8, u32, u64, bool)>> {
    proptest::collection::vec((0..4u8, 0..12u32, 0..40_000u64, proptest::bool::weighted(0.05)), 1..300)
}

proptest! {
    /// The law that makes it no denial of service: whatever strangers do, from however many addresses, an address and
    /// a device that logged in before get their first attempts at once.
    #[test]
    fn strangers_never_slow_the_owner_down(attacks in any_attempts(), by_device in any::<bool>()) {
        let mut throttle = throttle(1000);
        let cookie = devices().introduce(OWNER).unwrap();
        let device = devices().recognise(OWNER, cookie.expose()).unwrap();
        let home = Origin { device: by_device.then_some(&device), ..from(99) };
        throttle.attempt(OWNER, home, at(0)).unwrap();
        throttle.succeeded(OWNER, home, at(0));
        let mut now = 0;
        for (_, address, pause, _) in attacks {
            now += pause;
            let _ = throttle.attempt(OWNER, from(address), at(now));
        }
        prop_assume!(now < QUIET.as_millis() as u64);
        for _ in 0..ONE.free {
            prop_assert_eq!(throttle.attempt(OWNER, home, at(now)), Ok(()));
        }
    }

    /// The law that makes it a throttle: without success, one address gets no more tries than the waits allow.
    #[test]
    fn guesses_are_bounded_by_the_waits(pauses in proptest::collection::vec(0..100_000u64, 1..300)) {
        let mut throttle = throttle(1000);
        let (mut now, mut admitted, mut due) = (0, 0u32, 0);
        for pause in pauses {
            now += pause;
            let allowed = throttle.attempt(OWNER, from(1), at(now));
            prop_assert_eq!(allowed.is_ok(), now >= due, "{} admitted, due at {}, now {}", admitted, due, now);
            if allowed.is_ok() {
                admitted += 1;
                let doublings = admitted.saturating_sub(ONE.free).min(20);
                let wait = if admitted < ONE.free { 0 } else { (1000 << doublings).min(900_000) };
                due = now + wait;
            }
        }
    }

    /// All strangers together: at most twenty at will, and then one every thirty seconds.
    #[test]
    fn a_botnet_gets_no_more_than_the_strangers_lane(steps in 1..60u64, step in 1..120u64, bots in 1..20u32) {
        let mut throttle = throttle(10_000);
        let mut admitted = 0;
        for second in (0..steps).map(|number| number * step) {
            for bot in 0..bots {
                admitted += u64::from(throttle.attempt(OWNER, from(bot), at(second * 1000)).is_ok());
            }
        }
        // Five more while the wait doubles from one second to thirty.
        prop_assert!(admitted <= 20 + 5 + 1 + steps * step / 30, "{}", admitted);
    }

    #[test]
    fn memory_is_bounded(attempts in any_attempts(), capacity in 1..20usize) {
        let mut throttle = throttle(capacity);
        let mut now = 0;
        for (account, address, pause, right) in attempts {
            now += pause;
            let account = format!("account-{account}");
            if throttle.attempt(&account, from(address), at(now)).is_ok() && right {
                throttle.succeeded(&account, from(address), at(now));
            }
            prop_assert!(throttle.lanes.len() <= capacity && throttle.known.len() <= capacity);
        }
    }

    /// Nobody waits longer than the longest wait, and who waits as long as told is let in, unless others came between.
    #[test]
    fn the_wait_that_is_told_is_the_wait_that_is_meant(attempts in any_attempts()) {
        let mut throttle = throttle(1000);
        let mut now = 0;
        for (account, address, pause, _) in attempts {
            now += pause;
            let account = format!("account-{account}");
            if let Err(early) = throttle.attempt(&account, from(address), at(now)) {
                prop_assert!(early.wait <= ONE.longest);
                now += early.wait.as_millis() as u64;
                prop_assert_eq!(throttle.attempt(&account, from(address), at(now)), Ok(()));
            }
        }
    }

    #[test]
    fn no_text_is_a_device_of_ours(cookie in "d1\\.[0-9a-f]{32}\\.[0-9a-f]{64}|.*") {
        prop_assert!(devices().recognise(OWNER, &cookie).is_none());
    }
}
