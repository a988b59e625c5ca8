//! Small valid files of formats of EEG recorders that the project only reads: GDF, FIF, XDF, Nihon Kohden, Persyst.

/// Stored numbers of two channels and twelve samples, the same in every format.
pub(crate) const STORED: [[i16; 12]; 2] = [
    [0, 10, 20, 30, 20, 10, 0, -10, -20, -30, -20, -10],
    [5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6],
];

/// Both channels of each time together.
fn frames(encode: impl Fn(i16) -> Vec<u8>) -> Vec<u8> {
    let times = 0..STORED[0].len();
    let frame = |time: usize| STORED.iter().flat_map(move |channel| [channel[time]]);
    times.flat_map(frame).flat_map(encode).collect()
}

fn padded(text: &str, width: usize) -> Vec<u8> {
    let mut field = text.as_bytes().to_vec();
    field.resize(width, b' ');
    field
}

/// GDF of version 1.25 or 2.20: 4 Hz, microvolts of half the stored numbers, two events.
pub(crate) fn gdf(is_first: bool) -> Vec<u8> {
    let mut head = vec![0; 256];
    let mut put = |at: usize, field: &[u8]| head[at..at + field.len()].copy_from_slice(field);
    put(0, if is_first { b"GDF 1.25" } else { b"GDF 2.20" });
    put(8, b"X X");
    match is_first {
        true => {
            put(168, b"2024022912301550");
            put(184, &768_i64.to_le_bytes());
            put(252, &2_u32.to_le_bytes());
        }
        false => {
            // 29 February 2024, 12:30:15.5, in days since the year 0.
            let days = 739_311.0 + (12.0 * 3600.0 + 30.0 * 60.0 + 15.5) / 86_400.0;
            put(168, &((days * 2f64.powi(32)) as u64).to_le_bytes());
            put(184, &3_u16.to_le_bytes());
            put(252, &2_u16.to_le_bytes());
        }
    }
    put(236, &3_i64.to_le_bytes());
    put(244, &1_u32.to_le_bytes());
    put(248, &1_u32.to_le_bytes());
    let both = |field: &dyn Fn(usize) -> Vec<u8>| [field(0), field(1)].concat();
    let double = |value: f64| both(&|_| value.to_le_bytes().to_vec());
    head.extend(both(&|k| padded(["Fp1", "Cz"][k], 16)));
    head.extend(both(&|_| padded("", 80)));
    match is_first {
        true => head.extend(both(&|_| padded("uV", 8))),
        false => {
            head.extend(vec![0; 12]);
            head.extend(both(&|_| 4275_u16.to_le_bytes().to_vec()));
        }
    }
    head.extend(double(-50.0));
    head.extend(double(50.0));
    match is_first {
        true => {
            head.extend(both(&|_| (-100_i64).to_le_bytes().to_vec()));
            head.extend(both(&|_| 100_i64.to_le_bytes().to_vec()));
        }
        false => {
            head.extend(double(-100.0));
            head.extend(double(100.0));
        }
    }
    head.extend(vec![0; 160]);
    head.extend(both(&|_| 4_u32.to_le_bytes().to_vec()));
    head.extend(both(&|_| 3_u32.to_le_bytes().to_vec()));
    head.extend(vec![0; 64]);
    assert_eq!(head.len(), 768);
    for record in 0..3 {
        for channel in STORED {
            let part = channel[4 * record..4 * record + 4].iter();
            head.extend(part.flat_map(|value| value.to_le_bytes()));
        }
    }
    head.push(3);
    match is_first {
        true => {
            head.extend([4, 0, 0]);
            head.extend(2_u32.to_le_bytes());
        }
        false => {
            head.extend([2, 0, 0]);
            head.extend(4_f32.to_le_bytes());
        }
    }
    head.extend(
        [5_u32, 9]
            .iter()
            .flat_map(|position| position.to_le_bytes()),
    );
    head.extend([769_u16, 1010].iter().flat_map(|code| code.to_le_bytes()));
    head.extend([0_u16, 2].iter().flat_map(|channel| channel.to_le_bytes()));
    head.extend([1_u32, 4].iter().flat_map(|length| length.to_le_bytes()));
    head
}

/// FIF of 4 Hz with floats or 16-bit integers, a pause of one buffer of six samples, and an annotation.
pub(crate) fn fif(with_floats: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut tag = |kind: i32, number: i32, content: &[u8]| {
        for field in [kind, number, content.len() as i32, 0] {
            bytes.extend(field.to_be_bytes());
        }
        bytes.extend_from_slice(content);
    };
    let (block_start, block_end, whole) = (104, 105, 3);
    tag(100, 31, &[0; 20]);
    tag(block_start, whole, &101_i32.to_be_bytes());
    tag(200, whole, &2_i32.to_be_bytes());
    tag(201, 4, &4_f32.to_be_bytes());
    let date = [1_709_209_815_i32, 500_000].map(i32::to_be_bytes).concat();
    tag(204, whole, &date);
    for (number, name) in ["Fp1", "Cz"].iter().enumerate() {
        let mut channel = vec![0; 96];
        channel[..4].copy_from_slice(&(number as i32 + 1).to_be_bytes());
        channel[12..16].copy_from_slice(&1_f32.to_be_bytes());
        channel[16..20].copy_from_slice(&0.5_f32.to_be_bytes());
        channel[72..76].copy_from_slice(&107_i32.to_be_bytes());
        channel[80..80 + name.len()].copy_from_slice(name.as_bytes());
        tag(203, 30, &channel);
    }
    tag(block_end, whole, &101_i32.to_be_bytes());
    tag(block_start, whole, &3810_i32.to_be_bytes());
    tag(3568, 5, &3.0_f64.to_be_bytes());
    tag(3569, 5, &4.5_f64.to_be_bytes());
    tag(206, 10, b"eyes{COLON} closed");
    tag(block_end, whole, &3810_i32.to_be_bytes());
    tag(block_start, whole, &102_i32.to_be_bytes());
    tag(208, whole, &8_i32.to_be_bytes());
    let samples = match with_floats {
        true => frames(|value| f32::from(value).to_be_bytes().to_vec()),
        false => frames(|value| value.to_be_bytes().to_vec()),
    };
    let number = if with_floats { 4 } else { 16 };
    let (first, second) = samples.split_at(samples.len() / 2);
    tag(300, number, first);
    tag(301, whole, &1_i32.to_be_bytes());
    tag(300, number, second);
    tag(block_end, whole, &102_i32.to_be_bytes());
    bytes
}

/// XDF of a stream of two channels at 4 Hz, a stream of marks, and offsets of the first one's clock.
pub(crate) fn xdf() -> Vec<u8> {
    let mut bytes = b"XDF:".to_vec();
    let mut chunk = |tag: u16, content: &[u8]| {
        bytes.push(4);
        bytes.extend((content.len() as u32 + 2).to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend_from_slice(content);
    };
    let header = |id: u32, name: &str, about: &str, format: &str, rest: &str| {
        let (kind, n_channels, rate) = match format {
            "string" => ("Markers", 1, "0"),
            _ => ("EEG", 2, "4.0"),
        };
        let xml = format!(
            "<?xml version=\"1.0\"?><info><name>{name}</name><type>{kind}</type>\
             <channel_count>{n_channels}</channel_count><nominal_srate>{rate}</nominal_srate>\
             <channel_format>{format}</channel_format>{rest}<desc>{about}</desc></info>"
        );
        [id.to_le_bytes().to_vec(), xml.into_bytes()].concat()
    };
    let channel =
        |label: &str| format!("<channel><label>{label}</label><unit>microvolts</unit></channel>");
    let about = format!(
        "<channels>{}{}</channels>",
        channel("Fp1"),
        channel("C&amp;z")
    );
    chunk(
        1,
        b"<?xml version=\"1.0\"?><info><version>1.0</version></info>",
    );
    chunk(2, &header(7, "Amplifier", &about, "int16", ""));
    chunk(2, &header(9, "Marks", "", "string", ""));
    for half in 0..2_usize {
        let mut samples = [7_u32.to_le_bytes().to_vec(), vec![1, 6]].concat();
        for time in 6 * half..6 * half + 6 {
            match time % 6 {
                0 => {
                    samples.push(8);
                    samples.extend((100.0 + time as f64 / 4.0).to_le_bytes());
                }
                _ => samples.push(0),
            }
            samples.extend(STORED.iter().flat_map(|values| values[time].to_le_bytes()));
        }
        chunk(3, &samples);
    }
    let mut mark = [9_u32.to_le_bytes().to_vec(), vec![1, 1, 8]].concat();
    mark.extend(111.0_f64.to_le_bytes());
    mark.extend([1, 2]);
    mark.extend(b"go");
    chunk(3, &mark);
    for time in [99.0_f64, 104.0] {
        chunk(
            4,
            &[
                7_u32.to_le_bytes().to_vec(),
                time.to_le_bytes().to_vec(),
                10.0_f64.to_le_bytes().to_vec(),
            ]
            .concat(),
        );
    }
    bytes
}

/// Samples, log and electrode names of a Nihon Kohden recording of 1.2 s at 10 Hz.
pub(crate) fn nihon_kohden() -> [Vec<u8>; 3] {
    const DEVICE: &[u8; 16] = b"EEG-1100C V01.00";
    let (control, block) = (0x400, 0x1800);
    let mut eeg = vec![0; block];
    let mut put = |at: usize, field: &[u8]| eeg[at..at + field.len()].copy_from_slice(field);
    put(0, DEVICE);
    put(0x81, DEVICE);
    put(0x91, &[1]);
    put(0x92, &(control as u32).to_le_bytes());
    put(control + 17, &[1]);
    put(control + 18, &(block as u32).to_le_bytes());
    put(0x17fe, &[1]);
    let mut head = vec![0; 0x27];
    head[0x14..0x1a].copy_from_slice(&[0x24, 0x02, 0x29, 0x12, 0x30, 0x15]);
    head[0x1a..0x1c].copy_from_slice(&(10_u16 | 0xc000).to_le_bytes());
    head[0x1c..0x20].copy_from_slice(&12_u32.to_le_bytes());
    head[0x26] = 2;
    for code in [0, 42] {
        head.push(code);
        head.extend([0; 9]);
    }
    for time in 0..STORED[0].len() {
        for channel in STORED {
            head.extend((i32::from(channel[time]) + 32_768).to_le_bytes()[..2].iter());
        }
        head.extend([0, 0]);
    }
    eeg.extend(head);
    let mut log = vec![0; 0x300];
    log[..16].copy_from_slice(DEVICE);
    log[0x91] = 1;
    log[0x92..0x96].copy_from_slice(&0x280_u32.to_le_bytes());
    log[0x281..0x291].copy_from_slice(DEVICE);
    log[0x292] = 1;
    log[0x294..0x294 + 26].copy_from_slice(b"EYES OPEN\0\0\0\0\0\0\0\0\0\0\x00000001");
    let names = b"[ELECTRODE]\r\n0000=Fp1\r\n0042=DC one\r\n[SOMETHING]\r\n0000=no\r\n".to_vec();
    [eeg, log, names]
}

/// Layout and data of a Persyst recording at 4 Hz.
pub(crate) fn persyst() -> [Vec<u8>; 2] {
    let layout = "[FileInfo]\r\nFile=file.dat\r\nFileType=Interleaved\r\nSamplingRate=4\r\n\
                  HeaderLength=0\r\nCalibration=0.5\r\nWaveformCount=2\r\nDataType=0\r\n\
                  [Patient]\r\nTestDate=2024.02.29\r\nTestTime=12:30:15\r\n\
                  [ChannelMap]\r\nFp1-Ref=1\r\nCz-Ref=2\r\n\
                  [Comments]\r\n1.000,0.5,0,65543,seizure, left\r\n0.5,0,0,1,start\r\n";
    [
        layout.as_bytes().to_vec(),
        frames(|value| value.to_le_bytes().to_vec()),
    ]
}
