//! Molecules at the places where they were saved, and their joints.

use glam::{Quat, Vec3};

use super::super::additions::{JointFile, RegionFile, SavedFile};
use super::{Resolver, join};
use crate::crowd::{CrowdError, CrowdJoint, JointLimits};
use crate::pose::Pose;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{Region, SavedMolecules};
use crate::recipe::{IngredientShape, RecipeError};

impl Resolver<'_> {
    /// Adds the saved molecules and their joints, after all entries and ratios.
    pub(super) fn add_saved(&mut self) -> Result<(), RecipeError> {
        let files = std::mem::take(&mut self.additions.placements);
        for (index, file) in files.iter().enumerate() {
            let place = format!("bevy_rapier_molecules.placements[{index}]");
            let saved = self.saved(file, &place)?;
            self.recipe.saved.push(saved);
        }
        let joints = std::mem::take(&mut self.additions.joints);
        let count: usize = files.iter().map(|file| file.poses.len()).sum();
        for (index, file) in joints.iter().enumerate() {
            let place = format!("bevy_rapier_molecules.joints[{index}]");
            let joint = self.saved_joint(file, count, &place)?;
            self.recipe.saved_joints.push(joint);
        }
        Ok(())
    }

    /// A joint between two of `count` saved molecules.
    fn saved_joint(
        &self,
        file: &JointFile,
        count: usize,
        place: &str,
    ) -> Result<CrowdJoint, RecipeError> {
        let [first, second] = file.members;
        let at = || join(place, "members");
        for member in file.members {
            if member as usize >= count {
                let allowed = "less than the number of poses of all placements";
                return Err(self.out_of_range(at(), "a member", allowed, member));
            }
        }
        if first == second {
            return Err(self.error(at(), CrowdError::SelfJoint { molecule: first }));
        }
        let frame = |side: usize| {
            let at = format!("{place}.frames[{side}]");
            self.saved_pose(file.frames[side], &at)
        };
        let free = JointLimits::default();
        let limits = JointLimits {
            min_gap: self.length(file.min_gap, "a gap", &join(place, "min_gap"))?,
            gap: self.length(file.gap, "a gap", &join(place, "gap"))?,
            bend: file.bend.map_or(free.bend, |angle| angle as f32),
            twist: file.twist.map_or(free.twist, |angle| angle as f32),
        };
        let checked = limits.check().map_err(CrowdError::from);
        checked.map_err(|error| self.error(place, error))?;
        Ok(CrowdJoint {
            members: file.members,
            frames: [frame(0)?, frame(1)?],
            limits,
        })
    }

    fn saved(&self, file: &SavedFile, place: &str) -> Result<SavedMolecules, RecipeError> {
        let row = self.saved_row(file, place)?;
        let ingredient = &self.recipe.ingredients[self.recipe.rows()[row].ingredient];
        if file.conformer >= ingredient.conformers {
            let at = join(place, "conformer");
            let what = "a conformer";
            let allowed = "less than the number of conformers of the lipid";
            return Err(self.out_of_range(at, what, allowed, file.conformer));
        }
        let radius = match file.radius {
            Some(radius) => Some(self.positive(radius, "a radius", &join(place, "radius"))?),
            None => None,
        };
        if radius.is_some() && !matches!(ingredient.shape, IngredientShape::Sphere { .. }) {
            let what = "a radius of another shape than a single sphere".to_owned();
            let instead = "use the type single_sphere";
            let at = join(place, "radius");
            return Err(self.error(at, RecipeProblem::Unsupported { what, instead }));
        }
        let poses = file.poses.iter().enumerate();
        let poses = poses.map(|(index, pose)| {
            let at = format!("{place}.poses[{index}]");
            self.saved_pose(*pose, &at)
        });
        Ok(SavedMolecules {
            row,
            conformer: file.conformer,
            radius,
            fixed: file.fixed,
            poses: poses.collect::<Result<_, _>>()?,
        })
    }

    /// The row that the names of a file refer to.
    fn saved_row(&self, file: &SavedFile, place: &str) -> Result<usize, RecipeError> {
        let recipe = &self.recipe;
        let compartments = recipe.compartments.iter();
        let named = |name: &str| name == file.compartment;
        let mut known = compartments.map(|compartment| &*compartment.name);
        let Some(compartment) = known.position(named) else {
            let known = recipe.compartments.iter().map(|c| &*c.name);
            let at = join(place, "compartment");
            return Err(self.unknown_name(at, "compartment", &file.compartment, known));
        };
        let region = match file.region {
            RegionFile::Interior => Region::Interior,
            RegionFile::Surface => Region::Surface,
            RegionFile::OuterLeaflet => Region::OuterLeaflet,
            RegionFile::InnerLeaflet => Region::InnerLeaflet,
        };
        let name = file.name.as_deref().unwrap_or(&file.object);
        let rows = recipe.rows();
        let object = |ingredient: usize| &*recipe.ingredients[ingredient].name;
        let here = || {
            let rows = rows.iter().enumerate();
            rows.filter(|(_, row)| (row.compartment, row.region) == (compartment, region))
        };
        let meant =
            here().filter(|(_, row)| object(row.ingredient) == file.object && row.name == name);
        let found: Vec<usize> = meant.map(|(row, _)| row).collect();
        if found.is_empty() {
            let known = here().map(|(_, row)| object(row.ingredient));
            let at = join(place, "object");
            let kind = "such entry of this region, with the object";
            return Err(self.unknown_name(at, kind, &file.object, known));
        }
        found.get(file.nth).copied().ok_or_else(|| {
            let allowed = "less than the number of entries with these names";
            self.out_of_range(join(place, "nth"), "nth", allowed, file.nth)
        })
    }

    /// A pose that keeps the bits of a rotation that is normalized.
    fn saved_pose(&self, parts: [f64; 7], place: &str) -> Result<Pose, RecipeError> {
        let [x, y, z, rotation @ ..] = parts;
        let position: Vec3 = self.point([x, y, z], "a position", place)?;
        let pose = Pose::new(position, Quat::from_array(rotation.map(|part| part as f32)));
        if pose.is_rigid() {
            return Ok(pose.normalized_once());
        }
        let value = format!("{rotation:?}");
        Err(self.out_of_range(place, "a rotation", "a unit quaternion x, y, z, w", value))
    }
}
