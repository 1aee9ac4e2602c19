//! The link over real sockets on loopback.

#[cfg(test)]
mod bad_handshakes;
#[cfg(test)]
mod fixtures;
#[cfg(all(test, target_os = "linux"))]
mod message_memory;
#[cfg(test)]
mod misbehaving_hub;
#[cfg(test)]
mod over_tls;
#[cfg(test)]
mod oversized_messages;
