//! [`Scene`]: kinds of molecules and the poses of all molecules.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Vec3;

use crate::crowd::{Crowd, CrowdError, CrowdMember};
use crate::molecule::MoleculeTemplate;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// Molecules of several kinds at their poses.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Name, the title of files.
    pub name: String,
    /// Kinds of molecules. Molecules are counted kind by kind.
    pub kinds: Vec<SceneKind>,
    /// The box that repeats in space.
    pub periodic_box: Option<PeriodicBox>,
    /// Lowest and highest corner of the space that the molecules are in, nm; none for a box around
    /// all atoms. A periodic box has its lowest corner here, else at the origin.
    pub bounds: Option<[Vec3; 2]>,
}

/// Molecules with one structure and one name.
#[derive(Clone, Debug)]
pub struct SceneKind {
    /// Name, such as `popc`. Conformers of a molecule are kinds of the same name.
    pub name: String,
    /// Names of the groups that contain it, from the outermost to the innermost, such as `vesicle`,
    /// `outer_leaflet`.
    pub path: Vec<String>,
    /// The structure.
    pub template: Arc<MoleculeTemplate>,
    /// The structure file, if known, as another program would look it up.
    pub file: Option<String>,
    /// Color, red, green and blue from 0 to 1.
    pub color: Option<[f32; 3]>,
    /// What a molecular dynamics program calls it.
    pub topology: Topology,
    /// Pose of each molecule: center of mass (nm) and rotation.
    pub poses: Vec<Pose>,
}

/// What a molecular dynamics program knows a molecule by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Name of the molecule type; none for the name of the kind.
    pub molecule_type: Option<String>,
    /// Files to include, such as `popc.itp`.
    pub includes: Vec<String>,
}

impl SceneKind {
    /// A kind without molecules, groups, color and topology.
    #[must_use]
    pub fn new(name: impl Into<String>, template: Arc<MoleculeTemplate>) -> Self {
        Self {
            name: name.into(),
            path: Vec::new(),
            template,
            file: None,
            color: None,
            topology: Topology::default(),
            poses: Vec::new(),
        }
    }

    /// Name of the molecule type in topologies.
    #[must_use]
    pub fn molecule_type(&self) -> &str {
        self.topology.molecule_type.as_deref().unwrap_or(&self.name)
    }
}

impl Scene {
    /// The members of a crowd, those with the same group (a number) and template as one kind, which
    /// `kind_of` makes without poses. Kinds are in the order of the groups.
    ///
    /// Also returns which member each molecule of the scene is.
    #[must_use]
    pub fn of_crowd(
        crowd: &Crowd,
        group_of: impl Fn(usize) -> usize,
        kind_of: impl Fn(usize, &Arc<MoleculeTemplate>) -> SceneKind,
    ) -> (Self, Vec<u32>) {
        let mut groups: BTreeMap<(usize, u32), Vec<u32>> = BTreeMap::new();
        for (index, member) in crowd.members().iter().enumerate() {
            let group = groups
                .entry((group_of(index), member.template))
                .or_default();
            group.push(index as u32);
        }
        let mut scene = Self {
            periodic_box: crowd.periodic_box(),
            ..Self::default()
        };
        let mut order = Vec::with_capacity(crowd.members().len());
        for ((group, template), members) in groups {
            let poses = members
                .iter()
                .map(|&member| crowd.members()[member as usize].pose);
            scene.kinds.push(SceneKind {
                poses: poses.collect(),
                ..kind_of(group, &crowd.templates()[template as usize])
            });
            order.extend(members);
        }
        (scene, order)
    }

    /// Moves kinds of the same molecule type next to each other, in the order of their first ones.
    /// `order` has a number for each molecule and follows.
    pub fn group_molecule_types(&mut self, order: &mut Vec<u32>) {
        let mut types: Vec<String> = Vec::new();
        let mut groups: Vec<Vec<(SceneKind, Vec<u32>)>> = Vec::new();
        let mut numbers = std::mem::take(order).into_iter();
        for kind in std::mem::take(&mut self.kinds) {
            let own: Vec<u32> = numbers.by_ref().take(kind.poses.len()).collect();
            let known = types.iter().position(|name| name == kind.molecule_type());
            let group = known.unwrap_or_else(|| {
                types.push(kind.molecule_type().to_owned());
                groups.push(Vec::new());
                types.len() - 1
            });
            groups[group].push((kind, own));
        }
        for (kind, own) in groups.into_iter().flatten() {
            self.kinds.push(kind);
            order.extend(own);
        }
    }

    /// The molecules as a crowd: free, in the order of the scene.
    ///
    /// # Errors
    /// [`CrowdError`] if a pose is invalid.
    pub fn to_crowd(&self) -> Result<Crowd, CrowdError> {
        let mut crowd = Crowd::new();
        crowd.set_periodic_box(self.periodic_box);
        for kind in &self.kinds {
            let template = crowd.add_template(Arc::clone(&kind.template));
            for &pose in &kind.poses {
                crowd.add_member(CrowdMember {
                    template,
                    pose,
                    ..CrowdMember::default()
                })?;
            }
        }
        Ok(crowd)
    }

    /// Structure and pose of each molecule, kind by kind.
    pub fn instances(&self) -> impl Iterator<Item = (&MoleculeTemplate, Pose)> + Clone + '_ {
        self.kinds
            .iter()
            .flat_map(|kind| kind.poses.iter().map(|&pose| (&*kind.template, pose)))
    }

    /// Pose of each molecule, kind by kind.
    pub fn poses_mut(&mut self) -> impl Iterator<Item = &mut Pose> + '_ {
        self.kinds.iter_mut().flat_map(|kind| &mut kind.poses)
    }

    /// Number of molecules.
    #[must_use]
    pub fn molecule_count(&self) -> usize {
        self.kinds.iter().map(|kind| kind.poses.len()).sum()
    }

    /// Number of atoms of all molecules.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        let atoms = |kind: &SceneKind| kind.poses.len() * kind.template.atom_count();
        self.kinds.iter().map(atoms).sum()
    }

    /// Lowest and highest corner of the space: that of the periodic box, the [`bounds`](Self::bounds),
    /// or a box around the bounding spheres of all molecules; zero without any.
    #[must_use]
    pub fn extent(&self) -> [Vec3; 2] {
        if let Some(periodic) = &self.periodic_box {
            let low = self.bounds.map_or(Vec3::ZERO, |[low, _]| low);
            return [low, low + periodic.size()];
        }
        if let Some(bounds) = self.bounds {
            return bounds;
        }
        let mut extent = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        for kind in &self.kinds {
            let radius = Vec3::splat(kind.template.bounding_radius());
            for pose in &kind.poses {
                extent[0] = extent[0].min(pose.position - radius);
                extent[1] = extent[1].max(pose.position + radius);
            }
        }
        if extent[0].is_finite() {
            extent
        } else {
            [Vec3::ZERO; 2]
        }
    }
}
