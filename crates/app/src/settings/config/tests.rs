//! Settings that others change, that are cut, and that cannot be read, in real files.

use std::io::Write as _;
use std::os::unix::fs::symlink;

use protocol::settings::{ExtraRoot, PrivateSettings, Theme};
use protocol::{Mode, NotePath, Privacy, ProviderKind};

use super::*;

fn data() -> (tempfile::TempDir, DataDir) {
    let dir = tempfile::tempdir().expect("a folder");
    let data = DataDir::at(dir.path().to_owned()).expect("a data directory");
    (dir, data)
}

fn opened(data: &DataDir) -> Config {
    Config::load(data).0
}

fn in_file(data: &DataDir) -> String {
    fs::read_to_string(data.config_file()).expect("the file is there")
}

fn write(data: &DataDir, text: impl AsRef<[u8]>) {
    fs::write(data.config_file(), text).expect("written");
}

/// As a window does that knows the settings in force.
fn save(config: &Config, change: impl FnOnce(&mut Settings)) -> Result<(), UserError> {
    let before = config.get();
    let mut after = before.clone();
    change(&mut after);
    config.change(&before, &after)
}

fn rules(never: &[&str]) -> PrivateSettings {
    let never = never.iter().map(|rule| (*rule).to_owned()).collect();
    PrivateSettings { never, ..PrivateSettings::default() }
}

fn is_closed(config: &Config) -> bool {
    let note = NotePath::parse("Anything.md").expect("a path");
    let closed = config.ensure_models_allowed().is_err();
    assert_eq!(config.private_rules().by_path(&note) == Privacy::Never, closed);
    closed
}

#[test]
fn saving_keeps_the_comments_of_a_hand_edited_file() {
    let (_dir, data) = data();
    write(&data, "# mine\nmode = \"auto\" # careful\n");
    let config = opened(&data);
    assert_eq!((config.get().mode, config.problem()), (Mode::Auto, None));
    save(&config, |settings| settings.mode = Mode::ReadOnly).expect("saved");
    assert_eq!(in_file(&data), format!("# mine\nmode = \"read_only\" # careful\n{END_MARKER}\n"));
    assert_eq!(opened(&data).get(), config.get());
}

#[test]
fn additional_folders_may_be_written_by_hand_and_are_saved() {
    let (_dir, data) = data();
    write(&data, "[[extraRoots]]\nfolder = \"/srv/Recipes\"\n");
    let config = opened(&data);
    let root = |folder: &str, name: &str| ExtraRoot { folder: folder.into(), name: name.into() };
    assert_eq!(config.get().extra_roots, [root("/srv/Recipes", "")]);
    let both = vec![root("/srv/Recipes", "Recipes"), root("/srv/Work", "Work")];
    save(&config, |settings| settings.extra_roots.clone_from(&both)).expect("saved");
    assert_eq!(opened(&data).get().extra_roots, both);
    save(&config, |settings| settings.extra_roots.clear()).expect("saved");
    assert_eq!(opened(&data).get().extra_roots, []);
}

#[test]
fn a_server_url_without_its_provider_does_not_count() {
    let (_dir, data) = data();
    for (provider, counts) in
        [("", false), ("provider = \"automatic\"\n", false), ("provider = \"openai\"\n", true)]
    {
        write(&data, format!("{provider}baseUrl = \"https://gateway.example/v1\"\n"));
        assert_eq!(is_closed(&opened(&data)), !counts, "{provider}");
    }
    let (_dir, data) = self::data();
    let config = opened(&data);
    let url = |settings: &mut Settings| settings.base_url = "https://gateway.example/v1".to_owned();
    save(&config, url).expect_err("it has no provider");
    save(&config, |settings| {
        settings.provider = ProviderKind::OpenAi;
        url(settings);
    })
    .expect("saved");
}

#[test]
fn two_windows_and_a_hand_change_different_settings_and_none_is_lost() {
    let (_dir, data) = data();
    let (one, other) = (opened(&data), opened(&data));
    save(&one, |settings| settings.private = rules(&["Diary"])).expect("saved");
    // The other window has not read the file since.
    save(&other, |settings| settings.theme = Theme::Dark).expect("saved");
    write(&data, in_file(&data).replace("\"Diary\"", "\"Diary\", \"By hand\""));
    save(&one, |settings| settings.private.never.push("Work".to_owned())).expect("saved");
    let now = opened(&data).get();
    let rules = ["Diary", "By hand", "Work"].map(str::to_owned).to_vec();
    assert_eq!((now.private.never, now.theme), (rules, Theme::Dark));
    // The control: all settings as one window knows them, written whole.
    let whole = toml_edit::ser::to_string(&other.get()).expect("settings");
    write(&data, format!("{whole}{END_MARKER}\n"));
    assert!(!opened(&data).get().private.never.contains(&"Work".to_owned()));
}

#[test]
fn a_file_cut_at_any_byte_closes_and_reopens_when_it_is_whole_again() {
    let (_dir, data) = data();
    let config = opened(&data);
    save(&config, |settings| {
        settings.private = rules(&["Diary", "#secret"]);
        settings.mode = Mode::ReadOnly;
        settings.theme = Theme::Dark;
    })
    .expect("saved");
    let (whole, settings) = (in_file(&data), config.get());
    for end in 0..whole.len() {
        write(&data, whole.get(..end).expect("ASCII"));
        assert!(is_closed(&opened(&data)), "a start opens it, cut to {end} bytes");
        config.reload();
        assert!(is_closed(&config), "a window opens it, cut to {end} bytes");
        assert_eq!(config.get(), settings, "what counted last is shown");
        let refused = save(&config, |settings| settings.theme = Theme::Light).expect_err("closed");
        assert_eq!(refused.code, ErrorCode::Settings);
        assert_eq!(in_file(&data).len(), end, "nothing is written over it");
    }
    write(&data, &whole);
    assert!(config.reload() && !is_closed(&config), "the control: it is whole again");
    fs::remove_file(data.config_file()).expect("removed");
    assert!(config.reload() && is_closed(&config) && is_closed(&opened(&data)));
}

#[test]
fn a_file_that_cannot_be_read_closes_whatever_it_contains() {
    let (_dir, data) = data();
    for text in ["theme = [oops\n", "theme = \"pink\"\n", "[hub]\nenabled = 1\n", "\u{0}\u{0}", ""]
    {
        write(&data, text);
        assert!(is_closed(&opened(&data)), "{text:?}");
    }
    write(&data, b"theme = \"\xff\"\n");
    assert!(is_closed(&opened(&data)));
    fs::remove_file(data.config_file()).expect("removed");
    fs::create_dir(data.config_file()).expect("a folder where the file was");
    assert!(is_closed(&opened(&data)));
    fs::remove_dir(data.config_file()).expect("removed");
    assert!(!is_closed(&opened(&data)), "the control: a first start");
}

#[test]
fn one_rule_that_cannot_be_read_is_told_and_keeps_every_note_private() {
    let (_dir, data) = data();
    for (rules, told) in [
        ("never = [\"Diary\", 3]", "invalid type: integer"),
        ("local = [\"Diary\", true]", "invalid type: boolean"),
        ("never = [\"Diary\", \"Work/*.md/x\"]", "“Work/*.md/x” isn’t a valid rule"),
    ] {
        write(&data, format!("[private]\n{rules}\n"));
        let config = opened(&data);
        assert!(is_closed(&config), "{rules}");
        let message = config.problem().expect("a problem").message;
        assert!(message.contains("can’t be read") && message.contains(told), "{message}");
    }
    write(&data, "[private]\nnever = [\"Diary\", \"3\"]\n");
    assert!(!is_closed(&opened(&data)), "the control: it is a folder");
}

#[test]
fn each_choice_of_the_user_opens_and_what_was_there_is_kept() {
    let file = "mode = \"auto\"\n";
    for (choice, mode, never) in [
        (SettingsChoice::File, Mode::Auto, &[][..]),
        (SettingsChoice::LastGood, Mode::ReadOnly, &["Diary"][..]),
        (SettingsChoice::Defaults, Mode::Review, &[][..]),
    ] {
        let (dir, data) = data();
        let config = opened(&data);
        save(&config, |settings| {
            settings.private = rules(&["Diary"]);
            settings.mode = Mode::ReadOnly;
        })
        .expect("saved");
        let good = in_file(&data);
        write(&data, file);
        config.reload();
        let trouble = config.problem().expect("it may be cut off");
        assert!(trouble.choices.contains(&choice));
        config.recover(choice).expect("settled");
        assert!(!is_closed(&config) && !is_closed(&opened(&data)));
        assert_eq!((config.get().mode, config.get().private.never), {
            (mode, never.iter().map(|rule| (*rule).to_owned()).collect())
        });
        let kept = |name: &str| fs::read_to_string(dir.path().join(name)).ok();
        assert_eq!(kept("config.toml.broken").as_deref(), Some(file));
        let old = (choice != SettingsChoice::LastGood).then_some(good);
        assert_eq!(kept("config.toml.last-good.old"), old);
        // It counts now: another window's answer to the same question changes nothing.
        config.recover(SettingsChoice::Defaults).expect("nothing to do");
        assert_eq!(config.get().mode, mode);
    }
}

#[test]
fn a_recovery_that_cannot_write_the_file_leaves_everything_private() {
    for (choice, has_copy) in [
        (SettingsChoice::File, true),
        (SettingsChoice::File, false),
        (SettingsChoice::Defaults, true),
        (SettingsChoice::Defaults, false),
    ] {
        let (dir, data) = data();
        if has_copy {
            write(&data, "[private]\nnever = [\"Diary\", \"Work\"]\n");
            assert!(!is_closed(&opened(&data)));
        }
        let cut = "[private]\nnever = [\"Diary\"]";
        write(&data, cut);
        let config = opened(&data);
        assert!(is_closed(&config));
        // The settings cannot be written, as on a full disk.
        let in_the_way = dir.path().join(".config.toml.new");
        fs::create_dir(&in_the_way).expect("made");
        fs::write(in_the_way.join("x"), "").expect("written");
        config.recover(choice).expect_err("the settings cannot be written");
        config.reload();
        assert!(is_closed(&config) && is_closed(&opened(&data)), "{choice:?}, {has_copy}");
        assert_eq!(in_file(&data), cut);
        let kept = |name: &str| fs::read_to_string(dir.path().join(name)).ok();
        assert_eq!(kept("config.toml.last-good").is_some(), has_copy);
        assert_eq!(kept("config.toml.broken"), None, "the file is still there");
        fs::remove_dir_all(&in_the_way).expect("removed");
        config.recover(choice).expect("settled");
        assert!(!is_closed(&config) && !is_closed(&opened(&data)), "the control");
        assert_eq!(kept("config.toml.broken").as_deref(), Some(cut));
        assert_eq!(kept("config.toml.last-good.old").is_some(), has_copy);
    }
}

#[test]
fn a_file_that_an_editor_saves_while_the_broken_one_is_replaced_stays() {
    let (broken, by_hand) = ("mode = [oops\n", "mode = \"auto\"\n");
    for before in [Some(broken), None] {
        let (dir, data) = data();
        if let Some(before) = before {
            write(&data, before);
        }
        let config = opened(&data);
        let lock = data.lock().expect("locked");
        let (_, found) = config.read_from_disk();
        let new = dir.path().join("new.toml");
        fs::write(&new, by_hand).expect("written");
        fs::rename(&new, data.config_file()).expect("saved as editors do");
        let replace = |found: &ConfigOnDisk| {
            replace_broken(&lock, &data.config_file(), found, "theme = \"dark\"\n")
        };
        assert!(!replace(&found).expect("tried"));
        assert_eq!(in_file(&data), by_hand);
        // The control: a file that stays as it was found is replaced.
        let (_, found) = config.read_from_disk();
        assert!(replace(&found).expect("tried"));
        assert_eq!(in_file(&data), "theme = \"dark\"\n");
    }
}

#[test]
fn a_folder_and_a_broken_symlink_are_kept_when_the_user_starts_over() {
    let (dir, data) = data();
    let file = data.config_file();
    fs::create_dir(&file).expect("a folder where the file was");
    let config = opened(&data);
    let in_the_way = dir.path().join(".config.toml.new");
    fs::create_dir(&in_the_way).expect("made");
    config.recover(SettingsChoice::Defaults).expect_err("the settings cannot be written");
    assert!(file.is_dir() && is_closed(&opened(&data)));
    fs::remove_dir(&in_the_way).expect("removed");
    config.recover(SettingsChoice::Defaults).expect("settled");
    assert!(file.is_file() && !is_closed(&opened(&data)));
    assert!(dir.path().join("config.toml.broken").is_dir());
    fs::remove_file(&file).expect("removed");
    symlink(dir.path().join("not mounted/mine.toml"), &file).expect("a link");
    let config = opened(&data);
    assert!(is_closed(&config));
    config.recover(SettingsChoice::Defaults).expect("settled");
    assert!(file.is_file() && !file.is_symlink() && !is_closed(&opened(&data)));
    assert!(dir.path().join("config.toml.broken.2").is_symlink());
}

#[test]
fn a_rule_can_be_taken_out_of_a_file_that_was_written_by_hand() {
    let by_hand = "[private]\nnever = [\"Diary\", \"Work\"]\n";
    let appended = format!("mode = \"auto\"\n{END_MARKER}\n{by_hand}");
    for text in [by_hand, &appended] {
        let (dir, data) = data();
        write(&data, text);
        let config = opened(&data);
        save(&config, |settings| settings.private = rules(&["Diary"])).expect("saved");
        assert!(!is_closed(&config) && !is_closed(&opened(&data)), "{text}");
        assert_eq!(opened(&data).get().private.never, ["Diary"]);
        let copy = || fs::read_to_string(dir.path().join("config.toml.last-good")).expect("a copy");
        assert_eq!(copy(), in_file(&data));
        // The control: the same shorter file, of which nobody knows who made it.
        fs::write(dir.path().join("config.toml.last-good"), text).expect("written");
        assert!(is_closed(&opened(&data)), "{text}");
    }
}

#[test]
fn the_file_can_be_chosen_whatever_the_copy_looks_like() {
    let by_hand = "[private]\nnever = [\"Diary\", \"Work\"]\n";
    let (_dir, data) = data();
    write(&data, by_hand);
    assert!(!is_closed(&opened(&data)));
    write(&data, "[private]\nnever = [\"Work\"]\n");
    let config = opened(&data);
    assert!(is_closed(&config));
    config.recover(SettingsChoice::File).expect("settled");
    assert!(!is_closed(&config) && !is_closed(&opened(&data)));
    assert_eq!(config.get().private.never, ["Work"]);
}

#[test]
fn what_cannot_be_read_cannot_be_chosen_and_each_broken_file_is_kept() {
    let (dir, data) = data();
    for number in 0..3 {
        write(&data, format!("mode = [oops {number}\n"));
        let config = opened(&data);
        let choices = config.problem().expect("closed").choices;
        assert!(!choices.contains(&SettingsChoice::File), "{choices:?}");
        assert!(config.recover(SettingsChoice::File).is_err() && is_closed(&config));
        config.recover(SettingsChoice::Defaults).expect("settled");
    }
    for (number, name) in ["broken", "broken.2", "broken.3"].into_iter().enumerate() {
        let kept = fs::read_to_string(dir.path().join(format!("config.toml.{name}")));
        assert_eq!(kept.expect("kept"), format!("mode = [oops {number}\n"));
    }
}

#[test]
fn a_link_to_a_file_elsewhere_stays_one() {
    let ((dir, data), elsewhere) = (data(), tempfile::tempdir().expect("a folder"));
    let target = elsewhere.path().join("mine.toml");
    fs::write(&target, "theme = \"dark\"\n").expect("written");
    symlink(&target, dir.path().join("config.toml")).expect("a link");
    let config = opened(&data);
    save(&config, |settings| settings.mode = Mode::Auto).expect("saved");
    assert!(data.config_file().is_symlink());
    let text = fs::read_to_string(&target).expect("there");
    assert_eq!(text, format!("theme = \"dark\"\nmode = \"auto\"\n{END_MARKER}\n"));
}

#[test]
fn a_change_is_seen_as_one_by_the_file_alone() {
    let (_dir, data) = data();
    let config = opened(&data);
    assert!(!config.is_outdated());
    write(&data, "theme = \"dark\"\n");
    assert!(config.is_outdated());
    assert!(config.reload() && !config.is_outdated());
    assert_eq!(config.get().theme, Theme::Dark);
    assert!(!config.reload(), "it says the same");
}

#[test]
fn a_new_rule_does_not_count_before_its_loss_would_be_noticed() {
    let (dir, data) = data();
    write(&data, "[private]\nnever = [\n\"Diary\",\n]\n");
    let config = opened(&data);
    assert!(!is_closed(&config));
    // The copy cannot be written, as on a full disk.
    let in_the_way = dir.path().join(".config.toml.last-good.new");
    fs::create_dir(&in_the_way).expect("made");
    fs::write(in_the_way.join("x"), "").expect("written");
    let with_theme = "theme = \"dark\"\n[private]\nnever = [\n\"Diary\",\n]\n";
    write(&data, with_theme);
    config.reload();
    assert!(!is_closed(&config), "no rule could be lost unnoticed");
    let whole = with_theme.replace("\"Diary\",\n", "\"Diary\",\n\"Letters\",\n");
    write(&data, &whole);
    config.reload();
    assert!(is_closed(&config), "cut, it would count");
    let told = config.ensure_valid().expect_err("closed").message;
    assert!(told.contains("can’t be written"), "{told}");
    write(&data, with_theme);
    config.reload();
    assert!(is_closed(&config), "the rule is missed while the copy is not there");
    write(&data, &whole);
    config.reload();
    assert!(is_closed(&config), "still");
    fs::remove_dir_all(&in_the_way).expect("removed");
    assert!(config.is_outdated(), "it is tried again");
    config.reload();
    assert!(!is_closed(&config));
    write(&data, whole.replace("\"Letters\",\n", ""));
    assert!(is_closed(&opened(&data)), "the copy tells that a rule is missing");
}

#[test]
fn a_broken_symlink_and_a_pipe_close() {
    let (dir, data) = data();
    let file = data.config_file();
    symlink(dir.path().join("not mounted/mine.toml"), &file).expect("a link");
    assert!(is_closed(&opened(&data)));
    fs::remove_file(&file).expect("removed");
    assert!(!is_closed(&opened(&data)), "the control: nothing there is the first start");
    let pipe = std::process::Command::new("mkfifo").arg(&file).status().expect("it runs");
    assert!(pipe.success());
    assert!(is_closed(&opened(&data)), "and nobody waits for it");
}

#[test]
fn a_file_of_many_megabytes_is_not_read_and_closes() {
    let (_dir, data) = data();
    let text = |bytes: usize| {
        format!("# {}\n[private]\nnever = [\"Diary\"]\n{END_MARKER}\n", "x".repeat(bytes))
    };
    write(&data, text(3 << 20));
    assert!(!is_closed(&opened(&data)), "the control");
    write(&data, text(4 << 20));
    let config = opened(&data);
    assert!(is_closed(&config));
    assert!(config.ensure_valid().unwrap_err().message.contains("larger than 4 MiB"));
}

/// Whether a change of files in the data directory is being made.
#[cfg(target_os = "linux")]
fn is_locked(folder: &Path) -> bool {
    use rustix::fs::{FlockOperation, flock};
    fs::File::open(folder.join(".write-lock"))
        .is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err())
}

#[cfg(target_os = "linux")]
#[test]
fn a_rule_that_a_program_writes_into_the_open_file_is_kept_beside_a_change() {
    let (_dir, data) = data();
    write(&data, "mode = \"auto\"\n");
    let config = opened(&data);
    let open = || fs::OpenOptions::new().append(true).open(data.config_file()).expect("open");
    let mut by_hand = open();
    std::thread::scope(|scope| {
        let folder = data.root();
        scope.spawn(move || {
            // The change is being made by then.
            let begun = std::time::Instant::now();
            while !is_locked(folder) && begun.elapsed().as_secs() < 5 {
                std::thread::yield_now();
            }
            by_hand.write_all(b"[private]\nnever = [\"Diary\"]\n").expect("written");
        });
        save(&config, |settings| settings.theme = Theme::Dark).expect("saved");
    });
    let now = opened(&data).get();
    assert_eq!((now.private.never, now.theme), (vec!["Diary".to_owned()], Theme::Dark));
    // A program that does not close the file is told, and keeps it.
    let (by_hand, text) = (open(), in_file(&data));
    let refused = save(&config, |settings| settings.theme = Theme::Light).expect_err("it is open");
    assert_eq!((refused.code, in_file(&data)), (ErrorCode::Busy, text));
    drop(by_hand);
    save(&config, |settings| settings.theme = Theme::Light).expect("the control");
}
