//! SEL compressed event reports (.cev): text of comma-separated fields, each line closed by its checksum.
//!
//! ```text
//! "FID","0143"                                     name of the firmware below
//! "MONTH","DAY","YEAR","HOUR","MIN","SEC","MSEC",… moment of the trigger below
//! …,"FREQ","SAM/CYC_A","SAM/CYC_D","NUM_OF_CYC",…  frequency and sampling below
//! "IA","IB",…,"VA(kV)",…,"TRIG","names of bits",…  rows of samples below
//! ```
//!
//! Analog values are primary. The bits of a row are hexadecimal digits; rows between two digital samples have none and
//! keep those before. The row of the trigger carries `>`.

use super::text_encoding;
use super::{
    Channel, ChannelKind, FilePlace, Findings, Format, GridChannel, GridFacts, Input, Kind,
    ReadError, ReadOptions, Record, Source, StartTime, TransformerSide, Unit,
};

/// Largest report that is read: a relay writes a few hundred kilobytes.
const MOST_BYTES: u64 = 64 << 20;

/// Most analog channels and bits of a report.
const MOST_CHANNELS: usize = 4096;

/// Whether the first bytes are those of a report.
pub(super) fn is_certain(head: &[u8]) -> bool {
    let start = head.get(..64).unwrap_or(head);
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches(|c: char| c.is_control() || c.is_whitespace());
    text.starts_with("\"FID\",\"") || text.starts_with("CEV") && text.contains("\"FID\"")
}

/// More fields than any report has in a line; further ones are not looked at.
const MOST_FIELDS: usize = 4096;
/// More lines than any report has.
const MOST_LINES: usize = 500_000;

/// The fields of a line without quotes.
fn fields(line: &str) -> Vec<&str> {
    line.split(',')
        .take(MOST_FIELDS)
        .map(|field| field.trim().trim_matches('"').trim())
        .collect()
}

/// What stands below a heading, by name.
struct Below<'a> {
    names: Vec<&'a str>,
    values: Vec<&'a str>,
}

impl<'a> Below<'a> {
    fn find(lines: &[&'a str], of: impl Fn(&[&str]) -> bool) -> Option<Self> {
        let at = lines.iter().position(|line| of(&fields(line)))?;
        Some(Self {
            names: fields(lines[at]),
            values: fields(lines.get(at + 1)?),
        })
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        let at = self
            .names
            .iter()
            .position(|found| found.eq_ignore_ascii_case(name))?;
        self.values.get(at).copied()
    }

    fn number(&self, name: &str) -> Option<f64> {
        let number = self.text(name)?.parse::<f64>().ok()?;
        number.is_finite().then_some(number)
    }
}

/// Reads a report.
pub(super) fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let n_bytes = input.bytes.len();
    if n_bytes > MOST_BYTES {
        let expected = format!("at most {MOST_BYTES} bytes");
        return Err(findings.refusal(FilePlace::File, "length of the report", n_bytes, expected));
    }
    let bytes = input.bytes.read_all()?;
    let decoded = text_encoding::decode(&bytes);
    let n_lines = decoded.text.lines().take(MOST_LINES + 1).count();
    if n_lines > MOST_LINES {
        let expected = format!("at most {MOST_LINES}, as in an event report");
        return Err(findings.refusal(FilePlace::File, "number of lines", "more", expected));
    }
    let lines: Vec<&str> = decoded.text.lines().collect();
    let sampling = Below::find(&lines, |names| names.contains(&"SAM/CYC_A"));
    let Some(sampling) = sampling else {
        let expected = "a line of headings with SAM/CYC_A, as compressed event reports (.cev) have";
        return Err(findings.refusal(FilePlace::File, "sampling", "missing", expected));
    };
    let frequency_hz = sampling
        .number("FREQ")
        .filter(|hz| (20.0..=100.0).contains(hz));
    let nominal_hz = if frequency_hz.is_some_and(|hz| hz < 55.0) {
        50.0
    } else {
        60.0
    };
    let per_cycle = sampling
        .number("SAM/CYC_A")
        .filter(|n| *n >= 1.0 && *n <= 10_000.0);
    let Some(per_cycle) = per_cycle else {
        let found = sampling.text("SAM/CYC_A").unwrap_or("nothing").to_owned();
        return Err(findings.refusal(FilePlace::File, "samples per cycle", found, "1 to 10000"));
    };
    if per_cycle <= 4.0 {
        let text =
            "4 samples a cycle: the report is filtered, its values are those of the relay's filter";
        findings.note(FilePlace::File, text);
    }
    let rate_hz = frequency_hz.unwrap_or(nominal_hz) * per_cycle;
    let head = lines.iter().position(|line| fields(line).contains(&"TRIG"));
    let Some(head) = head else {
        return Err(findings.refusal(
            FilePlace::File,
            "channels",
            "missing",
            "a line of headings with TRIG",
        ));
    };
    let table = SampleTable::read(&lines, head, &mut findings)?;
    let start = moment(&lines).and_then(|trigger| {
        let before_s = table.trigger.unwrap_or(0) as f64 / rate_hz;
        trigger.plus_seconds(-before_s)
    });
    let device = lines.iter().find_map(|line| {
        fields(line)
            .into_iter()
            .find_map(|f| f.strip_prefix("FID="))
    });
    let trigger_s = table.trigger.map(|row| row as f64 / rate_hz);
    let mut record = table.into_record(input, rate_hz);
    record.start = start;
    record.grid = Some(GridFacts {
        station: String::new(),
        device: device.unwrap_or_default().to_owned(),
        line_frequency_hz: Some(nominal_hz),
        trigger_s,
    });
    record.warnings = findings.into_warnings();
    Ok(record)
}

/// The trigger's date and time.
fn moment(lines: &[&str]) -> Option<StartTime> {
    let below = Below::find(lines, |names| {
        names.contains(&"MONTH") && names.contains(&"MSEC")
    })?;
    let whole = |name: &str| below.number(name).filter(|n| *n >= 0.0 && *n < 1e5);
    let (year, month, day) = (whole("YEAR")?, whole("MONTH")?, whole("DAY")?);
    let (hour, minute, second) = (whole("HOUR")?, whole("MIN")?, whole("SEC")?);
    let nanosecond = whole("MSEC")? * 1e6;
    let small = |n: f64| n as u8;
    StartTime::new(
        (year as u16, small(month), small(day)),
        (small(hour), small(minute), small(second)),
        nanosecond as u32,
    )
}

/// The rows of samples.
struct SampleTable {
    names: Vec<String>,
    analog: Vec<Vec<f64>>,
    bit_names: Vec<String>,
    bits: Vec<Vec<f64>>,
    trigger: Option<usize>,
}

impl SampleTable {
    fn read(lines: &[&str], head: usize, findings: &mut Findings) -> Result<Self, ReadError> {
        let heads = fields(lines[head]);
        let trig = heads
            .iter()
            .position(|name| *name == "TRIG")
            .unwrap_or(heads.len());
        let names: Vec<String> = heads[..trig]
            .iter()
            .map(|name| (*name).to_owned())
            .collect();
        let bit_names: Vec<String> = heads
            .get(trig + 1)
            .map(|names| names.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default();
        if names.is_empty() || names.len() + bit_names.len() > MOST_CHANNELS {
            let found = format!("{} channels and {} bits", names.len(), bit_names.len());
            let expected = format!("1 to {MOST_CHANNELS}");
            return Err(findings.refusal(FilePlace::Line(head + 1), "channels", found, expected));
        }
        let mut table = Self {
            analog: vec![Vec::new(); names.len()],
            bits: vec![Vec::new(); bit_names.len()],
            names,
            bit_names,
            trigger: None,
        };
        for line in &lines[head + 1..] {
            let row = fields(line);
            let is_sample = row.len() > trig && row[0].parse::<f64>().is_ok();
            if !is_sample {
                break;
            }
            table.add(&row, trig);
        }
        match table
            .analog
            .first()
            .is_some_and(|values| !values.is_empty())
        {
            true => Ok(table),
            false => Err(findings.refusal(
                FilePlace::Line(head + 2),
                "samples",
                "none",
                "rows of numbers",
            )),
        }
    }

    fn add(&mut self, row: &[&str], trig: usize) {
        for (values, field) in self.analog.iter_mut().zip(row) {
            values.push(field.parse().unwrap_or(f64::NAN));
        }
        if row[trig].contains('>') && self.trigger.is_none() {
            self.trigger = self.analog.first().map(|values| values.len() - 1);
        }
        let digits: Vec<u32> = row.get(trig + 1).map_or(Vec::new(), |field| {
            field.chars().filter_map(|c| c.to_digit(16)).collect()
        });
        for (place, values) in self.bits.iter_mut().enumerate() {
            let bit = digits
                .get(place / 4)
                .map(|digit| digit >> (3 - place % 4) & 1);
            let before = values.last().copied().unwrap_or(0.0);
            values.push(bit.map_or(before, f64::from));
        }
    }

    fn into_record(self, input: &Input, rate_hz: f64) -> Record {
        let mut data = Vec::with_capacity(self.names.len() + self.bits.len());
        for (name, values) in self.names.into_iter().zip(self.analog) {
            let unit = match (name.split_once('('), name.chars().next()) {
                (Some((_, unit)), _) => unit.trim_end_matches(')').to_owned(),
                (None, Some('I' | '3')) => "A".to_owned(),
                (None, Some('V')) => "V".to_owned(),
                _ if name.starts_with("FREQ") => "Hz".to_owned(),
                _ => String::new(),
            };
            let mut channel =
                Channel::analog(name, Unit::parse(&unit), Some(rate_hz), values.len());
            channel.grid = Some(grid_channel());
            data.push((channel, values));
        }
        for (name, values) in self.bit_names.into_iter().zip(self.bits) {
            // A star fills a place that no element has.
            if name == "*" {
                continue;
            }
            let mut channel = Channel::analog(name, Unit::none(), Some(rate_hz), values.len());
            channel.kind = ChannelKind::Digital {
                normal: Some(false),
            };
            data.push((channel, values));
        }
        let name = input.path().display().to_string();
        let mut record = Record::in_memory(Format::SelEvent, Kind::FaultRecord, &name, data);
        record.source = Source::new(input.path(), input.bytes.len());
        record
    }
}

fn grid_channel() -> GridChannel {
    GridChannel {
        phase: String::new(),
        circuit: String::new(),
        primary: 1.0,
        secondary: 1.0,
        scaling: Some(TransformerSide::Primary),
        skew_s: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\"FID\",\"0143\"\r\n\"FID=SEL-351S-R107\",\"0A\"\r\n\"MONTH\",\"DAY\",\"YEAR\",\"HOUR\",\"MIN\",\"SEC\",\"MSEC\",\"0ACA\"\r\n2,29,2024,23,59,59,999,\"03\"\r\n\"FREQ\",\"SAM/CYC_A\",\"SAM/CYC_D\",\"NUM_OF_CYC\",\"EVENT\",\"0C\"\r\n60.00,16,4,2,\"AG T\",\"0D\"\r\n\"IA\",\"IB\",\"IC\",\"VA(kV)\",\"VB(kV)\",\"VC(kV)\",\"FREQ\",\"TRIG\",\"TRIP 52A * IN101 OUT101\",\"0E\"\r\n1,2,-3,11.5,-5,-6.5,60.0,,\"4000\",\"0F\"\r\n2,3,-5,11.0,-5,-6.0,60.0,\">\",\"\",\"0F\"\r\n9,3,-5,11.0,-5,-6.0,60.0,\"*\",\"C800\",\"0F\"\r\n\"SETTINGS\",\"02E1\"\r\n";

    fn report(text: &str) -> Result<Record, ReadError> {
        read(
            &Input::from_bytes("event.cev", text.as_bytes()),
            &ReadOptions::default(),
        )
    }

    #[test]
    fn a_report_has_its_channels_bits_rate_and_trigger() {
        assert!(is_certain(REPORT.as_bytes()) && !is_certain(b"FID,1,2"));
        let record = report(REPORT).expect("a report");
        let names: Vec<&str> = record.channels.iter().map(|c| c.name.as_str()).collect();
        let expected = [
            "IA", "IB", "IC", "VA(kV)", "VB(kV)", "VC(kV)", "FREQ", "TRIP", "52A", "IN101",
            "OUT101",
        ];
        assert_eq!(names, expected);
        assert_eq!(record.channels[0].rate_hz, Some(960.0));
        assert_eq!(record.read_channel(0).expect("IA"), [1.0, 2.0, 9.0]);
        assert_eq!(record.read_channel(7).expect("TRIP"), [0.0, 0.0, 1.0]);
        assert_eq!(record.read_channel(8).expect("52A"), [1.0, 1.0, 1.0]);
        assert_eq!(record.read_channel(10).expect("OUT101"), [0.0, 0.0, 1.0]);
        let grid = record.grid.expect("facts");
        assert_eq!(
            (grid.device.as_str(), grid.line_frequency_hz),
            ("SEL-351S-R107", Some(60.0))
        );
        assert_eq!(grid.trigger_s, Some(1.0 / 960.0));
        assert_eq!(
            record.start.map(|start| (start.month, start.day)),
            Some((2, 29))
        );
        assert_eq!(record.channels[3].unit.in_base, 1000.0);
    }

    #[test]
    fn reports_without_their_parts_are_refused() {
        for part in ["SAM/CYC_A", "TRIG", "1,2,-3,11.5"] {
            let broken = REPORT.replace(part, "\"x\"");
            assert!(report(&broken).is_err(), "without {part}");
        }
    }
}
