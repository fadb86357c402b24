//! The committed reference is the one that the table gives.

#[test]
fn the_reference_is_up_to_date() {
    expect_test::expect_file!["../../../docs/reference/configuration.md"]
        .assert_eq(&config::reference::markdown());
}
