//! Standard output as a writer whose reader may go away (`aduana dump ... | head`): that ends the command,
//! but is no error. `println!` would panic instead.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Write};

/// Bytes gathered before they are written, under the lock of standard output.
const BUFFER_BYTES: usize = 64 << 10;

/// Buffered standard output, which another thread may have, too; flush it at the end, for errors that come only then.
pub struct Stdout(BufWriter<io::Stdout>);

impl Stdout {
    pub fn lock() -> Stdout {
        Stdout(BufWriter::with_capacity(BUFFER_BYTES, io::stdout()))
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(mark)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(mark)
    }
}

/// Tells a closed standard output from a closed connection, which has the same kind.
#[derive(Debug)]
struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output is closed")
    }
}

impl std::error::Error for Closed {}

/// A full disk at the other end is told apart from the files that a command writes itself.
fn mark(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::BrokenPipe => io::Error::new(ErrorKind::BrokenPipe, Closed),
        kind => io::Error::new(kind, format!("cannot write to standard output: {error}")),
    }
}

/// Whether the error is that nobody reads standard output any more.
pub fn is_closed(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|error| error.downcast_ref::<io::Error>());
    causes.any(|error| error.get_ref().is_some_and(|inner| inner.is::<Closed>()))
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn only_a_closed_standard_output_is_no_error() {
        let broken = || io::Error::from(ErrorKind::BrokenPipe);
        assert!(is_closed(&Err::<(), _>(mark(broken())).context("writing").unwrap_err()));
        assert!(!is_closed(&broken().into()));
    }
}
