//! Ctrl-C and SIGTERM: the first ends the server in good order, the second at once.

use std::io;

use tokio::sync::oneshot;
use tracing::{info, warn};

/// Resolves at the first signal. The signals are listened to from the call on, not from the first poll.
///
/// # Errors
/// The operating system's, if it does not let the process listen.
pub fn shutdown() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut signals = Signals::new()?;
    let (first, shutdown) = oneshot::channel();
    tokio::spawn(async move {
        let name = signals.next().await;
        info!("{name}: finishing what is in flight (once more to stop at once)");
        // Nobody waits any more if the server failed meanwhile; then the process ends by itself.
        let _ = first.send(());
        let name = signals.next().await;
        warn!("{name} again: stopping at once; the log holds what was acknowledged");
        // 128 and the number of SIGINT, as a shell would tell it.
        std::process::exit(130);
    });
    Ok(async {
        // The sender lives as long as the task, and the task as long as the runtime.
        let _ = shutdown.await;
    })
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "Ctrl-C",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "Ctrl-C"
    }
}
