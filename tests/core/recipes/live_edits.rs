//! Edits of a packing: numbers, painting, removal, freezing, drags, history.

use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::recipe::live::MAX_HISTORY;
use bevy_rapier_molecules::recipe::{Edit, LivePacking, MoleculeId, PackOptions};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::live_scene::{
    HALF_BOX, balls, cell, check_at_rest, check_numbers, deepest_overlap, entry, ids_of, packed,
    read, set_count, settle,
};

fn count(packing: &LivePacking, entry: usize) -> u32 {
    packing.entries().nth(entry).unwrap().count
}

/// Ids with the bits of their poses.
fn poses(packing: &LivePacking) -> Vec<(MoleculeId, [u32; 7])> {
    let ids = packing.molecule_ids().iter();
    ids.map(|id| {
        let pose = packing.pose_of(*id).unwrap();
        let [x, y, z] = pose.position.to_array();
        let [a, b, c, d] = pose.rotation.to_array();
        (*id, [x, y, z, a, b, c, d].map(f32::to_bits))
    })
    .collect()
}

fn error(packing: &mut LivePacking, edit: Edit) -> String {
    packing.apply(edit).unwrap_err().to_string()
}

#[test]
fn a_packing_has_the_entries_of_the_recipe_and_the_ratios_of_leaflets() {
    let packing = packed(&cell());
    let states: Vec<_> = packing.entries().collect();
    let names: Vec<_> = states.iter().map(|e| (&*e.region, &*e.object)).collect();
    assert_eq!(
        names[states.len() - 2..],
        [
            ("vesicle.outer_leaflet", "POPC"),
            ("vesicle.outer_leaflet", "cholesterol")
        ]
    );
    let balls = entry(&packing, "space.interior", "ball");
    assert_eq!((states[balls].count, states[balls].asked), (30, 30));
    assert_eq!(states[balls].color, Some([0.2, 0.4, 0.6]));
    assert!(states.last().unwrap().count > 3, "{:?}", states.last());
    assert_eq!(packing.seed(), 3);
    check_at_rest(&packing);
}

#[test]
fn more_molecules_of_every_entry_find_a_place_in_their_regions() {
    let mut packing = packed(&cell());
    let entries = packing.entries().len();
    for entry in 0..entries {
        let before = count(&packing, entry);
        let report = set_count(&mut packing, entry, before + 4);
        assert_eq!((report.added.len(), report.removed.len()), (4, 0));
        assert_eq!(count(&packing, entry), before + 4);
        assert!(ids_of(&packing, entry).ends_with(&report.added));
        check_numbers(&packing);
    }
    settle(&mut packing);
    check_at_rest(&packing);
}

#[test]
fn fewer_molecules_are_the_first_ones_and_the_frozen_ones() {
    let mut packing = packed(&balls());
    let balls = entry(&packing, "space.interior", "ball");
    let before = ids_of(&packing, balls);
    let last = before[19];
    let ids = vec![last];
    packing.apply(Edit::Freeze { ids, frozen: true }).unwrap();
    let report = set_count(&mut packing, balls, 5);
    assert_eq!(report.removed.len(), 15);
    let mut left = before[..4].to_vec();
    left.push(last);
    assert_eq!(ids_of(&packing, balls), left);
    assert!(packing.index_of(before[10]).is_none());
    check_at_rest(&packing);
    set_count(&mut packing, balls, 0);
    assert_eq!(ids_of(&packing, balls), []);
    check_at_rest(&packing);
}

#[test]
fn painted_molecules_are_around_the_brush_in_their_region() {
    let mut packing = packed(&cell());
    let beads = entry(&packing, "vesicle.interior", "bead");
    let center = Vec3::new(0.4, -0.3, 0.5);
    let paint = |entry, center, radius| Edit::Paint {
        entry,
        center,
        radius,
        count: 6,
    };
    let report = packing.apply(paint(beads, center, 0.8)).unwrap();
    assert_eq!(report.added.len(), 6);
    for id in &report.added {
        let position = packing.pose_of(*id).unwrap().position;
        assert!(position.distance(center) <= 0.8 + 1e-5, "{position}");
    }
    let lipids = entry(&packing, "vesicle.outer_leaflet", "POPC");
    let center = Vec3::new(0.0, 5.0, 0.0);
    let report = packing.apply(paint(lipids, center, 1.5)).unwrap();
    for id in &report.added {
        let position = packing.pose_of(*id).unwrap().position;
        let sideways = Vec3::new(position.x, 0.0, position.z).length();
        assert!(position.y > 4.0 && sideways <= 1.5 * 1.1, "{position}");
    }
    settle(&mut packing);
    check_at_rest(&packing);
}

#[test]
fn removed_molecules_come_back_with_their_ids_and_poses() {
    let mut packing = packed(&balls());
    let before = poses(&packing);
    let ids: Vec<_> = packing.molecule_ids().iter().copied().step_by(3).collect();
    // Each once, even if it is given twice.
    let twice = ids.iter().chain(&ids[..2]).copied().collect();
    let report = packing.apply(Edit::Remove(twice)).unwrap();
    assert_eq!(report.removed, ids);
    assert!(ids.iter().all(|id| packing.pose_of(*id).is_none()));
    check_at_rest(&packing);
    assert!(packing.undo().unwrap());
    let mut after = poses(&packing);
    after.sort();
    assert_eq!(after, before, "nothing moved into the gaps");
    check_at_rest(&packing);
    assert!(packing.redo().unwrap());
    assert_eq!(packing.molecule_ids().len(), before.len() - ids.len());
    assert!(!packing.redo().unwrap());
}

#[test]
fn frozen_molecules_stay_and_others_give_way() {
    let mut packing = packed(&balls());
    let balls = entry(&packing, "space.interior", "ball");
    let ids = ids_of(&packing, balls);
    let frozen: Vec<_> = ids.iter().copied().take(6).collect();
    let freeze = |frozen: bool, ids: &[MoleculeId]| Edit::Freeze {
        ids: ids.to_vec(),
        frozen,
    };
    let report = packing.apply(freeze(true, &frozen)).unwrap();
    assert_eq!(report.changed, frozen);
    let again = packing.apply(freeze(true, &frozen)).unwrap();
    assert!(again.changed.is_empty(), "nothing to change");
    let before: Vec<_> = frozen.iter().map(|id| packing.pose_of(*id)).collect();
    let center = before[0].unwrap().position;
    let inside = center.clamp_length_max(6.0);
    let paint = Edit::Paint {
        entry: balls,
        center: inside,
        radius: 1.5,
        count: 5,
    };
    packing.apply(paint).unwrap();
    assert!(packing.status().overlaps > 0);
    settle(&mut packing);
    let after: Vec<_> = frozen.iter().map(|id| packing.pose_of(*id)).collect();
    assert_eq!(before, after);
    assert!(packing.is_frozen(frozen[0]) && !packing.is_frozen(ids[10]));
    check_at_rest(&packing);
}

#[test]
fn two_frozen_molecules_may_overlap_and_the_status_says_so() {
    let mut packing = packed(&balls());
    let balls = entry(&packing, "space.interior", "ball");
    let ids = ids_of(&packing, balls);
    let pair = vec![ids[0], ids[1]];
    packing
        .apply(Edit::Freeze {
            ids: pair.clone(),
            frozen: true,
        })
        .unwrap();
    let pose = packing.pose_of(ids[0]).unwrap();
    let near = Pose::new(pose.position + Vec3::X * 0.3, pose.rotation);
    packing
        .apply(Edit::Move {
            id: ids[1],
            pose: near,
        })
        .unwrap();
    for _ in 0..50 {
        packing.step().unwrap();
    }
    assert_eq!(packing.pose_of(ids[1]), Some(near));
    assert_eq!(packing.status().overlaps, 1);
    assert!((packing.status().max_penetration_nm - 1.3).abs() < 1e-3);
    packing
        .apply(Edit::Freeze {
            ids: pair,
            frozen: false,
        })
        .unwrap();
    settle(&mut packing);
    check_at_rest(&packing);
}

#[test]
fn a_dragged_molecule_follows_the_pointer_and_others_give_way() {
    let mut packing = packed(&cell());
    let balls = entry(&packing, "space.interior", "ball");
    let id = ids_of(&packing, balls)[3];
    let before = packing.pose_of(id).unwrap();
    let grabbed = before.position + Vec3::new(0.0, 0.8, 0.0);
    packing.start_drag(id, grabbed).unwrap();
    assert_eq!(packing.dragged(), Some(id));
    assert!(packing.is_at_rest(), "the pointer has not moved");
    let target = Vec3::new(-6.0, 6.0, -6.0);
    packing.drag_to(target).unwrap();
    assert!(!packing.is_at_rest());
    let mut last = before.position;
    for _ in 0..200 {
        packing.step().unwrap();
        let now = packing.pose_of(id).unwrap();
        assert_eq!(now.rotation, before.rotation);
        assert!(now.position.distance(last) <= 0.2 + 1e-5);
        last = now.position;
    }
    let reached = last + Vec3::new(0.0, 0.8, 0.0);
    assert!(reached.distance(target) < 1e-3, "{reached}");
    packing.end_drag().unwrap();
    assert_eq!(packing.dragged(), None);
    settle(&mut packing);
    assert!(packing.pose_of(id).unwrap().position.distance(last) < 1.0);
    check_at_rest(&packing);
    assert!(packing.undo().unwrap());
    assert_eq!(packing.pose_of(id), Some(before));
    settle(&mut packing);
    check_at_rest(&packing);
    assert!(!packing.can_undo() && packing.can_redo());
}

#[test]
fn a_molecule_dragged_out_of_its_region_returns() {
    let mut packing = packed(&cell());
    let beads = entry(&packing, "vesicle.interior", "bead");
    let id = ids_of(&packing, beads)[0];
    let from = packing.pose_of(id).unwrap().position;
    packing.start_drag(id, from).unwrap();
    packing.drag_to(Vec3::new(0.0, 0.0, -7.0)).unwrap();
    for _ in 0..80 {
        packing.step().unwrap();
    }
    assert!(packing.pose_of(id).unwrap().position.length() > 6.0);
    packing.end_drag().unwrap();
    assert_eq!(packing.status().out_of_place, 1);
    settle(&mut packing);
    check_at_rest(&packing);
}

#[test]
fn undo_and_redo_walk_through_the_history() {
    let mut packing = packed(&balls());
    let balls = entry(&packing, "space.interior", "ball");
    let ids = ids_of(&packing, balls);
    let added = set_count(&mut packing, balls, 23).added;
    settle(&mut packing);
    packing.apply(Edit::Remove(vec![ids[2], added[1]])).unwrap();
    let pose = Pose::new(Vec3::new(-5.0, -5.0, 5.0), Quat::from_rotation_x(1.0));
    packing.apply(Edit::Move { id: ids[0], pose }).unwrap();
    assert_eq!(packing.pose_of(ids[0]), Some(pose));
    let revision = packing.revision();
    for expected in [21, 23, 20] {
        assert!(packing.undo().unwrap());
        assert_eq!(count(&packing, balls), expected);
    }
    assert!(packing.revision() != revision);
    assert!(!packing.undo().unwrap() && !packing.can_undo());
    assert_eq!(packing.entries().nth(balls).unwrap().asked, 20);
    for expected in [23, 21, 21] {
        assert!(packing.redo().unwrap());
        assert_eq!(count(&packing, balls), expected);
    }
    assert_eq!(packing.pose_of(ids[0]), Some(pose));
    assert!(packing.index_of(added[0]).is_some() && packing.index_of(added[1]).is_none());
    // A new edit ends what can be redone.
    packing.undo().unwrap();
    set_count(&mut packing, balls, 25);
    assert!(!packing.can_redo());
    settle(&mut packing);
    check_at_rest(&packing);
}

#[test]
fn a_thousand_random_edits_leave_no_traces() {
    let mut packing = packed(&balls());
    let size = |packing: &LivePacking| {
        let crowd = packing.crowd();
        (
            crowd.templates().len(),
            crowd.placements().len(),
            crowd.compartments().len(),
        )
    };
    let before = size(&packing);
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let entries = packing.entries().len();
    for _ in 0..1_000 {
        let ids = packing.molecule_ids().to_vec();
        let any = |random: &mut Pcg64Mcg| ids[random.random_range(0..ids.len())];
        let half = HALF_BOX as f32 - 1.0;
        let point = |random: &mut Pcg64Mcg| {
            Vec3::from_array([(); 3].map(|()| half * (2.0 * random.random::<f32>() - 1.0)))
        };
        match random.random_range(0..9) {
            0 | 1 => {
                let entry = random.random_range(0..entries);
                let most = if entry == 0 { 25 } else { 6 };
                set_count(&mut packing, entry, 2 + random.random_range(0..most));
            }
            2 => {
                let center = point(&mut random);
                let paint = Edit::Paint {
                    entry: random.random_range(0..entries),
                    center,
                    radius: 2.0,
                    count: 2,
                };
                // There may be nothing of the region in the brush.
                let _ = packing.apply(paint);
            }
            3 => {
                let id = any(&mut random);
                packing.apply(Edit::Remove(vec![id])).unwrap();
            }
            4 => {
                let ids = vec![any(&mut random)];
                let frozen = random.random();
                packing.apply(Edit::Freeze { ids, frozen }).unwrap();
            }
            5 => {
                let pose = Pose::from_translation(point(&mut random));
                let id = any(&mut random);
                packing.apply(Edit::Move { id, pose }).unwrap();
            }
            6 => {
                packing.start_drag(any(&mut random), Vec3::ZERO).unwrap();
                packing.drag_to(point(&mut random)).unwrap();
            }
            7 => drop(packing.undo().unwrap()),
            _ => drop(packing.redo().unwrap()),
        }
        packing.step().unwrap();
        if packing.molecule_ids().len() < 10 {
            set_count(&mut packing, 0, 10);
        }
    }
    assert_eq!(size(&packing), before);
    check_numbers(&packing);
    packing.end_drag().unwrap();
    let ids = packing.molecule_ids().to_vec();
    packing.apply(Edit::Freeze { ids, frozen: false }).unwrap();
    for entry in 0..entries {
        set_count(&mut packing, entry, 4);
    }
    settle(&mut packing);
    check_at_rest(&packing);
    let mut steps = 0;
    while packing.undo().unwrap() {
        steps += 1;
    }
    assert_eq!(steps, MAX_HISTORY);
    check_numbers(&packing);
}

#[test]
fn the_same_edits_give_the_same_bits() {
    let edited = || {
        let mut packing = packed(&balls());
        let balls = entry(&packing, "space.interior", "ball");
        set_count(&mut packing, balls, 26);
        packing.step().unwrap();
        let id = packing.molecule_ids()[5];
        packing.start_drag(id, Vec3::ZERO).unwrap();
        packing.drag_to(Vec3::ONE).unwrap();
        for _ in 0..20 {
            packing.step().unwrap();
        }
        packing.end_drag().unwrap();
        set_count(&mut packing, balls, 12);
        packing.undo().unwrap();
        settle(&mut packing);
        (poses(&packing), packing.iterations())
    };
    assert_eq!(edited(), edited());
}

#[test]
fn a_packing_at_rest_does_not_move() {
    let mut packing = packed(&balls());
    let (before, iterations) = (poses(&packing), packing.iterations());
    for _ in 0..10 {
        assert!(packing.step().unwrap().is_at_rest());
    }
    assert_eq!(poses(&packing), before);
    assert_eq!(packing.iterations(), iterations);
}

#[test]
fn edits_begin_before_the_first_packing_is_done() {
    let mut packing = LivePacking::new(read(&balls()), &PackOptions::default()).unwrap();
    let balls = entry(&packing, "space.interior", "ball");
    set_count(&mut packing, balls, 30);
    packing.step().unwrap();
    set_count(&mut packing, balls, 10);
    settle(&mut packing);
    check_at_rest(&packing);
}

#[test]
fn errors_of_edits_say_what_is_wrong_and_change_nothing() {
    let mut packing = packed(&balls());
    let before = poses(&packing);
    let gone = packing.molecule_ids()[4];
    packing.apply(Edit::Remove(vec![gone])).unwrap();
    packing.undo().unwrap();
    packing.redo().unwrap();
    let paint = |center: Vec3, radius: f32| Edit::Paint {
        entry: 0,
        center,
        radius,
        count: 1,
    };
    assert_eq!(
        error(&mut packing, Edit::SetCount { entry: 9, count: 1 }),
        "cell.json: there is no entry 9: the recipe has 4"
    );
    assert_eq!(
        error(&mut packing, Edit::Remove(vec![gone])),
        "cell.json: there is no molecule 4; it may have been removed"
    );
    assert_eq!(
        error(&mut packing, paint(Vec3::splat(20.0), 1.0)),
        "cell.json: no part of space.interior is within 1 nm of [20, 20, 20]; move or enlarge the brush"
    );
    assert_eq!(
        error(&mut packing, paint(Vec3::ZERO, -1.0)),
        "cell.json: the brush must have a finite center and a positive radius, not [0, 0, 0] and -1 nm"
    );
    let id = packing.molecule_ids()[0];
    let pose = Pose::new(Vec3::ZERO, Quat::from_xyzw(1.0, 1.0, 0.0, 0.0));
    assert_eq!(
        error(&mut packing, Edit::Move { id, pose }),
        "cell.json: molecule 0 needs a finite position and a unit rotation, not [0, 0, 0] nm and [1, 1, 0, 0]"
    );
    assert_eq!(
        packing.start_drag(id, Vec3::NAN).unwrap_err().to_string(),
        "cell.json: a molecule can be dragged to finite points only, not to [NaN, NaN, NaN]"
    );
    let mut expected = before;
    expected.retain(|(id, _)| *id != gone);
    assert_eq!(poses(&packing), expected);
    assert_eq!(deepest_overlap(packing.crowd()), 0.0);
}
