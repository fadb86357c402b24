//! What passwords promise.

use super::*;

fn secret(text: &str) -> SecretString {
    SecretString::new(text.to_owned())
}

fn permit() -> Permit {
    Gate::new(1, 0).try_enter().unwrap()
}

#[test]
fn a_password_verifies_against_its_own_hash_and_no_other() {
    let permit = permit();
    let hashed = hash(&permit, &secret("plum kettle orbit seven")).unwrap();
    assert!(hashed.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hashed.as_str());
    let stored = PasswordHash::parse(hashed.as_str()).unwrap();
    let right = verify(&permit, &secret("plum kettle orbit seven"), Some(&stored));
    assert_eq!(right, Verified::Right { stale: false });
    assert_eq!(verify(&permit, &secret("plum kettle orbit sevem"), Some(&stored)), Verified::Wrong);
    assert_ne!(hash(&permit, &secret("plum kettle orbit seven")).unwrap(), hashed, "each has its own salt");
}

/// Of the reference implementation: `echo -n "password" | argon2 somesalt -id -t 2 -k 65536 -p 1 -l 32 -e`.
#[test]
fn a_hash_of_the_reference_implementation_verifies_and_is_stale() {
    let stored = PasswordHash::parse(
        "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
    )
    .unwrap();
    assert_eq!(verify(&permit(), &secret("password"), Some(&stored)), Verified::Right { stale: true });
}

#[test]
fn nobody_has_any_password() {
    for guess in ["", "plum kettle orbit seven", STAND_IN] {
        assert_eq!(verify(&permit(), &secret(guess), None), Verified::Wrong);
    }
}

#[test]
fn the_stand_in_costs_what_a_hash_of_today_costs() {
    let stand_in = PasswordHash::parse(STAND_IN).unwrap();
    assert!(!stand_in.needs_rehash());
    let lengths = |text: &str| text.rsplit('$').map(str::len).collect::<Vec<_>>();
    assert_eq!(lengths(STAND_IN)[0], lengths(hash(&permit(), &secret("x")).unwrap().as_str())[0]);
}

#[test]
fn a_stored_text_that_is_no_hash_of_ours_is_refused() {
    for bad in [
        "",
        "plaintext",
        "$2b$12$abcdefghijklmnopqrstuuN0eZQ6m7n3fS8bV0G2a5J1r9tq8Xy3W",
        "$argon2i$v=19$m=19456,t=2,p=1$UHVuayBzdGFuZHMgaW4$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=4194304,t=2,p=1$UHVuayBzdGFuZHMgaW4$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=4000,p=1$UHVuayBzdGFuZHMgaW4$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=1",
    ] {
        assert_eq!(PasswordHash::parse(bad), Err(NotAHash), "{bad}");
    }
}

#[test]
fn a_hash_prints_its_parameters_only() {
    let printed = format!("{:?}", PasswordHash::parse(STAND_IN).unwrap());
    assert_eq!(printed, "PasswordHash($argon2id$v=19$m=19456,t=2,p=1$…)");
}

#[track_caller]
fn chosen(password: &str) -> Result<(), Rule> {
    check(&secret(password), "Maria.Example@example.org")
}

#[test]
fn a_password_is_judged_by_its_length_and_by_who_would_guess_it() {
    assert_eq!(chosen("tiny"), Err(Rule::Short { actual: 4 }));
    assert_eq!(chosen("ééééééééééé"), Err(Rule::Short { actual: 11 }), "characters count, not bytes");
    assert_eq!(chosen(&"ab".repeat(129)), Err(Rule::Long { actual: 258 }));
    assert_eq!(chosen("maria.example@example.org"), Err(Rule::Email));
    assert_eq!(chosen("MARIA.EXAMPLE"), Err(Rule::Email));
    assert_eq!(chosen("Password1234"), Err(Rule::Common));
    assert_eq!(chosen("ÄÄÄÄÄÄÄÄÄÄÄÄ"), Err(Rule::Common));
    assert_eq!(chosen("all lower case"), Ok(()), "no rule about which characters");
    assert_eq!(chosen(&"ab".repeat(128)), Ok(()));
}

#[test]
fn no_rule_repeats_the_password() {
    for password in ["Password1234", "tiny-plum", "maria.example@example.org"] {
        assert!(!chosen(password).unwrap_err().to_string().contains(password));
    }
}

#[tokio::test]
async fn the_gate_lets_so_many_in_so_many_wait_and_tells_the_others() {
    let gate = Gate::new(2, 1);
    let first = gate.enter().await.unwrap();
    let _second = gate.enter().await.unwrap();
    let mut third = Box::pin(gate.enter());
    // Polled once, so that it waits.
    assert!(asked_once(&mut third).is_none());
    assert_eq!(gate.enter().await.unwrap_err(), Full);
    assert_eq!(gate.try_enter().unwrap_err(), Full);
    drop(first);
    let third = third.await.unwrap();
    drop(third);
    gate.enter().await.unwrap();
}

#[tokio::test]
async fn who_stops_waiting_gives_the_place_back() {
    let gate = Gate::new(1, 1);
    let _first = gate.enter().await.unwrap();
    for _ in 0..3 {
        let mut waiting = Box::pin(gate.enter());
        assert!(asked_once(&mut waiting).is_none());
    }
}

/// What `future` says when asked once.
fn asked_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    match std::pin::Pin::new(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}
