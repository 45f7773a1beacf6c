//! A minimal world of rigid molecules. Its state is momentum in double precision, so that any
//! drift comes from the contact solver.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{
    ContactMaterial, ContactMember, ContactSurface, CrowdContacts, MovingBody,
};
use bevy_rapier_molecules::molecule::{
    Atom, Element, LoadOptions, MoleculeTemplate, Residue, load,
};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::RigidSpheres;
use glam::{DVec3, Mat3, Quat, Vec3};

/// A molecule of the world.
pub struct Molecule {
    pub template: Arc<MoleculeTemplate>,
    pub position: DVec3,
    pub rotation: Quat,
    /// Momentum, Da·nm/s.
    pub momentum: DVec3,
    /// Angular momentum about the center of mass, Da·nm²/s.
    pub spin: DVec3,
    pub fixed: bool,
    pub asleep: bool,
    pub dominance: i8,
    pub ccd: bool,
}

impl Molecule {
    pub fn new(template: &Arc<MoleculeTemplate>, position: Vec3) -> Self {
        Self {
            template: template.clone(),
            position: position.as_dvec3(),
            rotation: Quat::IDENTITY,
            momentum: DVec3::ZERO,
            spin: DVec3::ZERO,
            fixed: false,
            asleep: false,
            dominance: 0,
            ccd: false,
        }
    }

    pub fn with_ccd(mut self) -> Self {
        self.ccd = true;
        self
    }

    pub fn moving(mut self, velocity: Vec3) -> Self {
        self.momentum = velocity.as_dvec3() * f64::from(self.template.mass());
        self
    }

    pub fn turned(mut self, rotation: Quat) -> Self {
        self.rotation = rotation;
        self
    }

    pub fn fixed(mut self) -> Self {
        self.fixed = true;
        self
    }

    pub fn pose(&self) -> Pose {
        Pose::new(self.position.as_vec3(), self.rotation)
    }

    fn inverse_inertia(&self) -> Mat3 {
        let axes = Mat3::from_quat(self.rotation * self.template.principal_axes());
        axes * Mat3::from_diagonal(self.template.principal_inertia().recip()) * axes.transpose()
    }

    pub fn velocity(&self) -> Vec3 {
        (self.momentum / f64::from(self.template.mass())).as_vec3()
    }

    pub fn angular_velocity(&self) -> Vec3 {
        self.inverse_inertia() * self.spin.as_vec3()
    }

    pub fn kinetic_energy(&self) -> f64 {
        let rotational = self.spin.dot(self.angular_velocity().as_dvec3());
        0.5 * (self.momentum.dot(self.velocity().as_dvec3()) + rotational)
    }

    pub fn body(&self, gravity: Vec3) -> MovingBody {
        let mut body = MovingBody {
            pose: self.pose(),
            center: self.position.as_vec3(),
            asleep: self.asleep,
            dominance: self.dominance,
            ccd: self.ccd,
            ..MovingBody::default()
        };
        if !self.fixed {
            body.velocity = self.velocity();
            body.angular_velocity = self.angular_velocity();
            body.inverse_mass = Vec3::splat(self.template.mass().recip());
            body.inverse_inertia = self.inverse_inertia();
            body.acceleration = gravity;
        }
        body
    }
}

/// Molecules, their contacts, and gravity.
pub struct SmallWorld {
    pub molecules: Vec<Molecule>,
    pub contacts: CrowdContacts,
    pub gravity: Vec3,
    /// Id of each molecule.
    ids: Vec<u64>,
    material: ContactMaterial,
}

impl SmallWorld {
    pub fn new(molecules: Vec<Molecule>, material: ContactMaterial) -> Self {
        let mut world = Self {
            ids: (0..molecules.len() as u64).collect(),
            molecules,
            contacts: CrowdContacts::default(),
            gravity: Vec3::ZERO,
            material,
        };
        world.set_members();
        world
    }

    fn set_members(&mut self) {
        let members = self.molecules.iter().zip(&self.ids);
        let members = members.map(|(molecule, &id)| ContactMember {
            id,
            spheres: Arc::new(RigidSpheres::atoms(&molecule.template)),
            surface: ContactSurface {
                material: self.material,
                ..ContactSurface::default()
            },
        });
        self.contacts.set_members(members.collect()).unwrap();
    }

    /// Removes the molecules whose index is a multiple of `every`, and adds others.
    pub fn replace_every(&mut self, every: usize, added: Vec<Molecule>) {
        let next = self.ids.iter().max().map_or(0, |id| id + 1);
        let mut index = 0_usize..;
        self.ids
            .retain(|_| !index.next().unwrap().is_multiple_of(every));
        let mut index = 0_usize..;
        self.molecules
            .retain(|_| !index.next().unwrap().is_multiple_of(every));
        self.ids.extend(next..next + added.len() as u64);
        self.molecules.extend(added);
        self.set_members();
    }

    /// One substep of `dt` s: contacts, forces, motion.
    pub fn step(&mut self, dt: f32) {
        let (molecules, gravity) = (&self.molecules, self.gravity);
        self.contacts
            .gather(|member| Some(molecules[member.index()].body(gravity)))
            .unwrap();
        self.contacts.detect().unwrap();
        self.contacts.respond(dt);
        self.advance(dt);
    }

    /// Applies the impulses and gravity, and moves the molecules for `dt` s.
    pub fn advance(&mut self, dt: f32) {
        for (member, impulse) in self.contacts.impulses() {
            let molecule = &mut self.molecules[member.index()];
            if !molecule.fixed && !molecule.asleep {
                molecule.momentum += impulse.linear.as_dvec3();
                molecule.spin += impulse.angular.as_dvec3();
            }
        }
        for molecule in &mut self.molecules {
            if molecule.fixed || molecule.asleep {
                continue;
            }
            let force = self.gravity.as_dvec3() * f64::from(molecule.template.mass());
            molecule.momentum += force * f64::from(dt);
            let velocity = molecule.momentum / f64::from(molecule.template.mass());
            molecule.position += velocity * f64::from(dt);
            let rotation = Quat::from_scaled_axis(molecule.angular_velocity() * dt);
            molecule.rotation = (rotation * molecule.rotation).normalize();
        }
    }

    pub fn momentum(&self) -> DVec3 {
        self.molecules
            .iter()
            .map(|molecule| molecule.momentum)
            .sum()
    }

    /// Angular momentum about the origin.
    pub fn angular_momentum(&self) -> DVec3 {
        let angular =
            |molecule: &Molecule| molecule.position.cross(molecule.momentum) + molecule.spin;
        self.molecules.iter().map(angular).sum()
    }

    pub fn kinetic_energy(&self) -> f64 {
        self.molecules.iter().map(Molecule::kinetic_energy).sum()
    }

    /// Deepest overlap of the last detection, nm.
    pub fn deepest(&self) -> f32 {
        let touches = self.contacts.touches().iter();
        touches.map(|touch| touch.penetration).fold(0.0, f32::max)
    }
}

/// A molecule of one carbon atom with a radius of 0.1 nm.
pub fn ball() -> Arc<MoleculeTemplate> {
    carbons("ball", &[Vec3::ZERO])
}

/// A molecule of four such atoms at the corners of a square.
pub fn sled() -> Arc<MoleculeTemplate> {
    let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
    carbons("sled", &corners.map(|(x, z)| Vec3::new(x, 0.0, z) * 0.12))
}

/// A square sheet of `along` times `along` carbon atoms, 0.3 nm thick and perpendicular to x.
pub fn sheet(along: i32) -> Arc<MoleculeTemplate> {
    let place = |k: i32| 0.2 * (k as f32 - 0.5 * (along - 1) as f32);
    let atoms = (0..along * along).map(|k| Vec3::new(0.0, place(k % along), place(k / along)));
    carbons_of("sheet", &atoms.collect::<Vec<_>>(), 0.15)
}

fn carbons(name: &str, positions: &[Vec3]) -> Arc<MoleculeTemplate> {
    carbons_of(name, positions, 0.1)
}

/// A molecule of carbon atoms with this radius, nm.
pub fn carbons_of(name: &str, positions: &[Vec3], radius: f32) -> Arc<MoleculeTemplate> {
    let atoms = positions.iter().map(|&position| Atom {
        position,
        radius,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    });
    let template = MoleculeTemplate::new(name, atoms.collect(), vec![Residue::default()]);
    Arc::new(template.unwrap())
}

/// A molecule of the assets.
pub fn real(file: &str) -> Arc<MoleculeTemplate> {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}
