//! Operation logs of Jepsen, as EDN or JSON: registers and sets, one or many.
//!
//! ```text
//!   {:type :invoke, :f :write, :value 3, :process 0}
//!   {:type :ok,     :f :write, :value 3, :process 0}
//! ```
//!
//! The order of the lines is the order of the moments. What is answered with `:info` may have
//! taken effect; what is answered with `:fail` has not. A value `[key value]` is about one of
//! many, each of which is looked at by itself.

#![expect(clippy::wildcard_enum_match_arm, reason = "of all values only a few can be meant")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::HistoryError;
use super::check::{Finding, Promise, Report, Rung, Verdict};
use super::edn::{Edn, EdnError, Parser};
use super::search::{self, Act, Found, Step};
use super::store::NEVER;

/// How much is tried for one register.
const BUDGET: u64 = 20_000_000;

/// An operation, with the lines of its call and its answer.
#[derive(Clone, Debug)]
struct Call {
    from: u64,
    to: u64,
    f: F,
    value: Edn,
    process: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum F {
    Add,
    Cas,
    Read,
    Write,
}

/// A log of operations.
#[derive(Clone, Debug, Default)]
pub struct Jepsen {
    keys: BTreeMap<String, Vec<Call>>,
}

impl Jepsen {
    /// Whether a file looks like such a log.
    #[must_use]
    pub fn is(path: &Path) -> bool {
        let mut start = Vec::new();
        let read = std::fs::File::open(path).and_then(|file| {
            std::io::Read::read_to_end(&mut std::io::Read::take(file, 4096), &mut start)
        });
        let start = String::from_utf8_lossy(&start);
        let first = start.lines().next().unwrap_or("");
        let typed = start.contains(":type") || start.contains("\"type\"");
        read.is_ok() && typed && !first.contains("zoolab-history")
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is no such log.
    pub fn read(path: &Path) -> Result<Self, HistoryError> {
        let file = path.display().to_string();
        let whole =
            |what: String| HistoryError { file: file.clone(), line: None, column: None, what };
        let bytes = std::fs::read(path).map_err(|error| whole(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| whole("expected text".into()))?;
        Self::parse(&file, &text)
    }

    /// Reads a text that has come from `file`.
    ///
    /// # Errors
    /// If it is no such log.
    pub fn parse(file: &str, text: &str) -> Result<Self, HistoryError> {
        let wrong = |EdnError { line, column, what }: EdnError| HistoryError {
            file: file.into(),
            line: Some(line),
            column: Some(column),
            what,
        };
        let mut all = Vec::new();
        let json = text.trim_start().starts_with("[{\"") || text.trim_start().starts_with("{\"");
        if json {
            for value in serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>() {
                let value = value.map_err(|error| {
                    let (line, column) = (error.line() as u64, error.column());
                    wrong(EdnError { line, column, what: format!("expected JSON: {error}") })
                })?;
                match from_json(value) {
                    Edn::List(items) => all.extend(items.into_iter().map(|item| (0, item))),
                    item => all.push((0, item)),
                }
            }
        } else {
            let mut parser = Parser::new(text);
            while let Some(value) = parser.next().map_err(wrong)? {
                match value {
                    Edn::List(items) => {
                        all.extend(items.into_iter().map(|item| (0, item)));
                    }
                    item => all.push((parser.line(), item)),
                }
            }
        }
        let mut this = Self::default();
        let mut open: BTreeMap<String, Call> = BTreeMap::new();
        for (place, (line, item)) in (1_u64..).zip(&all) {
            let line = if *line == 0 { place } else { *line };
            this.take(place, item, &mut open).map_err(|what| HistoryError {
                file: file.into(),
                line: Some(line),
                column: None,
                what,
            })?;
        }
        for call in open.into_values() {
            this.keep(call);
        }
        Ok(this)
    }

    fn take(
        &mut self,
        at: u64,
        item: &Edn,
        open: &mut BTreeMap<String, Call>,
    ) -> Result<(), String> {
        let word = |key: &str| {
            let word = item.get(key).and_then(Edn::word);
            word.ok_or_else(|| format!("expected an operation with :{key}"))
        };
        let process = match item.get("process") {
            Some(Edn::Int(process)) => process.to_string(),
            // Whoever injects faults is no client.
            Some(Edn::Keyword(_) | Edn::Text(_)) => return Ok(()),
            _ => return Err("expected an operation with :process".into()),
        };
        let f = match word("f")? {
            "add" => F::Add,
            "cas" => F::Cas,
            "read" => F::Read,
            "write" => F::Write,
            other => {
                return Err(format!("expected one of :add, :cas, :read, :write, found :{other}"));
            }
        };
        let value = item.get("value").cloned().unwrap_or(Edn::Nil);
        match word("type")? {
            "invoke" => {
                let call = Call { from: at, to: NEVER, f, value, process: process.clone() };
                if open.insert(process.clone(), call).is_some() {
                    return Err(format!(
                        "expected an answer of process {process}, which asked before"
                    ));
                }
            }
            "ok" => {
                let mut call = answered(open, &process, f)?;
                call.to = at;
                if f == F::Read {
                    call.value = value;
                }
                self.keep(call);
            }
            "fail" => {
                answered(open, &process, f)?;
            }
            "info" => {
                let call = answered(open, &process, f)?;
                self.keep(call);
            }
            other => {
                return Err(format!("expected one of :invoke, :ok, :fail, :info, found :{other}"));
            }
        }
        Ok(())
    }

    fn keep(&mut self, mut call: Call) {
        if call.f == F::Read && call.to == NEVER {
            return;
        }
        let mut key = String::new();
        let pair = |items: &[Edn]| match (call.f, items) {
            (F::Cas, [_, Edn::List(_)]) => true,
            (F::Cas, _) => false,
            (F::Read, [Edn::Int(_) | Edn::Keyword(_) | Edn::Text(_), _]) => self.is_keyed(),
            (_, [_, _]) => true,
            _ => false,
        };
        if let Edn::List(items) = &call.value
            && pair(items)
        {
            key = format!("{:?}", items[0]);
            call.value = items[1].clone();
        }
        self.keys.entry(key).or_default().push(call);
    }

    /// Whether values so far were of one of many.
    fn is_keyed(&self) -> bool {
        self.keys.keys().any(|key| !key.is_empty())
            || !self.keys.values().flatten().any(|call| call.f == F::Write || call.f == F::Add)
    }

    /// Checks everything.
    #[must_use]
    pub fn check(&self, findings: usize) -> Report {
        let mut report = Report::new(findings);
        report.rung = Rung::Search;
        for (key, calls) in &self.keys {
            report.ops += calls.len() as u64;
            report.updates += calls.iter().filter(|call| call.f != F::Read).count() as u64;
            report.unknown += calls.iter().filter(|call| call.to == NEVER).count() as u64;
            let mut calls = calls.clone();
            calls.sort_by_key(|call| call.from);
            if calls.iter().any(|call| call.f == F::Add) {
                set(key, &calls, &mut report);
            } else {
                register(key, &calls, &mut report);
            }
        }
        report
    }
}

fn answered(open: &mut BTreeMap<String, Call>, process: &str, f: F) -> Result<Call, String> {
    let call = open.remove(process);
    let call = call.ok_or_else(|| format!("expected a call of process {process} before"))?;
    if call.f == f { Ok(call) } else { Err(format!("expected an answer to {:?}", call.f)) }
}

fn from_json(value: serde_json::Value) -> Edn {
    use serde_json::Value;
    match value {
        Value::Null => Edn::Nil,
        Value::Bool(value) => Edn::Bool(value),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| Edn::Float(number.to_string()), Edn::Int)
        }
        Value::String(text) => Edn::Text(text),
        Value::Array(items) => Edn::List(items.into_iter().map(from_json).collect()),
        Value::Object(entries) => Edn::Map(
            entries.into_iter().map(|(key, value)| (Edn::Text(key), from_json(value))).collect(),
        ),
    }
}

fn tell(call: &Call) -> String {
    let to = if call.to == NEVER { "no answer".into() } else { format!("line {}", call.to) };
    let f = format!("{:?}", call.f).to_lowercase();
    format!("process {}: {f} {} (line {} to {to})", call.process, show(&call.value), call.from)
}

fn show(value: &Edn) -> String {
    match value {
        Edn::Bool(value) => value.to_string(),
        Edn::Float(text) => text.clone(),
        Edn::Int(number) => number.to_string(),
        Edn::Keyword(word) => format!(":{word}"),
        Edn::List(items) if items.len() > 8 => format!("[{} of them]", items.len()),
        Edn::List(items) => {
            format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" "))
        }
        Edn::Map(entries) => format!("{{{} entries}}", entries.len()),
        Edn::Nil => "nil".into(),
        Edn::Text(text) => format!("{text:?}"),
    }
}

fn of(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!(" of key {key}") }
}

fn register(key: &str, calls: &[Call], report: &mut Report) {
    let mut numbers: BTreeMap<String, u32> = BTreeMap::from([(show(&Edn::Nil), 0)]);
    let mut number = |value: &Edn| {
        let next = u32::try_from(numbers.len()).expect("fewer than 2^32 values");
        *numbers.entry(show(value)).or_insert(next)
    };
    let steps: Vec<Step> = calls
        .iter()
        .map(|call| {
            let act = match (call.f, &call.value) {
                (F::Write | F::Add, value) => Act::Write(number(value)),
                (F::Cas, Edn::List(pair)) if pair.len() == 2 => {
                    Act::Cas(number(&pair[0]), number(&pair[1]))
                }
                (F::Cas | F::Read, value) => Act::Read(number(value)),
            };
            Step { from: call.from, to: call.to, act }
        })
        .collect();
    report.checked(Promise::Lin, steps.len() as u64);
    let (verdict, what, with) = match search::order(&steps, 0, BUDGET) {
        Found::Order => return,
        Found::NoOrder(at) => {
            let near = calls.iter().filter(|call| {
                call.f != F::Read && call.from < calls[at].to && call.to >= calls[at].from
            });
            let with = near.take(8).chain([&calls[at]]).map(tell).collect();
            (Verdict::Broken, "no order of operations explains this one", with)
        }
        Found::GaveUp => {
            let what = "too many operations overlap to try every order";
            (Verdict::Inconclusive, what, Vec::new())
        }
    };
    let because = calls.iter().filter(|call| call.to == NEVER && verdict != Verdict::Broken);
    let because = because.map(tell).collect();
    report.add(Promise::Lin, verdict, || Finding {
        promise: Promise::Lin,
        verdict,
        what: format!("register{}: {what}", of(key)),
        with,
        because,
        cycle: Vec::new(),
    });
}

/// Elements are only ever added: each is looked at by itself.
fn set(key: &str, calls: &[Call], report: &mut Report) {
    let mut added: BTreeMap<String, &Call> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.f == F::Add) {
        added.insert(show(&call.value), call);
    }
    let reads: Vec<(&Call, BTreeSet<String>)> = calls
        .iter()
        .filter(|call| call.f == F::Read)
        .map(|call| match &call.value {
            Edn::List(items) => (call, items.iter().map(show).collect()),
            _ => (call, BTreeSet::new()),
        })
        .collect();
    report.checked(Promise::Lin, calls.len() as u64);
    let mut broken = |what: String, with: Vec<String>| {
        report.find(Promise::Lin, || Finding {
            promise: Promise::Lin,
            verdict: Verdict::Broken,
            what: format!("set{}: {what}", of(key)),
            with,
            because: Vec::new(),
            cycle: Vec::new(),
        });
    };
    // When each element was seen first, and by which read.
    let mut seen: BTreeMap<&str, &Call> = BTreeMap::new();
    for (read, items) in &reads {
        for item in items {
            match added.get(item) {
                None => broken(format!("{item} was never added"), vec![tell(read)]),
                Some(add) if add.from > read.to => {
                    broken(
                        format!("{item} was seen before it was added"),
                        vec![tell(read), tell(add)],
                    );
                }
                Some(_) => {}
            }
            let first = seen.entry(item).or_insert(read);
            if read.to < first.to {
                *first = read;
            }
        }
    }
    for (item, add) in &added {
        let known = seen.get(item.as_str()).filter(|read| read.to < add.to);
        let since = known.map_or(add.to, |read| read.to);
        let missing = reads.iter().find(|(read, items)| read.from > since && !items.contains(item));
        if let Some((read, _)) = missing {
            let first = known.map_or_else(|| tell(add), |read| tell(read));
            broken(format!("{item} was there and is missing"), vec![first, tell(read)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> (Verdict, Vec<String>) {
        let report = Jepsen::parse("t.edn", text).unwrap().check(5);
        (report.worst(), report.findings.iter().map(|finding| finding.what.clone()).collect())
    }

    /// One operation of one process at a time: `w3` writes, `r3` reads, `c34` compares and sets.
    fn in_turn(words: &str) -> String {
        let mut text = String::new();
        for word in words.split(' ') {
            let (f, value) = word.split_at(1);
            let (f, value) = match f {
                "w" => ("write", value.to_owned()),
                "r" => ("read", value.to_owned()),
                "a" => ("add", value.to_owned()),
                _ => ("cas", format!("[{} {}]", &value[..1], &value[1..])),
            };
            for kind in ["invoke", "ok"] {
                text +=
                    &format!("{{:type :{kind}, :f :{f}, :value {value}, :process 1, :time 0}}\n");
            }
        }
        text
    }

    #[test]
    fn registers_are_linearizable_or_not() {
        assert_eq!(verdict(&in_turn("rnil w1 r1 c12 r2")).0, Verdict::Held);
        let (verdict, what) = verdict(&in_turn("w1 w2 r1"));
        assert_eq!(verdict, Verdict::Broken);
        assert_eq!(what, ["register: no order of operations explains this one"]);
    }

    #[test]
    fn what_is_unknown_may_have_happened_and_what_failed_has_not() {
        let write = |end: &str| {
            format!(
                "{{:type :invoke :f :write :value 7 :process 2}}\n\
                 {{:type :{end} :f :write :value 7 :process 2}}\n{}",
                in_turn("r7")
            )
        };
        assert_eq!(verdict(&write("info")).0, Verdict::Held);
        assert_eq!(verdict(&write("fail")).0, Verdict::Broken);
        let json = r#"[{"type":"invoke","f":"write","value":7,"process":2,"time":1},
            {"type":"ok","f":"write","value":7,"process":2,"time":2},
            {"type":"invoke","f":"read","value":null,"process":2,"time":3},
            {"type":"ok","f":"read","value":8,"process":2,"time":4}]"#;
        assert_eq!(verdict(json).0, Verdict::Broken);
        assert_eq!(verdict(&json.replace(":8", ":7")).0, Verdict::Held);
    }

    #[test]
    fn keys_are_looked_at_one_by_one() {
        let text = in_turn("w1 w2 r2").replace(":value 1", ":value [:x 1]");
        let text = text.replace(":value 2", ":value [:y 2]");
        assert_eq!(verdict(&text).0, Verdict::Held);
        let text = text.replace(":f :read, :value [:y 2]", ":f :read, :value [:x 2]");
        assert_eq!(verdict(&text).0, Verdict::Broken);
    }

    #[test]
    fn elements_of_sets_stay() {
        assert_eq!(verdict(&in_turn("a1 a2 r#{1,2}")).0, Verdict::Held);
        let (worst, what) = verdict(&in_turn("a1 a2 r#{2}"));
        assert_eq!((worst, &*what[0]), (Verdict::Broken, "set: 1 was there and is missing"));
        let (worst, what) = verdict(&in_turn("a1 r#{1,9}"));
        assert_eq!((worst, &*what[0]), (Verdict::Broken, "set: 9 was never added"));
    }

    #[test]
    fn what_is_no_log_is_told_by_its_place() {
        let error = |text: &str| Jepsen::parse("t.edn", text).unwrap_err().to_string();
        assert_eq!(
            error("{:type :ok :f :read :process 1}"),
            "t.edn:1: expected a call of process 1 before"
        );
        assert_eq!(error("\n{:type :ok"), "t.edn:2:11: expected '}', found the end");
        assert_eq!(
            error("{:type :invoke :f :dance :process 1}"),
            "t.edn:1: expected one of :add, :cas, :read, :write, found :dance"
        );
    }
}
