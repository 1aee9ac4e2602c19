//! The local hub over real sockets on loopback, alone and with the link.

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod link_and_local_hub;
#[cfg(test)]
mod local_hub;
