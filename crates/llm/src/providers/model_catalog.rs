//! Which models there are: what was known when this was built, and what comes on top.

use protocol::ModelInfo;

mod snapshot;

/// The known facts about the model of this id, or of the family whose dated or hosted member it is
/// (`claude-haiku-4-5-20251001`, `anthropic/claude-haiku-4-5`). The user's settings come first,
/// then the provider's list, then the snapshot; `None` when none of them knows it.
#[must_use]
pub fn lookup(id: &str, users: &[ModelInfo], listed: &[ModelInfo]) -> Option<ModelInfo> {
    let exact = |models: &[ModelInfo]| models.iter().find(|model| model.id == id).cloned();
    [exact(users), exact(listed), snapshot::find(id)].into_iter().flatten().reduce(ModelInfo::or)
}

/// All models that the user can choose from, by id: `listed` with the other known facts of each,
/// the user's own, and those of `maker` in the snapshot when nothing was listed.
#[must_use]
pub fn list_models(maker: ModelMaker, users: &[ModelInfo], listed: &[ModelInfo]) -> Vec<ModelInfo> {
    let mut ids: Vec<String> = users.iter().chain(listed).map(|model| model.id.clone()).collect();
    if listed.is_empty() {
        ids.extend(snapshot::aliases_of(maker).map(str::to_owned));
    }
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|id| !id.is_empty());
    let known = ids
        .into_iter()
        .map(|id| lookup(&id, users, listed).unwrap_or(ModelInfo { id, ..ModelInfo::default() }));
    known.collect()
}

/// A maker whose models the snapshot knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelMaker {
    /// The maker of the Claude models.
    Anthropic,
    /// The maker of the GPT models.
    OpenAi,
    /// Somebody whose models only their own list knows.
    Other,
}

#[cfg(test)]
mod tests {
    use protocol::chat::model::Price;

    use super::*;

    fn window(id: &str, window: u32) -> ModelInfo {
        ModelInfo { id: id.into(), window: Some(window), ..ModelInfo::default() }
    }

    #[test]
    fn the_three_families_are_known_by_alias_date_and_host() {
        for (id, input) in [
            ("claude-haiku-4-5", 1_000),
            ("claude-haiku-4-5-20251001", 1_000),
            ("claude-sonnet-4-5-20250929", 3_000),
            ("claude-opus-4-5-20251101", 5_000),
            ("anthropic/claude-sonnet-4.5", 3_000),
            ("gpt-4.1-mini-2025-04-14", 400),
        ] {
            let found = lookup(id, &[], &[]).and_then(|model| model.price);
            assert_eq!(found.map(|price| price.input), Some(input), "{id}");
        }
        for id in ["", "claude", "gpt-4.1-mini-turbo", "claude-haiku-4-5-latest-of-all", "llama3"] {
            assert_eq!(lookup(id, &[], &[]), None, "{id}");
        }
    }

    #[test]
    fn the_users_settings_come_before_the_list_and_the_list_before_the_snapshot() {
        let id = "claude-haiku-4-5";
        let free = ModelInfo { price: Some(Price::default()), ..window(id, 1) };
        let found = lookup(id, &[window(id, 1)], &[ModelInfo { window: Some(2), ..free }]);
        let found = found.unwrap();
        assert_eq!((found.window, found.price), (Some(1), Some(Price::default())));
        assert_eq!(found.max_output, Some(64_000));
    }

    #[test]
    fn the_list_holds_the_models_of_the_provider_or_else_those_known_of_the_maker() {
        let ids = |models: Vec<ModelInfo>| -> Vec<String> {
            models.into_iter().map(|model| model.id).collect()
        };
        let listed = [window("b", 1), window("a", 1)];
        assert_eq!(
            ids(list_models(ModelMaker::Anthropic, &[window("c", 1)], &listed)),
            ["a", "b", "c"]
        );
        let known = ids(list_models(ModelMaker::Anthropic, &[], &[]));
        assert_eq!(known, ["claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5"]);
        assert_eq!(ids(list_models(ModelMaker::Other, &[], &[])), Vec::<String>::new());
    }

    #[test]
    fn every_line_of_the_snapshot_makes_sense() {
        for maker in [ModelMaker::Anthropic, ModelMaker::OpenAi] {
            for id in snapshot::aliases_of(maker) {
                let model = lookup(id, &[], &[]).unwrap();
                let (price, window) = (model.price.unwrap(), model.window.unwrap());
                assert!(model.max_output.unwrap() <= window, "{id}");
                assert!(price.cache_read <= price.input && price.input <= price.output, "{id}");
            }
        }
    }
}
