//! As many open files as the system lets this process have. Every caller and every upstream is one, and the usual 1,024 that a
//! process begins with are for programs that wait for files in a way that a server does not.

/// Raises the limit as far as it goes; what cannot be had is told when it is missed.
#[cfg(unix)]
pub(crate) fn allow_many() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // It still serves as many as it may.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(not(unix))]
pub(crate) fn allow_many() {}
