//! [`vesicle`]: lipids in two leaflets on a sphere.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::compartment::{
    CompartmentError, Leaflet, Placement, SphereShell, Surface, bilayer_depth, even_points,
    up_and_head,
};
use crate::crowd::{Crowd, CrowdError, CrowdMember};
use crate::molecule::MoleculeTemplate;

/// Why a vesicle is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum VesicleError {
    /// The mid-surface is invalid.
    #[error(transparent)]
    Compartment(#[from] CompartmentError),
    /// A placement is invalid.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// The vesicle is smaller than its inner leaflet.
    #[error(
        "a vesicle of radius {radius} nm is too small for an inner leaflet: the heads of this lipid are {head_distance:.2} nm from the mid-surface"
    )]
    TooSmall {
        /// Radius of the mid-surface, nm.
        radius: f32,
        /// Distance of the heads from the mid-surface, nm.
        head_distance: f32,
    },
    /// No sphere has the given area per lipid in both leaflets.
    #[error(
        "{lipids} lipids of {area_per_lipid} nm² are too few to close a vesicle with heads {head_distance:.2} nm from its mid-surface"
    )]
    TooFew {
        /// Requested number of lipids.
        lipids: u32,
        /// Requested area per lipid, nm².
        area_per_lipid: f32,
        /// Distance of the heads from the mid-surface, nm.
        head_distance: f32,
    },
    /// There are no lipids.
    #[error("a vesicle needs at least one lipid")]
    NoLipids,
    /// The area per lipid is not positive and finite.
    #[error("the area per lipid must be positive, not {area} nm²")]
    BadArea {
        /// The given area, nm².
        area: f32,
    },
}

/// Number of lipids and radius of a vesicle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum VesicleSize {
    /// Lipids of each leaflet and radius of the mid-surface.
    Counts {
        /// Lipids of the outer leaflet.
        outer: u32,
        /// Lipids of the inner leaflet.
        inner: u32,
        /// Radius of the mid-surface, nm.
        radius: f32,
    },
    /// Total number of lipids and area per lipid, from which the radius and the numbers of the
    /// two leaflets follow.
    Density {
        /// Lipids of both leaflets.
        lipids: u32,
        /// Area per lipid at the heads, nm².
        area_per_lipid: f32,
    },
}

/// Where the lipids of a leaflet start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum VesicleStart {
    /// At evenly spread positions on a spiral, which is rotated at random in each leaflet. A
    /// relaxation takes fewer iterations, as it need not even out the density.
    #[default]
    Even,
    /// At independent positions, each uniformly distributed: Pauschenwein (2022, algorithm 4.2).
    Uniform,
}

/// Config of a [`vesicle`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VesicleConfig {
    /// Number of lipids and radius. Default: 500 + 120 at 5.2 nm.
    pub size: VesicleSize,
    /// Leeway of the distance from the mid-surface, nm. Default: 0.2.
    pub leeway: f32,
    /// Leeway of the tilt, radian. Default: 25°.
    pub tilt_leeway: f32,
    /// Positions of the lipids in their leaflet. Default: even.
    pub start: VesicleStart,
    /// Seed of the random positions and rotations. Default: 1.
    pub seed: u64,
}

impl Default for VesicleConfig {
    fn default() -> Self {
        Self {
            size: VesicleSize::Counts {
                outer: 500,
                inner: 120,
                radius: 5.2,
            },
            leeway: 0.2,
            tilt_leeway: 25.0_f32.to_radians(),
            start: VesicleStart::default(),
            seed: 1,
        }
    }
}

/// A vesicle around the origin, with upright lipids.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Vesicle {
    /// The lipids; the outer leaflet first.
    pub crowd: Crowd,
    /// Lipids of the outer leaflet.
    pub outer: u32,
    /// Lipids of the inner leaflet.
    pub inner: u32,
    /// Radius of the mid-surface, nm.
    pub radius: f32,
    /// Distance of the heads from the mid-surface, nm.
    pub head_distance: f32,
}

/// A vesicle of one kind of lipid around the origin, each rotated about its axis by a random
/// angle. With [`VesicleStart::Uniform`] it is the scene of Pauschenwein (2022, sections 3.2 and
/// 4.1), plus that rotation.
///
/// The lipids overlap; a [`Relaxer`](crate::relax::Relaxer) separates them. The same seed gives
/// the same poses.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::prelude::*;
///
/// let lipid = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
/// let size = VesicleSize::Density { lipids: 200, area_per_lipid: 1.23 };
/// let vesicle = vesicle(lipid, &VesicleConfig { size, ..VesicleConfig::default() })?;
/// assert_eq!(vesicle.outer + vesicle.inner, 200);
/// assert!(vesicle.outer > vesicle.inner, "the outer leaflet is larger");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`VesicleError`] if there are no lipids, or they do not fit on a sphere of that size.
pub fn vesicle(
    lipid: Arc<MoleculeTemplate>,
    config: &VesicleConfig,
) -> Result<Vesicle, VesicleError> {
    let (up, head) = up_and_head(&lipid);
    let depth = bilayer_depth(&lipid);
    let head_distance = depth + head;
    let (outer, inner, radius) = resolve(&config.size, head_distance)?;

    let shell = SphereShell::new(Vec3::ZERO, radius)?;
    let mut crowd = Crowd::new();
    let template = crowd.add_template(lipid);
    let compartment = crowd.add_compartment(Arc::new(shell));
    let mut random = Pcg64Mcg::seed_from_u64(config.seed);
    for (leaflet, count) in [(Leaflet::Outer, outer), (Leaflet::Inner, inner)] {
        let placement = Placement {
            leaflet,
            depth,
            up,
            leeway: config.leeway,
            tilt_leeway: config.tilt_leeway,
        };
        let index = crowd.add_placement(compartment, placement)?;
        let offset = placement.offset();
        let even = (config.start == VesicleStart::Even)
            .then(|| even_points(&shell, offset, count as usize, &mut random));
        for k in 0..count as usize {
            let position = match &even {
                Some(positions) => positions[k],
                None => shell.sample(offset, &mut random),
            };
            let spin = TAU * random.random::<f32>();
            crowd.add_member(CrowdMember {
                template,
                placement: Some(index),
                pose: placement.upright_pose(&shell, position, spin),
                ..CrowdMember::default()
            })?;
        }
    }
    Ok(Vesicle {
        crowd,
        outer,
        inner,
        radius,
        head_distance,
    })
}

/// Lipids of the two leaflets and radius of the mid-surface.
fn resolve(size: &VesicleSize, head_distance: f32) -> Result<(u32, u32, f32), VesicleError> {
    let (outer, inner, radius) = match *size {
        VesicleSize::Counts {
            outer,
            inner,
            radius,
        } => (outer, inner, radius),
        VesicleSize::Density {
            lipids,
            area_per_lipid,
        } => {
            if !(area_per_lipid.is_finite() && area_per_lipid > 0.0) {
                return Err(VesicleError::BadArea {
                    area: area_per_lipid,
                });
            }
            // Both leaflets at their heads: 4π ((R + h)² + (R − h)²) = N a,
            // so R² = N a / 8π − h².
            let squared =
                lipids as f32 * area_per_lipid / (8.0 * PI) - head_distance * head_distance;
            // The radius of the inner heads must be positive.
            if lipids > 0 && squared <= head_distance * head_distance {
                return Err(VesicleError::TooFew {
                    lipids,
                    area_per_lipid,
                    head_distance,
                });
            }
            let radius = squared.max(0.0).sqrt();
            let outer_lipids = 4.0 * PI * (radius + head_distance).powi(2) / area_per_lipid;
            let outer = (outer_lipids.round() as u32).min(lipids);
            (outer, lipids - outer, radius)
        }
    };
    if outer == 0 && inner == 0 {
        return Err(VesicleError::NoLipids);
    }
    if inner > 0 && radius > 0.0 && radius <= head_distance {
        return Err(VesicleError::TooSmall {
            radius,
            head_distance,
        });
    }
    Ok((outer, inner, radius))
}
