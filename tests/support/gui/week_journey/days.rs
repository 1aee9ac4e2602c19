//! The events of each day.

use std::fs;
use std::time::Duration;

use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::external_writers::ExternalWriters;
use super::fake_clock::FakeClock;
use super::{WeekReport, sixty_notes};
use crate::polling::poll_until;
use crate::{DesktopApp, DesktopHome, Key, ScriptedModel, TempVault, TestHub};

/// Notes that are open in the editor all week.
pub(super) const EDITOR_NOTES: [&str; 2] = ["Desk/Diary.md", "Desk/List.md"];

/// The last of `crates/store/migrations`.
const NEWEST_MIGRATION: i64 = 22;

/// A view that a migration since version 0.1.0 replaces, as it was before.
const FORMER_CALL_PASSAGE: &str = "
CREATE VIEW call_passage AS
SELECT
    m.conversation, m.id AS message, t.turn, t.call,
    iif(t.tool = 'send_message', 'assistant', 'change') AS kind,
    iif(
        t.tool = 'send_message',
        t.arguments ->> '$.message',
        (
            SELECT group_concat(words, char(10)) FROM (
                SELECT r.value ->> '$.path' AS words FROM json_each(t.reactions) r
                UNION
                SELECT r.value ->> '$.to' FROM json_each(t.reactions) r
                UNION ALL
                SELECT a.atom FROM json_tree(t.arguments) a WHERE a.type = 'text'
            )
        )
    ) AS words,
    m.at
FROM tool_call t
    JOIN message m ON m.id = t.message
    JOIN conversation c ON c.id = m.conversation
WHERE c.listed AND t.output IS NOT NULL AND NOT t.is_error AND (
    t.tool = 'send_message'
    OR EXISTS (
        SELECT 1 FROM json_each(t.reactions) r
        WHERE r.value ->> '$.type' IN ('changed', 'moved', 'trashed', 'folder_made')
    )
)";

const LOG: &str = "[data-testid=chat-log]";
const CARD: &str = "[data-testid=interrupted]";
const CHANGE: &str = "[data-testid=review-apply]";

/// Lines that belong to the editor.
pub(super) fn editor_text() -> String {
    (0..10).map(|n| format!("editor {n}: begun\n")).collect()
}

/// The folder, the program and all around it.
pub(super) struct WeekFixture {
    pub(super) vault: TempVault,
    pub(super) hub: TestHub,
    pub(super) home: DesktopHome,
    pub(super) clock: FakeClock,
    pub(super) external_writers: ExternalWriters,
    pub(super) report: WeekReport,
}

impl WeekFixture {
    /// The wish is told; the program is killed while the model still plans.
    pub(super) async fn kill_during_turn(&mut self, model: &ScriptedModel) {
        let app = self.start_app(0).await;
        app.window.wait_for_focus("composer").await;
        app.window.type_text(sixty_notes::USER_MESSAGE).await;
        app.window.press_keys(&[Key::Enter]).await;
        // The plan of the first answer is stored before the model is asked for more.
        model.wait_for_request(2).await;
        app.kill().await;
    }

    /// The cut turn is gone on with, its plan is decided upon, and the program is killed while it
    /// carries that out.
    pub(super) async fn resume_and_kill_during_change(&mut self) {
        let app = self.restart_app(0).await;
        app.window.find_text(CARD, "15 changes to review").await;
        self.report.prompts += 1;
        assert_eq!(
            sixty_notes::count_changed(&self.vault),
            0,
            "nothing is changed before the decision"
        );
        app.window.tab_back_to_text(&format!("{CARD} button"), "Continue").await;
        app.window.press_keys(&[Key::Enter]).await;
        app.window.find_text(LOG, sixty_notes::PLANNED_TEXT).await;
        app.window.wait_until_gone("[data-testid=stop]").await;
        self.report.prompts += 1;
        app.window.press_keys(&[Key::Control, Key::Char('r')]).await;
        app.window.find_text(".review", "60 changes, 3 decisions").await;
        app.save_screenshot("week-review").await;
        self.accept_all_decisions(&app).await;
        app.window.find_text(CHANGE, "Apply 60 changes").await;
        let applied = async {
            app.window.press_keys(&[Key::Control, Key::Enter]).await;
            std::future::pending::<()>().await;
        };
        let begun = async {
            while sixty_notes::count_changed(&self.vault) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = applied => {}
            () = begun => {}
        }
        app.kill().await;
        self.report.cut_at = sixty_notes::count_changed(&self.vault);
    }

    /// Accepts one decision after the other, until none is left. The window goes on to the next one.
    async fn accept_all_decisions(&mut self, app: &DesktopApp) {
        let left =
            "const words = document.querySelector('.review .document .bar .three').innerText;
            const [done, all] = words.match(/\\d+/g).map(Number);
            return all - done";
        let mut before = app.window.execute(left, &json!([])).await.as_u64();
        while before != Some(0) {
            app.window.press_keys(&[Key::Char('a')]).await;
            self.report.decisions += 1;
            assert!(self.report.decisions < 60, "no end of decisions");
            let mut now = before;
            poll_until("the decision to be counted", async || {
                now = app.window.execute(left, &json!([])).await.as_u64();
                match now {
                    Some(left) if before.is_none_or(|before| left < before) => Ok(()),
                    _ => Err(format!("{now:?} are left")),
                }
            })
            .await;
            before = now;
        }
    }

    /// All sixty are changed soon after the start, and nobody is asked about it.
    pub(super) async fn expect_finished_change(&mut self) {
        let app = self.restart_app(0).await;
        poll_until("the sixty to be changed", async || {
            match sixty_notes::count_changed(&self.vault) {
                60 => Ok(()),
                some => Err(format!("{some} are")),
            }
        })
        .await;
        app.window.wait_until_gone("[data-testid=review-open]").await;
        app.window.wait_until_gone(CARD).await;
        app.quit().await;
        // From now on one of the sixty is open in the editor as well.
        let text = self.vault.read(sixty_notes::EDITED_OUTSIDE);
        self.vault.write(sixty_notes::EDITED_OUTSIDE, format!("{text}{}", editor_text()));
        self.external_writers.open_in_editor(sixty_notes::EDITED_OUTSIDE);
    }

    /// Captures come, and the user writes in some of the sixty and renames some.
    pub(super) async fn run_day(&mut self, day: u32, captures: usize, number: usize) {
        let app = self.restart_app(day).await;
        for capture in 0..captures {
            let number = number * captures + capture;
            let message = self.hub.send(&format!("{} {number}", sixty_notes::CAPTURE_PREFIX)).await;
            self.hub.wait_for_notification(&message).await;
        }
        sixty_notes::edit_as_user(&self.vault, number);
        app.save_screenshot(&format!("week-day-{day}")).await;
        app.quit().await;
    }

    /// The program of the next days is a newer one: what is kept is as version 0.1.0 left it.
    pub(super) async fn downgrade_database(&self) {
        const BEFORE: [&str; 12] = [
            "ALTER TABLE effect DROP COLUMN mode",
            "ALTER TABLE effect DROP COLUMN uid",
            "ALTER TABLE effect DROP COLUMN gid",
            "ALTER TABLE effect DROP COLUMN trashed_inode",
            "ALTER TABLE effect DROP COLUMN trashed_born",
            "DROP INDEX effect_of_change_set",
            "CREATE INDEX effect_of_change_set ON effect (change_set)",
            "DROP VIEW call_passage",
            FORMER_CALL_PASSAGE,
            "ALTER TABLE tool_call DROP COLUMN speech",
            "DELETE FROM _sqlx_migrations WHERE version > 19",
            "PRAGMA user_version = 19",
        ];
        assert_eq!(
            self.schema_version().await,
            NEWEST_MIGRATION,
            "BEFORE reverts all migrations up to the newest"
        );
        let mut database = self.open_database().await;
        for statement in BEFORE {
            sqlx::query(statement).execute(&mut database).await.expect(statement);
        }
        database.close().await.expect("closed");
    }

    /// The migration that the database is at.
    pub(super) async fn schema_version(&self) -> i64 {
        let mut database = self.open_database().await;
        let version = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut database).await;
        database.close().await.expect("closed");
        version.expect("a version")
    }

    async fn open_database(&self) -> SqliteConnection {
        let vaults = fs::read_dir(self.home.data_dir().join("vaults")).expect("a folder of vaults");
        let home = vaults.map(|vault| vault.expect("an entry").path()).next().expect("a vault");
        let file = SqliteConnectOptions::new().filename(home.join("vaultmate.db"));
        file.connect().await.expect("a database")
    }

    /// Undoes all of the sixty from the list of changes, and keeps the user's own lines.
    pub(super) async fn undo_all(&mut self, day: u32) {
        let app = self.restart_app(day).await;
        let window = &app.window;
        window.press_keys(&[Key::Control, Key::Shift, Key::Char('h')]).await;
        window.click_text("[data-testid=change-undo]", "60 changes").await;
        window.find_text("[data-testid=undo-notice]", "need").await;
        app.save_screenshot("week-undone").await;
        // The program's clock is days ahead of the clock of the file system, so it takes no new file for a
        // save, and an answer would be about a file that is gone a moment later.
        self.external_writers.set_editor_paused(true);
        confirm_replaced_notes(&app).await;
        self.external_writers.set_editor_paused(false);
        let conflicts = "return document.querySelectorAll('[data-testid=conflict]').length";
        let counted = window.execute(conflicts, &json!([])).await.as_u64().unwrap_or_default();
        self.report.conflicts = usize::try_from(counted).expect("a small number");
        for _ in 0..counted {
            self.report.prompts += 1;
            window.click_text("[data-testid=conflict] button", "Keep current version").await;
        }
        window.wait_until_gone("[data-testid=conflict]").await;
        window.click("[data-testid=open-settings]").await;
        window.click_text("nav button", "Spending").await;
        window.find_text("[data-testid=month-spent]", "$").await;
        let months = "return [...document.querySelectorAll('[data-testid=month-spent]')]
            .map((month) => month.innerText.split(' ')[0]).join('+')";
        let cost = window.execute(months, &json!([])).await;
        self.report.cost = cost.as_str().unwrap_or_default().to_owned();
        app.save_screenshot("week-cost").await;
        app.quit().await;
        assert_eq!(self.schema_version().await, NEWEST_MIGRATION, "the update is carried out");
    }

    async fn restart_app(&mut self, day: u32) -> DesktopApp {
        self.report.restarts += 1;
        self.start_app(day).await
    }

    /// Starts the program on that day; resolves when it is there and the hub knows it.
    async fn start_app(&mut self, day: u32) -> DesktopApp {
        self.home.set_env_vars(self.clock.env_days_ahead(day));
        let app = self.home.start().await;
        app.wait_until_opened().await;
        self.hub.wait_for_registrations(self.report.restarts + 1).await;
        app
    }
}

/// Others replaced the files of some notes while nobody watched: the user says that these are the notes.
async fn confirm_replaced_notes(app: &DesktopApp) {
    let window = &app.window;
    let asks = "return [...document.querySelectorAll('[data-testid=conflict]')]
        .filter((card) => card.querySelector('.candidates')).length";
    let left = async || window.execute(asks, &json!([])).await.as_u64().unwrap_or_default();
    for _ in 0..120 {
        let before = left().await;
        if before == 0 {
            return;
        }
        window.click("[data-testid=conflict] .candidates .btn:not(.plain)").await;
        // Where the editor saves the note in that very moment the question comes again.
        for _ in 0..30 {
            if left().await < before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    panic!("{} questions stay, whatever is answered", left().await);
}
