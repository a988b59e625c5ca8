//! Text of unknown encoding: which of UTF-8, UTF-16, GBK, Windows-1251, CP866, KOI8-R and Latin-1 it is.
//!
//! Recorders write station and channel names in whatever their country used.
//! None of them says so, hence the bytes above 127 are judged by their ranges
//! and by the company they keep: a Chinese character is a pair of such bytes,
//! a Cyrillic word is a run of them, an accented letter stands alone between
//! ASCII letters. KOI8-R has its capitals where Windows-1251 has its small
//! letters: words that begin with a capital tell the two apart, and where all
//! letters are of one case, how often Russian has them.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::{
    Encoding, GBK, IBM866, KOI8_R, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1251, WINDOWS_1252,
};

use super::{FilePlace, Findings, ReadError};

/// Bytes judged; a recording's names are in its head, its numbers are ASCII.
const JUDGED_BYTES: usize = 1 << 20;

/// Text and the encoding it was found in.
#[derive(Debug)]
pub(crate) struct DecodedText<'a> {
    /// The text, without a byte-order mark; undecodable bytes became U+FFFD.
    pub(crate) text: Cow<'a, str>,
    /// Name of the encoding, such as `UTF-8` or `windows-1251`.
    pub(crate) encoding: &'static str,
    /// Whether some bytes had no meaning in that encoding.
    pub(crate) malformed: bool,
}

impl DecodedText<'_> {
    /// Whether the text is plain ASCII or UTF-8 throughout.
    pub(crate) fn is_utf8(&self) -> bool {
        self.encoding == UTF_8.name() && !self.malformed
    }

    /// Says so if the text had to be decoded from another encoding.
    pub(crate) fn report(&self, findings: &mut Findings) -> Result<(), ReadError> {
        if self.is_utf8() {
            return Ok(());
        }
        findings.breach(
            FilePlace::File,
            "text encoding",
            self.encoding,
            "UTF-8",
            "text was decoded so",
        )
    }
}

/// Decodes `bytes` in the encoding that fits them best.
pub(crate) fn decode(bytes: &[u8]) -> DecodedText<'_> {
    let encoding = detect(bytes);
    let (text, used, malformed) = encoding.decode(bytes);
    DecodedText {
        text,
        encoding: used.name(),
        malformed,
    }
}

/// Whether a byte-order mark says which encoding it is.
pub(crate) fn is_marked(bytes: &[u8]) -> bool {
    Encoding::for_bom(bytes).is_some()
}

/// The encoding that fits `bytes` best.
pub(crate) fn detect(bytes: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let judged = bytes.get(..JUDGED_BYTES).unwrap_or(bytes);
    if let Some(encoding) = utf16_without_mark(judged) {
        return encoding;
    }
    match std::str::from_utf8(judged) {
        Ok(_) => return UTF_8,
        // A character cut off by the judged length is no fault.
        Err(error) if error.error_len().is_none() && judged.len() == JUDGED_BYTES => return UTF_8,
        Err(_) => {}
    }
    if mostly_utf8(judged) {
        return UTF_8;
    }
    HighBytes::count(judged).best_encoding()
}

/// UTF-16 of mostly ASCII text has a zero in every second byte.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..256).unwrap_or(bytes);
    if head.len() < 8 {
        return None;
    }
    let pairs = head.len() / 2;
    let zeros = |offset: usize| {
        head.iter()
            .skip(offset)
            .step_by(2)
            .filter(|&&b| b == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    if odd * 4 > pairs * 3 && even * 4 < pairs {
        Some(UTF_16LE)
    } else if even * 4 > pairs * 3 && odd * 4 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Whether nearly all bytes above 127 belong to valid UTF-8 characters.
///
/// One damaged character must not turn a whole Chinese file into Latin-1.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += chunk.invalid().len();
    }
    valid > 4 * invalid
}

/// Whether a run of bytes groups the digits of a number, is a euro beside one, or a dash between spaces, which is the
/// same in Windows-1251 and 1252.
fn is_windows_mark(bytes: &[u8], run: Range<usize>) -> bool {
    let (before, rest) = bytes.split_at(run.start);
    let (run, after) = rest.split_at(run.len());
    let number_before = before.trim_ascii_end().last();
    let number_after = after.trim_ascii_start().first();
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let is_space = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
    match run {
        [0x92 | 0xA0] => is_digit(before.last()) && is_digit(after.first()),
        [0x80] | [0xA0, 0x80] | [0x80, 0xA0] => is_digit(number_before) || is_digit(number_after),
        [0x96 | 0x97] => is_space(before.last()) && is_space(after.first()),
        _ => false,
    }
}

/// What the bytes above 127 look like.
#[derive(Debug, Default)]
struct HighBytes {
    total: usize,
    /// In ranges that hold letters of CP866.
    cp866_letters: usize,
    /// In ranges that hold letters of Windows-1251 (and №).
    cp1251_letters: usize,
    /// In 0xA1 to 0xBF: half of the Chinese, almost none of the Cyrillic letters.
    low_half: usize,
    /// In 0x80 to 0xA0: control characters of Latin-1.
    controls: usize,
    /// In runs that read as one or two accented letters inside a Latin word.
    inside_latin_words: usize,
    /// In runs that stand alone or are longer than two.
    words_of_their_own: usize,
    /// Words of a capital and small letters if read as Windows-1251.
    cp1251_words: usize,
    /// The same if read as KOI8-R.
    koi8_words: usize,
    /// How much likelier the letters are as KOI8-R than as Windows-1251, as a logarithm.
    koi8_gain: f64,
    chinese: ChinesePairs,
}

/// Small letters that must follow a capital for a word to prove a code page: units such as кВА do the reverse.
const SMALL_LETTERS: usize = 4;

/// Gain from which letters of one case are KOI8-R: odds of a hundred to one.
const KOI8_GAIN: f64 = 4.6;

/// The letters from 0xC0 on and, in the other case, from 0xE0 on.
const CP1251_ORDER: &str = "абвгдежзийклмнопрстуфхцчшщъыьэюя";
const KOI8_ORDER: &str = "юабцдефгхийклмнопярстужвьызшэщчъ";

/// Letters of Russian text in thousandths, in the order of the alphabet (National Corpus of the Russian Language).
const LETTER_SHARES: [f64; 32] = [
    80.1, 15.9, 45.4, 17.0, 29.8, 84.9, 9.4, 16.5, 73.5, 12.1, 34.9, 44.0, 32.1, 67.0, 109.7, 28.1,
    47.3, 54.7, 62.6, 26.2, 2.6, 9.7, 4.8, 14.4, 7.3, 3.6, 0.4, 19.0, 17.4, 3.2, 6.4, 20.1,
];

/// How much likelier each of the 32 places is as KOI8-R than as Windows-1251, as a logarithm.
fn koi8_gains() -> Vec<f64> {
    let share = |letter: char| {
        let place = CP1251_ORDER.chars().position(|known| known == letter);
        place.map_or(1.0, |place| LETTER_SHARES[place])
    };
    let both = KOI8_ORDER.chars().zip(CP1251_ORDER.chars());
    both.map(|(koi8, cp1251)| (share(koi8) / share(cp1251)).ln())
        .collect()
}

/// High bytes read as GBK pairs.
#[derive(Debug, Default)]
struct ChinesePairs {
    /// Pairs in the rows of common characters, punctuation and Roman numerals.
    common: usize,
    /// Pairs elsewhere.
    rare: usize,
    /// Bytes that are no pair at all.
    broken: usize,
}

impl HighBytes {
    fn count(bytes: &[u8]) -> HighBytes {
        let mut seen = HighBytes {
            chinese: ChinesePairs::count(bytes),
            ..HighBytes::default()
        };
        let gains = koi8_gains();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte < 0x80 {
                at += 1;
                continue;
            }
            let run = bytes.iter().skip(at).take_while(|b| **b >= 0x80).count();
            let before = at.checked_sub(1).and_then(|i| bytes.get(i));
            let after = bytes.get(at + run);
            let run_bytes = bytes.get(at..at + run).unwrap_or(&[]);
            if !is_windows_mark(bytes, at..at + run) {
                seen.count_run(run_bytes, before, after);
                let places = run_bytes.iter().filter_map(|byte| byte.checked_sub(0xC0));
                let of_run = places.map(|place| gains[usize::from(place % 32)]);
                seen.koi8_gain += of_run.sum::<f64>();
            }
            at += run;
        }
        seen
    }

    fn count_run(&mut self, run: &[u8], before: Option<&u8>, after: Option<&u8>) {
        let beside_latin = [before, after]
            .iter()
            .any(|b| b.is_some_and(|b| b.is_ascii_alphabetic()));
        let symbol = |b: &u8| matches!(b, 0xB0 | 0xB2 | 0xB3 | 0xB5 | 0xB7);
        // Degree, square, micro and middle dot have the same code in Latin-1
        // and (but for the squares) in Windows-1251: they prove neither.
        if !run.iter().all(symbol) {
            if beside_latin && run.len() <= 2 {
                self.inside_latin_words += run.len();
            } else {
                self.words_of_their_own += run.len();
            }
        }
        self.total += run.len();
        if let [first, rest @ ..] = run
            && rest.len() >= SMALL_LETTERS
        {
            let is_small = |byte: &u8| matches!(byte, 0xE0..=0xFF | 0xB8);
            let is_word = matches!(first, 0xC0..=0xDF) && rest.iter().all(is_small);
            self.cp1251_words += usize::from(is_word);
            let is_small = |byte: &u8| matches!(byte, 0xC0..=0xDF | 0xA3);
            let is_word = matches!(first, 0xE0..=0xFF) && rest.iter().all(is_small);
            self.koi8_words += usize::from(is_word);
        }
        for &byte in run {
            let cp866 = matches!(byte, 0x80..=0xAF | 0xE0..=0xF1 | 0xFC);
            let cp1251 = matches!(byte, 0xC0..=0xFF | 0xA8 | 0xB8 | 0xB9);
            self.cp866_letters += usize::from(cp866);
            self.cp1251_letters += usize::from(cp1251);
            self.low_half += usize::from(matches!(byte, 0xA1..=0xBF));
            self.controls += usize::from(byte <= 0xA0);
        }
    }

    fn best_encoding(&self) -> &'static Encoding {
        if self.is_chinese() {
            return GBK;
        }
        let latin = self.inside_latin_words >= self.words_of_their_own;
        if latin && self.controls * 4 <= self.total {
            return WINDOWS_1252;
        }
        if self.cp866_letters > self.cp1251_letters {
            IBM866
        } else if self.is_koi8() {
            KOI8_R
        } else if self.cp1251_letters * 2 > self.total {
            WINDOWS_1251
        } else {
            WINDOWS_1252
        }
    }

    fn is_koi8(&self) -> bool {
        let is_of_one_case = self.koi8_words == 0 && self.cp1251_words == 0;
        let has_words = self.koi8_words >= 2 && self.koi8_words > 4 * self.cp1251_words;
        has_words || is_of_one_case && self.koi8_gain > KOI8_GAIN
    }

    fn is_chinese(&self) -> bool {
        let pairs = &self.chinese;
        let mostly_common = pairs.common > 4 * pairs.rare && pairs.common > 8 * pairs.broken;
        // Capitals of Windows-1251 fall into the rows of common characters
        // too, but never use the lower half of the byte range.
        mostly_common && self.low_half * 8 > self.total
    }
}

impl ChinesePairs {
    fn count(bytes: &[u8]) -> ChinesePairs {
        let mut pairs = ChinesePairs::default();
        let mut at = 0;
        while let Some(&lead) = bytes.get(at) {
            if lead < 0x80 {
                at += 1;
                continue;
            }
            match (lead, bytes.get(at + 1).copied().unwrap_or(0)) {
                (0xA1..=0xA3 | 0xB0..=0xD7, 0xA1..=0xFE) => pairs.common += 1,
                (0x81..=0xFE, 0x40..=0x7E | 0x80..=0xFE) => pairs.rare += 1,
                _ => {
                    pairs.broken += 1;
                    at += 1;
                    continue;
                }
            }
            at += 2;
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, encoding: &'static Encoding) -> Vec<u8> {
        let (bytes, _, unmappable) = encoding.encode(text);
        assert!(!unmappable, "{text} exists in {}", encoding.name());
        bytes.into_owned()
    }

    #[track_caller]
    fn recognised(text: &str, encoding: &'static Encoding) {
        let bytes = encoded(text, encoding);
        let found = decode(&bytes);
        assert_eq!(found.encoding, encoding.name(), "{text}");
        assert_eq!(found.text, text);
        assert!(!found.malformed);
    }

    #[test]
    fn portuguese_german_and_french_are_latin() {
        recognised("Estação de Medição,Oscilógrafo,1999", WINDOWS_1252);
        recognised("Umspannwerk Süd,Störschreiber Fünf,1999", WINDOWS_1252);
        recognised("Poste électrique à Orléans,,1991", WINDOWS_1252);
        recognised("1,Temp,,,°C,1,0\n2,Iα", UTF_8);
        recognised("1,Temp,,,°C,1,0\n2,I,,,µA", WINDOWS_1252);
    }

    #[test]
    fn marks_between_digits_and_spaces_are_no_russian_letters() {
        recognised("a;b\n1\u{a0}528\u{a0}652;2\n", WINDOWS_1252);
        recognised("größer;1’575’432 – 2\n", WINDOWS_1252);
        recognised(
            "Preis;Menge\n12,50 €;3\n9,00\u{a0}€;4\n€ 7;5\n",
            WINDOWS_1252,
        );
        recognised("Т1;ТТ-2\n", IBM866);
    }

    #[test]
    fn russian_is_told_from_its_two_code_pages() {
        for page in [WINDOWS_1251, IBM866] {
            recognised("ПС Южная,терминал версия 101110,2000", page);
            recognised("1,ЗМН-1 пуск,,,1\n2,АЧР пуск 1 оч.,,,1", page);
            recognised("1,Ток фазы А,A,,А\n2,Напряжение,B,,кВ", page);
        }
        recognised("1,UA,,,В\n2,UB,,,В\n3,IA,,,А", WINDOWS_1251);
        recognised("ПОДСТАНЦИЯ ЦЕНТР,РЗ ТН", WINDOWS_1251);
    }

    #[test]
    fn koi8_is_told_by_words_that_begin_with_a_capital_or_by_its_letters() {
        recognised("ПС Южная,Терминал версия 101110,2000", KOI8_R);
        recognised("1,Ток фазы А,A,,А\n2,Напряжение,B,,кВ\n3,Частота", KOI8_R);
        // Without such words the letters themselves tell.
        recognised("ПОДСТАНЦИЯ ЮЖНАЯ,ТЕРМИНАЛ", KOI8_R);
        recognised("подстанция южная,терминал", KOI8_R);
        recognised("ПОДСТАНЦИЯ ЮЖНАЯ,ТЕРМИНАЛ", WINDOWS_1251);
        recognised("подстанция южная,терминал", WINDOWS_1251);
        // Where they are too few, the usual code page is taken.
        recognised("1,МОЩНОСТЬ,,,кВА\n2,МОЩНОСТЬ,,,кВАР", WINDOWS_1251);
        recognised("ПС Южная,Терминал версия 101110,2000", WINDOWS_1251);
    }

    #[test]
    fn chinese_is_gbk() {
        recognised("10,Ua对侧,A,,V\n25,主保护动作,0\n26,跳闸位置", GBK);
        recognised("220kV线路故障录波,装置异常,1999", GBK);
        recognised("母线Ⅰ电压（Ua）,A", GBK);
    }

    #[test]
    fn a_damaged_character_does_not_change_the_verdict() {
        let mut bytes = "220kV母线电压,线路故障,装置异常,2013".as_bytes().to_vec();
        bytes.remove(6);
        let found = decode(&bytes);
        assert_eq!(found.encoding, "UTF-8");
        assert!(found.malformed);
        assert!(!found.is_utf8());
    }

    #[test]
    fn utf16_is_seen_with_and_without_its_mark() {
        let text = "station,device,1999\r\n8,4A,4D\r\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&little).text, text);
        assert_eq!(decode(&big).text, text);
        let marked = [&[0xFF, 0xFE], little.as_slice()].concat();
        assert_eq!(decode(&marked).text, text);
    }

    #[test]
    fn nothing_at_all_is_utf8() {
        assert!(decode(b"").is_utf8());
        assert!(decode(&[0xEF, 0xBB, 0xBF]).is_utf8());
    }
}
