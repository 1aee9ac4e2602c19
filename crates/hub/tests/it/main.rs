//! The link and the local hub over real sockets on loopback.

mod local_hub;
mod rude_hub;
mod rude_handshake;
mod stage;
mod together;
