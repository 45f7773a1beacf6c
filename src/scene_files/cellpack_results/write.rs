//! Writes results of cellPACK.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use glam::{DMat3, Vec3};

use super::Region;
use crate::export::text_rows::TextRows;
use crate::export::{ANGSTROM_PER_NM, ExportError, ExportOptions, ExportSummary, write_file};
use crate::molecule::MoleculeTemplate;
use crate::proxy::ProxySet;
use crate::scene_files::additions::{
    KEY, KindAdditions, SceneAdditions, balls_of, is_coarse, to_json,
};
use crate::scene_files::json::push_numbers;
use crate::scene_files::placed_poses::PlacedPoses;
use crate::scene_files::unique_names::UniqueNames;
use crate::scene_files::write::PROGRESS_EVERY;
use crate::scene_files::{Scene, SceneKind, WriteProgress};

/// Molecules with more atoms are written as proxies.
const MAX_SPHERES: usize = 256;

/// Number of proxies: enough for the shape of a protein, and fast in any program.
const PROXIES: usize = 64;

/// Seed of the proxies: the same molecule has the same ones.
const PROXY_SEED: u64 = 1;

/// Writes the file completely or not at all.
pub(in crate::scene_files) fn write(
    path: &Path,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    write_file(path, |out| {
        let mut writer = Writer {
            rows: TextRows::new(out),
            scene,
            placed: PlacedPoses::new(scene, options),
            summary: ExportSummary::default(),
            spheres: HashMap::new(),
            first_molecules: first_molecules(scene),
            progress,
        };
        writer.write(options)?;
        let mut summary = writer.summary;
        summary.bytes = writer.rows.finish()?;
        (writer.progress)(summary.molecules);
        Ok(summary)
    })
}

struct Writer<'a, W: Write> {
    rows: TextRows<W>,
    scene: &'a Scene,
    placed: PlacedPoses,
    summary: ExportSummary,
    /// Spheres by template, nm.
    spheres: HashMap<*const MoleculeTemplate, Vec<[f32; 4]>>,
    /// Number of the first molecule of each kind in the scene; the file has another order.
    first_molecules: Vec<usize>,
    progress: WriteProgress<'a>,
}

/// Kinds of a compartment, by their numbers.
#[derive(Default)]
struct CompartmentKinds {
    name: String,
    surface: Vec<usize>,
    interior: Vec<usize>,
}

impl<W: Write> Writer<'_, W> {
    fn write(&mut self, options: &ExportOptions) -> Result<(), ExportError> {
        let name = match options.title.as_str() {
            "" => &self.scene.name,
            title => title,
        };
        let name = to_json(name)?;
        self.rows.push(&format!(
            "{{\"recipe\":{{\"name\":{name},\"version\":\"1.0\"}},\n"
        ));
        self.rows.push("\"options\":{\"boundingBox\":[");
        let [low, high] = self.scene.extent();
        for (index, corner) in [low, high].into_iter().enumerate() {
            self.rows.push(if index > 0 { "," } else { "" });
            self.push_angstrom(&corner.to_array());
        }
        let additions = to_json(&SceneAdditions::of(self.scene, Vec3::ZERO))?;
        self.rows
            .push(&format!("]}},\n\"{KEY}\":{additions},\n\"cytoplasme\":"));
        let (outside, compartments) = self.places();
        self.write_ingredients(&outside, 0)?;
        self.rows.push(",\n\"compartments\":{");
        for (index, compartment) in compartments.iter().enumerate() {
            let number = index as i64 + 1;
            let name = to_json(&compartment.name)?;
            self.rows.push(if index > 0 { ",\n" } else { "\n" });
            self.rows.push(&format!("{name}:{{"));
            let regions = [
                (Region::Surface, &compartment.surface, number),
                (Region::Interior, &compartment.interior, -number),
            ];
            let regions = regions.iter().filter(|(_, kinds, _)| !kinds.is_empty());
            for (index, (region, kinds, id)) in regions.enumerate() {
                self.rows.push(if index > 0 { ",\n" } else { "\n" });
                self.rows.push(&format!("\"{}\":", region.name()));
                self.write_ingredients(kinds, *id)?;
            }
            self.rows.push("}");
        }
        self.rows.push("}}");
        self.rows.end_row()?;
        Ok(())
    }

    /// The kinds outside of all compartments, and the compartments in the order of their first
    /// kinds.
    fn places(&self) -> (Vec<usize>, Vec<CompartmentKinds>) {
        let mut outside = Vec::new();
        let mut compartments: Vec<CompartmentKinds> = Vec::new();
        let mut numbers: HashMap<&[String], usize> = HashMap::new();
        let mut names = UniqueNames::default();
        for (kind, SceneKind { path, .. }) in self.scene.kinds.iter().enumerate() {
            let place = path
                .split_last()
                .and_then(|(last, groups)| Some((Region::of_group(last)?, groups, groups.last()?)));
            let Some((region, groups, name)) = place else {
                outside.push(kind);
                continue;
            };
            let number = *numbers.entry(groups).or_insert_with(|| {
                compartments.push(CompartmentKinds {
                    name: names.take(name),
                    ..CompartmentKinds::default()
                });
                compartments.len() - 1
            });
            match region {
                Region::Surface => compartments[number].surface.push(kind),
                Region::Interior => compartments[number].interior.push(kind),
            }
        }
        (outside, compartments)
    }

    fn write_ingredients(&mut self, kinds: &[usize], id: i64) -> Result<(), ExportError> {
        let mut keys = UniqueNames::default();
        self.rows.push("{\"ingredients\":{");
        for (position, &kind) in kinds.iter().enumerate() {
            let key = keys.take(&self.scene.kinds[kind].name);
            self.rows.push(if position > 0 { ",\n" } else { "\n" });
            self.rows.push(&format!("{}:", to_json(&key)?));
            self.write_ingredient(kind, id)?;
        }
        self.rows.push("}}");
        Ok(())
    }

    fn write_ingredient(&mut self, index: usize, id: i64) -> Result<(), ExportError> {
        let kind = &self.scene.kinds[index];
        let name = to_json(&kind.name)?;
        self.rows
            .push(&format!("{{\"name\":{name},\"compartment_id\":{id},"));
        if let Some(color) = kind.color {
            self.rows.push(&format!("\"color\":{},", to_json(&color)?));
        }
        let is_coarse = is_coarse(&kind.template);
        if let Some(file) = kind.file.as_ref().filter(|_| !is_coarse) {
            let file = to_json(file)?;
            self.rows.push(&format!(
                "\"source\":{{\"pdb\":{file},\"transform\":{{\"center\":false,\"translate\":"
            ));
            let center = kind.template.file_pose().position;
            self.push_angstrom(&(-center).to_array());
            self.rows.push("}},");
        }
        let additions = KindAdditions {
            index: Some(index),
            file: None,
            atoms: (!is_coarse).then(|| kind.template.atom_count()),
            ..KindAdditions::of(kind)
        };
        self.rows
            .push(&format!("\"{KEY}\":{},", to_json(&additions)?));
        self.write_spheres(kind)?;
        self.rows.push("\"nbCurve\":0,\"results\":[");
        self.write_results(kind, self.first_molecules[index])?;
        self.rows.push("]}");
        Ok(())
    }

    fn write_spheres(&mut self, kind: &SceneKind) -> Result<(), ExportError> {
        let template = Arc::as_ptr(&kind.template);
        let spheres = match self.spheres.get(&template) {
            Some(known) => known.clone(),
            None => {
                let spheres = spheres_of(&kind.template);
                self.spheres.insert(template, spheres.clone());
                spheres
            }
        };
        let centers: Vec<f32> = spheres.iter().flat_map(|&[x, y, z, _]| [x, y, z]).collect();
        let radii: Vec<f32> = spheres.iter().map(|sphere| sphere[3]).collect();
        self.rows.push("\n\"positions\":[{\"coords\":");
        self.push_angstrom(&centers);
        self.rows.push("}],\"radii\":[{\"radii\":");
        self.push_angstrom(&radii);
        self.rows.push("}],");
        Ok(())
    }

    fn write_results(&mut self, kind: &SceneKind, first: usize) -> Result<(), ExportError> {
        for (index, &pose) in kind.poses.iter().enumerate() {
            let done = self.summary.molecules;
            if done.is_multiple_of(PROGRESS_EVERY) {
                (self.progress)(done);
            }
            let (position, rotation) = self.placed.place(first + index, kind, pose)?;
            self.rows.push(if index > 0 { "," } else { "" });
            self.rows.end_row()?;
            self.rows.push("[");
            let position = (position * ANGSTROM_PER_NM).as_vec3();
            push_numbers(&mut self.rows.buffer, &position.to_array());
            self.rows.push(",[");
            let matrix = DMat3::from_quat(rotation.as_dquat().normalize());
            for axis in 0..3 {
                let row = matrix.row(axis).as_vec3();
                push_numbers(&mut self.rows.buffer, &[row.x, row.y, row.z, 0.0]);
                self.rows.push(",");
            }
            self.rows.push("[0,0,0,1]]]");
            self.summary.molecules += 1;
            self.summary.atoms += kind.template.atom_count();
        }
        Ok(())
    }

    /// Appends lengths (nm) as ångström.
    fn push_angstrom(&mut self, lengths: &[f32]) {
        let angstrom = |nm: &f32| (f64::from(*nm) * ANGSTROM_PER_NM) as f32;
        let numbers: Vec<f32> = lengths.iter().map(angstrom).collect();
        push_numbers(&mut self.rows.buffer, &numbers);
    }
}

fn first_molecules(scene: &Scene) -> Vec<usize> {
    let mut next = 0;
    let mut firsts = Vec::with_capacity(scene.kinds.len());
    for kind in &scene.kinds {
        firsts.push(next);
        next += kind.poses.len();
    }
    firsts
}

/// The spheres of a template in its body frame: x, y, z, radius, nm.
fn spheres_of(template: &MoleculeTemplate) -> Vec<[f32; 4]> {
    if is_coarse(template) || template.atom_count() <= MAX_SPHERES {
        return balls_of(template);
    }
    // The atoms of a template are valid; if not, they are written as they are.
    let Ok(proxies) = ProxySet::from_atoms(template, PROXIES, PROXY_SEED) else {
        return balls_of(template);
    };
    let spheres = proxies.centers().iter().zip(proxies.radii());
    spheres
        .map(|(p, radius)| [p.x, p.y, p.z, *radius])
        .collect()
}
