//! What the desktop offers to whoever runs on it, over its message buses. A desktop without a
//! service, a service that never answers and no bus at all hold up nothing and are no error.

mod bus;
mod sleep;

pub use bus::Bus;
pub use sleep::Wakings;
