/// `UPDATE_DOCS=1 cargo test -p milepost-server errors_doc` writes the file.
#[test]
fn the_list_of_errors_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");
    let current = server::errors_doc();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap();
    assert!(
        committed == current,
        "docs/errors.md is old; write it anew with UPDATE_DOCS=1 cargo test -p milepost-server"
    );
}
