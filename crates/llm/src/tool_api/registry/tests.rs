//! Tools by name, and errors that teach.

use std::collections::BTreeMap;

use protocol::{Change, ChangeSet, NotePath};
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::tool_api::tool::{ChangePlan, SourceLabels, ToolFailure};

/// Finds notes.
///
/// Best first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindInput {
    /// Words to look
    /// for.
    query: String,
    /// The number of notes to return.
    #[serde(default)]
    limit: u8,
    /// The order of the notes.
    #[serde(default)]
    order: FindOrder,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FindOrder {
    #[default]
    Best,
    Newest,
}

struct FindTool;

#[async_trait]
impl Tool for FindTool {
    const NAME: &'static str = "find_notes";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = FindInput;

    async fn run(&self, input: FindInput, _: &ToolContext) -> ToolOutcome {
        ToolOutcome::ok(format!("{} {} {:?}", input.query, input.limit, input.order))
    }
}

/// Makes a note.
#[derive(Debug, Deserialize, JsonSchema)]
struct MakeInput {
    path: String,
}

struct MakeTool;

#[async_trait]
impl ChangingTool for MakeTool {
    const NAME: &'static str = "make_note";
    type Input = MakeInput;

    async fn plan(
        &self,
        input: MakeInput,
        _: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let path = NotePath::parse(&input.path).map_err(|error| ToolFailure::new(error.0))?;
        let change_set = ChangeSet::one(Change::create(path, b"x".to_vec()));
        Ok((
            ToolEffect::Create,
            ChangePlan { change_set, summary: "Made it".into(), labels: SourceLabels::Complete },
        ))
    }
}

fn registry() -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    registry.register(FindTool).unwrap();
    registry.register_changing(MakeTool).unwrap();
    registry
}

fn context() -> ToolContext {
    ToolContext {
        conversation: "c".into(),
        turn: "t".into(),
        call: "call".into(),
        overlay: Arc::new(ChangeSet::default()),
        withheld: Arc::default(),
        seen: Arc::new(BTreeMap::new()),
        max_output_bytes: usize::MAX,
        sources: crate::tool_api::tool::SourceLog::default(),
        offered: crate::tool_api::tool::ToolOffer::default(),
    }
}

async fn failure_text(name: &str, arguments: Value) -> String {
    match registry().call(name, arguments, &context()).await {
        CallOutcome::Outcome(outcome) => {
            assert!(outcome.is_error, "{outcome:?}");
            outcome.output
        }
        CallOutcome::Planned(..) => panic!("it planned"),
    }
}

#[test]
fn the_description_is_the_doc_comment_and_the_schema_is_one_tree() {
    let specs = registry().specs(&["make_note".into(), "find_notes".into()]);
    assert_eq!(specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), registry().names());
    let find = &specs[0];
    assert_eq!(find.description, "Finds notes. Best first.");
    for gone in ["$schema", "title", "description", "$defs"] {
        assert!(find.input_schema.get(gone).is_none(), "{gone} is in {}", find.input_schema);
    }
    assert_eq!(find.input_schema["type"], "object");
    assert_eq!(find.input_schema["additionalProperties"], false);
    assert_eq!(find.input_schema["required"], json!(["query"]));
    assert_eq!(find.input_schema["properties"]["query"]["description"], "Words to look for.");
}

#[test]
fn no_description_in_a_schema_has_a_line_break() {
    let mut schema = json!({
        "description": "Finds\nnotes.\n\n  Best first.",
        "properties": { "description": { "items": { "description": "A\nword." } } },
        "oneOf": [{ "const": "a\nb", "description": "As it\nis." }],
    });
    join_description_lines(&mut schema);
    let joined = json!({
        "description": "Finds notes. Best first.",
        "properties": { "description": { "items": { "description": "A word." } } },
        "oneOf": [{ "const": "a\nb", "description": "As it is." }],
    });
    assert_eq!(schema, joined);
}

#[test]
fn only_allowed_tools_are_told() {
    let specs = registry().specs(&["make_note".into(), "no_such".into()]);
    assert_eq!(specs.len(), 1);
    assert_eq!(specs[0].name, "make_note");
}

#[test]
fn a_second_tool_of_a_name_is_refused_and_the_first_stays() {
    let mut registry = registry();
    assert_eq!(registry.register(FindTool), Err(DuplicateTool("find_notes")));
    assert_eq!(registry.names(), ["find_notes", "make_note"]);
}

#[test]
fn a_tool_says_whether_it_changes_notes() {
    let registry = registry();
    assert_eq!(registry.effect("find_notes"), Some(ToolEffect::Read));
    assert!(!registry.changes_notes("find_notes"));
    assert_eq!(registry.effect("make_note"), None);
    assert!(registry.changes_notes("make_note"));
    assert!(!registry.changes_notes("no_such"));
}

#[tokio::test]
async fn fitting_arguments_reach_the_tool() {
    let called =
        registry().call("find_notes", json!({"query": "a", "order": "newest"}), &context()).await;
    assert_eq!(called, CallOutcome::Outcome(ToolOutcome::ok("a 0 Newest")));
    let called = registry().call("make_note", json!({"path": "a.md"}), &context()).await;
    assert!(matches!(called, CallOutcome::Planned(ToolEffect::Create, _)), "{called:?}");
}

#[tokio::test]
async fn an_unknown_field_that_is_unset_is_as_good_as_not_given() {
    for unset in [json!(""), json!(" "), json!(null)] {
        let arguments = json!({ "query": "a", "folder": unset });
        let called = registry().call("find_notes", arguments, &context()).await;
        assert_eq!(called, CallOutcome::Outcome(ToolOutcome::ok("a 0 Best")), "{unset}");
    }
    // The controls: a field that is set, and one that the tool has.
    for (arguments, expected) in [
        (json!({ "query": "a", "folder": "b" }), "unknown field `folder`"),
        (json!({ "query": "a", "folder": "", "order": "" }), "unknown variant ``"),
        (json!({ "folder": "" }), "missing field `query`"),
    ] {
        let lesson = failure_text("find_notes", arguments).await;
        assert!(lesson.contains(expected), "{lesson}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest_name() {
    assert_eq!(
        failure_text("find_note", json!({})).await,
        "There is no tool `find_note`. Did you mean `find_notes`?"
    );
    assert_eq!(
        failure_text("zzz", json!({})).await,
        "There is no tool `zzz`. The tools are: find_notes, make_note."
    );
}

#[tokio::test]
async fn wrong_arguments_are_answered_with_the_field_and_what_fits() {
    for (arguments, expected) in [
        (json!({"query": 7}), "at `query`: invalid type: integer `7`, expected a string"),
        (
            json!({"query": "a", "limit": "x"}),
            "at `limit`: invalid type: string \"x\", expected u8",
        ),
        (json!({"query": "a", "order": "up"}), "unknown variant `up`, expected `best` or `newest`"),
        (json!({"qury": "a"}), "unknown field `qury`, expected one of `query`, `limit`, `order`"),
        (json!({}), "missing field `query`"),
        (json!([]), "invalid length 0"),
    ] {
        let lesson = failure_text("find_notes", arguments).await;
        assert!(lesson.contains(expected), "{lesson}");
        assert!(lesson.contains("`query` (string, required)"), "{lesson}");
    }
}

/// Fails with a text of its own, or with one whose source it does not know.
struct FailingTool;

#[async_trait]
impl Tool for FailingTool {
    const NAME: &'static str = "fails";
    const EFFECT: ToolEffect = ToolEffect::Read;
    type Input = FindInput;

    async fn run(&self, input: FindInput, _: &ToolContext) -> ToolOutcome {
        match input.query.as_str() {
            "own" => ToolFailure::labeled("No.").into(),
            _ => ToolFailure::new("No: `Some note.md`.").into(),
        }
    }
}

#[tokio::test]
async fn a_result_without_recorded_sources_is_foreign() {
    let mut registry = registry();
    registry.register(FailingTool).unwrap();
    for (tool, arguments, is_foreign) in [
        ("find_notes", json!({ "query": "x" }), true),
        ("fails", json!({ "query": "x" }), true),
        ("fails", json!({ "query": "own" }), false),
        ("fails", json!({}), false),
        ("nothing", json!({}), false),
    ] {
        let context = context();
        registry.call(tool, arguments.clone(), &context).await;
        assert_eq!(context.sources.all() == [Source::Foreign], is_foreign, "{tool} {arguments}");
    }
}

/// Says in its plan what it looks at.
struct ScopedTool(&'static str);

#[async_trait]
impl ChangingTool for ScopedTool {
    const NAME: &'static str = "add_line";
    type Input = MakeInput;

    async fn plan(
        &self,
        input: MakeInput,
        context: &ToolContext,
    ) -> Result<(ToolEffect, ChangePlan), ToolFailure> {
        let (effect, plan) = MakeTool.plan(input, context).await?;
        Ok((effect, ChangePlan { summary: self.0.to_owned(), ..plan }))
    }
}

#[tokio::test]
async fn a_tool_for_own_calls_plans_only_those_that_no_model_made() {
    let (seen, all) = ("what the model sees", "all notes");
    let mut registry = registry();
    registry.register_changing_with_own(ScopedTool(seen), ScopedTool(all)).unwrap();
    assert_eq!(registry.names(), ["find_notes", "make_note", "add_line"]);
    for (tool, call, summary) in [
        ("add_line", "call", seen),
        ("add_line", "a_capture-1", seen),
        ("add_line", "capture-1", all),
        // A tool without another one for own calls.
        ("make_note", "capture-1", "Made it"),
    ] {
        let context = ToolContext { call: call.into(), ..context() };
        let called = registry.call(tool, json!({ "path": "a.md" }), &context).await;
        let CallOutcome::Planned(_, plan) = called else { panic!("{tool}, {call}") };
        assert_eq!(plan.summary, summary, "{tool}, {call}");
    }
}
