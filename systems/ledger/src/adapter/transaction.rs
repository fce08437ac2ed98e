//! Signed transactions of Ethereum, as far as their order goes: name, sender and nonce.

use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use sha3::{Digest as _, Keccak256};

/// A blob transaction on its way carries its blobs around it; they are no part of its name.
const WITH_BLOBS: u8 = 3;
/// The types of transactions that there are, beside those without one.
const TYPES: std::ops::RangeInclusive<u8> = 1..=4;
/// The place of the nonce among the fields of a typed transaction, behind the chain.
const NONCE_OF_TYPED: usize = 1;
/// The fields of the signature, at the end.
const SIGNATURE: usize = 3;

/// The parts of a transaction that say where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transaction {
    /// The hash by which nodes know it, in hex.
    pub(crate) hash: String,
    /// The account that signed it, in hex.
    pub(crate) sender: String,
    pub(crate) nonce: u64,
}

/// An item of RLP: its bytes with their head and without.
#[derive(Debug, Clone, Copy)]
struct Item<'a> {
    whole: &'a [u8],
    inner: &'a [u8],
    is_list: bool,
}

/// Reads a signed transaction; none where the bytes are not one.
pub(crate) fn read(raw: &[u8]) -> Option<Transaction> {
    let kind = raw.first().copied().filter(|first| TYPES.contains(first));
    let list = item(&mut &raw[usize::from(kind.is_some())..])?;
    let fields = items(list)?;
    let (list, fields) = match fields.first() {
        Some(body) if kind == Some(WITH_BLOBS) && body.is_list => (*body, items(*body)?),
        _ => (list, fields),
    };
    let signed_at = fields.len().checked_sub(SIGNATURE)?;
    let nonce = fields.get(if kind.is_some() { NONCE_OF_TYPED } else { 0 })?;
    let v = number(fields[signed_at].inner)?;
    let mut signed: Vec<u8> = fields[..signed_at].iter().flat_map(|field| field.whole).copied().collect();
    let parity = match (kind, v) {
        (Some(_), parity) => parity,
        (None, 27 | 28) => v - 27,
        (None, 35..) => {
            signed.extend(encoded_number((v - 35) / 2));
            signed.extend([0x80, 0x80]);
            (v - 35) % 2
        }
        (None, _) => return None,
    };
    let of_kind = |list: &[u8]| kind.into_iter().chain(list.iter().copied()).collect::<Vec<u8>>();
    let digest = Keccak256::digest(of_kind(&encoded_list(&signed)));
    let parts = [fields[signed_at + 1].inner, fields[signed_at + 2].inner];
    let key = recovered(&digest, parity, parts)?;
    let account = Keccak256::digest(&key.to_sec1_point(false).as_bytes()[1..]);
    Some(Transaction {
        hash: hex(&Keccak256::digest(of_kind(list.whole))),
        sender: hex(&account[12..]),
        nonce: number(nonce.inner)?,
    })
}

fn recovered(digest: &[u8], parity: u64, [r, s]: [&[u8]; 2]) -> Option<VerifyingKey> {
    let mut both = [0; 64];
    both[32_usize.checked_sub(r.len())?..32].copy_from_slice(r);
    both[64_usize.checked_sub(s.len()).filter(|at| *at >= 32)?..].copy_from_slice(s);
    let signature = Signature::from_slice(&both).ok()?;
    let id = RecoveryId::from_byte(u8::try_from(parity).ok().filter(|parity| *parity < 2)?)?;
    VerifyingKey::recover_from_prehash(digest, &signature, id).ok()
}

fn items(list: Item<'_>) -> Option<Vec<Item<'_>>> {
    let mut rest = list.inner;
    let mut items = Vec::new();
    while list.is_list && !rest.is_empty() {
        items.push(item(&mut rest)?);
    }
    Some(items)
}

fn item<'a>(rest: &mut &'a [u8]) -> Option<Item<'a>> {
    let whole = *rest;
    let first = *whole.first()?;
    let (head, length) = match first {
        0..=0x7f => (0, 1),
        0x80..=0xb7 => (1, usize::from(first - 0x80)),
        0xc0..=0xf7 => (1, usize::from(first - 0xc0)),
        _ => {
            let bytes = usize::from(if first < 0xc0 { first - 0xb7 } else { first - 0xf7 });
            (1 + bytes, usize::try_from(number(whole.get(1..=bytes)?)?).ok()?)
        }
    };
    let (whole, behind) = whole.split_at_checked(head.checked_add(length)?)?;
    *rest = behind;
    Some(Item { whole, inner: &whole[head..], is_list: first >= 0xc0 })
}

fn number(bytes: &[u8]) -> Option<u64> {
    let mut padded = [0; 8];
    padded[8_usize.checked_sub(bytes.len())?..].copy_from_slice(bytes);
    Some(u64::from_be_bytes(padded))
}

fn encoded_number(number: u64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let digits = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    match digits {
        [small] if *small < 0x80 => vec![*small],
        digits => [&[0x80 | digits.len() as u8], digits].concat(),
    }
}

fn encoded_list(inner: &[u8]) -> Vec<u8> {
    if inner.len() <= 55 {
        return [&[0xc0 | inner.len() as u8], inner].concat();
    }
    let bytes = inner.len().to_be_bytes();
    let digits = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    [&[0xf7 + digits.len() as u8], digits, inner].concat()
}

/// Writes bytes as Ethereum does.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold("0x".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    /// The example of EIP-155.
    #[test]
    fn a_transaction_without_a_type_is_read() {
        let raw = bytes(concat!(
            "f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61",
            "340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555",
            "c9f3dc64214b297fb1966a3b6d83"
        ));
        let found = read(&raw).unwrap();
        assert_eq!(found.sender, "0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f");
        assert_eq!(found.hash, "0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788");
        assert_eq!(found.nonce, 9);
    }

    #[test]
    fn bytes_that_are_no_transaction_are_told_from_one() {
        let raw =
            bytes("f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080");
        for bytes in [
            &[][..],
            &[2],
            &[0xc0],
            &[0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &raw,
            &[0xff; 99],
        ] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }
}
