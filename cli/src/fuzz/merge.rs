//! `zoolab fuzz merge`: the results of shards, taken together in any order to the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::report;
use super::results::{NotRead, Results, Why, put};
use super::shard::Shard;
use crate::Outcome;
use crate::say::say;

/// Take the results of shards together
///
/// Reads what `zoolab fuzz --shard I/N --out DIR` has kept, and writes one report: the same bytes
/// in whatever order, and the same as if all had been run in one piece. Ends with 1 if a promise
/// was broken.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  zoolab fuzz merge part-* --out all")]
pub(super) struct Args {
    /// Folders with results
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
    /// Where the report goes
    #[arg(long, value_name = "DIR", default_value = "merged")]
    out: PathBuf,
    /// Even if shards are missing
    #[arg(long)]
    partial: bool,
}

/// Merges, writes the report, and prints it.
pub(super) fn run(args: &Args) -> Outcome {
    let mut parts: BTreeMap<Shard, (PathBuf, Results)> = BTreeMap::new();
    for dir in &args.dirs {
        for (file, results) in read(dir)? {
            let shard = results.shard;
            if let Some((_, (other, first))) = parts.first_key_value() {
                let (path, there) = (file.display(), other.display());
                if let Some(what) = results.campaign.differs(&first.campaign) {
                    return Err(format!("{path}: {what}, as in {there}"));
                }
                if first.shard.of != shard.of {
                    let (expected, found) = (first.shard.of, shard.of);
                    return Err(format!(
                        "{path}: expected one of {expected} parts, as in {there}, found {found}"
                    ));
                }
            }
            if let Some((other, there)) = parts.get(&shard)
                && *there != results
            {
                let (path, other) = (file.display(), other.display());
                return Err(format!("{path}: shard {shard} is another in {other}"));
            }
            parts.insert(shard, (file, results));
        }
    }
    let of = parts.keys().next().map_or(0, |shard| shard.of);
    let missing: Vec<String> = (1..=of)
        .filter(|part| !parts.contains_key(&Shard { part: *part, of }))
        .map(|part| part.to_string())
        .collect();
    if !missing.is_empty() && !args.partial {
        let missing = missing.join(", ");
        return Err(format!("of {of} parts these are missing: {missing}; --partial goes without"));
    }
    let merged = merge(&parts);
    keep_traces(&merged, &parts, &args.out)?;
    report::write(&args.out, &merged)?;
    say!("{}", report::text(&merged).trim_end());
    let failed = !merged.groups.is_empty();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// All results in a folder.
fn read(dir: &Path) -> Result<Vec<(PathBuf, Results)>, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", dir.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let is = |name: &String| name.starts_with("results-") && name.ends_with(".json");
        files.extend(name.filter(is).map(|_| path));
    }
    if files.is_empty() {
        return Err(format!(
            "{}: expected results of zoolab fuzz --out, found none",
            dir.display()
        ));
    }
    files.sort();
    let read = |path: PathBuf| match Results::read(&path) {
        Ok(results) => Ok((path, results)),
        Err(NotRead::Wrong(what)) => Err(what),
        Err(NotRead::Missing) => Err(format!("{}: it is gone", path.display())),
    };
    files.into_iter().map(read).collect()
}

fn merge(parts: &BTreeMap<Shard, (PathBuf, Results)>) -> Results {
    let mut all = parts.values().map(|(_, results)| results.clone());
    let mut merged = all.next().expect("there is at least one");
    let mut whys = vec![merged.why];
    for other in all {
        whys.push(other.why);
        merged.merge(other);
    }
    let why = whys.into_iter().find(|why| *why != Why::Everything);
    merged.why = why.unwrap_or(Why::Everything);
    merged
}

/// Copies the traces of which the report speaks.
fn keep_traces(
    merged: &Results,
    parts: &BTreeMap<Shard, (PathBuf, Results)>,
    out: &Path,
) -> Result<(), String> {
    for traces in merged.groups.iter().filter_map(|group| group.traces.as_ref()) {
        let has = |results: &Results| {
            results.groups.iter().any(|group| group.traces.as_ref() == Some(traces))
        };
        let Some((file, _)) = parts.values().find(|(_, results)| has(results)) else { continue };
        let from = file.with_file_name("traces");
        let short = traces.short.as_ref().map(|(short, _)| short);
        for name in [&traces.long].into_iter().chain(short) {
            let from = from.join(name);
            let bytes = fs::read(&from).map_err(|error| format!("{}: {error}", from.display()))?;
            put(&out.join("traces").join(name), &bytes)?;
        }
    }
    Ok(())
}
