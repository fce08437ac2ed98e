//! The published RFC 6962 cases (transparency-dev/merkle): eight leaves, their roots, and every way a proof can be wrong.

use audit::tree::{
    Memory, empty_root, leaf_hash, prove_consistency, prove_inclusion, verify_consistency, verify_inclusion,
};
use model::Digest;

const LEAVES: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];

const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

// Hashes that several of the proofs share.
const A: &str = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
const B: &str = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
const C: &str = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
const D: &str = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
const E: &str = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
const F: &str = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";
const G: &str = "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f";
const SOME: &str = "abacaba000000000000000000000000000000000000000000060061e00123456";

/// Index, size, proof.
const INCLUSION: [(u64, u64, &[&str]); 5] = [
    (0, 1, &[]),
    (0, 8, &[A, B, C]),
    (5, 8, &[D, E, ROOTS[3]]),
    (2, 3, &[ROOTS[1]]),
    (1, 5, &[ROOTS[0], B, D]),
];

/// Old size, new size, proof.
const CONSISTENCY: [(u64, u64, &[&str]); 5] =
    [(1, 1, &[]), (1, 8, &[A, B, C]), (6, 8, &[F, E, ROOTS[3]]), (2, 5, &[B, D]), (6, 7, &[F, G, ROOTS[3]])];

fn hash(hex: &str) -> Digest {
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
    Digest(std::array::from_fn(byte))
}

fn hashes(hex: &[&str]) -> Vec<Digest> {
    hex.iter().map(|hex| hash(hex)).collect()
}

fn root(size: u64) -> Digest {
    hash(ROOTS[usize::try_from(size - 1).unwrap()])
}

fn tree() -> Memory {
    let mut tree = Memory::new();
    LEAVES.iter().for_each(|leaf| tree.push(leaf_hash(leaf)));
    tree
}

/// Everything that may be put around or in place of a proof's hashes.
fn broken(proof: &[Digest], around: &[Digest]) -> Vec<Vec<Digest>> {
    let mut broken = Vec::new();
    for extra in around {
        broken.push([proof, &[*extra]].concat());
        broken.push([&[*extra], proof].concat());
    }
    for index in 0..proof.len() {
        for bit in [8, 16] {
            let mut changed = proof.to_vec();
            changed[index].0[0] ^= bit;
            broken.push(changed);
        }
    }
    if let Some((_, rest)) = proof.split_last() {
        broken.push(rest.to_vec());
        broken.push([&[proof[0]], proof].concat());
        broken.push(Vec::new());
    }
    if let [first, rest @ ..] = proof
        && !rest.is_empty()
    {
        broken.push([&[*first, hash(SOME)], rest].concat());
    }
    broken
}

#[test]
fn roots_are_the_published_ones() {
    let tree = tree();
    for size in 1..=8 {
        assert_eq!(tree.root_at(size), root(size), "{size}");
    }
    assert_eq!(empty_root(), hash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
}

#[test]
fn published_inclusion_proofs_are_made_and_hold() {
    for (index, size, proof) in INCLUSION {
        let leaf = leaf_hash(LEAVES[usize::try_from(index).unwrap()]);
        let Ok(made) = prove_inclusion(&tree(), index, size);
        assert_eq!(made, hashes(proof));
        verify_inclusion(index, (size, &root(size)), leaf, &made).unwrap();
    }
}

#[test]
fn every_published_way_to_break_an_inclusion_proof_is_refused() {
    for (index, size, proof) in INCLUSION {
        let (leaf, proof) = (leaf_hash(LEAVES[usize::try_from(index).unwrap()]), hashes(proof));
        let refuses = |index: u64, size: u64, root: &Digest, leaf: Digest, proof: &[Digest]| {
            assert!(
                verify_inclusion(index, (size, root), leaf, proof).is_err(),
                "{index} of {size}: {proof:?}"
            );
        };
        let right = root(size);
        for wrong in [index.wrapping_sub(1), index + 1, index ^ 2] {
            refuses(wrong, size, &right, leaf, &proof);
        }
        for wrong in [size * 2, size / 2] {
            refuses(index, wrong, &right, leaf, &proof);
        }
        refuses(index, size, &right, hash(SOME), &proof);
        refuses(index, size, &empty_root(), leaf, &proof);
        refuses(index, size, &hash(SOME), leaf, &proof);
        for wrong in broken(&proof, &[right, Digest([0; 32])]) {
            refuses(index, size, &right, leaf, &wrong);
        }
    }
    for (index, size) in [(0, 0), (0, 1), (1, 0), (2, 1)] {
        for root in [hash(ROOTS[0]), empty_root()] {
            assert!(verify_inclusion(index, (size, &root), hash(SOME), &[]).is_err(), "{index} of {size}");
        }
    }
}

#[test]
fn published_consistency_proofs_are_made_and_hold() {
    for (old, new, proof) in CONSISTENCY {
        let Ok(made) = prove_consistency(&tree(), old, new);
        assert_eq!(made, hashes(proof));
        verify_consistency((old, &root(old)), (new, &root(new)), &made).unwrap();
    }
}

#[test]
fn every_published_way_to_break_a_consistency_proof_is_refused() {
    for (old, new, proof) in CONSISTENCY.into_iter().filter(|(_, _, proof)| !proof.is_empty()) {
        let proof = hashes(proof);
        let refuses = |old: (u64, &Digest), new: (u64, &Digest), proof: &[Digest]| {
            assert!(verify_consistency(old, new, proof).is_err(), "{old:?} {new:?} {proof:?}");
        };
        let (old_root, new_root) = (root(old), root(new));
        for wrong in [old - 1, old + 1, old ^ 2] {
            refuses((wrong, &old_root), (new, &new_root), &proof);
        }
        for wrong in [new * 2, new / 2] {
            refuses((old, &old_root), (wrong, &new_root), &proof);
        }
        refuses((old, &hash(SOME)), (new, &new_root), &proof);
        refuses((old, &old_root), (new, &hash(SOME)), &proof);
        refuses((old, &new_root), (new, &old_root), &proof);
        for wrong in broken(&proof, &[old_root, new_root, Digest([0; 32])]) {
            refuses((old, &old_root), (new, &new_root), &wrong);
        }
    }
}

#[test]
fn sizes_that_cannot_be_consistent_are_refused_whatever_the_proof() {
    let (a, b, none) = (hash(A), hash(B), empty_root());
    let wrong: [(u64, u64, Digest, Digest, &[Digest]); 12] = [
        (0, 0, a, b, &[]),
        (1, 1, a, b, &[]),
        (0, 0, a, a, &[]),
        (0, 1, a, b, &[]),
        (1, 0, a, b, &[]),
        (2, 1, a, b, &[]),
        (1, 2, a, b, &[]),
        (0, 0, none, b, &[]),
        (1, 1, none, b, &[]),
        (0, 0, none, none, &[none]),
        (1, 1, none, none, &[none]),
        (0, 1, none, none, &[none]),
    ];
    for (old, new, old_root, new_root, proof) in wrong {
        assert!(verify_consistency((old, &old_root), (new, &new_root), proof).is_err(), "{old} {new}");
    }
    verify_consistency((1, &b), (1, &b), &[]).unwrap();
}
