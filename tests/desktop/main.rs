//! desktop
