//! Costs of models: the limits per answer and month, the totals, and the pause that stops every request.
//!
//! A row of `usage` holds the cost at the price that its turn began with.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::{ToSpan as _, Zoned};
use llm::model::{ModelError, ModelRequest};
use llm::provider::{ModelStream, Provider};
use llm::{Capabilities, SpendingLimit};
use protocol::chat::cost::{MonthCost, TurnCost};
use protocol::chat::model::{ModelInfo, Price};
use protocol::settings::SpendingSettings;
use protocol::{ConversationId, ErrorCode, Settings, Timestamp, TurnId, UserError};
use store::Store;

use crate::settings::config::Config;
use crate::support::clock::local_now;
use crate::user_texts;

/// Billionths of a dollar in a cent.
const NANODOLLARS_PER_CENT: u64 = 10_000_000;

/// Months that the window shows at most.
const MAX_MONTHS: usize = 24;

/// Asks through another provider, and nobody while models are paused or the settings do not count.
pub(crate) struct SpendingGate {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) config: Config,
}

#[async_trait]
impl Provider for SpendingGate {
    fn server_id(&self) -> String {
        self.provider.server_id()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.config.reload_if_changed().await;
        if let Err(refused) = self.config.ensure_models_allowed() {
            return Err(ModelError::NotSent(refused.into()));
        }
        self.provider.stream(request).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        if self.config.ensure_models_allowed().is_err() {
            return Ok(Vec::new());
        }
        self.provider.models().await
    }

    /// A provider may have to ask for that, so while no model may be asked it is not either.
    async fn capabilities(&self, model: &str) -> Capabilities {
        if self.config.ensure_models_allowed().is_err() {
            // It is not asked, so nobody knows where the model runs.
            return Capabilities { runs_elsewhere: true, ..Capabilities::default() };
        }
        self.provider.capabilities(model).await
    }

    async fn runs_elsewhere(&self, model: &str) -> Result<bool, ModelError> {
        if let Err(refused) = self.config.ensure_models_allowed() {
            return Err(ModelError::NotSent(refused.into()));
        }
        self.provider.runs_elsewhere(model).await
    }
}

/// The price that the limits count by. `None` where there is nothing to count: the price is not known, or the
/// model costs nothing.
fn counted_price(price: Option<Price>) -> Option<Price> {
    price.filter(|price| *price != Price::default())
}

/// The limit for a turn, from the limits per answer and month. `Err` when the month's is reached.
/// There is none for a model that costs nothing, or whose price is not known.
pub(crate) async fn turn_budget(
    store: &Store,
    limits: &SpendingSettings,
    price: Option<Price>,
    turn: &TurnId,
) -> Result<Option<SpendingLimit>, UserError> {
    let Some(price) = counted_price(price) else { return Ok(None) };
    let spent = spent_this_month(store).await?;
    let of_turn = store.turn_cost(turn).await?.cost;
    let month = remaining(limits.month_cents, spent);
    if month == 0 {
        return Err(month_reached_error(limits, spent));
    }
    let turn = remaining(limits.turn_cents, of_turn);
    let dollars = |cents: u32| format_dollars(u64::from(cents) * NANODOLLARS_PER_CENT);
    Ok(Some(if turn <= month {
        let reached = user_texts::answer_limit_reached(dollars(limits.turn_cents));
        SpendingLimit { price, left: turn, reached_message: reached }
    } else {
        let reached = user_texts::monthly_limit_reached(dollars(limits.month_cents));
        SpendingLimit { price, left: month, reached_message: reached }
    }))
}

/// Whether this month's limit lets a model with this price be asked.
pub(crate) async fn has_month_budget(
    store: &Store,
    limits: &SpendingSettings,
    price: Option<Price>,
) -> Result<bool, UserError> {
    match counted_price(price) {
        Some(_) => Ok(remaining(limits.month_cents, spent_this_month(store).await?) > 0),
        None => Ok(true),
    }
}

/// Fails with the reason while this month's limit lets nothing more be spent.
pub(crate) async fn ensure_month_budget(
    store: &Store,
    limits: &SpendingSettings,
) -> Result<(), UserError> {
    let spent = spent_this_month(store).await?;
    match remaining(limits.month_cents, spent) {
        0 => Err(month_reached_error(limits, spent)),
        _ => Ok(()),
    }
}

fn month_reached_error(limits: &SpendingSettings, spent: u64) -> UserError {
    let limit = format_dollars(u64::from(limits.month_cents) * NANODOLLARS_PER_CENT);
    UserError::new(
        ErrorCode::Spending,
        user_texts::monthly_limit_spent(format_dollars(spent), limit),
    )
}

async fn spent_this_month(store: &Store) -> Result<u64, UserError> {
    let (from, until) = month_bounds(&local_now());
    Ok(store.cost_between(from, until).await?.cost)
}

/// The rest of this month's budget as text; `None` where nothing is counted.
pub(crate) async fn month_budget_left(
    store: &Store,
    settings: &Settings,
) -> Result<Option<String>, UserError> {
    let limit = settings.spending.month_cents;
    let price = llm::providers::model_catalog::lookup(&settings.model, &[], &[])
        .and_then(|model| model.price);
    if limit == 0 || price.is_none() {
        return Ok(None);
    }
    Ok(Some(format_dollars(remaining(limit, spent_this_month(store).await?))))
}

/// The costs of the latest months, newest first; months without cost are omitted.
pub(crate) async fn monthly_costs(store: &Store) -> Result<Vec<MonthCost>, UserError> {
    let Some(first) = store.first_cost_at().await? else { return Ok(Vec::new()) };
    let (mut day, mut months) = (local_now(), Vec::new());
    loop {
        let (from, until) = month_bounds(&day);
        let spent = store.cost_between(from, until).await?;
        if spent.requests > 0 {
            months.push(MonthCost { month: day.strftime("%Y-%m").to_string(), spent });
        }
        let earlier = day.first_of_month().and_then(|first| first.checked_sub(1.day()));
        match earlier {
            Ok(earlier) if from > first && months.len() < MAX_MONTHS => day = earlier,
            _ => return Ok(months),
        }
    }
}

/// The cost of each turn of a conversation.
pub(crate) async fn conversation_costs(
    store: &Store,
    conversation: &ConversationId,
) -> Result<Vec<TurnCost>, UserError> {
    Ok(store.turn_costs(conversation).await?)
}

/// The rest of a limit; without one, the maximum.
fn remaining(cents: u32, spent: u64) -> u64 {
    if cents == 0 {
        u64::MAX
    } else {
        (u64::from(cents) * NANODOLLARS_PER_CENT).saturating_sub(spent)
    }
}

/// The beginning of a day's month, and of the next.
fn month_bounds(day: &Zoned) -> (Timestamp, Timestamp) {
    let first = day.first_of_month().and_then(|first| first.start_of_day());
    let next = first.clone().and_then(|first| first.checked_add(1.month()));
    let at = |day: Result<Zoned, jiff::Error>, otherwise: i64| {
        Timestamp(day.map_or(otherwise, |day| day.timestamp().as_millisecond()))
    };
    (at(first, i64::MIN), at(next, i64::MAX))
}

/// Billionths of a dollar as an amount: cents, or more digits where there are less than ten cents.
fn format_dollars(billionths: u64) -> String {
    let digits = if billionths > 0 && billionths < 10 * NANODOLLARS_PER_CENT { 4 } else { 2 };
    #[expect(clippy::cast_precision_loss, reason = "shown with a few digits")]
    let amount = billionths as f64 / 1e9;
    format!("${amount:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_goes_from_its_first_moment_to_that_of_the_next() {
        let day: Zoned = "2026-12-31T23:30[Europe/Berlin]".parse().expect("a time");
        let (from, until) = month_bounds(&day);
        let at = |text: &str| {
            text.parse::<Zoned>().map(|day| day.timestamp().as_millisecond()).expect("a time")
        };
        assert_eq!(from.0, at("2026-12-01T00:00[Europe/Berlin]"));
        assert_eq!(until.0, at("2027-01-01T00:00[Europe/Berlin]"));
    }

    #[test]
    fn an_amount_has_as_many_digits_as_it_needs_and_no_limit_leaves_everything() {
        let told = [0, 1_234_567, 99_000_000, 500_000_000, 20_000_000_000].map(format_dollars);
        assert_eq!(told, ["$0.00", "$0.0012", "$0.0990", "$0.50", "$20.00"]);
        assert_eq!(
            (remaining(50, 0), remaining(50, 600_000_000), remaining(0, 9)),
            (500_000_000, 0, u64::MAX)
        );
    }
}
