use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::node::{Data, Key, Node, Scalar, Value, shortened};
use crate::scalar;
use crate::source::{Source, Span};
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::{BTreeMap, HashMap};

/// Largest text, in bytes: what is read here is written by hand.
const MAX_BYTES: usize = 1 << 20;
/// Deepest nesting; what people write has six levels or so.
const MAX_DEPTH: usize = 32;
/// Most values after aliases are expanded, so that nested aliases cannot multiply without bound.
const MAX_NODES: usize = 100_000;

impl Source {
    /// The tree of the one document in this text.
    ///
    /// # Errors
    /// Text that is no YAML, is empty, or goes beyond what the crate's documentation permits.
    pub fn compose(&self) -> Result<Node, Diagnostic> {
        tree(self)
    }
}

fn tree(source: &Source) -> Result<Node, Diagnostic> {
    check_text(source)?;
    // A byte order mark is no content, and it would shift the first line's columns.
    let text = source.whole();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut composer = Composer {
        source,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        nodes: 0,
        root: None,
    };
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let mark = *error.marker();
            source
                .error(
                    ErrorKind::Syntax,
                    Span {
                        line: mark.line(),
                        column: mark.col() + 1,
                        width: 1,
                    },
                    format!("this is not YAML: {}", error.info()),
                )
                .next(next_step(error.info()))
        })?;
        let span = one_line(span);
        if let Event::DocumentStart(_) = event {
            documents += 1;
            if documents > 1 {
                return Err(source
                    .error(ErrorKind::Syntax, span, "a second document begins here")
                    .expected("one YAML document per file")
                    .next("remove the `---`, or move what follows into a file of its own"));
            }
        }
        composer.take(event, span)?;
    }
    match composer.root {
        Some(Node {
            data: Data::Scalar(Scalar {
                value: Value::Null, ..
            }),
            ..
        })
        | None => Err(source
            .error(ErrorKind::Missing, Span::START, "the file is empty")
            .expected(source.form().outline)
            .next(format!(
                "{} shows the format with an example",
                source.form().manual
            ))),
        Some(root) => Ok(root),
    }
}

/// What the parser would take but nobody means, found before it runs.
fn check_text(source: &Source) -> Result<(), Diagnostic> {
    let text = source.whole();
    if text.len() > MAX_BYTES {
        return Err(source
            .error(
                ErrorKind::TooLarge,
                Span::START,
                format!("the file is too large for {}", source.form().what),
            )
            .expected(format!("at most {MAX_BYTES} bytes"))
            .found(format!("{} bytes", text.len()))
            .next(
                "check that this is the file you meant; one that is written by hand can be split",
            ));
    }
    let (mut line, mut column) = (1, 1);
    let mut previous = ' ';
    for c in text.chars() {
        let allowed = !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\u{85}');
        if !allowed {
            return Err(source
                .error(
                    ErrorKind::Encoding,
                    Span {
                        line,
                        column,
                        width: 1,
                    },
                    "a control character, which YAML does not permit",
                )
                .found(format!("U+{:04X}", u32::from(c)))
                .next("remove it; if the whole file looks wrong, it is binary or UTF-16"));
        }
        match c {
            '\n' if previous == '\r' => {}
            '\n' | '\r' => (line, column) = (line + 1, 1),
            _ => column += 1,
        }
        previous = c;
    }
    Ok(())
}

/// What to do about the parser's message.
fn next_step(info: &str) -> &'static str {
    if info.contains("anchor") {
        "define it above with `&NAME`, or correct the name after `*`"
    } else if info.contains("tab") {
        "indent with spaces, never with tabs"
    } else {
        "check the indentation, the brackets and the quotes here and just above"
    }
}

fn one_line(span: saphyr_parser::Span) -> Span {
    Span {
        line: span.start.line(),
        column: span.start.col() + 1,
        width: if span.start.line() == span.end.line() {
            span.end.col().saturating_sub(span.start.col()).max(1)
        } else {
            0
        },
    }
}

/// A list or mapping whose end has not come yet.
struct Open {
    span: Span,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map {
        entries: Vec<(Key, Node)>,
        /// Name to index in `entries`, so that a mapping of many keys stays cheap.
        seen: HashMap<String, usize>,
        key: Option<Key>,
    },
}

struct Composer<'s> {
    source: &'s Source,
    open: Vec<Open>,
    /// Finished anchored nodes with their extents.
    anchors: BTreeMap<usize, (Node, Extent)>,
    nodes: usize,
    root: Option<Node>,
}

impl Composer<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Diagnostic> {
        match event {
            Event::Scalar(raw, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span)?;
                self.count(1, span)?;
                if self.awaits_key() {
                    return self.key(raw.into_owned(), style, span);
                }
                let value = match style {
                    ScalarStyle::Plain => scalar::resolve(&raw).map_err(|misread| {
                        let problem = format!("`{}` is {}", shortened(&raw), misread.what);
                        self.source
                            .error(ErrorKind::Value, span, problem)
                            .expected("a finite number of 64 bits, written in decimal")
                            .next(misread.remedy(&raw))
                    })?,
                    _ => Value::Text { plain: false },
                };
                let raw = raw.into_owned();
                self.add(
                    Node {
                        span,
                        anchored: anchor > 0,
                        data: Data::Scalar(Scalar { raw, value }),
                    },
                    anchor,
                )
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.is_some(), span)?;
                self.begin(span, anchor, Content::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.is_some(), span)?;
                self.begin(
                    span,
                    anchor,
                    Content::Map {
                        entries: Vec::new(),
                        seen: HashMap::new(),
                        key: None,
                    },
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => {
                if self.awaits_key() {
                    return Err(self.key_is_no_text(span, "an alias"));
                }
                let Some(extent) = self.anchors.get(&anchor).map(|(_, extent)| *extent) else {
                    return Err(self
                        .source
                        .error(
                            ErrorKind::Syntax,
                            span,
                            "an alias inside its own definition",
                        )
                        .expected("an anchor that is complete before it is used")
                        .next("write the value out here"));
                };
                self.count(extent.nodes, span)?;
                if self.open.len() + extent.depth > MAX_DEPTH {
                    return Err(self.too_deep(span));
                }
                match self.anchors.get(&anchor) {
                    Some((node, _)) => self.add(node.clone(), 0),
                    None => Ok(()),
                }
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn refuse_tag(&self, tagged: bool, span: Span) -> Result<(), Diagnostic> {
        if tagged {
            return Err(self
                .source
                .error(
                    ErrorKind::Syntax,
                    span,
                    "a YAML tag (`!…`) has no meaning here",
                )
                .expected("a plain value")
                .next("remove the tag; quote a value to make it text"));
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), Diagnostic> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            return Err(self
                .source
                .error(ErrorKind::TooLarge, span, "too many values")
                .expected(format!(
                    "at most {MAX_NODES} keys and values in a file, aliases expanded"
                ))
                .next("check for aliases that contain aliases; split the file"));
        }
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                content: Content::Map { key: None, .. },
                ..
            })
        )
    }

    fn key_is_no_text(&self, span: Span, found: &str) -> Diagnostic {
        self.source
            .error(ErrorKind::Type, span, "a key must be text")
            .expected("a name followed by `:`")
            .found(found)
            .next("write the name out; inside `{ }` a `: ` follows each key")
    }

    fn key(&mut self, name: String, style: ScalarStyle, span: Span) -> Result<(), Diagnostic> {
        if name == "<<" && style == ScalarStyle::Plain {
            return Err(self
                .source
                .error(
                    ErrorKind::Syntax,
                    span,
                    "YAML merges (`<<`) are not supported",
                )
                .expected("keys written out")
                .next(self.source.form().in_place_of_merges));
        }
        if name.is_empty() {
            return Err(self.key_is_no_text(span, "nothing"));
        }
        let Some(Open {
            content: Content::Map { entries, seen, key },
            ..
        }) = self.open.last_mut()
        else {
            return Ok(());
        };
        if let Some(first) = seen.get(&name).and_then(|&index| entries.get(index)) {
            let first = first.0.span;
            return Err(self
                .source
                .error(
                    ErrorKind::Duplicate,
                    span,
                    format!("the key `{}` is given twice", shortened(&name)),
                )
                .expected("every key once")
                .found(format!(
                    "first at line {}, column {}",
                    first.line, first.column
                ))
                .next("remove one of the two"));
        }
        seen.insert(name.clone(), entries.len());
        *key = Some(Key { name, span });
        Ok(())
    }

    fn begin(&mut self, span: Span, anchor: usize, content: Content) -> Result<(), Diagnostic> {
        // The parser's span of an opening takes in what follows it.
        let span = Span { width: 1, ..span };
        if self.awaits_key() {
            let found = match content {
                Content::List(_) => "a list",
                Content::Map { .. } => "a mapping",
            };
            return Err(self.key_is_no_text(span, found));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        self.count(1, span)?;
        self.open.push(Open {
            span,
            anchor,
            content,
        });
        Ok(())
    }

    fn too_deep(&self, span: Span) -> Diagnostic {
        self.source
            .error(ErrorKind::TooLarge, span, "nested too deeply")
            .expected(format!("at most {MAX_DEPTH} levels"))
            .next("check the brackets, the indentation and aliases inside aliases")
    }

    fn end(&mut self) -> Result<(), Diagnostic> {
        let Some(Open {
            span,
            anchor,
            content,
        }) = self.open.pop()
        else {
            return Ok(());
        };
        let data = match content {
            Content::List(items) => Data::List(items),
            Content::Map { entries, .. } => Data::Map(entries),
        };
        let node = Node {
            span,
            anchored: anchor > 0,
            data,
        };
        self.add(node, anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        if anchor > 0 {
            let extent = Extent::of(&node);
            // The copy counts: anchors inside anchors would else hold the same values many times.
            self.count(extent.nodes, node.span)?;
            self.anchors.insert(anchor, (node.clone(), extent));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open {
                content: Content::List(items),
                ..
            }) => items.push(node),
            Some(Open {
                content: Content::Map { entries, key, .. },
                ..
            }) => {
                if let Some(key) = key.take() {
                    entries.push((key, node));
                }
            }
        }
        Ok(())
    }
}

/// How much a node holds.
#[derive(Clone, Copy)]
struct Extent {
    /// Values and keys.
    nodes: usize,
    /// Levels of nesting; a scalar has none.
    depth: usize,
}

impl Extent {
    /// Recursion is bounded by [`MAX_DEPTH`].
    fn of(node: &Node) -> Self {
        let (children, keys): (Vec<&Node>, usize) = match &node.data {
            Data::Scalar(_) => return Self { nodes: 1, depth: 0 },
            Data::List(items) => (items.iter().collect(), 0),
            Data::Map(entries) => (
                entries.iter().map(|(_, value)| value).collect(),
                entries.len(),
            ),
        };
        children.into_iter().map(Self::of).fold(
            Self {
                nodes: 1 + keys,
                depth: 1,
            },
            |sum, child| Self {
                nodes: sum.nodes + child.nodes,
                depth: sum.depth.max(1 + child.depth),
            },
        )
    }
}
