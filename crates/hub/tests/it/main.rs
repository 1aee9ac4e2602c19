//! The link and the local hub over real sockets on loopback.

#[cfg(test)]
mod local_hub;
#[cfg(test)]
mod over_tls;
#[cfg(test)]
mod rude_handshake;
#[cfg(test)]
mod rude_hub;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod together;
