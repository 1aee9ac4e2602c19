//! The figures of the vault: how each is taken, and the bar that it must not be above.

use std::error::Error;

use crate::durability::durable_edit;
use crate::note_reading;
use crate::paired_timing::Ratio;

/// The kinds of figures.
#[derive(Debug, Clone, Copy)]
pub(crate) enum VaultFigure {
    /// An edit of one note, compared with the same done bare.
    DurableEdit,
    /// Edits of sixty notes as one change set, compared with sixty bare ones that share one commit.
    ChangeSetOf60,
    /// `read_file`, compared with open, read and close.
    ReadFile,
    /// `read_file`, compared with the same tool of a plugged-in server.
    ReadFileBesideMcp,
}

/// All of them, in the order they are taken.
pub(crate) const FIGURES: [VaultFigure; 4] = [
    VaultFigure::DurableEdit,
    VaultFigure::ChangeSetOf60,
    VaultFigure::ReadFile,
    VaultFigure::ReadFileBesideMcp,
];

impl VaultFigure {
    /// Its name in the output.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DurableEdit => "durable_edit",
            Self::ChangeSetOf60 => "change_set_of_60",
            Self::ReadFile => "read_file",
            Self::ReadFileBesideMcp => "read_file_beside_mcp",
        }
    }

    const fn limit(self) -> f64 {
        match self {
            Self::DurableEdit | Self::ChangeSetOf60 => 1.3,
            Self::ReadFile => 3.0,
            Self::ReadFileBesideMcp => 1.0 / 20.0,
        }
    }

    async fn measure(self) -> Result<Ratio, Box<dyn Error>> {
        match self {
            Self::DurableEdit => durable_edit::measure_edits(1, 400).await,
            Self::ChangeSetOf60 => durable_edit::measure_edits(60, 30).await,
            Self::ReadFile => note_reading::against_system_calls(400).await,
            Self::ReadFileBesideMcp => note_reading::against_mcp_server(300).await,
        }
    }

    /// Takes it and prints one line; whether the bar is met.
    pub(crate) async fn print(self) -> bool {
        let (name, bar) = (self.name(), self.limit());
        let ratio = match self.measure().await {
            Ok(ratio) => ratio,
            Err(why) => {
                println!("{name} ratio=none bar={bar} MISSED not measured: {why}");
                return false;
            }
        };
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
}
