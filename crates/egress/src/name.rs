//! Which host names may be looked up at all.
//!
//! What a name resolves to is judged too, and that is what holds; refusing some names before is for a clear word to
//! whoever wrote it, for metadata services at addresses that nobody has heard of yet, and to keep questions about the
//! inside of a network from the outside's name servers.

/// Where clouds hand out credentials, by name. Refused whatever is allowed.
const METADATA: &[&str] = &[
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.oraclecloud.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
    "rancher-metadata",
];

/// Names below these exist on this machine or its own network, or nowhere.
const LOCAL: &[&str] = &[
    "alt",
    "corp",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
    "svc",
];

/// What is to be said of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It may be anybody's.
    Public,
    /// It is a name of this machine or its network.
    Local,
    /// It is a cloud's.
    Metadata,
    /// No host has such a name.
    Impossible,
}

/// Judges `name`: in lower case, in ASCII, without the dot at its end.
pub(crate) fn standing(name: &str) -> Standing {
    let is_below = |parent: &&str| {
        name.strip_suffix(*parent).is_some_and(|above| above.is_empty() || above.ends_with('.'))
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        Standing::Impossible
    } else if METADATA.iter().any(is_below) {
        Standing::Metadata
    } else if !name.contains('.') || LOCAL.iter().any(is_below) {
        Standing::Local
    } else {
        Standing::Public
    }
}

fn is_label(label: &str) -> bool {
    // Underscores are not for hosts, and container networks give them anyway.
    let is_letter =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=63).contains(&label.len()) && label.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: Standing, names: &[&str]) {
        for name in names {
            assert_eq!(standing(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_is_judged_by_its_end_and_label_by_label() {
        check(Standing::Public, &["example.com", "a.b.example", "localhost.example.com", "notlocal.example"]);
        check(Standing::Public, &["mylocalhost.com", "internal.example.com", "xn--bcher-kva.example"]);
        check(
            Standing::Local,
            &["localhost", "a.localhost", "printer.local", "db.internal", "opa", "x.home.arpa"],
        );
        check(Standing::Metadata, &["metadata.google.internal", "a.metadata.google.internal", "metadata"]);
        check(Standing::Metadata, &["metadata.goog", "instance-data"]);
        let long = format!("{}.example", "a".repeat(64));
        let longer = vec!["a"; 127].join(".") + ".example";
        check(Standing::Impossible, &["", "a..b", ".a", "a.", "a b", "a*b.example", "Upper.example"]);
        check(Standing::Impossible, &[&long, &longer]);
    }
}
