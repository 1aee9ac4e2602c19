//! An answer becomes a note of the user's own under a free name; saving it is undone and redone.

use protocol::changes::history::{AppliedBy, ChangeStatus, ListApplied, UndoScope};
use protocol::chat::conversation::ChatItem;
use protocol::request::SavedAnswer;
use protocol::{ConversationId, MessageId};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use crate::harness::test_app::{RunningApp, TestHome, home_with_key, settings_with_model};

const NOTES: [(&str, &str); 2] = [("Menu.md", "# Menu\n"), ("Lists/Groceries.md", "- milk\n")];
const ANSWER: &str = "# Menu\n\n- soup\n- bread";

async fn app_with_answer(
    replies: Vec<Reply>,
) -> (TestHome, ScriptedModel, RunningApp, ConversationId) {
    let (home, model) = (home_with_key(&NOTES), ScriptedModel::start(replies).await);
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "What shall I cook?").await;
    (home, model, running, conversation)
}

async fn answer_ids(app: &RunningApp, conversation: &ConversationId) -> Vec<MessageId> {
    let items = app.view(conversation).await.items.into_iter();
    let answers = items.filter_map(|item| match item {
        ChatItem::Assistant { id, .. } => Some(id),
        _ => None,
    });
    answers.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_answer_is_a_change_of_the_users_and_goes_and_comes_back_as_one() {
    let (home, model, running, conversation) = app_with_answer(vec![Reply::text(ANSWER)]).await;
    let [answer] = answer_ids(&running, &conversation).await.try_into().expect("one");
    let saved = running.app.save_answer(&answer, " lists/Soup and bread ").await.expect("saved");
    let SavedAnswer::Saved { path, change_set } = saved else { panic!("{saved:?}") };
    assert_eq!(path.as_str(), "Lists/Soup and bread.md", "folders are spelled as they are");
    assert_eq!(home.notes.read(path.as_str()), format!("{ANSWER}\n"));

    let all = ListApplied { conversation: Some(conversation.clone()), before: None };
    let sets = running.app.list_applied(&all).await.expect("a list").sets;
    assert_eq!((sets.len(), sets[0].by), (1, AppliedBy::Save));
    assert_eq!((&sets[0].id, sets[0].request.as_str()), (&change_set, "What shall I cook?"));
    let of_turn = UndoScope::Turn { turn: sets[0].turn.clone() };
    running.app.undo(&of_turn).await.expect_err("the turn itself changed nothing");

    let scope = UndoScope::ChangeSet { change_set };
    running.app.undo(&scope).await.expect("undone");
    assert_eq!(home.notes.try_read(path.as_str()), None);
    running.quit().await;
    let running = home.open(settings_with_model(&model)).await;
    running.app.redo(&scope).await.expect("redone");
    assert_eq!(home.notes.read(path.as_str()), format!("{ANSWER}\n"));
    let sets = running.app.list_applied(&all).await.expect("a list").sets;
    let saved = sets.iter().find(|set| set.by == AppliedBy::Save).expect("it is listed");
    assert_eq!(saved.notes[0].standing, ChangeStatus::Stands);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_taken_is_told_with_a_free_one_and_nothing_is_written() {
    let (home, _model, running, conversation) = app_with_answer(vec![Reply::text(ANSWER)]).await;
    let [answer] = answer_ids(&running, &conversation).await.try_into().expect("one");
    home.notes.write("Menu 2.md", "mine\n");
    let before = home.notes.snapshot();
    for name in ["menu", "Menu.MD"] {
        let taken = running.app.save_answer(&answer, name).await.expect("an answer");
        let SavedAnswer::Taken { path, free } = taken else { panic!("{name}: {taken:?}") };
        assert_eq!((path.as_str(), free.to_lowercase().as_str()), ("Menu.md", "menu 3"));
    }
    for (name, why) in [
        ("AGENTS", "contains instructions for the assistant"),
        ("Lists/claude.md", "contains instructions for the assistant"),
        ("Board.canvas", "isn’t a note name"),
        ("../Out", "consists of dots"),
        ("what?", "contains one of"),
        ("", "names no note"),
    ] {
        let refused = running.app.save_answer(&answer, name).await.expect_err("refused");
        assert!(refused.message.contains(why), "{name}: {}", refused.message);
    }
    assert_eq!(home.notes.snapshot(), before, "nothing was written");
    let gone = running.app.save_answer(&"no answer".into(), "Free").await.expect_err("refused");
    assert_eq!(gone.message, "This answer no longer exists.");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_answer_is_saved_whichever_part_is_named_and_a_users_message_is_none() {
    let said = json!({ "message": "Soup, I would say.", "is_question": false });
    let replies = vec![
        Reply::text_and_calls("Let me look.", vec![("read_file", json!({ "path": "Menu.md" }))]),
        Reply::calls(vec![("send_message", said)]),
        Reply::text("Good night."),
    ];
    let (home, _model, running, conversation) = app_with_answer(replies).await;
    let answers = answer_ids(&running, &conversation).await;
    assert_eq!(answers.len(), 3, "{answers:?}");
    for (number, answer) in answers.iter().enumerate() {
        let name = format!("Said {number}");
        let saved = running.app.save_answer(answer, &name).await.expect("saved");
        assert!(matches!(saved, SavedAnswer::Saved { .. }), "{saved:?}");
        let text = home.notes.read(&format!("{name}.md"));
        assert_eq!(text, "Let me look.\n\nSoup, I would say.\n\nGood night.\n");
    }
    let items = running.view(&conversation).await.items;
    let Some(ChatItem::User { id, .. }) = items.first() else { panic!("{items:?}") };
    running.app.save_answer(id, "Mine").await.expect_err("it is no answer");
    assert_eq!(home.notes.try_read("Mine.md"), None);
    running.quit().await;
}
