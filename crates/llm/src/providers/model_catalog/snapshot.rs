//! The models that were known in November 2026, from the makers' own pages of models and prices.

use protocol::ModelInfo;
use protocol::chat::model::Price;

use super::ModelMaker;

/// A line: maker, alias, window, output cap, prices (input, output, cache read, cache write) in
/// thousandths of a dollar per million tokens.
type KnownModelRow = (ModelMaker, &'static str, u32, u32, [u32; 4]);

const SNAPSHOT: [KnownModelRow; 13] = [
    (ModelMaker::Anthropic, "claude-haiku-4-5", 200_000, 64_000, [1_000, 5_000, 100, 1_250]),
    (ModelMaker::Anthropic, "claude-sonnet-4-5", 200_000, 64_000, [3_000, 15_000, 300, 3_750]),
    (ModelMaker::Anthropic, "claude-opus-4-5", 200_000, 64_000, [5_000, 25_000, 500, 6_250]),
    (ModelMaker::OpenAi, "gpt-5", 400_000, 128_000, [1_250, 10_000, 125, 1_250]),
    (ModelMaker::OpenAi, "gpt-5-mini", 400_000, 128_000, [250, 2_000, 25, 250]),
    (ModelMaker::OpenAi, "gpt-5-nano", 400_000, 128_000, [50, 400, 5, 50]),
    (ModelMaker::OpenAi, "gpt-4.1", 1_047_576, 32_768, [2_000, 8_000, 500, 2_000]),
    (ModelMaker::OpenAi, "gpt-4.1-mini", 1_047_576, 32_768, [400, 1_600, 100, 400]),
    (ModelMaker::OpenAi, "gpt-4.1-nano", 1_047_576, 32_768, [100, 400, 25, 100]),
    (ModelMaker::OpenAi, "gpt-4o", 128_000, 16_384, [2_500, 10_000, 1_250, 2_500]),
    (ModelMaker::OpenAi, "gpt-4o-mini", 128_000, 16_384, [150, 600, 75, 150]),
    (ModelMaker::OpenAi, "o3", 200_000, 100_000, [2_000, 8_000, 500, 2_000]),
    (ModelMaker::OpenAi, "o4-mini", 200_000, 100_000, [1_100, 4_400, 275, 1_100]),
];

/// The model of this id, under this id.
pub(super) fn find(id: &str) -> Option<ModelInfo> {
    let (_, _, window, max_output, [input, output, cache_read, cache_write]) =
        SNAPSHOT.into_iter().find(|(_, alias, ..)| is_of_family(id, alias))?;
    let price = Price { input, output, cache_read, cache_write };
    Some(ModelInfo {
        id: id.to_owned(),
        name: None,
        window: Some(window),
        max_output: Some(max_output),
        price: Some(price),
    })
}

/// The aliases of a maker.
pub(super) fn aliases_of(maker: ModelMaker) -> impl Iterator<Item = &'static str> {
    SNAPSHOT.into_iter().filter(move |(whose, ..)| *whose == maker).map(|(_, alias, ..)| alias)
}

/// Whether `id` is the alias, also with a host before it (`anthropic/…`), with its dots as
/// hyphens, or with a date after it.
fn is_of_family(id: &str, alias: &str) -> bool {
    let bare = id.rsplit_once('/').map_or(id, |(_, bare)| bare).replace('.', "-");
    match bare.strip_prefix(&alias.replace('.', "-")) {
        Some("") => true,
        Some(rest) => {
            let date: String = rest.chars().filter(char::is_ascii_digit).collect();
            date.len() == 8 && rest.starts_with('-') && rest.len() <= 11
        }
        None => false,
    }
}
