//! Parser: recursive descent over the tokens of a `.bent` file.

use crate::names::closest_name;

use super::error::{BentError, BentErrorKind, Location};
use super::expression::Expression;
use super::number::{decimal, is_quantity, molarity};
use super::references::{Reference, check_known, check_no_cycles, unique_ids};
use super::scanner::{Token, scan};
use super::syntax_tree::{
    Anchor, Axis, BentFile, Comparison, Compartment, CompartmentShape, Constraint, General, Limit,
    MAX_TAG_LETTERS, Quantity, Rearrange, Segment, Space,
};

/// Max depth of nested parentheses and `not` in an expression.
pub const MAX_NESTING: usize = 64;

/// Max number of characters of the file that an error repeats.
const MAX_QUOTED: usize = 40;

const SECTIONS: [&str; 6] = [
    "general",
    "space",
    "includes",
    "compartments",
    "constraints",
    "segments",
];

/// Words that are never names.
const OPERATORS: [&str; 3] = ["and", "or", "not"];

impl BentFile {
    /// Reads the content of a `.bent` file; `source` is its name in errors.
    ///
    /// Returns an error if the content is invalid, if an id is defined twice or not at all, or if
    /// a compartment depends on itself. Files that are named in it are not opened.
    pub fn read(content: impl AsRef<[u8]>, source: &str) -> Result<Self, BentError> {
        read(content.as_ref()).map_err(|(location, kind)| BentError {
            file: source.to_owned(),
            location,
            kind,
        })
    }
}

type Failure = (Location, BentErrorKind);

fn read(bytes: &[u8]) -> Result<BentFile, Failure> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            return Err((end_of(valid), BentErrorKind::NotText));
        }
    };
    Parser::new(text).file()
}

/// The location after the last character.
fn end_of(text: &str) -> Location {
    scan(text)
        .last()
        .map_or(Location::START, |(_, location)| *location)
}

struct Parser<'a> {
    /// The tokens; the last one is the end.
    tokens: Vec<(Token<'a>, Location)>,
    /// Index of the next token.
    next: usize,
    general: General,
    space: Option<(SpaceFields, Location)>,
    includes: Vec<String>,
    compartments: Vec<Compartment>,
    constraints: Vec<Constraint>,
    segments: Option<Vec<Segment>>,
    used_compartments: Vec<Reference<'a>>,
    used_constraints: Vec<Reference<'a>>,
}

/// The fields of `[ space ]` that are read so far.
#[derive(Clone, Copy, Default)]
struct SpaceFields {
    dimensions: Option<[f64; 3]>,
    resolution: Option<f64>,
    periodic: Option<bool>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            tokens: scan(text),
            next: 0,
            general: General::default(),
            space: None,
            includes: Vec::new(),
            compartments: Vec::new(),
            constraints: Vec::new(),
            segments: None,
            used_compartments: Vec::new(),
            used_constraints: Vec::new(),
        }
    }

    /// Reads all sections. They can be in any order and repeat.
    fn file(mut self) -> Result<BentFile, Failure> {
        match self.peek() {
            Token::End => return Err((Location::START, BentErrorKind::Empty)),
            Token::Word(word) if word.starts_with('{') => {
                return self.fail(BentErrorKind::LegacyJson);
            }
            _ => {}
        }
        while self.peek() != Token::End {
            self.section()?;
        }
        self.finish()
    }

    /// Checks what only the complete file tells.
    fn finish(self) -> Result<BentFile, Failure> {
        let end = self.location();
        let missing = |section| (end, BentErrorKind::MissingSection { section });
        let (space, header) = self.space.ok_or(missing("space"))?;
        let segments = self.segments.ok_or(missing("segments"))?;
        let dimensions = space
            .dimensions
            .ok_or((header, BentErrorKind::MissingDimensions))?;

        let constraints = self.constraints.iter();
        let constraints = constraints.map(|constraint| (&*constraint.id, constraint.location));
        let constraints = unique_ids("constraint", constraints)?;
        let compartments = self.compartments.iter();
        let compartments = compartments.map(|compartment| (&*compartment.id, compartment.location));
        let compartments = unique_ids("compartment", compartments)?;
        check_known("compartment", &self.used_compartments, &compartments)?;
        check_known("constraint", &self.used_constraints, &constraints)?;
        check_no_cycles(&self.compartments, &compartments)?;

        Ok(BentFile {
            general: self.general,
            space: Space {
                dimensions,
                resolution: space.resolution,
                periodic: space.periodic,
            },
            includes: self.includes,
            compartments: self.compartments,
            constraints: self.constraints,
            segments,
        })
    }

    // Sections

    fn section(&mut self) -> Result<(), Failure> {
        let header = self.location();
        self.symbol('[', "a section such as [ space ]")?;
        let section = self.keyword(&SECTIONS)?;
        self.symbol(']', "']'")?;
        match section {
            "general" => self.fields(Self::general_field),
            "space" => {
                self.space.get_or_insert((SpaceFields::default(), header));
                self.fields(Self::space_field)
            }
            "includes" => self.fields(Self::include),
            "compartments" => self.fields(Self::compartment),
            "constraints" => self.fields(Self::constraint),
            _ => {
                self.segments.get_or_insert_default();
                self.fields(Self::segment)
            }
        }
    }

    /// Reads entries until the next section or the end of the file.
    fn fields(&mut self, entry: impl Fn(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        while !self.is_at_section_end() {
            entry(self)?;
        }
        Ok(())
    }

    fn is_at_section_end(&self) -> bool {
        matches!(self.peek(), Token::Symbol('[') | Token::End)
    }

    fn general_field(&mut self) -> Result<(), Failure> {
        let field = self.keyword(&[
            "title",
            "seed",
            "bead-radius",
            "max-tries-mult",
            "max-tries-rot-div",
            "rearrange",
        ])?;
        match field {
            "title" => self.general.title = Some(self.string("a title in double quotes")?),
            "seed" => self.general.seed = Some(self.integer("a whole number")?),
            "bead-radius" => self.general.bead_radius = Some(self.positive("bead radius")?),
            "max-tries-mult" => {
                self.general.max_tries_mult = Some(self.positive_integer()?);
            }
            "max-tries-rot-div" => {
                self.general.max_tries_rot_div = Some(self.positive_integer()?);
            }
            _ => {
                let order = self.keyword(&["moment", "volume", "bounding-sphere", "none"])?;
                self.general.rearrange = Some(match order {
                    "moment" => Rearrange::Moment,
                    "volume" => Rearrange::Volume,
                    "bounding-sphere" => Rearrange::BoundingSphere,
                    _ => Rearrange::None,
                });
            }
        }
        Ok(())
    }

    fn space_field(&mut self) -> Result<(), Failure> {
        let (mut fields, header) = self
            .space
            .unwrap_or((SpaceFields::default(), Location::START));
        match self.keyword(&["dimensions", "resolution", "periodic"])? {
            "dimensions" => {
                let dimensions = self.triple(|parser| parser.positive("length"))?;
                fields.dimensions = Some(dimensions);
            }
            "resolution" => fields.resolution = Some(self.positive("resolution")?),
            _ => fields.periodic = Some(self.keyword(&["true", "false"])? == "true"),
        }
        self.space = Some((fields, header));
        Ok(())
    }

    fn include(&mut self) -> Result<(), Failure> {
        let path = self.string("a path in double quotes")?;
        self.includes.push(path);
        Ok(())
    }

    fn compartment(&mut self) -> Result<(), Failure> {
        let location = self.location();
        let id = self.name("the id of a compartment")?.to_owned();
        let shape = self.compartment_shape()?;
        self.compartments.push(Compartment {
            id,
            shape,
            location,
        });
        Ok(())
    }

    fn compartment_shape(&mut self) -> Result<CompartmentShape, Failure> {
        let kind = self.keyword(&["is", "from", "as", "where", "within", "around", "combines"])?;
        Ok(match kind {
            "is" => {
                self.keyword(&["all"])?;
                CompartmentShape::All
            }
            "from" => CompartmentShape::Mask(self.string("a path in double quotes")?),
            "as" => match self.keyword(&["sphere", "cuboid"])? {
                "sphere" => self.sphere()?,
                _ => self.cuboid()?,
            },
            "where" => CompartmentShape::Where(self.expression(&Self::limit)?),
            "combines" => {
                let id = |parser: &mut Self| parser.used_compartment().map(str::to_owned);
                CompartmentShape::Combines(self.expression(&id)?)
            }
            _ => {
                let distance = self.positive("distance")?;
                self.keyword(&["of"])?;
                let of = self.used_compartment()?.to_owned();
                if kind == "within" {
                    CompartmentShape::Within { distance, of }
                } else {
                    CompartmentShape::Around { distance, of }
                }
            }
        })
    }

    fn sphere(&mut self) -> Result<CompartmentShape, Failure> {
        self.keyword(&["at"])?;
        let center = self.anchor()?;
        self.keyword(&["with"])?;
        let radius = match self.keyword(&["radius", "diameter"])? {
            "radius" => self.positive("radius")?,
            _ => self.positive("diameter")? / 2.0,
        };
        Ok(CompartmentShape::Sphere { center, radius })
    }

    fn cuboid(&mut self) -> Result<CompartmentShape, Failure> {
        self.keyword(&["from"])?;
        let from = self.anchor()?;
        self.keyword(&["to"])?;
        let to = self.anchor()?;
        Ok(CompartmentShape::Cuboid { from, to })
    }

    fn anchor(&mut self) -> Result<Anchor, Failure> {
        let is_point = match self.peek() {
            Token::Word(word) => decimal(word).is_some(),
            token => token == Token::Symbol('('),
        };
        if is_point {
            let point = self.triple(|parser| parser.number("a coordinate"))?;
            return Ok(Anchor::Point(point));
        }
        let expected = "'start', 'center', 'end' or a point such as 10, 20, 30";
        Ok(
            match self.keyword_of(&["start", "center", "end"], expected)? {
                "start" => Anchor::Start,
                "center" => Anchor::Center,
                _ => Anchor::End,
            },
        )
    }

    /// A rule, whose list of axes can be empty.
    fn constraint(&mut self) -> Result<(), Failure> {
        let location = self.location();
        let id = self.name("the id of a constraint")?.to_owned();
        self.keyword(&["rotates"])?;
        let mut rotates = [false; 3];
        let starts_next = self.peek_second() == Token::Word("rotates");
        if !starts_next && !self.is_at_section_end() {
            loop {
                rotates[self.axis("an axis (x, y or z)")? as usize] = true;
                if !self.accepts(Token::Symbol(',')) {
                    break;
                }
            }
        }
        self.constraints.push(Constraint {
            id,
            rotates,
            location,
        });
        Ok(())
    }

    fn segment(&mut self) -> Result<(), Failure> {
        let location = self.location();
        let name = self.name("the name of a segment")?.to_owned();
        let tag = if self.accepts(Token::Symbol(':')) {
            Some(self.tag()?)
        } else {
            None
        };
        let quantity = self.quantity()?;
        self.keyword(&["from"])?;
        let path = self.string("a path in double quotes")?;
        self.keyword(&["in"])?;
        let mut compartments = vec![self.used_compartment()?.to_owned()];
        while self.accepts(Token::Symbol(',')) {
            compartments.push(self.used_compartment()?.to_owned());
        }
        let mut rules = Vec::new();
        if self.accepts(Token::Word("satisfies")) {
            rules.push(self.used_constraint()?.to_owned());
            while self.accepts(Token::Symbol(',')) {
                rules.push(self.used_constraint()?.to_owned());
            }
        }
        let segment = Segment {
            name,
            tag,
            quantity,
            path,
            compartments,
            rules,
            location,
        };
        self.segments.get_or_insert_default().push(segment);
        Ok(())
    }

    fn tag(&mut self) -> Result<String, Failure> {
        let location = self.location();
        let tag = self.name("a tag")?;
        let letters = tag.chars().count();
        if letters > MAX_TAG_LETTERS {
            let tag = shortened(tag);
            return Err((location, BentErrorKind::LongTag { tag, letters }));
        }
        Ok(tag.to_owned())
    }

    fn quantity(&mut self) -> Result<Quantity, Failure> {
        if let Token::Word(word) = self.peek() {
            if let Some(number) = whole_number(word) {
                self.next += 1;
                return Ok(Quantity::Number(number));
            }
            let molarity = molarity(word).filter(|value| value.is_finite() && *value >= 0.0);
            if let Some(molarity) = molarity {
                self.next += 1;
                return Ok(Quantity::Molarity(molarity));
            }
        }
        self.unexpected("a number of molecules such as 300 or a concentration such as 1.5mM")
    }

    // Expressions: `or` binds weaker than `and`, which binds weaker than `not`.

    fn expression<T>(
        &mut self,
        term: &impl Fn(&mut Self) -> Result<T, Failure>,
    ) -> Result<Expression<T>, Failure> {
        self.union(term, 0)
    }

    fn union<T>(
        &mut self,
        term: &impl Fn(&mut Self) -> Result<T, Failure>,
        depth: usize,
    ) -> Result<Expression<T>, Failure> {
        let first = self.intersection(term, depth)?;
        let mut operands = vec![first];
        while self.accepts(Token::Word("or")) {
            operands.push(self.intersection(term, depth)?);
        }
        Ok(single_or(operands, Expression::Or))
    }

    fn intersection<T>(
        &mut self,
        term: &impl Fn(&mut Self) -> Result<T, Failure>,
        depth: usize,
    ) -> Result<Expression<T>, Failure> {
        let first = self.operand(term, depth)?;
        let mut operands = vec![first];
        while self.accepts(Token::Word("and")) {
            operands.push(self.operand(term, depth)?);
        }
        Ok(single_or(operands, Expression::And))
    }

    fn operand<T>(
        &mut self,
        term: &impl Fn(&mut Self) -> Result<T, Failure>,
        depth: usize,
    ) -> Result<Expression<T>, Failure> {
        let nests = matches!(self.peek(), Token::Word("not") | Token::Symbol('('));
        if nests && depth == MAX_NESTING {
            return self.fail(BentErrorKind::TooDeep);
        }
        if self.accepts(Token::Word("not")) {
            let operand = self.operand(term, depth + 1)?;
            return Ok(Expression::Not(Box::new(operand)));
        }
        if self.accepts(Token::Symbol('(')) {
            let inner = self.union(term, depth + 1)?;
            self.symbol(')', "'and', 'or' or ')'")?;
            return Ok(inner);
        }
        term(self).map(Expression::Term)
    }

    /// `x > 20` or `20 < x`.
    fn limit(&mut self) -> Result<Limit, Failure> {
        if let Token::Word(word) = self.peek()
            && decimal(word).is_some()
        {
            let value = self.number("a number")?;
            let comparison = match self.comparison()? {
                Comparison::Less => Comparison::Greater,
                Comparison::Greater => Comparison::Less,
            };
            let axis = self.axis("an axis (x, y or z)")?;
            return Ok(Limit {
                axis,
                comparison,
                value,
            });
        }
        Ok(Limit {
            axis: self.axis("a limit such as x > 20")?,
            comparison: self.comparison()?,
            value: self.number("a number")?,
        })
    }

    fn comparison(&mut self) -> Result<Comparison, Failure> {
        if self.accepts(Token::Symbol('<')) {
            return Ok(Comparison::Less);
        }
        self.symbol('>', "'<' or '>'")?;
        Ok(Comparison::Greater)
    }

    fn axis(&mut self, expected: &str) -> Result<Axis, Failure> {
        let axis = match self.peek() {
            Token::Word("x") => Axis::X,
            Token::Word("y") => Axis::Y,
            Token::Word("z") => Axis::Z,
            _ => return self.unexpected(expected),
        };
        self.next += 1;
        Ok(axis)
    }

    // Names

    fn used_compartment(&mut self) -> Result<&'a str, Failure> {
        let location = self.location();
        let id = self.name("the id of a compartment")?;
        self.used_compartments.push(Reference { id, location });
        Ok(id)
    }

    fn used_constraint(&mut self) -> Result<&'a str, Failure> {
        let location = self.location();
        let id = self.name("the id of a constraint")?;
        self.used_constraints.push(Reference { id, location });
        Ok(id)
    }

    /// A word that is not a number or an operator.
    fn name(&mut self, expected: &str) -> Result<&'a str, Failure> {
        match self.peek() {
            Token::Word(word) if !is_quantity(word) && !OPERATORS.contains(&word) => {
                self.next += 1;
                Ok(word)
            }
            _ => self.unexpected(expected),
        }
    }

    /// One of the words.
    fn keyword(&mut self, words: &[&'static str]) -> Result<&'static str, Failure> {
        self.keyword_of(words, &list(words))
    }

    fn keyword_of(
        &mut self,
        words: &[&'static str],
        expected: &str,
    ) -> Result<&'static str, Failure> {
        let Token::Word(found) = self.peek() else {
            return self.unexpected(expected);
        };
        if let Some(word) = words.iter().find(|word| **word == found) {
            self.next += 1;
            return Ok(word);
        }
        self.fail(BentErrorKind::Unexpected {
            expected: expected.to_owned(),
            found: quoted(found),
            suggestion: closest_name(found, words.iter().copied()),
        })
    }

    // Values

    /// A string that is not empty.
    fn string(&mut self, expected: &str) -> Result<String, Failure> {
        match self.peek() {
            Token::String(text) if !text.is_empty() => {
                self.next += 1;
                Ok(text.to_owned())
            }
            _ => self.unexpected(expected),
        }
    }

    fn integer(&mut self, expected: &str) -> Result<u64, Failure> {
        if let Token::Word(word) = self.peek()
            && let Some(number) = whole_number(word)
        {
            self.next += 1;
            return Ok(number);
        }
        self.unexpected(expected)
    }

    fn positive_integer(&mut self) -> Result<u64, Failure> {
        let expected = "a positive whole number";
        if let Token::Word(word) = self.peek()
            && whole_number(word) == Some(0)
        {
            return self.unexpected(expected);
        }
        self.integer(expected)
    }

    /// A finite number.
    fn number(&mut self, expected: &str) -> Result<f64, Failure> {
        let Token::Word(word) = self.peek() else {
            return self.unexpected(expected);
        };
        match decimal(word) {
            Some(value) if value.is_finite() => {
                self.next += 1;
                Ok(value)
            }
            Some(_) => self.unexpected(&format!("{expected} that is not so large")),
            None => self.unexpected(expected),
        }
    }

    /// A finite number above 0; `what` follows the article `a`.
    fn positive(&mut self, what: &str) -> Result<f64, Failure> {
        let start = self.next;
        let value = self.number(&format!("a {what}"))?;
        if value > 0.0 {
            return Ok(value);
        }
        self.next = start;
        self.unexpected(&format!("a positive {what}"))
    }

    /// Three values, separated by commas, with or without parentheses.
    fn triple(
        &mut self,
        value: impl Fn(&mut Self) -> Result<f64, Failure>,
    ) -> Result<[f64; 3], Failure> {
        let is_in_parentheses = self.accepts(Token::Symbol('('));
        let mut triple = [0.0; 3];
        for (index, entry) in triple.iter_mut().enumerate() {
            if index > 0 {
                self.symbol(',', "',' and another coordinate")?;
            }
            *entry = value(self)?;
        }
        if is_in_parentheses {
            self.symbol(')', "')'")?;
        }
        Ok(triple)
    }

    // Tokens

    fn token(&self, index: usize) -> (Token<'a>, Location) {
        // The end follows the last token any number of times.
        let last = self.tokens.len().saturating_sub(1);
        let token = self.tokens.get(index.min(last)).copied();
        token.unwrap_or((Token::End, Location::START))
    }

    fn peek(&self) -> Token<'a> {
        self.token(self.next).0
    }

    fn peek_second(&self) -> Token<'a> {
        self.token(self.next + 1).0
    }

    fn location(&self) -> Location {
        self.token(self.next).1
    }

    /// Skips the next token if it is `token`.
    fn accepts(&mut self, token: Token<'_>) -> bool {
        let is_next = self.peek() == token;
        self.next += usize::from(is_next);
        is_next
    }

    fn symbol(&mut self, symbol: char, expected: &str) -> Result<(), Failure> {
        if self.accepts(Token::Symbol(symbol)) {
            return Ok(());
        }
        self.unexpected(expected)
    }

    // Errors

    fn fail<T>(&self, kind: BentErrorKind) -> Result<T, Failure> {
        Err((self.location(), kind))
    }

    /// The error of the next token.
    fn unexpected<T>(&self, expected: &str) -> Result<T, Failure> {
        let expected = expected.to_owned();
        let found = match self.peek() {
            Token::Word(word) => quoted(word),
            Token::String("") => "an empty string".to_owned(),
            Token::String(text) => format!("the string {}", quoted(text)),
            Token::UnclosedString => return self.fail(BentErrorKind::UnclosedString { expected }),
            Token::Placeholder(name) => {
                let name = shortened(name);
                return self.fail(BentErrorKind::Placeholder { expected, name });
            }
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::End => "the end of the file".to_owned(),
        };
        self.fail(BentErrorKind::Unexpected {
            expected,
            found,
            suggestion: None,
        })
    }
}

/// A number without sign, point or exponent.
fn whole_number(word: &str) -> Option<u64> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| word.parse().ok())?
}

/// The only operand, or several in a node.
fn single_or<T>(
    mut operands: Vec<Expression<T>>,
    node: impl Fn(Vec<Expression<T>>) -> Expression<T>,
) -> Expression<T> {
    match operands.pop() {
        Some(only) if operands.is_empty() => only,
        last => {
            operands.extend(last);
            node(operands)
        }
    }
}

/// `'a', 'b' or 'c'`.
fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", shortened(text))
}

/// The text, without the end if it is long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
