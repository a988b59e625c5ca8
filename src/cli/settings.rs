//! `atomscope settings`: the table of all settings, as text or Markdown.

use std::io::{self, Write};
use std::process::ExitCode;

use atomscope_engine::experiment::SETTINGS;
use atomscope_engine::settings::Setting;

/// Writes the table.
pub(super) fn run(markdown: bool, out: &mut impl Write) -> io::Result<ExitCode> {
    if markdown {
        writeln!(
            out,
            "| setting | symbol | values | meaning |\n|---|---|---|---|"
        )?;
    }
    for group in &SETTINGS {
        for setting in group.settings {
            let name = group.full_name(setting);
            match markdown {
                true => write_row(out, &name, setting)?,
                false => write_text(out, &name, setting)?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_row(out: &mut impl Write, name: &str, setting: &Setting) -> io::Result<()> {
    writeln!(
        out,
        "| `{name}`{} | {} | {} | {}: {} |",
        belonging(setting),
        setting.symbol,
        values(setting),
        setting.label,
        setting.help
    )
}

fn write_text(out: &mut impl Write, name: &str, setting: &Setting) -> io::Result<()> {
    writeln!(out, "{name}{}", belonging(setting))?;
    let symbol = match setting.symbol {
        "" => String::new(),
        symbol => format!(" {symbol}"),
    };
    writeln!(out, "    {}{symbol}: {}", setting.label, setting.help)?;
    writeln!(out, "    {}", values(setting))
}

/// The choice that the setting belongs to, where another has one of the same name.
fn belonging(setting: &Setting) -> String {
    setting
        .of
        .map_or(String::new(), |choice| format!(" ({choice})"))
}

fn values(setting: &Setting) -> String {
    match setting.unit {
        "" => setting.kind.to_string(),
        unit => format!("{}, in {unit}", setting.kind),
    }
}
