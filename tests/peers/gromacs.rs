//! GROMACS reads our coordinates and topologies.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::molecule::{Element, MoleculeTemplate};
use bevy_rapier_molecules::scene_files::{Scene, write_scene};

use super::mixed_scene::mixed_scene;
use super::programs::{program, run, scratch};

/// A run without interactions to speak of: molecules have no bonds.
const RUN_PARAMETERS: &str = "\
integrator    = steep
nsteps        = 10
cutoff-scheme = Verlet
coulombtype   = Cut-off
rcoulomb      = 1.0
rvdw          = 1.0
pbc           = xyz
";

/// The type of an atom in the force field of the test.
fn atom_type(element: Element) -> String {
    format!("T{}", element.symbol())
}

/// One type for each element, without charges.
fn force_field(scene: &Scene) -> String {
    let elements = scene.kinds.iter().flat_map(|kind| kind.template.elements());
    let elements: BTreeMap<u8, Element> = elements
        .map(|element| (element.atomic_number(), *element))
        .collect();
    let mut text = "[ defaults ]\n1 2 no\n[ atomtypes ]\n".to_owned();
    for (number, element) in elements {
        let (name, mass) = (atom_type(element), element.mass());
        writeln!(text, "{name} {number} {mass} 0.0 A 0.2 0.1").unwrap();
    }
    text
}

/// A molecule type whose atoms are those of a template.
fn molecule_type(name: &str, template: &MoleculeTemplate) -> String {
    let mut text = format!("[ moleculetype ]\n{name} 1\n[ atoms ]\n");
    for atom in 0..template.atom_count() {
        let element = template.elements()[atom];
        let residue = template.residue_indices()[atom] as usize + 1;
        let residue_name = &template.residue_of(atom).name;
        let (kind, name) = (atom_type(element), &template.atom_names()[atom]);
        writeln!(
            text,
            "{} {kind} {residue} {residue_name} {name} 1 0.0",
            atom + 1
        )
        .unwrap();
    }
    text
}

/// Writes the files that the topology of the scene includes.
fn write_included_files(folder: &Path, scene: &Scene) {
    fs::write(folder.join("forcefield.itp"), force_field(scene)).unwrap();
    for kind in &scene.kinds {
        let file = &kind.topology.includes[1];
        let text = molecule_type(kind.molecule_type(), &kind.template);
        fs::write(folder.join(file), text).unwrap();
    }
}

#[test]
fn gromacs_accepts_coordinates_and_topologies() {
    if program("gmx").is_none() {
        return;
    }
    for (name, is_periodic, decimals) in [
        ("periodic", true, 3),
        ("open", false, 3),
        ("precise", true, 6),
    ] {
        let folder = scratch(&format!("gromacs_{name}"));
        let scene = mixed_scene(is_periodic);
        let options = ExportOptions {
            decimals,
            ..ExportOptions::default()
        };
        write_scene(folder.join("cell.gro"), &scene, None, &options, &mut |_| {}).unwrap();
        let editconf = ["editconf", "-f", "cell.gro", "-o", "copy.gro"];
        let output = run(Command::new("gmx").current_dir(&folder).args(editconf));
        let text = String::from_utf8_lossy(&output.stdout);
        let count = format!("Read {} atoms", scene.atom_count());
        assert!(text.contains(&count), "{text}");
        // GROMACS writes the atoms as we do, with three decimals.
        let [ours, theirs] = ["cell.gro", "copy.gro"].map(|file| {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            let atoms = text.lines().skip(2).take(scene.atom_count());
            atoms.map(str::to_owned).collect::<Vec<String>>()
        });
        if decimals == 3 {
            let different = ours.iter().zip(&theirs).find(|(a, b)| a != b);
            assert_eq!(different, None);
        }

        write_included_files(&folder, &scene);
        fs::write(folder.join("run.mdp"), RUN_PARAMETERS).unwrap();
        let output = run(Command::new("gmx").current_dir(&folder).args([
            "grompp", "-f", "run.mdp", "-c", "cell.gro", "-p", "cell.top", "-o", "run.tpr",
        ]));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("WARNING"), "{text}");
        assert!(folder.join("run.tpr").is_file());
    }
}
