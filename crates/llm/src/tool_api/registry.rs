//! All tools there are: what a model is told about them, and how arguments reach them.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::{CallId, Source};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

use crate::context::model_texts;
use crate::model::{ToolSpec, is_own_call, is_unset};
use crate::tool_api::tool::{
    CallOutcome, ChangingTool, SourceLabels, Tool, ToolBrief, ToolContext, ToolEffect, ToolOutcome,
};

#[cfg(test)]
mod tests;

/// Two tools want the same name: a mistake in the catalog, found at start.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("Two tools are named `{0}`. Rename one of them in the catalog.")]
pub struct DuplicateTool(pub &'static str);

/// All tools there are, by name, in the order they were registered. Filled once at start.
#[derive(Default)]
pub struct ToolRegistry {
    tools: Vec<RegistryEntry>,
}

impl ToolRegistry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool that changes no note.
    pub fn register<T: Tool>(&mut self, tool: T) -> Result<(), DuplicateTool> {
        let spec = spec::<T::Input>(T::NAME);
        self.add(T::NAME, Some(T::EFFECT), spec, T::BRIEF, Arc::new(ToolAdapter(tool)))
    }

    /// Adds a tool that plans changes of notes.
    pub fn register_changing<T: ChangingTool>(&mut self, tool: T) -> Result<(), DuplicateTool> {
        self.add(
            T::NAME,
            None,
            spec::<T::Input>(T::NAME),
            T::BRIEF,
            Arc::new(ChangingToolAdapter(tool)),
        )
    }

    /// The same where `own` plans the calls that the application makes in the place of the model. It may see more than
    /// `tool`: no turn gives a call of a model the id of such a call.
    pub fn register_changing_with_own<T: ChangingTool>(
        &mut self,
        tool: T,
        own: T,
    ) -> Result<(), DuplicateTool> {
        self.register_changing(tool)?;
        if let Some(entry) = self.tools.last_mut() {
            entry.own_body = Some(Arc::new(ChangingToolAdapter(own)));
        }
        Ok(())
    }

    /// The descriptions of the tools that `allowed` names, in the order of registration, whatever
    /// the order of `allowed`: the prompt's prefix stays the same.
    #[must_use]
    pub fn specs(&self, allowed: &[String]) -> Vec<ToolSpec> {
        let tools = self.tools.iter().filter(|tool| allowed.contains(&tool.spec.name));
        tools.map(|tool| tool.spec.clone()).collect()
    }

    /// The same in short, for a model with little room.
    #[must_use]
    pub fn brief_specs(&self, allowed: &[String]) -> Vec<ToolSpec> {
        let tools = self.tools.iter().filter(|tool| allowed.contains(&tool.spec.name));
        tools.map(|tool| tool.brief.as_ref().unwrap_or(&tool.spec).clone()).collect()
    }

    /// All names, in the order of registration.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.spec.name.as_str()).collect()
    }

    /// The effect of a tool; `None` for a changing tool, whose plan says it, and for a name that is
    /// not registered.
    #[must_use]
    pub fn effect(&self, name: &str) -> Option<ToolEffect> {
        self.find(name).and_then(|tool| tool.effect)
    }

    /// The names of the tools that talk to the user or end the conversation.
    #[must_use]
    pub fn talking_tools(&self) -> BTreeSet<String> {
        let talks = |tool: &&RegistryEntry| {
            matches!(tool.effect, Some(ToolEffect::Speak | ToolEffect::End))
        };
        self.tools.iter().filter(talks).map(|tool| tool.spec.name.clone()).collect()
    }

    /// Whether the tool plans changes of notes.
    #[must_use]
    pub fn changes_notes(&self, name: &str) -> bool {
        self.find(name).is_some_and(|tool| tool.effect.is_none())
    }

    /// Parses `arguments` and runs the tool, or lets it plan. An unknown name and arguments that
    /// do not fit come back as a failure that says how to repair the call. Dropping the future
    /// cancels a tool at its next await.
    pub async fn call(&self, name: &str, arguments: Value, context: &ToolContext) -> CallOutcome {
        let called = match self.find(name) {
            Some(tool) => tool.body_for(&context.call).call(&tool.spec, arguments, context).await,
            None => failed(model_texts::no_such_tool(name, &self.names())),
        };
        // The check is here, for all tools: a tool that does not record its sources is not trusted.
        if let CallOutcome::Outcome(ToolOutcome { labels: SourceLabels::Missing, .. }) = &called {
            context.sources.record(Source::Foreign);
        }
        called
    }

    fn find(&self, name: &str) -> Option<&RegistryEntry> {
        self.tools.iter().find(|tool| tool.spec.name == name)
    }

    fn add(
        &mut self,
        name: &'static str,
        effect: Option<ToolEffect>,
        spec: ToolSpec,
        brief: Option<ToolBrief>,
        body: Arc<dyn ErasedTool>,
    ) -> Result<(), DuplicateTool> {
        if self.find(name).is_some() {
            return Err(DuplicateTool(name));
        }
        let brief = brief.map(|brief| brief_spec(&spec, brief));
        self.tools.push(RegistryEntry { spec, brief, effect, body, own_body: None });
        Ok(())
    }
}

struct RegistryEntry {
    spec: ToolSpec,
    brief: Option<ToolSpec>,
    effect: Option<ToolEffect>,
    body: Arc<dyn ErasedTool>,
    /// In its place for calls of the application.
    own_body: Option<Arc<dyn ErasedTool>>,
}

impl RegistryEntry {
    fn body_for(&self, call: &CallId) -> &dyn ErasedTool {
        let own = self.own_body.as_ref().filter(|_| is_own_call(call));
        own.unwrap_or(&self.body).as_ref()
    }
}

/// A tool with its input type erased.
#[async_trait]
trait ErasedTool: Send + Sync {
    async fn call(&self, spec: &ToolSpec, arguments: Value, context: &ToolContext) -> CallOutcome;
}

struct ToolAdapter<T>(T);

#[async_trait]
impl<T: Tool> ErasedTool for ToolAdapter<T> {
    async fn call(&self, spec: &ToolSpec, arguments: Value, context: &ToolContext) -> CallOutcome {
        match parse(spec, arguments) {
            Ok(input) => CallOutcome::Outcome(self.0.run(input, context).await),
            Err(lesson) => failed(lesson),
        }
    }
}

struct ChangingToolAdapter<T>(T);

#[async_trait]
impl<T: ChangingTool> ErasedTool for ChangingToolAdapter<T> {
    async fn call(&self, spec: &ToolSpec, arguments: Value, context: &ToolContext) -> CallOutcome {
        let input = match parse(spec, arguments) {
            Ok(input) => input,
            Err(lesson) => return failed(lesson),
        };
        match self.0.plan(input, context).await {
            Ok((effect, plan)) => CallOutcome::Planned(effect, plan),
            Err(failure) => CallOutcome::Outcome(failure.into()),
        }
    }
}

fn failed(lesson: String) -> CallOutcome {
    CallOutcome::Outcome(ToolOutcome::failed(lesson).labeled())
}

/// Arguments that do not fit are tried once more without the fields that are unset and unknown.
fn parse<I: DeserializeOwned>(spec: &ToolSpec, arguments: Value) -> Result<I, String> {
    let known = without_unset_fields(spec, &arguments);
    match (parse_exactly(spec, arguments), known) {
        (Err(_), Some(known)) => parse_exactly(spec, known),
        (parsed, _) => parsed,
    }
}

/// The arguments without unset fields that the tool does not have; `None` if there are none of these.
fn without_unset_fields(spec: &ToolSpec, arguments: &Value) -> Option<Value> {
    let fields = arguments.as_object()?;
    let properties = spec.input_schema.get("properties");
    let is_kept = |name: &str, value: &Value| {
        !is_unset(value) || properties.is_some_and(|properties| properties.get(name).is_some())
    };
    if fields.iter().all(|(name, value)| is_kept(name, value)) {
        return None;
    }
    let kept = fields.iter().filter(|(name, value)| is_kept(name, value));
    Some(Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect()))
}

fn parse_exactly<I: DeserializeOwned>(spec: &ToolSpec, arguments: Value) -> Result<I, String> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let field = error.path().to_string();
        model_texts::bad_arguments(spec, &field, &error.into_inner().to_string())
    })
}

/// The result of parsing arguments for a tool with this input.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn parse_as<I: DeserializeOwned + JsonSchema>(
    name: &str,
    arguments: Value,
) -> (ToolSpec, Result<I, String>) {
    let spec = spec::<I>(name);
    let parsed = parse(&spec, arguments);
    (spec, parsed)
}

/// Name, description and schema, all from the input type. Small models follow references badly,
/// so the schema is one tree.
fn spec<I: JsonSchema>(name: &str) -> ToolSpec {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<I>().to_value();
    join_description_lines(&mut schema);
    let mut description = String::new();
    if let Some(root) = schema.as_object_mut() {
        root.remove("$schema");
        root.remove("title");
        if let Some(Value::String(text)) = root.remove("description") {
            description = text;
        }
        if let Some(Value::Object(properties)) = root.get_mut("properties") {
            properties.values_mut().for_each(simplify);
        }
    }
    ToolSpec { name: name.to_owned(), description, input_schema: schema }
}

/// Joins the lines of each description in the schema: a doc comment is broken where the source is full.
fn join_description_lines(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "description" => *text = joined_lines(text),
                    other => join_description_lines(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(join_description_lines),
        _ => {}
    }
}

fn joined_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// Removes parts of the schema that tell a model nothing: a field that is not required may be
/// omitted, so it need not allow `null` as well, and Rust's widths of numbers are no limits of the
/// tool.
fn simplify(property: &mut Value) {
    let Some(property) = property.as_object_mut() else { return };
    property.remove("format");
    if property.get("minimum").is_some_and(|least| least == 0) {
        property.remove("minimum");
    }
    if property.get("maximum").is_some_and(|most| [255, 65_535].iter().any(|width| most == width)) {
        property.remove("maximum");
    }
    if property.get("default").is_some_and(Value::is_null) {
        property.remove("default");
    }
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            property.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    // `anyOf` of a type and `null`: the type alone.
    if let Some(Value::Array(kinds)) = property.get_mut("anyOf") {
        kinds.retain(|kind| kind.get("type").is_none_or(|kind| kind != "null"));
        if let [kind] = kinds.as_mut_slice() {
            let kind = std::mem::take(kind);
            property.remove("anyOf");
            if let Value::Object(kind) = kind {
                for (name, value) in kind {
                    property.entry(name).or_insert(value);
                }
            }
        }
    }
}

/// The arguments that `brief` names, as `spec` has them, without their descriptions.
fn brief_spec(spec: &ToolSpec, brief: ToolBrief) -> ToolSpec {
    let told = |name: &&'static str| {
        let mut schema = spec.input_schema.pointer(&format!("/properties/{name}"))?.clone();
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("description");
            schema.remove("default");
            // An optional field may be `null`; saying so is not worth the tokens.
            if let Some(Value::Array(kinds)) = schema.get("type") {
                let first = kinds.first().cloned().unwrap_or_default();
                schema.insert("type".to_owned(), first);
            }
        }
        Some(((*name).to_owned(), schema))
    };
    let named = brief.required.iter().chain(brief.optional);
    let properties: serde_json::Map<String, Value> = named.filter_map(told).collect();
    ToolSpec {
        name: spec.name.clone(),
        description: brief.description.to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": properties,
            "required": brief.required,
        }),
    }
}
