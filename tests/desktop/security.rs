//! The page is confined: no navigation, no drops, nothing that the content security policy forbids.

pub(crate) mod content_security_policy;
pub(crate) mod drag_and_drop;
pub(crate) mod navigation;
