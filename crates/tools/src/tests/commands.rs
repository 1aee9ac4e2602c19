//! Commands from the typed line to the note, through a small loop as the turn runs it.

use futures_util::StreamExt as _;
use llm::model::{ContentBlock, ModelEvent, ModelMessage, ModelRequest, ToolCall};
use llm::provider::Provider as _;
use protocol::{NotePath, Role, Speech, ToolEvent};

use super::fixture::{PlanPolicy, ToolFixture, still_now};
use crate::commands::{CommandProvider, NoModelReason};

struct CommandChat {
    bench: ToolFixture,
    commands: CommandProvider,
    messages: Vec<ModelMessage>,
    /// The result of a question, which goes into the message that answers it.
    asked: Option<ContentBlock>,
    /// A tool that is not on offer.
    without: Option<&'static str>,
    /// The events of the last call for the window.
    reactions: Vec<ToolEvent>,
}

impl CommandChat {
    fn over(notes: &[(&str, &[u8])]) -> Self {
        let bench = ToolFixture::with(notes);
        let commands = CommandProvider::new(still_now, NoModelReason::NotConnected);
        Self {
            bench,
            commands,
            messages: Vec::new(),
            asked: None,
            without: None,
            reactions: Vec::new(),
        }
    }

    /// Types a line; returns the reply, or the question with its options.
    async fn types(&mut self, line: &str) -> String {
        let mut blocks: Vec<ContentBlock> = self.asked.take().into_iter().collect();
        blocks.push(ContentBlock::Text("<context>\nTime: noon\n</context>".to_owned()));
        blocks.push(ContentBlock::Text(line.to_owned()));
        self.messages.push(ModelMessage { role: Role::User, blocks });
        for _ in 0..10 {
            let call = match self.answer().await {
                ContentBlock::Call(call) => call,
                ContentBlock::Text(text) => return text,
                other => panic!("{other:?}"),
            };
            if let Some(question) = self.run(call).await {
                return question;
            }
        }
        panic!("no end to {line}")
    }

    async fn answer(&mut self) -> ContentBlock {
        let names = self.bench.tools.names().into_iter();
        let offered = names.filter(|name| Some(*name) != self.without);
        let names: Vec<String> = offered.map(str::to_owned).collect();
        let request = ModelRequest {
            model: "commands".to_owned(),
            system: String::new(),
            tools: self.bench.tools.specs(&names),
            messages: self.messages.clone(),
            max_tokens: 1_000,
        };
        let events: Vec<_> = self.commands.stream(request).await.unwrap().collect().await;
        let block = match events.as_slice() {
            [Ok(ModelEvent::Text(text)), Ok(ModelEvent::Stopped { .. })] => {
                ContentBlock::Text(text.clone())
            }
            [Ok(ModelEvent::Call(call)), Ok(ModelEvent::Stopped { .. })] => {
                ContentBlock::Call(call.clone())
            }
            other => panic!("{other:?}"),
        };
        self.messages.push(ModelMessage { role: Role::Assistant, blocks: vec![block.clone()] });
        block
    }

    async fn run(&mut self, call: ToolCall) -> Option<String> {
        let answer = self.bench.call(&call.tool, call.arguments).await;
        let (is_error, speech) = (answer.is_error, answer.speech.clone());
        self.reactions = answer.reactions;
        let result = ContentBlock::Result { call: call.id, output: answer.text, is_error, speech };
        if let Some(Speech::Ask { text, options }) = answer.speech {
            self.asked = Some(result);
            return Some(format!("{text} [{}]", options.join(" | ")));
        }
        self.messages.push(ModelMessage { role: Role::User, blocks: vec![result] });
        None
    }

    fn ids(&self) -> Vec<String> {
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        blocks
            .filter_map(|block| match block {
                ContentBlock::Call(call) => Some(call.id.to_string()),
                _ => None,
            })
            .collect()
    }
}

#[tokio::test]
async fn a_line_is_appended_in_the_form_of_the_notes_list() {
    let mut chat = CommandChat::over(&[
        ("Groceries.md", b"# Groceries\n\n- milk\n"),
        ("Tasks.md", b"- [x] sweep\n- [ ] mow"),
        ("Ideas.md", b"Prose.\n"),
    ]);
    assert_eq!(chat.types("append bread to groceries").await, "Added 1 line to Groceries.");
    assert_eq!(chat.bench.text("Groceries.md"), "# Groceries\n\n- milk\n- bread\n");
    assert_eq!(chat.types("append call Bruno to Tasks").await, "Added 1 line to Tasks.");
    assert_eq!(chat.bench.text("Tasks.md"), "- [x] sweep\n- [ ] mow\n- [ ] call Bruno\n");
    assert_eq!(chat.types("Append more to Ideas").await, "Added 1 line to Ideas.");
    assert_eq!(chat.bench.text("Ideas.md"), "Prose.\nmore\n");
    assert_eq!(chat.ids(), ["cmd-1", "cmd-2", "cmd-3", "cmd-4", "cmd-5", "cmd-6"]);
}

#[tokio::test]
async fn the_list_at_the_end_of_a_very_long_note_is_found() {
    let long = format!("* old\n{}- new\n", "line\n".repeat(4_000));
    let mut chat = CommandChat::over(&[("Long.md", long.as_bytes())]);
    chat.types("append bread to Long").await;
    assert!(chat.bench.text("Long.md").ends_with("- new\n- bread\n"));
}

#[tokio::test]
async fn a_name_that_several_notes_have_is_asked_about_and_the_answer_goes_on() {
    let mut chat = CommandChat::over(&[("a/Plan.md", b"- x\n"), ("b/Plan.md", b"- y\n")]);
    let question = chat.types("append z to Plan").await;
    assert_eq!(question, "Several notes are called “Plan”. Which one? [a/Plan.md | b/Plan.md]");
    assert_eq!(chat.types("b/Plan.md").await, "Added 1 line to Plan.");
    assert_eq!(chat.bench.text("b/Plan.md"), "- y\n- z\n");
    assert_eq!(chat.bench.text("a/Plan.md"), "- x\n");
    assert!(chat.types("open Plan").await.ends_with("[a/Plan.md | b/Plan.md]"));
    assert!(chat.types("help").await.starts_with("No model connected."));
}

#[tokio::test]
async fn the_word_of_a_command_is_no_answer_though_only_one_option_has_it() {
    let mut chat = CommandChat::over(&[
        ("2026-11-21.md", b"woke\n"),
        ("Today/List.md", b"- x\n"),
        ("b/List.md", b"- y\n"),
    ]);
    for (line, reply) in [("today", "Opened 2026-11-21."), ("Today", "Opened 2026-11-21.")] {
        let question = chat.types("append milk to List").await;
        assert!(question.starts_with("Several notes are called “List”."), "{question}");
        assert_eq!(chat.types(line).await, reply);
        assert_eq!(chat.bench.text("Today/List.md"), "- x\n");
    }
    // The control: a part of the option that is no command.
    chat.types("append milk to List").await;
    assert_eq!(chat.types("today/").await, "Added 1 line to List.");
    assert_eq!(chat.bench.text("Today/List.md"), "- x\n- milk\n");
}

#[tokio::test]
async fn a_text_is_replaced_where_it_stands_once() {
    let mut chat = CommandChat::over(&[("Trip.md", b"train at 9\nbus at 9\n")]);
    let said = chat.types("replace \"train at 9\" with \"train at 10\" in Trip").await;
    assert_eq!(said, "Replaced “train at 9” with “train at 10” in Trip.");
    assert_eq!(chat.bench.text("Trip.md"), "train at 10\nbus at 9\n");
    let twice = chat.types("replace at with after in Trip").await;
    assert!(twice.starts_with("“at” occurs 2 times in `Trip.md`"), "{twice}");
    assert!(twice.ends_with("- line 1: train at 10\n- line 2: bus at 9"), "{twice}");
    let absent = chat.types("replace plane with boat in Trip").await;
    assert!(absent.starts_with("“plane” does not occur in `Trip.md`."), "{absent}");
    assert!(!absent.contains("old_text"), "{absent}");
}

#[tokio::test]
async fn a_pending_change_is_not_reported_as_done() {
    let mut chat = CommandChat::over(&[("Trip.md", b"train\n")]);
    chat.bench.policy = PlanPolicy::Wait;
    let said = chat.types("replace train with bus in Trip").await;
    assert_eq!(said, "The change to Trip needs your review.");
    assert_eq!(chat.bench.text("Trip.md"), "train\n");
}

#[tokio::test]
async fn text_that_is_no_command_is_answered_with_passages() {
    let mut chat = CommandChat::over(&[("Boiler.md", b"# Boiler\n\nThe pressure is low.\n")]);
    let found = chat.types("boiler pressure who to call").await;
    assert!(found.starts_with("No model connected. "), "{found}");
    assert!(found.ends_with("notes match") || found.ends_with("note matches"), "{found}");
    let none = chat.types("zeppelin harbour").await;
    assert_eq!(none, "No model connected. No note mentions “zeppelin” or “harbour”.");
    assert_eq!(chat.types("find zeppelin").await, "No note mentions “zeppelin”.");
    let hinted = chat.types("append pressure").await;
    assert!(hinted.ends_with("The command is typed `append TEXT to NOTE`."), "{hinted}");
}

#[tokio::test]
async fn a_locked_keyring_is_told_in_place_of_a_model_that_is_not_connected() {
    let mut chat = CommandChat::over(&[("Boiler.md", b"# Boiler\n")]);
    chat.commands = CommandProvider::new(still_now, NoModelReason::KeyringLocked);
    for line in ["help", "boiler", "zeppelin"] {
        let reply = chat.types(line).await;
        assert!(reply.starts_with("The keyring is locked, so no model was asked. "), "{reply}");
        assert!(!reply.contains("No model connected"), "{reply}");
    }
    assert_eq!(chat.types("find zeppelin").await, "No note mentions “zeppelin”.");
}

#[tokio::test]
async fn notes_are_opened_listed_and_begun() {
    let mut chat = CommandChat::over(&[("House/Boiler.md", b"# Boiler\n\n1.2 bar\n")]);
    assert_eq!(chat.types("open boiler").await, "Opened Boiler.");
    assert_eq!(chat.types("list").await, "1, newest first:\n\n- House/Boiler");
    assert_eq!(chat.types("list House").await, "1, newest first:\n\n- House/Boiler");
    assert_eq!(chat.types("list **/*zep*").await, "There is nothing in “**/*zep*”.");
    assert_eq!(chat.types("new Trip: pack").await, "Created Trip.");
    assert_eq!(chat.bench.text("Trip.md"), "pack\n");
    assert_eq!(chat.types("new Trip").await, "`Trip.md` already exists.");
    let missing = chat.types("append x to Nowhere").await;
    assert!(missing.ends_with("To begin it, type `new Nowhere: x`."), "{missing}");
}

#[tokio::test]
async fn the_daily_note_is_shown_or_begun() {
    let mut chat = CommandChat::over(&[]);
    assert_eq!(
        chat.types("today").await,
        "There is no note for 2026-11-21 yet. Type `append TEXT to daily` to begin it."
    );
    assert_eq!(chat.types("append woke early to daily").await, "Added 1 line to 2026-11-21.");
    assert_eq!(chat.types("append slept to today").await, "Added 1 line to 2026-11-21.");
    assert_eq!(chat.types("today").await, "Opened 2026-11-21.");
    chat.without = Some("show_note");
    assert_eq!(chat.types("today").await, "**2026-11-21**\n\nwoke early\nslept");
}

#[tokio::test]
async fn today_is_the_daily_note_where_no_note_has_that_name() {
    let daily: (&str, &[u8]) = ("2026-11-21.md", b"woke\n");
    let mut chat = CommandChat::over(&[daily, ("Plans/Today.md", b"- rest\n")]);
    assert_eq!(chat.types("append walk to today").await, "Added 1 line to Today.");
    assert_eq!(chat.bench.text("Plans/Today.md"), "- rest\n- walk\n");
    assert_eq!(chat.types("append ate to daily").await, "Added 1 line to 2026-11-21.");
    assert_eq!(chat.bench.text("2026-11-21.md"), "woke\nate\n");
    // The control: there is none.
    let mut chat = CommandChat::over(&[daily]);
    assert_eq!(chat.types("append slept to Today").await, "Added 1 line to 2026-11-21.");
    assert_eq!(chat.bench.text("2026-11-21.md"), "woke\nslept\n");
}

#[tokio::test]
async fn open_shows_the_only_note_that_is_likely_meant_and_asks_about_several() {
    let mut chat = CommandChat::over(&[
        ("Recipes/Lentil soup.md", b"# Lentil soup\n\nred lentils\n"),
        ("Recipes/Apple pie.md", b"apples\n"),
        ("Recipes/Apple juice.md", b"apples\n"),
    ]);
    assert_eq!(chat.types("open lentil").await, "Opened Lentil soup.");
    let path = NotePath::parse("Recipes/Lentil soup.md").unwrap();
    assert_eq!(chat.reactions, [ToolEvent::OpenNote { path, line: None }]);
    let question = chat.types("open apple").await;
    assert!(question.starts_with("Several notes have “apple” in their names."), "{question}");
    assert_eq!(chat.types("Recipes/Apple pie.md").await, "Opened Apple pie.");
    assert_eq!(chat.types("open zeppelin").await, "There is no note “zeppelin”.");
    // Without a window the note itself is told.
    chat.without = Some("show_note");
    let told = chat.types("open lentil").await;
    assert_eq!(told, "**Lentil soup**\n\n# Lentil soup\n\nred lentils");
    // To change a note takes its name.
    let refused = chat.types("delete lentil").await;
    assert_eq!(refused, "There is no note “lentil”. The nearest: “Lentil soup”.");
}

#[tokio::test]
async fn a_note_is_moved_with_its_links_and_put_into_the_trash() {
    let mut chat = CommandChat::over(&[
        ("Trip.md", b"train\n"),
        ("Archive/Old.md", b"x\n"),
        ("Plan.md", b"see [[Trip]]\n"),
    ]);
    assert_eq!(chat.types("move Trip to Archive").await, "Moved Trip to Archive.");
    assert_eq!(chat.bench.text("Archive/Trip.md"), "train\n");
    assert_eq!(chat.types("move Trip to Journey").await, "Moved Trip to Journey.");
    assert!(chat.bench.text("Plan.md").contains("[[Journey]]"), "{}", chat.bench.text("Plan.md"));
    assert_eq!(chat.types("delete Plan").await, "Put Plan into the trash.");
    assert!(!chat.bench.file("Plan.md").exists());
    chat.bench.policy = PlanPolicy::Wait;
    let said = chat.types("delete Journey").await;
    assert_eq!(said, "The change to Journey needs your review.");
    assert!(chat.bench.file("Journey.md").exists());
    let none = chat.types("move Nowhere to Archive").await;
    assert!(none.starts_with("There is no note “Nowhere”"), "{none}");
}

#[tokio::test]
async fn a_folder_with_the_name_of_several_notes_stays_where_it_is() {
    let mut chat = CommandChat::over(&[
        ("Archive/Recipes.md", b"old\n"),
        ("Recipes/Recipes.md", b"# Recipes\n"),
        ("Recipes/Soup.md", b"lentils\n"),
    ]);
    for line in ["delete Recipes", "move Recipes to Food"] {
        let question = chat.types(line).await;
        assert!(question.starts_with("Several notes are called “Recipes”."), "{question}");
    }
    assert_eq!(chat.types("Archive/Recipes.md").await, "Moved Recipes to Food.");
    assert_eq!(chat.bench.text("Food.md"), "old\n");
    assert_eq!(chat.bench.text("Recipes/Soup.md"), "lentils\n");
}

#[tokio::test]
async fn tags_links_and_open_tasks_are_listed() {
    let mut chat = CommandChat::over(&[
        ("Tasks.md", b"- [ ] call Bruno\n- [x] sweep\n  - [ ] mow #garden\n1. [ ] bake\n"),
        ("Plan.md", b"#garden #garden/beans [[Tasks]] and [[Tasks]], [[Nowhere]]\n"),
    ]);
    let tags = "Tags, most used first:\n\n- #garden (2)\n- #garden/beans (1)";
    assert_eq!(chat.types("tags").await, tags);
    assert_eq!(chat.types("tags bea").await, "Tags, most used first:\n\n- #garden/beans (1)");
    assert_eq!(chat.types("tags zzz").await, "No tag has “zzz” in its name.");
    let links = "Links of Plan:\n\n- [[Tasks]]\n- [[Nowhere]] (broken link)";
    assert_eq!(chat.types("links Plan").await, links);
    assert_eq!(chat.types("links tasks").await, "Links of tasks:\n\n- [[Plan]] (backlink)");
    let tasks = "Open tasks:\n\n[[Tasks]]\n\n- [ ] call Bruno\n- [ ] mow #garden\n1. [ ] bake";
    assert_eq!(chat.types("tasks").await, tasks);
    assert_eq!(chat.types("tasks bruno").await, "Open tasks:\n\n[[Tasks]]\n\n- [ ] call Bruno");
    assert_eq!(chat.types("tasks zzz").await, "No open task has “zzz” in it.");
}

#[tokio::test]
async fn all_open_tasks_of_a_note_are_listed() {
    let tasks = |count: u32| {
        let tasks = (1..=count).map(|number| format!("- [ ] step {number}"));
        tasks.collect::<Vec<_>>().join("\n")
    };
    let (twelve, three, sixty) = (tasks(12), tasks(3), tasks(60));
    let mut chat =
        CommandChat::over(&[("Todo.md", twelve.as_bytes()), ("Trip.md", three.as_bytes())]);
    let all = format!("Open tasks:\n\n[[Todo]]\n\n{twelve}\n\n[[Trip]]\n\n{three}");
    assert_eq!(chat.types("tasks").await, all);
    let mut chat = CommandChat::over(&[("Todo.md", sixty.as_bytes())]);
    let first = format!("The first 50 of 60 open tasks:\n\n[[Todo]]\n\n{}", tasks(50));
    assert_eq!(chat.types("tasks").await, first, "the control: the list itself has a limit");
}
