//! The Merkle log against the vectors published for RFC 6962, and against its own laws.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use ledger::{Log, sha256, verify_consistency, verify_inclusion};
use proptest::prelude::*;
use schema::Digest;

/// The eight leaves that the Certificate Transparency project tests with.
fn published() -> Vec<Vec<u8>> {
    let leaves: [&[u8]; 8] = [
        &[],
        &[0x00],
        &[0x10],
        &[0x20, 0x21],
        &[0x30, 0x31],
        &[0x40, 0x41, 0x42, 0x43],
        &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
        &[0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f],
    ];
    leaves.iter().map(|leaf| leaf.to_vec()).collect()
}

const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

fn log(leaves: &[Vec<u8>]) -> Log<Vec<u8>> {
    let mut log = Log::default();
    for leaf in leaves {
        log.push(leaf.clone());
    }
    log
}

fn digests(hex: &[&str]) -> Vec<Digest> {
    hex.iter().map(|hex| hex.parse().unwrap()).collect()
}

#[test]
fn roots_are_the_published_ones() {
    for (n, root) in ROOTS.iter().enumerate() {
        assert_eq!(log(&published()[..=n]).root().to_string(), *root, "{} leaves", n + 1);
    }
}

#[test]
fn inclusion_proofs_are_the_published_ones() {
    let path = |size: usize, index| log(&published()[..size]).prove_inclusion(index).unwrap();
    assert_eq!(path(1, 0), []);
    assert_eq!(
        path(8, 0),
        digests(&[
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ])
    );
    assert_eq!(
        path(8, 5),
        digests(&[
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ])
    );
    assert_eq!(path(3, 2), digests(&["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]));
    assert_eq!(
        path(5, 1),
        digests(&[
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ])
    );
}

#[test]
fn consistency_proofs_are_the_published_ones() {
    let path = |old, size: usize| log(&published()[..size]).prove_consistency(old).unwrap();
    assert_eq!(path(1, 1), []);
    assert_eq!(
        path(1, 8),
        digests(&[
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ])
    );
    assert_eq!(
        path(6, 8),
        digests(&[
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ])
    );
    assert_eq!(
        path(2, 5),
        digests(&[
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ])
    );
}

/// A log of different leaves: between two equal siblings a proof cannot tell.
fn any_log() -> impl Strategy<Value = Log<Vec<u8>>> {
    (1u8..70, any::<u8>()).prop_map(|(size, seed)| log(&(0..size).map(|i| vec![i, seed]).collect::<Vec<_>>()))
}

proptest! {
    #[test]
    fn every_leaf_is_proven_where_it_is_and_nowhere_else(log in any_log(), index in any::<prop::sample::Index>(), other in any::<prop::sample::Index>()) {
        let (index, other) = (index.index(log.leaves().len()), other.index(log.leaves().len()));
        let path = log.prove_inclusion(index as u64).unwrap();
        let leaf = &log.leaves()[index];
        let verify = |at: usize, path: &[Digest]| verify_inclusion(leaf, at as u64, log.size(), log.root(), path);
        prop_assert!(verify(index, &path));
        prop_assert!(other == index || !verify(other, &path));
        prop_assert!(!verify(index, &[path.as_slice(), &[sha256(b"more")]].concat()));
        prop_assert!(path.is_empty() || !verify(index, &path[1..]));
    }

    #[test]
    fn a_log_is_consistent_with_every_prefix_and_with_no_fork(log_ in any_log(), cut in any::<prop::sample::Index>()) {
        let old = cut.index(log_.leaves().len()) + 1;
        let prefix = log(&log_.leaves()[..old]);
        let mut forked = log_.leaves()[..old].to_vec();
        forked[old - 1].push(7);
        let path = log_.prove_consistency(old as u64).unwrap();
        let verify = |root| verify_consistency(old as u64, root, log_.size(), log_.root(), &path);
        prop_assert!(verify(prefix.root()));
        prop_assert!(!verify(log(&forked).root()));
    }
}
