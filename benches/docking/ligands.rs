//! The docking search on other ligands of the bundled structures: no water, nothing tuned,
//! receptors without their ligands.

use std::error::Error;
use std::sync::Arc;

use bevy_rapier_molecules::docking::DockingMolecule;
use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
use bevy_rapier_molecules::docking::search::{DockingSearch, DockingSearchConfig};
use bevy_rapier_molecules::molecule::{Atom, MoleculeTemplate, Residue};

use crate::common::molecules::bundled;
use crate::common::{Column, Done, NoOptions, Run, cells};

/// A pose counts as found if its center is within this distance of the crystal's, nm.
const SUCCESS_RADIUS_NM: f32 = 0.2;

/// Chain and first residue number of a ligand in the structure.
type Site = (&'static str, i32);

/// A row of the table.
struct Case {
    ligand: &'static str,
    receptor: &'static str,
    file: &'static str,
    /// Residue names removed from the receptor, besides the ligand.
    without: &'static [&'static str],
    /// Sites of the ligand in the crystal; each is searched for.
    sites: &'static [Site],
    /// Residues of the ligand.
    residues: i32,
    /// Searches per site.
    seeds: u64,
}

/// Residue names of the ligands in `multi.pdb`.
const MULTI: &[&str] = &["CA", "1PE", "C8E", "PO4"];

const CASES: [Case; 8] = [
    Case {
        ligand: "heme",
        receptor: "hemoglobin (`1gzx.pdb`)",
        file: "1gzx.pdb",
        without: &["HEM", "OXY"],
        sites: &[("A", 1142), ("B", 1290), ("C", 1542), ("D", 1690)],
        residues: 1,
        seeds: 5,
    },
    Case {
        ligand: "polyethylene glycol, A401 and B401",
        receptor: "`multi.pdb`",
        file: "multi.pdb",
        without: MULTI,
        sites: &[("A", 401), ("B", 401)],
        residues: 1,
        seeds: 5,
    },
    Case {
        ligand: "the same, A402 and B402",
        receptor: "`multi.pdb`",
        file: "multi.pdb",
        without: MULTI,
        sites: &[("A", 402), ("B", 402)],
        residues: 1,
        seeds: 5,
    },
    Case {
        ligand: "detergent C8E",
        receptor: "porin (`2por.pdb`)",
        file: "2por.pdb",
        without: &["CA", "C8E"],
        sites: &[("A", 545), ("A", 546), ("A", 547), ("A", 548)],
        residues: 1,
        seeds: 5,
    },
    Case {
        ligand: "phosphate, A403 and B403",
        receptor: "`multi.pdb`",
        file: "multi.pdb",
        without: MULTI,
        sites: &[("A", 403), ("B", 403)],
        residues: 1,
        seeds: 3,
    },
    Case {
        ligand: "calcium, A302 and A303",
        receptor: "porin",
        file: "2por.pdb",
        without: &["CA", "C8E"],
        sites: &[("A", 302), ("A", 303)],
        residues: 1,
        seeds: 3,
    },
    Case {
        ligand: "oxygen at one heme",
        receptor: "hemoglobin with heme",
        file: "1gzx.pdb",
        without: &["OXY"],
        sites: &[("A", 1143)],
        residues: 1,
        seeds: 3,
    },
    Case {
        ligand: "RNA of three nucleotides",
        receptor: "coat protein (`4udv.pdb`)",
        file: "4udv.pdb",
        without: &[],
        sites: &[("R", 4)],
        residues: 3,
        seeds: 3,
    },
];

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let title = format!(
        "Searches for other ligands of the bundled structures. A pose counts as found if its \
         center is within {SUCCESS_RADIUS_NM} nm of the crystal's."
    );
    let columns = vec![
        Column::text("ligand"),
        Column::number("atoms"),
        Column::text("receptor"),
        Column::number("searches"),
        Column::number("found with the lowest energy"),
        Column::number("found among the kept poses"),
        Column::measured("nearest lowest, nm", "nm").decimals(3),
    ];
    // A quick run has the smallest case only.
    let cases = run.pick(&CASES[..], &CASES[6..7]);
    let quick = run.quick;
    let mut table = run.table(&title, columns);
    for case in cases {
        let sites = if quick { &case.sites[..1] } else { case.sites };
        let seeds = if quick { 1 } else { case.seeds };
        let mut tally = Tally::default();
        for site in sites {
            tally.search(case, site, seeds)?;
        }
        table.row(cells![
            case.ligand,
            tally.atoms,
            case.receptor,
            tally.searches,
            tally.lowest,
            tally.among,
            f64::from(tally.nearest),
        ]);
    }
    Ok(())
}

/// Results of the searches of a case.
#[derive(Debug)]
struct Tally {
    atoms: usize,
    searches: u64,
    /// Searches whose pose of lowest energy is at the site.
    lowest: u64,
    /// Searches with the site among the kept poses.
    among: u64,
    /// Smallest distance of a pose of lowest energy from the site, nm.
    nearest: f32,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            atoms: 0,
            searches: 0,
            lowest: 0,
            among: 0,
            nearest: f32::INFINITY,
        }
    }
}

impl Tally {
    fn search(&mut self, case: &Case, site: &Site, seeds: u64) -> Done {
        let whole = bundled(case.file);
        let is_ligand = |residue: &Residue| {
            let (chain, first) = *site;
            let numbers = first..first + case.residues;
            residue.chain == chain && numbers.contains(&residue.number)
        };
        let is_removed = |residue: &Residue| case.without.contains(&residue.name.as_str());
        let ligand = part(&whole, "ligand", is_ligand)?;
        let receptor = part(&whole, "receptor", |residue| {
            !is_ligand(residue) && !is_removed(residue)
        })?;
        self.atoms = ligand.atom_count();
        let crystal = ligand.template().file_pose().position;
        let [large, small] = [&receptor, &ligand]
            .map(|molecule| ForceFieldMolecule::new(Arc::clone(molecule.template())));
        let energy = EnergyGrid::new(&large, &small, &EnergyConfig::default())?;
        let docking = DockingSearch {
            ligand: &ligand,
            receptor: &receptor,
            receptor_pose: receptor.template().file_pose(),
            energy: &energy,
        };
        for seed in 1..=seeds {
            let config = DockingSearchConfig {
                seed,
                ..DockingSearchConfig::default()
            };
            let found = docking.run(&config, &|_, _| ())?;
            let mut distances = found.iter().map(|one| one.pose.position.distance(crystal));
            let of_lowest = distances.next().unwrap_or(f32::INFINITY);
            self.searches += 1;
            self.lowest += u64::from(of_lowest <= SUCCESS_RADIUS_NM);
            let is_among =
                of_lowest <= SUCCESS_RADIUS_NM || distances.any(|away| away <= SUCCESS_RADIUS_NM);
            self.among += u64::from(is_among);
            self.nearest = self.nearest.min(of_lowest);
        }
        Ok(())
    }
}

/// The atoms of some residues as a molecule that keeps its pose in the file.
fn part(
    whole: &MoleculeTemplate,
    name: &str,
    belongs: impl Fn(&Residue) -> bool,
) -> Result<DockingMolecule, Box<dyn Error>> {
    let place = whole.file_pose();
    let atoms = (0..whole.atom_count()).filter(|&atom| belongs(whole.residue_of(atom)));
    let atoms = atoms.map(|atom| Atom {
        position: place.transform_point(whole.positions()[atom]),
        radius: whole.radii()[atom],
        element: whole.elements()[atom],
        name: whole.atom_names()[atom].clone(),
        residue: whole.residue_indices()[atom],
    });
    let template = MoleculeTemplate::new(name, atoms.collect(), whole.residues().to_vec())?;
    Ok(DockingMolecule::new(Arc::new(template)))
}
