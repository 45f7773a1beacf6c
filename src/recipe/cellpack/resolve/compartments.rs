//! The box and the surfaces of compartments.

use std::sync::Arc;

use glam::{Quat, Vec3};
use rapier3d::parry::shape::SharedShape;

use super::super::additions::ShapeFile;
use super::super::object::{ObjectFile, ObjectType, RepresentationFile};
use super::{Resolver, join};
use crate::compartment::{ShapeCompartment, SphereShell, Surface, Torus};
use crate::pose::Pose;
use crate::recipe::RecipeError;
use crate::recipe::error::RecipeProblem;
use crate::recipe::geometry::bounds_of;
use crate::recipe::model::Compartment;

/// Radius of a spherical compartment without one, in the unit of the recipe, as in cellPACK.
const DEFAULT_RADIUS: f64 = 200.0;

impl Resolver<'_> {
    /// Adds the box, which is the first compartment.
    pub(super) fn add_box(&mut self, root: &str) -> Result<(), RecipeError> {
        let regions = self.raw.get(root).and_then(|entry| entry.regions.as_ref());
        let Some(regions) = regions else {
            let expected = "expected the regions of the bounding box".to_owned();
            let place = join("composition", root);
            return Err(self.error(place, RecipeProblem::Missing(expected)));
        };
        let of_surfaces = [
            ("surface", &regions.surface),
            ("inner_leaflet", &regions.inner_leaflet),
            ("outer_leaflet", &regions.outer_leaflet),
        ];
        for (key, items) in of_surfaces {
            if !items.is_empty() {
                let place = format!("composition.{root}.regions.{key}");
                let what = "a surface of the bounding box".to_owned();
                let instead = "put the items into interior, or into a compartment";
                return Err(self.error(place, RecipeProblem::Unsupported { what, instead }));
            }
        }
        self.recipe.compartments.push(Compartment {
            name: root.to_owned(),
            place: join("composition", root),
            parent: None,
            surface: None,
            bounds: self.recipe.bounds,
            leaflets: [Vec::new(), Vec::new()],
            area_scale: 1.0,
        });
        Ok(())
    }

    /// Adds the compartment of an entry inside of another.
    pub(super) fn add_compartment(&mut self, name: &str, parent: usize) -> Result<(), RecipeError> {
        let place = join("composition", name);
        let block = format!("bevy_rapier_molecules.composition.{name}");
        let additions = self.additions_of(Some(name));
        let position = additions.position.unwrap_or_default();
        let pose = self.pose(position, additions.rotation, &block)?;
        let (surface, bounds) = match additions.shape {
            Some(shape) => self.given_shape(shape, pose, &join(&block, "shape"))?,
            None => self.shape_of_object(name, &place, pose)?,
        };
        let area_scale = additions.area_scale.unwrap_or(1.0);
        if !(area_scale.is_finite() && area_scale > 0.0) {
            let at = join(&block, "area_scale");
            return Err(self.out_of_range(at, "the area scale", "positive", area_scale));
        }
        self.recipe.compartments.push(Compartment {
            name: name.to_owned(),
            place,
            parent: Some(parent),
            surface: Some(surface),
            bounds,
            leaflets: [Vec::new(), Vec::new()],
            area_scale: area_scale as f32,
        });
        Ok(())
    }

    fn given_shape(
        &self,
        shape: ShapeFile,
        pose: Pose,
        place: &str,
    ) -> Result<(Arc<dyn Surface>, [Vec3; 2]), RecipeError> {
        match shape {
            ShapeFile::Sphere { radius } => {
                let radius = self.positive(radius, "the radius", place)?;
                self.sphere(pose.position, radius, place)
            }
            ShapeFile::Capsule { radius, length } => {
                let radius = self.positive(radius, "the radius", place)?;
                let half = 0.5 * self.positive(length, "the length", place)? - radius;
                if half < 0.0 {
                    let allowed = "at least twice the radius";
                    return Err(self.out_of_range(place, "the length", allowed, length));
                }
                self.solid(ShapeCompartment::capsule(half, radius, pose), place)
            }
            ShapeFile::Cuboid { size } => {
                for edge in size {
                    self.positive(edge, "an edge", place)?;
                }
                let size = self.point(size, "an edge", place)?;
                self.solid(ShapeCompartment::cuboid(0.5 * size, pose), place)
            }
            ShapeFile::Torus {
                major_radius,
                minor_radius,
            } => {
                let major = self.positive(major_radius, "the major radius", place)?;
                let minor = self.positive(minor_radius, "the minor radius", place)?;
                let torus =
                    Torus::new(major, minor, pose).map_err(|error| self.error(place, error))?;
                let reach = Vec3::splat(major + minor);
                let bounds = [pose.position - reach, pose.position + reach];
                Ok((Arc::new(torus), bounds))
            }
        }
    }

    fn shape_of_object(
        &mut self,
        name: &str,
        place: &str,
        pose: Pose,
    ) -> Result<(Arc<dyn Surface>, [Vec3; 2]), RecipeError> {
        let raw = &self.raw[name];
        let (value, object) = (raw.value, raw.item.object.clone());
        let Some(object) = object else {
            let expected = "expected the object with the shape of the compartment".to_owned();
            return Err(self.error(join(place, "object"), RecipeProblem::Missing(expected)));
        };
        let (file, _) = self.merged_object(&object, value, place)?;
        let at = join("objects", &object);
        match file.kind {
            Some(ObjectType::Mesh) => self.mesh(&file, &at, pose),
            Some(ObjectType::SingleSphere) => {
                let radius = file.radius.unwrap_or(DEFAULT_RADIUS);
                let radius = self.positive(radius, "the radius", &join(&at, "radius"))?;
                self.sphere(pose.position, radius, place)
            }
            Some(ObjectType::SingleCube) => {
                let [low, high] = self.bounds_of(&file, &at)?;
                let center = pose.transform_point(0.5 * (low + high));
                let pose = Pose::new(center, pose.rotation);
                self.solid(
                    ShapeCompartment::cuboid(0.5 * (high - low).abs(), pose),
                    &at,
                )
            }
            Some(ObjectType::SingleCylinder) => self.cylinder(&file, &at, pose),
            None if file
                .representations
                .as_ref()
                .is_some_and(|r| r.mesh.is_some()) =>
            {
                self.mesh(&file, &at, pose)
            }
            None => {
                let expected =
                    "expected a type: single_sphere, single_cube, single_cylinder or mesh"
                        .to_owned();
                Err(self.error(join(&at, "type"), RecipeProblem::Missing(expected)))
            }
            Some(kind) => {
                let what = format!("a compartment of type {}", kind.name());
                let instead = "use single_sphere, single_cube, single_cylinder or mesh, or give a shape in the block bevy_rapier_molecules";
                Err(self.error(
                    join(&at, "type"),
                    RecipeProblem::Unsupported { what, instead },
                ))
            }
        }
    }

    /// A cylinder between the two ends of its axis.
    fn cylinder(
        &self,
        file: &ObjectFile,
        place: &str,
        pose: Pose,
    ) -> Result<(Arc<dyn Surface>, [Vec3; 2]), RecipeError> {
        let [from, to] = self.bounds_of(file, place)?;
        let at = join(place, "radius");
        let Some(radius) = file.radius else {
            let expected = "expected the radius of the cylinder".to_owned();
            return Err(self.error(at, RecipeProblem::Missing(expected)));
        };
        let radius = self.positive(radius, "the radius", &at)?;
        let Some(axis) = (to - from).try_normalize() else {
            let allowed = "apart from each other";
            let value = "the same point";
            return Err(self.out_of_range(join(place, "bounds"), "the ends", allowed, value));
        };
        let center = pose.transform_point(0.5 * (from + to));
        let turned = pose.rotation * Quat::from_rotation_arc(Vec3::Y, axis);
        let shape = SharedShape::cylinder(0.5 * from.distance(to), radius);
        let solid = ShapeCompartment::new(shape, Pose::new(center, turned.normalize()));
        self.solid(solid, place)
    }

    /// The two points of `bounds`: corners of a box, or ends of an axis.
    fn bounds_of(&self, file: &ObjectFile, place: &str) -> Result<[Vec3; 2], RecipeError> {
        let place = join(place, "bounds");
        let Some([low, high]) = file.bounds else {
            let expected = "expected two points".to_owned();
            return Err(self.error(place, RecipeProblem::Missing(expected)));
        };
        Ok([
            self.point(low, "a corner", &place)?,
            self.point(high, "a corner", &place)?,
        ])
    }

    fn sphere(
        &self,
        center: Vec3,
        radius: f32,
        place: &str,
    ) -> Result<(Arc<dyn Surface>, [Vec3; 2]), RecipeError> {
        let shell = SphereShell::new(center, radius).map_err(|error| self.error(place, error))?;
        Ok((Arc::new(shell), [center - radius, center + radius]))
    }

    fn solid(
        &self,
        solid: Result<ShapeCompartment, crate::compartment::CompartmentError>,
        place: &str,
    ) -> Result<(Arc<dyn Surface>, [Vec3; 2]), RecipeError> {
        let solid = solid.map_err(|error| self.error(place, error))?;
        let bounds = bounds_of(&solid);
        Ok((Arc::new(solid), bounds))
    }

    fn mesh(
        &mut self,
        file: &ObjectFile,
        place: &str,
        pose: Pose,
    ) -> Result<(Arc<dyn Surface>, [Vec3; 2]), RecipeError> {
        let place = join(place, "representations.mesh");
        let representations = file.representations.as_ref();
        let Some(mesh) = representations.and_then(|r| r.mesh.as_ref()) else {
            let expected = "expected the file of the mesh".to_owned();
            return Err(self.error(place, RecipeProblem::Missing(expected)));
        };
        let path = self.file_of(mesh, &place)?;
        let read = self
            .files
            .mesh(&path)
            .map_err(|error| self.error(&*place, error))?;
        let read = read.scaled(self.nm as f32);
        let moved = match mesh.transform.as_ref().and_then(|t| t.translate) {
            Some(by) => self.point(by, "a translation", &join(&place, "transform.translate"))?,
            None => Vec3::ZERO,
        };
        let vertices: Vec<Vec3> = read.vertices.iter().map(|vertex| *vertex + moved).collect();
        self.solid(
            ShapeCompartment::mesh(&vertices, &read.triangles, pose),
            &place,
        )
    }

    /// The file of a representation.
    pub(super) fn file_of(
        &self,
        file: &RepresentationFile,
        place: &str,
    ) -> Result<std::path::PathBuf, RecipeError> {
        let Some(name) = &file.name else {
            let expected = "expected the name of a file".to_owned();
            return Err(self.error(join(place, "name"), RecipeProblem::Missing(expected)));
        };
        let found = self.files.find_near(file.path.as_deref(), name);
        found.map_err(|problem| self.error(place, problem))
    }
}
