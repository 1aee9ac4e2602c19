//! The list and one conversation, compared with the same rows in tables laid out for just that; and
//! the start, compared with the start with a tenth of the conversations.

mod bare_tables;
mod seed;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use app::{App, DataDir};
use protocol::chat::conversation_list::{ArchiveState, ListConversations};
use protocol::{ConversationId, ProviderKind, Settings};
use tempfile::TempDir;

use crate::paired_timing::{Ratio, measure};
use bare_tables::BareTables;
use seed::conversation_id;
pub(crate) use seed::{conversation_title, insert_conversations};

/// Turns of a conversation, of two messages each.
const TURNS_PER_CONVERSATION: u64 = 50;

/// Measures over so many conversations the figures whose name begins so.
pub(crate) async fn print(wanted: &str, conversations: u64) -> Result<ExitCode, Box<dyn Error>> {
    let large = ConversationBench::new(conversations).await?;
    println!(
        "conversations={conversations} messages={}",
        conversations * TURNS_PER_CONVERSATION * 2
    );
    let mut met = true;
    if "conversation_list".starts_with(wanted) {
        met &= print_figure("conversation_list", 2.0, large.measure_list().await?);
    }
    if "conversation_open".starts_with(wanted) {
        met &= print_figure("conversation_open", 2.0, large.measure_open(conversations).await?);
    }
    if "conversation_start".starts_with(wanted) {
        let small = ConversationBench::new(conversations / 10).await?;
        met &= print_figure("conversation_start", 1.2, measure_starts(large, small).await?);
    }
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_figure(name: &str, bar: f64, ratio: Ratio) -> bool {
    let met = ratio.value() <= bar;
    println!(
        "{name} ratio={:.3} bar={bar} {} ours_us={:.1} rival_us={:.1}",
        ratio.value(),
        if met { "ok" } else { "MISSED" },
        ratio.ours.as_secs_f64() * 1e6,
        ratio.rival.as_secs_f64() * 1e6
    );
    met
}

/// A vault with one note and so many conversations, and the same rows bare.
struct ConversationBench {
    home: TempDir,
    app: App,
    rival: BareTables,
}

impl ConversationBench {
    async fn new(conversations: u64) -> Result<Self, Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        std::fs::create_dir(home.path().join("notes"))?;
        std::fs::write(home.path().join("notes/Note.md"), "A note.\n")?;
        start_app(home.path()).await?.shutdown().await;
        let database = database_path(&home.path().join("data"))?;
        insert_conversations(&database, conversations, TURNS_PER_CONVERSATION).await?;
        let rival = BareTables::copy_from(&database, &home.path().join("bare.db")).await?;
        let app = start_app(home.path()).await?;
        Ok(Self { home, app, rival })
    }

    /// The first page of the list.
    async fn measure_list(&self) -> Result<Ratio, Box<dyn Error>> {
        let request = ListConversations { archive_state: ArchiveState::Open, before: None };
        let rows =
            self.app.list_conversations(&request).await.map_err(boxed_error)?.conversations.len();
        let ours = async || -> Result<(), Box<dyn Error>> {
            let page = self.app.list_conversations(&request).await.map_err(boxed_error)?;
            if page.conversations.len() == rows { Ok(()) } else { Err("rows are missing".into()) }
        };
        let rival = async || self.rival.list(rows).await;
        measure(300, ours, rival).await
    }

    /// One conversation after the other, in no order.
    async fn measure_open(&self, conversations: u64) -> Result<Ratio, Box<dyn Error>> {
        let (mut ours_at, mut rival_at) = (0_u64, 0_u64);
        let next = |at: &mut u64| {
            *at = (*at + 7_919) % conversations;
            ConversationId::from(conversation_id(*at))
        };
        let messages = usize::try_from(TURNS_PER_CONVERSATION * 2)?;
        let ours = async || -> Result<(), Box<dyn Error>> {
            let view = self.app.conversation(&next(&mut ours_at)).await.map_err(boxed_error)?;
            if view.items.len() == messages { Ok(()) } else { Err("items are missing".into()) }
        };
        let rival = async || self.rival.open(&next(&mut rival_at), messages).await;
        measure(300, ours, rival).await
    }
}

/// From the opening of a vault to its first page, with many conversations and with a tenth.
async fn measure_starts(
    large: ConversationBench,
    small: ConversationBench,
) -> Result<Ratio, Box<dyn Error>> {
    for scene in [&large, &small] {
        scene.app.shutdown().await;
    }
    let start = async |scene: &ConversationBench| -> Result<(), Box<dyn Error>> {
        let app = start_app(scene.home.path()).await?;
        app.subscribe(Box::new(|_| true)).await.map_err(boxed_error)?;
        app.shutdown().await;
        Ok(())
    };
    measure(20, async || start(&large).await, async || start(&small).await).await
}

async fn start_app(home: &Path) -> Result<App, Box<dyn Error>> {
    let app = App::start(DataDir::at(home.join("data")).map_err(boxed_error)?);
    let settings = Settings { provider: ProviderKind::Commands, ..Settings::default() };
    app.save_settings(settings).await.map_err(boxed_error)?;
    app.open_vault(&home.join("notes")).await.map_err(boxed_error)?;
    Ok(app)
}

/// The database of the one vault that was opened.
pub(crate) fn database_path(data: &Path) -> Result<std::path::PathBuf, Box<dyn Error>> {
    let mut vaults = std::fs::read_dir(data.join("vaults"))?;
    let vault = vaults.next().ok_or("no vault was opened")??;
    Ok(vault.path().join("vaultmate.db"))
}

fn boxed_error(error: protocol::UserError) -> Box<dyn Error> {
    error.message.into()
}
