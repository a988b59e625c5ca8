//! Text of unknown encoding in binary headers, and texts of messages.

/// UTF-8 if it is valid, but for a last character that a field of fixed length cut off; Latin-1 otherwise (then every
/// byte has a meaning).
pub(super) fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) if error.error_len().is_none() && !bytes[..error.valid_up_to()].is_ascii() => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned()
        }
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
        // The ch of an epoch is a k.
        _ if what.ends_with('s') || (what.ends_with("ch") && !what.ends_with("epoch")) => "es",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_cut_off_by_the_end_of_a_field_are_left_out() {
        let whole = "患者のてんかん記録";
        assert_eq!(decode(&whole.as_bytes()[..25]), "患者のてんかん記");
        assert_eq!(decode(b"Caf\xe9"), "Café");
        assert_eq!(decode(b"M\xfcller"), "Müller");
    }
}
