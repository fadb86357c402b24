//! Ports that browsers refuse to speak HTTP to, because what listens there takes the lines of a request for commands.
//!
//! The list is that of the Fetch standard, "port blocking". Sorted.

const BAD: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Whether something else than a web server is to be expected at `port`.
pub(crate) fn is_bad(port: u16) -> bool {
    BAD.binary_search(&port).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_leaves_the_web_alone() {
        assert!(BAD.is_sorted());
        assert!([0, 22, 25, 6667, 10080].into_iter().all(is_bad));
        assert!(![80, 443, 3000, 8080, 8443, 8181, 9200].into_iter().any(is_bad));
    }
}
