//! The state of the privacy guard, and the views that it makes of the vault.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use index::{Index, IndexVersion};
use protocol::notes::query::PrivateNote;
use protocol::{NotePath, Privacy, PrivateRules, Source, Timestamp, TurnId, UserError};
use store::Store;
use vault::{PrivacyFilter, Vault};

use super::hidden_names::HiddenNames;
use super::turn_view_cache::{HiddenFiles, HiddenFilesLog, TurnViewCache, TurnViews};
use crate::support::blocking::run_blocking;
use crate::support::clock::now;

/// The sources of the text that each turn was told.
pub(crate) type SourcesByTurn = HashMap<TurnId, BTreeSet<Source>>;

/// Keeps the private notes of one vault. The screen shows what the strictest of all running turns
/// may see, and to nobody in particular what any model may see.
pub(crate) struct PrivacyGuard {
    pub(super) vault: Vault,
    /// Knows which notes are hidden without a look at them, once it stands.
    pub(super) index: Index,
    screen: Arc<PrivacyFilter>,
    /// Knows what was done to notes that are gone, and what the model of each turn might see.
    pub(super) effect_history: OnceLock<Store>,
    state: Mutex<GuardState>,
}

#[derive(Default)]
pub(super) struct GuardState {
    pub(super) rules: PrivateRules,
    /// Counts the changes of the rules.
    pub(super) generation: u64,
    pub(super) running: HashMap<TurnId, TurnViews>,
    /// Ended turns whose messages somebody hears. One of them may run again before that is over.
    pub(super) replayed: HashMap<TurnId, TurnViews>,
    /// Those of them that hear something for the first time.
    pub(super) first_time_turns: HashSet<TurnId>,
    pub(super) turn_view_cache: TurnViewCache,
    hidden_files: HiddenFilesLog,
    /// The last views, and what the index held when each was made.
    recent_views: Vec<(IndexVersion, Arc<PrivacyView>)>,
}

impl GuardState {
    /// The views of a turn that runs; else those of its replay.
    pub(super) fn views_of(&self, turn: &TurnId) -> Option<&TurnViews> {
        self.running.get(turn).or_else(|| self.replayed.get(turn))
    }

    /// [`Self::views_of`], to be changed.
    pub(super) fn views_of_mut(&mut self, turn: &TurnId) -> Option<&mut TurnViews> {
        self.running.get_mut(turn).or_else(|| self.replayed.get_mut(turn))
    }

    /// The view of a moment for which one was made already.
    fn cached_view(
        &self,
        moment: Option<&IndexVersion>,
        generation: u64,
        most: Privacy,
    ) -> Option<Arc<PrivacyView>> {
        let is_it = |(then, view): &&(IndexVersion, Arc<PrivacyView>)| {
            Some(then) == moment && view.generation == generation && view.max_privacy == most
        };
        self.recent_views.iter().find(is_it).map(|(_, view)| Arc::clone(view))
    }

    fn cache_view(&mut self, moment: Option<IndexVersion>, view: &Arc<PrivacyView>) {
        self.recent_views.retain(|(_, other)| other.max_privacy != view.max_privacy);
        self.recent_views.extend(moment.map(|moment| (moment, Arc::clone(view))));
    }
}

/// The notes that are hidden at the privacy level `most`.
pub(crate) struct PrivacyView {
    pub(super) rules: PrivateRules,
    pub(super) max_privacy: Privacy,
    pub(super) generation: u64,
    pub(super) hidden_names: HiddenNames,
    pub(super) hidden: Arc<HiddenFiles>,
    /// No file that was made earlier is missing in it.
    pub(super) made_at: Timestamp,
}

impl PrivacyView {
    pub(super) fn hides_nothing(&self) -> bool {
        self.hidden_names.is_empty()
            && (self.max_privacy == Privacy::Never || self.rules.is_empty())
    }

    /// Whether text from this source is hidden; `seen` is the vault as this view shows it, and
    /// `gone` are the notes that are not there any more and may be private. A file that is no note
    /// may be private by its text while its name is shown.
    pub(super) fn hides(&self, source: &Source, seen: &Vault, gone: &BTreeSet<NotePath>) -> bool {
        let (Source::Note(path) | Source::Hints(path)) = source else { return false };
        self.hidden_names.occur_in(path.as_str())
            || self.rules.by_path(path) > self.max_privacy
            || gone.contains(path)
            || self.hides_unnamed(path, seen)
    }

    /// A digest of the rules, the level and all hidden files.
    pub(super) fn fingerprint(&self) -> u64 {
        self.hidden.mark().files
    }

    /// A mark of all that is hidden, these notes included; empty when nothing is.
    pub(super) fn fingerprint_with(&self, gone: &BTreeSet<NotePath>) -> String {
        if self.hides_nothing() {
            return String::new();
        }
        let mut hasher = DefaultHasher::new();
        (self.fingerprint(), gone).hash(&mut hasher);
        let mark = if gone.is_empty() { self.fingerprint() } else { hasher.finish() };
        format!("{mark:016x}")
    }
}

impl PrivacyGuard {
    /// Keeps the notes of `vault`, which `index` is of, by `rules`.
    pub(crate) fn new(vault: &Vault, index: &Index, rules: PrivateRules) -> Arc<Self> {
        let screen = Arc::new(PrivacyFilter::new(rules.clone(), Privacy::Open));
        let judge = index.clone();
        screen.set_lookup(move |path, stamp| judge.text_privacy(path, stamp));
        let state = Mutex::new(GuardState { rules, ..GuardState::default() });
        let (vault, index) = (vault.filtered(Arc::clone(&screen)), index.clone());
        Arc::new(Self { vault, index, screen, effect_history: OnceLock::new(), state })
    }

    /// The vault as a model may see it.
    pub(crate) fn vault_for_models(&self) -> Vault {
        self.vault.clone()
    }

    /// The vault as every model may see it, whatever runs: without what only a model on this
    /// computer sees.
    pub(crate) fn vault_for_any_model(&self) -> Vault {
        let rules = self.state().rules.clone();
        self.vault.filtered(Arc::new(PrivacyFilter::new(rules, Privacy::Open)))
    }

    /// For each of these notes, in their order, the rule that hides it at the privacy level `most`.
    /// Reads the notes where a rule needs that.
    pub(crate) fn kept_from(&self, most: Privacy, paths: &[NotePath]) -> Vec<Option<PrivateNote>> {
        let rules = self.state().rules.clone();
        let behind = |most| self.vault.filtered(Arc::new(PrivacyFilter::new(rules.clone(), most)));
        let (seen, seen_locally) = (behind(most), behind(Privacy::Local));
        let rule = |path: &NotePath| match seen_locally.hides(path) {
            true => PrivateNote::Never,
            false => PrivateNote::LocalOnly,
        };
        let is_kept = |path: &&NotePath| rules.hide_any(most) && seen.hides(path);
        paths.iter().map(|path| Some(path).filter(is_kept).map(rule)).collect()
    }

    /// Whether some note may be one that only models on this computer see.
    pub(crate) fn has_local_only(&self) -> bool {
        self.state().rules.has_local_only()
    }

    /// From now on these rules hold, for turns that run as well. Returns their generation: it is another
    /// one after each change of the rules.
    pub(crate) fn set_rules(&self, rules: PrivateRules) -> u64 {
        let mut state = self.state();
        if state.rules != rules {
            state.rules = rules;
            state.generation += 1;
        }
        self.update_screen(&state);
        state.generation
    }

    pub(super) fn vault_for_view(&self, view: &PrivacyView) -> Vault {
        self.vault.filtered(Arc::new(PrivacyFilter::new(view.rules.clone(), view.max_privacy)))
    }

    pub(super) async fn view_for(&self, most: Privacy) -> Result<Arc<PrivacyView>, UserError> {
        let (rules, generation) = {
            let state = self.state();
            (state.rules.clone(), state.generation)
        };
        let (moment, made_at) = (self.index.version(), now());
        if let Some(view) = self.state().cached_view(moment.as_ref(), generation, most) {
            return Ok(view);
        }
        let (vault, index) = (self.vault.clone(), self.index.clone());
        let view = run_blocking(move || -> Result<_, vault::VaultError> {
            let none = rules.is_empty() || most == Privacy::Never;
            let known = || index.files_hidden_above(&rules, most);
            let hidden = match if none { Some(Vec::new()) } else { known() } {
                Some(hidden) => hidden,
                None => vault.files_hidden_above(most)?,
            };
            let mut hasher = DefaultHasher::new();
            (&rules, most).hash(&mut hasher);
            let of_rules = hasher.finish();
            hidden.hash(&mut hasher);
            let places = if none { Vec::new() } else { places(&rules, most) };
            let needles = HiddenNames::new(&hidden, &places);
            Ok((rules, needles, hidden, (of_rules, hasher.finish())))
        });
        let (rules, hidden_names, hidden, digests) = view.await??;
        let mut state = self.state();
        let hidden = state.hidden_files.add(most, digests, hidden);
        let max_privacy = most;
        let view = PrivacyView { rules, max_privacy, generation, hidden_names, hidden, made_at };
        let view = Arc::new(view);
        state.cache_view(moment, &view);
        Ok(view)
    }

    pub(super) fn update_screen(&self, state: &GuardState) {
        self.screen.set_rules(state.rules.clone(), strictest_privacy(state));
    }

    /// The state is whole after each statement, so a panic elsewhere does not spoil it.
    pub(super) fn state(&self) -> MutexGuard<'_, GuardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn strictest_privacy(state: &GuardState) -> Privacy {
    let views = state.running.values().chain(state.replayed.values());
    views.map(|views| views.of_request.max_privacy).min().unwrap_or_default()
}

fn places(rules: &PrivateRules, most: Privacy) -> Vec<String> {
    rules.private_places(most).map(str::to_owned).collect()
}
