//! A week with the window, in short.

use testkit::week::{Extent, live};

use super::one_at_a_time;

#[tokio::test(flavor = "multi_thread")]
async fn a_week_of_changes_kills_captures_and_an_update_is_taken_back_to_the_byte() {
    let _turn = one_at_a_time().await;
    let extent = Extent::short();
    let week = live(&extent).await;
    println!("{week}");
    assert!(week.holds(&extent), "{week}");
}
