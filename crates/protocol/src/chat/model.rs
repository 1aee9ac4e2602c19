//! What is known of a model, and what its tokens cost.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::TokenUsage;

/// A model, as far as its provider's list, our own or the user's settings know it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelInfo {
    /// Its id, as it is sent.
    pub id: String,
    /// The display name its provider gives it, if that differs from the id.
    pub name: Option<String>,
    /// How many tokens a prompt and its answer may have together.
    pub window: Option<u32>,
    /// How many tokens an answer may have.
    pub max_output: Option<u32>,
    /// What it costs; `None` is "not known", never "nothing".
    pub price: Option<Price>,
}

/// Prices in thousandths of a US dollar per million tokens, which is billionths of a dollar per
/// token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Of the prompt, where it was not cached.
    pub input: u32,
    /// Of the answer.
    pub output: u32,
    /// Of what was read from the cache.
    pub cache_read: u32,
    /// Of what was written to the cache.
    pub cache_write: u32,
}

/// How one model is asked, where the user wants it otherwise than the vendor.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelParameters {
    /// The model's id, as it is sent.
    pub model: String,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// Of how much of what is likely it chooses.
    pub top_p: Option<f64>,
    /// How many tokens an answer may have.
    pub max_tokens: Option<u32>,
    /// How much it thinks.
    pub effort: Option<Effort>,
    /// A JSON object; what it has beside ours is added to each request.
    pub extra: String,
}

/// How much a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Price {
    /// What an answer cost, in billionths of a US dollar.
    #[must_use]
    pub fn cost(&self, usage: &TokenUsage) -> u64 {
        [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ]
        .into_iter()
        .map(|(tokens, price)| u64::from(tokens).saturating_mul(u64::from(price)))
        .fold(0, u64::saturating_add)
    }
}

impl ModelInfo {
    /// What `self` knows, and what `other` knows where `self` does not.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            id: self.id,
            name: self.name.or(other.name),
            window: self.window.or(other.window),
            max_output: self.max_output.or(other.max_output),
            price: self.price.or(other.price),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_costs_what_each_kind_of_its_tokens_costs() {
        let price = Price { input: 1_000, output: 5_000, cache_read: 100, cache_write: 1_250 };
        let usage = TokenUsage { input: 10, output: 3, cache_read: 1_000, cache_write: 8 };
        assert_eq!(price.cost(&usage), 10_000 + 15_000 + 100_000 + 10_000);
        let most = TokenUsage {
            input: u32::MAX,
            output: u32::MAX,
            cache_read: u32::MAX,
            cache_write: u32::MAX,
        };
        let dearest = u32::MAX;
        let dearest =
            Price { input: dearest, output: dearest, cache_read: dearest, cache_write: dearest };
        assert_eq!(dearest.cost(&most), u64::MAX);
    }

    #[test]
    fn what_is_known_for_certain_stands_before_what_is_known_besides() {
        let price = Some(Price::default());
        let mine = ModelInfo { id: "a".into(), window: Some(1), ..ModelInfo::default() };
        let other = ModelInfo {
            id: "b".into(),
            window: Some(2),
            max_output: Some(3),
            price,
            ..ModelInfo::default()
        };
        let both = ModelInfo {
            id: "a".into(),
            window: Some(1),
            max_output: Some(3),
            price,
            ..ModelInfo::default()
        };
        assert_eq!(mine.or(other), both);
    }
}
