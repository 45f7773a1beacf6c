//! Fibers: chains of links in the space inside of a compartment, or in the box.

use std::f32::consts::PI;

use glam::Vec3;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::places::{Places, region};
use super::row_maker::Variant;
use super::{Amount, Builder, GivenMolecule};
use crate::compartment::Confinement;
use crate::crowd::{CrowdMember, JointLimits};
use crate::fiber::{
    AvoidedLinks, Fiber, FiberError, FiberLink, FiberPath, Interior, MAX_LINKS, MidpointPath,
    RandomWalk, SplinePath,
};
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{Entry, FiberEntry, FiberKind, FiberLength, FiberPathKind};
use crate::recipe::rule::Rule;
use crate::recipe::{RecipeError, RecipeWarning, defaults};

/// Distance that confined walks keep from other links, in diameters.
///
/// The relaxer pushes links apart that overlap, but strands that cross can remain entangled. With
/// larger distances, long walks do not find a way into narrow spaces.
const DISTANCE: f32 = 0.25;

/// Walks that keep this distance; if none fits, the others may cross.
const AVOIDING_WALKS: u32 = 4;

/// Walks with other random numbers that are tried if one does not fit.
const WALKS: u32 = 12;

/// Random points that are tried as the start of a walk.
const STARTS: u32 = 2_000;

/// What all fibers of an entry have in common.
struct FiberPlan<'a> {
    fiber: &'a FiberEntry,
    kind: &'a FiberKind,
    link: FiberLink,
    limits: JointLimits,
    bounds: [Vec3; 2],
}

impl Builder<'_> {
    /// The number of links of each fiber of an entry: one for other molecules, none if it follows
    /// from the path.
    pub(super) fn links_of(&self, entry: &Entry) -> Result<Option<u32>, RecipeError> {
        let (Some(fiber), Some(link)) = (&entry.fiber, &self.bodies[entry.ingredient].link) else {
            return Ok(Some(1));
        };
        let Some(length) = fiber.length else {
            return Ok(None);
        };
        let links = match length {
            FiberLength::Links(links) => f64::from(links),
            FiberLength::Contour(nm) => f64::from(nm) / f64::from(link.rise()),
            FiberLength::BasePairs(_) if link.base_pairs() == 0 => {
                let name = &self.recipe.ingredients[entry.ingredient].name;
                let problem = RecipeProblem::Unsupported {
                    what: format!("a number of base pairs of '{name}', which has none"),
                    instead: "give links or length",
                };
                return Err(problem.at(&self.recipe.source, &*fiber.place));
            }
            FiberLength::BasePairs(pairs) => pairs / f64::from(link.base_pairs()),
        };
        let links = links.round().max(1.0);
        if links > f64::from(MAX_LINKS) {
            let problem = RecipeProblem::OutOfRange {
                what: "the number of links",
                allowed: "from 1 to 10,000,000",
                value: links.to_string(),
            };
            return Err(problem.at(&self.recipe.source, &*fiber.place));
        }
        Ok(Some(links as u32))
    }

    /// Adds the fibers of an entry.
    pub(super) fn add_fibers(
        &mut self,
        amount: &Amount,
        fiber: &FiberEntry,
        random: &mut Pcg64Mcg,
    ) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        let entry = &recipe.entries[amount.entry];
        let ingredient = &recipe.ingredients[entry.ingredient];
        let link = self.bodies[entry.ingredient].link.clone();
        let (Some(kind), Some(link)) = (&ingredient.fiber, link) else {
            return Ok(());
        };
        self.warn_of_ignored(entry, "fibers");
        let at = |problem: RecipeProblem| problem.at(&recipe.source, &*fiber.place);
        let extra = entry.cutoff_surface.unwrap_or(0.0) - link.radius();
        let space = region(self, entry.compartment, None, extra.max(0.0)).map_err(at)?;
        let confined = match &space {
            None => None,
            Some((index, surface)) => {
                let whole = Confinement::WholeInside { clearance: 0.0 };
                let added = self.crowd.add_placement(*index, whole);
                let placement = added.map_err(|error| at(error.into()))?;
                Some((placement, surface.clone(), whole))
            }
        };
        let placement = confined.as_ref().map(|(placement, ..)| *placement);
        let plan = FiberPlan {
            fiber,
            kind,
            limits: limits_of(kind, &link),
            bounds: recipe.compartments[entry.compartment].bounds,
            link,
        };
        let template = self.template(entry.ingredient);
        let shape = (
            self.bodies[entry.ingredient].template.clone(),
            plan.link.radius(),
        );
        let places = Places::of_links(amount.entry, shape, plan.bounds, confined);
        self.set_variants(amount.entry, vec![Variant { template, places }]);
        if self.is_restored(amount.entry) {
            let member = CrowdMember {
                template,
                placement,
                ..CrowdMember::default()
            };
            return self
                .restore_fibers(amount.entry, &plan.link, &member)
                .map_err(at);
        }
        for _ in 0..amount.count {
            let inside = space.as_ref().map(|(_, surface)| Interior {
                surface: &**surface,
                clearance: plan.link.radius(),
            });
            let links = self.links_of(entry)?.unwrap_or(0);
            let path = plan.path(links, inside.as_ref(), &self.links, random);
            let added = Fiber {
                path: path.map_err(|error| at(error.into()))?,
                link: plan.link.clone(),
                limits: plan.limits,
                placement,
                fixed: entry.fixed,
            };
            self.add_fiber(amount.entry, &added, template).map_err(at)?;
        }
        Ok(())
    }

    fn add_fiber(
        &mut self,
        entry: usize,
        fiber: &Fiber,
        template: u32,
    ) -> Result<(), RecipeProblem> {
        let members = fiber.add_with_template(&mut self.crowd, template)?;
        self.links.push(&fiber.path, fiber.link.radius());
        self.fibers[entry].push(members.clone());
        for member in members {
            self.note_link(entry, &fiber.link, member);
        }
        Ok(())
    }

    /// Adds the saved links of an entry. Their joints follow when all molecules are there.
    fn restore_fibers(
        &mut self,
        entry: usize,
        link: &FiberLink,
        member: &CrowdMember,
    ) -> Result<(), RecipeProblem> {
        let first = self.crowd.members().len() as u32;
        let saved: Vec<GivenMolecule> = self.saved_of(entry).copied().collect();
        for (molecule, index) in saved.iter().zip(first..) {
            self.crowd.add_exact_member(CrowdMember {
                pose: molecule.pose,
                fixed: molecule.fixed,
                ..*member
            })?;
            self.note_restored(molecule, index);
            self.note_link(entry, link, index);
        }
        let fibers = self.saved_fibers(entry).into_iter();
        self.fibers[entry] = fibers
            .map(|fiber| first + fiber.start..first + fiber.end)
            .collect();
        Ok(())
    }

    /// Notes a member that is a link of an entry.
    fn note_link(&mut self, entry: usize, link: &FiberLink, member: u32) {
        let pose = self.crowd.members()[member as usize].pose;
        let radius = link.radius();
        self.rows.push(self.report.row_of_entry(entry));
        self.report.count(entry);
        self.placed[entry].push((pose, radius));
        // Balls along the axis.
        let balls = (link.length() / (2.0 * radius)).ceil().max(1.0);
        for ball in 0..balls as u32 {
            let part = (ball as f32 + 0.5) / balls - 0.5;
            let along = link.axis() * (part * link.length());
            self.scatter
                .push(member, pose.transform_point(along), radius);
        }
    }

    /// Warns of what has no effect on molecules whose places are chosen in another way.
    pub(super) fn warn_of_ignored(&mut self, entry: &Entry, of: &str) {
        let is_fill = entry.rule.as_ref().is_some_and(Rule::is_fill);
        let ignored = [
            ("gradients", !entry.gradients.is_empty() && !is_fill),
            ("partners", !entry.partners.is_empty()),
            ("places", !entry.places.is_empty()),
        ];
        for (what, is_given) in ignored {
            if is_given {
                self.warnings.push(RecipeWarning {
                    place: entry.place.clone(),
                    text: format!("the {what} of {of} are ignored"),
                });
            }
        }
    }
}

/// The limits of the joints of a fiber.
fn limits_of(kind: &FiberKind, link: &FiberLink) -> JointLimits {
    let common = RandomWalk::common_bend(link.rise(), kind.persistence_length);
    let twist = if link.base_pairs() > 0 {
        defaults::MAX_TWIST
    } else {
        PI
    };
    JointLimits {
        gap: kind.max_gap.unwrap_or(Fiber::default_gap(link)),
        bend: kind.max_bend.unwrap_or(common),
        twist: kind.max_twist.unwrap_or(twist),
        ..JointLimits::default()
    }
}

impl FiberPlan<'_> {
    /// The path of the next fiber, with a given number of links if it is a walk.
    fn path(
        &self,
        links: u32,
        inside: Option<&Interior<'_>>,
        others: &AvoidedLinks,
        random: &mut Pcg64Mcg,
    ) -> Result<FiberPath, FiberError> {
        let (step, is_closed, max_bend) = (self.link.rise(), self.kind.is_closed, self.limits.bend);
        let points = || self.fiber.points.clone();
        match self.fiber.path {
            FiberPathKind::RandomWalk => self.walk(links, inside, others, random),
            FiberPathKind::Midpoint => {
                let default = MidpointPath::default();
                let path = MidpointPath {
                    points: points(),
                    step,
                    roughness: self.fiber.roughness.unwrap_or(default.roughness),
                    max_bend,
                    is_closed,
                    seed: random.random(),
                };
                path.path(inside)
            }
            FiberPathKind::ControlPoints => {
                let path = SplinePath {
                    points: points(),
                    step,
                    max_bend,
                    is_closed,
                };
                path.path(inside)
            }
        }
    }

    fn walk(
        &self,
        links: u32,
        inside: Option<&Interior<'_>>,
        others: &AvoidedLinks,
        random: &mut Pcg64Mcg,
    ) -> Result<FiberPath, FiberError> {
        let mut attempt = 1;
        loop {
            // Walks that are not confined have the statistics of worm-like chains.
            let keeps_away = inside.is_some() && attempt <= AVOIDING_WALKS;
            let distance = if keeps_away { DISTANCE } else { 0.0 };
            let avoid = 2.0 * self.link.radius() * distance;
            let walk = RandomWalk {
                links,
                step: self.link.rise(),
                persistence_length: self.kind.persistence_length,
                max_bend: self.limits.bend,
                start: self.start(inside, others, avoid, random),
                avoid,
                is_closed: self.kind.is_closed,
                seed: random.random(),
            };
            match walk.path_among(inside, others) {
                Err(FiberError::NoRoom { .. }) if attempt < WALKS => attempt += 1,
                outcome => return outcome,
            }
        }
    }

    /// A random point of the space, away from other fibers; none if it is hard to find.
    fn start(
        &self,
        inside: Option<&Interior<'_>>,
        others: &AvoidedLinks,
        avoid: f32,
        random: &mut Pcg64Mcg,
    ) -> Option<Vec3> {
        let [low, high] = self.bounds;
        let mut points = (0..STARTS).map(|_| {
            let parts = [(); 3].map(|()| random.random::<f32>());
            low + (high - low) * Vec3::from_array(parts)
        });
        points.find(|point| {
            let is_free = || avoid == 0.0 || !others.overlap_ball(*point, 0.5 * avoid);
            inside.is_none_or(|inside| inside.contains(*point)) && is_free()
        })
    }
}
