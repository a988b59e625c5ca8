//! Text for the terminal: control characters in file names, labels and messages are written as escapes.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// Whether a character could move the cursor, colour the text or turn its direction around.
fn is_unsafe(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\n' && c != '\t')
}

/// The text with such characters as `\u001b`, which is what JSON writes too.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_unsafe(c) {
            true => clean.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

/// A name on one line: line ends in it are escapes too.
pub(super) fn one_line(name: impl std::fmt::Display) -> String {
    clean(&name.to_string()).replace('\n', "\\u000a")
}

/// A writer of UTF-8 text that lets no control character through.
pub(super) struct CleanWriter<W: Write> {
    out: W,
    /// The start of a character whose end has not come yet.
    pending: Vec<u8>,
}

impl<W: Write> CleanWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            pending: Vec::new(),
        }
    }
}

impl<W: Write> Write for CleanWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        let n_whole = match std::str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            // What is no text at all is shown as the replacement character.
            Err(error) if error.error_len().is_some() => self.pending.len(),
            Err(error) => error.valid_up_to(),
        };
        let whole: Vec<u8> = self.pending.drain(..n_whole).collect();
        let text = String::from_utf8_lossy(&whole);
        self.out.write_all(clean(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The standard output, for text that a person reads.
pub(super) fn stdout() -> CleanWriter<io::StdoutLock<'static>> {
    CleanWriter::new(io::stdout().lock())
}

/// The standard output, for results: data for another program are not touched, a person must not be harmed by a name.
pub(super) fn results() -> Box<dyn Write> {
    match io::stdout().is_terminal() {
        true => Box::new(stdout()),
        false => Box::new(io::stdout().lock()),
    }
}

/// Says what is wrong with the arguments, as `clap` writes it, and ends the process.
pub(super) fn refuse_arguments(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if text.contains(is_unsafe) {
        // Nothing is left to tell it to if this fails too.
        drop(write!(io::stderr(), "{}", clean(&text)));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Says something on the standard error, after the name of the program.
pub(super) fn complain(message: impl std::fmt::Display) -> io::Result<()> {
    // A line end that the program means is followed by an indent; any other is that of a name.
    let message = message.to_string();
    let lines: Vec<String> = message.split("\n  ").map(one_line).collect();
    writeln!(io::stderr(), "atomscope: {}", lines.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(one_line("a\nb\u{1b}"), "a\\u000ab\\u001b");
    }

    #[test]
    fn control_characters_are_escaped_wherever_a_write_cuts_the_text() {
        let text = "a\u{1b}[2Jb\tc\n\u{9b}31m\u{202e}d\r\u{7f}é";
        let expected = "a\\u001b[2Jb\tc\n\\u009b31m\\u202ed\\u000d\\u007fé";
        assert_eq!(clean(text), expected);
        for cut in 0..=text.len() {
            let mut out = Vec::new();
            let mut writer = CleanWriter::new(&mut out);
            let (a, b) = text.as_bytes().split_at(cut);
            writer.write_all(a).expect("memory takes all");
            writer.write_all(b).expect("memory takes all");
            assert_eq!(
                String::from_utf8(out).expect("text"),
                expected,
                "cut at {cut}"
            );
        }
    }
}
