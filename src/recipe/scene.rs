//! [`Recipe::scene`]: the molecules of a packed recipe with names, groups and colors, to be written.

use std::sync::Arc;

use super::model::{Recipe, Row};
use crate::crowd::Crowd;
use crate::molecule::MoleculeTemplate;
use crate::scene_files::{Scene, SceneKind, Topology};

impl Recipe {
    /// The molecules of a crowd that was made from this recipe, with the row of the report of each
    /// member ([`Packing::rows`](super::Packing::rows)).
    ///
    /// Each row is a kind of its own, or one for each conformer. Its groups are the compartments
    /// around it without the box, and its region.
    ///
    /// Also returns which member of the crowd each molecule of the scene is.
    #[must_use]
    pub fn scene(&self, crowd: &Crowd, rows: &[u32]) -> (Scene, Vec<u32>) {
        let kind_of = |row: &Row<'_>, template: &Arc<MoleculeTemplate>| {
            let ingredient = &self.ingredients[row.ingredient];
            let own = ingredient.topology.clone();
            let includes = self.includes.iter().cloned().chain(own.includes);
            SceneKind {
                path: self.groups(row),
                file: Some(template.name().to_owned()),
                color: ingredient.color,
                topology: Topology {
                    molecule_type: own.molecule_type.or_else(|| Some(ingredient.name.clone())),
                    includes: includes.collect(),
                },
                ..SceneKind::new(row.name, Arc::clone(template))
            }
        };
        let all = self.rows();
        let (scene, order) = Scene::of_crowd(
            crowd,
            |member| rows[member] as usize,
            |row, template| kind_of(&all[row], template),
        );
        let scene = Scene {
            name: self.name.clone(),
            bounds: Some(self.bounds),
            ..scene
        };
        (scene, order)
    }

    /// Names of the compartments around a row without the box, and its region.
    fn groups(&self, row: &Row<'_>) -> Vec<String> {
        let mut names = vec![row.region.name().to_owned()];
        let mut compartment = Some(row.compartment);
        while let Some(index) = compartment.filter(|&index| index > 0) {
            names.push(self.compartments[index].name.clone());
            compartment = self.compartments[index].parent;
        }
        names.reverse();
        names
    }
}
