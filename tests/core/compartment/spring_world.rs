//! A simulation of one molecule with its spring.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{
    Confinement, Excess, Leaflet, Placement, SphereShell, Surface,
};
use bevy_rapier_molecules::force::{Body, Impulse, SpringLaw, Velocity, spring_impulse};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::pose::Pose;
use glam::{Mat3, Quat, Vec3};

use crate::common::carbons::rod;

pub const MASS: f32 = 760.0;
pub const INERTIA: f32 = 300.0;

pub fn body() -> Body {
    Body {
        center: Vec3::ZERO,
        inverse_mass: 1.0 / MASS,
        inverse_inertia: Mat3::from_diagonal(Vec3::splat(1.0 / INERTIA)),
    }
}

pub fn damped(frequency_hz: f32, damping_ratio: f32) -> SpringLaw {
    SpringLaw::Damped {
        frequency_hz,
        damping_ratio,
    }
}

pub fn placement(leeway: f32, tilt_leeway: f32) -> Placement {
    Placement {
        leaflet: Leaflet::Outer,
        depth: 1.0,
        up: Vec3::Y,
        leeway,
        tilt_leeway,
    }
}

/// One molecule with its spring.
pub struct World {
    pub compartment: Box<dyn Surface>,
    pub confinement: Confinement,
    pub molecule: Arc<MoleculeTemplate>,
    pub law: SpringLaw,
    pub pose: Pose,
    pub velocity: Velocity,
    pub dt: f32,
}

impl World {
    pub fn new(placement: Placement, law: SpringLaw, dt: f32) -> Self {
        Self {
            compartment: Box::new(SphereShell::new(Vec3::ZERO, 5.0).unwrap()),
            confinement: Confinement::Surface(placement),
            molecule: rod(1),
            law,
            pose: Pose::from_translation(Vec3::Y * 6.0),
            velocity: Velocity::default(),
            dt,
        }
    }

    pub fn excess(&self) -> Excess {
        self.confinement
            .excess(&*self.compartment, &self.molecule, &self.pose)
    }

    /// Semi-implicit Euler, as in Rapier: impulse, velocity, pose.
    pub fn step(&mut self) -> Impulse {
        let impulse = spring_impulse(&self.law, &body(), &self.velocity, &self.excess(), self.dt);
        self.velocity = impulse.apply(&body(), &self.velocity);
        self.pose.position += self.velocity.linear * self.dt;
        let rotation = Quat::from_scaled_axis(self.velocity.angular * self.dt);
        self.pose.rotation = (rotation * self.pose.rotation).normalize();
        assert!(self.pose.is_finite());
        impulse
    }

    pub fn height(&self) -> f32 {
        self.compartment.signed_distance(self.pose.position) - 1.0
    }

    pub fn total_tilt(&self) -> f32 {
        self.excess().total_tilt
    }

    pub fn kinetic_energy(&self) -> f32 {
        let Velocity { linear, angular } = self.velocity;
        0.5 * (MASS * linear.length_squared() + INERTIA * angular.length_squared())
    }

    /// Potential energy of the springs, for a frequency in Hz.
    pub fn spring_energy(&self, frequency: f32) -> f32 {
        let omega = std::f32::consts::TAU * frequency;
        let Excess { height, tilt, .. } = self.excess();
        0.5 * omega * omega * (MASS * height * height + INERTIA * tilt * tilt)
    }
}
