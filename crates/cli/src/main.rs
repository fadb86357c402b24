//! The `punk` binary. Everything is in the library, where tests can reach it.

/// What is allocated by the thread of one request is freed by the writer's: the system's allocator pays for that with
/// a sixth of the appends per second (`cargo bench -p store`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
