//! Which columns of a table, or which arrays of a file, are classes, groups and features.

use egui::{ComboBox, RichText, ScrollArea, TextEdit, Ui};

use super::fields::SettingField;
use crate::ui::app::Typing;
use crate::ui::elements::{choice, help, section, switch, wrong};
use crate::ui::theme;
use crate::workbench::{ColumnChoice, ColumnPreview, Workbench};
use atomscope_engine::dataset::declared::{DIVIDE_BY, PICTURE_COLUMNS, PICTURE_ROWS};
use atomscope_engine::dataset::{
    ArrayChoice, ArrayContent, ArraySource, Layout, TableChoice, TableClasses, TableSource,
};
use atomscope_engine::records::counted;
use atomscope_engine::records::table::DecimalSign;
use atomscope_engine::settings::SettingProblem;

/// What a column of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnRole {
    Class,
    Group,
    Feature,
    Unused,
}

impl ColumnRole {
    fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Group => "group",
            Self::Feature => "feature",
            Self::Unused => "not used",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Class => "The class to be learned; several columns are joined into one name",
            Self::Group => "The subject or record that a row belongs to",
            Self::Feature => "A number that is learned from",
            Self::Unused => "Excluded",
        }
    }

    /// What a column can be: text is no feature.
    fn possible(column: &ColumnChoice) -> impl Iterator<Item = Self> {
        let all = [Self::Class, Self::Group, Self::Feature, Self::Unused];
        let is_text = column.is_text;
        all.into_iter()
            .filter(move |role| !is_text || *role != Self::Feature)
    }
}

/// Columns of a table with what each of them is.
struct TableRoles<'a> {
    columns: &'a [ColumnChoice],
    choice: TableChoice,
}

impl TableRoles<'_> {
    fn class_columns(&self) -> &[String] {
        match &self.choice.classes {
            TableClasses::Columns(names) => names,
            TableClasses::Whole(_) => &[],
        }
    }

    fn role(&self, column: &ColumnChoice) -> ColumnRole {
        let name = &column.name;
        if self.class_columns().contains(name) {
            return ColumnRole::Class;
        }
        if self.choice.group_column.as_ref() == Some(name) {
            return ColumnRole::Group;
        }
        let is_feature = match &self.choice.feature_columns {
            Some(names) => names.contains(name),
            None => !column.is_text,
        };
        match is_feature {
            true => ColumnRole::Feature,
            false => ColumnRole::Unused,
        }
    }

    fn count(&self, role: ColumnRole) -> usize {
        let is_so = |column: &&ColumnChoice| self.role(column) == role;
        self.columns.iter().filter(is_so).count()
    }

    /// The choice with another role for one column; features are named only where one is omitted.
    fn with(&self, changed: &ColumnChoice, role: ColumnRole) -> TableChoice {
        let role_of = |column: &ColumnChoice| match (column.name == changed.name, role) {
            (true, role) => role,
            // There is one column of the group.
            (false, ColumnRole::Group) if self.role(column) == ColumnRole::Group => {
                ColumnRole::Unused
            }
            (false, _) => self.role(column),
        };
        let named = |wanted: ColumnRole| -> Vec<String> {
            let columns = self.columns.iter();
            let columns = columns.filter(|column| role_of(column) == wanted);
            columns.map(|column| column.name.clone()).collect()
        };
        let classes = named(ColumnRole::Class);
        let leaves_out =
            |column: &ColumnChoice| role_of(column) == ColumnRole::Unused && !column.is_text;
        TableChoice {
            classes: match (&self.choice.classes, classes.is_empty()) {
                (whole @ TableClasses::Whole(_), true) => whole.clone(),
                _ => TableClasses::Columns(classes),
            },
            group_column: named(ColumnRole::Group).into_iter().next(),
            feature_columns: self
                .columns
                .iter()
                .any(leaves_out)
                .then(|| named(ColumnRole::Feature)),
        }
    }
}

/// What stands in the place of columns or arrays that are not known. The error is told with the data.
fn awaiting(workbench: &Workbench, reading: &'static str) -> &'static str {
    match workbench.has_no_columns() {
        true => "Shown when the file can be read",
        false => reading,
    }
}

/// The columns of a table.
pub(super) fn table_columns_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    source: &mut TableSource,
    problems: &[SettingProblem],
    typing: &mut Typing,
) {
    section(ui, "Columns");
    let Some(preview) = workbench.columns() else {
        help(ui, awaiting(workbench, "Reading the columns"));
        return;
    };
    let none = TableChoice {
        classes: TableClasses::Columns(Vec::new()),
        group_column: None,
        feature_columns: None,
    };
    let chosen = source.choice.clone().or(preview.table.clone());
    let roles = TableRoles {
        columns: &preview.columns,
        choice: chosen.unwrap_or(none),
    };
    summary_ui(ui, &roles, preview);
    sheet_ui(ui, source, preview);
    decimal_ui(ui, source, preview);
    if let Some(problem) = problems.iter().find(|p| p.field.ends_with("classes")) {
        wrong(ui, &problem.message);
    }
    ui.horizontal(|ui| {
        let label = ui.label("Find a column");
        let field = TextEdit::singleline(&mut typing.column).desired_width(160.0);
        ui.add(field)
            .labelled_by(label.id)
            .on_hover_text("Part of its name");
    });
    let sought = typing.column.trim().to_lowercase();
    let is_sought = |column: &&ColumnChoice| column.name.to_lowercase().contains(&sought);
    let mut shown: Vec<&ColumnChoice> = preview.columns.iter().filter(is_sought).collect();
    // What was chosen stands above the many features, where it is seen without scrolling.
    shown.sort_by_key(|column| match roles.role(column) {
        ColumnRole::Class => 0,
        ColumnRole::Group => 1,
        ColumnRole::Feature | ColumnRole::Unused => 2,
    });
    let line = ui.spacing().interact_size.y;
    let mut changed = None;
    ScrollArea::vertical()
        .id_salt("columns")
        .max_height(8.0 * (line + ui.spacing().item_spacing.y))
        .show_rows(ui, line, shown.len(), |ui, range| {
            for column in &shown[range] {
                if let Some(role) = role_ui(ui, column, roles.role(column)) {
                    changed = Some(roles.with(column, role));
                }
            }
        });
    if changed.is_some() {
        source.choice = changed;
    }
}

/// Asks for the sheet of a workbook that has several.
fn sheet_ui(ui: &mut Ui, source: &mut TableSource, preview: &ColumnPreview) {
    let [first, _, ..] = &preview.sheets[..] else {
        return;
    };
    let shown = source.sheet.clone().unwrap_or_else(|| first.clone());
    let chosen = egui::ComboBox::from_label("Sheet").selected_text(&shown);
    chosen.show_ui(ui, |ui| {
        for name in &preview.sheets {
            if ui.selectable_label(*name == shown, name).clicked() && *name != shown {
                source.sheet = Some(name.clone());
                // What the columns of one sheet mean says nothing of another.
                (source.choice, source.recordings) = (None, None);
            }
        }
    });
}

/// Asks for the decimal sign where numbers can be read in two ways.
fn decimal_ui(ui: &mut Ui, source: &mut TableSource, preview: &ColumnPreview) {
    if preview.undecided.is_empty() && source.decimal.is_none() {
        return;
    }
    let names = preview.undecided.join(", ");
    ui.label(format!(
        "Decimal sign: are numbers such as 1,234 in {names} more than a thousand?"
    ));
    ui.horizontal(|ui| {
        for (sign, name, text) in [
            (
                DecimalSign::Comma,
                "comma",
                "1,234 is a little more than one",
            ),
            (DecimalSign::Point, "point", "1,234 is more than a thousand"),
        ] {
            let is_chosen = source.decimal == Some(sign);
            if ui.radio(is_chosen, name).on_hover_text(text).clicked() {
                source.decimal = Some(sign);
            }
        }
    });
}

fn summary_ui(ui: &mut Ui, roles: &TableRoles<'_>, preview: &ColumnPreview) {
    let class = match &roles.choice.classes {
        TableClasses::Columns(names) if names.is_empty() => "no class column".to_owned(),
        TableClasses::Columns(names) => format!("class from {}", names.join(" and ")),
        TableClasses::Whole(name) => format!("all rows of class {name}"),
    };
    let group = match &roles.choice.group_column {
        Some(name) => format!("group from {name}"),
        None => "no group".to_owned(),
    };
    let features = counted(roles.count(ColumnRole::Feature), "feature");
    ui.label(format!("{class} · {group} · {features}"));
    let name = preview.file.file_name().unwrap_or_default();
    help(ui, &format!("Columns of {}", name.to_string_lossy()));
}

/// A column with the choice of what it is.
fn role_ui(ui: &mut Ui, column: &ColumnChoice, role: ColumnRole) -> Option<ColumnRole> {
    let mut chosen = None;
    ui.horizontal(|ui| {
        let width = theme::body_font(ui).size * 8.0;
        let combo = ComboBox::from_id_salt(("role", &column.name))
            .selected_text(role.name())
            .width(width)
            .show_ui(ui, |ui| {
                for own in ColumnRole::possible(column) {
                    let entry = ui.selectable_label(own == role, own.name());
                    if entry.on_hover_text(own.help()).clicked() {
                        chosen = Some(own);
                    }
                }
            });
        let label = format!("Role of {}", column.name);
        ui.ctx()
            .accesskit_node_builder(combo.response.id, |node| node.set_label(label));
        combo
            .response
            .on_hover_text("The role of the column; applies when the data are loaded again");
        let kind = if column.is_text { "text" } else { "numbers" };
        ui.add(egui::Label::new(&column.name).truncate());
        ui.label(RichText::new(kind).small().color(theme::tones(ui).weak));
    });
    chosen.filter(|chosen| *chosen != role)
}

/// The arrays of a file.
pub(super) fn arrays_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    source: &mut ArraySource,
    problems: &[SettingProblem],
) {
    section(ui, "Arrays");
    let Some(preview) = workbench.columns() else {
        help(ui, awaiting(workbench, "Reading the arrays"));
        return;
    };
    let first = preview.arrays.first().map(|(name, _)| name.clone());
    let likely = source.choice.clone().or(preview.meaning.clone());
    let Some(before) = likely.or_else(|| Some(ArrayChoice::pages(first?))) else {
        help(ui, "The file holds no array");
        return;
    };
    let mut wanted = before.clone();
    content_ui(ui, &mut wanted.content, preview);
    DIVIDE_BY.ui(ui, &mut wanted.divide_by, problems);
    let text = "All samples of a file form one group, such as a subject. Default: off.";
    switch(ui, "A file is a group", text, &mut wanted.group_by_file);
    layout_ui(ui, &mut wanted.layout);
    if wanted != before {
        source.choice = Some(wanted);
    }
}

fn content_ui(ui: &mut Ui, content: &mut ArrayContent, preview: &ColumnPreview) {
    let shown: Vec<String> = preview
        .arrays
        .iter()
        .map(|(name, shape)| {
            let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("{name} ({})", sizes.join(" × "))
        })
        .collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let name_at = |place: usize| preview.arrays[place].0.clone();
    let place_of = |name: &str| {
        let found = preview.arrays.iter().position(|(own, _)| own == name);
        found.unwrap_or(usize::MAX)
    };
    let current = usize::from(matches!(content, ArrayContent::Labelled { .. }));
    let names = ["One page per class", "Samples beside their labels"];
    let text = "Features × samples × classes in one array, or a matrix with the class of each sample beside it. Default as the shapes suggest.";
    if let Some(chosen) = choice(ui, "Content", text, current, &names) {
        let first = preview.arrays.first().map(|(name, _)| name.clone());
        let last = preview.arrays.last().map(|(name, _)| name.clone());
        *content = match chosen {
            0 => ArrayContent::Pages {
                array: first.unwrap_or_default(),
            },
            _ => ArrayContent::Labelled {
                samples: first.unwrap_or_default(),
                labels: last.unwrap_or_default(),
                groups: None,
            },
        };
    }
    let pick = |ui: &mut Ui, label: &str, text: &str, name: &mut String| {
        if let Some(place) = choice(ui, label, text, place_of(name), &shown) {
            *name = name_at(place);
        }
    };
    match content {
        ArrayContent::Pages { array } => {
            pick(ui, "Array", "Features × samples × classes", array);
        }
        ArrayContent::Labelled {
            samples,
            labels,
            groups,
        } => {
            pick(ui, "Samples", "The matrix of features", samples);
            pick(ui, "Labels", "The class of each sample", labels);
            let mut with_none = vec!["None"];
            with_none.extend(&shown);
            let current = groups
                .as_deref()
                .map_or(0, |name| place_of(name).saturating_add(1));
            let text = "The subject or record of each sample. Default none.";
            if let Some(place) = choice(ui, "Groups", text, current, &with_none) {
                *groups = place.checked_sub(1).map(name_at);
            }
        }
    }
}

/// How the features of a sample are drawn.
fn layout_ui(ui: &mut Ui, layout: &mut Layout) {
    let current = usize::from(matches!(layout, Layout::Image { .. }));
    let names = ["A list", "A picture"];
    let text =
        "How the features of a sample are drawn. Default a picture where they make a square.";
    let is_known = matches!(layout, Layout::Plain | Layout::Image { .. });
    if is_known && let Some(chosen) = choice(ui, "Drawn as", text, current, &names) {
        *layout = match chosen {
            0 => Layout::Plain,
            _ => Layout::Image {
                n_rows: 16,
                n_columns: 16,
                by_columns: false,
            },
        };
    }
    if let Layout::Image {
        n_rows,
        n_columns,
        by_columns,
    } = layout
    {
        PICTURE_ROWS.whole_ui(ui, n_rows, &[]);
        PICTURE_COLUMNS.whole_ui(ui, n_columns, &[]);
        let text = "The picture is stored column by column, as MATLAB does. Default off.";
        switch(ui, "Column by column", text, by_columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<ColumnChoice> {
        [("a", false), ("b", false), ("sort", true), ("who", true)]
            .map(|(name, is_text)| ColumnChoice {
                name: name.to_owned(),
                is_text,
            })
            .to_vec()
    }

    fn roles(columns: &[ColumnChoice]) -> TableRoles<'_> {
        TableRoles {
            columns,
            choice: TableChoice {
                classes: TableClasses::Columns(vec!["sort".into()]),
                group_column: None,
                feature_columns: None,
            },
        }
    }

    #[test]
    fn every_role_can_be_given_and_taken_back() {
        let columns = columns();
        for column in &columns {
            for role in ColumnRole::possible(column) {
                let before = roles(&columns);
                let was = before.role(column);
                let choice = before.with(column, role);
                let after = TableRoles {
                    columns: &columns,
                    choice,
                };
                assert_eq!(after.role(column), role, "{column:?}");
                let back = after.with(column, was);
                assert_eq!(back, before.choice, "{column:?} as {role:?} and back");
            }
        }
    }

    #[test]
    fn a_column_left_out_names_the_features_that_stay() {
        let columns = columns();
        let choice = roles(&columns).with(&columns[0], ColumnRole::Unused);
        assert_eq!(choice.feature_columns, Some(vec!["b".to_owned()]));
    }

    #[test]
    fn there_is_one_column_of_the_group() {
        let columns = columns();
        let first = roles(&columns).with(&columns[0], ColumnRole::Group);
        let second = TableRoles {
            columns: &columns,
            choice: first,
        }
        .with(&columns[3], ColumnRole::Group);
        assert_eq!(second.group_column, Some("who".to_owned()));
        assert_eq!(second.feature_columns, Some(vec!["b".to_owned()]));
    }
}
