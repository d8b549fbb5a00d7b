//! The type expressions of the protocol reference.

/// A type as the reference writes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// One string.
    Literal(String),
    /// A type of the reference, or a basic one.
    Name(String),
    /// A list.
    List(Box<Type>),
    /// A map from strings.
    Map(Box<Type>),
    /// An inline object.
    Object(Vec<(String, Type)>),
    /// One of several.
    Union(Vec<Type>),
}

impl Type {
    /// Reads a whole expression; `None` if it is not understood.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parser = Parser { rest: text };
        let parsed = parser.union()?;
        parser.skip_space();
        parser.rest.is_empty().then_some(parsed)
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        self.skip_space();
        let end =
            self.rest.find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let (text, rest) = self.rest.split_once('"')?;
        self.rest = rest;
        Some(text)
    }

    fn union(&mut self) -> Option<Type> {
        self.eat("|");
        let mut arms = vec![self.postfix()?];
        while self.eat("|") {
            arms.push(self.postfix()?);
        }
        if arms.len() == 1 { arms.pop() } else { Some(Type::Union(arms)) }
    }

    fn postfix(&mut self) -> Option<Type> {
        let mut parsed = self.basic()?;
        loop {
            if self.eat("[]") {
                parsed = Type::List(Box::new(parsed));
            } else if self.eat(r#"["content"]"#) {
                parsed = Type::Name("unknown".to_owned());
            } else {
                return Some(parsed);
            }
        }
    }

    fn basic(&mut self) -> Option<Type> {
        if self.eat("(") {
            let inner = self.union()?;
            return self.eat(")").then_some(inner);
        }
        if self.eat("{") {
            return self.object();
        }
        if self.eat("\"") {
            return Some(Type::Literal(self.quoted()?.to_owned()));
        }
        if self.eat("array(") {
            let (_, rest) = self.rest.split_once(") of ")?;
            self.rest = rest;
            return Some(Type::List(Box::new(self.postfix()?)));
        }
        let name = self.word()?;
        if matches!(name, "Record" | "map" | "Partial") && self.eat("<") {
            let first = self.union()?;
            let parsed = if self.eat(",") { Type::Map(Box::new(self.union()?)) } else { first };
            return self.eat(">").then_some(parsed);
        }
        Some(Type::Name(name.to_owned()))
    }

    fn object(&mut self) -> Option<Type> {
        let mut fields = Vec::new();
        while !self.eat("}") {
            if self.eat("\u{2026}") {
                self.eat(";");
                continue;
            }
            let name = if self.eat("\"") { self.quoted()? } else { self.word()? };
            self.eat("?");
            if !self.eat(":") {
                return None;
            }
            fields.push((name.to_owned(), self.union()?));
            self.eat(";");
        }
        Some(Type::Object(fields))
    }
}
