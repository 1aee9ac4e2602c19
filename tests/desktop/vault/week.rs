//! A week with the window, in short.

use testkit::gui::week_journey::{WeekExtent, run_week};

use crate::lock_display;

#[tokio::test(flavor = "multi_thread")]
async fn a_week_of_changes_kills_captures_and_an_update_is_undone_to_the_byte() {
    let _turn = lock_display().await;
    let extent = WeekExtent::short();
    let week = run_week(&extent).await;
    println!("{week}");
    assert!(week.holds(&extent), "{week}");
}
