//! Compares the molecules of a file with the members of a crowd: atoms, shape and placement.
//!
//! The molecule of the file is superimposed on its template, centers of mass first. If the rotation
//! of the member does not fit, the best one does ([`superpose`]). A molecule is whole if no atom is
//! further from its place than the rounding of the file. Its placement is that of the superimposed
//! template, not that of the member.

use glam::DQuat;
use rayon::prelude::*;

use super::MemberCheck;
use crate::crowd::{Crowd, CrowdMember};
use crate::molecule::MoleculeTemplate;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::superposition::superpose;

/// Largest distance of an atom from its place in a whole molecule, nm.
///
/// A coordinate with three decimals in ångström is rounded by up to 0.00005 nm, a position by
/// 0.00009 nm, and so is the center of mass of a few atoms.
const FILE_ROUNDING_NM: f64 = 2.0e-4;

/// Bound on the rounding of a position in 32 bits, relative to its coordinates.
const POSITION_ROUNDING: f32 = 4.0 * f32::EPSILON;

/// How far a whole molecule is out of its place: along the normal (nm), in tilt (radian).
struct Placed {
    is_in_place: bool,
    height: f32,
    tilt: f32,
}

/// Compares the molecules of a file with the members of the crowd: those of `order`, or in the order
/// of the crowd.
pub(super) fn check_members(
    molecules: &[(&MoleculeTemplate, Pose)],
    crowd: &Crowd,
    order: Option<&[u32]>,
    periodic: Option<PeriodicBox>,
) -> MemberCheck {
    let members = crowd.members();
    let member_of = |molecule: usize| match order {
        Some(order) => order.get(molecule).map(|&member| member as usize),
        None => Some(molecule),
    };
    let compared = molecules.len().min(members.len());
    let placed: Vec<Option<Placed>> = molecules[..compared]
        .par_iter()
        .enumerate()
        .map(|(molecule, (found, pose))| {
            let member = members.get(member_of(molecule)?)?;
            place(found, pose, crowd, member, periodic)
        })
        .collect();
    let mut check = MemberCheck {
        expected_molecules: members.len(),
        ..MemberCheck::default()
    };
    for (molecule, placed) in placed.iter().enumerate() {
        let Some(placed) = placed else {
            check.not_whole += 1;
            check.first_not_whole.get_or_insert(molecule);
            continue;
        };
        if !placed.is_in_place {
            check.out_of_place += 1;
            check.first_out_of_place.get_or_insert(molecule);
        }
        check.largest_excess_nm = check.largest_excess_nm.max(placed.height);
        check.largest_excess_tilt_rad = check.largest_excess_tilt_rad.max(placed.tilt);
    }
    check
}

/// The placement of a molecule of the file; `None` if it is not whole.
fn place(
    found: &MoleculeTemplate,
    file_pose: &Pose,
    crowd: &Crowd,
    member: &CrowdMember,
    periodic: Option<PeriodicBox>,
) -> Option<Placed> {
    let rotation = fitting_rotation(found, file_pose, crowd.template_of(member), member)?;
    let mut position = file_pose.position.as_dvec3();
    if let Some(periodic) = periodic {
        // The image of the molecule that is closest to the member.
        let place = member.pose.position.as_dvec3();
        position = place + periodic.shortest(position - place);
    }
    let pose = Pose::new(position.as_vec3(), rotation.as_quat().normalize());
    match crowd.confinement_of(member) {
        Some((surface, confinement)) if !member.fixed => {
            let excess = confinement.excess(surface, crowd.template_of(member), &pose);
            let rounding = FILE_ROUNDING_NM as f32;
            // Of a molecule at least as long as a bond.
            let tilt_rounding = rounding / found.bounding_radius().max(0.1);
            Some(Placed {
                is_in_place: excess.is_in_place_within(rounding, tilt_rounding),
                height: excess.height.abs(),
                tilt: excess.tilt,
            })
        }
        _ => Some(Placed {
            is_in_place: true,
            height: 0.0,
            tilt: 0.0,
        }),
    }
}

/// The rotation of the template onto the molecule of the file; `None` if the atoms differ or are
/// elsewhere.
fn fitting_rotation(
    found: &MoleculeTemplate,
    file_pose: &Pose,
    template: &MoleculeTemplate,
    member: &CrowdMember,
) -> Option<DQuat> {
    if found.elements() != template.elements() {
        return None;
    }
    // The molecules of files with all atoms are not rotated.
    let rotated = file_pose.rotation.as_dquat();
    let pairs = || {
        let pairs = template.positions().iter().zip(found.positions());
        pairs.map(|(from, to)| (from.as_dvec3(), rotated * to.as_dvec3()))
    };
    let farthest = file_pose.position.abs().max_element() + template.bounding_radius();
    let allowed = FILE_ROUNDING_NM + f64::from(POSITION_ROUNDING * farthest);
    let fits = |rotation: &DQuat| {
        let mut distances = pairs().map(|(from, to)| (*rotation * from).distance(to));
        distances.all(|distance| distance <= allowed)
    };
    let own = member.pose.rotation.as_dquat().normalize();
    if fits(&own) {
        return Some(own);
    }
    Some(superpose(pairs())).filter(fits)
}
