//! Batches as Sawtooth's clients make them: signed, with signed transactions that pay. The demo's ledger reads them again and
//! checks every signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k256::ecdsa::signature::hazmat::PrehashVerifier as _;
use k256::ecdsa::{Signature, SigningKey, VerifyingKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};

use crate::adapter::fields;

/// One who sends batches: a service, and the key that it signs with.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) service: &'static str,
    key: SigningKey,
    public: String,
}

/// A batch that was read and whose signatures are good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) header: String,
    pub(super) payments: Vec<Payment>,
}

/// A transaction of the demo's ledger: somebody pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payment {
    pub(super) id: String,
    pub(super) from: String,
    pub(super) pays: u64,
}

impl Sender {
    /// Makes a sender whose key follows from its name: nothing in the demo is worth a better one.
    pub(super) fn new(service: &'static str) -> Option<Sender> {
        let key = SigningKey::from_slice(&Sha256::digest(service)).ok()?;
        let public = hex(key.verifying_key().to_sec1_point(true).as_bytes());
        Some(Sender { service, key, public })
    }

    /// Returns a batch with a transaction for each payment, as it is submitted. No two with different numbers are the same.
    pub(super) fn batch(&self, number: u64, pays: &[u64], data_change: &str) -> Value {
        let transactions: Vec<(String, Vec<u8>)> =
            pays.iter().enumerate().map(|(at, pays)| self.transaction(number, at, *pays)).collect();
        let ids = transactions.iter().flat_map(|(id, _)| field(2, id.as_bytes()));
        let header = [field(1, self.public.as_bytes()), ids.collect()].concat();
        let signature = self.sign(&header);
        let listed = transactions.iter().flat_map(|(_, bytes)| field(3, bytes));
        let batch = [field(1, &header), field(2, signature.as_bytes()), listed.collect()].concat();
        json!({
            "service_id": self.service,
            "batch_header": signature,
            "data_change_id": data_change,
            "signer_public_key": self.public,
            "serialized_batch": STANDARD.encode(batch),
        })
    }

    fn transaction(&self, number: u64, at: usize, pays: u64) -> (String, Vec<u8>) {
        let payload = json!({ "from": self.service, "pays": pays }).to_string();
        let header = [
            field(1, self.public.as_bytes()),
            field(3, b"milepost-demo"),
            field(4, b"1.0"),
            field(6, format!("{number}-{at}").as_bytes()),
            field(9, hex(&Sha512::digest(&payload)).as_bytes()),
            field(10, self.public.as_bytes()),
        ]
        .concat();
        let signature = self.sign(&header);
        let whole = [field(1, &header), field(2, signature.as_bytes()), field(3, payload.as_bytes())];
        (signature, whole.concat())
    }

    fn sign(&self, bytes: &[u8]) -> String {
        let (signature, _) = self.key.sign_prehash_recoverable(&Sha256::digest(bytes));
        hex(&signature.to_bytes())
    }
}

/// Reads the batches of a list. None: it is no list, a signature is not good, or a payload is not what was signed.
pub(super) fn read(list: &[u8]) -> Option<Vec<Signed>> {
    let batches = fields(list)?.into_iter().filter(|(number, _)| *number == 1);
    batches.map(|(_, batch)| read_one(batch)).collect()
}

fn read_one(batch: &[u8]) -> Option<Signed> {
    let parts = fields(batch)?;
    let header = signed(&parts, 1)?;
    let transactions = parts.iter().filter(|(number, _)| *number == 3);
    let payments: Option<Vec<Payment>> = transactions.map(|(_, bytes)| payment(bytes)).collect();
    Some(Signed { header, payments: payments.filter(|payments| !payments.is_empty())? })
}

fn payment(transaction: &[u8]) -> Option<Payment> {
    let parts = fields(transaction)?;
    let id = signed(&parts, 10)?;
    let header = fields(first(&parts, 1)?)?;
    let payload = first(&parts, 3)?;
    if first(&header, 9)? != hex(&Sha512::digest(payload)).as_bytes() {
        return None;
    }
    let payload: Value = serde_json::from_slice(payload).ok()?;
    Some(Payment { id, from: payload["from"].as_str()?.to_owned(), pays: payload["pays"].as_u64()? })
}

/// Returns the signature over a header, its field 1, if it is good for the key that the header names.
fn signed(parts: &[(u64, &[u8])], signer: u64) -> Option<String> {
    let (header, signature) = (first(parts, 1)?, str::from_utf8(first(parts, 2)?).ok()?);
    let key = unhex(str::from_utf8(first(&fields(header)?, signer)?).ok()?)?;
    let key = VerifyingKey::from_sec1_bytes(&key).ok()?;
    let good = Signature::from_slice(&unhex(signature)?).ok()?;
    key.verify_prehash(&Sha256::digest(header), &good).ok()?;
    Some(signature.to_owned())
}

fn first<'a>(parts: &[(u64, &'a [u8])], number: u64) -> Option<&'a [u8]> {
    parts.iter().find(|(known, _)| *known == number).map(|(_, value)| *value)
}

fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut length = value.len();
    while length > 0x7f {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(value);
    bytes
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(batch: &Value) -> Vec<u8> {
        field(1, &STANDARD.decode(batch["serialized_batch"].as_str().unwrap()).unwrap())
    }

    #[test]
    fn a_batch_is_read_as_it_was_signed() {
        let sender = Sender::new("grain-coast::mill").unwrap();
        let batch = sender.batch(7, &[30, 2], "dcid:x");
        let read = read(&bytes(&batch)).unwrap();
        assert_eq!(read[0].header, batch["batch_header"]);
        assert_eq!(read[0].header.len(), 128);
        let paid: Vec<(&str, u64)> = read[0].payments.iter().map(|paid| (&*paid.from, paid.pays)).collect();
        assert_eq!(paid, [("grain-coast::mill", 30), ("grain-coast::mill", 2)]);
        assert_ne!(sender.batch(8, &[30, 2], "dcid:x")["batch_header"], batch["batch_header"]);
    }

    #[test]
    fn a_batch_with_a_bit_of_another_is_refused() {
        let sender = Sender::new("grain-coast::mill").unwrap();
        let good = bytes(&sender.batch(7, &[30], "dcid:x"));
        for at in (3..good.len()).step_by(17) {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert_eq!(read(&bad), None, "the byte {at}");
        }
        assert_eq!(read(b"\x0a\x00"), None, "a batch without transactions");
    }
}
