//! Who may see what: the private rules in force, the turns that run, and what was said before.
//!
//! Tools read through a screen, so a private note is not there for them. What was read when other
//! rules held, or by another provider, is filtered out of the history on its way to a model.

mod clean;
mod gone;
mod history;
mod needles;
mod replaced;
mod tags;
#[cfg(test)]
mod tests;

use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use index::{Index, Moment};
use protocol::looking::PrivateNote;
use protocol::{Message, NotePath, Privacy, PrivateRules, Source, TurnId, UserError};
use store::Store;
use vault::{Screen, Vault};

use crate::aside::aside;
use crate::clock::now;
use crate::trouble::of_note;
use clean::Clean;
use needles::Needles;

/// Where the words come from that each turn was told.
pub(crate) type Told = HashMap<TurnId, BTreeSet<Source>>;

/// Keeps the private notes of one vault. The screen shows what the strictest of all running turns
/// may see, and to nobody in particular what any model may see.
pub(crate) struct Keeper {
    vault: Vault,
    /// Knows which notes are hidden without a look at them, once it stands.
    index: Index,
    screen: Arc<Screen>,
    /// Knows what was done to notes that are gone.
    past: OnceLock<Store>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    rules: PrivateRules,
    /// Counts the changes of the rules.
    generation: u64,
    running: HashMap<TurnId, Arc<View>>,
    /// Those of them that hear something for the first time.
    hearing: HashSet<TurnId>,
    clean: Clean,
    /// The last views, and what the index held when each was made.
    last: Vec<(Moment, Arc<View>)>,
}

impl State {
    /// What is hidden at a moment whose view was made already.
    fn known(&self, moment: Option<&Moment>, generation: u64, most: Privacy) -> Option<Arc<View>> {
        let is_it = |(then, view): &&(Moment, Arc<View>)| {
            Some(then) == moment && view.generation == generation && view.most == most
        };
        self.last.iter().find(is_it).map(|(_, view)| Arc::clone(view))
    }

    fn remember(&mut self, moment: Option<Moment>, view: &Arc<View>) {
        self.last.retain(|(_, other)| other.most != view.most);
        self.last.extend(moment.map(|moment| (moment, Arc::clone(view))));
    }
}

/// What is hidden from whoever may see at most `most`.
pub(crate) struct View {
    rules: PrivateRules,
    most: Privacy,
    generation: u64,
    needles: Needles,
    fingerprint: u64,
}

impl View {
    fn hides_nothing(&self) -> bool {
        self.needles.is_empty() && (self.most == Privacy::Never || self.rules.is_empty())
    }

    /// Whether words from there are hidden; `seen` is the vault as this view shows it, and `gone` are the
    /// notes that are not there any more and may be private. A file that is no note may be private by its
    /// text while its name is shown.
    fn hides(&self, source: &Source, seen: &Vault, gone: &BTreeSet<NotePath>) -> bool {
        let Source::Note(path) = source else { return false };
        self.needles.are_in(path.as_str())
            || self.rules.by_path(path) > self.most
            || gone.contains(path)
            || (self.rules.looks_inside() && !self.rules.looks_into(path) && seen.hides(path))
    }

    /// A mark of all that is hidden, these notes included; empty when nothing is.
    fn mark(&self, gone: &BTreeSet<NotePath>) -> String {
        if self.hides_nothing() {
            return String::new();
        }
        let mut hasher = DefaultHasher::new();
        (self.fingerprint, gone).hash(&mut hasher);
        let mark = if gone.is_empty() { self.fingerprint } else { hasher.finish() };
        format!("{mark:016x}")
    }
}

impl Keeper {
    /// Keeps the notes of `vault`, which `index` is of, by `rules`.
    pub(crate) fn new(vault: &Vault, index: &Index, rules: PrivateRules) -> Arc<Self> {
        let screen = Arc::new(Screen::new(rules.clone(), Privacy::Open));
        let judge = index.clone();
        screen.ask(move |path, stamp| judge.judged(path, stamp));
        let state = Mutex::new(State { rules, ..State::default() });
        let (vault, index) = (vault.behind(Arc::clone(&screen)), index.clone());
        Arc::new(Self { vault, index, screen, past: OnceLock::new(), state })
    }

    /// The vault as a model may see it.
    pub(crate) fn seen(&self) -> Vault {
        self.vault.clone()
    }

    /// The vault as every model may see it, whatever runs: without what only a model on this
    /// computer sees.
    pub(crate) fn seen_by_any(&self) -> Vault {
        let rules = self.state().rules.clone();
        self.vault.behind(Arc::new(Screen::new(rules, Privacy::Open)))
    }

    /// For each of these notes, in their order, which rule keeps it from whoever may see at most `most`.
    /// Reads them where a rule asks for that.
    pub(crate) fn kept_from(&self, most: Privacy, paths: &[NotePath]) -> Vec<Option<PrivateNote>> {
        let rules = self.state().rules.clone();
        let behind = |most| self.vault.behind(Arc::new(Screen::new(rules.clone(), most)));
        let (seen, seen_locally) = (behind(most), behind(Privacy::Local));
        let rule = |path: &NotePath| match seen_locally.hides(path) {
            true => PrivateNote::Never,
            false => PrivateNote::LocalOnly,
        };
        let is_kept = |path: &&NotePath| rules.hide_any(most) && seen.hides(path);
        paths.iter().map(|path| Some(path).filter(is_kept).map(rule)).collect()
    }

    /// From now on these rules hold, for turns that run as well.
    pub(crate) fn set_rules(&self, rules: PrivateRules) {
        let mut state = self.state();
        if state.rules != rules {
            state.rules = rules;
            state.generation += 1;
        }
        self.show(&state);
    }

    /// A turn begins that may see at most `most`. When this returns the tools hold to it.
    pub(crate) async fn begin(&self, turn: &TurnId, most: Privacy) -> Result<(), UserError> {
        let view = self.view(most).await?;
        let mut state = self.state();
        if view.generation == state.generation {
            state.clean.begin(turn, view.fingerprint, now());
        }
        state.hearing.insert(turn.clone());
        state.running.insert(turn.clone(), view);
        self.show(&state);
        Ok(())
    }

    /// A turn goes on that an earlier run of the program began: what it heard by then may have been
    /// more than it may hear now.
    pub(crate) async fn go_on(&self, turn: &TurnId, most: Privacy) -> Result<(), UserError> {
        let view = self.view(most).await?;
        self.state().clean.go_on(turn, view.fingerprint, now());
        self.begin(turn, most).await
    }

    /// The messages of a turn that has ended are heard again, by somebody who may see at most `most`.
    pub(crate) async fn begin_again(&self, turn: &TurnId, most: Privacy) -> Result<(), UserError> {
        let view = self.view(most).await?;
        let mut state = self.state();
        state.running.insert(turn.clone(), view);
        self.show(&state);
        Ok(())
    }

    /// Whether words from one of these sources are hidden from whoever may see at most `most`.
    pub(crate) async fn hides_any(
        &self,
        most: Privacy,
        sources: BTreeSet<Source>,
    ) -> Result<bool, UserError> {
        let view = self.view(most).await?;
        if view.hides_nothing() {
            return Ok(false);
        }
        let notes = sources.iter().filter_map(|source| match source {
            Source::Note(path) => Some(path.clone()),
            _ => None,
        });
        let gone = self.gone_of(&view, notes.collect()).await?;
        let seen = self.seen_by(&view);
        aside(move || sources.iter().any(|source| view.hides(source, &seen, &gone))).await
    }

    /// Whether the turn may hear everything.
    pub(crate) async fn hears_all(&self, turn: &TurnId) -> Result<bool, UserError> {
        Ok(self.view_of(turn).await?.hides_nothing())
    }

    /// A turn has ended.
    pub(crate) fn end(&self, turn: &TurnId) {
        let mut state = self.state();
        state.running.remove(turn);
        state.hearing.remove(turn);
        self.show(&state);
    }

    /// The messages as the turn may hear them, and a mark of all that is hidden from it, which is
    /// empty when nothing is.
    pub(crate) async fn heard_in(
        &self,
        turn: &TurnId,
        rows: Vec<Message>,
        told: &Told,
    ) -> Result<(Vec<Message>, String), UserError> {
        let view = self.view_of(turn).await?;
        let gone = self.gone(&view, &rows, told).await?;
        {
            let mut state = self.state();
            if state.hearing.contains(turn) {
                state.clean.hears_without(turn, &gone, now());
            }
        }
        let mark = view.mark(&gone);
        Ok((self.heard(&view, rows, told, gone).await?, mark))
    }

    /// The messages of another conversation as those may hear them who run now, and whether
    /// anything was withheld.
    pub(crate) async fn heard_by_any(
        &self,
        rows: Vec<Message>,
        told: &Told,
    ) -> Result<(Vec<Message>, Withheld), UserError> {
        let most = strictest(&self.state());
        let view = self.view(most).await?;
        let gone = self.gone(&view, &rows, told).await?;
        let heard = self.heard(&view, rows.clone(), told, gone).await?;
        let withheld = if heard == rows { Withheld::Nothing } else { Withheld::Something };
        Ok((heard, withheld))
    }

    /// The text without the names of notes that are hidden from the turn.
    pub(crate) async fn redacted(&self, turn: &TurnId, text: String) -> Result<String, UserError> {
        let view = self.view_of(turn).await?;
        aside(move || view.needles.redact(&text).into_owned()).await
    }

    async fn heard(
        &self,
        view: &Arc<View>,
        rows: Vec<Message>,
        told: &Told,
        gone: Arc<BTreeSet<NotePath>>,
    ) -> Result<Vec<Message>, UserError> {
        if view.hides_nothing() {
            return Ok(rows);
        }
        let clean = self.state().clean.clone();
        let (seen, view, told) = (self.seen_by(view), Arc::clone(view), told.clone());
        let index = self.index.clone();
        aside(move || {
            let told_tags = tags::told(&rows);
            let shown_tags = LazyCell::new(|| tags::shown(&index, &seen));
            let heard_of = gone::heard_of(&rows, &told, &gone);
            let is_clean =
                |row: &Message| clean.has(row, view.fingerprint, heard_of.get(&row.turn));
            // A turn has many rows, and its files may have to be read.
            let judged = RefCell::<HashMap<TurnId, bool>>::default();
            let heard_private = |turn: &TurnId| {
                if let Some(known) = judged.borrow().get(turn) {
                    return *known;
                }
                let sources = told.get(turn).into_iter().flatten();
                let is_private = sources.into_iter().any(|source| view.hides(source, &seen, &gone))
                    || told_tags.get(turn).is_some_and(|tags| !tags.is_subset(&shown_tags));
                judged.borrow_mut().insert(turn.clone(), is_private);
                is_private
            };
            // A name that another note has by now may be told.
            let is_away = |path: &&NotePath| !gone::is_there(&seen, path);
            let away: Vec<NotePath> = gone.iter().filter(is_away).cloned().collect();
            let hidden = history::Hidden::new(&view, &away);
            history::filtered(rows, &hidden, is_clean, heard_private)
        })
        .await
    }

    fn seen_by(&self, view: &View) -> Vault {
        self.vault.behind(Arc::new(Screen::new(view.rules.clone(), view.most)))
    }

    /// What is hidden from the turn by the rules of this moment.
    async fn view_of(&self, turn: &TurnId) -> Result<Arc<View>, UserError> {
        let (running, generation) = {
            let state = self.state();
            (state.running.get(turn).cloned(), state.generation)
        };
        let Some(view) = running else { return self.view(Privacy::Open).await };
        // Without an index every note would be looked into, for each request.
        if view.generation == generation && self.index.moment().is_none() {
            return Ok(view);
        }
        let anew = self.view(view.most).await?;
        if anew.fingerprint != view.fingerprint {
            let mut state = self.state();
            // Until now other notes were hidden from it.
            state.clean.go_on(turn, anew.fingerprint, now());
            state.running.insert(turn.clone(), Arc::clone(&anew));
        }
        Ok(anew)
    }

    async fn view(&self, most: Privacy) -> Result<Arc<View>, UserError> {
        let (rules, generation) = {
            let state = self.state();
            (state.rules.clone(), state.generation)
        };
        let moment = self.index.moment();
        if let Some(view) = self.state().known(moment.as_ref(), generation, most) {
            return Ok(view);
        }
        let (vault, index) = (self.vault.clone(), self.index.clone());
        let view = aside(move || -> Result<View, vault::VaultError> {
            let none = rules.is_empty() || most == Privacy::Never;
            let known = || index.hidden_beyond(&rules, most);
            let hidden = match if none { Some(Vec::new()) } else { known() } {
                Some(hidden) => hidden,
                None => vault.hidden_beyond(most)?,
            };
            let mut hasher = DefaultHasher::new();
            (&rules, most, &hidden).hash(&mut hasher);
            let places = if none { Vec::new() } else { places(&rules, most) };
            let needles = Needles::new(&hidden, &places);
            Ok(View { rules, most, generation, needles, fingerprint: hasher.finish() })
        });
        let view = view.await?.map(Arc::new).map_err(|error| of_note(&error))?;
        self.state().remember(moment, &view);
        Ok(view)
    }

    fn show(&self, state: &State) {
        self.screen.show(state.rules.clone(), strictest(state));
    }

    /// The state is whole after each statement, so a panic elsewhere does not spoil it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a model hears less than was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Withheld {
    Nothing,
    Something,
}

fn strictest(state: &State) -> Privacy {
    state.running.values().map(|view| view.most).min().unwrap_or_default()
}

fn places(rules: &PrivateRules, most: Privacy) -> Vec<String> {
    rules.places(most).map(str::to_owned).collect()
}
