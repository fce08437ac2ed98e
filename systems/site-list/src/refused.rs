//! Refusals of a change: a stable code for programs, and a sentence for the site's contact.

use std::fmt;

/// The reason why a change is refused. The texts are part of the API: they stand in events and in mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    HostEmpty,
    HostScheme,
    HostUser,
    HostPath,
    HostPort,
    HostAddress,
    HostCharacter,
    HostUnderscore,
    HostDot,
    HostEmptyLabel,
    HostHyphen,
    HostLabelLength,
    HostLength,
    HostLabels,
    HostIdna,
    HostOnion,
    DnsNone,
    DnsRegistered,
    AddressNotPublic,
    Certificate,
    PlainHttp,
    Redirects,
    RedirectElsewhere,
    HttpsStatus,
    HttpsAnswer,
    SignersMissing,
    SignersRepeated,
    SignersInvalid,
    SignersNumber,
    SignersDuplicate,
    SignerIdentity,
    SignerIssuer,
    SignersPresent,
    ThresholdMissing,
    ThresholdRepeated,
    ThresholdInvalid,
    ThresholdRange,
    ActionMissing,
    ActionRepeated,
    ActionOther,
    ContactRepeated,
    ContactInvalid,
    CspMissing,
    CspRepeated,
    CspComma,
    CspDirectiveMissing,
    CspNoneNotAlone,
    CspEmpty,
    CspSource,
    CspNotEnrolled,
    ListPresent,
    ListAbsent,
    ListUnchanged,
    ListDiffers,
}

/// Every code with its text, in the order in which a validation comes to them.
pub const CODES: &[(Code, &str)] = &[
    (Code::HostEmpty, "host-empty"),
    (Code::HostScheme, "host-scheme"),
    (Code::HostUser, "host-user"),
    (Code::HostPath, "host-path"),
    (Code::HostPort, "host-port"),
    (Code::HostAddress, "host-address"),
    (Code::HostCharacter, "host-character"),
    (Code::HostUnderscore, "host-underscore"),
    (Code::HostDot, "host-dot"),
    (Code::HostEmptyLabel, "host-empty-label"),
    (Code::HostHyphen, "host-hyphen"),
    (Code::HostLabelLength, "host-label-length"),
    (Code::HostLength, "host-length"),
    (Code::HostLabels, "host-labels"),
    (Code::HostIdna, "host-idna"),
    (Code::HostOnion, "host-onion"),
    (Code::DnsNone, "dns-none"),
    (Code::DnsRegistered, "dns-registered"),
    (Code::AddressNotPublic, "address-not-public"),
    (Code::Certificate, "certificate"),
    (Code::PlainHttp, "plain-http"),
    (Code::Redirects, "redirects"),
    (Code::RedirectElsewhere, "redirect-elsewhere"),
    (Code::HttpsStatus, "https-status"),
    (Code::HttpsAnswer, "https-answer"),
    (Code::SignersMissing, "signers-missing"),
    (Code::SignersRepeated, "signers-repeated"),
    (Code::SignersInvalid, "signers-invalid"),
    (Code::SignersNumber, "signers-number"),
    (Code::SignersDuplicate, "signers-duplicate"),
    (Code::SignerIdentity, "signer-identity"),
    (Code::SignerIssuer, "signer-issuer"),
    (Code::SignersPresent, "signers-present"),
    (Code::ThresholdMissing, "threshold-missing"),
    (Code::ThresholdRepeated, "threshold-repeated"),
    (Code::ThresholdInvalid, "threshold-invalid"),
    (Code::ThresholdRange, "threshold-range"),
    (Code::ActionMissing, "action-missing"),
    (Code::ActionRepeated, "action-repeated"),
    (Code::ActionOther, "action-other"),
    (Code::ContactRepeated, "contact-repeated"),
    (Code::ContactInvalid, "contact-invalid"),
    (Code::CspMissing, "csp-missing"),
    (Code::CspRepeated, "csp-repeated"),
    (Code::CspComma, "csp-comma"),
    (Code::CspDirectiveMissing, "csp-directive-missing"),
    (Code::CspNoneNotAlone, "csp-none-not-alone"),
    (Code::CspEmpty, "csp-empty"),
    (Code::CspSource, "csp-source"),
    (Code::CspNotEnrolled, "csp-not-enrolled"),
    (Code::ListPresent, "list-present"),
    (Code::ListAbsent, "list-absent"),
    (Code::ListUnchanged, "list-unchanged"),
    (Code::ListDiffers, "list-differs"),
];

impl Code {
    /// Returns the text by which programs know the code.
    ///
    /// # Panics
    /// Never: every code has its line in the table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let line = CODES.iter().find(|(code, _)| *code == self);
        line.map(|(_, text)| *text).expect("every code has its line")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal of a change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refused {
    pub code: Code,
    pub message: String,
}

impl Refused {
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Refused {
        Refused { code, message: message.into() }
    }
}

/// Shows a value that a stranger chose: short, and without characters that a terminal or a mail would act on.
pub(crate) fn shown(text: &str) -> String {
    const CHARACTERS_MAX: usize = 100;
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = text.chars().take(CHARACTERS_MAX).map(clean).collect();
    if text.chars().nth(CHARACTERS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
