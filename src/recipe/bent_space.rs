//! [`BentSpace`]: the compartments of a `.bent` file as combined solids.

use std::collections::{HashMap, HashSet};

use glam::Vec3;

use super::RecipeError;
use super::bent::{
    Anchor, Axis, BentFile, Comparison, Compartment, CompartmentShape, Expression, Limit,
};
use super::error::RecipeProblem;
use crate::compartment::{CombinedSolids, SolidIndex};

/// The compartments of a `.bent` file, resolved when they are needed.
pub(super) struct BentSpace<'a> {
    /// The solids, which share their parts.
    pub solids: CombinedSolids,
    source: &'a str,
    size: Vec3,
    by_id: HashMap<&'a str, &'a Compartment>,
    resolved: HashMap<&'a str, SolidIndex>,
}

impl<'a> BentSpace<'a> {
    /// The box of a file with its compartments; `source` is its name.
    pub fn new(file: &'a BentFile, source: &'a str, is_periodic: bool) -> Self {
        let size = vector(file.space.dimensions);
        let by_id = file.compartments.iter().map(|known| (&*known.id, known));
        Self {
            solids: CombinedSolids::new([Vec3::ZERO, size], is_periodic),
            source,
            size,
            by_id: by_id.collect(),
            resolved: HashMap::new(),
        }
    }

    /// The solid of a compartment.
    ///
    /// Chains of references can have any length, so they are followed with a stack.
    pub fn resolve(&mut self, id: &str) -> Result<SolidIndex, RecipeError> {
        let mut path = vec![self.compartment(id)?];
        let mut entered = HashSet::new();
        while let Some(next) = path.last().copied() {
            if self.resolved.contains_key(&*next.id) {
                path.pop();
                continue;
            }
            let references = next.shape.references().into_iter();
            let missing = references.filter(|id| !self.resolved.contains_key(id));
            let missing = missing.map(|id| self.compartment(id));
            let missing = missing.collect::<Result<Vec<_>, _>>()?;
            let is_new = entered.insert(&*next.id);
            if missing.is_empty() {
                let solid = self.solid(next);
                let solid = solid.map_err(|problem| self.error(&next.id, problem))?;
                self.resolved.insert(&next.id, solid);
                path.pop();
            } else if is_new {
                path.extend(missing);
            } else {
                // The reader rejects such files.
                let circle = RecipeProblem::Circle {
                    what: "compartments are defined by each other",
                    names: vec![next.id.clone()],
                };
                return Err(self.error(&next.id, circle));
            }
        }
        self.known(id).map_err(|problem| self.error(id, problem))
    }

    fn error(&self, id: &str, problem: RecipeProblem) -> RecipeError {
        problem.at(self.source, format!("compartments.{id}"))
    }

    fn compartment(&self, id: &str) -> Result<&'a Compartment, RecipeError> {
        let found = self.by_id.get(id).copied();
        found.ok_or_else(|| self.error(id, unknown(id)))
    }

    fn known(&self, id: &str) -> Result<SolidIndex, RecipeProblem> {
        self.resolved.get(id).copied().ok_or_else(|| unknown(id))
    }

    /// The solid of a compartment whose references are resolved.
    fn solid(&mut self, compartment: &Compartment) -> Result<SolidIndex, RecipeProblem> {
        match &compartment.shape {
            CompartmentShape::All => Ok(self.solids.everything()),
            CompartmentShape::Mask(path) => Err(RecipeProblem::Unsupported {
                what: format!("the mask '{path}'"),
                instead: "use a sphere, a cuboid or an expression",
            }),
            CompartmentShape::Sphere { center, radius } => {
                Ok(self.solids.ball(self.point(center), *radius as f32)?)
            }
            CompartmentShape::Cuboid { from, to } => {
                let (from, to) = (self.point(from), self.point(to));
                Ok(self.solids.cuboid(from.min(to), from.max(to)))
            }
            CompartmentShape::Where(limits) => {
                let term = |solids: &mut CombinedSolids, limit: &Limit| Ok(half(solids, limit));
                combine(&mut self.solids, limits, &term)
            }
            CompartmentShape::Within { distance, of } => {
                let of = self.known(of)?;
                Ok(self.solids.within(*distance as f32, of))
            }
            CompartmentShape::Around { distance, of } => {
                let of = self.known(of)?;
                Ok(self.solids.around(*distance as f32, of))
            }
            CompartmentShape::Combines(ids) => {
                let resolved = &self.resolved;
                let term = |_: &mut CombinedSolids, id: &String| {
                    resolved.get(&**id).copied().ok_or_else(|| unknown(id))
                };
                combine(&mut self.solids, ids, &term)
            }
        }
    }

    fn point(&self, anchor: &Anchor) -> Vec3 {
        match anchor {
            Anchor::Start => Vec3::ZERO,
            Anchor::Center => 0.5 * self.size,
            Anchor::End => self.size,
            Anchor::Point(point) => vector(*point),
        }
    }
}

/// The solid of an expression. Its depth is limited by the reader.
fn combine<T>(
    solids: &mut CombinedSolids,
    expression: &Expression<T>,
    term: &impl Fn(&mut CombinedSolids, &T) -> Result<SolidIndex, RecipeProblem>,
) -> Result<SolidIndex, RecipeProblem> {
    let mut all = |operands: &[Expression<T>]| {
        let operands = operands.iter();
        let solids = operands.map(|operand| combine(solids, operand, term));
        solids.collect::<Result<Vec<_>, _>>()
    };
    match expression {
        Expression::Term(leaf) => term(solids, leaf),
        Expression::Not(operand) => {
            let solid = combine(solids, operand, term)?;
            Ok(solids.complement(solid))
        }
        Expression::And(operands) => {
            let parts = all(operands)?;
            Ok(solids.intersection(&parts))
        }
        Expression::Or(operands) => {
            let parts = all(operands)?;
            Ok(solids.union(&parts))
        }
    }
}

/// One side of a plane.
fn half(solids: &mut CombinedSolids, limit: &Limit) -> SolidIndex {
    let axis = match limit.axis {
        Axis::X => 0,
        Axis::Y => 1,
        Axis::Z => 2,
    };
    let mut corners = [Vec3::NEG_INFINITY, Vec3::INFINITY];
    let bound = match limit.comparison {
        Comparison::Greater => &mut corners[0],
        Comparison::Less => &mut corners[1],
    };
    bound[axis] = limit.value as f32;
    solids.cuboid(corners[0], corners[1])
}

fn vector(values: [f64; 3]) -> Vec3 {
    Vec3::from_array(values.map(|value| value as f32))
}

fn unknown(id: &str) -> RecipeProblem {
    RecipeProblem::UnknownName {
        kind: "compartment",
        name: id.to_owned(),
        suggestion: None,
    }
}
