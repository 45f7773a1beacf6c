//! [`Expression`]: terms combined by `and`, `or` and `not`.

/// Terms combined by `and`, `or` and `not`.
///
/// Operands of a chain such as `a and b and c` are in one list, so the depth of the tree is the
/// depth of nested parentheses and `not`, which the reader limits to [`MAX_NESTING`].
///
/// [`MAX_NESTING`]: super::MAX_NESTING
#[derive(Clone, Debug, PartialEq)]
pub enum Expression<T> {
    /// A term.
    Term(T),
    /// Everything outside.
    Not(Box<Self>),
    /// The intersection of at least two operands.
    And(Vec<Self>),
    /// The union of at least two operands.
    Or(Vec<Self>),
}

impl<T> Expression<T> {
    /// Whether the expression is true, if `is_true` says so for each term.
    ///
    /// Operands are evaluated from left to right until the result is known.
    pub fn holds(&self, is_true: &impl Fn(&T) -> bool) -> bool {
        match self {
            Self::Term(term) => is_true(term),
            Self::Not(operand) => !operand.holds(is_true),
            Self::And(operands) => operands.iter().all(|operand| operand.holds(is_true)),
            Self::Or(operands) => operands.iter().any(|operand| operand.holds(is_true)),
        }
    }

    /// All terms from left to right.
    #[must_use]
    pub fn terms(&self) -> Vec<&T> {
        let mut terms = Vec::new();
        let mut rest = vec![self];
        while let Some(expression) = rest.pop() {
            match expression {
                Self::Term(term) => terms.push(term),
                Self::Not(operand) => rest.push(operand),
                Self::And(operands) | Self::Or(operands) => rest.extend(operands.iter().rev()),
            }
        }
        terms
    }
}
