//! Publishing into a folder, again and again.

use serde_json::json;
use tempfile::TempDir;

use super::*;

const TEXT: &str =
    "---\nname: pdf\ndescription: Reads forms and fills them in.\n---\nRead each page of the form.\n";

fn release(no: u128, text: &str) -> Release {
    Release {
        repository: "https://git.example/ada/skills".to_owned(),
        name: "pdf".to_owned(),
        place: "skills/pdf".to_owned(),
        description: "Reads forms and fills them in.".to_owned(),
        commit: format!("{no:040x}"),
        content_hash: format!("{:064x}", text.len()),
        text: text.to_owned(),
        submission: wire::SubmissionId(uuid::Uuid::from_u128(no)),
        published_at: wire::Time::from_millis(1_700_000_000_000),
        certified_by: json!({ "tier1": 100 }),
    }
}

struct Ground {
    registry: Registry,
    key: Key,
    folder: TempDir,
}

fn ground() -> Ground {
    let folder = TempDir::new().unwrap();
    let key = Key::open("registry.example/skills", &folder.path().join("key")).unwrap();
    Ground { registry: Registry::new(folder.path().join("registry")), key, folder }
}

impl Ground {
    fn publish(&self, release: Release) -> Published {
        self.registry.publish(release, &self.key).unwrap()
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.registry.file(path).unwrap().unwrap()).unwrap()
    }
}

#[test]
fn a_skill_is_published_once_and_then_as_its_next_version() {
    let ground = ground();
    let first = ground.publish(release(1, TEXT));
    assert_eq!(first.version, "1.0.0");
    let files = ["index.json", "index.note"].map(|path| ground.text(path));
    assert_eq!(ground.publish(release(1, TEXT)), first, "a second time");
    assert_eq!(ground.publish(release(2, TEXT)), first, "another submission of the same content");
    assert_eq!(["index.json", "index.note"].map(|path| ground.text(path)), files);
    let second = ground.publish(release(3, &format!("{TEXT}\n## More\nText.\n")));
    assert_eq!((second.version.as_str(), second.id.as_str()), ("1.1.0", first.id.as_str()));
    let index = ground.registry.index().unwrap();
    let versions: Vec<&str> =
        index.skills[0].versions.iter().map(|version| version.version.as_str()).collect();
    assert_eq!((versions, index.skills[0].latest.as_str()), (vec!["1.0.0", "1.1.0"], "1.1.0"));
    assert_eq!(index.skills[0].versions[0].commit, format!("{:040x}", 1));
    let document: serde_json::Value =
        serde_json::from_str(&ground.text(&format!("skills/{}/1.1.0.json", first.id))).unwrap();
    assert_eq!((&document["change"], &document["certified_by"]), (&json!("minor"), &json!({ "tier1": 100 })));
    assert!(ground.text(&format!("badges/{}.svg", first.id)).contains("v1.1.0"));
}

#[test]
fn what_a_crash_left_undone_is_done_by_the_next_try() {
    let ground = ground();
    let first = ground.publish(release(1, TEXT));
    for lost in ["index.json", "index.note", &format!("badges/{}.svg", first.id)] {
        std::fs::remove_file(ground.registry.folder().join(lost)).unwrap();
        assert_eq!(ground.publish(release(1, TEXT)), first);
        assert!(ground.registry.file(lost).unwrap().is_some(), "{lost}");
    }
}

#[test]
fn the_index_is_signed_as_a_note_that_others_read() {
    let ground = ground();
    ground.publish(release(1, TEXT));
    let note = signed_note::Note::from_bytes(ground.text("index.note").as_bytes()).unwrap();
    let verifier = signed_note::StandardVerifier::new(&ground.key.verifier()).unwrap();
    let verifiers = signed_note::VerifierList::new(vec![Box::new(verifier)]);
    let (verified, _) = note.verify(&verifiers).unwrap();
    assert_eq!(verified.len(), 1);
    let text = String::from_utf8(note.text().to_vec()).unwrap();
    let index = ground.registry.file("index.json").unwrap().unwrap();
    let hash = tlog::note::to_base64(&sha2::Digest::finalize(sha2::Digest::chain_update(
        sha2::Sha256::default(),
        index,
    )));
    assert_eq!(text, format!("registry.example/skills\n1\n{hash}\n"));
}

#[test]
fn a_withdrawn_skill_says_so_until_it_is_published_again() {
    let ground = ground();
    let id = ground.publish(release(1, TEXT)).id;
    assert!(ground.registry.withdraw(&id, "leaks keys", &ground.key).unwrap());
    assert!(!ground.registry.withdraw("sk_0000000000000000", "x", &ground.key).unwrap());
    assert_eq!(ground.registry.index().unwrap().skills[0].withdrawn.as_deref(), Some("leaks keys"));
    assert!(ground.text(&format!("badges/{id}.svg")).contains("withdrawn"));
    ground.publish(release(2, &format!("{TEXT}Better.\n")));
    assert_eq!(ground.registry.index().unwrap().skills[0].withdrawn, None);
}

#[test]
fn only_files_of_the_registry_are_served() {
    let ground = ground();
    let id = ground.publish(release(1, TEXT)).id;
    assert!(ground.registry.file(&format!("skills/{id}.json")).unwrap().is_some());
    for path in [
        "",
        "lock",
        "../key",
        "skills/../../key",
        "skills/x.json",
        "badges/..%2fkey",
        "skills/sk_0/../x.json",
    ] {
        assert_eq!(ground.registry.file(path).unwrap(), None, "{path}");
    }
}

#[test]
fn a_key_is_made_once_and_kept_from_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = ground();
    let file = ground.folder.path().join("key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let again = Key::open("registry.example/skills", &file).unwrap();
    assert_eq!(again.verifier(), ground.key.verifier());
    assert!(!format!("{again:?}").contains(std::fs::read_to_string(&file).unwrap().trim()));
    std::fs::write(&file, "short").unwrap();
    assert!(Key::open("registry.example/skills", &file).is_err());
    assert!(Key::check_name("two words").is_err());
}
