//! The committed references are what the table of endpoints gives.

#[test]
fn the_openapi_document_is_up_to_date() {
    let mut text = serde_json::to_string_pretty(&gateway::openapi()).unwrap();
    text.push('\n');
    expect_test::expect_file!["../../../docs/reference/openapi.json"].assert_eq(&text);
}

#[test]
fn the_reference_is_up_to_date() {
    expect_test::expect_file!["../../../docs/reference/api.md"].assert_eq(&gateway::reference::markdown());
}

#[test]
fn the_table_of_permissions_is_up_to_date() {
    expect_test::expect_file!["../../../docs/reference/permissions.md"]
        .assert_eq(&identity::role::markdown());
}
