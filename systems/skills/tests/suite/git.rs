//! Fetching by a real git, over files and over HTTP.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use fetch::{Fetch, Policy};
use skills::scan::{Kind, Verdict, scan};
use skills::source::{Error, Git, Snapshot, Wanted};
use tempfile::TempDir;

use crate::support::{Host, skill};

const REPOSITORY: &str = "https://git.example/ada/skills";

fn wanted(path: Option<&str>) -> Wanted {
    Wanted { name: "pdf".to_owned(), path: path.map(str::to_owned) }
}

/// A git that finds the host of the tests at this address, and may connect to these ports of this machine.
struct Ground {
    git: Git,
    _folder: TempDir,
}

fn ground(mirror: String, ports: &[u16]) -> Ground {
    let policy =
        Policy { ports: ports.to_vec(), allowed: vec!["127.0.0.1".parse().unwrap()], ..Policy::default() };
    let folder = TempDir::new().unwrap();
    let mirrors = BTreeMap::from([("git.example".to_owned(), mirror)]);
    let git = Git::new(Fetch::new(policy), folder.path().to_owned()).mirrored(mirrors, None);
    Ground { git, _folder: folder }
}

impl Ground {
    async fn newest(&self) -> Result<Snapshot, Error> {
        self.git.snapshot(REPOSITORY, None, &wanted(None)).await
    }
}

#[tokio::test]
async fn a_skill_is_fetched_the_same_over_files_and_over_http() {
    let host = Host::new();
    let repository = host.repository("ada/skills");
    repository.write("skills/pdf/SKILL.md", &skill("One.")).write("skills/pdf/scripts/a.py", "print(1)\n");
    repository.write("README.md", "Not part of it.");
    let commit = repository.commit();
    let port = host.serve().await;
    let by_file = ground(host.file_url(), &[]).newest().await.unwrap();
    let by_http = ground(format!("http://127.0.0.1:{port}"), &[port]).newest().await.unwrap();
    assert_eq!(by_file, by_http);
    assert_eq!((by_file.commit.as_str(), by_file.place.as_str()), (commit.as_str(), "skills/pdf"));
    let paths: Vec<&str> = by_file.folder.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "scripts/a.py"]);
    assert_eq!(by_file.folder.files[1].bytes, b"print(1)\n");
}

#[tokio::test]
async fn a_pinned_commit_is_what_it_was_whatever_came_behind_it() {
    let host = Host::new();
    let repository = host.repository("ada/skills");
    let first = repository.write("SKILL.md", &skill("One.")).commit();
    let second = repository.write("SKILL.md", &skill("Two.")).commit();
    let port = host.serve().await;
    for ground in [ground(host.file_url(), &[]), ground(format!("http://127.0.0.1:{port}"), &[port])] {
        let pinned = ground.git.snapshot(REPOSITORY, Some(&first), &wanted(None)).await.unwrap();
        assert_eq!(pinned.commit, first);
        assert!(pinned.text().contains("One."));
        let newest = ground.newest().await.unwrap();
        assert_eq!(newest.commit, second);
        assert_ne!(newest.content_hash(), pinned.content_hash());
        let unknown = ground.git.snapshot(REPOSITORY, Some(&"0".repeat(40)), &wanted(None)).await;
        assert!(matches!(unknown, Err(Error::Clone { .. })), "{unknown:?}");
    }
}

#[tokio::test]
async fn hooks_links_and_modules_of_a_repository_do_nothing() {
    let host = Host::new();
    let repository = host.repository("ada/skills");
    repository.write("SKILL.md", &skill("One."));
    symlink("/etc/hostname", repository.path().join("link")).unwrap();
    repository.write(".gitattributes", "* filter=evil\n");
    repository.write(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = file:///nowhere\n");
    let hook = "#!/bin/sh\ntouch /tmp/milepost-hook-ran\n";
    repository.write(".git/hooks/post-checkout", hook).write(".git/hooks/post-upload-pack", hook);
    repository.commit();
    repository.git(&["update-index", "--add", "--cacheinfo", "160000", &"1".repeat(40), "x"]);
    repository.git(&["commit", "-q", "-m", "module"]);
    let snapshot = ground(host.file_url(), &[]).newest().await.unwrap();
    let kind = |path: &str| snapshot.folder.file(path).map(|file| (file.kind, file.bytes.len()));
    assert_eq!(kind("link"), Some((Kind::Symlink, 0)));
    assert_eq!(kind("x"), Some((Kind::Other, 0)));
    assert_eq!(scan(&snapshot.folder).verdict, Verdict::Fail);
}

#[tokio::test]
async fn what_is_too_large_is_not_read() {
    let host = Host::new();
    let repository = host.repository("ada/skills");
    repository.write("SKILL.md", &skill("One.")).write("data.txt", &"word ".repeat(200_000));
    for no in 0..2_100 {
        repository.write(&format!("files/{no}.md"), "x");
    }
    repository.commit();
    let folder = ground(host.file_url(), &[]).newest().await.unwrap().folder;
    assert!(folder.is_cut && folder.file("data.txt").is_some_and(|file| file.bytes.is_empty()));
    assert_eq!(folder.total_bytes() / 1_000, 1_002);
}

#[tokio::test]
async fn a_skill_that_is_not_there_is_told_from_a_repository_that_is_not() {
    let host = Host::new();
    host.repository("ada/skills").write("README.md", "x").commit();
    host.repository("ada/empty");
    let ground = ground(host.file_url(), &[]);
    let no_skill = ground.newest().await.unwrap_err();
    assert!(matches!(no_skill, Error::NoSkill(_)), "{no_skill}");
    for place in ["../../etc", "skills/../../x"] {
        let error = ground.git.snapshot(REPOSITORY, None, &wanted(Some(place))).await.unwrap_err();
        assert!(matches!(error, Error::NoSkill(_)), "{error}");
    }
    for name in ["ada/none", "ada/empty"] {
        let error = ground.git.snapshot(&format!("https://git.example/{name}"), None, &wanted(None)).await;
        assert!(matches!(error, Err(Error::Clone { .. })), "{error:?}");
    }
}

#[tokio::test]
async fn nobody_is_reached_whom_the_deployment_does_not_allow() {
    let host = Host::new();
    host.repository("ada/skills").write("SKILL.md", &skill("One.")).commit();
    let port = host.serve().await;
    let mirror = format!("http://127.0.0.1:{port}");
    let mirrors = BTreeMap::from([("git.example".to_owned(), mirror)]);
    let folder = TempDir::new().unwrap();
    let policy = Policy { ports: vec![port], ..Policy::default() };
    let git = Git::new(Fetch::new(policy), folder.path().to_owned()).mirrored(mirrors, None);
    let error = git.snapshot(REPOSITORY, None, &wanted(None)).await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
