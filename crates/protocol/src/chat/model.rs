//! The known data of a model, and the price of its tokens.

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
    /// Its price; `None` is "not known", never "free".
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
    /// Of the part of the prompt that was read from the cache.
    pub cache_read: u32,
    /// Of the part of the prompt that was written to the cache.
    pub cache_write: u32,
}

/// The user's settings for one model, where they differ from the provider's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelParameters {
    /// The model's id, as it is sent.
    pub model: String,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// The share of likely tokens that it chooses from.
    pub top_p: Option<f64>,
    /// How many tokens an answer may have.
    pub max_tokens: Option<u32>,
    /// How much it thinks.
    pub effort: Option<Effort>,
    /// A JSON object; its keys besides ours are added to each request.
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
    /// Much: for hard questions, slower and at a higher cost.
    High,
}

impl Price {
    /// The cost of an answer, in billionths of a US dollar.
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
    /// The data of `self`, completed with those of `other`.
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
    fn certain_data_precede_other_data() {
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
