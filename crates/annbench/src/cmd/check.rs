use crate::args::CheckArgs;
use crate::campaign::Loaded;
use crate::judged::{JudgedBuild, Unusable, grouped};
use crate::places::Places;
use crate::subject::Planned;
use crate::undeclared::{UndeclaredParam, screens, undeclared};
use crate::work::{Adapters, Refusals, Work};
use crate::{Answer, json};
use annbench_config::Undeclared;
use annbench_results::DatasetInfo;
use annbench_runner::SubjectFacts;
use serde::Serialize;
use std::fmt::Write;

/// `annbench check FILE`
pub fn check(places: &Places, args: &CheckArgs) -> anyhow::Result<Answer> {
    let loaded = Loaded::read(&args.selection.file)?;
    let names = loaded.datasets(&args.selection)?;
    let adapters = Adapters::find(&loaded, &args.selection)?;
    let undeclared = undeclared(&loaded, &args.selection, &adapters)?;
    let machine = annbench_results::collect_machine();
    let mut checked = Vec::with_capacity(names.len());
    for name in &names {
        let facts = Planned::from_entry(places, name, loaded.largest_k())?;
        let work = Work::plan(&loaded, &args.selection, &facts, &adapters, &machine)?;
        let refusals = work.judge(|_| true)?;
        checked.push(Checked {
            facts,
            work,
            refusals,
        });
    }
    let refused: usize = checked.iter().map(|set| set.refusals.len()).sum();
    let points: usize = checked.iter().map(|set| set.work.point_ids().count()).sum();
    let unjudged = checked.iter().flat_map(|set| set.work.left_out.values());
    let unjudged: usize = unjudged.map(|(_, points)| points).sum();
    let document = Document {
        file: loaded.campaign.file(),
        accepted: points - refused,
        rejected: refused,
        not_judged: unjudged,
        datasets: checked.iter().map(Checked::document).collect(),
        undeclared_parameters: UndeclaredParam::all(&undeclared),
        unusable_adapters: Unusable::all(&adapters.unusable),
    };
    let text = if args.form.json {
        json::document(&document)?
    } else {
        text(&document, &checked, &undeclared, &adapters)
    };
    Ok(Answer {
        text,
        good: refused == 0 && adapters.unusable.is_empty(),
    })
}

/// A dataset with the verdicts on its points.
struct Checked {
    facts: SubjectFacts,
    work: Work,
    refusals: Refusals,
}

#[derive(Serialize)]
struct Document<'c> {
    file: &'c str,
    accepted: usize,
    rejected: usize,
    not_judged: usize,
    datasets: Vec<CheckedDataset<'c>>,
    /// Names that no adapter declares; the points with them are most likely among the rejected.
    undeclared_parameters: Vec<UndeclaredParam<'c>>,
    unusable_adapters: Vec<Unusable<'c>>,
}

#[derive(Serialize)]
struct CheckedDataset<'c> {
    name: &'c str,
    builds: Vec<JudgedBuild>,
}

impl Checked {
    fn document(&self) -> CheckedDataset<'_> {
        let builds = self.work.jobs.iter().map(|(job, _)| {
            let points = job.points.iter().map(|point| {
                let reason = self.refusals.get(&point.point_id).map(String::as_str);
                let status = if reason.is_some() {
                    "rejected"
                } else {
                    "accepted"
                };
                (point, status, reason)
            });
            JudgedBuild::new(job, points, false)
        });
        CheckedDataset {
            name: &self.facts.info.name,
            builds: builds.collect(),
        }
    }

    /// What is refused, by build.
    fn write(&self, text: &mut String) {
        let DatasetInfo {
            name,
            n,
            dim,
            element,
            metric,
            ..
        } = &self.facts.info;
        let _ = writeln!(
            text,
            "{name}, by its entry {n} x {dim} {element} {metric}: {} points accepted, {} refused",
            self.work.point_ids().count() - self.refusals.len(),
            self.refusals.len()
        );
        for (job, _) in &self.work.jobs {
            let refusals = job.points.iter();
            let refusals = refusals.filter_map(|point| self.refusals.get(&point.point_id));
            let reasons = grouped(refusals.map(String::as_str));
            if !reasons.is_empty() {
                let _ = writeln!(text, "  {}", job.label());
            }
            for (reason, times) in reasons {
                let _ = writeln!(text, "    {times} refused: {reason}");
            }
        }
        for (adapter, (builds, points)) in &self.work.left_out {
            let _ = writeln!(
                text,
                "  {adapter}: {builds} builds with {points} points are not judged, for it cannot be \
                 asked"
            );
        }
    }
}

fn text(
    document: &Document<'_>,
    checked: &[Checked],
    undeclared: &[Undeclared],
    adapters: &Adapters,
) -> String {
    let mut text = String::new();
    for set in checked {
        set.write(&mut text);
    }
    if !undeclared.is_empty() {
        text.push_str(&screens(undeclared));
        text.push('\n');
    }
    for (name, why) in &adapters.unusable {
        let _ = writeln!(text, "{name}: {why:#}");
    }
    let _ = writeln!(
        text,
        "{}: {} points accepted, {} refused{}",
        document.file,
        document.accepted,
        document.rejected,
        match document.not_judged {
            0 => String::new(),
            n => format!(", {n} not judged"),
        }
    );
    text
}
