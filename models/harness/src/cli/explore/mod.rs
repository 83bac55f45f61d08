//! `explore`: a page on which to step through an execution, choose another thread and see where that leads.
//!
//! The page asks this process for executions; nothing comes from a network.

#[cfg(feature = "shuttle")]
mod answers;
#[cfg(feature = "shuttle")]
mod http;
#[cfg(feature = "shuttle")]
mod subject;
#[cfg(all(test, feature = "shuttle"))]
mod tests;

#[cfg(feature = "shuttle")]
use std::path::Path;

use super::args::ExploreArguments;
use super::{Failure, Outcome};
use crate::catalogue::Catalogue;
#[cfg(feature = "shuttle")]
pub(crate) use subject::Explorable;

#[cfg(not(feature = "shuttle"))]
pub(super) fn explore(_: &Catalogue, _: &ExploreArguments) -> Outcome {
    Err(Failure::usage(crate::engine::Engine::Sample.missing().unwrap_or_default()))
}

#[cfg(feature = "shuttle")]
pub(super) fn explore(catalogue: &Catalogue, arguments: &ExploreArguments) -> Outcome {
    let explored = subject::find(catalogue, &arguments.what)?;
    serve(explored, arguments.port, &arguments.folder)
}

/// Serves the page until the process ends, and saves witnesses into a folder.
#[cfg(feature = "shuttle")]
pub(crate) fn serve(explored: Explorable, port: u16, folder: &Path) -> Outcome {
    let page = answers::Page::new(explored, folder)?;
    let server = http::Server::bind(port)
        .map_err(|error| Failure::usage(format!("cannot listen on port {port}: {error}")))?;
    super::output::print(&format!("http://{}/\n", server.address()))?;
    eprintln!("open this address in a browser; Ctrl-C ends it");
    server.serve(std::sync::Arc::new(move |request| page.answer(request)));
    Ok(0)
}
