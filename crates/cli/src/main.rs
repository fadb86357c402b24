//! The `punk` binary. Everything is in the library, where tests can reach it.

fn main() -> std::process::ExitCode {
    cli::main()
}
