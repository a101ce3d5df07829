//! As much of EDN as histories of Jepsen have: maps, vectors, lists, sets, keywords, texts,
//! numbers, `nil`, `true` and `false`, comments and tags, which are left out.

#![expect(clippy::wildcard_enum_match_arm, reason = "of all values only a few can be meant")]

/// How deep things may be in each other.
const DEEP: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Edn {
    /// `true` or `false`.
    Bool(bool),
    /// A number with a point in it, or one that is too large; nobody counts with them here.
    Float(String),
    /// A whole number.
    Int(i64),
    /// `:name`
    Keyword(String),
    /// `[…]`, `(…)` or `#{…}`
    List(Vec<Self>),
    /// `{…}`
    Map(Vec<(Self, Self)>),
    /// `nil`
    Nil,
    /// `"…"`
    Text(String),
}

impl Edn {
    /// What a map has under a keyword.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        let entry = entries.iter().find(|(name, _)| match name {
            Self::Keyword(name) | Self::Text(name) => name == key,
            _ => false,
        });
        entry.map(|(_, value)| value)
    }

    /// A keyword or a text.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Keyword(word) | Self::Text(word) => Some(word),
            _ => None,
        }
    }
}

/// A place in a text, and what was expected there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EdnError {
    /// The line, counted from one.
    pub line: u64,
    /// The character in it, counted from one.
    pub column: usize,
    /// What was expected.
    pub what: String,
}

/// Reads values, one after the other.
#[derive(Clone, Debug)]
pub struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// Of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// In which line it is.
    #[must_use]
    pub fn line(&self) -> u64 {
        1 + self.text[..self.at].bytes().filter(|byte| *byte == b'\n').count() as u64
    }

    fn wrong(&self, what: &str) -> EdnError {
        let before = &self.text[..self.at];
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        EdnError { line: self.line(), column, what: what.into() }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn skip(&mut self) {
        while let Some(c) = self.peek() {
            if c == ';' {
                while self.take().is_some_and(|c| c != '\n') {}
            } else if c.is_whitespace() || c == ',' {
                self.take();
            } else {
                break;
            }
        }
    }

    /// The next value; none at the end.
    ///
    /// # Errors
    /// If there is something else.
    #[expect(clippy::should_implement_trait, reason = "an error is not one of many items")]
    pub fn next(&mut self) -> Result<Option<Edn>, EdnError> {
        self.skip();
        if self.peek().is_none() {
            return Ok(None);
        }
        self.value(0).map(Some)
    }

    fn value(&mut self, depth: usize) -> Result<Edn, EdnError> {
        self.skip();
        if depth > DEEP {
            return Err(self.wrong("expected nothing that deep"));
        }
        match self.peek() {
            None => Err(self.wrong("expected a value, found the end")),
            Some('{') => {
                self.take();
                let items = self.items('}', depth)?;
                if items.len() % 2 == 1 {
                    return Err(self.wrong("expected a value for each key of a map"));
                }
                let mut items = items.into_iter();
                let mut entries = Vec::new();
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    entries.push((key, value));
                }
                Ok(Edn::Map(entries))
            }
            Some('[') => self.list(']', depth),
            Some('(') => self.list(')', depth),
            Some('"') => self.string(),
            Some('#') => {
                self.take();
                match self.peek() {
                    Some('{') => self.list('}', depth),
                    Some('_') => {
                        self.take();
                        self.value(depth + 1)?;
                        self.value(depth + 1)
                    }
                    _ => {
                        // A tag says what Clojure makes of the value. It is left out.
                        self.token();
                        self.value(depth + 1)
                    }
                }
            }
            Some(':') => {
                self.take();
                match self.token() {
                    "" => Err(self.wrong("expected a name after ':'")),
                    name => Ok(Edn::Keyword(name.into())),
                }
            }
            Some(_) => self.atom(),
        }
    }

    fn list(&mut self, end: char, depth: usize) -> Result<Edn, EdnError> {
        self.take();
        Ok(Edn::List(self.items(end, depth)?))
    }

    fn items(&mut self, end: char, depth: usize) -> Result<Vec<Edn>, EdnError> {
        let mut items = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                None => return Err(self.wrong(&format!("expected {end:?}, found the end"))),
                Some(c) if c == end => {
                    self.take();
                    return Ok(items);
                }
                Some(_) => items.push(self.value(depth + 1)?),
            }
        }
    }

    fn string(&mut self) -> Result<Edn, EdnError> {
        self.take();
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err(self.wrong("expected the end of a text")),
                Some('"') => return Ok(Edn::Text(text)),
                Some('\\') => match self.take() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    _ => return Err(self.wrong("expected one of \\n \\t \\r \\\" \\\\")),
                },
                Some(c) => text.push(c),
            }
        }
    }

    fn token(&mut self) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(|c| !c.is_whitespace() && !"{}[]()\",;#".contains(c)) {
            self.take();
        }
        &self.text[start..self.at]
    }

    fn atom(&mut self) -> Result<Edn, EdnError> {
        let before = self.clone();
        match self.token() {
            "nil" => Ok(Edn::Nil),
            "true" => Ok(Edn::Bool(true)),
            "false" => Ok(Edn::Bool(false)),
            token => {
                let number = token.strip_suffix('N').unwrap_or(token);
                if let Ok(number) = number.parse() {
                    return Ok(Edn::Int(number));
                }
                let numeric = token.starts_with(|c: char| c.is_ascii_digit() || c == '-');
                if numeric && token.len() > 1 {
                    return Ok(Edn::Float(token.into()));
                }
                Err(before.wrong("expected a value"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jepsen_writes_is_read() {
        let text = "{:type :invoke, :f :cas, :value [0 3], :process 2, :time 1.5e9, :index 0} ; x\n\
                    #jepsen.history.Op{:value nil :error \"a\\\"b\" #_ 1 :s #{1 2}}";
        let mut parser = Parser::new(text);
        let first = parser.next().unwrap().unwrap();
        assert_eq!(first.get("type").and_then(Edn::word), Some("invoke"));
        assert_eq!(first.get("value"), Some(&Edn::List(vec![Edn::Int(0), Edn::Int(3)])));
        let second = parser.next().unwrap().unwrap();
        assert_eq!(second.get("value"), Some(&Edn::Nil));
        assert_eq!(second.get("error").and_then(Edn::word), Some("a\"b"));
        assert_eq!(second.get("s"), Some(&Edn::List(vec![Edn::Int(1), Edn::Int(2)])));
        assert_eq!(parser.next(), Ok(None));
    }

    #[test]
    fn errors_have_a_place() {
        let error = |text: &str| {
            let EdnError { line, column, what } = Parser::new(text).next().unwrap_err();
            format!("{line}:{column}: {what}")
        };
        assert_eq!(error("{:a 1\n :b"), "2:4: expected '}', found the end");
        assert_eq!(error("{:a 1 :b}"), "1:10: expected a value for each key of a map");
        assert_eq!(error("[1 dance]"), "1:4: expected a value");
        assert_eq!(error(&"[".repeat(99)), "1:66: expected nothing that deep");
    }
}
