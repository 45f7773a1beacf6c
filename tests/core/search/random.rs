//! Random scenes, including the shapes that are difficult for a grid.

use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::common::thread_pool::with_threads;
use crate::search::oracle::compare;
use crate::search::searches::Selection;

/// Number of scenes for the grids.
const CASES: u32 = 10_000;

/// Number of scenes for all searches.
const CASES_FOR_ALL: u32 = 600;

/// Largest number of spheres of a scene.
const MAX_SPHERES: usize = 120;

/// Largest coordinate: differences are finite.
const LARGEST: f32 = f32::MAX / 4.0;

/// Ratio of cell width and longest reach, for spheres on cell faces.
const CELL_WIDENING: f32 = 1.001;

/// Positions of the spheres of a scene.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// Within a box of this half width (nm) around a point.
    Box { half: f32, center: Vec3 },
    /// Within a long thin box along one axis.
    Rod { half: f32, axis: usize },
    /// On multiples of half a cell, or half a longest reach, from a point.
    CellFaces { widened: bool, origin: f32 },
    /// At three points.
    Coincident,
    /// In a small box, except for the first few at `distance` nm.
    FarGroup { distance: f32, few: usize },
    /// Coordinates of all magnitudes.
    Extreme,
}

/// Random numbers of one sphere.
#[derive(Clone, Copy, Debug)]
struct Raw {
    /// Each in −1..1.
    place: [f32; 3],
    /// In 0..1.
    size: f32,
    owner: u32,
}

/// Radii of the spheres of a scene.
#[derive(Clone, Copy, Debug)]
enum Sizes {
    Equal(f32),
    /// From zero to this radius, a quarter of them zero.
    Mixed(f32),
    /// Evenly spread over the octaves from a thousandth of this radius.
    Octaves(f32),
}

#[derive(Clone, Debug)]
struct Scene {
    layout: Layout,
    sizes: Sizes,
    margin: f32,
    owners: u32,
    raw: Vec<Raw>,
}

impl Scene {
    fn spheres(&self) -> SphereSet {
        let mut spheres = SphereSet::new();
        let largest = match self.sizes {
            Sizes::Equal(radius) | Sizes::Mixed(radius) | Sizes::Octaves(radius) => radius,
        };
        let reach = 2.0 * largest + self.margin;
        for (k, raw) in self.raw.iter().enumerate() {
            let radius = match self.sizes {
                Sizes::Equal(radius) => radius,
                Sizes::Mixed(_) if raw.size < 0.25 => 0.0,
                Sizes::Mixed(radius) => radius * raw.size,
                Sizes::Octaves(radius) => radius * 0.001_f32.powf(raw.size),
            };
            let center = place(self.layout, raw, k, reach);
            spheres
                .push(center, radius, raw.owner % self.owners)
                .expect("the scenes are finite");
        }
        spheres
    }
}

fn place(layout: Layout, raw: &Raw, k: usize, reach: f32) -> Vec3 {
    let unit = Vec3::from_array(raw.place);
    match layout {
        Layout::Box { half, center } => center + unit * half,
        Layout::Rod { half, axis } => {
            let mut point = unit * 0.2;
            point[axis] = unit[axis] * half;
            point
        }
        Layout::CellFaces { widened, origin } => {
            let width = reach * if widened { CELL_WIDENING } else { 1.0 };
            Vec3::splat(origin) + (unit * 9.0).round() * 0.5 * width
        }
        Layout::Coincident => {
            [Vec3::ZERO, Vec3::splat(0.125), Vec3::new(-7.0, 0.0, 3.0)][raw.owner as usize % 3]
        }
        Layout::FarGroup { distance, few } => {
            let shift = if k < few { distance } else { 0.0 };
            unit * 0.6 + Vec3::new(shift, 0.0, -shift)
        }
        Layout::Extreme => Vec3::from_array(raw.place.map(|v| {
            // Few exponents, so that some spheres overlap.
            let exponent = (v.abs() * 40.0).floor() - 2.0;
            (v.signum() * 10.0_f32.powf(exponent)).clamp(-LARGEST, LARGEST)
        })),
    }
}

fn layouts() -> impl Strategy<Value = Layout> {
    let sign = prop_oneof![Just(1.0_f32), Just(-1.0)];
    let offset = prop_oneof![
        Just(0.0_f32),
        Just(1.0e3),
        Just(-1.0e3),
        Just(1.0e6),
        Just(-1.0e6)
    ];
    // From 10¹² nm on, 64 bits no longer resolve nearby cells.
    let exponent = prop_oneof![Just(12.0_f32), 12.0_f32..18.0, 1.0_f32..38.0];
    let distance = prop_oneof![
        9 => exponent.prop_map(|exponent| 10.0_f32.powf(exponent).min(LARGEST)),
        1 => Just(LARGEST),
    ];
    prop_oneof![
        4 => (0.1_f32..3.0, [offset.clone(), offset.clone(), offset.clone()])
            .prop_map(|(half, center)| Layout::Box { half, center: center.into() }),
        2 => (10.0_f32..300.0)
            .prop_map(|half| Layout::Box { half, center: Vec3::ZERO }),
        2 => (1.0_f32..100.0, 0_usize..3).prop_map(|(half, axis)| Layout::Rod { half, axis }),
        3 => (any::<bool>(), offset)
            .prop_map(|(widened, origin)| Layout::CellFaces { widened, origin }),
        1 => Just(Layout::Coincident),
        4 => (distance, sign, 1_usize..4)
            .prop_map(|(distance, sign, few)| Layout::FarGroup { distance: sign * distance, few }),
        1 => Just(Layout::Extreme),
    ]
}

fn scenes() -> impl Strategy<Value = Scene> {
    let sizes = prop_oneof![
        Just(Sizes::Equal(0.0)),
        Just(Sizes::Equal(0.17)),
        (1.0e-4_f32..0.5).prop_map(Sizes::Equal),
        (1.0e-4_f32..0.5).prop_map(Sizes::Mixed),
        (1.0_f32..5.0).prop_map(Sizes::Mixed),
        (0.1_f32..5.0).prop_map(Sizes::Octaves),
    ];
    let margin = prop_oneof![3 => Just(0.0_f32), 2 => 1.0e-4_f32..0.1, 1 => 0.5_f32..4.0];
    let owners = prop_oneof![Just(1_u32), Just(2), Just(5), Just(1000)];
    let raw = (
        prop::array::uniform3(-1.0_f32..1.0),
        0.0_f32..1.0,
        0_u32..1000,
    )
        .prop_map(|(place, size, owner)| Raw { place, size, owner });
    let raw = prop::collection::vec(raw, 0..=MAX_SPHERES);
    (layouts(), sizes, margin, owners, raw).prop_map(|(layout, sizes, margin, owners, raw)| Scene {
        layout,
        sizes,
        margin,
        owners,
        raw,
    })
}

#[test]
fn every_grid_is_exact_in_random_scenes() {
    try_scenes(Selection::Grids, CASES);
}

#[test]
fn every_search_is_exact_in_random_scenes() {
    try_scenes(Selection::All, CASES_FOR_ALL);
}

fn try_scenes(selection: Selection, cases: u32) {
    let config = Config {
        cases,
        // A failing scene is printed; it should become its own test.
        failure_persistence: None,
        ..Config::default()
    };
    // A single thread: the scenes are too small to divide.
    with_threads(1, || {
        TestRunner::new(config)
            .run(&scenes(), |scene| {
                compare(selection, &scene.spheres(), scene.margin)
                    .map(|_| ())
                    .map_err(TestCaseError::fail)
            })
            .unwrap_or_else(|error| panic!("{error}"));
    });
}
