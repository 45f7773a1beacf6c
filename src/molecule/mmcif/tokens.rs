//! Tokenizer of CIF text.
//!
//! White space separates words. A `#` at the start of a word starts a comment until the end of
//! the line. A quoted word ends at a quote followed by white space. A semicolon in the first
//! column starts a text field, which ends at the next semicolon in a first column.

use crate::molecule::error::ReadErrorKind;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `data_` with the name of a block.
    Data,
    /// `loop_`.
    Loop,
    /// `save_`, `stop_` or `global_`, which structure files do not use.
    Reserved,
    /// A data name with its underscore, such as `_atom_site.id`.
    Name(&'a str),
    /// A value, `None` for the bare words `?` (unknown) and `.` (not applicable).
    Value(Option<&'a str>),
}

/// Iterates over the tokens of a text; `line` is that of the last token, from 1.
pub(super) struct Tokens<'a> {
    text: &'a str,
    offset: usize,
    next_line: usize,
    pub(super) line: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            offset: 0,
            next_line: 1,
            line: 1,
        }
    }

    /// The next token; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>, ReadErrorKind> {
        let bytes = self.text.as_bytes();
        self.skip_blanks();
        self.line = self.next_line;
        let Some(&first) = bytes.get(self.offset) else {
            return Ok(None);
        };
        let starts_line = self.offset == 0 || bytes[self.offset - 1] == b'\n';
        if first == b';' && starts_line {
            return self.text_field().map(Some);
        }
        if matches!(first, b'\'' | b'"') {
            return self.quoted(first).map(Some);
        }
        let start = self.offset;
        while bytes
            .get(self.offset)
            .is_some_and(|byte| !byte.is_ascii_whitespace())
        {
            self.offset += 1;
        }
        Ok(Some(classify(&self.text[start..self.offset])))
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        let mut in_comment = false;
        while let Some(&byte) = bytes.get(self.offset) {
            match byte {
                b'\n' => {
                    in_comment = false;
                    self.next_line += 1;
                }
                b'#' => in_comment = true,
                _ if in_comment || byte.is_ascii_whitespace() => {}
                _ => break,
            }
            self.offset += 1;
        }
    }

    fn text_field(&mut self) -> Result<Token<'a>, ReadErrorKind> {
        let start = self.offset + 1;
        let Some(length) = self.text[start..].find("\n;") else {
            let message = "this text field is not closed by a line that starts with ';'";
            return Err(ReadErrorKind::syntax(message));
        };
        let text = &self.text[start..start + length];
        self.next_line += text.bytes().filter(|&byte| byte == b'\n').count() + 1;
        self.offset = start + length + 2;
        Ok(Token::Value(Some(text)))
    }

    fn quoted(&mut self, quote: u8) -> Result<Token<'a>, ReadErrorKind> {
        let bytes = self.text.as_bytes();
        let start = self.offset + 1;
        let ends_at = |&end: &usize| {
            bytes[end] == quote && bytes.get(end + 1).is_none_or(u8::is_ascii_whitespace)
        };
        let mut on_line = (start..bytes.len()).take_while(|&end| bytes[end] != b'\n');
        let Some(end) = on_line.find(ends_at) else {
            let message = "this quoted value is not closed on its line";
            return Err(ReadErrorKind::syntax(message));
        };
        self.offset = end + 1;
        Ok(Token::Value(Some(&self.text[start..end])))
    }
}

fn classify(word: &str) -> Token<'_> {
    let starts_with = |prefix: &str| {
        word.get(..prefix.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
    };
    if word.starts_with('_') {
        return Token::Name(word);
    }
    // Fast path: only words with an underscore can be reserved.
    if word.len() >= 5 && word.contains('_') {
        if starts_with("data_") {
            return Token::Data;
        }
        if word.eq_ignore_ascii_case("loop_") {
            return Token::Loop;
        }
        if starts_with("save_")
            || word.eq_ignore_ascii_case("stop_")
            || word.eq_ignore_ascii_case("global_")
        {
            return Token::Reserved;
        }
    }
    Token::Value((!matches!(word, "?" | ".")).then_some(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<(Token<'_>, usize)>, ReadErrorKind> {
        let mut tokens = Tokens::new(text);
        let mut list = Vec::new();
        while let Some(token) = tokens.next()? {
            list.push((token, tokens.line));
        }
        Ok(list)
    }

    fn value(text: &str) -> Token<'_> {
        Token::Value(Some(text))
    }

    #[test]
    fn words_names_and_comments_are_distinguished() {
        let text = "# note\ndata_X loop_ # more\n_a.b\n1 ? 'x' # end";
        let expected = [
            (Token::Data, 2),
            (Token::Loop, 2),
            (Token::Name("_a.b"), 3),
            (value("1"), 4),
            (Token::Value(None), 4),
            (value("x"), 4),
        ];
        assert_eq!(all(text).unwrap(), expected);
    }

    #[test]
    fn quotes_inside_words_are_kept() {
        let text = "'a dog's life' \"O5'\" O5' 'it''s'";
        let expected = ["a dog's life", "O5'", "O5'", "it''s"];
        let found: Vec<_> = all(text).unwrap();
        let found: Vec<_> = found.into_iter().map(|(token, _)| token).collect();
        assert_eq!(found, expected.map(value));
    }

    #[test]
    fn text_fields_keep_their_lines() {
        let found = all("_a\n;one\n two; three\n;\n_b ;x").unwrap();
        assert_eq!(found[1], (value("one\n two; three"), 2));
        assert_eq!(found[2], (Token::Name("_b"), 5));
        assert_eq!(found[3], (value(";x"), 5));
    }

    #[test]
    fn only_bare_question_marks_and_periods_are_unknown() {
        let first = |text| all(text).unwrap()[0].0;
        assert_eq!(first("?"), Token::Value(None));
        assert_eq!(first("."), Token::Value(None));
        assert_eq!(first("'?'"), value("?"));
        assert_eq!(first(".5"), value(".5"));
    }

    #[test]
    fn unclosed_quotes_and_text_fields_are_rejected() {
        assert!(all("'abc\ndef'").is_err());
        assert!(all(";abc").is_err());
    }
}
