//! What both formats write: tables of text and numbers, and the operators.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use glam::{DMat3, DVec3};
use smol_str::SmolStr;

use super::names::description_of;
use super::{ANGSTROM_DECIMALS, ASSEMBLY_ID};
use crate::export::{
    ANGSTROM_PER_NM, AngstromPose, ExportError, ExportOptions, ExportSummary, MAX_COORDINATE,
    MAX_DECIMALS, block_name, chain_name, is_standard_residue,
};
use crate::molecule::{DEFAULT_RADIUS_SCALE, MoleculeTemplate};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::scene_files::{Scene, SceneKind};

/// Maximum length of the name of a data block.
const MAX_BLOCK_NAME: usize = 75;

/// A value of a table.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Text(Cow<'a, str>),
    Int(i32),
    /// A number and its decimals.
    Decimal(f64, u8),
    Inapplicable,
    Unknown,
}

impl<'a> Value<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// A name, which may be empty.
    fn name(name: &'a str) -> Self {
        if name.is_empty() {
            Self::Inapplicable
        } else {
            Self::text(name)
        }
    }
}

/// A column of a table. The values of a column, except for missing ones, are of one type.
pub(super) struct Column<'a> {
    pub name: &'static str,
    /// The value in a row.
    pub value: Box<dyn Fn(usize) -> Value<'a> + 'a>,
}

/// A category.
pub(super) struct Table<'a> {
    pub category: &'static str,
    pub rows: usize,
    pub columns: Vec<Column<'a>>,
}

impl<'a> Table<'a> {
    fn new(category: &'static str, rows: usize) -> Self {
        Self {
            category,
            rows,
            columns: Vec::new(),
        }
    }

    fn column(mut self, name: &'static str, value: impl Fn(usize) -> Value<'a> + 'a) -> Self {
        let value = Box::new(value);
        self.columns.push(Column { name, value });
        self
    }
}

/// A kind with molecules.
struct WrittenKind<'a> {
    kind: &'a SceneKind,
    /// Its `label_asym_id`.
    asym: String,
    /// Index of its entity.
    entity: usize,
    /// Numbers of its operators, from 1.
    operators: Range<usize>,
    /// `auth_asym_id` of each residue, as an index.
    chains: Vec<usize>,
    chain_names: Vec<String>,
}

/// Kinds with the same path and name.
struct Entity {
    description: String,
    is_polymer: bool,
}

/// An atom of a kind.
#[derive(Clone, Copy)]
struct AtomIndex {
    kind: u32,
    atom: u32,
}

/// A scene whose poses and names are valid.
pub(super) struct Contents<'a> {
    /// Name of the data block.
    pub block: String,
    title: String,
    cell: Option<PeriodicBox>,
    wrapping: Option<PeriodicBox>,
    kinds: Vec<WrittenKind<'a>>,
    entities: Vec<Entity>,
    atoms: Vec<AtomIndex>,
    /// Molecules and atoms.
    pub summary: ExportSummary,
    /// Largest coordinate of a vector, Å.
    pub max_vector: f64,
}

impl<'a> Contents<'a> {
    pub fn new(scene: &'a Scene, options: &ExportOptions) -> Result<Self, ExportError> {
        let title = match options.title.trim() {
            "" => scene.name.trim(),
            title => title,
        };
        let title = title.replace(char::is_control, " ");
        let cell = options.periodic_box.or(scene.periodic_box);
        let mut block = format!("cellpack_{}", block_name(&title));
        block.truncate(MAX_BLOCK_NAME);
        let mut contents = Self {
            block,
            title,
            cell,
            wrapping: cell.filter(|_| options.wrap),
            kinds: Vec::new(),
            entities: Vec::new(),
            atoms: Vec::new(),
            summary: ExportSummary::default(),
            max_vector: 0.0,
        };
        contents.check_cell()?;
        let mut entity_of = HashMap::new();
        for kind in scene.kinds.iter().filter(|kind| !kind.poses.is_empty()) {
            check_names(kind)?;
            let entity = *entity_of
                .entry((&kind.path, &kind.name))
                .or_insert_with(|| {
                    contents.entities.push(Entity {
                        description: description_of(&kind.path, &kind.name),
                        is_polymer: false,
                    });
                    contents.entities.len() - 1
                });
            contents.push_kind(kind, entity)?;
        }
        Ok(contents)
    }

    fn push_kind(&mut self, kind: &'a SceneKind, entity: usize) -> Result<(), ExportError> {
        let template = &kind.template;
        let first = self.summary.molecules + 1;
        for &pose in &kind.poses {
            let vector = self.operator(self.summary.molecules, template, pose)?.1;
            let max = vector.abs().max_element();
            let extent = max + f64::from(template.bounding_radius()) * ANGSTROM_PER_NM;
            if extent > MAX_COORDINATE {
                return Err(ExportError::OutOfRange {
                    molecule: self.summary.molecules,
                    name: template.name().to_owned(),
                    position: vector.as_vec3(),
                    range: "mmCIF readers (at most 1,000,000 Å)",
                });
            }
            self.max_vector = self.max_vector.max(max);
            self.summary.molecules += 1;
        }
        self.summary.atoms += kind.poses.len() * template.atom_count();
        let mut residues = template.residues().iter();
        self.entities[entity].is_polymer |=
            residues.any(|residue| is_standard_residue(&residue.name));
        let index = self.kinds.len();
        self.atoms
            .extend((0..template.atom_count()).map(|atom| AtomIndex {
                kind: index as u32,
                atom: atom as u32,
            }));
        let asym = chain_name(index);
        let chains = chain_numbers(template);
        let count = chains.iter().max().map_or(0, |max| max + 1);
        let chain_names = match count {
            0 | 1 => vec![asym.clone()],
            _ => (1..=count)
                .map(|number| format!("{asym}{number}"))
                .collect(),
        };
        self.kinds.push(WrittenKind {
            kind,
            asym,
            entity,
            operators: first..self.summary.molecules + 1,
            chains,
            chain_names,
        });
        Ok(())
    }

    fn check_cell(&self) -> Result<(), ExportError> {
        let Some(size) = self.cell.map(|cell| cell.size()) else {
            return Ok(());
        };
        let max = MAX_COORDINATE / ANGSTROM_PER_NM;
        let min = 10_f64.powi(-i32::from(MAX_DECIMALS)) / ANGSTROM_PER_NM;
        let edges = size.as_dvec3();
        if edges.max_element() <= max && edges.min_element() >= min {
            return Ok(());
        }
        Err(ExportError::BoxOutOfRange {
            size,
            format: "mmCIF readers",
            max,
            alternative: "",
        })
    }

    /// Rotation and translation (Å) of a molecule.
    fn operator(
        &self,
        molecule: usize,
        template: &MoleculeTemplate,
        pose: Pose,
    ) -> Result<(DMat3, DVec3), ExportError> {
        AngstromPose::new(molecule, template, pose, self.wrapping).map(|pose| pose.operator())
    }

    /// Rotation and translation (Å) of each molecule.
    pub fn operators(&self) -> impl Iterator<Item = Result<(DMat3, DVec3), ExportError>> + '_ {
        let molecules = self.kinds.iter().flat_map(|written| {
            let poses = written.kind.poses.iter();
            poses.map(|&pose| (&*written.kind.template, pose))
        });
        molecules
            .enumerate()
            .map(|(index, (template, pose))| self.operator(index, template, pose))
    }

    /// The tables before the operators.
    pub fn tables(&'a self) -> Vec<Table<'a>> {
        let block = || Value::text(self.block.as_str());
        let mut tables = vec![Table::new("_entry", 1).column("id", move |_| block())];
        if !self.title.is_empty() {
            tables.push(
                Table::new("_struct", 1)
                    .column("entry_id", move |_| block())
                    .column("title", |_| Value::text(self.title.as_str())),
            );
        }
        tables.extend(self.cell_tables());
        tables.push(self.entity_table());
        tables.push(
            Table::new("_struct_asym", self.kinds.len())
                .column("id", |row| Value::text(self.kinds[row].asym.as_str()))
                .column("entity_id", |row| Value::Int(self.entity_id(row))),
        );
        if !self.kinds.is_empty() {
            tables.push(
                Table::new("_pdbx_struct_assembly", 1)
                    .column("id", |_| Value::text(ASSEMBLY_ID))
                    // Gemmi ignores assemblies with other details, and without the next columns.
                    .column("details", |_| Value::text("software_defined_assembly"))
                    .column("method_details", |_| Value::text("CELLPACK"))
                    .column("oligomeric_details", |_| Value::Unknown)
                    .column("oligomeric_count", |_| {
                        Value::Int(i32::try_from(self.summary.molecules).unwrap_or(i32::MAX))
                    }),
            );
        }
        let expression = |kind: &WrittenKind<'_>| {
            let Range { start, end } = kind.operators;
            format!("({start}-{})", end - 1)
        };
        tables.push(
            Table::new("_pdbx_struct_assembly_gen", self.kinds.len())
                .column("assembly_id", |_| Value::text(ASSEMBLY_ID))
                .column("oper_expression", move |row| {
                    Value::text(expression(&self.kinds[row]))
                })
                .column("asym_id_list", |row| {
                    Value::text(self.kinds[row].asym.as_str())
                }),
        );
        tables
    }

    fn cell_tables(&'a self) -> Vec<Table<'a>> {
        let Some(cell) = self.cell else {
            return Vec::new();
        };
        let mut table =
            Table::new("_cell", 1).column("entry_id", |_| Value::text(self.block.as_str()));
        let lengths = ["length_a", "length_b", "length_c"];
        for (name, edge) in lengths.into_iter().zip(cell.size().to_array()) {
            let edge = f64::from(edge) * ANGSTROM_PER_NM;
            table = table.column(name, move |_| Value::Decimal(edge, MAX_DECIMALS));
        }
        for name in ["angle_alpha", "angle_beta", "angle_gamma"] {
            table = table.column(name, |_| Value::Decimal(90.0, 2));
        }
        let symmetry = Table::new("_symmetry", 1)
            .column("entry_id", |_| Value::text(self.block.as_str()))
            .column("space_group_name_H-M", |_| Value::text("P 1"));
        vec![table, symmetry]
    }

    fn entity_table(&'a self) -> Table<'a> {
        let kind_of_entity = |row: usize| match self.entities[row].is_polymer {
            true => "polymer",
            false => "non-polymer",
        };
        Table::new("_entity", self.entities.len())
            .column("id", |row| Value::Int(row as i32 + 1))
            .column("type", move |row| Value::text(kind_of_entity(row)))
            .column("pdbx_description", |row| {
                Value::text(self.entities[row].description.as_str())
            })
    }

    fn entity_id(&self, kind: usize) -> i32 {
        self.kinds[kind].entity as i32 + 1
    }

    /// The atoms of all kinds, in the body frames.
    pub fn atom_table(&'a self) -> Table<'a> {
        let written = |row: usize| &self.kinds[self.atoms[row].kind as usize];
        let template = move |row: usize| -> &'a MoleculeTemplate { &written(row).kind.template };
        let atom = |row: usize| self.atoms[row].atom as usize;
        let residue_index = move |row| template(row).residue_indices()[atom(row)] as usize;
        let residue = move |row| &template(row).residues()[residue_index(row)];
        let atom_name = move |row| Value::name(&template(row).atom_names()[atom(row)]);
        let residue_name = move |row| Value::name(&residue(row).name);
        let group = move |row| match is_standard_residue(&residue(row).name) {
            true => "ATOM",
            false => "HETATM",
        };
        let symbol = move |row: usize| {
            let symbol = template(row).elements()[atom(row)].symbol();
            Value::text(symbol.to_ascii_uppercase())
        };
        let auth_chain = move |row| {
            let written = written(row);
            Value::text(written.chain_names[written.chains[residue_index(row)]].as_str())
        };
        let code = move |row| {
            let code = residue(row).insertion_code;
            match code.filter(char::is_ascii_alphanumeric) {
                Some(code) => Value::text(code.to_string()),
                None => Value::Unknown,
            }
        };
        let coordinate = move |axis: usize| {
            move |row| {
                let position = template(row).positions()[atom(row)];
                let angstrom = f64::from(position[axis]) * ANGSTROM_PER_NM;
                Value::Decimal(angstrom, ANGSTROM_DECIMALS)
            }
        };
        let radius = move |row| {
            let radius = template(row).radii()[atom(row)];
            let element = template(row).elements()[atom(row)];
            if radius == element.vdw_radius() * DEFAULT_RADIUS_SCALE {
                Value::Unknown
            } else {
                Value::Decimal(f64::from(radius) * ANGSTROM_PER_NM, MAX_DECIMALS)
            }
        };
        let own_chain = move |row| match residue(row).chain.as_str() {
            "" => Value::Unknown,
            chain => Value::text(chain),
        };
        Table::new("_atom_site", self.atoms.len())
            .column("group_PDB", move |row| Value::text(group(row)))
            .column("id", |row| Value::Int(row as i32 + 1))
            .column("type_symbol", symbol)
            .column("label_atom_id", atom_name)
            .column("label_alt_id", |_| Value::Inapplicable)
            .column("label_comp_id", residue_name)
            .column("label_asym_id", move |row| {
                Value::text(written(row).asym.as_str())
            })
            .column("label_entity_id", |row| {
                Value::Int(self.entity_id(self.atoms[row].kind as usize))
            })
            .column("label_seq_id", move |row| {
                Value::Int(residue_index(row) as i32 + 1)
            })
            .column("pdbx_PDB_ins_code", code)
            .column("Cartn_x", coordinate(0))
            .column("Cartn_y", coordinate(1))
            .column("Cartn_z", coordinate(2))
            .column("occupancy", |_| Value::Decimal(1.0, 2))
            .column("B_iso_or_equiv", |_| Value::Decimal(0.0, 2))
            .column("auth_seq_id", move |row| Value::Int(residue(row).number))
            .column("auth_comp_id", residue_name)
            .column("auth_asym_id", auth_chain)
            .column("auth_atom_id", atom_name)
            .column("pdbx_PDB_model_num", |_| Value::Int(1))
            .column("brm_radius", radius)
            .column("brm_chain", own_chain)
    }
}

/// The number of the chain of each residue, in the order of their first residues.
fn chain_numbers(template: &MoleculeTemplate) -> Vec<usize> {
    let mut numbers = HashMap::new();
    let residues = template.residues().iter();
    residues
        .map(|residue| {
            let next = numbers.len();
            *numbers.entry(&residue.chain).or_insert(next)
        })
        .collect()
}

/// Returns an error if a name has control characters.
fn check_names(kind: &SceneKind) -> Result<(), ExportError> {
    let template = &kind.template;
    let residues = template.residues().iter();
    let names = kind.path.iter().chain([&kind.name]).map(String::as_str);
    let mut names = names
        .chain(template.atom_names().iter().map(SmolStr::as_str))
        .chain(residues.flat_map(|residue| [residue.name.as_str(), residue.chain.as_str()]));
    match names.find(|name| name.chars().any(char::is_control)) {
        None => Ok(()),
        Some(name) => Err(ExportError::UnsupportedName {
            name: name.into(),
            expected: "structure files do not allow control characters",
        }),
    }
}
