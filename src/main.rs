use std::process::ExitCode;

fn main() -> ExitCode {
    aduana::cli::main()
}
