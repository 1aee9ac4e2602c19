//! What happens on each day.

use std::fs;
use std::time::Duration;

use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::clock::Clock;
use super::outsiders::Outsiders;
use super::{Week, sixty};
use crate::wait::until;
use crate::{DesktopApp, DesktopHome, Key, ScriptedModel, TempVault, TestHub};

/// Notes that are open in the editor all week.
pub(super) const PANES: [&str; 2] = ["Desk/Diary.md", "Desk/List.md"];

/// The last of `crates/store/migrations`.
const NEWEST: i64 = 17;

const LOG: &str = "[data-testid=chat-log]";
const CARD: &str = "[data-testid=interrupted]";
const CHANGE: &str = "[data-testid=review-apply]";

/// Lines that belong to the editor.
pub(super) fn pane_lines() -> String {
    (0..10).map(|n| format!("editor {n}: begun\n")).collect()
}

/// The folder, the program and all around it.
pub(super) struct Life {
    pub(super) vault: TempVault,
    pub(super) hub: TestHub,
    pub(super) home: DesktopHome,
    pub(super) clock: Clock,
    pub(super) outsiders: Outsiders,
    pub(super) week: Week,
}

impl Life {
    /// The wish is told; the program is killed while the model still plans.
    pub(super) async fn is_cut_in_the_turn(&mut self, model: &ScriptedModel) {
        let app = self.starts(0).await;
        app.window.wait_for_focus("composer").await;
        app.window.type_text(sixty::WISH).await;
        app.window.press(&[Key::Enter]).await;
        // What the first answer planned is stored before the model is asked for more.
        model.request(2).await;
        app.kill_dash_9().await;
    }

    /// The cut turn is gone on with, its plan is decided upon, and the program is killed while it
    /// carries that out.
    pub(super) async fn goes_on_and_is_cut_in_the_change(&mut self) {
        let app = self.starts_again(0).await;
        app.window.find_text(CARD, "15 changes waiting").await;
        self.week.prompts += 1;
        assert_eq!(sixty::changed(&self.vault), 0, "nothing is changed before the verdict");
        app.window.tab_back_to_text(&format!("{CARD} button"), "Continue").await;
        app.window.press(&[Key::Enter]).await;
        app.window.find_text(LOG, sixty::PLANNED).await;
        app.window.wait_until_gone("[data-testid=stop]").await;
        self.week.prompts += 1;
        app.window.press(&[Key::Control, Key::Char('r')]).await;
        app.window.find_text(".review", "60 changes, 3 decisions").await;
        app.picture("week-review").await;
        self.decides(&app).await;
        app.window.find_text(CHANGE, "Make 60 changes").await;
        let applied = async {
            app.window.press(&[Key::Control, Key::Enter]).await;
            std::future::pending::<()>().await;
        };
        let begun = async {
            while sixty::changed(&self.vault) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = applied => {}
            () = begun => {}
        }
        app.kill_dash_9().await;
        self.week.cut_at = sixty::changed(&self.vault);
    }

    /// Accepts one decision after the other, until none is left. The window goes on to the next one.
    async fn decides(&mut self, app: &DesktopApp) {
        let left =
            "const words = document.querySelector('.review .document .bar .three').innerText;
            const [done, all] = words.match(/\\d+/g).map(Number);
            return all - done";
        let mut before = app.window.execute(left, &json!([])).await.as_u64();
        while before != Some(0) {
            app.window.press(&[Key::Char('a')]).await;
            self.week.decisions += 1;
            assert!(self.week.decisions < 60, "no end of decisions");
            let mut now = before;
            until("the decision to be counted", async || {
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
    pub(super) async fn finds_it_finished(&mut self) {
        let app = self.starts_again(0).await;
        until("the sixty to be changed", async || match sixty::changed(&self.vault) {
            60 => Ok(()),
            some => Err(format!("{some} are")),
        })
        .await;
        app.window.wait_until_gone("[data-testid=review-open]").await;
        app.window.wait_until_gone(CARD).await;
        app.quit().await;
        // From now on one of the sixty is open in the editor as well.
        let text = self.vault.read(sixty::EDITED_OUTSIDE);
        self.vault.write(sixty::EDITED_OUTSIDE, format!("{text}{}", pane_lines()));
        self.outsiders.opens(sixty::EDITED_OUTSIDE);
    }

    /// Captures come, and the user writes in some of the sixty and renames some.
    pub(super) async fn lives_a_day(&mut self, day: u32, captures: usize, number: usize) {
        let app = self.starts_again(day).await;
        for capture in 0..captures {
            let number = number * captures + capture;
            let message = self.hub.send(&format!("{} {number}", sixty::REMEMBER)).await;
            self.hub.notification(&message).await;
        }
        sixty::users_day(&self.vault, number);
        app.picture(&format!("week-day-{day}")).await;
        app.quit().await;
    }

    /// The program of the next days is a newer one: what is kept is as the one before left it.
    pub(super) async fn is_updated(&self) {
        const BEFORE: [&str; 6] = [
            "DROP TABLE succession",
            "ALTER TABLE effect DROP COLUMN base_born",
            "ALTER TABLE effect DROP COLUMN base_inode",
            "ALTER TABLE effect DROP COLUMN born",
            "DELETE FROM _sqlx_migrations WHERE version = 17",
            "PRAGMA user_version = 16",
        ];
        assert_eq!(self.version().await, NEWEST, "BEFORE takes back the newest migration");
        let mut database = self.database().await;
        for statement in BEFORE {
            sqlx::query(statement).execute(&mut database).await.expect(statement);
        }
        database.close().await.expect("closed");
    }

    /// The migration that the database is at.
    pub(super) async fn version(&self) -> i64 {
        let mut database = self.database().await;
        let version = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut database).await;
        database.close().await.expect("closed");
        version.expect("a version")
    }

    async fn database(&self) -> SqliteConnection {
        let vaults = fs::read_dir(self.home.data_dir().join("vaults")).expect("a folder of vaults");
        let home = vaults.map(|vault| vault.expect("an entry").path()).next().expect("a vault");
        let file = SqliteConnectOptions::new().filename(home.join("vaultmate.db"));
        file.connect().await.expect("a database")
    }

    /// All of the sixty is taken back from the list of changes, where the user keeps what is theirs.
    pub(super) async fn takes_all_back(&mut self, day: u32) {
        let app = self.starts_again(day).await;
        let window = &app.window;
        window.press(&[Key::Control, Key::Shift, Key::Char('h')]).await;
        window.click_text("[data-testid=change-undo]", "60 changes").await;
        window.find_text("[data-testid=undo-notice]", "need").await;
        app.picture("week-undone").await;
        says_which_notes_these_are(&app).await;
        let conflicts = "return document.querySelectorAll('[data-testid=conflict]').length";
        let counted = window.execute(conflicts, &json!([])).await.as_u64().unwrap_or_default();
        self.week.conflicts = usize::try_from(counted).expect("a small number");
        for _ in 0..counted {
            self.week.prompts += 1;
            window.click_text("[data-testid=conflict] button", "Keep mine").await;
        }
        window.wait_until_gone("[data-testid=conflict]").await;
        window.click("[data-testid=open-settings]").await;
        window.click_text("nav button", "Spending").await;
        window.find_text("[data-testid=month-spent]", "$").await;
        let months = "return [...document.querySelectorAll('[data-testid=month-spent]')]
            .map((month) => month.innerText.split(' ')[0]).join('+')";
        let cost = window.execute(months, &json!([])).await;
        self.week.cost = cost.as_str().unwrap_or_default().to_owned();
        app.picture("week-cost").await;
        app.quit().await;
        assert_eq!(self.version().await, NEWEST, "the update is carried out");
    }

    async fn starts_again(&mut self, day: u32) -> DesktopApp {
        self.week.restarts += 1;
        self.starts(day).await
    }

    /// Starts the program on that day; resolves when it is there and the hub knows it.
    async fn starts(&mut self, day: u32) -> DesktopApp {
        self.home.set_all(self.clock.ahead(day));
        let app = self.home.start().await;
        app.opened().await;
        self.hub.registered_times(self.week.restarts + 1).await;
        app
    }
}

/// Others replaced the files of some notes while nobody watched: the user says that these are the notes.
async fn says_which_notes_these_are(app: &DesktopApp) {
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
