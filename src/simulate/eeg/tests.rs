//! Simulated EEG against what is claimed of it.

use super::*;

#[test]
#[ignore = "writes the default recordings to the path in ATOMSCOPE_DUMP, for a look from outside"]
fn dump_the_default_recordings() {
    let path = std::env::var("ATOMSCOPE_DUMP").expect("ATOMSCOPE_DUMP names a file");
    let mut settings = EegSettings::default();
    if let Ok(effect) = std::env::var("EFFECT") {
        settings.effect = effect.parse().expect("number");
    }
    if let Ok(effect) = std::env::var("SEED") {
        settings.seed = effect.parse().expect("number");
    }
    let simulator = EegSimulator::new(settings).expect("defaults are legal");
    let start = std::time::Instant::now();
    let mut samples = Vec::new();
    for class in SubjectClass::ALL {
        for index in 0..14 {
            samples.extend(simulator.recording(class, index).channels_uv.concat());
        }
    }
    println!("{:?}", start.elapsed());
    let array =
        ndarray::Array3::from_shape_vec((28, 19, 30_000), samples).expect("28 × 19 × 30 000");
    ndarray_npy::write_npy(path, &array).expect("written");
}
