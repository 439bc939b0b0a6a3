//! `annbench datasets fetch`: what is missing of a dataset, from where it is published to where it
//! belongs.

mod answer;
mod bar;
mod plan;
mod slice;
mod vectordbbench;
mod work;

use crate::args::FetchArgs;
use crate::places::Places;
use crate::subject::catalogue;
use crate::{Answer, interrupt, json};
use annbench_dataset::DatasetError;
use answer::{Fetched, text};
pub(crate) use plan::is_enough;
use plan::{Mirrors, Set};
use work::Worker;

/// `annbench datasets fetch ...`
pub fn fetch(places: &Places, args: &FetchArgs) -> anyhow::Result<Answer> {
    let catalogue = catalogue(places);
    let mirrors = Mirrors::new(&args.from);
    // Every name is looked up before anything is downloaded for one.
    let mut sets = Vec::new();
    for name in &args.names {
        sets.push(match catalogue.entry(name) {
            Ok(entry) => Set::of_entry(&entry, &mirrors),
            Err(unknown @ DatasetError::Unknown { .. }) => {
                vectordbbench::set(name, &places.datasets, &mirrors).ok_or(unknown)?
            }
            Err(error) => return Err(error.into()),
        });
    }
    let mut fetched = Vec::new();
    if args.dry_run {
        fetched.extend(sets.iter().map(Fetched::planned));
    } else {
        interrupt::listen_keeping("what came is kept, and the same command goes on with it")?;
        let worker = Worker {
            keep_archives: args.keep_archive,
            interrupted: interrupt::flag(),
        };
        for set in &sets {
            fetched.push(worker.fetch(set)?);
        }
    }
    Ok(Answer {
        text: match args.form.json {
            true => json::document(&answer::Document {
                dry_run: args.dry_run,
                datasets: &fetched,
            })?,
            false => text(&fetched),
        },
        good: fetched.iter().all(Fetched::is_good),
    })
}
