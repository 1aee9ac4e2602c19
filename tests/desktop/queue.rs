//! What is typed while an answer is written waits its turn, can still be changed and taken out, and is
//! answered in order.

use testkit::scripted_model::last_words;
use testkit::{DesktopApp, DesktopHome, Gate, Key, Reply, ScriptedModel, TempVault};

use super::hand::Hand;
use super::one_at_a_time;

const LOG: &str = "[data-testid=chat-log]";
const QUEUED: &str = "[data-testid=queued]";

/// Where the message stands that is so far back in the queue, from 1, with all that can be done with it.
fn place(number: usize, control: &str) -> String {
    format!("{LOG} :nth-child({number} of .row-of:has(.me.queued, textarea)) {control}")
}

async fn queued_changed_and_taken_out(hand: Hand) {
    let _turn = one_at_a_time().await;
    let (gate, vault) = (Gate::closed(), TempVault::from_fixture("sample"));
    let model = ScriptedModel::start(vec![
        Reply::text("Lentils, rice and many other things.").gated(&gate),
        Reply::text("Two bags of it."),
        Reply::text("On the lower shelf."),
    ])
    .await;
    let home = DesktopHome::fresh().with_vault(&vault).with_model(&model);
    let app = home.start().await;

    hand.says(&app, "What is in the pantry?").await;
    gate.reached(1).await;
    three_wait_and_two_stay(&app, hand).await;
    below_the_answer(&app).await;
    app.picture("queue").await;

    gate.open();
    app.window.find_text(LOG, "On the lower shelf.").await;
    app.window.wait_until_gone(QUEUED).await;
    for (number, words) in [(2, "How much sugar?"), (3, "And the vinegar?")] {
        let asked = last_words(&model.request(number).await);
        assert!(asked.trim().ends_with(words), "{asked}");
    }
    app.quit().await;
    model.finish();
}

/// Says three things, takes the second out and puts the first differently.
async fn three_wait_and_two_stay(app: &DesktopApp, hand: Hand) {
    for (number, words) in ["How much salt?", "Is it dry?", "And the vinegar?"].iter().enumerate() {
        hand.says(app, words).await;
        app.window.find_text(&place(number + 1, ".me"), words).await;
    }
    hand.presses(app, &place(2, "button"), "Remove").await;
    app.window.find_text(&place(2, ".me"), "And the vinegar?").await;
    app.window.wait_until_gone(&place(3, ".me")).await;
    hand.presses(app, &place(1, "button"), "Edit").await;
    hand.rewrites(app, &place(1, "textarea"), "How much sugar?").await;
    match hand {
        Hand::Pointer => app.window.click_text(&place(1, "button"), "Save").await,
        Hand::Keyboard => app.window.press(&[Key::Enter]).await,
    }
    app.window.find_text(&place(1, ".me"), "How much sugar?").await;
    app.window.wait_for_focus("composer").await;
}

/// What waits stands below the answer that is being written, also after it was changed.
async fn below_the_answer(app: &DesktopApp) {
    let script = "const top = (css) => document.querySelector(css)?.getBoundingClientRect().top;
        return top('[data-testid=chat-log] .says') < top('[data-testid=chat-log] .me.queued')";
    app.window.wait_until("the queue to stand below the answer", script).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_its_turn_is_changed_and_taken_out_by_pointer() {
    queued_changed_and_taken_out(Hand::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_its_turn_is_changed_and_taken_out_by_keyboard() {
    queued_changed_and_taken_out(Hand::Keyboard).await;
}
