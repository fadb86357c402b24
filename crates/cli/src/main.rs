//! The `punk` binary. Everything is in the library, where tests can reach it.

/// What is allocated by the thread of one request is freed by the writer's: the system's allocator pays for that with
/// a sixth of the appends per second (`cargo bench -p store`). Under load from 64 connections jemalloc costs as much and
/// holds as much; huge pages are off, because with them a third more memory is held for nothing.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
