//! gemmi and `MDAnalysis` read the same atoms from all our structure files.

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::scene_files::write_scene;
use glam::DVec3;
use serde_json::Value;

use super::mixed_scene::{LOW, mixed_scene, world_positions};
use super::programs::{python, run_script, scratch};

/// Every n-th position is compared.
const EVERY: usize = 97;

/// Half of the last decimal and single-precision rounding, nm.
const ANGSTROM_ROUNDING: f64 = 0.000_05 + 0.000_005;
const GRO_ROUNDING: f64 = 0.000_5 + 0.000_005;

fn vector(value: &Value) -> DVec3 {
    let component = |axis: usize| value[axis].as_f64().unwrap();
    DVec3::new(component(0), component(1), component(2))
}

#[test]
fn gemmi_and_mdanalysis_read_the_same_atoms_from_every_format() {
    let Some(python) = python() else {
        return;
    };
    let folder = scratch("structures_in_python");
    // Conformers follow each other in the order of the molecule types.
    let mut scene = mixed_scene(true);
    let lipids = scene.kinds.pop().unwrap();
    scene.kinds[1].poses.extend(lipids.poses);
    let options = ExportOptions {
        title: scene.name.clone(),
        periodic_box: scene.periodic_box,
        wrap: false,
        ..ExportOptions::default()
    };
    for name in ["cell.pdb", "cell.cif", "cell.gro"] {
        write_scene(folder.join(name), &scene, None, &options, &mut |_| {}).unwrap();
    }
    let arguments = [folder.into_os_string(), EVERY.to_string().into()];
    let report = run_script(python, "structures_in_python.py", arguments);
    let expected: Vec<DVec3> = scene
        .instances()
        .flat_map(|(template, pose)| world_positions(template, pose))
        .step_by(EVERY)
        .collect();
    let first = &report["gemmi pdb"];
    for (reader, moved_by, rounding) in [
        ("gemmi pdb", DVec3::ZERO, ANGSTROM_ROUNDING),
        ("gemmi cif", DVec3::ZERO, ANGSTROM_ROUNDING),
        ("MDAnalysis pdb", DVec3::ZERO, ANGSTROM_ROUNDING),
        ("MDAnalysis gro", LOW.as_dvec3(), GRO_ROUNDING),
    ] {
        let found = &report[reader];
        assert_eq!(found["atoms"], scene.atom_count(), "{reader}");
        for names in ["atom_names", "residue_names"] {
            assert_eq!(found[names], first[names], "{reader}: {names}");
        }
        let size = scene.periodic_box.unwrap().size().as_dvec3();
        let edges = vector(&found["box"]);
        assert!(edges.abs_diff_eq(size, 1.0e-5), "{reader}: {edges}");
        let positions = found["positions"].as_array().unwrap();
        assert_eq!(positions.len(), expected.len(), "{reader}");
        for (position, expected) in positions.iter().zip(&expected) {
            let error = (vector(position) + moved_by - *expected)
                .abs()
                .max_element();
            assert!(error <= rounding, "{reader}: {position} {expected}");
        }
    }
}
