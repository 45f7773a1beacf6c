//! Scanner: splits the text of a `.bent` file into tokens.
//!
//! A word is everything between white space and the characters `( ) [ ] , : " < >`, so names such
//! as `3lyz`, `bead-radius` and `1.5mM` are words; the parser knows which word is a number. A
//! comment goes from `#` or `;` to the end of the line. It starts between tokens or right after a
//! number, but `lipid#2` is a word.

use super::error::Location;
use super::number::is_quantity;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A keyword, name, number or concentration.
    Word(&'a str),
    /// The text between double quotes.
    String(&'a str),
    /// A double quote without another one on its line.
    UnclosedString,
    /// A word in angle brackets, to be replaced by the user.
    Placeholder(&'a str),
    /// One of `( ) [ ] , : < >`.
    Symbol(char),
    /// The end of the file.
    End,
}

/// All tokens with the location of their first character; the last one is [`Token::End`].
pub(super) fn scan(text: &str) -> Vec<(Token<'_>, Location)> {
    let mut scanner = Scanner {
        rest: text,
        location: Location::START,
    };
    let mut tokens = Vec::new();
    loop {
        scanner.skip_blanks();
        let location = scanner.location;
        let token = scanner.token();
        tokens.push((token, location));
        if token == Token::End {
            return tokens;
        }
    }
}

struct Scanner<'a> {
    /// What is not scanned yet.
    rest: &'a str,
    /// Where that is.
    location: Location,
}

impl<'a> Scanner<'a> {
    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
        loop {
            let text = self.rest.trim_start();
            self.skip(self.rest.len() - text.len());
            if !self.rest.starts_with(is_comment_start) {
                return;
            }
            self.skip(self.rest.find(is_line_end).unwrap_or(self.rest.len()));
        }
    }

    fn token(&mut self) -> Token<'a> {
        let Some(first) = self.rest.chars().next() else {
            return Token::End;
        };
        let (token, length) = match first {
            '"' => quoted(self.rest),
            '<' => placeholder(self.rest).unwrap_or((Token::Symbol('<'), 1)),
            _ if is_symbol(first) => (Token::Symbol(first), 1),
            _ => {
                let word = word(self.rest);
                (Token::Word(word), word.len())
            }
        };
        self.skip(length);
        token
    }

    /// Moves on by a number of bytes, to the start of a character. `\n`, `\r` and `\r\n` end
    /// lines.
    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        let mut characters = skipped.chars().peekable();
        while let Some(character) = characters.next() {
            let next = characters.peek().copied().or(rest.chars().next());
            if character == '\n' || character == '\r' && next != Some('\n') {
                self.location.line += 1;
                self.location.column = 1;
            } else {
                self.location.column += 1;
            }
        }
        self.rest = rest;
    }
}

fn is_comment_start(character: char) -> bool {
    matches!(character, '#' | ';')
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r')
}

fn is_symbol(character: char) -> bool {
    matches!(character, '(' | ')' | '[' | ']' | ',' | ':' | '<' | '>')
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || is_symbol(character) || character == '"'
}

/// The word at the start of the text.
fn word(text: &str) -> &str {
    let word = &text[..text.find(ends_word).unwrap_or(text.len())];
    // A comment can follow a number without white space.
    let before_comment = &word[..word.find(is_comment_start).unwrap_or(word.len())];
    if is_quantity(before_comment) {
        before_comment
    } else {
        word
    }
}

/// The string at the start of the text and its length with quotes.
fn quoted(text: &str) -> (Token<'_>, usize) {
    let content = &text[1..];
    match content.find(|character| character == '"' || is_line_end(character)) {
        Some(end) if content[end..].starts_with('"') => (Token::String(&content[..end]), end + 2),
        Some(end) => (Token::UnclosedString, end + 1),
        None => (Token::UnclosedString, text.len()),
    }
}

/// The placeholder at the start of the text, such as `<radius>`, and its length.
fn placeholder(text: &str) -> Option<(Token<'_>, usize)> {
    let content = &text[1..];
    let end = content.find(ends_word)?;
    let is_closed = end > 0 && content[end..].starts_with('>');
    is_closed.then(|| (Token::Placeholder(&content[..end]), end + 2))
}
