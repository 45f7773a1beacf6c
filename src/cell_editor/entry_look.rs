//! [`EntryLook`]: color and visibility of the molecules of an entry, and the tree of all entries.

use bevy::prelude::*;

use crate::recipe::LivePacking;
use crate::recipe::live::EntryState;
use crate::render::MoleculePalette;

/// How the molecules of an entry are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct EntryLook {
    /// Whether they are drawn.
    pub visible: bool,
    /// Their color: that of the recipe, else one of [`MoleculePalette::groups`].
    pub color: Color,
}

/// A compartment and its regions with entries, for panels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompartmentNode {
    /// Name of the compartment.
    pub name: String,
    /// Its regions that have entries.
    pub regions: Vec<RegionNode>,
}

/// A region of a compartment, for panels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionNode {
    /// Name of the region, such as `interior`.
    pub name: String,
    /// Indices of its entries.
    pub entries: Vec<usize>,
}

/// The compartment and the region of an entry: `vesicle` and `interior` of `vesicle.interior`.
pub(super) fn split_region(entry: &EntryState) -> (&str, &str) {
    let name = entry.region.as_str();
    name.rsplit_once('.').unwrap_or((name, ""))
}

/// All entries by compartment and region, in the order of the recipe.
pub(super) fn tree(packing: &LivePacking) -> Vec<CompartmentNode> {
    let mut tree: Vec<CompartmentNode> = Vec::new();
    for (index, entry) in packing.entries().enumerate() {
        let (compartment, region) = split_region(entry);
        let node = position_or_push(
            &mut tree,
            |it| it.name == compartment,
            || CompartmentNode {
                name: compartment.to_owned(),
                regions: Vec::new(),
            },
        );
        let regions = &mut tree[node].regions;
        let node = position_or_push(
            regions,
            |it| it.name == region,
            || RegionNode {
                name: region.to_owned(),
                entries: Vec::new(),
            },
        );
        regions[node].entries.push(index);
    }
    tree
}

fn position_or_push<T>(
    list: &mut Vec<T>,
    is_it: impl Fn(&T) -> bool,
    new: impl FnOnce() -> T,
) -> usize {
    list.iter().position(is_it).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    })
}

/// The looks of all entries of a packing that was just opened.
pub(super) fn first_looks(packing: &LivePacking, palette: &MoleculePalette) -> Vec<EntryLook> {
    let default = MoleculePalette::default();
    let colors = if palette.groups.is_empty() {
        &default.groups
    } else {
        &palette.groups
    };
    let look = |(index, entry): (usize, &EntryState)| EntryLook {
        visible: true,
        color: match entry.color {
            Some([red, green, blue]) => Color::srgb(red, green, blue),
            None => colors[index % colors.len()],
        },
    };
    packing.entries().enumerate().map(look).collect()
}

/// The looks after the recipe has changed: entries with the same names keep theirs.
pub(super) fn kept_looks(
    old: &[(EntryState, EntryLook)],
    packing: &LivePacking,
    palette: &MoleculePalette,
) -> Vec<EntryLook> {
    let first = first_looks(packing, palette);
    let kept = packing.entries().zip(first).map(|(entry, first)| {
        let is_same = |old: &EntryState| {
            (&old.region, &old.object, &old.name) == (&entry.region, &entry.object, &entry.name)
        };
        let old = old.iter().find(|(old, _)| is_same(old));
        match old {
            // A color that changed in the recipe is the new one.
            Some((state, look)) if state.color == entry.color => *look,
            Some((_, look)) => EntryLook {
                visible: look.visible,
                ..first
            },
            None => first,
        }
    });
    kept.collect()
}
