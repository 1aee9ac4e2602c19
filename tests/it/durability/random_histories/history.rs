//! One random history of a vault in the whole application.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol::changes::history::{UndoAction, UndoScope};
use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::settings::TitleSource;
use protocol::{AppEvent, ConversationId, EffectId, Review, Settings};
use testkit::vaults::temp_vault::Files;
use testkit::{Reply, ScriptedModel};
use tokio::task::JoinSet;

use super::step_rules::{KnownVault, StepPermission};
use super::tracked_notes::{count_words, outside_trash};
use super::user_steps::AppendHandle;
use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

/// A mistake that an undo could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CarelessUndo {
    /// It drops a line of the user's.
    LosesLine,
    /// It writes a line of the user's twice.
    DoublesLine,
    /// It writes the whole text as it was before the change.
    WritesOldText,
    /// It does nothing and fails, also where the window offers it.
    RefusesOffer,
}

/// The counts of a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StepTally {
    pub(super) steps: usize,
    pub(super) turns: usize,
    pub(super) decisions: usize,
    pub(super) refused_decisions: usize,
    pub(super) effects: usize,
    pub(super) by_user: usize,
    /// Requests about one change that the window offers.
    pub(super) offers: usize,
    pub(super) clean: usize,
    pub(super) conflicts: usize,
    pub(super) answered: usize,
    pub(super) redone: usize,
    pub(super) restored: usize,
    pub(super) reapplied: usize,
    pub(super) restarts: usize,
    pub(super) all_undone: usize,
}

impl StepTally {
    /// The sum of both.
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            turns: self.turns + other.turns,
            decisions: self.decisions + other.decisions,
            refused_decisions: self.refused_decisions + other.refused_decisions,
            effects: self.effects + other.effects,
            by_user: self.by_user + other.by_user,
            offers: self.offers + other.offers,
            clean: self.clean + other.clean,
            conflicts: self.conflicts + other.conflicts,
            answered: self.answered + other.answered,
            redone: self.redone + other.redone,
            restored: self.restored + other.restored,
            reapplied: self.reapplied + other.reapplied,
            restarts: self.restarts + other.restarts,
            all_undone: self.all_undone + other.all_undone,
        }
    }
}

/// A step that changed notes.
pub(super) struct ChangingStep {
    pub(super) before: Files,
    pub(super) after: Files,
    pub(super) made: BTreeSet<EffectId>,
    /// Whether another program wrote meanwhile.
    pub(super) is_shared: bool,
}

/// The vault, the application over it, and all that is known of both.
pub(super) struct RandomHistory {
    pub(super) random: fastrand::Rng,
    pub(super) home: TestHome,
    pub(super) settings: Settings,
    pub(super) replies: Arc<Mutex<VecDeque<Reply>>>,
    pub(super) conversations: Vec<ConversationId>,
    pub(super) known: KnownVault,
    pub(super) steps: Vec<ChangingStep>,
    /// The changes that answers of the user led to.
    pub(super) answered: Vec<EffectId>,
    pub(super) handles: Vec<AppendHandle>,
    pub(super) meanwhile: JoinSet<Option<String>>,
    pub(super) appended_last: Vec<String>,
    pub(super) next_word: usize,
    pub(super) next_name: usize,
    pub(super) is_auto: bool,
    /// Whether the user only edits lines, and moves, copies and deletes no notes.
    pub(super) is_calm: bool,
    pub(super) careless: Option<CarelessUndo>,
    pub(super) story: Vec<String>,
    pub(super) wrong: Vec<String>,
    pub(super) tally: StepTally,
    running: Option<RunningApp>,
    _model: ScriptedModel,
}

impl RandomHistory {
    /// A vault with eight to twelve notes, open in the application.
    pub(super) async fn start(seed: u64, careless: Option<CarelessUndo>) -> Self {
        let replies = Arc::new(Mutex::new(VecDeque::new()));
        let script = Arc::clone(&replies);
        let model = ScriptedModel::responder(move |_| {
            let next = script.lock().expect("nobody panicked").pop_front();
            next.unwrap_or_else(|| Reply::text("Done."))
        });
        let model = model.await;
        let settings = Settings { titles: TitleSource::Words, ..settings_with_model(&model) };
        let mut random = fastrand::Rng::with_seed(seed);
        let is_calm = random.u8(0..3) == 0;
        let mut history = Self {
            random,
            home: home_with_key(&[]),
            settings,
            replies,
            conversations: Vec::new(),
            known: KnownVault::default(),
            steps: Vec::new(),
            answered: Vec::new(),
            handles: Vec::new(),
            meanwhile: JoinSet::new(),
            appended_last: Vec::new(),
            next_word: 0,
            next_name: 0,
            is_auto: false,
            is_calm,
            careless,
            story: Vec::new(),
            wrong: Vec::new(),
            tally: StepTally::default(),
            running: None,
            _model: model,
        };
        history.write_first_notes();
        history.open().await;
        history
    }

    fn write_first_notes(&mut self) {
        for _ in 0..self.random.usize(8..13) {
            let path = self.fresh_path();
            let mut text = String::new();
            if self.random.bool() {
                let (status, tag) = (self.user_word(), self.user_word());
                text = format!("---\nstatus: {status}\ntags: [{tag}]\n---\n");
            }
            for heading in ["# Note", "## Tasks", "## Log"] {
                text += &format!("{heading}\n\n");
                for _ in 0..self.random.usize(0..4) {
                    let word = self.user_word();
                    text += &format!("{word}{}\n", self.line_end(&path));
                }
            }
            if self.random.u8(0..5) == 0 {
                text.truncate(text.trim_end().len());
            }
            self.home.notes.write(&path, &text);
            self.known.files.insert(path.clone(), text.into_bytes());
            self.known.notes.create(&path);
        }
    }

    pub(super) fn app(&self) -> &RunningApp {
        self.running.as_ref().expect("it is open")
    }

    async fn open(&mut self) {
        self.running = Some(self.home.open(self.settings.clone()).await);
    }

    /// So many random steps, and then everything is undone. The mistakes that were found.
    pub(super) async fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step().await;
            self.tally.steps += 1;
            if !self.wrong.is_empty() {
                break;
            }
        }
        if self.wrong.is_empty() {
            self.undo_everything().await;
        }
        if self.wrong.is_empty() {
            self.restart(false).await;
        }
        self.tally.effects = self.known.effects.all.len();
        if let Some(running) = self.running.take() {
            running.quit().await;
        }
    }

    async fn step(&mut self) {
        if let Some(difference) = self.unasked_change() {
            self.wrong.push(difference);
            return;
        }
        match self.random.usize(0..30) {
            0..=6 => self.turn_step().await,
            7..=12 => self.decide_step().await,
            13..=18 => self.user_steps().await,
            19..=26 => self.undo_step().await,
            27 => self.restart(true).await,
            28 => self.regenerate_step().await,
            _ => self.change_mode().await,
        }
    }

    async fn user_steps(&mut self) {
        let revision = self.revision();
        for _ in 0..self.random.usize(1..4) {
            self.user_step();
            self.tally.by_user += 1;
        }
        if self.random.u8(0..3) > 0 {
            self.wait_for_watch(revision).await;
        }
    }

    fn revision(&self) -> u32 {
        let revisions = self.app().heard_so_far(|event| match event {
            AppEvent::VaultChanged { vault: Some(vault) } => Some(vault.revision),
            _ => None,
        });
        revisions.into_iter().max().unwrap_or_default()
    }

    /// Until the application says that notes changed, or it seems that it has nothing to say.
    async fn wait_for_watch(&self, revision: u32) {
        for _ in 0..10 {
            if self.revision() > revision {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Between the steps nothing changes.
    fn unasked_change(&self) -> Option<String> {
        let now = self.home.notes.snapshot();
        let paths: BTreeSet<&String> = now.keys().chain(self.known.files.keys()).collect();
        let different: Vec<_> = paths
            .into_iter()
            .filter(|path| now.get(*path) != self.known.files.get(*path))
            .collect();
        (!different.is_empty()).then(|| format!("{different:?} changed while nobody asked for it"))
    }

    pub(super) async fn end_step(&mut self, permission: &StepPermission) {
        self.end_step_with(permission, &[]).await;
    }

    /// Looks at the files after a step and holds them against the rules.
    pub(super) async fn end_step_with(&mut self, permission: &StepPermission, appended: &[String]) {
        let mut written = Vec::new();
        while let Some(done) = self.meanwhile.join_next().await {
            written.extend(done.expect("it does not panic"));
        }
        debug_assert!(written.len() <= appended.len());
        let after = self.home.notes.snapshot();
        let before = self.known.files.clone();
        let mut effects = std::mem::take(&mut self.known.effects);
        let new = effects.update(self.app(), &before, &after).await;
        self.known.effects = effects;
        let wrong = self.known.take_step(after.clone(), &new, permission, &written);
        self.wrong.extend(wrong);
        self.appended_last = written;
        if !new.is_empty() {
            self.story.push(format!("  => {}", self.describe(&new)));
            if permission.is_chosen {
                self.answered.extend(new.iter().cloned());
            }
            let (made, is_shared) = (new.into_iter().collect(), !appended.is_empty());
            self.steps.push(ChangingStep { before, after, made, is_shared });
        }
    }

    fn describe(&self, new: &[EffectId]) -> String {
        let one = |id: &EffectId| {
            let effect = self.known.effects.get(id);
            let target =
                effect.note.target.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
            let words: Vec<String> = effect
                .hunks
                .iter()
                .map(|hunk| format!("-{:?} +{:?}", hunk.removed, hunk.added))
                .collect();
            let (kind, path, by) = (effect.note.kind, &effect.note.path, effect.by);
            format!("{by:?} {id:?} {kind:?} {path}{target} {}", words.join(" | "))
        };
        new.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    /// Ends the application and opens it again; others may write meanwhile.
    async fn restart(&mut self, writes_meanwhile: bool) {
        let before = self.views().await;
        self.running.take().expect("it is open").quit().await;
        let writes = if writes_meanwhile { self.random.usize(0..3) } else { 0 };
        self.story.push("the application is closed".to_owned());
        for _ in 0..writes {
            self.user_step();
        }
        self.story.push("the application is opened".to_owned());
        self.open().await;
        let after = self.views().await;
        if writes == 0 && before != after {
            let different = before.iter().zip(&after).find(|(one, other)| one != other);
            self.wrong
                .push(format!("a conversation looks different after a restart: {different:#?}"));
        }
        self.end_step(&StepPermission::default()).await;
        self.tally.restarts += 1;
    }

    async fn views(&self) -> Vec<(Vec<ChatItem>, Option<Review>)> {
        let mut views = Vec::new();
        for conversation in &self.conversations {
            let ConversationView { items, review, .. } = self.app().view(conversation).await;
            views.push((items, review));
        }
        views
    }

    /// All changes of the assistant are undone, the newest first. Where nothing was in conflict, nothing of the model's
    /// is left.
    async fn undo_everything(&mut self) {
        self.story.push("everything is undone".to_owned());
        let mut is_clean = true;
        let mut sets: Vec<_> = Vec::new();
        for effect in self.known.effects.all.values().rev() {
            if effect.is_own() && !effect.is_undone() && !sets.contains(&effect.set) {
                sets.push(effect.set.clone());
            }
        }
        for change_set in sets {
            let scope = UndoScope::ChangeSet { change_set };
            let is_open = |effect: &&super::applied_effects::ListedEffect| !effect.is_undone();
            if self.known.effects.in_scope(&scope).iter().any(is_open) {
                is_clean &= self.revert(&scope, UndoAction::Undo).await;
            }
            if !self.wrong.is_empty() {
                return;
            }
        }
        if !is_clean {
            return;
        }
        self.tally.all_undone += 1;
        let words = count_words(outside_trash(&self.known.files));
        let own = self.known.effects.all.values().filter(|effect| effect.is_own());
        let removed: BTreeSet<&String> =
            own.flat_map(|effect| &effect.hunks).flat_map(|hunk| &hunk.removed).collect();
        let left = words
            .keys()
            .filter(|word| !removed.contains(word))
            .filter(|word| word.starts_with("m-") && !self.known.loose_words.contains(*word));
        let left: Vec<_> = left.collect();
        if !left.is_empty() {
            self.wrong.push(format!("{left:?} are left after everything was undone"));
        }
    }
}
