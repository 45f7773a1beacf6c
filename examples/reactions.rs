//! Hemoglobin assembles: chains α and β that meet become a pair, and two pairs become the whole
//! protein (A + B → C and C + C → D). Gray lines show the box. The log lists the reactions.
//!
//! Space makes the chains repel each other, and react again.

use bevy::input::common_conditions::input_just_pressed;
use bevy::prelude::*;
use bevy_rapier_molecules::motion::Reaction;
use bevy_rapier_molecules::plugin::{
    BrownianMotionConfig, CompartmentRegion, MoleculeReactions, MoleculesReacted,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

/// Half the size of the box, nm.
const HALF_EXTENTS: Vec3 = Vec3::new(16.0, 10.0, 6.0);

fn main() {
    App::new().add_plugins((DefaultPlugins, example)).run();
}

/// Physics, molecules and the systems of this example.
pub fn example(app: &mut App) {
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default(),
    ))
    // A second on screen is 50 ns.
    .insert_resource(BrownianMotionConfig {
        pace: 5.0e-8,
        ..default()
    })
    .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.08)))
    .insert_resource(MoleculeStyle {
        color: ColorMode::Template,
        ..default()
    })
    .add_systems(Startup, spawn_scene)
    .add_systems(
        Update,
        (
            draw_box,
            log_reactions,
            switch_reactions.run_if(input_just_pressed(KeyCode::Space)),
        ),
    );
}

fn spawn_scene(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut reactions: ResMut<MoleculeReactions>,
) -> Result {
    let alpha = assets.load("molecules/1gzx.pdb#ChainA");
    let beta = assets.load("molecules/1gzx.pdb#ChainB");
    let pair_of_chains =
        |options: &mut LoadOptions| options.chains = Some(vec!["A".into(), "B".into()]);
    let pair = assets
        .load_builder()
        .with_settings(pair_of_chains)
        .load("molecules/4hhb.bcif.gz");
    let hemoglobin = assets.load("molecules/1gzx.pdb");
    *reactions = MoleculeReactions::new([
        Reaction {
            reactants: [alpha.clone(), beta.clone()],
            products: vec![pair.clone()],
            // Half of the meetings.
            probability: 0.5,
        },
        Reaction {
            reactants: [pair.clone(), pair],
            products: vec![hemoglobin],
            probability: 1.0,
        },
    ])?;
    let half_extents = HALF_EXTENTS;
    let water = commands.spawn(Compartment::Box { half_extents }).id();
    for k in 0..24 {
        let [x, y] = [5.2 * ((k % 6) as f32 - 2.5), 4.8 * ((k / 6) as f32 - 1.5)];
        let chain = if (k + k / 6) % 2 == 0 { &alpha } else { &beta };
        commands.spawn((
            Molecule(chain.clone()),
            BrownianMotion::default(),
            // The products inherit it.
            CollisionOutcome::React,
            InCompartment::new(water, CompartmentRegion::Inside),
            Transform::from_xyz(x, y, 0.0),
        ));
    }
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(5.0, 5.0, 33.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    Ok(())
}

/// The reactants are gone, and the products are new entities.
fn log_reactions(mut messages: MessageReader<MoleculesReacted>) {
    for MoleculesReacted {
        reactants: [a, b],
        products,
        time,
        mass_change,
        ..
    } in messages.read()
    {
        info!("{a} and {b} react to {products:?} after {time:.2} s ({mass_change:+.0} Da)");
    }
}

fn switch_reactions(mut outcomes: Query<&mut CollisionOutcome>) {
    for mut outcome in &mut outcomes {
        *outcome = match *outcome {
            CollisionOutcome::React => CollisionOutcome::Bounce,
            _ => CollisionOutcome::React,
        };
    }
}

fn draw_box(mut gizmos: Gizmos) {
    let size = Transform::from_scale(2.0 * HALF_EXTENTS);
    gizmos.cube(size, Color::srgb(0.4, 0.4, 0.4));
}
