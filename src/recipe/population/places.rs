//! [`Places`]: where the molecules of an entry may be, and their next place.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use glam::{Quat, Vec3};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::body::{IngredientBody, orientation};
use super::scatter::Scatter;
use super::{Builder, RegionKey, SAMPLES};
use crate::compartment::{
    Confinement, Leaflet, OffsetSurface, Placement, Region as Space, ShapeCompartment, Surface,
    sample_unit_sphere,
};
use crate::halton::spread_point;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{Entry, Partner, Recipe, Region, RotationRange};
use crate::recipe::{Gradient, PickMode, RecipeError, RecipeWarning};

/// Candidates for the place of a molecule.
const CANDIDATES: u32 = 40;

/// Random points that are tried for one candidate, until one has enough weight and lies inside.
const POINTS: u32 = 2_000;

/// Candidates without any point in the space after which it counts as empty, so that no more are
/// tried.
const EMPTY_AFTER: u32 = 2;

/// Rotations that are tried at a point, so that long molecules fit between walls.
const ROTATIONS: u32 = 4;

/// Gap between a molecule and its partner, as a part of the sum of their radii.
const PARTNER_GAP: f32 = 0.02;

/// Distance up to which a molecule is near another one that repels it, as a part of the sum of
/// their radii.
const REPULSION: f32 = 1.5;

/// Leeway of molecules in a surface without lipids, nm.
const SURFACE_LEEWAY: f32 = 0.05;

/// How far a ball may be from the centers of the molecules of a surface to be painted onto it, nm:
/// about the thickness of a leaflet.
const MEMBRANE_REACH: f32 = 2.5;

/// Half of the thinnest box, nm: centers are in its middle.
const THIN: f32 = 1.0e-4;

/// What is there already when a molecule is placed.
pub(in crate::recipe) struct Surroundings<'a> {
    pub recipe: &'a Recipe,
    /// The molecules as balls.
    pub scatter: &'a Scatter,
    /// Pose and radius of the molecules of each entry.
    pub placed: &'a [Vec<(Pose, f32)>],
}

/// A ball that molecules are painted into.
#[derive(Clone, Copy, Debug)]
pub(in crate::recipe) struct Brush {
    /// Center, nm.
    pub center: Vec3,
    /// Radius, nm.
    pub radius: f32,
}

/// Where the molecules of an entry may be.
#[derive(Clone, Debug)]
pub(in crate::recipe) struct Places {
    /// Index of the entry; none for the ratio of a leaflet.
    entry: Option<usize>,
    template: Arc<MoleculeTemplate>,
    /// Placement in the crowd; none for a periodic box without compartments.
    pub placement: Option<u32>,
    pub radius: f32,
    target: Target,
    /// Largest weight of each gradient in the space.
    largest_weights: Vec<f32>,
}

#[derive(Clone, Debug)]
enum Target {
    /// In a box around a space: its corners, and the confinement, if there is any.
    Space {
        bounds: [Vec3; 2],
        confinement: Option<(Arc<dyn Surface>, Confinement)>,
        rotation: RotationRange,
    },
    /// In a surface.
    Surface {
        surface: Arc<dyn Surface>,
        placement: Placement,
        tilt: f32,
    },
}

/// How the next molecule is placed relative to others.
enum Wish<'a> {
    /// Anywhere.
    Anywhere,
    /// Next to this molecule.
    Beside(Pose, f32, &'a [Vec3]),
    /// In this ball.
    Within(Brush),
}

/// A place that a molecule may get.
struct Candidate {
    pose: Pose,
    /// By how much the molecule exceeds its confinement, nm.
    excess: f32,
    /// Whether the point is in the space; false if no random point was.
    is_inside: bool,
}

impl Places {
    pub(super) fn new(
        builder: &mut Builder<'_>,
        index: usize,
        body: &IngredientBody,
    ) -> Result<Self, RecipeError> {
        let recipe = builder.recipe;
        let entry = &recipe.entries[index];
        let placed = match entry.region {
            Region::Interior => inside(builder, entry, body),
            Region::Surface | Region::OuterLeaflet | Region::InnerLeaflet => {
                on_surface(builder, entry, body)
            }
        };
        let (target, placement) = placed.map_err(|p| p.at(&recipe.source, &*entry.place))?;
        let mut places = Self {
            entry: Some(index),
            template: body.template.clone(),
            placement,
            radius: body.radius,
            target,
            largest_weights: Vec::new(),
        };
        places.largest_weights = places.find_largest_weights(entry);
        Ok(places)
    }

    /// Upright in a membrane: at a placement of the crowd with this index.
    pub(super) fn in_membrane(
        entry: Option<usize>,
        template: Arc<MoleculeTemplate>,
        radius: f32,
        surface: Arc<dyn Surface>,
        (index, placement): (u32, Placement),
    ) -> Self {
        Self {
            entry,
            template,
            placement: Some(index),
            radius,
            target: Target::Surface {
                surface,
                placement,
                tilt: 0.0,
            },
            largest_weights: Vec::new(),
        }
    }

    /// Where the links of fibers are: in a box around a space, with a placement of the crowd.
    pub(super) fn of_links(
        entry: usize,
        (template, radius): (Arc<MoleculeTemplate>, f32),
        bounds: [Vec3; 2],
        confined: Option<(u32, Arc<dyn Surface>, Confinement)>,
    ) -> Self {
        Self {
            entry: Some(entry),
            template,
            placement: confined.as_ref().map(|(placement, ..)| *placement),
            radius,
            target: Target::Space {
                bounds,
                confinement: confined.map(|(_, surface, confinement)| (surface, confinement)),
                rotation: RotationRange::Any,
            },
            largest_weights: Vec::new(),
        }
    }

    /// The largest weight of each gradient in the space.
    fn find_largest_weights(&self, entry: &Entry) -> Vec<f32> {
        let points: Vec<Vec3> = match &self.target {
            _ if entry.gradients.is_empty() => return Vec::new(),
            Target::Space {
                bounds,
                confinement,
                ..
            } => {
                let is_inside = |point: &Vec3| {
                    let surface = confinement.as_ref().map(|(surface, _)| surface);
                    surface.is_none_or(|surface| surface.signed_distance(*point) <= 0.0)
                };
                let points = (0..SAMPLES).map(|index| spread_point(index, *bounds));
                points.filter(is_inside).collect()
            }
            Target::Surface {
                surface, placement, ..
            } => {
                let mut random = rand::SeedableRng::seed_from_u64(0);
                let random: &mut Pcg64Mcg = &mut random;
                let points = (0..SAMPLES).map(|_| surface.sample(placement.offset(), random));
                points.collect()
            }
        };
        let largest = |gradient: &Gradient| {
            let weights = points.iter().map(|point| gradient.weight_at(*point));
            weights.fold(0.0, f32::max)
        };
        entry.gradients.iter().map(|(g, _)| largest(g)).collect()
    }

    /// The place of the next molecule.
    pub fn next(&self, around: &Surroundings<'_>, random: &mut Pcg64Mcg) -> Pose {
        let entry = self.entry.map(|entry| &around.recipe.entries[entry]);
        let (wish, repelled) = match entry {
            Some(entry) => wish(around, entry, random),
            None => (Wish::Anywhere, Vec::new()),
        };
        self.best(around, entry, &wish, &repelled, random)
    }

    /// The place of the next molecule in a ball; none if the ball has no part of the region.
    pub fn next_within(
        &self,
        around: &Surroundings<'_>,
        brush: Brush,
        random: &mut Pcg64Mcg,
    ) -> Option<Pose> {
        let is_reached = (0..POINTS).any(|_| self.point_within(brush, random).is_some());
        is_reached.then(|| self.best(around, None, &Wish::Within(brush), &[], random))
    }

    /// The best of some candidates. Gradients are those of `entry`.
    fn best(
        &self,
        around: &Surroundings<'_>,
        entry: Option<&Entry>,
        wish: &Wish<'_>,
        repelled: &[usize],
        random: &mut Pcg64Mcg,
    ) -> Pose {
        let gradients = entry.map_or(&[][..], |entry| &entry.gradients);
        let pick = gradients.first().map_or(PickMode::Random, |(g, _)| g.pick);
        let mut best: Option<(f32, Pose)> = None;
        let mut outside = 0;
        for _ in 0..CANDIDATES {
            let Candidate {
                pose,
                excess,
                is_inside,
            } = self.candidate(gradients, wish, pick, random);
            outside += u32::from(!is_inside);
            let limit = best.map_or(f32::INFINITY, |(cost, _)| cost);
            let overlap = around
                .scatter
                .overlap(pose.position, self.radius, limit, None);
            let mut cost = excess + overlap;
            cost += self.repulsion(around, repelled, pose.position);
            if pick != PickMode::Random {
                // Overlaps first, then the weight.
                let weight = self.weight(gradients, pose.position);
                let rank = if pick == PickMode::Largest {
                    1.0 - weight
                } else {
                    weight
                };
                cost = 1.0e3 * cost + rank;
            }
            if cost < limit {
                best = Some((cost, pose));
            }
            if cost <= 0.0 || outside >= EMPTY_AFTER {
                break;
            }
        }
        best.map_or(Pose::IDENTITY, |(_, pose)| pose)
    }

    /// A random place by the weights of the gradients; none if it is not free.
    pub fn try_free(&self, around: &Surroundings<'_>, random: &mut Pcg64Mcg) -> Option<Pose> {
        let entry = self.entry.map(|entry| &around.recipe.entries[entry]);
        let gradients = entry.map_or(&[][..], |entry| &entry.gradients);
        let Candidate { pose, excess, .. } =
            self.candidate(gradients, &Wish::Anywhere, PickMode::Random, random);
        let limit = f32::MIN_POSITIVE;
        let overlap = around
            .scatter
            .overlap(pose.position, self.radius, limit, None);
        (excess <= 0.0 && overlap <= 0.0).then_some(pose)
    }

    /// By how much a pose exceeds the space of the molecules, nm.
    pub fn excess(&self, pose: &Pose) -> f32 {
        match &self.target {
            Target::Space {
                confinement: Some((surface, confinement)),
                ..
            } => {
                let excess = confinement.excess(&**surface, &self.template, pose);
                excess.height.abs()
            }
            _ => 0.0,
        }
    }

    /// A random pose.
    fn candidate(
        &self,
        gradients: &[(Gradient, f32)],
        wish: &Wish<'_>,
        pick: PickMode,
        random: &mut Pcg64Mcg,
    ) -> Candidate {
        let mut is_inside = true;
        let (pose, excess) = match &self.target {
            Target::Space {
                bounds,
                confinement,
                rotation,
            } => {
                let is_in_reach = |point: Vec3| {
                    confinement
                        .as_ref()
                        .is_none_or(|(surface, _)| surface.signed_distance(point) <= 0.0)
                };
                let point = match wish {
                    Wish::Beside(..) => self.beside(wish, random),
                    Wish::Within(brush) => self.within(*brush, random),
                    Wish::Anywhere => {
                        let draw = |random: &mut Pcg64Mcg| {
                            let parts = [(); 3].map(|()| random.random::<f32>());
                            bounds[0] + (bounds[1] - bounds[0]) * Vec3::from_array(parts)
                        };
                        let point = self.weighted(gradients, pick, random, draw, is_in_reach);
                        is_inside = is_in_reach(point);
                        point
                    }
                };
                let mut best: Option<(f32, Pose)> = None;
                for _ in 0..ROTATIONS {
                    let pose = Pose::new(point, random_rotation(*rotation, random));
                    let excess = self.excess(&pose);
                    if best.is_none_or(|(least, _)| excess < least) {
                        best = Some((excess, pose));
                    }
                    if excess <= 0.0 {
                        break;
                    }
                }
                best.map_or((Pose::from_translation(point), 0.0), |(e, pose)| (pose, e))
            }
            Target::Surface {
                surface,
                placement,
                tilt,
            } => {
                let offset = placement.offset();
                let point = match wish {
                    Wish::Beside(..) => {
                        // The point of the surface closest to the place beside the partner.
                        let point = self.beside(wish, random);
                        let at = surface.distance_and_normal(point);
                        point + at.normal * (offset - at.distance)
                    }
                    Wish::Within(brush) => self.within(*brush, random),
                    Wish::Anywhere => {
                        let draw = |random: &mut Pcg64Mcg| surface.sample(offset, random);
                        self.weighted(gradients, pick, random, draw, |_| true)
                    }
                };
                let spin = TAU * random.random::<f32>();
                let mut pose = placement.upright_pose(&**surface, point, spin);
                if *tilt > 0.0 {
                    let up = pose.rotation * placement.up;
                    let around = Quat::from_axis_angle(up, TAU * random.random::<f32>());
                    let axis = around * up.any_orthonormal_vector();
                    let angle = tilt * random.random::<f32>();
                    let tilted = Quat::from_axis_angle(axis, angle) * pose.rotation;
                    pose.rotation = tilted.normalize();
                }
                (pose, 0.0)
            }
        };
        Candidate {
            pose,
            excess,
            is_inside,
        }
    }

    /// A random point by the weights of the gradients.
    fn weighted(
        &self,
        gradients: &[(Gradient, f32)],
        pick: PickMode,
        random: &mut Pcg64Mcg,
        mut draw: impl FnMut(&mut Pcg64Mcg) -> Vec3,
        is_in_reach: impl Fn(Vec3) -> bool,
    ) -> Vec3 {
        let mut best = (-1.0, Vec3::ZERO);
        for _ in 0..POINTS {
            let point = draw(random);
            if !is_in_reach(point) {
                if best.0 < 0.0 {
                    best = (-0.5, point);
                }
                continue;
            }
            if gradients.is_empty() || pick != PickMode::Random {
                return point;
            }
            let weight = self.weight(gradients, point);
            if random.random::<f32>() < weight {
                return point;
            }
            if weight > best.0 {
                best = (weight, point);
            }
        }
        best.1
    }

    /// The weighted mean of the gradients at a point, from 0 to 1.
    fn weight(&self, gradients: &[(Gradient, f32)], point: Vec3) -> f32 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for ((gradient, weight), largest) in gradients.iter().zip(&self.largest_weights) {
            if *largest > 0.0 {
                sum += weight * (gradient.weight_at(point) / largest).min(1.0);
            }
            weights += weight;
        }
        if weights > 0.0 { sum / weights } else { 1.0 }
    }

    /// A random point in a ball, or the center of the ball if that has no part of the region.
    fn within(&self, brush: Brush, random: &mut Pcg64Mcg) -> Vec3 {
        let mut points = (0..POINTS).map(|_| self.point_within(brush, random));
        points.find_map(|point| point).unwrap_or(brush.center)
    }

    /// A random point in a ball; none if it is not in the region. On a surface, the closest point
    /// of the surface.
    fn point_within(&self, brush: Brush, random: &mut Pcg64Mcg) -> Option<Vec3> {
        let direction = sample_unit_sphere(random.random(), random.random());
        let point = brush.center + direction * brush.radius * random.random::<f32>().cbrt();
        match &self.target {
            Target::Space {
                bounds,
                confinement,
                ..
            } => {
                let is_in_box = point.cmpge(bounds[0]).all() && point.cmple(bounds[1]).all();
                let surface = confinement.as_ref().map(|(surface, _)| surface);
                let is_inside = surface.is_none_or(|surface| surface.signed_distance(point) <= 0.0);
                (is_in_box && is_inside).then_some(point)
            }
            Target::Surface {
                surface, placement, ..
            } => {
                let at = surface.distance_and_normal(point);
                let shift = placement.offset() - at.distance;
                let is_near = shift.abs() <= brush.radius + MEMBRANE_REACH;
                is_near.then(|| point + at.normal * shift)
            }
        }
    }

    /// A random point at which the molecule touches its partner, or one of its binding sites.
    fn beside(&self, wish: &Wish<'_>, random: &mut Pcg64Mcg) -> Vec3 {
        let Wish::Beside(partner, radius, sites) = wish else {
            return Vec3::ZERO;
        };
        if !sites.is_empty() {
            let site = sites[random.random_range(0..sites.len())];
            return partner.transform_point(site);
        }
        let mut direction = sample_unit_sphere(random.random(), random.random());
        if let Target::Space { bounds, .. } = &self.target {
            // In a flat box, partners are side by side.
            let size = bounds[1] - bounds[0];
            let flat = size.cmplt(Vec3::splat(self.radius));
            direction = Vec3::select(flat, Vec3::ZERO, direction).normalize_or(direction);
        }
        partner.position + direction * (radius + self.radius) * (1.0 + PARTNER_GAP)
    }

    /// A cost for places near molecules that repel this one, nm.
    fn repulsion(&self, around: &Surroundings<'_>, repelled: &[usize], point: Vec3) -> f32 {
        let mut cost: f32 = 0.0;
        for entry in repelled {
            for (other, radius) in &around.placed[*entry] {
                let reach = REPULSION * (radius + self.radius);
                cost = cost.max(reach - other.position.distance(point));
            }
        }
        cost
    }
}

/// Draws what the next molecule binds to, and which entries repel it.
fn wish<'a>(
    around: &Surroundings<'_>,
    entry: &'a Entry,
    random: &mut Pcg64Mcg,
) -> (Wish<'a>, Vec<usize>) {
    let is_there = |partner: &&Partner| {
        partner
            .entries
            .iter()
            .any(|entry| !around.placed[*entry].is_empty())
    };
    let mut repelled = Vec::new();
    for partner in entry.partners.iter().filter(|p| p.probability < 0.0) {
        if random.random::<f64>() < -partner.probability {
            repelled.extend(&partner.entries);
        }
    }
    let binding: Vec<&Partner> = entry
        .partners
        .iter()
        .filter(|p| p.probability >= 0.0)
        .collect();
    let binding: Vec<&Partner> = binding.into_iter().filter(|p| is_there(p)).collect();
    let total: f64 = binding.iter().map(|partner| partner.weight).sum();
    let mut left = random.random::<f64>() * total;
    let chosen = binding.iter().find(|partner| {
        left -= partner.weight;
        left < 0.0
    });
    let mut candidates: &[usize] = &[];
    let mut sites: &[Vec3] = &[];
    let everywhere: Vec<usize>;
    if let Some(partner) = chosen {
        if random.random::<f64>() < partner.probability {
            candidates = &partner.entries;
            sites = &partner.positions;
        }
    } else if entry.close {
        let same = |other: &usize| {
            let other = &around.recipe.entries[*other];
            other.compartment == entry.compartment && other.region == entry.region
        };
        everywhere = (0..around.placed.len()).filter(same).collect();
        candidates = &everywhere;
    }
    let number: usize = candidates
        .iter()
        .map(|entry| around.placed[*entry].len())
        .sum();
    if number == 0 {
        return (Wish::Anywhere, repelled);
    }
    let mut index = random.random_range(0..number);
    for candidate in candidates {
        let placed = &around.placed[*candidate];
        if let Some((pose, radius)) = placed.get(index) {
            return (Wish::Beside(*pose, *radius, sites), repelled);
        }
        index -= placed.len();
    }
    (Wish::Anywhere, repelled)
}

/// The space inside of a compartment, or the box.
fn inside(
    builder: &mut Builder<'_>,
    entry: &Entry,
    body: &IngredientBody,
) -> Result<(Target, Option<u32>), RecipeProblem> {
    let recipe = builder.recipe;
    let compartment = &recipe.compartments[entry.compartment];
    let rotation = recipe.ingredients[entry.ingredient].rotation;
    let reach = body.template.bounding_radius();
    let extra = entry
        .cutoff_surface
        .map_or(0.0, |cutoff| (cutoff - reach).max(0.0));
    // Along an axis where the box is thinner than the molecule, its center is in the box.
    let mut bounds = compartment.bounds;
    let mut inset = None;
    if entry.compartment == 0 && !recipe.periodic {
        let half = 0.5 * recipe.size();
        let is_thin = half.min_element() < thinnest(&body.template);
        if let Some(cutoff) = entry.cutoff_boundary {
            inset = Some((half - cutoff).max(Vec3::splat(THIN)));
        } else if is_thin {
            let whole = (half - reach).max(Vec3::splat(THIN));
            let thin = half.cmplt(Vec3::splat(thinnest(&body.template)));
            inset = Some(Vec3::select(thin, half, whole));
        }
        if let Some(half) = inset {
            let middle = 0.5 * (bounds[0] + bounds[1]);
            bounds = [middle - half, middle + half];
        }
    }
    let extra = match inset {
        // Centers keep a radius from compartments.
        Some(_) => extra + reach,
        None => extra,
    };
    let Some((index, surface)) = region(builder, entry.compartment, inset, extra)? else {
        let target = Target::Space {
            bounds,
            confinement: None,
            rotation,
        };
        return Ok((target, None));
    };
    let confinement = match inset {
        Some(_) => Confinement::Inside { distance: 0.0 },
        None => Confinement::WholeInside { clearance: 0.0 },
    };
    let placement = builder.crowd.add_placement(index, confinement)?;
    let target = Target::Space {
        bounds,
        confinement: Some((surface, confinement)),
        rotation,
    };
    Ok((target, Some(placement)))
}

/// Half of the smallest width of a molecule that turns freely, about.
fn thinnest(template: &MoleculeTemplate) -> f32 {
    template.radii().iter().copied().fold(0.0, f32::max)
}

/// The surface around a space in the crowd; none for a periodic box without compartments.
pub(super) fn region(
    builder: &mut Builder<'_>,
    compartment: usize,
    inset: Option<Vec3>,
    extra: f32,
) -> Result<Option<(u32, Arc<dyn Surface>)>, RecipeProblem> {
    let bits = inset.map(|inset| inset.to_array().map(f32::to_bits));
    let key: RegionKey = (compartment, bits, extra.to_bits());
    if let Some(known) = builder.regions.get(&key) {
        return Ok(Some(known.clone()));
    }
    let recipe = builder.recipe;
    let periodic = builder.crowd.periodic_box();
    let around: Option<Arc<dyn Surface>> = match &recipe.compartments[compartment].surface {
        Some(surface) => {
            let offset = -(builder.spaces[compartment].thickness[1] + extra);
            Some(Arc::new(OffsetSurface::new(surface.clone(), offset)))
        }
        None if periodic.is_some() => None,
        None => {
            let half = inset.unwrap_or(0.5 * recipe.size());
            let middle = 0.5 * (recipe.bounds[0] + recipe.bounds[1]);
            let pose = Pose::from_translation(middle);
            Some(Arc::new(ShapeCompartment::cuboid(half, pose)?))
        }
    };
    let mut without: Vec<Arc<dyn Surface>> = Vec::new();
    for (surface, thickness) in builder.children(compartment) {
        without.push(Arc::new(OffsetSurface::new(surface, thickness + extra)));
    }
    let surface: Arc<dyn Surface> = match around {
        Some(around) if without.is_empty() => around,
        None if without.is_empty() => return Ok(None),
        around => Arc::new(Space::new(around, without, periodic)?),
    };
    let index = builder.crowd.add_compartment(surface.clone());
    builder.regions.insert(key, (index, surface.clone()));
    Ok(Some((index, surface)))
}

/// The surface of a compartment without lipids.
fn on_surface(
    builder: &mut Builder<'_>,
    entry: &Entry,
    body: &IngredientBody,
) -> Result<(Target, Option<u32>), RecipeProblem> {
    let recipe = builder.recipe;
    let ingredient = &recipe.ingredients[entry.ingredient];
    let Some(surface) = recipe.compartments[entry.compartment].surface.clone() else {
        return Err(RecipeProblem::Unsupported {
            what: "a surface of the bounding box".to_owned(),
            instead: "put the molecules into a compartment",
        });
    };
    let orientation = orientation(ingredient, body);
    if orientation.is_guess {
        builder.warnings.push(RecipeWarning {
            place: ingredient.place.clone(),
            text: format!(
                "the orientation of '{}' in the surface is a guess; give up and depth in the block bevy_rapier_molecules",
                ingredient.name
            ),
        });
    }
    let (leaflet, depth) = match entry.region {
        Region::InnerLeaflet => (Leaflet::Inner, ingredient.depth.unwrap_or(body.radius)),
        Region::OuterLeaflet => (Leaflet::Outer, ingredient.depth.unwrap_or(body.radius)),
        _ => (Leaflet::Outer, orientation.depth),
    };
    let is_ball = body.template.atom_count() == 1;
    let placement = Placement {
        leaflet,
        depth,
        up: orientation.up,
        leeway: SURFACE_LEEWAY,
        tilt_leeway: if is_ball { PI } else { ingredient.tilt },
    };
    let index = builder.crowd.add_compartment(surface.clone());
    let added = builder.crowd.add_placement(index, placement)?;
    let tilt = if is_ball { 0.0 } else { ingredient.tilt };
    let target = Target::Surface {
        surface,
        placement,
        tilt,
    };
    Ok((target, Some(added)))
}

pub(super) fn random_rotation(range: RotationRange, random: &mut Pcg64Mcg) -> Quat {
    match range {
        RotationRange::None => Quat::IDENTITY,
        RotationRange::About { axis, range } => {
            Quat::from_axis_angle(axis, range * random.random::<f32>())
        }
        RotationRange::Any => crate::pose::random_rotation(random),
    }
}
