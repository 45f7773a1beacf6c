//! Gradients: from their settings to distances in nanometers.

use std::collections::BTreeMap;

use glam::Vec3;
use serde_json::Value;

use super::super::gradient::{
    GradientFile, GradientModeFile, InvertFile, PickModeFile, WeightModeFile,
};
use super::super::object::{GradientRef, GradientWeightsFile, GradientsFile, ObjectFile};
use super::super::typed;
use super::{RawItem, Resolver, join};
use crate::recipe::error::RecipeProblem;
use crate::recipe::geometry::farthest;
use crate::recipe::{Gradient, GradientMode, Inverted, PickMode, RecipeError, WeightMode};

/// Default length over which an exponential weight falls to 1/e.
const DEFAULT_DECAY: f32 = 0.3;

/// A gradient whose compartment does not exist yet.
pub(super) struct NamedGradient {
    file: GradientFile,
    place: String,
}

impl<'a> Resolver<'a> {
    /// Reads the gradients of the recipe.
    pub(super) fn named_gradients(
        &self,
        gradients: Option<&Value>,
    ) -> Result<BTreeMap<String, NamedGradient>, RecipeError> {
        let mut named = BTreeMap::new();
        match gradients {
            None | Some(Value::Null) => {}
            Some(Value::Object(by_name)) => {
                for (name, value) in by_name {
                    let place = join("gradients", name);
                    let file = typed(value, self.source, &place)?;
                    named.insert(name.clone(), NamedGradient { file, place });
                }
            }
            Some(Value::Array(list)) => {
                for (index, value) in list.iter().enumerate() {
                    let place = format!("gradients[{index}]");
                    let file: GradientFile = typed(value, self.source, &place)?;
                    let Some(name) = file.name.clone() else {
                        let expected = "expected the name of the gradient".to_owned();
                        let at = join(&place, "name");
                        return Err(self.error(at, RecipeProblem::Missing(expected)));
                    };
                    named.insert(name, NamedGradient { file, place });
                }
            }
            Some(other) => {
                let found = super::kind_of(other);
                let text = format!("expected gradients by name or a list, found {found}");
                return Err(self.error("gradients", RecipeProblem::Json(text)));
            }
        }
        Ok(named)
    }

    /// The gradients of an object, with their weights.
    pub(super) fn gradients_of(
        &self,
        object: &ObjectFile,
        named: &BTreeMap<String, NamedGradient>,
        raw: &RawItem<'a>,
    ) -> Result<Vec<(Gradient, f32)>, RecipeError> {
        let place = join(&raw.place, "gradient");
        let list = match &object.gradient {
            None => return Ok(Vec::new()),
            Some(GradientsFile::One(one)) => std::slice::from_ref(one),
            Some(GradientsFile::List(list)) => list,
        };
        let mut gradients = Vec::new();
        for (index, gradient) in list.iter().enumerate() {
            let (gradient, name) = match gradient {
                GradientRef::Name(name) => {
                    let Some(found) = named.get(name) else {
                        let known = named.keys().map(String::as_str);
                        return Err(self.unknown_name(&*place, "gradient", name, known));
                    };
                    (self.gradient(&found.file, &found.place)?, name.as_str())
                }
                GradientRef::Inline(file) => {
                    let name = file.name.as_deref().unwrap_or_default();
                    (self.gradient(file, &place)?, name)
                }
            };
            let weight = match &object.gradient_weights {
                None => 1.0,
                Some(GradientWeightsFile::List(weights)) => {
                    weights.get(index).copied().unwrap_or(0.0)
                }
                Some(GradientWeightsFile::ByName(weights)) => {
                    weights.get(name).copied().unwrap_or(0.0)
                }
            };
            if !(weight.is_finite() && weight >= 0.0) {
                let at = join(&raw.place, "gradient_weights");
                return Err(self.out_of_range(at, "a weight", "at least 0", weight));
            }
            gradients.push((gradient, weight as f32));
        }
        if !gradients.is_empty() && gradients.iter().all(|(_, weight)| *weight == 0.0) {
            let at = join(&raw.place, "gradient_weights");
            return Err(self.out_of_range(at, "one weight", "above 0", "0 for all"));
        }
        Ok(gradients)
    }

    fn gradient(&self, file: &GradientFile, place: &str) -> Result<Gradient, RecipeError> {
        let mode = self.mode(file, place)?;
        let settings = file.weight_mode_settings.unwrap_or_default();
        let power = |power| WeightMode::Power(power);
        let weight = match file.weight_mode.unwrap_or_default() {
            WeightModeFile::Linear => power(1.0),
            WeightModeFile::Square => power(2.0),
            WeightModeFile::Cube => power(3.0),
            WeightModeFile::Power => {
                let at = join(place, "weight_mode_settings.power");
                let Some(exponent) = settings.power else {
                    let expected = "expected the exponent".to_owned();
                    return Err(self.error(at, RecipeProblem::Missing(expected)));
                };
                if !(exponent.is_finite() && exponent > 0.0) {
                    return Err(self.out_of_range(at, "the exponent", "positive", exponent));
                }
                power(exponent as f32)
            }
            WeightModeFile::Exponential => {
                let at = join(place, "weight_mode_settings.decay_length");
                let decay = settings.decay_length.unwrap_or(f64::from(DEFAULT_DECAY));
                if !(decay.is_finite() && decay >= 0.0) {
                    return Err(self.out_of_range(at, "the decay length", "at least 0", decay));
                }
                WeightMode::Exponential {
                    decay: decay as f32,
                }
            }
        };
        Ok(Gradient {
            mode,
            weight,
            pick: match file.pick_mode.unwrap_or_default() {
                PickModeFile::Max => PickMode::Largest,
                PickModeFile::Min => PickMode::Smallest,
                PickModeFile::Rnd
                | PickModeFile::Linear
                | PickModeFile::Binary
                | PickModeFile::Sub
                | PickModeFile::Reg => PickMode::Random,
            },
            inverted: match file.invert {
                None => Inverted::No,
                Some(InvertFile::Weight) => Inverted::Weight,
                Some(InvertFile::Distance) => Inverted::Distance,
            },
        })
    }

    fn mode(&self, file: &GradientFile, place: &str) -> Result<GradientMode, RecipeError> {
        let settings = file.mode_settings.clone().unwrap_or_default();
        let [low, high] = self.recipe.bounds;
        let place = join(place, "mode_settings");
        let center = match settings.center.or(file.center) {
            Some(center) => self.point(center, "the center", &join(&place, "center"))?,
            None => 0.5 * (low + high),
        };
        let corners = (0..8).map(|corner| {
            let side = |axis: usize| if corner >> axis & 1 == 0 { low } else { high }[axis];
            Vec3::new(side(0), side(1), side(2))
        });
        let axis = |axis: usize| GradientMode::Axis {
            axis,
            low: low[axis],
            high: high[axis],
        };
        Ok(match file.mode.unwrap_or_default() {
            GradientModeFile::X => axis(0),
            GradientModeFile::Y => axis(1),
            GradientModeFile::Z => axis(2),
            GradientModeFile::Uniform => GradientMode::Uniform,
            GradientModeFile::Vector => {
                let at = join(&place, "direction");
                let Some(direction) = settings.direction.or(file.direction) else {
                    let expected = "expected the normal of the plane".to_owned();
                    return Err(self.error(at, RecipeProblem::Missing(expected)));
                };
                let normal = self.direction(direction, "the direction", &at)?;
                let heights = corners.map(|corner| (corner - center).dot(normal).abs());
                GradientMode::Plane {
                    center,
                    normal,
                    reach: heights.fold(0.0, f32::max),
                }
            }
            GradientModeFile::Radial => GradientMode::Radial {
                center,
                radius: match settings.radius.or(file.radius) {
                    Some(radius) => self.positive(radius, "the radius", &join(&place, "radius"))?,
                    None => corners
                        .map(|corner| corner.distance(center))
                        .fold(0.0, f32::max),
                },
            },
            GradientModeFile::Surface => {
                let at = join(&place, "object");
                let Some(object) = &settings.object else {
                    let expected = "expected the name of a compartment".to_owned();
                    return Err(self.error(at, RecipeProblem::Missing(expected)));
                };
                let compartments = &self.recipe.compartments;
                let found = compartments.iter().find(|c| {
                    let raw = self.raw.get(&*c.name);
                    let by_object = raw.and_then(|raw| raw.item.object.as_ref()) == Some(object);
                    c.surface.is_some() && (c.name == *object || by_object)
                });
                let Some((compartment, surface)) =
                    found.and_then(|c| Some((c, c.surface.clone()?)))
                else {
                    let known = compartments.iter().skip(1).map(|c| &*c.name);
                    return Err(self.unknown_name(at, "compartment", object, known));
                };
                let around = compartment.parent.map(|parent| &compartments[parent]);
                let next = around.and_then(|around| around.surface.clone());
                let next = next.filter(|_| settings.scale_to_next_surface == Some(true));
                let bounds = around.map_or(self.recipe.bounds, |around| around.bounds);
                GradientMode::Surface {
                    reach: farthest(&*surface, around.and_then(|a| a.surface.as_deref()), bounds),
                    surface,
                    next,
                }
            }
        })
    }
}
