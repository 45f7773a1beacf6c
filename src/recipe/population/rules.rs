//! Molecules at places relative to others: poses by the rule of their entry, and joints that keep
//! them.

use std::collections::hash_map::{Entry, HashMap};
use std::ops::Range;

use glam::Vec3;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::bonds::{Bond, Bound, Seat};
use super::places::Places;
use super::row_maker::Variant;
use super::touch::balls_of;
use super::{Amount, Builder, GivenMolecule, MAX_MOLECULES};
use crate::crowd::CrowdJoint;
use crate::fiber::FiberLink;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::BodyAxis;
use crate::recipe::rule::{Attachment, Interval, Rule, RuleKind};
use crate::recipe::{RecipeError, RecipeWarning};

/// Candidates for the place of a molecule.
const CANDIDATES: u32 = 16;

/// The molecules that a rule places.
struct Ruled<'a> {
    entry: usize,
    rule: &'a Rule,
    template: u32,
    places: Places,
    bound: Bound<'a>,
    /// The molecules that the rule refers to.
    others: Vec<u32>,
    /// Whether the molecules never move.
    is_fixed: bool,
}

impl Ruled<'_> {
    /// One of the molecules at a pose.
    fn molecule(&self, pose: Pose) -> GivenMolecule {
        GivenMolecule::new(pose, self.is_fixed)
    }
}

/// Place of a molecule along a fiber.
struct Stop {
    /// The links of the fiber.
    fiber: Range<u32>,
    /// The link.
    member: u32,
    /// From the middle of the link along its axis, nm.
    offset: f32,
    /// Angle about the axis, in the frame of the link, radian; none for a random one.
    angle: Option<f32>,
}

impl Builder<'_> {
    /// Adds the molecules of an entry with a rule.
    pub(super) fn add_by_rule(
        &mut self,
        amount: &Amount,
        rule: &Rule,
        random: &mut Pcg64Mcg,
    ) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        let entry = &recipe.entries[amount.entry];
        self.warn_of_ignored(entry, "entries with a rule");
        let body = self.bodies[entry.ingredient].clone();
        let ingredient = &recipe.ingredients[entry.ingredient];
        let ruled = Ruled {
            entry: amount.entry,
            rule,
            template: self.template(entry.ingredient),
            places: Places::new(self, amount.entry, &body)?,
            bound: Bound {
                template: &body.template,
                up: match ingredient.axis {
                    BodyAxis::Up(up) | BodyAxis::Principal(up) => Some(up),
                    BodyAxis::Unknown => None,
                },
                rotation: ingredient.rotation,
            },
            others: self.members_of(&rule.entries),
            is_fixed: entry.fixed,
        };
        let variant = Variant {
            template: ruled.template,
            places: ruled.places.clone(),
        };
        self.set_variants(amount.entry, vec![variant]);
        if self.is_restored(amount.entry) {
            let saved: Vec<GivenMolecule> = self.saved_of(amount.entry).copied().collect();
            for molecule in saved {
                self.place(amount.entry, ruled.template, &ruled.places, molecule)?;
            }
            return Ok(());
        }
        if ruled.others.is_empty() && !rule.is_fill() {
            let text = format!(
                "there are no molecules of '{}', so that none are placed",
                rule.of
            );
            self.warn_of_rule(rule, text);
            return Ok(());
        }
        match rule.kind {
            RuleKind::OnSurfaceOf { per_instance } => {
                let number = self.number_on_surfaces(&ruled, amount.count, per_instance)?;
                for index in 0..number {
                    let chosen = per_instance.map(|each| ruled.others[(index / each) as usize]);
                    self.add_bound(&ruled, random, |builder, random| {
                        let other = chosen.unwrap_or_else(|| ruled.random_other(random));
                        let template = builder.template_of(other);
                        (other, ruled.bound.on_surface(template, random))
                    })?;
                }
                Ok(())
            }
            RuleKind::DistanceFrom { min, max } => {
                for _ in 0..amount.count {
                    self.add_bound(&ruled, random, |_, random| {
                        let other = ruled.random_other(random);
                        (other, ruled.bound.at_distance([min, max], random))
                    })?;
                }
                Ok(())
            }
            RuleKind::AttachedTo(attachment) => {
                self.attach(&ruled, &attachment, amount.count, random)
            }
            RuleKind::Along {
                every,
                distance,
                turn,
            } => self.add_along(&ruled, every, distance, turn, random),
            RuleKind::Fill { failures } => self.fill(&ruled, failures, random),
        }
    }

    /// The number of molecules on the surfaces of others: the count, or a number on each.
    fn number_on_surfaces(
        &self,
        ruled: &Ruled<'_>,
        count: u32,
        per_instance: Option<u32>,
    ) -> Result<u32, RecipeError> {
        let Some(each) = per_instance else {
            return Ok(count);
        };
        let number = ruled.others.len() as f64 * f64::from(each);
        self.check_number(ruled.rule, number)?;
        Ok(number as u32)
    }

    /// Adds molecules at a site of others: of each, or of as many random ones as the count.
    fn attach(
        &mut self,
        ruled: &Ruled<'_>,
        attachment: &Attachment,
        count: u32,
        random: &mut Pcg64Mcg,
    ) -> Result<(), RecipeError> {
        let mut others = ruled.others.clone();
        if !attachment.at_each {
            let there = others.len();
            for index in 0..there.min(count as usize) {
                let other = random.random_range(index..there);
                others.swap(index, other);
            }
            others.truncate(count as usize);
            if there < count as usize {
                let of = &ruled.rule.of;
                let text = format!("{count} molecules cannot be attached to {there} of '{of}'");
                self.warn_of_rule(ruled.rule, text);
            }
        }
        // By template: lipids have conformers.
        let mut bonds: HashMap<u32, Vec<Bond>> = HashMap::new();
        for other in others {
            let template = self.crowd.members()[other as usize].template;
            let bonds =
                match bonds.entry(template) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(vacant) => {
                        let shape = self.template_of(other);
                        let made = ruled.bound.attached(shape, attachment, random);
                        vacant.insert(made.map_err(|problem| {
                            problem.at(&self.recipe.source, &*ruled.rule.place)
                        })?)
                    }
                };
            self.add_bound(ruled, random, |_, random| {
                (other, bonds[random.random_range(0..bonds.len())])
            })?;
        }
        Ok(())
    }

    /// Adds molecules beside fibers.
    fn add_along(
        &mut self,
        ruled: &Ruled<'_>,
        every: Interval,
        distance: Option<f32>,
        turn: Option<[f32; 2]>,
        random: &mut Pcg64Mcg,
    ) -> Result<(), RecipeError> {
        for &entry in &ruled.rule.entries {
            let ingredient = self.recipe.entries[entry].ingredient;
            let Some(link) = self.bodies[ingredient].link.clone() else {
                continue;
            };
            for fiber in self.fibers[entry].clone() {
                let stops = self.stops(ruled.rule, fiber, &link, every, turn)?;
                for stop in stops {
                    let seat = Seat {
                        link: &link,
                        still: self.balls_around(
                            &stop,
                            &link,
                            ruled.bound.template.bounding_radius(),
                        ),
                        offset: stop.offset,
                        angle: stop.angle,
                        distance,
                    };
                    self.add_bound(ruled, random, |_, random| {
                        (stop.member, ruled.bound.beside(&seat, random))
                    })?;
                }
            }
        }
        Ok(())
    }

    /// The places along a fiber, the first after half an interval.
    fn stops(
        &self,
        rule: &Rule,
        fiber: Range<u32>,
        link: &FiberLink,
        every: Interval,
        turn: Option<[f32; 2]>,
    ) -> Result<Vec<Stop>, RecipeError> {
        let (links, rise) = (f64::from(fiber.end - fiber.start), f64::from(link.rise()));
        // In links from the start of the fiber.
        let step = match every {
            Interval::Links(links) => f64::from(links),
            Interval::Spacing(nm) => f64::from(nm) / rise,
        };
        let number = (links / step + 0.5).floor();
        self.check_number(rule, number)?;
        let stops = (0..number as u32).map(|index| {
            let along = (f64::from(index) + 0.5) * step;
            let before = along.floor().min(links - 1.0);
            let offset = match every {
                Interval::Links(_) => 0.0,
                Interval::Spacing(_) => (along - before - 0.5) * rise,
            };
            // The frame of a link is turned by the twists of those before.
            let angle = turn.map(|[angle, turn]| {
                let twists = before * f64::from(link.twist());
                let angle = f64::from(angle) + f64::from(index) * f64::from(turn) - twists;
                (angle % std::f64::consts::TAU) as f32
            });
            Stop {
                fiber: fiber.clone(),
                member: fiber.start + before as u32,
                offset: offset as f32,
                angle,
            }
        });
        Ok(stops.collect())
    }

    /// The spheres of a link and of its neighbors within a distance, in the frame of the link.
    fn balls_around(&self, stop: &Stop, link: &FiberLink, reach: f32) -> Vec<(Vec3, f32)> {
        let neighbors = (reach / link.rise()).ceil() as u32 + 1;
        let first = stop.member.saturating_sub(neighbors).max(stop.fiber.start);
        let end = stop
            .member
            .saturating_add(neighbors + 1)
            .min(stop.fiber.end);
        let members = self.crowd.members();
        let home = members[stop.member as usize].pose;
        let mut balls = Vec::new();
        for member in &members[first as usize..end as usize] {
            let relative = Pose::new(
                home.inverse_transform_point(member.pose.position),
                (home.rotation.inverse() * member.pose.rotation).normalize(),
            );
            balls.extend(balls_of(self.crowd.template_of(member), &relative));
        }
        balls
    }

    /// Adds molecules at random places until none is free several times in a row.
    fn fill(
        &mut self,
        ruled: &Ruled<'_>,
        failures: u32,
        random: &mut Pcg64Mcg,
    ) -> Result<(), RecipeError> {
        let mut failed = 0;
        while failed < failures {
            let Some(pose) = ruled.places.try_free(&self.surroundings(), random) else {
                failed += 1;
                continue;
            };
            self.check_number(ruled.rule, 1.0)?;
            self.place(
                ruled.entry,
                ruled.template,
                &ruled.places,
                ruled.molecule(pose),
            )?;
            failed = 0;
        }
        Ok(())
    }

    /// Adds a molecule at the best of some random candidates, each with the molecule that it is
    /// bound to.
    fn add_bound(
        &mut self,
        ruled: &Ruled<'_>,
        random: &mut Pcg64Mcg,
        mut draw: impl FnMut(&Self, &mut Pcg64Mcg) -> (u32, Bond),
    ) -> Result<(), RecipeError> {
        let mut best: Option<(f32, u32, Bond, Pose)> = None;
        for _ in 0..CANDIDATES {
            let (other, bond) = draw(self, random);
            let pose = self.crowd.members()[other as usize].pose * bond.pose;
            let limit = best.as_ref().map_or(f32::INFINITY, |(cost, ..)| *cost);
            let radius = ruled.places.radius;
            let overlap = self
                .scatter
                .overlap(pose.position, radius, limit, Some(other));
            let cost = ruled.places.excess(&pose) + overlap;
            if cost < limit {
                best = Some((cost, other, bond, pose));
            }
            if cost <= 0.0 {
                break;
            }
        }
        let Some((_, other, bond, pose)) = best else {
            return Ok(());
        };
        let member = self.place(
            ruled.entry,
            ruled.template,
            &ruled.places,
            ruled.molecule(pose),
        )?;
        let joint = CrowdJoint {
            members: [member, other],
            frames: bond.frames,
            limits: bond.limits,
        };
        let added = self.crowd.add_joint(joint);
        let at = |problem: RecipeProblem| problem.at(&self.recipe.source, &*ruled.rule.place);
        added.map_err(|error| at(error.into()))
    }

    /// Checks that more molecules fit into the memory.
    fn check_number(&self, rule: &Rule, more: f64) -> Result<(), RecipeError> {
        let count = self.crowd.members().len() as f64 + more;
        if count <= f64::from(MAX_MOLECULES) {
            return Ok(());
        }
        let max = MAX_MOLECULES;
        Err(RecipeProblem::TooMany { count, max }.at(&self.recipe.source, &*rule.place))
    }

    /// The members of the crowd that belong to entries.
    fn members_of(&self, entries: &[usize]) -> Vec<u32> {
        let members = (0..).zip(&self.rows);
        let found = members.filter(|(_, row)| entries.contains(&(**row as usize)));
        found.map(|(member, _)| member).collect()
    }

    fn template_of(&self, member: u32) -> &MoleculeTemplate {
        let crowd = &self.crowd;
        crowd.template_of(&crowd.members()[member as usize])
    }

    fn warn_of_rule(&mut self, rule: &Rule, text: String) {
        self.warnings.push(RecipeWarning {
            place: rule.place.clone(),
            text,
        });
    }
}

impl Ruled<'_> {
    fn random_other(&self, random: &mut Pcg64Mcg) -> u32 {
        self.others[random.random_range(0..self.others.len())]
    }
}
