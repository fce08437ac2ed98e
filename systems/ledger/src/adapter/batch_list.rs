//! The envelope in which Sawtooth and Scabbard take batches: a protobuf message with batches as its field 1.

/// The key of a batch in a list: field 1, with a length before it.
const BATCH: u8 = 0x0a;
/// The field of a batch that has the signature of its header, by which it is known.
const HEADER_SIGNATURE: u64 = 2;
/// The wire type of fields with a length before them.
const WITH_LENGTH: u64 = 2;

/// Returns a list with this batch alone. What is such a list already is left as it is.
pub(super) fn of_one(bytes: &[u8], header: &str) -> Vec<u8> {
    let inner = fields(bytes).filter(|fields| fields.iter().all(|(number, _)| *number == 1));
    let mut inner = inner.into_iter().flatten().map(|(_, batch)| batch);
    if inner.any(|batch| is_batch(batch, header)) {
        return bytes.to_vec();
    }
    let mut list = vec![BATCH];
    let mut length = bytes.len();
    while length > 0x7f {
        list.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    list.push(length as u8);
    list.extend_from_slice(bytes);
    list
}

fn is_batch(bytes: &[u8], header: &str) -> bool {
    let fields = fields(bytes).unwrap_or_default();
    fields.iter().any(|(number, value)| *number == HEADER_SIGNATURE && *value == header.as_bytes())
}

/// Returns numbers and values of a message's fields, where all have a length or are plain numbers.
pub(crate) fn fields(mut rest: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let key = number(&mut rest)?;
        match key & 7 {
            0 => drop(number(&mut rest)?),
            WITH_LENGTH => {
                let length = usize::try_from(number(&mut rest)?).ok()?;
                let (value, behind) = rest.split_at_checked(length)?;
                fields.push((key >> 3, value));
                rest = behind;
            }
            _ => return None,
        }
    }
    Some(fields)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut found = 0;
    for shift in (0..63).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        found |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(found);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, value: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, u8::try_from(value.len()).unwrap()], value].concat()
    }

    #[test]
    fn a_batch_is_put_into_a_list_and_a_list_is_left_alone() {
        let batch =
            [field(1, b"header"), field(2, b"cafe"), field(3, b"transaction"), vec![0x20, 1]].concat();
        let list = of_one(&batch, "cafe");
        assert_eq!(list, field(1, &batch));
        assert_eq!(of_one(&list, "cafe"), list);
    }

    #[test]
    fn lengths_beyond_a_byte_are_written_in_sevens() {
        let list = of_one(&[7; 300], "x");
        assert_eq!(list[..4], [BATCH, 0xac, 0x02, 7]);
        assert_eq!(of_one(&[], "x"), [BATCH, 0]);
    }

    #[test]
    fn bytes_that_are_no_message_are_put_into_a_list_as_they_are() {
        for bytes in [&[0x0a, 5, 1][..], &[0xff; 12], &[0x0b], &[0x08]] {
            assert_eq!(of_one(bytes, "x"), field(1, bytes));
        }
    }
}
