//! `jackfield` as the suite starts it: the same command line, with failpoints compiled in.

fn main() -> std::process::ExitCode {
    jackfield::cli::main()
}
