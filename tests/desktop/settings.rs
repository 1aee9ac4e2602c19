//! A setting takes effect at once, without a restart, and is still so after one.

use serde_json::{Value, json};
use testkit::scripted_model::{last_words, offered_tools, results};
use testkit::{DesktopApp, DesktopHome, Key, Reply, ScriptedModel, TempVault};

use super::hand::Hand;
use super::one_at_a_time;

const LOG: &str = "[data-testid=chat-log]";
const DIARY: &str = "Diary/Secret.md";

/// Reads the diary when it is asked about it, and says what came of that.
async fn model() -> ScriptedModel {
    ScriptedModel::responder(|request: &Value| {
        let read = results(request);
        match read.first() {
            Some((_, text)) if text.contains("KRYPTON") => Reply::text("It says KRYPTON."),
            Some(_) => Reply::text("I cannot see such a note."),
            None if last_words(request).contains("diary") => {
                Reply::calls(vec![("read_file", json!({ "path": DIARY }))])
            }
            None => Reply::text("I only look."),
        }
    })
    .await
}

async fn each_takes_effect(hand: Hand) {
    let _turn = one_at_a_time().await;
    let vault = TempVault::from_fixture("sample");
    vault.write(DIARY, "The code word is KRYPTON.\n");
    let model = model().await;
    let home = DesktopHome::fresh().with_vault(&vault).with_model(&model);
    let app = home.start().await;
    hand.says(&app, "What does the diary say?").await;
    app.window.find_text(LOG, "It says KRYPTON.").await;

    private_and_read_only(&app, hand).await;
    hand.begins_anew(&app).await;
    hand.says(&app, "What does the diary say now?").await;
    app.window.find_text(LOG, "I cannot see such a note.").await;
    let requests = model.requests();
    let (first, last) = (offered_tools(&requests[0]), offered_tools(requests.last().expect("one")));
    assert!(first.contains(&"append_file".to_owned()), "{first:?}");
    assert!(!last.contains(&"append_file".to_owned()), "{last:?}");
    assert!(!requests.last().expect("one").to_string().contains("KRYPTON"));

    paused(&app, hand, &model).await;
    another_answers(&app, hand, &model).await;
    app.quit().await;
    let app = home.start().await;
    app.window.find_text(".composer .pick", "Read only · Opus").await;
    app.window.wait_until_gone("[data-testid=paused]").await;
    app.quit().await;
}

/// Keeps the diary from models, and lets them only read.
async fn private_and_read_only(app: &DesktopApp, hand: Hand) {
    hand.opens_settings(app, "private", "Private notes").await;
    let rules = "#settings-private textarea";
    if hand == Hand::Keyboard {
        app.window.press(&[Key::Tab]).await;
    }
    hand.rewrites(app, rules, "Diary").await;
    // The rule counts once one has left the field.
    app.window.press(&[Key::Tab]).await;
    hand.opens_settings(app, "answering", "Answering").await;
    hand.chooses(app, "answering", "Read only").await;
    app.picture("settings-answering").await;
    hand.leaves_settings(app).await;
    app.window.find_text(".composer .pick", "Read only").await;
}

/// While models are paused nothing is sent; afterwards it is.
async fn paused(app: &DesktopApp, hand: Hand, model: &ScriptedModel) {
    let asked = model.requests().len();
    hand.opens_settings(app, "spending", "Spending").await;
    match hand {
        Hand::Pointer => app.window.click("#settings-spending [role=switch]").await,
        Hand::Keyboard => {
            app.window.press(&[Key::Tab]).await;
            app.window.press(&[Key::Space]).await;
        }
    }
    hand.leaves_settings(app).await;
    app.window.find_text("[data-testid=paused]", "Models are paused").await;
    hand.says(app, "Are you there?").await;
    app.window.find_text(LOG, "nothing was sent").await;
    app.picture("settings-paused").await;
    assert_eq!(model.requests().len(), asked, "nothing is sent");
    hand.presses(app, "[data-testid=paused] button", "End the pause").await;
    app.window.wait_until_gone("[data-testid=paused]").await;
    hand.goes_to_the_composer(app).await;
    hand.says(app, "And now?").await;
    app.window.find_text(LOG, "I only look.").await;
}

/// Another model is chosen where messages are written, and answers the next one.
async fn another_answers(app: &DesktopApp, hand: Hand, model: &ScriptedModel) {
    hand.begins_anew(app).await;
    hand.presses(app, ".composer .pick", "Read only").await;
    let choices = "[role=menu] [role=menuitemradio]";
    app.window.find_text(choices, "claude-opus-4-5").await;
    match hand {
        Hand::Pointer => app.window.click_text(choices, "claude-opus-4-5").await,
        Hand::Keyboard => {
            // From the mode over the first model.
            app.window.press(&[Key::ArrowDown]).await;
            app.window.press(&[Key::ArrowDown]).await;
            app.window.press(&[Key::Enter]).await;
        }
    }
    app.window.find_text(".composer .pick", "Read only · Opus").await;
    hand.goes_to_the_composer(app).await;
    hand.says(app, "Who are you?").await;
    app.window.find_text(LOG, "I only look.").await;
    let requests = model.requests();
    assert_eq!(requests.last().expect("one")["model"], "claude-opus-4-5");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_mode_and_pause_take_effect_at_once_by_pointer() {
    each_takes_effect(Hand::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_mode_and_pause_take_effect_at_once_by_keyboard() {
    each_takes_effect(Hand::Keyboard).await;
}

/// Resolves once the page is as light as this, 0 to 255, or darker.
async fn background_is(app: &DesktopApp, wanted: &str) {
    let script = format!(
        "const parts = getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g);
        const light = parts.slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
        return light {wanted}"
    );
    app.window.wait_until(&format!("the page to be {wanted}"), &script).await;
}

async fn language_and_theme(hand: Hand) {
    let _turn = one_at_a_time().await;
    let vault = TempVault::from_fixture("sample");
    let home = DesktopHome::fresh().with_vault(&vault);
    let app = home.start().await;
    app.opened().await;
    background_is(&app, "> 200").await;
    hand.opens_settings(&app, "appearance", "Appearance").await;
    hand.chooses(&app, "appearance", "Dark").await;
    background_is(&app, "< 60").await;
    hand.chooses(&app, "appearance", "Deutsch").await;
    app.window.find_text("#settings-appearance h2", "Aussehen").await;
    app.window.find_text(".side h1", "Einstellungen").await;
    app.window
        .wait_until("a page in German", "return document.documentElement.lang === 'de'")
        .await;
    app.picture("settings-german-dark").await;
    hand.leaves_settings(&app).await;
    hand.says(&app, "Kurkuma").await;
    app.window.find_text(LOG, "Kurkuma").await;
    app.quit().await;

    let app = home.start().await;
    app.window.find_text(".side", "Einstellungen").await;
    background_is(&app, "< 60").await;
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn language_and_theme_change_at_once_and_stay_by_pointer() {
    language_and_theme(Hand::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn language_and_theme_change_at_once_and_stay_by_keyboard() {
    language_and_theme(Hand::Keyboard).await;
}
