//! Texts that the suite leaves to the parser (its `i_` cases), and those that RFC 8259 allows and we refuse.

use super::Ours::{self, Accepts, Refuses};

const LITERAL: &str =
    "numbers are kept as written, so no size is too large to carry; expressions refuse to compute with it";
const SURROGATE: &str =
    "half a pair is no character: it has no UTF-8, and readers replace it in different ways";
const UTF8: &str = "RFC 8259 asks for UTF-8 between systems; bytes that are none have no one reading";
const ENCODING: &str = "RFC 8259 asks for UTF-8 between systems; other encodings are not guessed";
const MARK: &str = "RFC 8259 forbids to send a byte order mark, and bytes are stored as they came: two spellings of one text";

pub(super) const EITHER: &[(&str, &[u8], Ours, &str)] = &[
    (
        "number/huge_exponent",
        b"[0.4e00669999999999999999999999999999999999999999999999999969999999006]",
        Accepts,
        LITERAL,
    ),
    ("number/negative_integer_with_a_huge_exponent", b"[-1e+9999]", Accepts, LITERAL),
    ("number/fraction_with_a_huge_exponent", b"[1.5e+9999]", Accepts, LITERAL),
    ("number/overflows_a_double", b"[123123e100000]", Accepts, LITERAL),
    ("number/overflows_a_negative_double", b"[-123123e100000]", Accepts, LITERAL),
    ("number/underflows_a_double", b"[123e-10000000]", Accepts, LITERAL),
    (
        "number/very_small_negative",
        b"[-237462374673276894279832749832423479823246327846e-99999]",
        Accepts,
        LITERAL,
    ),
    ("number/integer_beyond_64_bits", b"[100000000000000000000]", Accepts, LITERAL),
    ("number/negative_integer_beyond_64_bits", b"[-123123123123123123123123123123]", Accepts, LITERAL),
    ("number/one_beyond_unsigned", b"[18446744073709551616]", Accepts, LITERAL),
    ("number/one_beyond_signed", b"[-9223372036854775809]", Accepts, LITERAL),
    (
        "number/more_digits_than_a_double_has",
        b"[3.141592653589793238462643383279502884197]",
        Accepts,
        LITERAL,
    ),
    ("string/first_half_and_nothing", br#"["\uDADA"]"#, Refuses, SURROGATE),
    ("string/first_half_and_a_letter", br#"["\uD888\u1234"]"#, Refuses, SURROGATE),
    ("string/first_half_and_text", br#"["\ud800abc"]"#, Refuses, SURROGATE),
    ("string/first_half_and_a_newline_escape", br#"["\uD800\n"]"#, Refuses, SURROGATE),
    ("string/second_half_alone", br#"["\uDFAA"]"#, Refuses, SURROGATE),
    ("string/second_half_among_text", br#"["a\udc00b"]"#, Refuses, SURROGATE),
    ("string/two_first_halves", br#"["\uD800\uD800"]"#, Refuses, SURROGATE),
    ("string/two_first_halves_and_a_newline_escape", br#"["\uD800\uD800\n"]"#, Refuses, SURROGATE),
    ("string/halves_in_the_wrong_order", br#"["\uDd1e\uD834"]"#, Refuses, SURROGATE),
    ("string/half_in_a_key", br#"{"\uDFAA":0}"#, Refuses, SURROGATE),
    ("string/half_after_a_pair", br#"["\ud83d\ude39\ud83d"]"#, Refuses, SURROGATE),
    ("string/invalid_byte", b"[\"\xff\"]", Refuses, UTF8),
    ("string/invalid_byte_in_a_key", b"{\"\xff\":1}", Refuses, UTF8),
    ("string/latin_1", b"[\"\xe9\"]", Refuses, UTF8),
    ("string/lone_continuation_byte", b"[\"\x81\"]", Refuses, UTF8),
    ("string/truncated_two_bytes", b"[\"\xc3\"]", Refuses, UTF8),
    ("string/truncated_three_bytes", b"[\"\xe0\xff\"]", Refuses, UTF8),
    ("string/truncated_four_bytes", b"[\"\xf0\x9f\x98\"]", Refuses, UTF8),
    ("string/overlong_two_bytes", b"[\"\xc0\xaf\"]", Refuses, UTF8),
    ("string/overlong_three_bytes", b"[\"\xe0\x80\xaf\"]", Refuses, UTF8),
    ("string/overlong_four_bytes", b"[\"\xf0\x80\x80\xaf\"]", Refuses, UTF8),
    ("string/overlong_nul", b"[\"\xc0\x80\"]", Refuses, UTF8),
    ("string/overlong_six_bytes", b"[\"\xfc\x83\xbf\xbf\xbf\xbf\"]", Refuses, UTF8),
    ("string/five_bytes", b"[\"\xf8\x88\x80\x80\x80\"]", Refuses, UTF8),
    ("string/beyond_the_last_code_point", b"[\"\xf4\xbf\xbf\xbf\"]", Refuses, UTF8),
    ("string/surrogate_as_bytes", b"[\"\xed\xa0\x80\"]", Refuses, UTF8),
    ("string/surrogate_pair_as_bytes", b"[\"\xed\xa0\x81\xed\xb0\xb7\"]", Refuses, UTF8),
    ("string/japanese_in_another_encoding", b"[\"\x93\xfa\x96{\"]", Refuses, UTF8),
    ("encoding/utf16_little_endian_with_mark", b"\xff\xfe[\x00\"\x00\xe9\x00\"\x00]\x00", Refuses, ENCODING),
    ("encoding/utf16_big_endian_with_mark", b"\xfe\xff\x00[\x00\"\x00\xe9\x00\"\x00]", Refuses, ENCODING),
    ("encoding/utf16_little_endian", b"[\x00\"\x00a\x00\"\x00]\x00", Refuses, ENCODING),
    ("encoding/utf16_big_endian", b"\x00[\x00\"\x00a\x00\"\x00]", Refuses, ENCODING),
    ("encoding/utf32_big_endian", b"\x00\x00\x00[\x00\x00\x00]", Refuses, ENCODING),
    ("encoding/utf32_little_endian", b"[\x00\x00\x00]\x00\x00\x00", Refuses, ENCODING),
    ("structure/byte_order_mark_and_object", b"\xef\xbb\xbf{}", Refuses, MARK),
    ("structure/byte_order_mark_and_number", b"\xef\xbb\xbf1", Refuses, MARK),
];

const DUPLICATE: &str =
    "of two equal keys readers take the first or the last: a guard and a worker might not see the same";
pub(super) const DEPTH: &str = "depth is bounded so that no reader's stack is at risk: at most 64 levels";
pub(super) const LENGTH: &str =
    "a longer literal is an attack on whoever computes with it: at most 1,000 characters";

/// Valid by RFC 8259, refused here. `docs/decisions/strict-json.md` names the three reasons.
pub(super) const STRICTER: &[(&str, &[u8], &str)] = &[
    ("object/duplicate_key", br#"{"a":"b","a":"c"}"#, DUPLICATE),
    ("object/duplicate_key_and_value", br#"{"a":"b","a":"b"}"#, DUPLICATE),
    ("object/duplicate_key_by_an_escape", br#"{"a":1,"\u0061":2}"#, DUPLICATE),
    (
        "object/duplicate_key_by_a_surrogate_pair",
        "{\"\u{1d11e}\":1,\"\\ud834\\udd1e\":2}".as_bytes(),
        DUPLICATE,
    ),
    ("object/duplicate_empty_key", br#"{"":1,"":2}"#, DUPLICATE),
    ("object/duplicate_key_deep_inside", br#"[{"x":{"y":1,"z":2,"y":3}}]"#, DUPLICATE),
    ("object/duplicate_key_far_apart", br#"{"a":1,"b":2,"c":3,"d":4,"a":5}"#, DUPLICATE),
];
