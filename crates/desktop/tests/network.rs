//! Getting on a network as the computer's bus tells it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and shares its doubles with the other tests"
)]

#[path = "../../../tests/support/private_bus.rs"]
mod private_bus;
#[path = "../../../tests/support/roamer.rs"]
mod roamer;

use std::time::Duration;

use desktop::{Arrivals, Bus};
use futures_util::FutureExt as _;
use private_bus::PrivateBus;
use roamer::Roamer;

const PATIENCE: Duration = Duration::from_secs(20);

async fn arrived(arrivals: &mut Arrivals) {
    tokio::time::timeout(PATIENCE, arrivals.next()).await.expect("it is told of the network");
}

#[tokio::test]
async fn each_network_is_told_once_and_being_without_one_or_on_the_way_is_none() {
    let bus = PrivateBus::start();
    let computer = Roamer::on(bus.address()).await;
    let mut arrivals = Arrivals::told_on(Bus::at(bus.address())).await;
    for network in [50, 60, 70] {
        for none in [10, 20, 30, 40] {
            computer.changes_to(none).await;
        }
        computer.changes_to(network).await;
        arrived(&mut arrivals).await;
        assert_eq!(arrivals.next().now_or_never(), None, "once");
    }
}

#[tokio::test]
async fn whoever_is_not_the_network_manager_is_not_heard() {
    let bus = PrivateBus::start();
    let mut arrivals = Arrivals::told_on(Bus::at(bus.address())).await;
    let impostor = Roamer::under("org.example.Impostor", bus.address()).await;
    impostor.changes_to(70).await;
    // What the bus hands out is in order: the impostor's word would have come first.
    let computer = Roamer::on(bus.address()).await;
    computer.changes_to(70).await;
    arrived(&mut arrivals).await;
    assert_eq!(arrivals.next().now_or_never(), None, "only one was heard");
}

#[tokio::test]
async fn where_nobody_tells_of_networks_it_waits_in_silence() {
    let bus = PrivateBus::start();
    let mut unmanaged = Arrivals::told_on(Bus::at(bus.address())).await;
    assert_eq!(unmanaged.next().now_or_never(), None);
    let mut nowhere = Arrivals::told_on(Bus::at("unix:path=/nowhere/bus")).await;
    assert_eq!(nowhere.next().now_or_never(), None);
}
