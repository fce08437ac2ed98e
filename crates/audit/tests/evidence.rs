//! Every way to tamper with an export is caught, and named for what it is.

use crate::common;

use audit::follow::{Publisher, TileStore as _, put_definition};
use audit::guard::Guard;
use audit::note::{Cosigner as _, Note, Trust};
use audit::proof::{Evidence, TlogProof, assemble};
use audit::verify::{
    EvidenceOptions, EvidenceReport, Fault, Finding, LogOptions, verify_evidence, verify_log,
};
use audit::witness::Policy;
use common::story::{Story, pipeline};
use common::{Deployment, ORIGIN, REPORT, eventful, key, leaves, trust, witness_key};
use model::event::Leaf;
use model::{Digest, Right, Role};

fn check(evidence: &Evidence) -> Result<EvidenceReport, Finding> {
    check_text(evidence.to_text().as_bytes(), &trust())
}

fn check_text(text: &[u8], trust: &Trust) -> Result<EvidenceReport, Finding> {
    verify_evidence(text, &EvidenceOptions { trust: Some(trust), known: None })
}

#[track_caller]
fn fault(evidence: &Evidence) -> Fault {
    let finding = check(evidence).unwrap_err();
    assert!(finding.to_string().starts_with(finding.fault.as_str()), "{finding}");
    finding.fault
}

/// A log with two submissions whose events alternate, and the story of one of them.
fn scene() -> (Deployment, Story) {
    let story = eventful();
    let mut other = Story::of(story.pipeline.clone());
    other.now = model::Time::from_millis(1_500_000_000_000);
    other.submit(common::story::admin(), r#"{"id":"other","pages":3}"#).unwrap();
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    let (ours, theirs) = (leaves(&story.events), leaves(&other.events));
    deployment.publish(&ours[..2]);
    deployment.publish(&theirs);
    deployment.publish(&ours[2..]);
    (deployment, story)
}

/// Signs a log with these events, whatever they say: what an operator could do who does not run the engine's rules.
fn forged(story: &Story, change: impl FnOnce(&mut Vec<Leaf>)) -> Result<EvidenceReport, Finding> {
    let mut forged = story.clone();
    let mut changed: Vec<Leaf> = forged.events.iter().map(|event| event.leaf.clone()).collect();
    change(&mut changed);
    let mut previous = None;
    for (revision, leaf) in (1..).zip(&mut changed) {
        (leaf.revision, leaf.previous) = (revision, previous);
        previous = Some(Leaf::hash(&leaf.bytes()));
    }
    let template = forged.events[0].clone();
    forged.events.resize(changed.len(), template);
    for (event, leaf) in forged.events.iter_mut().zip(&changed) {
        event.leaf = leaf.clone();
        event.detail.salts = Default::default();
    }
    let row = forged.row.as_mut().unwrap();
    (row.revision, row.state) = (changed.len() as u64, changed.last().unwrap().to.clone());
    let mut deployment = Deployment::new();
    deployment.apply(&forged.pipeline);
    deployment.publish(&leaves(&forged.events));
    let alone = check(&deployment.evidence(&forged));
    let whole = verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &LogOptions::default());
    let (alone_fault, whole_fault) = (alone.as_ref().err(), whole.as_ref().err());
    assert_eq!(alone_fault.map(|finding| finding.fault), whole_fault.map(|finding| finding.fault));
    alone
}

#[test]
fn an_export_verifies_with_nothing_but_the_key() {
    let (deployment, story) = scene();
    let report = check(&deployment.evidence(&story)).unwrap();
    assert_eq!((report.events, &*report.state), (5, "SENT"));
    assert_eq!(report.checkpoint.signed_by, [ORIGIN]);
    assert_eq!(
        check_text(deployment.evidence(&story).to_text().as_bytes(), &Trust::default()).unwrap_err().fault,
        Fault::Signature
    );
    let stranger = Trust::key(key("stranger.example", 9).verifier());
    assert_eq!(
        check_text(deployment.evidence(&story).to_text().as_bytes(), &stranger).unwrap_err().fault,
        Fault::Signature
    );
}

#[test]
fn every_single_byte_change_is_caught() {
    let (mut deployment, story) = scene();
    // With a witness whose cosignature is asked for, so that its line counts too.
    let witness = witness_key("witness.example/w1", 5);
    let mut note = Note::parse(deployment.checkpoint().as_bytes()).unwrap();
    note.signatures.push(witness.cosign(&note.text, 1_700_000_000).unwrap());
    deployment.store.swap_checkpoint(Some(&deployment.checkpoint()), &note.to_string()).unwrap();
    deployment.leaves.shrink_to_fit();
    let policy = format!("log {}\nwitness w {}\nquorum w\n", key(ORIGIN, 1).verifier(), witness.verifier());
    let trust = Trust { keys: Vec::new(), policy: Some(Policy::parse(policy.as_bytes()).unwrap()) };

    let mut small = deployment.request(&story, Some(4));
    small.events.truncate(2);
    (small.state, small.revision) = ("SENDING".into(), 2);
    let evidence = assemble(small, &deployment.checkpoint(), &deployment.store).unwrap();
    let text = evidence.to_text().into_bytes();
    check_text(&text, &trust).unwrap();
    let mut caught = std::collections::BTreeMap::<&str, u32>::new();
    for at in 0..text.len() {
        // A bit that keeps most bytes printable, the case bit, and the top bit.
        for flip in [1, 0x20, 0x80] {
            let mut changed = text.clone();
            changed[at] ^= flip;
            match check_text(&changed, &trust) {
                Ok(_) => panic!("byte {at}: {:?} for {:?}", changed[at] as char, text[at] as char),
                Err(finding) => *caught.entry(finding.fault.as_str()).or_default() += 1,
            }
        }
    }
    let total: u32 = caught.values().sum();
    assert_eq!(total as usize, 3 * text.len());
    assert!(caught.len() > 4, "{caught:?}");
}

#[test]
fn formatting_alone_is_caught_too() {
    let (deployment, story) = scene();
    let text = deployment.evidence(&story).to_text();
    let compact: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(check_text(compact.to_string().as_bytes(), &trust()).unwrap_err().fault, Fault::Spelling);
}

#[test]
fn dropped_repeated_and_swapped_events_are_named() {
    let (deployment, story) = scene();
    let evidence = deployment.evidence(&story);
    for gone in 0..4 {
        let mut changed = evidence.clone();
        changed.events.remove(gone);
        let finding = check(&changed).unwrap_err();
        assert_eq!(finding.fault, Fault::Revision, "{finding}");
        assert_eq!(finding.place.revision, Some(gone as u64 + 2), "{finding}");
    }
    for twice in 0..5 {
        let mut changed = evidence.clone();
        changed.events.insert(twice, changed.events[twice].clone());
        assert_eq!(fault(&changed), Fault::Order, "{twice}");
    }
    for at in 0..4 {
        let mut changed = evidence.clone();
        changed.events.swap(at, at + 1);
        assert!(matches!(fault(&changed), Fault::Order | Fault::Revision), "{at}");
    }
}

#[test]
fn a_truncated_tail_is_caught_by_the_claim() {
    let (deployment, story) = scene();
    let mut evidence = deployment.evidence(&story);
    evidence.events.pop();
    let finding = check(&evidence).unwrap_err();
    assert_eq!(finding.fault, Fault::Incomplete);
    assert!(finding.message.contains("revision 5 is claimed and 4 events"), "{finding}");
    // With the claim made to fit, the export is true as far as it goes; the log itself says that it goes on.
    (evidence.revision, evidence.state) = (4, "COOLING".into());
    let report = check(&evidence).unwrap();
    let options = LogOptions { watch: vec![story.row().id], ..LogOptions::default() };
    let log = verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &options).unwrap();
    assert_ne!(log.tips[0].leaf, report.tip);
    assert_eq!((log.tips[0].revision, &*log.tips[0].state), (5, "SENT"));
}

#[test]
fn a_log_that_lost_its_tail_is_caught_against_an_older_checkpoint() {
    let (deployment, story) = scene();
    let seen = deployment.checkpoint();
    // Restored from an old copy, with a new guard: it grows another history under the same key.
    let mut restored = Deployment::new();
    restored.apply(&story.pipeline);
    restored.publish(&leaves(&story.events)[..2]);
    let mut short = story.clone();
    short.events.truncate(2);
    let row = short.row.as_mut().unwrap();
    (row.revision, row.state) = (2, "SENDING".into());
    let trust = trust();
    let options = EvidenceOptions { trust: Some(&trust), known: Some(&seen) };
    let verify = |evidence: Evidence| verify_evidence(evidence.to_text().as_bytes(), &options).unwrap_err();
    let finding = verify(restored.evidence(&short));
    assert_eq!(finding.fault, Fault::Consistency);
    assert!(finding.message.contains("tail was cut off"), "{finding}");
    // It may grow as long as it likes: it is another log.
    let filler: Vec<Vec<u8>> = vec![common::applied(&story.pipeline); 20];
    restored.publish(&filler);
    assert_eq!(verify(restored.evidence_from(&short, Some(7))).fault, Fault::Consistency);
    assert_eq!(verify(restored.evidence(&short)).fault, Fault::Consistency);
}

#[test]
fn evidence_of_a_log_that_went_on_verifies_against_an_older_checkpoint() {
    let (mut deployment, story) = scene();
    let seen = deployment.checkpoint();
    deployment.publish(&vec![common::applied(&story.pipeline); 300]);
    let trust = trust();
    let options = EvidenceOptions { trust: Some(&trust), known: Some(&seen) };
    let evidence = deployment.evidence_from(&story, Some(7));
    verify_evidence(evidence.to_text().as_bytes(), &options).unwrap();
    let without = deployment.evidence(&story);
    assert_eq!(
        verify_evidence(without.to_text().as_bytes(), &options).unwrap_err().fault,
        Fault::Consistency
    );
}

#[test]
fn an_event_nobody_logged_is_named() {
    let (deployment, story) = scene();
    let evidence = deployment.evidence(&story);
    for at in 0..5 {
        let mut changed = evidence.clone();
        changed.events[at].leaf = changed.events[at].leaf.replace("\"held\":false", "\"held\":true");
        let finding = check(&changed).unwrap_err();
        assert_eq!(
            (finding.fault, finding.place.revision),
            (Fault::Inclusion, Some(at as u64 + 1)),
            "{finding}"
        );
    }
    // A proof that is true, but of another leaf.
    let mut changed = evidence.clone();
    changed.events[1].proof = changed.events[0].proof.clone();
    assert_eq!(fault(&changed), Fault::Inclusion);
    // Extra data is nobody's statement.
    let mut proof: TlogProof = evidence.events[0].proof.parse().unwrap();
    proof.extra = Some(b"hello".to_vec());
    let mut changed = evidence.clone();
    changed.events[0].proof = proof.to_string();
    assert_eq!(fault(&changed), Fault::Inclusion);
}

#[test]
fn documents_that_are_not_those_of_the_event_are_named() {
    let (deployment, story) = scene();
    let evidence = deployment.evidence(&story);
    let change = |change: fn(&mut audit::proof::Documents)| {
        let mut changed = evidence.clone();
        change(&mut changed.events[0].documents);
        fault(&changed)
    };
    assert_eq!(
        change(|documents| documents.payload.as_mut().unwrap().text = "{}".to_owned()),
        Fault::Document
    );
    assert_eq!(change(|documents| documents.payload.as_mut().unwrap().salt.0[0] ^= 1), Fault::Document);
    assert_eq!(change(|documents| documents.output = documents.payload.clone()), Fault::Document);
    assert_eq!(change(|documents| documents.metadata = documents.payload.clone()), Fault::Document);
}

#[test]
fn definitions_must_be_logged_before_they_are_used_and_be_what_was_logged() {
    let (deployment, story) = scene();
    let evidence = deployment.evidence(&story);
    let mut changed = evidence.clone();
    changed.definitions.clear();
    assert_eq!(fault(&changed), Fault::Definition);
    let mut changed = evidence.clone();
    changed.definitions[0].definition = changed.definitions[0].definition.replace("100", "101");
    assert_eq!(fault(&changed), Fault::Definition);
    let mut changed = evidence.clone();
    changed.definitions.push(changed.definitions[0].clone());
    assert_eq!(fault(&changed), Fault::Definition);

    // Applied after the fact.
    let mut late = Deployment::new();
    late.publish(&leaves(&story.events));
    late.apply(&story.pipeline);
    assert_eq!(fault(&late.evidence(&story)), Fault::Definition);
    let log = verify_log(&late.store, &late.checkpoint(), &trust(), &LogOptions::default()).unwrap_err();
    assert_eq!((log.fault, log.place.index), (Fault::Definition, Some(0)));

    // Logged under another name.
    let mut applied: serde_json::Value = serde_json::from_slice(&common::applied(&story.pipeline)).unwrap();
    assert_eq!(applied["kind"].take(), "applied");
    let other = String::from_utf8(common::applied(&story.pipeline)).unwrap().replace("report", "retort");
    let mut renamed = Deployment::new();
    put_definition(&renamed.store, story.pipeline.definition.as_str().as_bytes()).unwrap();
    renamed.publish(&[other.into_bytes()]);
    renamed.publish(&leaves(&story.events));
    let log =
        verify_log(&renamed.store, &renamed.checkpoint(), &trust(), &LogOptions::default()).unwrap_err();
    assert_eq!((log.fault, log.place.index), (Fault::Definition, Some(0)));
}

#[test]
fn an_illegal_move_with_valid_hashes_is_named() {
    let story = eventful();
    forged(&story, |_| {}).unwrap();
    let faults = |change: fn(&mut Vec<Leaf>)| {
        let finding = forged(&story, change).unwrap_err();
        assert!(finding.place.index.is_some() && finding.place.revision.is_some(), "{finding}");
        (finding.fault, finding.place.revision.unwrap())
    };
    // events: submitted REVIEW, moved SENDING, retried, moved COOLING, moved SENT
    assert_eq!(faults(|leaves| leaves[1].to = "SENT".into()), (Fault::Move, 2), "no edge");
    assert_eq!(faults(|leaves| leaves[1].to = "ELSEWHERE".into()), (Fault::Move, 2), "no state");
    assert_eq!(faults(|leaves| leaves[0].to = "SENT".into()), (Fault::Move, 1), "no way in");
    assert_eq!(faults(|leaves| drop(leaves.remove(1))), (Fault::Move, 2), "from where it did not stand");
    assert_eq!(faults(|leaves| drop(leaves.remove(0))), (Fault::Move, 1), "never submitted");
    assert_eq!(faults(|leaves| leaves.insert(1, leaves[0].clone())), (Fault::Move, 2), "submitted twice");
    assert_eq!(faults(|leaves| leaves[1].trigger = "reject".into()), (Fault::Trigger, 2));
    assert_eq!(faults(|leaves| leaves[2].trigger = "again".into()), (Fault::Trigger, 3));
    assert_eq!(
        faults(|leaves| leaves[1].right = Right::Role(Role::Submitter)),
        (Fault::Right, 2),
        "wrong role"
    );
    assert_eq!(faults(|leaves| leaves[1].right = Right::Rule), (Fault::Right, 2), "nobody");
    assert_eq!(
        faults(|leaves| leaves[1].actor.kind = model::ActorKind::Worker),
        (Fault::Right, 2),
        "wrong actor"
    );
    assert_eq!(faults(|leaves| leaves[3].right = Right::Rule), (Fault::Right, 4), "no lease");
    assert_eq!(
        faults(|leaves| leaves[3].right = Right::Lease(1)),
        (Fault::Right, 4),
        "a lease that was used"
    );
    assert_eq!(faults(|leaves| leaves[4].at = leaves[3].at), (Fault::Move, 5), "before its time");
    assert_eq!(faults(|leaves| leaves[3].attempt = 1), (Fault::Move, 4), "a miscounted attempt");
    assert_eq!(faults(|leaves| leaves[2].to = "SENT".into()), (Fault::Move, 3), "a retry that moves");
    assert_eq!(faults(|leaves| leaves[4].definition = Digest([1; 32])), (Fault::Definition, 5));
}

#[test]
fn a_move_its_guard_does_not_allow_is_named_where_the_inputs_are_revealed() {
    // The real payload has 120 pages and needs a review; the operator's story says otherwise.
    let mut story = Story::submitted(pipeline(REPORT), r#"{"id":"r-1","pages":3}"#);
    assert_eq!(story.state(), "SENDING");
    let lied = model::json::Json::parse(r#"{"id":"r-1","pages":120}"#).unwrap();
    let event = &mut story.events[0];
    event.leaf.payload =
        Some(Digest::of_parts(&[&event.detail.salts.payload.unwrap().0, lied.as_str().as_bytes()]));
    event.documents.payload = Some(lied);
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&leaves(&story.events));
    let finding = check(&deployment.evidence(&story)).unwrap_err();
    assert_eq!(finding.fault, Fault::Guard);
    assert!(finding.message.contains("payload.pages > 100"), "{finding}");
}

#[test]
fn erasing_a_payload_breaks_no_proof() {
    let (deployment, story) = scene();
    let mut evidence = deployment.evidence(&story);
    evidence.events.iter_mut().for_each(|event| event.documents = Default::default());
    check(&evidence).unwrap();
}

#[test]
fn keys_rotate_with_overlap() {
    let (deployment, story) = scene();
    let guard = || {
        let signers: Vec<Box<dyn audit::note::Signer>> =
            vec![Box::new(key(ORIGIN, 1)), Box::new(key(ORIGIN, 2))];
        Guard::open(deployment.folder.path().join("guard"), signers).unwrap()
    };
    let mut publisher = Publisher::open(&deployment.store, ORIGIN, guard()).unwrap();
    let added = audit::leaf::KeyChange { key: key(ORIGIN, 2).verifier().to_string(), at: story.now };
    publisher.advance(&[audit::leaf::Record::KeyAdded(added).bytes()]).unwrap();
    let text = deployment.evidence(&story).to_text();
    for seed in [1, 2] {
        check_text(text.as_bytes(), &Trust::key(key(ORIGIN, seed).verifier())).unwrap();
    }
    assert!(check_text(text.as_bytes(), &Trust::key(key(ORIGIN, 3).verifier())).is_err());
    let report =
        verify_log(&deployment.store, &deployment.checkpoint(), &trust(), &LogOptions::default()).unwrap();
    assert_eq!(report.acts.len(), 1);
}
