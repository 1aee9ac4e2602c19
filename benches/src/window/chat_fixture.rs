//! A window with a model that says as much as it is asked for, at the pace of a fast one.

use std::time::Duration;

use testkit::scripted_model::last_message_text;
use testkit::{DesktopApp, DesktopHome, Gate, Key, Reply, ScriptedModel, TempVault};
use tokio::time::{MissedTickBehavior, interval};

/// How many characters come at once.
const CHUNK_CHARS: usize = 4;
/// From one piece to the next.
const CHUNK_INTERVAL: Duration = Duration::from_millis(5);

/// Comes before the length that is asked for.
const MESSAGE_PREFIX: &str = "Tell me ";

/// A vault, a model, and a place to start the application in.
pub(crate) struct ChatFixture {
    pub(crate) home: DesktopHome,
    _vault: TempVault,
    _model: ScriptedModel,
    gate: Gate,
}

impl ChatFixture {
    pub(crate) async fn start() -> Self {
        let (gate, vault) = (Gate::closed(), TempVault::from_fixture("sample"));
        let held = gate.clone();
        let model = ScriptedModel::responder(move |request| {
            let asked = last_message_text(request);
            let length =
                asked.rsplit(MESSAGE_PREFIX).next().and_then(|words| words.split(' ').next());
            let length = length.and_then(|length| length.parse().ok()).unwrap_or_default();
            Reply::text(&answer_text(length)).in_chunks_of(CHUNK_CHARS).gated(&held)
        })
        .await;
        let home = DesktopHome::new().with_vault(&vault).with_model(&model);
        Self { home, _vault: vault, _model: model, gate }
    }

    /// The name of the conversation in which so many characters were asked for.
    pub(crate) fn conversation_name(length: usize) -> String {
        format!("{MESSAGE_PREFIX}{length} letters")
    }

    /// Asks for so many characters in a new conversation; resolves when the first of them are there.
    pub(crate) async fn request_answer(&self, app: &DesktopApp, length: usize) {
        app.window.click("[data-testid=new-conversation]").await;
        app.window.replace_text("[data-testid=composer]", &Self::conversation_name(length)).await;
        app.window.press_keys(&[Key::Enter]).await;
        app.window.find("[data-testid=chat-log] .says .block").await;
    }

    /// Has the rest of them come; resolves when the last of them has been sent.
    pub(crate) async fn release_rest(&self, length: usize) {
        let mut clock = interval(CHUNK_INTERVAL);
        clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
        // The first piece is there.
        for _ in 1..length.div_ceil(CHUNK_CHARS) {
            clock.tick().await;
            self.gate.let_through(1);
        }
    }
}

/// An answer of so many characters, as models write them.
fn answer_text(length: usize) -> String {
    let mut text = String::from("Here is what the notes say.\n\n");
    for number in 1.. {
        if text.len() >= length {
            break;
        }
        text.push_str(&paragraph(number));
    }
    text.truncate(length);
    text
}

fn paragraph(number: usize) -> String {
    let head = format!("## Harbour {number}\n\n");
    let body = format!(
        "The boat lies in **berth {number}** since the spring, as [[Log {number}]] has it. Marta asked \
         twice whether the mast step can wait, and it *cannot*: the wood is soft where the water \
         stood, which the survey on page {number} of `survey.pdf` says as well.\n\n\
         Whoever takes it over should read what was agreed with the yard before anything is \
         ordered, because the prices changed and the old list is still in use.\n\n"
    );
    let rest = match number % 4 {
        0 => format!(
            "| Part | Needed | Price |\n| --- | ---: | ---: |\n| Rope {number} | 12 m | 30 |\n\
             | Paint | 2 tins | 44 |\n| Cleats | 6 | 51 |\n\n"
        ),
        1 => format!(
            "- two coats of **vermilion**, the second after a day\n- a new mast step from \
             [[Yard {number}]]\n  - oak, if they have it\n  - else larch\n- the pump, which leaks\n\n"
        ),
        2 => format!(
            "```python\ndef price(metres):\n    # of berth {number}\n    return metres * 2.5\n```\n\n"
        ),
        _ => String::from(
            "1. Ask the yard for a day.\n2. Order the wood, see [the list](https://example.org/wood).\n\
             3. Tell Marta.\n\n> It was never dry in there.\n\n",
        ),
    };
    head + &body + &rest
}
