//! Getting on a network as the computer's bus tells it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and shares its doubles with the other tests"
)]

#[path = "../../../tests/support/dbus/network_manager.rs"]
mod network_manager;
#[path = "../../../tests/support/dbus/private_bus.rs"]
mod private_bus;

use std::time::Duration;

use desktop::{Bus, NetworkEvents};
use futures_util::FutureExt as _;
use network_manager::FakeNetworkManager;
use private_bus::PrivateBus;

const TEST_TIMEOUT: Duration = Duration::from_secs(20);

async fn arrived(arrivals: &mut NetworkEvents) {
    tokio::time::timeout(TEST_TIMEOUT, arrivals.next()).await.expect("it is told of the network");
}

#[tokio::test]
async fn each_network_is_told_once_and_being_without_one_or_on_the_way_is_none() {
    let bus = PrivateBus::start();
    let computer = FakeNetworkManager::start(bus.address()).await;
    let mut arrivals = NetworkEvents::subscribe(Bus::at(bus.address())).await;
    for network in [50, 60, 70] {
        for none in [10, 20, 30, 40] {
            computer.set_state(none).await;
        }
        computer.set_state(network).await;
        arrived(&mut arrivals).await;
        assert_eq!(arrivals.next().now_or_never(), None, "once");
    }
}

#[tokio::test]
async fn signals_of_other_programs_are_ignored() {
    let bus = PrivateBus::start();
    let mut arrivals = NetworkEvents::subscribe(Bus::at(bus.address())).await;
    let impostor = FakeNetworkManager::start_with_name("org.example.Impostor", bus.address()).await;
    impostor.set_state(70).await;
    // The bus keeps the order: the impostor's signal would have come first.
    let computer = FakeNetworkManager::start(bus.address()).await;
    computer.set_state(70).await;
    arrived(&mut arrivals).await;
    assert_eq!(arrivals.next().now_or_never(), None, "only one was heard");
}

#[tokio::test]
async fn where_nobody_tells_of_networks_it_waits_in_silence() {
    let bus = PrivateBus::start();
    let mut unmanaged = NetworkEvents::subscribe(Bus::at(bus.address())).await;
    assert_eq!(unmanaged.next().now_or_never(), None);
    let mut missing = NetworkEvents::subscribe(Bus::at("unix:path=/nowhere/bus")).await;
    assert_eq!(missing.next().now_or_never(), None);
}
