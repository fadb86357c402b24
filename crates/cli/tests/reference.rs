//! The committed reference is the one that the program gives.

#[test]
fn the_reference_is_up_to_date() {
    expect_test::expect_file!["../../../docs/reference/cli.md"].assert_eq(&cli::reference::markdown());
}
