//! Has a model write the description that a hub's router reads, from how the notes are organised.

use std::sync::{Arc, Mutex, PoisonError};

use llm::describing::{Described, describe};
use protocol::{ErrorCode, UserError};
use tokio_util::sync::CancellationToken;

use crate::App;
use crate::open_vault::OpenVault;
use crate::ports::host;
use crate::spending::{self, Gate};
use crate::trouble::user_error;

/// Ends the description that is being written, if one is.
#[derive(Default)]
pub(crate) struct Writing(Mutex<CancellationToken>);

impl Writing {
    /// Ends what is being written; the next one ends with the token that is handed out.
    fn anew(&self) -> CancellationToken {
        let next = CancellationToken::new();
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *writing, next.clone()).cancel();
        next
    }
}

impl App {
    /// A description of the open vault for a hub, from the user's words on how the notes are
    /// organised; nothing else is sent. It is paid for and not saved. `None` when it was stopped, or
    /// another one was begun.
    pub async fn write_description(&self, organisation: &str) -> Result<Option<String>, UserError> {
        if organisation.trim().is_empty() {
            return Err(UserError::other(
                "There is nothing to write it from: say in Settings how your notes are organised.",
            ));
        }
        let stopped = self.around().describing.anew();
        let open = self.open().await?;
        let written = stopped.run_until_cancelled(self.describe(&open, organisation));
        open.while_open(written).await.flatten().transpose()
    }

    /// Stops writing it: the request is dropped at once.
    pub fn stop_description(&self) {
        self.around().describing.anew();
    }

    async fn describe(&self, open: &OpenVault, organisation: &str) -> Result<String, UserError> {
        open.config.up_to_date().await;
        let settings = open.config.get();
        let chosen = self.around().answering.get().await;
        if !chosen.status.has_model {
            return Err(UserError::other(
                "No model answers, so nobody can write it: connect one in Settings.",
            ));
        }
        open.config.may_ask()?;
        let (provider, config) = (chosen.provider.clone()?, open.config.clone());
        let provider = Arc::new(Gate { provider, config });
        let by = host::summing_up(&settings, &chosen, provider).await;
        if !spending::month_lets(&open.store, &settings.spending, by.price).await? {
            return Err(UserError::new(
                ErrorCode::Spending,
                "This month's ceiling is reached, so nothing was sent: raise it under Spending in \
                 Settings.",
            ));
        }
        let Described { words, asked } = describe(&by, organisation).await?;
        open.store.count_apart(&asked).await.map_err(user_error)?;
        words.ok_or_else(|| {
            UserError::other(
                "The model gave no description that can be used: try again, or pick another model \
                 for summaries in Settings.",
            )
        })
    }
}
