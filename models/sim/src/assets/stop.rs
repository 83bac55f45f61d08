//! The signals that end a program.

use std::io;

use tokio::runtime::{Builder, Runtime};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for SIGTERM or SIGINT; one that came since this was made counts.
pub(super) struct Stop {
    runtime: Runtime,
    #[cfg(unix)]
    signals: [Signal; 2],
}

impl Stop {
    pub(super) fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        #[cfg(unix)]
        let signals = {
            let _inside = runtime.enter();
            [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?]
        };
        Ok(Self {
            runtime,
            #[cfg(unix)]
            signals,
        })
    }

    #[cfg(unix)]
    pub(super) fn wait(mut self) -> io::Result<()> {
        use std::task::Poll;
        self.runtime.block_on(std::future::poll_fn(|cx| {
            let has_come = self.signals.iter_mut().any(|it| it.poll_recv(cx).is_ready());
            if has_come { Poll::Ready(()) } else { Poll::Pending }
        }));
        Ok(())
    }

    #[cfg(not(unix))]
    pub(super) fn wait(self) -> io::Result<()> {
        self.runtime.block_on(tokio::signal::ctrl_c())
    }
}
