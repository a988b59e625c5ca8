//! Text of unknown encoding in binary headers, and texts of messages.

/// UTF-8 if it is valid, Latin-1 otherwise (then every byte has a meaning).
pub(super) fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// A padded field: decoded, without padding, control characters shown as spaces.
pub(super) fn decode_field(bytes: &[u8]) -> String {
    let text: String = decode(bytes)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.trim().to_owned()
}

/// A number of things: `1 file`, `2 files`, `3 classes`.
pub fn counted(number: usize, what: &str) -> String {
    let plural = match what {
        _ if number == 1 => "",
        _ if what.ends_with('s') || what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {what}{plural}")
}

/// Text cut to a length that fits a message.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        format!("{text:?}")
    } else {
        let start: String = text.chars().take(LONGEST).collect();
        format!("{start:?}…")
    }
}
