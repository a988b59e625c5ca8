//! The user's own liblsl, loaded at run time: the only place that calls foreign code.
//!
//! What is relied on: the C interface of liblsl 1.13 and later (`lsl_c.h`). Every pointer that the library hands out is
//! owned by one of the types here and freed once, in `drop`; buffers given to the library have the length told to it; text
//! is copied before its owner is freed. The library stays loaded as long as anything of it is in use.
#![expect(
    unsafe_code,
    reason = "a C library is loaded at run time; see the module's rules"
)]

use std::ffi::{CStr, CString, c_char, c_double, c_int, c_ulong, c_void};
use std::path::PathBuf;
use std::sync::Arc;

use libloading::Library;

use super::StreamError;

type Handle = *mut c_void;

/// Most streams that are listed.
const MOST_STREAMS: usize = 64;
/// Names under which systems know the library.
const USUAL_NAMES: [&str; 5] = [
    "liblsl.so",
    "liblsl.so.2",
    "liblsl64.so",
    "liblsl.dylib",
    "lsl.dll",
];

/// The functions used, as `lsl_c.h` declares them.
struct Functions {
    resolve_all: unsafe extern "C" fn(*mut Handle, u32, c_double) -> c_int,
    name: unsafe extern "C" fn(Handle) -> *const c_char,
    source_id: unsafe extern "C" fn(Handle) -> *const c_char,
    channel_count: unsafe extern "C" fn(Handle) -> c_int,
    rate: unsafe extern "C" fn(Handle) -> c_double,
    xml: unsafe extern "C" fn(Handle) -> *mut c_char,
    destroy_string: unsafe extern "C" fn(*mut c_char),
    destroy_info: unsafe extern "C" fn(Handle),
    create_inlet: unsafe extern "C" fn(Handle, c_int, c_int, c_int) -> Handle,
    destroy_inlet: unsafe extern "C" fn(Handle),
    full_info: unsafe extern "C" fn(Handle, c_double, *mut c_int) -> Handle,
    open: unsafe extern "C" fn(Handle, c_double, *mut c_int),
    correction: unsafe extern "C" fn(Handle, c_double, *mut c_int) -> c_double,
    pull: unsafe extern "C" fn(
        Handle,
        *mut c_double,
        *mut c_double,
        c_ulong,
        c_ulong,
        c_double,
        *mut c_int,
    ) -> c_ulong,
}

/// The library.
#[derive(Clone)]
pub(super) struct Lsl(Arc<(Functions, Library)>);

/// What the library says of a stream.
pub(super) struct Info {
    lsl: Lsl,
    handle: Handle,
}

/// A stream that is being read.
pub(super) struct Inlet {
    lsl: Lsl,
    handle: Handle,
}

// SAFETY: the library's objects may be used from any thread, one at a time, which `&mut` and ownership ensure.
unsafe impl Send for Info {}
// SAFETY: as above.
unsafe impl Send for Inlet {}

impl Lsl {
    /// Loads the library from `PYLSL_LIB`, or by the names that systems know it by.
    pub(super) fn load() -> Result<Self, StreamError> {
        let named = std::env::var_os("PYLSL_LIB").map(PathBuf::from);
        let usual = USUAL_NAMES.iter().map(PathBuf::from);
        let mut tried = Vec::new();
        for name in named.into_iter().chain(usual) {
            // SAFETY: loading runs the library's start-up code; the user chose it as their liblsl.
            let loaded = unsafe { Library::new(&name) }.and_then(|library| {
                // SAFETY: the types are those of `lsl_c.h`, and the library is kept beside them.
                let functions = unsafe { functions(&library)? };
                Ok((functions, library))
            });
            match loaded {
                Ok(pair) => return Ok(Self(Arc::new(pair))),
                Err(error) => tried.push(format!("{}: {error}", name.display())),
            }
        }
        tried.truncate(2);
        Err(StreamError::NoLsl {
            tried: tried.join("; "),
        })
    }

    /// All streams that answer within the time.
    pub(super) fn streams(&self, wait_s: f64) -> Vec<Info> {
        let mut handles = [std::ptr::null_mut(); MOST_STREAMS];
        // SAFETY: the buffer has the length told.
        let found =
            unsafe { (self.0.0.resolve_all)(handles.as_mut_ptr(), MOST_STREAMS as u32, wait_s) };
        let n_found = usize::try_from(found).unwrap_or(0).min(MOST_STREAMS);
        let info = |handle: &Handle| Info {
            lsl: self.clone(),
            handle: *handle,
        };
        handles[..n_found].iter().map(info).collect()
    }
}

/// SAFETY: the types must be those of the library's functions, and the library must outlive them.
unsafe fn functions(library: &Library) -> Result<Functions, libloading::Error> {
    // SAFETY: as the caller promises.
    unsafe {
        Ok(Functions {
            resolve_all: *library.get(b"lsl_resolve_all\0")?,
            name: *library.get(b"lsl_get_name\0")?,
            source_id: *library.get(b"lsl_get_source_id\0")?,
            channel_count: *library.get(b"lsl_get_channel_count\0")?,
            rate: *library.get(b"lsl_get_nominal_srate\0")?,
            xml: *library.get(b"lsl_get_xml\0")?,
            destroy_string: *library.get(b"lsl_destroy_string\0")?,
            destroy_info: *library.get(b"lsl_destroy_streaminfo\0")?,
            create_inlet: *library.get(b"lsl_create_inlet\0")?,
            destroy_inlet: *library.get(b"lsl_destroy_inlet\0")?,
            full_info: *library.get(b"lsl_get_fullinfo\0")?,
            open: *library.get(b"lsl_open_stream\0")?,
            correction: *library.get(b"lsl_time_correction\0")?,
            pull: *library.get(b"lsl_pull_chunk_d\0")?,
        })
    }
}

/// SAFETY: `text` must be null or a text that ends in zero.
unsafe fn copied(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    let text: CString = unsafe { CStr::from_ptr(text) }.to_owned();
    text.to_string_lossy().into_owned()
}

impl Info {
    /// Name of the stream.
    pub(super) fn name(&self) -> String {
        // SAFETY: the handle is valid, and the text belongs to it.
        unsafe { copied((self.lsl.0.0.name)(self.handle)) }
    }

    /// What the sender is known by.
    pub(super) fn source_id(&self) -> String {
        // SAFETY: as above.
        unsafe { copied((self.lsl.0.0.source_id)(self.handle)) }
    }

    /// Number of channels.
    pub(super) fn n_channels(&self) -> usize {
        // SAFETY: the handle is valid.
        usize::try_from(unsafe { (self.lsl.0.0.channel_count)(self.handle) }).unwrap_or(0)
    }

    /// Samples per second; 0 for an irregular stream.
    pub(super) fn rate_hz(&self) -> f64 {
        // SAFETY: the handle is valid.
        unsafe { (self.lsl.0.0.rate)(self.handle) }
    }

    /// Everything that the sender says of the stream.
    pub(super) fn xml(&self) -> String {
        // SAFETY: the text is ours until it is given back, which follows.
        unsafe {
            let text = (self.lsl.0.0.xml)(self.handle);
            let copy = copied(text);
            if !text.is_null() {
                (self.lsl.0.0.destroy_string)(text);
            }
            copy
        }
    }

    /// Begins to read the stream; the library buffers `buffer_s` seconds and reconnects to a sender that comes back.
    pub(super) fn open(&self, buffer_s: i32, patience_s: f64) -> Result<Inlet, StreamError> {
        let functions = &self.lsl.0.0;
        // SAFETY: the handle is valid; the library copies what it needs of it.
        let handle = unsafe { (functions.create_inlet)(self.handle, buffer_s, 0, 1) };
        if handle.is_null() {
            return Err(StreamError::Lsl {
                code: -4,
                doing: "opening the stream",
            });
        }
        let inlet = Inlet {
            lsl: self.lsl.clone(),
            handle,
        };
        let mut code = 0;
        // SAFETY: handle and error code are valid.
        unsafe { (functions.open)(inlet.handle, patience_s, &mut code) };
        checked(code, "opening the stream")?;
        Ok(inlet)
    }
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and freed once.
        unsafe { (self.lsl.0.0.destroy_info)(self.handle) };
    }
}

fn checked(code: c_int, doing: &'static str) -> Result<(), StreamError> {
    match code {
        0 => Ok(()),
        code => Err(StreamError::Lsl { code, doing }),
    }
}

impl Inlet {
    /// What the sender says of the stream, with the names of its channels.
    pub(super) fn full_info(&self, patience_s: f64) -> Result<Info, StreamError> {
        let mut code = 0;
        // SAFETY: handle and error code are valid.
        let handle = unsafe { (self.lsl.0.0.full_info)(self.handle, patience_s, &mut code) };
        checked(code, "asking for the channels")?;
        match handle.is_null() {
            true => Err(StreamError::Lsl {
                code: -4,
                doing: "asking for the channels",
            }),
            false => Ok(Info {
                lsl: self.lsl.clone(),
                handle,
            }),
        }
    }

    /// What is to be added to the sender's times to have those of this machine.
    pub(super) fn time_correction_s(&self, patience_s: f64) -> Result<f64, StreamError> {
        let mut code = 0;
        // SAFETY: handle and error code are valid.
        let correction_s = unsafe { (self.lsl.0.0.correction)(self.handle, patience_s, &mut code) };
        checked(code, "measuring the clock offset").map(|()| correction_s)
    }

    /// Fills the buffers with what has come (values frame by frame, one time per frame); the number of frames.
    pub(super) fn pull(
        &mut self,
        values: &mut [f64],
        times_s: &mut [f64],
        patience_s: f64,
    ) -> Result<usize, StreamError> {
        let mut code = 0;
        // SAFETY: the buffers have the lengths told.
        let n_values = unsafe {
            (self.lsl.0.0.pull)(
                self.handle,
                values.as_mut_ptr(),
                times_s.as_mut_ptr(),
                values.len() as c_ulong,
                times_s.len() as c_ulong,
                patience_s,
                &mut code,
            )
        };
        const TIMED_OUT: c_int = -1;
        if code != TIMED_OUT {
            checked(code, "reading samples")?;
        }
        let per_frame = values.len() / times_s.len().max(1);
        Ok((n_values as usize / per_frame.max(1)).min(times_s.len()))
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and freed once.
        unsafe { (self.lsl.0.0.destroy_inlet)(self.handle) };
    }
}
