//! Parsers panic on nothing that is read from others, and what is read is written back the same.

use crate::common::{Deployment, eventful, leaves, trust, witness_key};
use audit::leaf::Entry;
use audit::note::{Checkpoint, Note, SigningKey, VerifierKey};
use audit::proof::{Evidence, TlogProof};
use audit::tiles::{Entries, TilePath};
use audit::verify::{EvidenceOptions, verify_evidence};
use audit::witness::{AddCheckpoint, Policy};
use proptest::prelude::*;

/// Every parser, on the same bytes. What it accepts must read back as it was.
fn read_all(bytes: &[u8]) {
    if let Ok(note) = Note::parse(bytes) {
        assert_eq!(note.to_string().as_bytes(), bytes);
    }
    if let Ok(request) = AddCheckpoint::parse(bytes) {
        assert_eq!(request.to_string().as_bytes(), bytes);
    }
    let _ = Policy::parse(bytes);
    let _ = Entry::read(bytes);
    let _ = Entries::of(bytes).count();
    let trust = trust();
    let _ = verify_evidence(bytes, &EvidenceOptions { trust: Some(&trust), known: None });
    let _ = Evidence::parse(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(checkpoint) = text.parse::<Checkpoint>() {
        assert_eq!(checkpoint.to_string(), text);
    }
    if let Ok(proof) = text.parse::<TlogProof>() {
        assert_eq!(proof.to_string(), text);
    }
    if let Ok(path) = text.parse::<TilePath>() {
        assert_eq!(path.to_string(), text);
    }
    let _ = (text.parse::<VerifierKey>(), text.parse::<SigningKey>());
}

/// One good example of everything that is parsed.
fn examples() -> Vec<Vec<u8>> {
    let story = eventful();
    let mut deployment = Deployment::new();
    deployment.apply(&story.pipeline);
    deployment.publish(&leaves(&story.events));
    let evidence = deployment.evidence(&story);
    let witness = witness_key("w.example", 3);
    let checkpoint = deployment.checkpoint();
    let policy = format!("witness w {}\ngroup g any w\nquorum g\n", witness.verifier());
    let mut examples = vec![
        checkpoint.clone().into_bytes(),
        Note::parse(checkpoint.as_bytes()).unwrap().text.into_bytes(),
        format!("old 3\nAHCioX9nLjsrse6YhjRRmk1WUEirVOLLRoOQ6vfO5vk=\n\n{checkpoint}").into_bytes(),
        evidence.events[0].proof.clone().into_bytes(),
        evidence.to_text().into_bytes(),
        policy.into_bytes(),
        witness.to_secret().into_bytes(),
        witness.verifier().to_string().into_bytes(),
        b"tile/0/x001/x234/067.p/9".to_vec(),
    ];
    examples.extend(deployment.leaves);
    examples
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_is_refused_in_good_order(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes);
    }

    #[test]
    fn text_of_the_right_letters_is_refused_in_good_order(text in "(old |index |— |extra |[a-z+/=0-9]{1,8}|\n|\n\n| ){0,40}") {
        read_all(text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_examples_are_read_in_good_order(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 40),
    ) {
        for example in examples() {
            for (place, byte, how) in &places {
                let at = place.index(example.len());
                let mut bytes = example.clone();
                match how {
                    0 => bytes[at] = *byte,
                    1 => drop(bytes.remove(at)),
                    2 => bytes.insert(at, *byte),
                    _ => bytes.truncate(at),
                }
                read_all(&bytes);
            }
        }
    }
}
