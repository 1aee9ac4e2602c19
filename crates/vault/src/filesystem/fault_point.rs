//! One durable step between two places where a crash test may end the process.

/// Runs `$act` between the fault points `vault.$name.before` and `vault.$name.after`.
macro_rules! with_fault_points {
    ($name:literal, $act:expr) => {{
        protocol::fault_injection::point(concat!("vault.", $name, ".before"));
        let done = $act;
        protocol::fault_injection::point(concat!("vault.", $name, ".after"));
        done
    }};
}

pub(crate) use with_fault_points;
