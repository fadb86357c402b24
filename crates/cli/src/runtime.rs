//! The runtime of the commands that stay.

use crate::exit::Exit;
use crate::failure::Failure;

/// Threads for what waits for disks or takes long: more than there are connections to read a database with, and few enough
/// that a rush of questions does not become a rush of threads, each with memory of its own.
const BLOCKING: usize = 6;

/// Runs a command to its end. What it left running ends with it: whoever was worth waiting for was waited for.
pub(crate) fn block_on<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().max_blocking_threads(BLOCKING).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::of(Exit::Environment, "punk_no_runtime", &error))?;
    let ended = runtime.block_on(command);
    runtime.shutdown_background();
    ended
}
