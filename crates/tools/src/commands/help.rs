//! `help`: what can be typed.

use super::{ALL, Command, Entry, Move, Scene};

pub(super) const ENTRY: Entry = Entry {
    word: "help",
    form: "help",
    does: "shows this list",
    tool: None,
    parse: |rest| rest.is_empty().then(|| Box::new(Help) as Box<dyn Command>),
};

struct Help;

impl Command for Help {
    fn next(&self, scene: &Scene<'_>) -> Move {
        let possible = |entry: &&Entry| entry.tool.is_none_or(|tool| scene.tools.contains(&tool));
        let rows: Vec<String> = ALL
            .iter()
            .filter(possible)
            .map(|entry| format!("- `{}` {}", entry.form, entry.does))
            .collect();
        Move::Say(format!(
            "No model connected. These commands work without one:\n\n{}\n\nAnything else is looked \
             for in the notes. A part with “to”, “with” or “in” in it can be put in quotes.",
            rows.join("\n")
        ))
    }
}
