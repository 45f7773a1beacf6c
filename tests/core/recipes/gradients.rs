//! Places by gradients: 1,000 tiny spheres per case, before they are relaxed, against the weight
//! function by Pearson's chi-square test.
//!
//! The space is cut into ten parts of equal weight along a coordinate. Their weights are sums over
//! points of an additive recurrence (Roberts 2018), computed here in `f64`. With nine degrees of
//! freedom, chi-square exceeds 27.88 in one of 1,000 tests of the right distribution.

use bevy_rapier_molecules::recipe::populate;
use glam::DVec3;
use serde_json::{Value, json};

use super::packed_spheres::{change, read, warnings};

/// Chi-square at p = 0.001 with nine degrees of freedom.
const CRITICAL: f64 = 27.88;

/// Parts of equal weight.
const PARTS: usize = 10;

/// Points by which the weight of a part is computed.
const POINTS: u32 = 40_000;

/// Corners of the box, nm.
const LOW: DVec3 = DVec3::new(-10.0, -20.0, 0.0);
const HIGH: DVec3 = DVec3::new(30.0, 20.0, 40.0);

/// Radius of the cell and of the nucleus in it, nm. Both are in the middle of the box.
const CELL: f64 = 18.0;
const NUCLEUS: f64 = 6.0;

/// Where the spheres are.
#[derive(Clone, Copy)]
enum Space {
    Box,
    /// In the cell, outside of its nucleus.
    Cell,
    /// In the surface of the cell.
    Surface,
}

fn middle() -> DVec3 {
    0.5 * (LOW + HIGH)
}

/// The coordinates of a point relative to the box, from 0 to 1.
fn part(point: DVec3) -> DVec3 {
    (point - LOW) / (HIGH - LOW)
}

/// Places of 1,000 spheres with these fields.
fn places(fields: &Value, space: Space) -> Vec<DVec3> {
    let mut ball = json!({ "type": "single_sphere", "radius": 1.0e-3, "packing_mode": "gradient" });
    change(&mut ball, fields);
    let balls = json!([{ "object": "ball", "count": 1000 }]);
    let mut recipe = json!({
        "name": "gradients",
        "format_version": "2.1",
        "bounding_box": [LOW.to_array(), HIGH.to_array()],
        "objects": {
            "ball": ball,
            "shell": { "type": "single_sphere", "radius": CELL },
            "core": { "type": "single_sphere", "radius": NUCLEUS },
        },
        "composition": { "space": { "regions": { "interior": balls } } },
        "bevy_rapier_molecules": { "unit": "nm" },
    });
    if !matches!(space, Space::Box) {
        let region = if matches!(space, Space::Cell) {
            "interior"
        } else {
            "surface"
        };
        let mut regions = json!({ "interior": ["nucleus"] });
        if matches!(space, Space::Cell) {
            regions["interior"] = json!(["nucleus", balls[0]]);
        } else {
            regions[region] = balls;
        }
        let position = json!({ "position": middle().to_array() });
        let compartments = json!({
            "composition": {
                "space": { "regions": { "interior": ["cell"] } },
                "cell": { "object": "shell", "regions": regions },
                "nucleus": { "object": "core", "regions": {} },
            },
            "bevy_rapier_molecules": { "composition": { "cell": position, "nucleus": position } },
        });
        change(&mut recipe, &compartments);
    }
    let recipe = read(&recipe);
    assert_eq!(warnings(&recipe), [""; 0]);
    let population = populate(&recipe, Some(5)).unwrap();
    let members = population.crowd.members().iter();
    members
        .map(|member| member.pose.position.as_dvec3())
        .collect()
}

/// Points that fill a space evenly.
fn points(space: Space) -> Vec<DVec3> {
    // The powers of the root of x⁴ = x + 1.
    let root: f64 = 1.220_744_084_605_759_5;
    let step = DVec3::new(root.powi(-1), root.powi(-2), root.powi(-3));
    let all = (1..=POINTS).map(|index| (0.5 + step * f64::from(index)).fract());
    match space {
        Space::Box => all.map(|part| LOW + (HIGH - LOW) * part).collect(),
        Space::Cell => {
            let points = all.map(|part| LOW + (HIGH - LOW) * part);
            let is_inside = |point: &DVec3| (NUCLEUS..=CELL).contains(&point.distance(middle()));
            points.filter(is_inside).collect()
        }
        // Archimedes: heights are uniformly distributed.
        Space::Surface => {
            let point = |part: DVec3| {
                let (height, turn) = (2.0 * part.x - 1.0, std::f64::consts::TAU * part.y);
                let wide = (1.0 - height * height).sqrt();
                middle() + CELL * DVec3::new(wide * turn.cos(), wide * turn.sin(), height)
            };
            all.map(point).collect()
        }
    }
}

/// Chi-square of places along a coordinate, for a weight of each point.
fn chi_square(
    places: &[DVec3],
    space: Space,
    weight: impl Fn(DVec3) -> f64,
    along: impl Fn(DVec3) -> f64,
) -> f64 {
    let samples = points(space).into_iter();
    let mut samples: Vec<(f64, f64)> = samples.map(|p| (along(p), weight(p))).collect();
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = samples.iter().map(|(_, weight)| weight).sum();
    let (mut edges, mut expected) = (Vec::new(), Vec::new());
    let (mut sum, mut last) = (0.0, 0.0);
    for (at, weight) in &samples {
        sum += weight;
        if sum >= total * (edges.len() + 1) as f64 / PARTS as f64 && edges.len() + 1 < PARTS {
            edges.push(*at);
            expected.push((sum - last) / total);
            last = sum;
        }
    }
    expected.push((total - last) / total);
    let mut found = [0.0; PARTS];
    for place in places {
        found[edges.partition_point(|edge| *edge < along(*place))] += 1.0;
    }
    let terms = found.iter().zip(expected).map(|(found, part)| {
        let expected = part * places.len() as f64;
        (found - expected).powi(2) / expected
    });
    terms.sum()
}

/// Checks the places of spheres with a gradient.
fn check(
    gradient: &Value,
    space: Space,
    weight: impl Fn(DVec3) -> f64,
    along: impl Fn(DVec3) -> f64,
) {
    let places = places(&json!({ "gradient": gradient }), space);
    assert_eq!(places.len(), 1000);
    let found = chi_square(&places, space, weight, along);
    assert!(found < CRITICAL, "{gradient}: {found}");
}

#[test]
fn the_test_finds_a_wrong_distribution() {
    let linear = places(&json!({ "gradient": { "mode": "x" } }), Space::Box);
    let x = |point: DVec3| part(point).x;
    assert!(chi_square(&linear, Space::Box, |p| 1.0 - x(p), x) < CRITICAL);
    // Even another power of the weight is found.
    assert!(chi_square(&linear, Space::Box, |p| (1.0 - x(p)).powf(1.3), x) > CRITICAL);
    assert!(chi_square(&linear, Space::Box, |_| 1.0, x) > 10.0 * CRITICAL);
}

#[test]
fn density_falls_along_an_axis() {
    let settings = |mode: &str, weight: &str, settings: Value| json!({ "mode": mode, "weight_mode": weight, "weight_mode_settings": settings });
    let none = || json!({});
    let [x, y, z] = [0, 1, 2].map(|axis| move |point: DVec3| part(point)[axis]);
    let power = |part: f64, power: f64| (1.0 - part).powf(power);
    check(
        &settings("x", "linear", none()),
        Space::Box,
        |p| power(x(p), 1.0),
        x,
    );
    check(
        &settings("y", "square", none()),
        Space::Box,
        |p| power(y(p), 2.0),
        y,
    );
    check(
        &settings("z", "cube", none()),
        Space::Box,
        |p| power(z(p), 3.0),
        z,
    );
    let gradient = settings("x", "power", json!({ "power": 2.5 }));
    check(&gradient, Space::Box, |p| power(x(p), 2.5), x);
    let gradient = settings("y", "exponential", json!({ "decay_length": 0.15 }));
    check(&gradient, Space::Box, |p| (-y(p) / 0.15).exp(), y);
    check(
        &settings("z", "exponential", none()),
        Space::Box,
        |p| (-z(p) / 0.3).exp(),
        z,
    );
    let gradient = settings("z", "exponential", json!({ "decay_length": 0 }));
    check(&gradient, Space::Box, |_| 1.0, z);
    // Along the other axes nothing changes.
    check(
        &settings("z", "cube", none()),
        Space::Box,
        |p| power(z(p), 3.0),
        x,
    );
}

#[test]
fn density_falls_on_both_sides_of_a_plane() {
    let corners = || {
        let side = |bit: u32| f64::from(bit & 1);
        (0..8_u32)
            .map(move |k| LOW + (HIGH - LOW) * DVec3::new(side(k), side(k >> 1), side(k >> 2)))
    };
    for (center, direction) in [
        (None, DVec3::new(1.0, 1.0, 1.0)),
        (Some(DVec3::new(0.0, 0.0, 10.0)), DVec3::new(1.0, -2.0, 0.0)),
    ] {
        let mut settings = json!({ "direction": direction.to_array() });
        if let Some(center) = center {
            settings["center"] = json!(center.to_array());
        }
        let normal = direction.normalize();
        let center = center.unwrap_or(middle());
        let height = |point: DVec3| (point - center).dot(normal);
        let reach = corners()
            .map(|corner| height(corner).abs())
            .fold(0.0, f64::max);
        let part = |point: DVec3| height(point).abs() / reach;
        let mut gradient = json!({ "mode": "vector", "mode_settings": settings });
        check(&gradient, Space::Box, |p| 1.0 - part(p), height);
        gradient["weight_mode"] = json!("cube");
        check(&gradient, Space::Box, |p| (1.0 - part(p)).powi(3), height);
        gradient["weight_mode"] = json!("exponential");
        gradient["weight_mode_settings"] = json!({ "decay_length": 0.1 });
        check(&gradient, Space::Box, |p| (-part(p) / 0.1).exp(), height);
    }
}

#[test]
fn density_falls_with_the_distance_from_a_point() {
    let center = DVec3::new(5.0, 0.0, 15.0);
    let settings = json!({ "center": center.to_array(), "radius": 20 });
    let distance = move |point: DVec3| point.distance(center);
    let part = move |point: DVec3| (distance(point) / 20.0).min(1.0);
    let mut gradient = json!({ "mode": "radial", "mode_settings": settings });
    check(&gradient, Space::Box, |p| 1.0 - part(p), distance);
    gradient["weight_mode"] = json!("square");
    check(&gradient, Space::Box, |p| (1.0 - part(p)).powi(2), distance);
    gradient["weight_mode"] = json!("exponential");
    gradient["weight_mode_settings"] = json!({ "decay_length": 0.4 });
    check(&gradient, Space::Box, |p| (-part(p) / 0.4).exp(), distance);
    // Without settings, from the middle to the corners.
    let distance = |point: DVec3| point.distance(middle());
    let reach = 0.5 * (HIGH - LOW).length();
    let gradient = json!({ "mode": "radial", "weight_mode": "cube" });
    check(
        &gradient,
        Space::Box,
        |p| (1.0 - distance(p) / reach).powi(3),
        distance,
    );
}

#[test]
fn density_falls_with_the_distance_from_a_surface() {
    let distance = |point: DVec3| point.distance(middle()) - NUCLEUS;
    let part = move |point: DVec3| distance(point) / (CELL - NUCLEUS);
    let mut gradient = json!({ "mode": "surface", "mode_settings": { "object": "nucleus" } });
    check(&gradient, Space::Cell, |p| 1.0 - part(p), distance);
    gradient["weight_mode"] = json!("exponential");
    gradient["weight_mode_settings"] = json!({ "decay_length": 0.2 });
    check(&gradient, Space::Cell, |p| (-part(p) / 0.2).exp(), distance);
    gradient["invert"] = json!("distance");
    check(
        &gradient,
        Space::Cell,
        |p| (-(1.0 - part(p)) / 0.2).exp(),
        distance,
    );
    // The object of a compartment stands for it. Both distances add up to the same here.
    let gradient = json!({
        "mode": "surface", "weight_mode": "square",
        "mode_settings": { "object": "core", "scale_to_next_surface": true },
    });
    check(
        &gradient,
        Space::Cell,
        |p| (1.0 - part(p)).powi(2),
        distance,
    );
}

#[test]
fn a_uniform_gradient_changes_nothing() {
    for weight in ["linear", "cube", "exponential"] {
        let gradient = json!({ "mode": "uniform", "weight_mode": weight });
        check(&gradient, Space::Box, |_| 1.0, |point| part(point).x);
        check(
            &gradient,
            Space::Cell,
            |_| 1.0,
            |point| point.distance(middle()),
        );
    }
}

#[test]
fn weights_and_distances_are_inverted() {
    let x = |point: DVec3| part(point).x;
    let gradient = |weight: &str, invert: Value| json!({ "mode": "x", "weight_mode": weight, "invert": invert });
    let square = |part: f64| (1.0 - part).powi(2);
    let weight = json!("weight");
    check(
        &gradient("square", weight),
        Space::Box,
        |p| 1.0 - square(x(p)),
        x,
    );
    check(
        &gradient("square", json!(true)),
        Space::Box,
        |p| 1.0 - square(x(p)),
        x,
    );
    let distance = json!("distance");
    check(
        &gradient("square", distance.clone()),
        Space::Box,
        |p| square(1.0 - x(p)),
        x,
    );
    let falling = |part: f64| (-part / 0.3).exp();
    check(
        &gradient("exponential", distance),
        Space::Box,
        |p| falling(1.0 - x(p)),
        x,
    );
    check(
        &gradient("exponential", json!("weight")),
        Space::Box,
        |p| 1.0 - falling(x(p)),
        x,
    );
}

#[test]
fn two_gradients_are_mixed_by_their_weights() {
    let fields = json!({
        "gradient": [
            { "mode": "x", "weight_mode": "exponential" },
            { "mode": "z", "weight_mode": "cube" },
        ],
        "gradient_weights": [70, 30],
    });
    let places = places(&fields, Space::Box);
    let weight = |point: DVec3| {
        let part = part(point);
        0.7 * (-part.x / 0.3).exp() + 0.3 * (1.0 - part.z).powi(3)
    };
    for axis in 0..3 {
        let found = chi_square(&places, Space::Box, weight, |point| part(point)[axis]);
        assert!(found < CRITICAL, "axis {axis}: {found}");
    }
    // The other way round would be found.
    let swapped = |point: DVec3| {
        let part = part(point);
        0.3 * (-part.x / 0.3).exp() + 0.7 * (1.0 - part.z).powi(3)
    };
    assert!(chi_square(&places, Space::Box, swapped, |point| part(point).x) > CRITICAL);
}

#[test]
fn molecules_of_a_surface_follow_gradients_too() {
    let z = |point: DVec3| part(point).z;
    check(&json!({ "mode": "z" }), Space::Surface, |p| 1.0 - z(p), z);
    check(
        &json!({ "mode": "z" }),
        Space::Surface,
        |p| 1.0 - z(p),
        |p| p.x,
    );
    let gradient = json!({ "mode": "z", "weight_mode": "exponential", "invert": "distance" });
    check(
        &gradient,
        Space::Surface,
        |p| (-(1.0 - z(p)) / 0.3).exp(),
        z,
    );
}

#[test]
fn places_with_the_largest_or_smallest_weight_are_picked() {
    let parts = |pick: &str| {
        let gradient = json!({ "gradient": { "mode": "x", "pick_mode": pick } });
        let places = places(&gradient, Space::Box).into_iter();
        places.map(|place| part(place).x).collect::<Vec<f64>>()
    };
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len() as f64;
    let (largest, smallest) = (parts("max"), parts("min"));
    assert!(largest.iter().all(|part| *part < 0.35) && mean(&largest) < 0.05);
    assert!(smallest.iter().all(|part| *part > 0.65) && mean(&smallest) > 0.95);
    // All others are random by weight.
    let random = parts("rnd");
    assert!((mean(&random) - 1.0 / 3.0).abs() < 0.03);
    for pick in ["linear", "binary", "sub", "reg"] {
        assert!(parts(pick) == random, "{pick}");
    }
}
