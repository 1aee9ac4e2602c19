//! Commands while somebody has a permit: a refresh is kept, and a result that is no longer right is not published.

use std::sync::mpsc::TryRecvError;
use std::{iter, slice, thread};

use protocol::settings::PrivateSettings;
use tempfile::TempDir;

use super::*;
use crate::fulltext::FulltextIndex;

static GO: AtomicBool = AtomicBool::new(false);

const AMPLE: Duration = Duration::from_secs(60);

/// A vault with one note, and its index.
struct PermitFixture {
    folder: TempDir,
    cache: TempDir,
    index: Index,
}

impl PermitFixture {
    fn unread() -> Self {
        let [folder, cache] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let vault = Vault::open(folder.path()).expect("a vault");
        let index = Index::new(&vault, PrivateRules::default(), cache.path());
        let indexed = Self { folder, cache, index };
        indexed.write("a.md");
        indexed
    }

    fn ready() -> Self {
        let indexed = Self::unread();
        indexed.index.catch_up(&GO).expect("caught up");
        indexed
    }

    fn write(&self, name: &str) -> NotePath {
        fs::write(self.folder.path().join(name), "milk").expect("written");
        NotePath::parse(name).expect("a path")
    }

    fn view(&self) -> IndexView {
        IndexView::clone(&self.index.base_view().expect("a view"))
    }

    fn holds(&self, path: &NotePath) -> bool {
        self.index.base_view().is_some_and(|view| view.get(path).is_some())
    }

    fn snapshot_permit(&self) -> SnapshotPermit<'_> {
        self.index.acquire_snapshot().expect("an owner")
    }

    /// Returns when the commands that were sent before are carried out.
    fn wait_for_owner(&self) {
        self.index.refresh(&[]);
    }

    /// A ranking that finds nothing.
    fn empty_fulltext(&self) -> Arc<FulltextIndex> {
        let dir = self.cache.path().join("ranked");
        let rules = self.view().snapshot().rules();
        let built = FulltextIndex::build(&dir, rules, iter::empty(), &GO);
        Arc::new(built.expect("a ranking"))
    }
}

#[test]
fn a_file_that_is_refreshed_during_a_rebuild_is_found_at_once_and_in_the_rebuilt_view() {
    let vault = PermitFixture::ready();
    let permit = vault.snapshot_permit();
    let rebuilt = vault.view();
    let added = vault.write("b.md");
    permit.publish(rebuilt.clone(), 1);
    assert!(!vault.holds(&added), "the control: nobody has refreshed it");
    vault.index.refresh(slice::from_ref(&added));
    assert!(vault.holds(&added));
    permit.publish(rebuilt.clone(), 2);
    assert!(vault.holds(&added));
    drop(permit);
    vault.snapshot_permit().publish(rebuilt, 1);
    assert!(!vault.holds(&added), "the control: another rebuild began after the refresh");
}

#[test]
fn files_that_are_refreshed_during_a_rebuild_are_handed_out_if_they_are_many() {
    let vault = PermitFixture::ready();
    let permit = vault.snapshot_permit();
    let added = (10..30).map(|number| vault.write(&format!("{number}.md")));
    let added: Vec<NotePath> = added.collect();
    let (few, others) = added.split_at(3);
    vault.index.refresh(few);
    assert!(permit.take_refreshed().is_empty(), "they are few");
    vault.index.refresh(others);
    assert_eq!(permit.take_refreshed(), added);
    assert!(permit.take_refreshed().is_empty(), "each is handed out once");
}

#[test]
fn many_files_that_are_refreshed_during_a_rebuild_are_in_its_view_before_it_is_published() {
    let vault = PermitFixture::ready();
    let permit = vault.snapshot_permit();
    let rebuilt = vault.view();
    let added = (10..30).map(|number| vault.write(&format!("{number}.md")));
    let added: Vec<NotePath> = added.collect();
    let holds_all = |view: &IndexView| added.iter().all(|path| view.get(path).is_some());
    vault.index.refresh(&added);
    assert!(!holds_all(&rebuilt), "the control: nobody has added them");
    assert!(holds_all(&vault.index.with_refreshed(rebuilt, &permit)));
}

#[test]
fn a_view_that_was_rebuilt_under_other_rules_is_not_published() {
    let vault = PermitFixture::ready();
    let rebuilt = vault.view();
    let added = vault.write("b.md");
    vault.index.refresh(slice::from_ref(&added));
    assert!(vault.holds(&added));
    let permit = vault.snapshot_permit();
    vault.index.set_rules(PrivateRules::default());
    permit.publish(rebuilt.clone(), 1);
    assert!(!vault.holds(&added), "the control: under the same rules it is published");
    let private = PrivateSettings { never: vec!["a.md".to_owned()], ..PrivateSettings::default() };
    vault.index.set_rules(PrivateRules::parse(&private).expect("rules"));
    permit.publish(rebuilt, 1);
    assert!(vault.index.base_view().is_none() && !vault.index.coverage().is_ready);
}

#[test]
fn a_ranking_that_a_rebuild_stops_is_not_published() {
    for is_stopped in [false, true] {
        let vault = PermitFixture::ready();
        let fulltext = vault.empty_fulltext();
        let writer = vault.index.acquire_fulltext().expect("an owner");
        let permit = vault.snapshot_permit();
        let rebuilt = vault.view();
        thread::scope(|scope| {
            let stopping = is_stopped.then(|| scope.spawn(|| permit.stop_fulltext()));
            while is_stopped && !writer.is_cancelled() {
                thread::yield_now();
            }
            writer.publish(fulltext).expect("compared");
            assert!(stopping.is_none_or(|it| !it.is_finished()), "it waits for the writer");
            drop(writer);
        });
        assert_eq!(vault.view().fulltext().is_none(), is_stopped);
        permit.publish(rebuilt, 1);
        assert_eq!(vault.view().fulltext().is_none(), is_stopped, "in the rebuilt view");
    }
}

#[test]
fn a_ranking_that_a_rebuild_discards_after_it_was_published_is_not_in_the_rebuilt_view() {
    let vault = PermitFixture::ready();
    let fulltext = vault.empty_fulltext();
    let permit = vault.snapshot_permit();
    let rebuilt = vault.view();
    let writer = vault.index.acquire_fulltext().expect("an owner");
    writer.publish(fulltext).expect("compared");
    drop(writer);
    assert!(vault.view().fulltext().is_some(), "the control: it was published");
    permit.stop_fulltext();
    permit.publish(rebuilt, 1);
    assert!(vault.view().fulltext().is_none());
}

#[test]
fn a_ranking_that_a_rebuild_stops_is_written_again_only_after_the_rebuild() {
    let vault = PermitFixture::ready();
    let owner = &vault.index.inner.owner;
    let writer = vault.index.acquire_fulltext().expect("an owner");
    let (granted, next_writer) = sync_channel(1);
    owner.send(IndexCommand::AcquireFulltext { granted });
    let permit = vault.snapshot_permit();
    let (stopped, was_stopped) = sync_channel(1);
    owner.send(IndexCommand::StopFulltext { stopped });
    vault.wait_for_owner();
    assert!(was_stopped.try_recv().is_err() && next_writer.try_recv().is_err());
    drop(writer);
    vault.wait_for_owner();
    assert_eq!(was_stopped.try_recv(), Ok(()));
    assert!(next_writer.try_recv().is_err(), "the rebuild goes on");
    drop(permit);
    vault.wait_for_owner();
    assert!(next_writer.try_recv().is_ok());
}

#[test]
fn a_caller_that_waits_is_answered_when_the_index_is_ready() {
    let vault = PermitFixture::unread();
    vault.index.wait_until_ready(Duration::ZERO);
    assert!(!vault.index.coverage().is_ready, "the control: nobody has read the vault");
    let (ready, became_ready) = sync_channel(1);
    let waiter = ReadyWaiter { until: Instant::now() + AMPLE, ready };
    vault.index.inner.owner.send(IndexCommand::AwaitReady(waiter));
    vault.wait_for_owner();
    assert_eq!(became_ready.try_recv(), Err(TryRecvError::Empty));
    vault.index.catch_up(&GO).expect("caught up");
    assert_eq!(became_ready.try_recv(), Ok(()));
}

#[test]
fn an_index_whose_owner_ended_is_not_used_and_its_methods_fail() {
    let mut vault = PermitFixture::ready();
    let index = Arc::get_mut(&mut vault.index.inner).expect("no other handle");
    index.owner = OwnerHandle::ended();
    assert!(vault.index.base_view().is_none() && !vault.index.coverage().is_ready);
    assert!(matches!(vault.index.catch_up(&GO), Err(IndexError::Ended)));
    assert!(matches!(vault.index.update_fulltext(&GO), Err(IndexError::Ended)));
    assert!(matches!(vault.index.reset(), Err(IndexError::Ended)));
}
