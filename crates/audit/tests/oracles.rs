//! Agreement with implementations nobody here wrote: ct-merkle, tlog_tiles and signed_note, up to 70,000 leaves.

use std::cell::RefCell;

use crate::common::{ORIGIN, key, trust};
use audit::follow::{Log, MemoryStore, TileStore as _};
use audit::note::{Algorithm, Checkpoint, Note, SigningKey, sign_checkpoint};
use audit::tiles::{CheckedTiles, Shelf, TilePath, TileSource as _};
use audit::tree::{
    Memory, leaf_hash, prove_consistency, prove_inclusion, verify_consistency, verify_inclusion,
};
use ct_merkle::mem_backed_tree::MemoryBackedTree;
use model::Digest;
use proptest::prelude::*;
use sha2::Sha256;

/// Around the borders of tiles and of powers of two, and the size the specification counts out.
const SIZES: [u64; 18] =
    [1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 513, 4_095, 65_535, 65_536, 65_537, 65_792, 65_793, 70_000];

fn leaf(index: u64) -> Vec<u8> {
    let length = usize::try_from(index % 41).unwrap();
    [index.to_be_bytes().to_vec(), vec![7; length]].concat()
}

fn grown(size: u64) -> Memory {
    let mut tree = Memory::new();
    (0..size).for_each(|index| tree.push(leaf_hash(&leaf(index))));
    tree
}

/// A log in tiles, grown in uneven batches as a real one grows.
fn tiled(size: u64) -> (MemoryStore, Digest) {
    let store = MemoryStore::new();
    let mut log = Log::new();
    let (mut next, mut step) = (0, 1);
    while next < size {
        let end = size.min(next + step);
        let leaves: Vec<Vec<u8>> = (next..end).map(leaf).collect();
        store.put(&log.append(&leaves).unwrap().tiles).unwrap();
        (next, step) = (end, step * 5 % 3_001 + 1);
    }
    (store, log.root())
}

#[test]
fn roots_and_proofs_agree_with_ct_merkle() {
    let mut theirs = MemoryBackedTree::<Sha256, Vec<u8>>::new();
    let ours = grown(70_000);
    let mut sizes = SIZES.iter().peekable();
    for index in 0..70_000 {
        theirs.push(leaf(index));
        let size = index + 1;
        if sizes.next_if_eq(&&size).is_none() {
            continue;
        }
        let root = ours.root_at(size);
        assert_eq!(theirs.root().as_bytes().as_slice(), root.0, "{size}");
        for index in [0, 1, size / 3, size / 2, size.saturating_sub(257), size - 1] {
            let index = index.min(size - 1);
            let Ok(proof) = prove_inclusion(&ours, index, size);
            let their_proof = theirs.prove_inclusion(usize::try_from(index).unwrap());
            assert_eq!(their_proof.as_bytes(), bytes(&proof), "{index} of {size}");
            verify_inclusion(index, (size, &root), leaf_hash(&leaf(index)), &proof).unwrap();
        }
        for old in [1, size / 3, size / 2, size.saturating_sub(1), size.saturating_sub(256)] {
            let old = old.clamp(1, size);
            let Ok(proof) = prove_consistency(&ours, old, size);
            let their_proof = theirs.prove_consistency(usize::try_from(size - old).unwrap());
            assert_eq!(their_proof.as_bytes(), bytes(&proof), "{old} to {size}");
            verify_consistency((old, &ours.root_at(old)), (size, &root), &proof).unwrap();
        }
    }
}

fn bytes(hashes: &[Digest]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}

/// Hands our tiles to their reader.
struct Theirs<'a> {
    store: &'a MemoryStore,
    saved: RefCell<usize>,
}

impl tlog_tiles::TileReader for Theirs<'_> {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[tlog_tiles::Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        let read = |tile: &tlog_tiles::Tile| {
            let shelf = Shelf::Hashes(tile.level());
            let width = u16::try_from(tile.width()).unwrap();
            let path = TilePath { shelf, index: tile.level_index(), width };
            // Theirs writes the height into the path; ours is always 8 and leaves it out.
            assert_eq!(tile.path().replacen("tile/8/", "tile/", 1), path.to_string());
            audit::tiles::read_tile(self.store, &path).unwrap()
        };
        Ok(tiles.iter().map(read).collect())
    }

    fn save_tiles(&self, tiles: &[tlog_tiles::Tile], _data: &[Vec<u8>]) {
        *self.saved.borrow_mut() += tiles.len();
    }
}

#[test]
fn their_tile_reader_accepts_our_tiles_and_makes_our_proofs() {
    for size in SIZES {
        let (store, root) = tiled(size);
        let tiles = CheckedTiles::open(&store, size, &root).unwrap();
        let source = Theirs { store: &store, saved: RefCell::new(0) };
        let reader = tlog_tiles::TileHashReader::new(size, tlog_tiles::Hash(root.0), &source);
        for index in [0, size / 2, size - 1] {
            let theirs = tlog_tiles::prove_record(size, index, &reader).unwrap();
            let ours = prove_inclusion(&tiles, index, size).unwrap();
            let theirs: Vec<Digest> = theirs.iter().map(|hash| Digest(hash.0)).collect();
            assert_eq!(ours, theirs, "{index} of {size}");
            verify_inclusion(index, (size, &root), leaf_hash(&leaf(index)), &ours).unwrap();
        }
        for old in [1, size / 2, size.saturating_sub(1)] {
            let old = old.clamp(1, size);
            let theirs = tlog_tiles::prove_tree(size, old, &reader).unwrap();
            let ours = prove_consistency(&tiles, old, size).unwrap();
            assert_eq!(ours, theirs.iter().map(|hash| Digest(hash.0)).collect::<Vec<_>>(), "{old} to {size}");
        }
        assert!(size < 2 || *source.saved.borrow() > 0, "they found our tiles worth keeping");
    }
}

#[test]
fn a_tile_with_one_wrong_bit_is_never_believed() {
    let size = 70_000;
    let (store, root) = tiled(size);
    for (path, bytes) in store.tiles() {
        let Shelf::Hashes(level) = path.shelf else { continue };
        let at_edge = path.index == size >> (8 * level + 8);
        let current = at_edge && path.width == audit::tiles::edge_width(size, level);
        if !(path.is_full() || current) {
            continue;
        }
        let mut changed = bytes.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        store.put(&[(path, changed)]).unwrap();
        let read = CheckedTiles::open(&store, size, &root).and_then(|tiles| tiles.tile(level, path.index));
        assert!(read.is_err(), "{path}");
        store.put(&[(path, bytes)]).unwrap();
    }
    assert!(CheckedTiles::open(&store, size, &root).unwrap().tile(0, 272).is_ok());
}

#[test]
fn a_log_goes_on_from_its_tiles_as_if_it_had_never_stopped() {
    for size in SIZES {
        let (store, root) = tiled(size);
        let mut again = Log::open(&store, size, &root).unwrap();
        let more: Vec<Vec<u8>> = (size..size + 300).map(leaf).collect();
        store.put(&again.append(&more).unwrap().tiles).unwrap();
        let (whole, expected) = tiled(size + 300);
        assert_eq!(again.root(), expected, "{size}");
        let last = TilePath::of_entry(size + 299, size + 300);
        assert_eq!(store.tile(&last), whole.tile(&last), "{size}");
    }
}

#[test]
fn their_notes_are_ours() {
    let ours = key(ORIGIN, 1);
    let checkpoint = Checkpoint::new(ORIGIN, 70_000, grown(10).root());
    let text = sign_checkpoint(&checkpoint, &[Box::new(ours.clone())]).unwrap().to_string();

    let verifier = signed_note::StandardVerifier::new(&ours.verifier().to_string()).unwrap();
    let note = signed_note::Note::from_bytes(text.as_bytes()).unwrap();
    let (verified, _) = note.verify(&signed_note::VerifierList::new(vec![Box::new(verifier)])).unwrap();
    assert_eq!(verified.len(), 1);
    let read = tlog_tiles::Checkpoint::from_bytes(note.text()).unwrap();
    assert_eq!((read.origin(), read.size(), read.hash().0), (ORIGIN, 70_000, checkpoint.root.0));

    let signer = signed_note::StandardSigner::new(&ours.to_secret()).unwrap();
    let mut theirs = signed_note::Note::new(checkpoint.to_string().as_bytes(), &[]).unwrap();
    theirs.add_sigs(&[&signer]).unwrap();
    assert_eq!(String::from_utf8(theirs.to_bytes()).unwrap(), text);
    assert_eq!(trust().open(&theirs.to_bytes()).unwrap().checkpoint, checkpoint);
}

#[test]
fn the_note_of_the_specification_verifies() {
    // The example of Go's note package.
    let vkey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    let note = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\
                \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
    let key: audit::note::VerifierKey = vkey.parse().unwrap();
    assert_eq!(key.to_string(), vkey);
    let note = Note::parse(note.as_bytes()).unwrap();
    assert!(key.verifies(&note.text, &note.signatures[0].bytes));
    assert!(!key.verifies(&note.text.replace("don't", "do"), &note.signatures[0].bytes));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_index_and_any_older_size_is_proven(size in 1_u64..3_000, index in any::<u64>(), old in any::<u64>()) {
        let (index, old) = (index % size, old % size + 1);
        let tree = grown(size);
        let Ok(inclusion) = prove_inclusion(&tree, index, size);
        let Ok(consistency) = prove_consistency(&tree, old, size);
        let (root, leaf) = (tree.root(), leaf_hash(&leaf(index)));
        prop_assert!(verify_inclusion(index, (size, &root), leaf, &inclusion).is_ok());
        prop_assert!(verify_consistency((old, &tree.root_at(old)), (size, &root), &consistency).is_ok());
        let mut wrong = inclusion.clone();
        if let Some(hash) = wrong.first_mut() {
            hash.0[31] ^= 1;
            prop_assert!(verify_inclusion(index, (size, &root), leaf, &wrong).is_err());
        }
    }

    #[test]
    fn keys_survive_their_text(seed in any::<[u8; 32]>(), name in "[a-z./0-9é-]{1,40}") {
        for algorithm in [Algorithm::Ed25519, Algorithm::CosignatureV1] {
            let key = SigningKey::from_seed(&name, algorithm, &seed).unwrap();
            let secret: SigningKey = key.to_secret().parse().unwrap();
            prop_assert_eq!(secret.verifier(), key.verifier());
            prop_assert_eq!(key.verifier().to_string().parse::<audit::note::VerifierKey>().unwrap(), key.verifier());
            let shown = format!("{key:?}");
            prop_assert!(!shown.contains("PRIVATE"));
        }
    }
}
