//! One durable step between two places where a crash test may end the process.

/// Runs `$act` between the fault points `vault.$name.before` and `vault.$name.after`.
macro_rules! step {
    ($name:literal, $act:expr) => {{
        protocol::fault::point(concat!("vault.", $name, ".before"));
        let done = $act;
        protocol::fault::point(concat!("vault.", $name, ".after"));
        done
    }};
}

pub(crate) use step;
