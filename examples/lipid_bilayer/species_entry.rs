//! [`SpeciesEntry`]: a lipid of a membrane with its ratios, and the syntax of `--species`.

use serde::{Deserialize, Serialize};

/// A species of lipids and its ratios in the two leaflets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpeciesEntry {
    /// Name of a bundled lipid, or a structure file. Each model of a file is a conformer.
    pub lipid: String,
    /// Area of a molecule, nm². `None`: that of a well-known lipid.
    pub area: Option<f32>,
    /// Part of the lipids of the outer leaflet, in any unit.
    pub outer: f32,
    /// Part of the lipids of the inner leaflet, in any unit.
    pub inner: f32,
}

impl Default for SpeciesEntry {
    fn default() -> Self {
        Self::new("popc", None)
    }
}

impl SpeciesEntry {
    /// A species with a ratio of 1 in both leaflets.
    pub fn new(lipid: impl Into<String>, area: Option<f32>) -> Self {
        Self {
            lipid: lipid.into(),
            area,
            outer: 1.0,
            inner: 1.0,
        }
    }

    /// Whether a leaflet has lipids of this species. Invalid ratios count.
    pub fn is_used(&self) -> bool {
        self.outer != 0.0 || self.inner != 0.0
    }
}

/// One item of `--species`: a lipid, its area and its ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeciesPart {
    pub lipid: String,
    pub area: Option<f32>,
    pub ratio: f32,
}

/// Parses items such as `popc:4` or `FILE.pdb@0.7:3`, separated by commas. `option` is for error
/// messages.
pub fn parse_species(option: &str, text: &str) -> Result<Vec<SpeciesPart>, String> {
    text.split(',')
        .map(|item| parse_part(item.trim()).map_err(|why| format!("{option} '{text}': {why}")))
        .collect()
}

fn parse_part(item: &str) -> Result<SpeciesPart, String> {
    const SYNTAX: &str = "write NAME:RATIO or FILE@AREA:RATIO, separated by commas";
    let number = |what: &str, text: &str| {
        let number = text.trim().parse::<f32>();
        number.map_err(|_| format!("'{text}' is not {what}; {SYNTAX}"))
    };
    let (lipid, ratio) = match item.rsplit_once(':') {
        // A path with a drive has a colon, too.
        Some((lipid, ratio)) if !ratio.starts_with(['/', '\\']) => {
            (lipid, number("a ratio", ratio)?)
        }
        _ => (item, 1.0),
    };
    let (lipid, area) = match lipid.rsplit_once('@') {
        Some((lipid, area)) => (lipid, Some(number("an area in nm²", area)?)),
        None => (lipid, None),
    };
    if lipid.is_empty() {
        return Err(format!("a lipid has no name; {SYNTAX}"));
    }
    Ok(SpeciesPart {
        lipid: lipid.to_owned(),
        area,
        ratio,
    })
}

/// Replaces the ratios of the outer leaflet, of the inner one or of both.
pub fn set_ratios(species: &mut Vec<SpeciesEntry>, parts: &[SpeciesPart], leaflets: [bool; 2]) {
    let [outer, inner] = leaflets;
    for entry in species.iter_mut() {
        entry.outer = if outer { 0.0 } else { entry.outer };
        entry.inner = if inner { 0.0 } else { entry.inner };
    }
    for SpeciesPart { lipid, area, ratio } in parts {
        let is_same = |entry: &SpeciesEntry| entry.lipid == *lipid && entry.area == *area;
        let index = species.iter().position(is_same).unwrap_or_else(|| {
            species.push(SpeciesEntry {
                outer: 0.0,
                inner: 0.0,
                ..SpeciesEntry::new(lipid, *area)
            });
            species.len() - 1
        });
        let entry = &mut species[index];
        entry.outer += if outer { *ratio } else { 0.0 };
        entry.inner += if inner { *ratio } else { 0.0 };
    }
    species.retain(SpeciesEntry::is_used);
}
