//! Letters that the window's own fonts lack, drawn by fonts of the system: found and loaded when such a
//! letter is first drawn.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use egui::epaint::text::{
    FallbackRequest, FontData, FontInsert, FontPriority, FontProvider, InsertFontFamily,
};
use egui::{Context, FontFamily, Id};
use fontdb::{Database, FaceInfo, Style, Weight};

/// Scripts whose letters lie in these ranges, and the Debian package that has a font for them.
const SCRIPTS: [(u32, u32, &str, &str); 9] = [
    (0x0590, 0x05ff, "Hebrew", "fonts-noto-core"),
    (0x0600, 0x07ff, "Arabic", "fonts-noto-core"),
    (0x0900, 0x097f, "Devanagari", "fonts-noto-core"),
    (0x0e00, 0x0e7f, "Thai", "fonts-noto-core"),
    (0x1100, 0x11ff, "Korean", "fonts-noto-cjk"),
    (0x2e80, 0x303f, "Chinese", "fonts-noto-cjk"),
    (0x3040, 0x30ff, "Japanese", "fonts-noto-cjk"),
    (0x3400, 0x9fff, "Chinese", "fonts-noto-cjk"),
    (0xac00, 0xd7ff, "Korean", "fonts-noto-cjk"),
];

/// The fonts of the system, and what none of them can draw.
#[derive(Default)]
struct SystemFonts {
    faces: OnceLock<Database>,
    missing: Mutex<Missing>,
}

#[derive(Default)]
struct Missing {
    /// Blocks of 128 letters that no font has.
    blocks: BTreeSet<u32>,
    /// What is to be told.
    hints: BTreeSet<String>,
}

/// Lets the system's fonts draw what the window's own lack.
pub(super) fn install(context: &Context) {
    let fonts = Arc::new(SystemFonts::default());
    context.data_mut(|data| data.insert_temp(place(), fonts.clone()));
    context.add_font_provider(fonts);
}

/// Which packages would help, each told once.
pub(super) fn take_hints(context: &Context) -> Vec<String> {
    let fonts: Option<Arc<SystemFonts>> = context.data(|data| data.get_temp(place()));
    let Some(fonts) = fonts else {
        return Vec::new();
    };
    let mut missing = fonts.missing.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut missing.hints).into_iter().collect()
}

fn place() -> Id {
    Id::unique("system fonts")
}

impl FontProvider for SystemFonts {
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        let letter = request.cluster.chars().next()?;
        let block = u32::from(letter) >> 7;
        let lock = || self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().blocks.contains(&block) {
            return None;
        }
        let found = self.find(letter);
        if found.is_none() {
            let mut missing = lock();
            missing.blocks.insert(block);
            missing.hints.extend(hint(letter));
        }
        found
    }
}

impl SystemFonts {
    /// The most ordinary face that has the letter.
    fn find(&self, letter: char) -> Option<FontInsert> {
        let faces = self.faces.get_or_init(|| {
            let mut faces = Database::new();
            faces.load_system_fonts();
            faces
        });
        let mut by_rank: Vec<&FaceInfo> = faces.faces().collect();
        by_rank.sort_by_cached_key(|face| (rank(face), face.post_script_name.clone()));
        let has_letter = |face: &&FaceInfo| {
            let looked = faces.with_face_data(face.id, |bytes, index| {
                let parsed = ttf_parser::Face::parse(bytes, index).ok()?;
                // Pictures of letters are drawn by their outlines only.
                parsed.glyph_index(letter).filter(|_| has_outlines(&parsed))
            });
            looked.flatten().is_some()
        };
        let face = by_rank.into_iter().find(has_letter)?;
        let (bytes, index) =
            faces.with_face_data(face.id, |bytes, index| (bytes.to_vec(), index))?;
        let both = [FontFamily::Proportional, FontFamily::Monospace];
        let families = both.map(|family| InsertFontFamily {
            family,
            priority: FontPriority::Lowest,
        });
        Some(FontInsert::new(
            &face.post_script_name,
            FontData::from_blob(Arc::new(bytes), index),
            families.to_vec(),
        ))
    }
}

fn has_outlines(face: &ttf_parser::Face<'_>) -> bool {
    let tables = face.tables();
    tables.glyf.is_some() || tables.cff.is_some() || tables.cff2.is_some()
}

/// Upright before slanted, regular before bold, sans before others, Noto before others; Chinese in
/// simplified letters before other regions, as COMTRADE stations have them.
fn rank(face: &FaceInfo) -> (bool, u16, bool, bool, bool, bool) {
    let name = face.families.first().map_or("", |(name, _)| name.as_str());
    (
        face.style != Style::Normal,
        face.weight.0.abs_diff(Weight::NORMAL.0),
        face.monospaced || name.contains("Mono"),
        !name.contains("Sans"),
        !name.starts_with("Noto"),
        name.contains("CJK") && !name.ends_with("SC"),
    )
}

/// What would help to see a letter, where that is known.
fn hint(letter: char) -> Option<String> {
    let code = u32::from(letter);
    let script = SCRIPTS
        .iter()
        .find(|(first, last, ..)| (*first..=*last).contains(&code))?;
    let (_, _, name, package) = script;
    Some(format!(
        "No font of this system has {name} letters: install the package {package} and start again to read them"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_every_script_have_a_package() {
        for (letter, package) in [
            ('한', "cjk"),
            ('か', "cjk"),
            ('变', "cjk"),
            ('ש', "core"),
            ('م', "core"),
            ('न', "core"),
            ('ก', "core"),
        ] {
            let hint = hint(letter).expect("a hint");
            assert!(hint.contains(&format!("fonts-noto-{package}")), "{hint}");
        }
        assert_eq!(hint('a'), None);
    }

    #[test]
    fn what_no_font_has_is_told_once() {
        let fonts = SystemFonts::default();
        fonts.faces.get_or_init(Database::new);
        let request = |cluster| FallbackRequest {
            cluster,
            family: &FontFamily::Proportional,
        };
        assert!(fonts.font_for(&request("变")).is_none());
        assert!(fonts.font_for(&request("变")).is_none());
        let missing = fonts.missing.lock().expect("not poisoned");
        assert_eq!((missing.hints.len(), missing.blocks.len()), (1, 1));
    }
}
