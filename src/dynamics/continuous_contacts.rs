//! Continuous collision detection: contacts of members that are too fast to be detected at the
//! start of a substep.
//!
//! Detection finds spheres within the prediction distance. A member with
//! [`MovingBody::ccd`](super::MovingBody::ccd) can pass others between two substeps, so:
//!
//! 1. A search over boxes around their paths finds the pairs with such a member that may meet.
//!    Pairs that approach each other by less than the radius of an atom are left to detection.
//! 2. The [impacts](visit_impacts) of their spheres within the substep are computed, for the motion
//!    that they would make without contacts.
//! 3. The first impact of two members becomes a contact, and others that a straight motion
//!    describes well, as many as between other members and well spread. They let the spheres
//!    approach until they touch, but not further, and are solved with all others.
//! 4. After the response, the same is done with the new velocities: a member that bounces off one
//!    molecule may hit another. Impulses along the normals then limit the approach.
//!
//! The next substep finds the members close to each other. If no member is fast, a substep costs
//! one look at each body.

use glam::Vec3;
use rayon::prelude::*;

use super::contact_constraint::SubstepParams;
use super::contact_reduction::deepest_of_buckets;
use super::external_contact::BoundContact;
use super::members::Members;
use super::{
    BodyIndex, ContactConstraint, ContactSide, ExternalContact, Impulse, MemberIndex, MovingBody,
    OwnerIndex, PairResponse,
};
use crate::pose::RigidMotion;
use crate::search::boxes::{BoxGrid, BoxSearch, BoxSet};
use crate::search::{Impact, MovingMolecule, Pair, PairBuffer, RigidSpheres, visit_impacts};

/// Marks the keys of these contacts, which are those of no external contact.
const KEY: u64 = 1 << 63;

/// Maximum number of times that the motion after the response is tested again.
const MAX_ROUNDS: usize = 8;

/// Iterations over the contacts that limit it.
const ITERATIONS: usize = 8;

/// Error of the way to an impact, relative to it, beyond which a straight motion does not describe
/// it: the members rotate too far.
const MAX_ERROR: f32 = 0.1;

/// Coefficient of restitution with which a contact keeps the speed at which its gap closes; with
/// zero it would stop the spheres at once.
const KEEP_APPROACH: f32 = -1.0;

/// Two members of which one is fast, and their first impact within a substep: `a` < `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrowdImpact {
    /// The smaller index.
    pub a: MemberIndex,
    /// The larger index.
    pub b: MemberIndex,
    /// When and where they would touch without the response to contacts. Spheres are indices
    /// within their members.
    pub impact: Impact,
}

/// Finds the contacts of fast members. Keeps its memory.
#[derive(Default)]
pub(super) struct ContinuousContacts {
    /// The path of each owner.
    boxes: BoxSet,
    search: BoxGrid,
    pairs: PairBuffer,
    /// Pairs of owners that may meet, sorted.
    candidates: Vec<[OwnerIndex; 2]>,
    impacts: Vec<CrowdImpact>,
    contacts: Vec<BoundContact>,
    /// Whether members are fast in this substep.
    is_active: bool,
    /// Number of substeps, so that no contact continues from another one.
    substeps: u32,
    /// The bodies after the response.
    moved: Vec<MovingBody>,
}

/// The members in a substep.
struct Substep<'a> {
    members: &'a Members,
    /// The bodies of the owners.
    bodies: &'a [MovingBody],
    /// Length of the substep, s.
    dt: f32,
    /// Distance within which detection finds contacts, nm.
    prediction_distance: f32,
    /// Gap at which surfaces touch, nm.
    touch_gap: f32,
}

impl ContinuousContacts {
    /// Finds the impacts and contacts of a substep with these members and bodies.
    pub fn find(&mut self, members: &Members, bodies: &[MovingBody], params: &SubstepParams) {
        self.clear();
        let substep = Substep::new(members, bodies, params);
        self.is_active = substep.has_fast_members();
        if !self.is_active {
            return;
        }
        self.substeps = self.substeps.wrapping_add(1);
        for meeting in self.meetings(&substep) {
            self.impacts.push(substep.impact(&meeting));
            let key = KEY | u64::from(self.substeps) << 31;
            for (index, impact) in (self.contacts.len() as u64..).zip(&meeting.kept) {
                self.contacts
                    .extend(substep.contact(&meeting, impact, key | index));
            }
        }
    }

    /// Tests the motion after the response, and changes the `impulses` on the bodies so that fast
    /// members do not pass others.
    pub fn limit(
        &mut self,
        members: &Members,
        bodies: &[MovingBody],
        params: &SubstepParams,
        impulses: &mut [Impulse],
    ) {
        if !self.is_active || impulses.iter().all(Impulse::is_zero) {
            return;
        }
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        moved.extend(bodies.iter().take(members.owners().len()));
        for (body, impulse) in moved.iter_mut().zip(&*impulses) {
            body.velocity = predicted_velocity(body, params.dt);
            body.acceleration = Vec3::ZERO;
            push(body, impulse);
        }
        let found = self.contacts.iter();
        let mut contacts: Vec<_> = found
            .map(|bound| bound.constraint(&moved, params))
            .collect();
        for _ in 0..MAX_ROUNDS {
            // The slop keeps apart what has been stopped already.
            let substep = Substep {
                touch_gap: -params.config.slop,
                ..Substep::new(members, &moved, params)
            };
            let meetings = self.meetings(&substep);
            if meetings.is_empty() {
                break;
            }
            for meeting in &meetings {
                self.impacts.push(substep.impact(meeting));
                let kept = meeting.kept.iter();
                let kept = kept.filter_map(|impact| substep.contact(meeting, impact, KEY));
                contacts.extend(kept.map(|bound| bound.constraint(&moved, params)));
            }
            for _ in 0..ITERATIONS {
                for contact in &mut contacts {
                    stop_approach(contact, params.dt, &mut moved, impulses);
                }
            }
        }
        self.moved = moved;
        self.impacts.sort_by_key(|met| (met.a, met.b));
        self.impacts.dedup_by_key(|met| (met.a, met.b));
    }

    /// The first impact of each two members that meet, sorted.
    pub fn impacts(&self) -> &[CrowdImpact] {
        &self.impacts
    }

    /// The contacts.
    pub fn contacts(&self) -> &[BoundContact] {
        &self.contacts
    }

    /// Removes impacts and contacts.
    pub fn clear(&mut self) {
        self.impacts.clear();
        self.contacts.clear();
        self.is_active = false;
    }

    /// The pairs of members that meet in a substep.
    fn meetings(&mut self, substep: &Substep<'_>) -> Vec<Meeting> {
        self.find_candidates(substep);
        let candidates = self.candidates.par_iter();
        candidates
            .filter_map(|owners| substep.meeting(*owners))
            .collect()
    }

    /// Finds the pairs of owners that may meet.
    fn find_candidates(&mut self, substep: &Substep<'_>) {
        self.candidates.clear();
        self.boxes.clear();
        for owner in (0..substep.bodies.len() as u32).map(OwnerIndex) {
            let (low, high) = substep.path(owner);
            // Members that are too far away for a search are reported by the detection.
            if self.boxes.push(low, high, owner.0).is_err() {
                return;
            }
        }
        let found = self.search.find_box_pairs(&self.boxes, &mut self.pairs);
        if found.is_ok() {
            let owners = self
                .pairs
                .iter()
                .map(|pair| [pair.a, pair.b].map(OwnerIndex));
            self.candidates
                .extend(owners.filter(|owners| substep.may_meet(*owners)));
        }
        self.candidates.sort_unstable();
    }
}

/// The impacts of two owners.
struct Meeting {
    owners: [OwnerIndex; 2],
    first: Impact,
    /// Those that become contacts.
    kept: Vec<Impact>,
}

impl<'a> Substep<'a> {
    fn new(members: &'a Members, bodies: &'a [MovingBody], params: &SubstepParams) -> Self {
        Self {
            members,
            bodies: &bodies[..members.owners().len()],
            dt: params.dt,
            prediction_distance: params.config.prediction_distance,
            touch_gap: 0.0,
        }
    }

    fn spheres(&self, owner: OwnerIndex) -> &'a RigidSpheres {
        let member = self.members.member(owner);
        &self.members.all()[member.index()].spheres
    }

    fn body(&self, owner: OwnerIndex) -> &'a MovingBody {
        &self.bodies[owner.index()]
    }

    /// The motion of a body without contacts. World frame.
    fn motion(&self, body: &MovingBody) -> RigidMotion {
        RigidMotion {
            translation: predicted_velocity(body, self.dt) * self.dt,
            rotation: body.angular_velocity * self.dt,
        }
    }

    /// Largest distance of a surface of a member from its center of mass, nm.
    fn reach(&self, owner: OwnerIndex) -> f32 {
        let pose = &self.body(owner).pose;
        self.spheres(owner).bounding_radius() + pose.position.distance(self.body(owner).center)
    }

    /// Upper bound on the displacement of any sphere of a member in the substep, nm.
    fn travel(&self, owner: OwnerIndex) -> f32 {
        let motion = self.motion(self.body(owner));
        motion.max_displacement(self.reach(owner))
    }

    /// Approach, nm, up to which two members are left to the detection: no sphere passes another.
    fn max_detected_approach(&self, owners: [OwnerIndex; 2]) -> f32 {
        let [one, other] = owners.map(|owner| self.spheres(owner).smallest_radius());
        self.prediction_distance + one.min(other)
    }

    /// Whether a member may be fast enough for a continuous test.
    fn has_fast_members(&self) -> bool {
        if !self.bodies.iter().any(|body| body.ccd) {
            return false;
        }
        let (mut max_travel, mut max_ccd_travel) = (0.0_f32, 0.0_f32);
        let mut min_radius = f32::INFINITY;
        for owner in (0..self.bodies.len() as u32).map(OwnerIndex) {
            let travel = self.travel(owner);
            max_travel = max_travel.max(travel);
            min_radius = min_radius.min(self.spheres(owner).smallest_radius());
            if self.body(owner).ccd {
                max_ccd_travel = max_ccd_travel.max(travel);
            }
        }
        max_travel + max_ccd_travel > self.prediction_distance + min_radius
    }

    /// Corners of a box around the path of a member, nm.
    fn path(&self, owner: OwnerIndex) -> (Vec3, Vec3) {
        let body = self.body(owner);
        let end = body.center + self.motion(body).translation;
        let reach = self.reach(owner);
        (body.center.min(end) - reach, body.center.max(end) + reach)
    }

    /// Whether the continuous test is needed for two members `a` < `b`.
    fn may_meet(&self, owners: [OwnerIndex; 2]) -> bool {
        let bodies = owners.map(|owner| self.body(owner));
        if !bodies.iter().any(|body| body.ccd) || !bodies.iter().any(|body| body.is_movable()) {
            return false;
        }
        self.max_approach(owners) > self.max_detected_approach(owners)
            && self.members.response(owners[0], owners[1]) != PairResponse::Ignore
    }

    /// Upper bound on the approach of any spheres of two members, nm.
    fn max_approach(&self, owners: [OwnerIndex; 2]) -> f32 {
        let [one, other] = owners.map(|owner| self.motion(self.body(owner)));
        let turn = |motion: &RigidMotion, owner| motion.rotation.length() * self.reach(owner);
        one.translation.distance(other.translation)
            + turn(&one, owners[0])
            + turn(&other, owners[1])
    }

    /// The impacts of two members, if there are any.
    fn meeting(&self, owners: [OwnerIndex; 2]) -> Option<Meeting> {
        let [a, b] = owners.map(|owner| {
            let body = self.body(owner);
            MovingMolecule {
                spheres: self.spheres(owner),
                pose: body.pose,
                center: body.center,
                motion: self.motion(body),
            }
        });
        let mut impacts: Vec<Impact> = Vec::new();
        visit_impacts(&a, &b, self.touch_gap, |impact| {
            // Those that touch at the start are detected.
            if impact.fraction > 0.0 {
                impacts.push(impact);
            }
            1.0
        });
        let earliest = impacts.iter();
        let first = *earliest.min_by(|one, other| one.fraction.total_cmp(&other.fraction))?;
        impacts.retain(|impact| *impact == first || self.is_straight(owners, impact));
        impacts.sort_unstable_by_key(|impact| (impact.a, impact.b));
        let pair = |impact: &Impact| Pair {
            a: impact.a,
            b: impact.b,
        };
        let pairs: Vec<Pair> = impacts.iter().map(pair).collect();
        let times: Vec<f32> = impacts.iter().map(|one| one.fraction as f32).collect();
        let kept = deepest_of_buckets(&pairs, &times);
        let kept = kept.filter_map(|kept| {
            let index = pairs.binary_search(&kept).ok()?;
            Some(impacts[index])
        });
        Some(Meeting {
            owners,
            first,
            kept: kept.collect(),
        })
    }

    fn impact(&self, meeting: &Meeting) -> CrowdImpact {
        let [a, b] = meeting.owners.map(|owner| self.members.member(owner));
        let impact = meeting.first;
        CrowdImpact { a, b, impact }
    }

    /// Whether two spheres approach an impact in about a straight line.
    fn is_straight(&self, owners: [OwnerIndex; 2], impact: &Impact) -> bool {
        let [a, b] = [(owners[0], impact.a), (owners[1], impact.b)].map(|(owner, sphere)| {
            let (spheres, index) = (self.spheres(owner), sphere as usize);
            let pose = &self.body(owner).pose;
            (
                pose.transform_point(spheres.centers()[index]),
                spheres.radii()[index],
            )
        });
        let gap = (b.0 - a.0).dot(impact.normal) - a.1 - b.1 - self.touch_gap;
        let (_, straight) = self.way_to(owners, impact);
        (gap - straight).abs() <= MAX_ERROR * straight
    }

    /// The point at the start of the substep that moves to the point of impact, nm, and how far two
    /// members approach each other there until then, nm.
    fn way_to(&self, owners: [OwnerIndex; 2], impact: &Impact) -> (Vec3, f32) {
        let bodies = owners.map(|owner| self.body(owner));
        let time = impact.fraction as f32 * self.dt;
        let velocities = bodies.map(|body| predicted_velocity(body, self.dt));
        // It moves with the body that gives way.
        let [one, other] = bodies.map(|body| body.inverse_mass.element_sum());
        let share = if one + other > 0.0 {
            one / (one + other)
        } else {
            0.5
        };
        let point = impact.point - velocities[1].lerp(velocities[0], share) * time;
        let [on_a, on_b] = [0, 1].map(|k| {
            let lever = point - bodies[k].center;
            velocities[k] + bodies[k].angular_velocity.cross(lever)
        });
        (point, (on_a - on_b).dot(impact.normal) * time)
    }

    /// The contact that holds at an impact; none if the members do not push each other.
    fn contact(&self, meeting: &Meeting, impact: &Impact, key: u64) -> Option<BoundContact> {
        let owners = meeting.owners;
        if self.members.response(owners[0], owners[1]) != PairResponse::Push {
            return None;
        }
        let material = self.members.material_between(owners[0], owners[1]);
        let (point, approach) = self.way_to(owners, impact);
        let [a, b] = owners.map(|owner| ContactSide::Member(self.members.member(owner)));
        Some(BoundContact {
            contact: ExternalContact {
                a,
                b,
                key,
                normal: impact.normal,
                point,
                gap: approach.max(0.0),
                friction: material.friction,
                restitution: if material.restitution > 0.0 {
                    material.restitution
                } else {
                    KEEP_APPROACH
                },
            },
            bodies: owners.map(OwnerIndex::body),
        })
    }
}

/// Velocity of the center of mass at the end of a substep without contacts, nm/s.
fn predicted_velocity(body: &MovingBody, dt: f32) -> Vec3 {
    if body.asleep {
        body.velocity
    } else {
        body.velocity + body.acceleration * dt
    }
}

/// Applies an impulse to a body, unless it sleeps.
fn push(body: &mut MovingBody, impulse: &Impulse) {
    if !body.asleep {
        body.velocity += body.inverse_mass * impulse.linear;
        body.angular_velocity += body.inverse_inertia * impulse.angular;
    }
}

/// Applies the impulse after which a gap closes at most, and adds it to `impulses`.
fn stop_approach(
    contact: &mut ContactConstraint,
    dt: f32,
    bodies: &mut [MovingBody],
    impulses: &mut [Impulse],
) {
    let [a, b] = [contact.a, contact.b].map(BodyIndex::index);
    let [normal_a, _, normal_b, _] = contact.mobility;
    if normal_a + normal_b <= 0.0 {
        return;
    }
    let velocity = bodies[b].velocity_at(contact.lever_b) - bodies[a].velocity_at(contact.lever_a);
    let speed = velocity.dot(contact.normal) + contact.gap / dt;
    let accumulated = (contact.normal_impulse - speed / (normal_a + normal_b)).max(0.0);
    let change = contact.normal * (accumulated - contact.normal_impulse);
    contact.normal_impulse = accumulated;
    for (body, linear, lever, mobility) in [
        (a, -change, contact.lever_a, normal_a),
        (b, change, contact.lever_b, normal_b),
    ] {
        // Immovable in this contact.
        if mobility == 0.0 {
            continue;
        }
        let impulse = Impulse {
            linear,
            angular: lever.cross(linear),
        };
        push(&mut bodies[body], &impulse);
        impulses[body] += impulse;
    }
}
