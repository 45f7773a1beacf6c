//! Live packings of fibers and of molecules that a rule places: joints go, come back, are saved, and
//! stay within their limits.

use bevy_rapier_molecules::crowd::{Crowd, CrowdJoint};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::recipe::{
    Edit, EditReport, LivePacking, MoleculeId, PackOptions, populate,
};
use glam::{DQuat, DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

use super::live_scene::{
    check_numbers, deepest_overlap, entry, ids_of, packed, read, set_count, settle,
};

/// Number of links of each fiber.
const LINKS: usize = 12;

/// Limits count as kept up to this, nm: the slack of the relaxer with rounding.
const SLACK: f64 = 1.2e-3;

/// Two fibers of balls and balls with guests that touch them. Lengths are nm.
fn chains() -> Value {
    let ball = |radius: f64| json!({ "type": "single_sphere", "radius": radius });
    json!({
        "name": "chains",
        "format_version": "2.1",
        "bounding_box": [[-9, -9, -9], [9, 9, 9]],
        "randomness_seed": 5,
        "objects": { "link": ball(0.5), "host": ball(1.0), "guest": ball(0.4), "bead": ball(0.6) },
        "composition": {
            "space": { "regions": { "interior": ["fibers", "hosts", "guests", "beads"] } },
            "fibers": { "object": "link", "count": 2 },
            "hosts": { "object": "host", "count": 5 },
            "guests": { "object": "guest" },
            "beads": { "object": "bead", "count": 20 },
        },
        "bevy_rapier_molecules": {
            "unit": "nm",
            "objects": { "link": { "fiber": { "persistence_length": 5, "rise": 1.05 } } },
            "composition": {
                "fibers": { "fiber": { "links": LINKS } },
                "guests": { "rule": { "on_surface_of": { "of": "hosts", "per_instance": 2 } } },
            },
        },
    })
}

fn live(value: &Value) -> LivePacking {
    LivePacking::new(read(value), &PackOptions::default()).unwrap()
}

fn row(packing: &LivePacking, object: &str) -> usize {
    entry(packing, "space.interior", object)
}

fn of_object(packing: &LivePacking, object: &str) -> Vec<MoleculeId> {
    ids_of(packing, row(packing, object))
}

/// Distance of the anchors of a joint, in 64 bits, nm.
fn gap(crowd: &Crowd, joint: &CrowdJoint) -> f64 {
    let [first, second] = [0, 1].map(|side| {
        let pose = crowd.members()[joint.members[side] as usize].pose;
        let turn: DQuat = pose.rotation.as_dquat().normalize();
        let anchor: DVec3 = turn * joint.frames[side].position.as_dvec3();
        anchor + pose.position.as_dvec3()
    });
    first.distance(second)
}

/// How far the gaps of all joints exceed their limits, nm.
fn stretch(crowd: &Crowd) -> f64 {
    let over = |joint: &CrowdJoint| {
        let (gap, limits) = (gap(crowd, joint), &joint.limits);
        (gap - f64::from(limits.gap)).max(f64::from(limits.min_gap) - gap)
    };
    crowd.joints().iter().map(over).fold(0.0, f64::max)
}

fn check(packing: &LivePacking) {
    assert!(packing.is_at_rest(), "{:?}", packing.status());
    assert_eq!(packing.status().strained_joints, 0);
    assert!(
        stretch(packing.crowd()) <= SLACK,
        "{}",
        stretch(packing.crowd())
    );
    assert_eq!(deepest_overlap(packing.crowd()), 0.0);
    check_numbers(packing);
}

/// A joint with the ids of its molecules, and its bits.
type Joined = ([MoleculeId; 2], [u32; 18]);

/// The bits of frames and limits of a joint.
fn bits(joint: &CrowdJoint) -> [u32; 18] {
    let frames = joint.frames.iter().flat_map(|frame| {
        let (position, rotation) = (frame.position.to_array(), frame.rotation.to_array());
        position.into_iter().chain(rotation)
    });
    let limits = &joint.limits;
    let limits = [limits.min_gap, limits.gap, limits.bend, limits.twist];
    let all: Vec<u32> = frames.chain(limits).map(f32::to_bits).collect();
    all.try_into().unwrap()
}

/// All joints in an order of their own.
fn joined(packing: &LivePacking) -> Vec<Joined> {
    let ids = packing.molecule_ids();
    let joints = packing.crowd().joints().iter();
    let of = |joint: &CrowdJoint| {
        (
            joint.members.map(|member| ids[member as usize]),
            bits(joint),
        )
    };
    let mut joined: Vec<Joined> = joints.map(of).collect();
    joined.sort_unstable();
    joined
}

/// Entry and bits of the position of a molecule.
type End = (u32, [u32; 3]);

/// What joints connect: entry and bits of the position of both molecules, and the bits of the joint.
fn connected(packing: &LivePacking) -> Vec<([End; 2], [u32; 18])> {
    let (rows, members) = (packing.molecule_entries(), packing.crowd().members());
    let end = |member: u32| {
        let position = members[member as usize].pose.position.to_array();
        (rows[member as usize], position.map(f32::to_bits))
    };
    let joints = packing.crowd().joints().iter();
    let mut all: Vec<_> = joints
        .map(|joint| (joint.members.map(end), bits(joint)))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn numbers_of_fibers_and_rules_cannot_be_set() {
    let mut packing = packed(&chains());
    check(&packing);
    let before = joined(&packing);
    assert_eq!(before.len(), 2 * (LINKS - 1) + 10);
    let settable: Vec<(String, bool)> = packing
        .entries()
        .map(|entry| (entry.object.clone(), entry.can_set_count))
        .collect();
    for (object, can_set) in settable {
        assert_eq!(can_set, object == "host" || object == "bead", "{object}");
    }
    let center = Vec3::ZERO;
    for (object, name, reason) in [
        ("link", "fibers", "they are links of fibers"),
        ("guest", "guests", "a rule places them"),
    ] {
        let entry = row(&packing, object);
        let paint = Edit::Paint {
            entry,
            center,
            radius: 2.0,
            count: 1,
        };
        for edit in [Edit::SetCount { entry, count: 3 }, paint] {
            let error = packing.apply(edit).unwrap_err().to_string();
            let expected = format!(
                "cell.json: the number of '{name}' in space.interior cannot be changed here, \
                 because {reason}; edit the recipe file, which is then read again"
            );
            assert_eq!(error, expected);
        }
    }
    assert_eq!(joined(&packing), before);
    assert!(!packing.can_undo());
    // Those that rules refer to can.
    let hosts = row(&packing, "host");
    set_count(&mut packing, hosts, 7);
    settle(&mut packing);
    check(&packing);
    assert_eq!(joined(&packing), before);
}

#[test]
fn a_fiber_is_removed_as_a_whole_and_comes_back_with_its_joints() {
    let mut packing = packed(&chains());
    let links = of_object(&packing, "link");
    let before = joined(&packing);
    let edit = Edit::Remove(vec![links[5], links[7]]);
    let report = packing.apply(edit).unwrap();
    assert_eq!(report.removed, links[..LINKS]);
    assert_eq!(of_object(&packing, "link"), links[LINKS..]);
    let is_left = |joined: &&Joined| !joined.0.iter().any(|id| report.removed.contains(id));
    let left: Vec<Joined> = before.iter().filter(is_left).copied().collect();
    assert_eq!(
        (joined(&packing), left.len()),
        (left.clone(), LINKS - 1 + 10)
    );
    settle(&mut packing);
    check(&packing);

    for _ in 0..2 {
        assert!(packing.undo().unwrap());
        assert_eq!(joined(&packing), before);
        settle(&mut packing);
        check(&packing);
        assert!(packing.redo().unwrap());
        assert_eq!(joined(&packing), left);
        settle(&mut packing);
        check(&packing);
    }
}

#[test]
fn molecules_bound_to_removed_ones_stay_free_until_the_others_come_back() {
    let mut packing = packed(&chains());
    let before = joined(&packing);
    let host = of_object(&packing, "host")[2];
    packing.apply(Edit::Remove(vec![host])).unwrap();
    assert_eq!(of_object(&packing, "guest").len(), 10);
    assert_eq!(joined(&packing).len(), before.len() - 2);
    settle(&mut packing);
    check(&packing);
    assert!(packing.undo().unwrap());
    assert_eq!(joined(&packing), before);
    settle(&mut packing);
    check(&packing);
    // As when their number is set.
    let hosts = row(&packing, "host");
    set_count(&mut packing, hosts, 3);
    assert_eq!(joined(&packing).len(), before.len() - 4);
    assert!(packing.undo().unwrap());
    assert_eq!(joined(&packing), before);
    settle(&mut packing);
    check(&packing);
}

#[test]
fn random_edits_that_are_undone_leave_all_joints() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let mut packing = packed(&chains());
    let before = joined(&packing);
    let hosts = row(&packing, "host");
    let mut fewest = before.len();
    for _ in 0..4 {
        let mut edits = 0;
        while edits < 20 {
            let ids = packing.molecule_ids();
            let id = ids[random.random_range(0..ids.len())];
            let edit = match random.random_range(0..4) {
                0 => Edit::Remove(vec![id, ids[0]]),
                1 => Edit::SetCount {
                    entry: hosts,
                    count: random.random_range(0..8),
                },
                2 => Edit::Freeze {
                    ids: vec![id],
                    frozen: random.random(),
                },
                _ => Edit::Move {
                    id,
                    pose: Pose::from_translation(Vec3::splat(random.random_range(-6.0..6.0))),
                },
            };
            let report = packing.apply(edit).unwrap();
            edits += usize::from(report != EditReport::default());
            packing.step().unwrap();
            check_numbers(&packing);
            fewest = fewest.min(packing.crowd().joints().len());
        }
        while packing.undo().unwrap() {
            packing.step().unwrap();
            check_numbers(&packing);
        }
        assert_eq!(joined(&packing), before);
        settle(&mut packing);
        check(&packing);
    }
    assert!(fewest < LINKS, "{fewest} joints");
}

#[test]
fn a_dragged_link_pulls_its_fiber_along() {
    let mut packing = packed(&chains());
    let links = of_object(&packing, "link")[..LINKS].to_vec();
    let place = |packing: &LivePacking, link: usize| packing.pose_of(links[link]).unwrap().position;
    let middle = LINKS / 2;
    let start = place(&packing, middle);
    let target = Vec3::new(-start.x.signum() * 5.0, -start.y.signum() * 5.0, 0.0);
    packing.start_drag(links[middle], start).unwrap();
    packing.drag_to(target).unwrap();
    let mut widest: f64 = 0.0;
    for _ in 0..1_000 {
        if packing.is_at_rest() {
            break;
        }
        packing.step().unwrap();
        widest = widest.max(stretch(packing.crowd()));
    }
    assert!(place(&packing, middle).distance(target) < 1.0e-3);
    check(&packing);
    // The molecule has waited for its neighbors.
    assert!((0.01..0.5).contains(&widest), "{widest} nm");
    for link in 0..LINKS {
        let distance = place(&packing, link).distance(target);
        let reach = middle.abs_diff(link) as f32 * 1.15;
        assert!(distance <= reach + 1.0e-3, "{link}: {distance} nm");
    }
    packing.end_drag().unwrap();
    settle(&mut packing);
    check(&packing);
    assert!(packing.undo().unwrap());
    settle(&mut packing);
    check(&packing);
}

#[test]
fn a_fiber_with_a_frozen_end_holds_the_dragged_one_back() {
    let mut packing = packed(&chains());
    let links = of_object(&packing, "link")[..LINKS].to_vec();
    let place = |packing: &LivePacking, id| packing.pose_of(id).unwrap().position;
    let (ids, frozen) = (vec![links[0]], true);
    packing.apply(Edit::Freeze { ids, frozen }).unwrap();
    let fixed = place(&packing, links[0]);
    let start = place(&packing, links[3]);
    packing.start_drag(links[3], start).unwrap();
    packing.drag_to(-9.0 * fixed.normalize()).unwrap();
    for _ in 0..300 {
        packing.step().unwrap();
    }
    assert_eq!(place(&packing, links[0]), fixed);
    // Three joints of 1.05 nm and their gaps, each stretched a little.
    let distance = place(&packing, links[3]).distance(fixed);
    assert!(distance < 3.0 * 1.15 + 1.0, "{distance} nm");
    packing.end_drag().unwrap();
    settle(&mut packing);
    check(&packing);
}

#[test]
fn a_saved_recipe_has_the_same_joints_bit_by_bit() {
    let mut packing = packed(&chains());
    let links = of_object(&packing, "link");
    let guests = of_object(&packing, "guest");
    let hosts = of_object(&packing, "host");
    // One of each is missing.
    let ids = vec![links[LINKS], guests[3], hosts[4]];
    packing.apply(Edit::Remove(ids)).unwrap();
    let host = row(&packing, "host");
    set_count(&mut packing, host, 6);
    settle(&mut packing);
    check(&packing);
    let saved = packing.save().unwrap();
    for (name, count) in [
        ("fibers", json!(2)),
        ("guests", Value::Null),
        ("hosts", json!(6)),
    ] {
        assert_eq!(saved["composition"][name]["count"], count, "{name}");
    }
    let again = live(&saved);
    assert!(again.warnings().is_empty(), "{:?}", again.warnings());
    let counts = |packing: &LivePacking| -> Vec<u32> {
        packing.entries().map(|entry| entry.count).collect()
    };
    assert_eq!(counts(&again), counts(&packing));
    assert_eq!(connected(&again), connected(&packing));
    assert_eq!(connected(&again).len(), LINKS - 1 + 7);
    check(&again);
    assert_eq!(again.save().unwrap(), saved);
    let population = populate(&read(&saved), None).unwrap();
    assert_eq!(population.crowd.joints(), again.crowd().joints());
    assert_eq!(
        population.report.entries[row(&again, "link")].fibers,
        Some(1)
    );
}

#[test]
fn fibers_and_guests_that_were_all_removed_stay_away() {
    let mut packing = packed(&chains());
    let ids = [of_object(&packing, "link"), of_object(&packing, "guest")].concat();
    packing.apply(Edit::Remove(ids)).unwrap();
    assert!(packing.crowd().joints().is_empty());
    settle(&mut packing);
    let saved = packing.save().unwrap();
    assert!(saved["bevy_rapier_molecules"].get("joints").is_none());
    let again = live(&saved);
    assert_eq!(again.crowd().members().len(), 25);
    assert!(again.crowd().joints().is_empty());
    check(&again);
}

#[test]
fn errors_in_saved_joints_name_the_place() {
    let saved = packed(&chains()).save().unwrap();
    let cases = [
        (
            json!({ "members": [0, 59] }),
            "joints[3].members: a member must be less than the number of poses of all placements, not 59",
        ),
        (
            json!({ "members": [4, 4] }),
            "joints[3].members: a joint connects molecule 4 with itself",
        ),
        (
            json!({ "gap": -1 }),
            "joints[3]: the gap of a joint must be finite and not negative, but is -1",
        ),
        (
            json!({ "frames": [[0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 2]] }),
            "joints[3].frames[1]: a rotation must be a unit quaternion x, y, z, w, not [0.0, 0.0, 0.0, 2.0]",
        ),
    ];
    for (changes, expected) in cases {
        let mut file = saved.clone();
        for (key, value) in changes.as_object().unwrap() {
            file["bevy_rapier_molecules"]["joints"][3][key] = value.clone();
        }
        let text = file.to_string();
        let folder = std::path::Path::new("");
        let options = bevy_rapier_molecules::recipe::ReadOptions::default();
        let read = bevy_rapier_molecules::recipe::Recipe::read(
            text.as_bytes(),
            "cell.json",
            folder,
            &options,
        );
        let expected = format!("cell.json: bevy_rapier_molecules.{expected}");
        assert_eq!(read.unwrap_err().to_string(), expected);
    }
}

#[test]
fn fibers_and_guests_stay_when_other_numbers_of_the_recipe_change() {
    let file = chains();
    let mut packing = packed(&file);
    // An edit that the file does not know of.
    let link = of_object(&packing, "link")[0];
    packing.apply(Edit::Remove(vec![link])).unwrap();
    settle(&mut packing);
    let before = joined(&packing);
    let mut changed = file.clone();
    changed["composition"]["beads"]["count"] = json!(24);
    changed["composition"]["space"]["regions"]["interior"] =
        json!(["beads", "guests", "hosts", "fibers"]);
    let change = packing.replace_recipe(read(&changed)).unwrap();
    assert!(!change.repopulated);
    assert_eq!((change.added.len(), change.removed.len()), (4, 0));
    assert_eq!(joined(&packing), before);
    settle(&mut packing);
    check(&packing);
    // The file that is saved is the current one.
    let before = joined(&packing);
    let saved = packing.save().unwrap();
    let change = packing.replace_recipe(read(&saved)).unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (0, 0));
    assert_eq!(joined(&packing), before);
    check(&packing);
}

#[test]
fn guests_with_a_number_of_their_own_stay_after_some_were_removed() {
    let mut file = chains();
    file["composition"]["guests"]["count"] = json!(6);
    file["bevy_rapier_molecules"]["composition"]["guests"]["rule"] =
        json!({ "distance_from": { "of": "hosts", "min": 1.5, "max": 2.5 } });
    let mut packing = packed(&file);
    check(&packing);
    let guest = of_object(&packing, "guest")[1];
    packing.apply(Edit::Remove(vec![guest])).unwrap();
    let before = joined(&packing);
    assert_eq!(before.len(), 2 * (LINKS - 1) + 5);
    let saved = packing.save().unwrap();
    assert_eq!(saved["composition"]["guests"]["count"], json!(5));
    assert_eq!(connected(&live(&saved)), connected(&packing));
    let change = packing.replace_recipe(read(&saved)).unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (0, 0));
    assert_eq!(joined(&packing), before);
    // Another number places them anew.
    file["composition"]["guests"]["count"] = json!(8);
    let change = packing.replace_recipe(read(&file)).unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (13, 10));
    settle(&mut packing);
    check(&packing);
}

#[test]
fn changed_fibers_and_guests_are_placed_anew_and_all_others_stay() {
    let file = chains();
    let changes: [(&str, &str, Value, usize); 4] = [
        (
            "/composition/fibers/count",
            "link",
            json!(3),
            3 * (LINKS - 1) + 10,
        ),
        (
            "/bevy_rapier_molecules/composition/fibers/fiber/links",
            "link",
            json!(8),
            2 * 7 + 10,
        ),
        (
            "/bevy_rapier_molecules/objects/link/fiber/persistence_length",
            "link",
            json!(20),
            2 * (LINKS - 1) + 10,
        ),
        (
            "/bevy_rapier_molecules/composition/guests/rule/on_surface_of/per_instance",
            "guest",
            json!(3),
            2 * (LINKS - 1) + 15,
        ),
    ];
    let packing = packed(&file);
    let saved = joined(&packing);
    for (place, object, value, joints) in changes {
        let mut packing = packed(&file);
        assert_eq!(joined(&packing), saved);
        let mut old = of_object(&packing, object);
        if object == "guest" {
            // With those that the rule refers to.
            old.extend(of_object(&packing, "host"));
        }
        old.sort_unstable();
        let kept = packing.molecule_ids().len() - old.len();
        let mut changed = file.clone();
        *changed.pointer_mut(place).unwrap() = value;
        let change = packing.replace_recipe(read(&changed)).unwrap();
        assert!(!change.repopulated);
        let mut removed = change.removed.clone();
        removed.sort_unstable();
        assert_eq!((removed, change.kept), (old, kept), "{place}");
        assert_eq!(packing.crowd().joints().len(), joints, "{place}");
        let untouched = saved.iter().filter(|joined| {
            let gone = |id: &MoleculeId| packing.index_of(*id).is_none();
            !joined.0.iter().any(gone)
        });
        let now = joined(&packing);
        assert!(untouched.into_iter().all(|joined| now.contains(joined)));
        settle(&mut packing);
        check(&packing);
    }
}
