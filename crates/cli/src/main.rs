//! The `punk` binary. Everything is in the library, where tests can reach it.

/// What is allocated by the thread of one request is freed by the writer's, which few allocators are made for. Under 64 connections, in
/// turns: jemalloc and mimalloc 3 take the same CPU for a request, glibc a tenth more; after a million requests mimalloc holds 52 MB and
/// goes on growing, glibc 32, jemalloc 25. SQLite's memory comes from it too.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// One arena, memory given back a quarter of a second after it was last used, and little kept by threads for themselves: as fast here as the
/// usual settings, in two thirds of their memory. Where many processors wait for one another, `MALLOC_CONF=narenas:8` says otherwise.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "jemalloc reads its settings under this name; nothing else has it")]
#[unsafe(export_name = "malloc_conf")]
static SETTINGS: &[u8] =
    b"narenas:1,dirty_decay_ms:250,muzzy_decay_ms:0,lg_tcache_max:12,tcache_nslots_small_max:20\0";

fn main() -> std::process::ExitCode {
    cli::main()
}
