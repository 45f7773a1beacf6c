//! Atoms, names and positions are restored from every format.

use std::{fs, io};

use bevy_rapier_molecules::export::{ExportOptions, export};
use bevy_rapier_molecules::molecule::{Element, LoadOptions, MoleculeTemplate, SplitBy, load};

use crate::export::fixtures::{
    assert_same_atoms, asset, atom, lattice, mmcif_text, residue, scratch, split, triatomic,
};

#[test]
fn structures_round_trip_through_every_format() {
    let folder = scratch("round_trip");
    let options = LoadOptions::default();
    for name in [
        "popc.pdb",
        "1gzx.pdb",
        "4c64_dna.pdb",
        "1ubq.cif",
        "4hhb.bcif.gz",
    ] {
        let template = load(asset(name), &options).unwrap();
        for ending in ["pdb", "ent.gz", "cif", "mmcif.gz"] {
            let path = folder.join(format!("out.{ending}"));
            let scene = [(&template, template.file_pose())];
            let summary = export(&path, scene, &ExportOptions::default()).unwrap();
            assert_eq!(
                (summary.molecules, summary.atoms),
                (1, template.atom_count())
            );
            let read = load(&path, &options).unwrap();
            assert_same_atoms((&read, read.file_pose()), scene[0]);
            assert_eq!(
                read.residues().len(),
                template.residues().len(),
                "{name} {ending}"
            );
            if template.residues().len() > 1 {
                for (a, b) in read.residues().iter().zip(template.residues()) {
                    assert_eq!((&a.name, a.number), (&b.name, b.number));
                    assert_eq!(a.insertion_code, b.insertion_code);
                    if ending == "pdb" {
                        assert_eq!(a.chain, b.chain);
                    }
                }
            }
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "leftovers");
}

#[test]
fn compressed_files_contain_the_same_text() {
    let folder = scratch("compressed_files");
    let template = triatomic();
    let scene = || (0..1000).map(|k| (&template, lattice(k)));
    let options = ExportOptions::default();
    for (ending, compressed) in [("pdb", "pdb.gz"), ("cif", "CIF.GZ")] {
        let plain = folder.join(format!("plain.{ending}"));
        let packed = folder.join(format!("packed.{compressed}"));
        let summary = export(&plain, scene(), &options).unwrap();
        assert_eq!((summary.molecules, summary.atoms), (1000, 3000));
        assert_eq!(export(&packed, scene(), &options).unwrap(), summary);
        let text = fs::read(&plain).unwrap();
        assert_eq!(text.len() as u64, summary.bytes);
        let mut unpacked = Vec::new();
        let file = fs::File::open(&packed).unwrap();
        io::copy(&mut flate2::read::GzDecoder::new(file), &mut unpacked).unwrap();
        assert_eq!(unpacked, text);
    }
}

#[test]
fn names_with_quotes_and_spaces_round_trip_through_mmcif() {
    let names = ["O5'", "C\"", "a b", "_x", "#1", "loop_", "'", "a' \"b"];
    let atoms = names
        .iter()
        .enumerate()
        .map(|(k, name)| atom(name, Element::O, [k as f32, 0.0, 0.0], 0))
        .collect();
    let template = MoleculeTemplate::new("odd", atoms, vec![residue("A'", "A", 1)]).unwrap();
    let scene = [(&template, template.file_pose())];
    let text = mmcif_text(&scene, &ExportOptions::default());
    let parts = split(&text, "a.cif", SplitBy::Chain);
    assert_same_atoms((&parts[0].template, parts[0].pose), scene[0]);
    assert_eq!(parts[0].template.residues()[0].name, "A'");
}
