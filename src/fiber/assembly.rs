//! [`Fiber`]: links along a path, as members of a crowd.

use std::ops::Range;

use super::{FiberLink, FiberPath};
use crate::crowd::{Crowd, CrowdError, CrowdJoint, CrowdMember, JointLimits};
use crate::pose::Pose;

/// Default gap of the joints, as a part of the rise: enough room for the ends of DNA to bend.
const GAP: f32 = 1.0 / 16.0;

/// Links along a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Fiber {
    /// The link.
    pub link: FiberLink,
    /// The path.
    pub path: FiberPath,
    /// Limits of the joints. Default: a gap of a sixteenth of the rise, all angles free.
    pub limits: JointLimits,
    /// Index of the placement of its links, from [`Crowd::add_placement`]. Default: none.
    pub placement: Option<u32>,
    /// Whether a relaxer never moves its links. Default: no.
    pub fixed: bool,
}

impl Fiber {
    /// A free fiber.
    #[must_use]
    pub fn new(link: FiberLink, path: FiberPath) -> Self {
        let limits = JointLimits {
            gap: Self::default_gap(&link),
            ..JointLimits::default()
        };
        Self {
            link,
            path,
            limits,
            placement: None,
            fixed: false,
        }
    }

    /// The default gap of the joints of a link, nm: a sixteenth of its rise.
    #[must_use]
    pub fn default_gap(link: &FiberLink) -> f32 {
        GAP * link.rise()
    }

    /// Poses of the links: each in the middle between two points of the path, turned by the twist
    /// against the one before.
    #[must_use]
    pub fn poses(&self) -> Vec<Pose> {
        let points = self.path.points();
        let ends = points.iter().zip(points.iter().cycle().skip(1));
        let sides = self.path.sides(self.link.twist());
        let links = ends.zip(sides);
        let poses = links.map(|((start, end), side)| self.link.pose_between([*start, *end], side));
        poses.collect()
    }

    /// Adds a template, the links and their joints to a crowd; returns the members.
    ///
    /// # Errors
    /// [`CrowdError`] if the placement does not exist or a limit is invalid.
    pub fn add_to(&self, crowd: &mut Crowd) -> Result<Range<u32>, CrowdError> {
        let template = crowd.add_template(self.link.template().clone());
        self.add_with_template(crowd, template)
    }

    /// As [`add_to`](Self::add_to), with a template that the crowd has already.
    ///
    /// # Errors
    /// [`CrowdError`] if the template or placement does not exist or a limit is invalid.
    pub fn add_with_template(
        &self,
        crowd: &mut Crowd,
        template: u32,
    ) -> Result<Range<u32>, CrowdError> {
        self.limits.check()?;
        let first = crowd.members().len() as u32;
        for pose in self.poses() {
            crowd.add_member(CrowdMember {
                template,
                placement: self.placement,
                pose,
                fixed: self.fixed,
            })?;
        }
        let members = first..crowd.members().len() as u32;
        let [start, end] = self.link.ends();
        let mut connect = |members: [u32; 2]| {
            crowd.add_joint(CrowdJoint {
                members,
                frames: [end, start],
                limits: self.limits,
            })
        };
        for member in members.clone().skip(1) {
            connect([member - 1, member])?;
        }
        if self.path.is_closed() {
            connect([members.end - 1, members.start])?;
        }
        Ok(members)
    }
}
