//! The table of ADR 0017, a test for each row, with real folders and real copies.

use std::process::Command;

use super::*;

/// Unmounted when it is dropped.
struct LoopMount(PathBuf);

impl Drop for LoopMount {
    fn drop(&mut self) {
        let gone = Command::new("umount").arg("-l").arg(&self.0).status();
        assert!(gone.is_ok_and(|gone| gone.success()), "{} stays", self.0.display());
    }
}

struct RegistryFixture {
    all: tempfile::TempDir,
    data: DataDir,
}

impl RegistryFixture {
    fn new() -> Self {
        let all = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(all.path().join("data")).expect("a data directory");
        let stage = Self { all, data };
        stage.make("Notes");
        stage
    }

    fn at(&self, name: &str) -> PathBuf {
        self.all.path().join(name)
    }

    fn make(&self, name: &str) {
        fs::create_dir_all(self.at(name)).expect("a vault");
    }

    fn found(&self, name: &str) -> VaultDataDir {
        let vault = Vault::open(&self.at(name)).expect("a vault");
        VaultDataDir::find(&vault, &self.data).expect("a home")
    }

    /// As opening does: data folder and id.
    fn home(&self, name: &str) -> (PathBuf, VaultId) {
        let found = self.found(name);
        found.create().expect("made");
        found.save().expect("kept");
        (found.dir, found.id)
    }

    /// As the first change does.
    fn carry(&self, name: &str, id: &str) {
        fs::create_dir_all(self.at(name).join(".vaultmate")).expect("a folder");
        let card = format!("{{\"id\":\"{id}\"}}");
        fs::write(self.at(name).join(".vaultmate/vault.json"), card).expect("written");
    }

    /// A vault that was opened and changed.
    fn changed(&self, name: &str) -> (PathBuf, VaultId) {
        let (_, id) = self.home(name);
        self.carry(name, id.as_str());
        self.home(name)
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.at(from), self.at(to)).expect("renamed");
    }

    fn copy(&self, from: &str, to: &str) {
        copy(&self.at(from), &self.at(to));
    }

    /// Puts other marks into the record of a vault, as another file system would have given.
    fn remark(&self, home: &Path, change: impl Fn(&str) -> String) {
        let file = home.join("home");
        let text = fs::read_to_string(&file).expect("a record");
        let mut lines: Vec<String> = text.splitn(3, '\n').map(str::to_owned).collect();
        let words: Vec<&str> = lines[1].split(' ').collect();
        lines[1] = format!("{} {} {}", words[0], change(words[1]), words[2]);
        fs::write(file, lines.join("\n")).expect("written");
        assert_eq!(self.data.vaults(), home.parent().expect("a parent"));
    }
}

/// As people copy: everything, with its times.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(status.success());
}

#[test]
fn a_vault_is_known_wherever_it_is_moved_whether_it_carries_an_id_or_not() {
    let stage = RegistryFixture::new();
    let first = stage.home("Notes");
    assert_eq!(stage.home("Notes"), first);
    stage.rename("Notes", "Early");
    assert_eq!(stage.home("Early"), first, "moved before its first change");
    stage.carry("Early", first.1.as_str());
    assert_eq!(stage.home("Early"), first);
    stage.rename("Early", "Moved");
    stage.make("Early");
    let other = stage.home("Early");
    assert!(other.0 != first.0 && other.1 != first.1, "another vault at the old place");
    assert_eq!(stage.home("Moved"), first);
    assert!(!stage.found("Moved").has_lost_id);
    fs::remove_dir_all(stage.at("Moved/.vaultmate")).expect("removed");
    assert!(stage.found("Moved").has_lost_id);
    assert_eq!(stage.home("Moved"), first, "the very folder, that lost its card");
    stage.make("New");
    assert!(!stage.found("New").has_lost_id);
}

#[test]
fn a_copy_has_a_data_folder_and_an_id_of_its_own_beside_the_original() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    stage.copy("Notes", "Copy");
    assert_eq!(stage.found("Copy").copy_of, None, "nobody wonders about its history");
    let copied = stage.home("Copy");
    assert!(copied.0 != first.0 && copied.1 != first.1);
    assert_eq!((stage.home("Notes"), stage.home("Copy")), (first.clone(), copied.clone()));
    // Both are moved, and each is still itself.
    stage.rename("Notes", "A");
    stage.rename("Copy", "B");
    assert_eq!((stage.home("B"), stage.home("A")), (copied, first));
}

#[test]
fn a_copy_has_its_own_while_the_original_is_away_and_the_original_finds_its_again() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    stage.copy("Notes", "Copy");
    // As when it is unmounted.
    stage.rename("Notes", "elsewhere");
    let found = stage.found("Copy");
    assert_eq!(found.copy_of, Some(fs::canonicalize(stage.all.path()).expect("it").join("Notes")));
    let copied = stage.home("Copy");
    assert!(copied.0 != first.0 && copied.1 != first.1);
    assert_eq!(stage.found("Copy").copy_of, None, "that is said once");
    stage.rename("elsewhere", "Notes");
    assert_eq!((stage.home("Notes"), stage.home("Copy")), (first, copied));
}

#[test]
fn a_copy_that_stands_where_the_original_stood_is_not_the_original() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    stage.rename("Notes", "Original");
    stage.copy("Original", "Notes");
    let copied = stage.home("Notes");
    assert!(copied.0 != first.0 && copied.1 != first.1);
    assert_eq!((stage.home("Original"), stage.home("Notes")), (first, copied));
}

#[test]
fn a_folder_recreated_in_place_of_an_unchanged_vault_is_another_vault() {
    let stage = RegistryFixture::new();
    let first = stage.home("Notes");
    stage.rename("Notes", "elsewhere");
    stage.make("Notes");
    let other = stage.home("Notes");
    assert!(other.0 != first.0);
    assert_eq!(stage.home("elsewhere"), first);
}

#[test]
fn a_vault_on_another_file_system_is_a_copy() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    let memory = stage.at("memory");
    fs::create_dir(&memory).expect("a folder");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&memory).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("not tried: nothing can be mounted here");
        return;
    }
    let _mounted = LoopMount(memory.clone());
    let there = memory.join("Notes");
    copy(&stage.at("Notes"), &there);
    fs::remove_dir_all(stage.at("Notes")).expect("removed");
    let vault = Vault::open(&there).expect("a vault");
    let found = VaultDataDir::find(&vault, &stage.data).expect("a home");
    assert!(found.dir != first.0 && found.copy_of.is_some());
}

#[test]
fn where_folders_have_no_lasting_numbers_or_times_place_and_card_decide() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    let born = |mark: &str| mark.split_once('@').expect("two parts").1.to_owned();
    // FAT: another number at each mount, the same time.
    stage.remark(&first.0, |mark| format!("77777@{}", born(mark)));
    stage.rename("Notes", "stick");
    assert_eq!(stage.home("stick"), first);
    // FUSE: no time, another number. At its path it is known; elsewhere it starts as a new vault.
    stage.remark(&first.0, |_| "77777@-".to_owned());
    assert_eq!(stage.home("stick"), first);
    stage.remark(&first.0, |_| "77777@-".to_owned());
    stage.rename("stick", "Notes");
    let found = stage.found("Notes");
    assert!(found.dir != first.0 && found.copy_of.is_some());
}

#[test]
fn all_that_was_restored_from_a_backup_is_known_by_its_place() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    for name in ["Notes", "data"] {
        stage.copy(name, "restored");
        fs::remove_dir_all(stage.at(name)).expect("removed");
        stage.rename("restored", name);
    }
    assert_eq!(stage.home("Notes"), first);
    // The marks are new now: from here on a copy in its place is a copy.
    stage.rename("Notes", "Original");
    stage.copy("Original", "Notes");
    assert!(stage.home("Notes").0 != first.0);
    assert_eq!(stage.home("Original"), first);
}

#[test]
fn an_id_that_sync_brings_is_taken_also_where_the_folder_had_one() {
    let stage = RegistryFixture::new();
    let first = stage.home("Notes");
    stage.carry("Notes", "from-another-device");
    assert_eq!(stage.home("Notes"), first);
    // Two computers wrote an id each, and the sync program kept one of them on both.
    stage.carry("Notes", "from-the-third-device");
    assert_eq!(stage.home("Notes"), first);
    stage.carry("Notes", "from-another-device");
    assert_eq!(stage.home("Notes"), first, "the other one won");
    stage.rename("Notes", "Moved");
    assert_eq!(stage.home("Moved"), first, "with the id that was recorded last");
}

#[test]
fn a_folder_with_another_id_is_another_vault_unless_it_is_certainly_the_recorded_one() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    // The id of another vault of this device came with all that was copied into the folder.
    stage.make("Other");
    let other = stage.changed("Other");
    stage.carry("Notes", other.1.as_str());
    assert!(![first.0.clone(), other.0.clone()].contains(&stage.found("Notes").dir));
    // A new folder in its place.
    stage.carry("Notes", first.1.as_str());
    stage.rename("Notes", "Original");
    stage.copy("Original", "Notes");
    stage.carry("Notes", "somebody-elses-vault");
    assert_ne!(stage.found("Notes").dir, first.0);
    // Elsewhere, and without a time of its making.
    stage.carry("Original", "somebody-elses-vault");
    assert_ne!(stage.found("Original").dir, first.0);
    fs::remove_dir_all(stage.at("Notes")).expect("removed");
    stage.rename("Original", "Notes");
    assert_eq!(stage.found("Notes").dir, first.0, "the control");
    stage.remark(&first.0, |mark| format!("{}@-", mark.split('@').next().expect("a number")));
    assert_ne!(stage.found("Notes").dir, first.0);
}

#[test]
fn another_disk_in_the_place_of_one_with_an_id_is_another_vault() {
    let stage = RegistryFixture::new();
    let place = fs::canonicalize(stage.at("Notes")).expect("there");
    let is_it = |mark: &str, card: Option<&str>| {
        let mark = FolderIdentity::parse(mark).expect("a mark");
        let record = VaultRecord {
            dir: stage.at("data"),
            id: VaultId::from("one"),
            vault_id: Some("0001-aged".to_owned()),
            identity: mark,
            path: place.clone(),
            data_folder_identity: None,
            card_mark: None,
        };
        let card = card.map(str::to_owned);
        ObservedVault {
            vault_id: card,
            identity: mark,
            card_mark: None,
            device_and_inode: (0, 0),
            path: place.clone(),
        }
        .is_same_vault(&record)
    };
    // The top folder of a disk has the number that all have; its time says little or nothing.
    for top in ["2@-", "1@-", "2@1790000000000000000"] {
        assert!(!is_it(top, None), "{top}");
        assert!(is_it(top, Some("0001-aged")), "{top}");
    }
    assert!(is_it("3000@-", None), "who removed the id did not make another folder");
}

#[test]
fn what_versions_before_left_is_found_again() {
    let stage = RegistryFixture::new();
    let place = fs::canonicalize(stage.at("Notes")).expect("there");
    let old = stage.data.folder_for_path(&place);
    fs::create_dir_all(&old).expect("made");
    fs::write(old.join("vaultmate.db"), "before").expect("written");
    assert_eq!(stage.home("Notes").0, old, "from before there were records");
    let inode = FolderIdentity::of_folder(&place).expect("a mark").inode;
    let written = |id: &str, inode: u64, at: &Path| {
        let text = format!("{id}\ncarried {inode}\n{}", at.display());
        fs::write(old.join("home"), text).expect("written");
    };
    // From before there were times: moved, and copied with an id that both have.
    stage.carry("Notes", "0001-aged");
    written("0001-aged", inode, &stage.at("gone"));
    assert_eq!(stage.home("Notes"), (old.clone(), VaultId::from("0001-aged")));
    written("0001-aged", inode, &place);
    stage.copy("Notes", "Copy");
    let copied = stage.data.folder_for_path(&place.with_file_name("Copy"));
    fs::create_dir_all(&copied).expect("made");
    let copy_inode = FolderIdentity::of_folder(&stage.at("Copy")).expect("a mark").inode;
    let text =
        format!("0001-aged\ncarried {copy_inode}\n{}", place.with_file_name("Copy").display());
    fs::write(copied.join("home"), text).expect("written");
    let (one, other) = (stage.home("Copy"), stage.home("Notes"));
    assert_eq!((&one.0, &other.0), (&copied, &old));
    assert_ne!(one.1, other.1, "no two vaults have one id");
}

#[test]
fn a_vault_has_one_place_however_the_way_to_it_is_spelled() {
    let stage = RegistryFixture::new();
    stage.make("Notes/sub");
    std::os::unix::fs::symlink(stage.at("Notes"), stage.at("link")).expect("a link");
    let first = stage.home("Notes");
    for other in ["Notes/", "./Notes", "Notes/sub/..", "link"] {
        assert_eq!(stage.home(other), first, "{other}");
    }
    assert_ne!(stage.home("Notes/sub").0, first.0);
}

#[test]
fn a_start_that_was_cut_leaves_each_vault_its_own() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    stage.copy("Notes", "Copy");
    stage.rename("Notes", "elsewhere");
    // Cut when the data folder was made, with a lock in it and half a record beside.
    let cut = stage.found("Copy");
    cut.create().expect("made");
    fs::write(cut.dir.join("lock"), "1").expect("written");
    fs::write(cut.dir.join("home.tmp1"), "half").expect("written");
    let copied = stage.home("Copy");
    assert_eq!(copied.0, cut.dir, "it goes on where it was cut");
    stage.rename("elsewhere", "Notes");
    assert_eq!((stage.home("Notes"), stage.home("Copy")), (first, copied));
}

#[test]
fn a_vault_that_was_moved_to_another_disk_gets_its_history_when_the_user_says_so() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    let place = fs::canonicalize(stage.at("Notes")).expect("there");
    stage.copy("Notes", "Moved");
    let own = stage.home("Moved");
    let adopt = |from: &Path| adopt(&stage.data, &stage.at("Moved"), from);
    let refused = adopt(&place).expect_err("the vault is there").message;
    assert!(refused.contains("still there"), "{refused}");
    fs::remove_dir_all(&place).expect("removed");
    let refused = adopt(Path::new("/nowhere")).expect_err("no such vault").message;
    assert!(refused.contains("No history"), "{refused}");
    // Cut after its own was left: it is told again that it is a copy, and the call goes on.
    record::abandon(&own.0).expect("left");
    assert!(stage.found("Moved").copy_of.is_some());
    adopt(&place).expect("adopted");
    assert_eq!(stage.home("Moved"), first);
    // Its own data stays, and no other vault gets it.
    stage.rename("Moved", "Away");
    stage.make("Moved");
    assert!(own.0.is_dir() && stage.home("Moved").0 != own.0);
}

#[test]
fn a_copy_does_not_get_the_socket_of_a_vault_that_was_moved() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    assert_eq!(data_folder_of(&stage.data, &stage.at("Notes")), Some(first.0.clone()));
    stage.rename("Notes", "Original");
    stage.copy("Original", "Notes");
    assert_eq!(data_folder_of(&stage.data, &stage.at("Notes")), None);
    assert_eq!(data_folder_of(&stage.data, &stage.at("Original")), Some(first.0));
}

#[test]
fn a_record_that_cannot_be_read_is_told_and_no_other_history_is_begun() {
    let stage = RegistryFixture::new();
    let first = stage.changed("Notes");
    let record = first.0.join("home");
    let whole = fs::read(&record).expect("a record");
    let find = || {
        let vault = Vault::open(&stage.at("Notes")).expect("a vault");
        VaultDataDir::find(&vault, &stage.data).map(|found| found.dir)
    };
    for damaged in [&b""[..], b"\0\0\0\0", b"garbage", whole.get(..20).expect("longer")] {
        fs::write(&record, damaged).expect("written");
        let refused = find().expect_err("it may be that of the vault").message;
        assert!(refused.contains(&record.display().to_string()), "{refused}");
        assert!(refused.contains("It is damaged"), "{refused}");
    }
    fs::remove_file(&record).expect("removed");
    fs::create_dir(&record).expect("made");
    let refused = find().expect_err("it may be that of the vault").message;
    assert!(refused.contains("It is not a file"), "{refused}");
    fs::remove_dir(&record).expect("removed");
    // The controls: without a record the folder is that of its path, and with it the history is found again.
    assert_eq!(find(), Ok(first.0.clone()));
    fs::write(&record, &whole).expect("written");
    assert_eq!(stage.home("Notes"), first);
    // Another vault is not concerned.
    fs::write(&record, "").expect("written");
    stage.make("Other");
    assert_ne!(stage.home("Other").0, first.0);
}

#[test]
fn a_vault_that_got_its_id_in_its_first_session_is_known_by_it() {
    let stage = RegistryFixture::new();
    let first = stage.home("Notes");
    stage.carry("Notes", first.1.as_str());
    let place = fs::canonicalize(stage.at("Notes")).expect("there");
    stage.copy("Notes", "Moved");
    fs::remove_dir_all(&place).expect("removed");
    assert_eq!(stage.found("Moved").copy_of.as_ref(), Some(&place), "the user is told");
    stage.home("Moved");
    adopt(&stage.data, &stage.at("Moved"), &place).expect("adopted");
    assert_eq!(stage.home("Moved"), first);
}

#[test]
fn an_id_is_recorded_when_it_is_written() {
    for is_recorded in [true, false] {
        let stage = RegistryFixture::new();
        let first = stage.home("Notes");
        let opened = stage.found("Notes");
        stage.carry("Notes", first.1.as_str());
        if is_recorded {
            opened.record_written_id();
        }
        fs::remove_dir_all(stage.at("Notes/.vaultmate")).expect("removed");
        assert_eq!(stage.found("Notes").has_lost_id, is_recorded);
        assert_eq!(stage.home("Notes"), first);
    }
}
