//! `--help` and the manual pages name the same commands, options and values.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::gui::desktop_app::{application_path, cli_path};

/// The help of a program, or of one of its commands.
fn help_of(program: &Path, command: &[&str]) -> String {
    let output = Command::new(program).args(command).arg("--help").output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

fn manual_page(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging");
    fs::read_to_string(folder.join(name)).expect("a manual page")
}

/// The options in a text, each with the name of its value: `--vault DIR`.
fn options_in(text: &str) -> BTreeSet<String> {
    let spaced = text.replace('[', " ").replace(']', " ] ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let options = words.iter().enumerate().filter(|(_, word)| word.starts_with("--"));
    options
        .map(|(at, word)| {
            let option = word.trim_end_matches([',', '.']);
            let next = words.get(at + 1).map(|next| next.trim_matches(['<', '>']));
            match next.filter(|next| is_value_name(next)) {
                Some(value) => format!("{option} {value}"),
                None => option.to_owned(),
            }
        })
        .collect()
}

fn is_value_name(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn options_of_help(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim).filter(|line| line.starts_with('-'));
    lines.flat_map(options_in).collect()
}

/// The commands that a help lists, `help` itself too.
fn commands_of_help(help: &str) -> BTreeSet<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let first_words = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    first_words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A line of a manual page without requests and fonts.
fn plain_line(line: &str) -> String {
    let text = match line.strip_prefix('.') {
        Some(request) => request.split_once(' ').map_or("", |(_, text)| text),
        None => line,
    };
    let mut plain = text.replace("\\-", "-");
    for mark in ["\\fB", "\\fI", "\\fR", "\""] {
        plain = plain.replace(mark, "");
    }
    plain
}

/// The lines of a section of a manual page.
fn section(page: &str, title: &str) -> Vec<String> {
    let heading = format!(".SH {title}");
    let lines = page.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with(".SH ")).map(plain_line).collect()
}

/// The synopses of a manual page by command; the program itself has an empty name.
fn synopses(page: &str, program: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut command = String::new();
    for line in section(page, "SYNOPSIS") {
        let taken = match line.strip_prefix(program) {
            Some(name) => {
                name.trim().clone_into(&mut command);
                ""
            }
            None => line.as_str(),
        };
        let synopsis = found.entry(command.clone()).or_default();
        synopsis.push_str(taken);
        synopsis.push('\n');
    }
    found
}

/// The commands below a command, in its synopsis.
fn commands_in(synopsis: &str) -> BTreeSet<String> {
    let words = synopsis.split(|c: char| c.is_whitespace() || "[]".contains(c));
    let is_command =
        |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    words.filter(is_command).map(str::to_owned).collect()
}

fn differences(of: &str, help: &BTreeSet<String>, page: &BTreeSet<String>) -> Vec<String> {
    let missing = help.difference(page).map(|it| format!("{of}: only the help names `{it}`"));
    let surplus = page.difference(help).map(|it| format!("{of}: only the page names `{it}`"));
    missing.chain(surplus).collect()
}

/// The options and commands below a command of the CLI, held against its synopsis.
fn command_differences(command: &str, synopsis: &str) -> Vec<String> {
    let help = help_of(&cli_path(), &[command]);
    let (mut options, mut commands) = (options_of_help(&help), commands_of_help(&help));
    commands.remove("help");
    for below in &commands {
        options.extend(options_of_help(&help_of(&cli_path(), &[command, below.as_str()])));
    }
    // These are the program's own.
    options.remove("--help");
    let mut complaints = differences(command, &options, &options_in(synopsis));
    complaints.extend(differences(command, &commands, &commands_in(synopsis)));
    complaints
}

#[test]
fn the_manual_page_of_the_cli_names_what_its_help_names() {
    let (help, page) = (help_of(&cli_path(), &[]), manual_page("vaultmate-cli.1"));
    let synopses = synopses(&page, "vaultmate-cli");
    let commands = commands_of_help(&help);
    let described: BTreeSet<String> = synopses.keys().cloned().collect();
    assert!(commands.len() > 4, "{help}");
    let mut complaints = differences("vaultmate-cli", &commands, &described);
    let own_options = options_in(&section(&page, "OPTIONS").join("\n"));
    complaints.extend(differences("vaultmate-cli", &options_of_help(&help), &own_options));
    let explained = section(&page, "DESCRIPTION");
    for command in commands.intersection(&described) {
        if !explained.contains(command) {
            complaints.push(format!("{command}: no paragraph explains it"));
        }
        if command != "help" {
            complaints.extend(command_differences(command, &synopses[command]));
        }
    }
    // The text mentions no option that no synopsis has.
    let synopsis = section(&page, "SYNOPSIS").join("\n");
    let name = |option: &String| option.split(' ').next().unwrap_or_default().to_owned();
    let known: BTreeSet<String> = options_in(&synopsis).union(&own_options).map(name).collect();
    let mentioned = explained.iter().flat_map(|line| options_in(line));
    let unknown = mentioned.filter(|option| !known.contains(&name(option)));
    complaints.extend(unknown.map(|option| format!("no synopsis has `{option}`")));
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn the_manual_page_of_the_application_names_what_its_help_names() {
    let page = manual_page("vaultmate.1");
    let options = options_of_help(&help_of(&application_path(), &[]));
    assert!(options.contains("--vault DIR"), "{options:?}");
    let explained = options_in(&section(&page, "OPTIONS").join("\n"));
    let mut complaints = differences("vaultmate", &options, &explained);
    let mut taken = options_in(&synopses(&page, "vaultmate")[""]);
    taken.extend(["--help", "--version"].map(str::to_owned));
    complaints.extend(differences("vaultmate", &options, &taken));
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn an_option_or_command_that_only_one_of_them_names_is_complained_about() {
    let set = |words: &[&str]| -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    };
    let help = "Commands:\n  ask   Ask\n  help  Print this\n\nOptions:\n      --vault <DIR>  Where\n      \
                --write\n          Apply --all of it\n  -h, --help  Print help\n";
    assert_eq!(commands_of_help(help), set(&["ask", "help"]));
    assert_eq!(options_of_help(help), set(&["--help", "--vault DIR", "--write"]));
    let page = ".SH NAME\n.B program\n.SH SYNOPSIS\n.B program ask\n\\fB\\-\\-vault\\fR \\fIOLD\\fR \
                [\\fB\\-\\-write\\fR]\n[\\fBsend\\fR] \\fITEXT\\fR\n.SH OPTIONS\n.TP\n.BR \\-\\-help \", \" \
                \\-\\-version\n";
    let synopsis = &synopses(page, "program")["ask"];
    assert_eq!(commands_in(synopsis), set(&["send"]));
    assert_eq!(options_in(&section(page, "OPTIONS").join("\n")), set(&["--help", "--version"]));
    assert_eq!(
        differences("ask", &options_of_help(help), &options_in(synopsis)),
        [
            "ask: only the help names `--help`",
            "ask: only the help names `--vault DIR`",
            "ask: only the page names `--vault OLD`",
        ]
    );
}
