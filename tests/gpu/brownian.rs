//! Brownian motion with the pairs of a GPU search against the CPU.

use std::sync::Arc;

use bevy_rapier_molecules::gpu::GpuUniformGrid;
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::motion::brownian::{BrownianMolecule, BrownianMolecules, Medium};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use crate::common::gpu_device::device;

#[test]
fn molecules_diffuse_the_same_with_pairs_of_the_gpu() {
    let Some(device) = device() else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/1ubq.cif");
    let template = Arc::new(load(path, &LoadOptions::default()).unwrap());
    let molecules: Vec<_> = (0..216)
        .map(|k| {
            let cell = [k % 6, k / 6 % 6, k / 36];
            let pose = Pose::from_translation(Vec3::from_array(cell.map(|k| 4.4 * k as f32)));
            BrownianMolecule::in_medium(0, pose, 1.7, &Medium::default())
        })
        .collect();
    let build = || {
        BrownianMolecules::new(std::slice::from_ref(&template), &molecules, Vec::new(), 5).unwrap()
    };
    let [mut cpu, mut gpu] = [build(), build()];
    gpu.set_search(Box::new(GpuUniformGrid::new(device).unwrap()));
    let dt = 0.5 * 0.1 * 0.1 / molecules[0].diffusion;
    let mut collisions = 0;
    for _ in 0..20 {
        let [one, two] = [&mut cpu, &mut gpu].map(|crowd| crowd.step(dt).unwrap());
        assert_eq!((one.candidates, one.rounds), (two.candidates, two.rounds));
        assert_eq!(cpu.collisions(), gpu.collisions());
        collisions += cpu.collisions().len();
    }
    assert_eq!(cpu.molecules(), gpu.molecules());
    assert!(collisions > 20, "{collisions}");
}
