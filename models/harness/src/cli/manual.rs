//! `completions` and `man`: made from the definition of the command line, so they cannot differ.

use clap_mangen::Man;

use super::args::{CompletionsArguments, ManArguments};
use super::output::print;
use super::{Failure, Outcome, definition};
use crate::catalogue::Catalogue;
use crate::report::write_atomically;

pub(super) fn completions(catalogue: &Catalogue, arguments: &CompletionsArguments) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut definition(catalogue),
        catalogue.program,
        &mut text,
    );
    print(&String::from_utf8_lossy(&text))?;
    Ok(0)
}

pub(super) fn man(catalogue: &Catalogue, arguments: &ManArguments) -> Outcome {
    let mut command = definition(catalogue);
    command.build();
    let Some(folder) = &arguments.folder else {
        print(&page(command)?)?;
        return Ok(0);
    };
    let unwritable = |error: &std::io::Error| {
        let folder = folder.display();
        Failure::usage(format!(
            "cannot write pages into {folder}: {error}: name a folder that can be made or written"
        ))
    };
    std::fs::create_dir_all(folder).map_err(|error| unwritable(&error))?;
    let mut pages = vec![(format!("{}.1", catalogue.program), page(command.clone())?)];
    for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
        let name = format!("{}-{}", catalogue.program, one.get_name());
        pages.push((format!("{name}.1"), page(one.clone().display_name(name))?));
    }
    for (name, text) in pages {
        let written = write_atomically(&folder.join(name), &text);
        written.map_err(|error| unwritable(error.cause()))?;
    }
    Ok(0)
}

fn page(command: clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    let rendered = Man::new(command).render(&mut text);
    rendered.map_err(|error| Failure::usage(format!("cannot render a page: {error}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
