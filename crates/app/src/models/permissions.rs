//! The permissions of a run: its kind follows from the channel that started it, and never from any
//! text.

use llm::ports::turn_policy::{ToolDetail, TurnLimits};
use protocol::{Mode, Origin};
use tools::catalog::{
    IN_WINDOW, MINIMAL_TOOLS, READ_ONLY_TOOLS, RESOLVE_QUESTION, SMALL_MODEL_TOOLS,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// The user asks in the window.
    User,
    /// The user asks on the command line, where no note can be shown beside the chat.
    Terminal,
    /// A message came over the hub.
    Hub,
    /// Nobody asks for anything to be done; also whatever we cannot tell.
    Utility,
}

/// Which tools a model is offered, of those that may be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolSet {
    /// Every tool that may be offered.
    All,
    /// Few, for a model that loses its way among many or has no room for them.
    Few,
    /// To find, to read and to add, for a model with hardly any room.
    Fewest,
}

/// All tools and the whole instructions take about 4,900 tokens, and a quarter of the window at most.
const ROOM_FOR_ALL: u32 = 20_000;

/// The few tools and short instructions take about 800.
const ROOM_FOR_FEW: u32 = 3_500;

/// A model with at most this many parameters loses its way among many tools.
const SMALL_MODEL_PARAMETERS: u64 = 4_000_000_000;

impl ToolSet {
    /// The set for a model with this window and number of parameters; a number that is not known is
    /// no reason for less.
    pub(crate) fn for_model(window: u32, parameters: Option<u64>) -> Self {
        let is_small = parameters.is_some_and(|parameters| parameters <= SMALL_MODEL_PARAMETERS);
        match window {
            0..ROOM_FOR_FEW => Self::Fewest,
            ROOM_FOR_FEW..ROOM_FOR_ALL => Self::Few,
            _ if is_small => Self::Few,
            _ => Self::All,
        }
    }

    /// How the tools are described, and the instructions worded.
    pub(crate) const fn detail(self) -> ToolDetail {
        match self {
            Self::All => ToolDetail::Whole,
            Self::Few | Self::Fewest => ToolDetail::Brief,
        }
    }
}

/// The permissions of a kind of run.
#[derive(Debug, Clone, Copy)]
struct RunProfile {
    offer: OfferedTools,
    limits: TurnLimits,
}

/// The tools of a profile.
#[derive(Debug, Clone, Copy)]
enum OfferedTools {
    /// All there are.
    All,
    /// All but the one that needs a window.
    WithoutWindow,
    /// Those that change notes, and these.
    Changing(&'static [&'static [&'static str]]),
    /// None.
    Nothing,
}

/// The tools with which a hub message may make the assistant speak.
const HUB_SPEECH_TOOLS: [&str; 2] = ["send_message", RESOLVE_QUESTION];

const CHAT: RunProfile = RunProfile {
    offer: OfferedTools::All,
    limits: TurnLimits { round_trips: 10, calls: 100, calls_per_message: 16 },
};
const TERMINAL: RunProfile = RunProfile { offer: OfferedTools::WithoutWindow, ..CHAT };
const HUB: RunProfile = RunProfile {
    offer: OfferedTools::Changing(&[&READ_ONLY_TOOLS, &HUB_SPEECH_TOOLS]),
    limits: TurnLimits { round_trips: 4, calls: 10, calls_per_message: 16 },
};
const UTILITY: RunProfile = RunProfile {
    offer: OfferedTools::Nothing,
    limits: TurnLimits { round_trips: 1, calls: 0, calls_per_message: 16 },
};

impl RunKind {
    /// The kind of a turn whose message came through this channel.
    pub(crate) const fn from_origin(origin: Origin) -> Self {
        match origin {
            Origin::Window => Self::User,
            Origin::Cli => Self::Terminal,
            Origin::HubText | Origin::HubVoice => Self::Hub,
            Origin::Unknown => Self::Utility,
        }
    }

    const fn profile(self) -> RunProfile {
        match self {
            Self::User => CHAT,
            Self::Terminal => TERMINAL,
            Self::Hub => HUB,
            Self::Utility => UTILITY,
        }
    }

    /// How far such a run goes.
    pub(crate) const fn limits(self) -> TurnLimits {
        self.profile().limits
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegisteredTool {
    pub(crate) name: String,
    /// Whether it plans changes of notes.
    pub(crate) changes_notes: bool,
}

/// All that has a say in which tools a run is offered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolFilter {
    /// The kind of run, which has its profile.
    pub(crate) kind: RunKind,
    /// The user's setting.
    pub(crate) mode: Mode,
    /// The tools that the model is offered.
    pub(crate) set: ToolSet,
    /// Whether a question is open that the message may answer.
    pub(crate) pending: PendingQuestion,
}

/// Whether a question is open that the message of a run may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PendingQuestion {
    /// None does.
    Nothing,
    /// One does.
    Question,
}

impl ToolFilter {
    /// The names of the tools on offer, in the order of the registry. A layer only takes away.
    pub(crate) fn offered(&self, registry: &[RegisteredTool]) -> Vec<String> {
        let passes = |tool: &&RegisteredTool| {
            allowed_by_profile(self.kind.profile().offer, tool)
                && allowed_by_mode(self.mode, tool)
                && allowed_by_model(self.set, tool)
                && allowed_by_question(self.pending, tool)
        };
        registry.iter().filter(passes).map(|tool| tool.name.clone()).collect()
    }
}

fn allowed_by_profile(offer: OfferedTools, tool: &RegisteredTool) -> bool {
    match offer {
        OfferedTools::All => true,
        OfferedTools::WithoutWindow => !IN_WINDOW.contains(&tool.name.as_str()),
        OfferedTools::Changing(others) => {
            tool.changes_notes || others.iter().any(|names| names.contains(&tool.name.as_str()))
        }
        OfferedTools::Nothing => false,
    }
}

fn allowed_by_mode(mode: Mode, tool: &RegisteredTool) -> bool {
    mode != Mode::ReadOnly || !tool.changes_notes
}

fn allowed_by_question(pending: PendingQuestion, tool: &RegisteredTool) -> bool {
    pending == PendingQuestion::Question || tool.name != RESOLVE_QUESTION
}

fn allowed_by_model(set: ToolSet, tool: &RegisteredTool) -> bool {
    match set {
        ToolSet::All => true,
        ToolSet::Few => SMALL_MODEL_TOOLS.contains(&tool.name.as_str()),
        ToolSet::Fewest => MINIMAL_TOOLS.contains(&tool.name.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const KINDS: [RunKind; 4] = [RunKind::User, RunKind::Terminal, RunKind::Hub, RunKind::Utility];
    const MODES: [Mode; 3] = [Mode::Review, Mode::Auto, Mode::ReadOnly];
    const SETS: [ToolSet; 3] = [ToolSet::All, ToolSet::Few, ToolSet::Fewest];

    const PENDING: [PendingQuestion; 2] = [PendingQuestion::Nothing, PendingQuestion::Question];

    const KNOWN: [&str; 7] = [
        "show_note",
        "read_file",
        "edit_file",
        "send_message",
        "resolve_question",
        "end_conversation",
        "get_conversation",
    ];

    fn registered(name: &str, changes_notes: bool) -> RegisteredTool {
        RegisteredTool { name: name.to_owned(), changes_notes }
    }

    fn offered(
        kind: RunKind,
        mode: Mode,
        set: ToolSet,
        tools: &[RegisteredTool],
    ) -> BTreeSet<String> {
        let pending = PendingQuestion::Question;
        ToolFilter { kind, mode, set, pending }.offered(tools).into_iter().collect()
    }

    fn some_tools() -> impl Strategy<Value = Vec<RegisteredTool>> {
        let name = prop_oneof![
            proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned),
            "[a-z_]{1,8}"
        ];
        let tool = (name, any::<bool>()).prop_map(|(name, changes)| registered(&name, changes));
        proptest::collection::vec(tool, 0..12)
    }

    proptest! {
        #[test]
        fn a_layer_only_takes_away(
            tools in some_tools(),
            kind in proptest::sample::select(&KINDS[..]),
            mode in proptest::sample::select(&MODES[..]),
            set in proptest::sample::select(&SETS[..]),
            pending in proptest::sample::select(&PENDING[..]),
        ) {
            let given = ToolFilter { kind, mode, set, pending }.offered(&tools);
            let registry: BTreeSet<String> = tools.iter().map(|tool| tool.name.clone()).collect();
            let all: BTreeSet<String> = given.iter().cloned().collect();
            prop_assert!(all.is_subset(&registry));
            for wider in [
                offered(RunKind::User, mode, set, &tools),
                offered(kind, Mode::Review, set, &tools),
                offered(kind, mode, ToolSet::All, &tools),
            ] {
                prop_assert!(all.is_subset(&wider), "{all:?} has more than {wider:?}");
            }
            let narrower = offered(RunKind::Utility, mode, set, &tools);
            prop_assert!(narrower.is_empty());
            prop_assert!(pending == PendingQuestion::Question || !all.contains("resolve_question"));
            let fewer = tools.get(1..).unwrap_or_default();
            let fewer = ToolFilter { kind, mode, set, pending }.offered(fewer).into_iter().collect();
            prop_assert!(all.is_superset(&fewer), "a tool less offers no more");
        }
    }

    #[test]
    fn the_hub_reads_changes_and_talks_and_cannot_read_the_window_or_the_history() {
        let tools = [
            registered("read_file", false),
            registered("edit_file", true),
            registered("get_active_note", false),
            registered("get_conversation", false),
            registered("send_message", false),
            registered("resolve_question", false),
            registered("end_conversation", false),
        ];
        let pending = PendingQuestion::Nothing;
        let by_hub =
            ToolFilter { kind: RunKind::Hub, mode: Mode::Auto, set: ToolSet::All, pending };
        assert_eq!(by_hub.offered(&tools), ["read_file", "edit_file", "send_message"]);
        let read_only = ToolFilter { mode: Mode::ReadOnly, ..by_hub };
        assert_eq!(read_only.offered(&tools), ["read_file", "send_message"]);
        let asked = ToolFilter { pending: PendingQuestion::Question, ..read_only };
        assert_eq!(asked.offered(&tools), ["read_file", "send_message", "resolve_question"]);
    }

    #[test]
    fn the_set_of_tools_follows_from_the_window_and_from_the_size_of_the_model() {
        let (small, large) = (Some(SMALL_MODEL_PARAMETERS), Some(SMALL_MODEL_PARAMETERS + 1));
        for (window, parameters, set) in [
            (0, large, ToolSet::Fewest),
            (2_048, None, ToolSet::Fewest),
            (3_499, large, ToolSet::Fewest),
            (3_500, None, ToolSet::Few),
            (4_096, small, ToolSet::Few),
            (8_192, large, ToolSet::Few),
            (19_999, large, ToolSet::Few),
            (20_000, None, ToolSet::All),
            (20_000, small, ToolSet::Few),
            (20_000, large, ToolSet::All),
            (u32::MAX, small, ToolSet::Few),
            (u32::MAX, None, ToolSet::All),
        ] {
            assert_eq!(ToolSet::for_model(window, parameters), set, "{window}, {parameters:?}");
        }
    }

    #[test]
    fn only_who_has_a_window_is_shown_notes_in_it() {
        let names = ["read_file", "show_note", "show_changes"];
        let tools = names.map(|name| registered(name, false));
        let pending = PendingQuestion::Nothing;
        let here = ToolFilter { kind: RunKind::User, mode: Mode::Auto, set: ToolSet::All, pending };
        assert_eq!(here.offered(&tools), names);
        let terminal = ToolFilter { kind: RunKind::Terminal, ..here };
        assert_eq!(terminal.offered(&tools), ["read_file"]);
    }

    #[test]
    fn the_channel_says_what_kind_of_run_it_is_and_one_that_is_unknown_may_do_nothing() {
        for (word, kind, calls) in [
            ("window", RunKind::User, 100),
            ("cli", RunKind::Terminal, 100),
            ("hub_text", RunKind::Hub, 10),
            ("hub_voice", RunKind::Hub, 10),
            ("carrier_pigeon", RunKind::Utility, 0),
        ] {
            let origin: Origin = serde_json::from_value(word.into()).expect("every word is read");
            assert_eq!(RunKind::from_origin(origin), kind, "{word}");
            assert_eq!(RunKind::from_origin(origin).limits().calls, calls, "{word}");
        }
    }
}
