//! The signals that ask a process to end.

/// Waits for `SIGTERM`, which Kubernetes sends, or for the interrupt of a terminal.
pub(super) async fn end_asked() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let _which = crate::race::first(terminate(), interrupt).await;
}

#[cfg(unix)]
async fn terminate() {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut terminate) = signal(SignalKind::terminate())
        && terminate.recv().await.is_some()
    {
        return;
    }
    std::future::pending::<()>().await;
}

#[cfg(not(unix))]
async fn terminate() {
    std::future::pending::<()>().await;
}
