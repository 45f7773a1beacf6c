//! The order of our systems is decided everywhere.

use bevy::ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel};
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{MoleculeWorld, PreparedMolecule};
use bevy_rapier_molecules::prelude::*;

use super::test_app::*;

/// Conflicts between systems without an order, as Bevy describes them.
fn ambiguities(app: &mut App, label: impl ScheduleLabel + Clone) -> Vec<String> {
    app.world_mut().schedule_scope(label, |world, schedule| {
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            ..default()
        });
        // What has not changed is not looked at again.
        schedule.add_systems((|| {}).ambiguous_with_all());
        match schedule.initialize(world) {
            Ok(_) => Vec::new(),
            Err(error) => {
                let report = error.to_string(schedule.graph(), world);
                report.split(" -- ").map(str::to_owned).collect()
            }
        }
    })
}

/// Ambiguities in each schedule that we add systems to.
fn all_ambiguities(app: &mut App) -> Vec<Vec<String>> {
    run(app, 2);
    vec![
        ambiguities(app, First),
        ambiguities(app, PreUpdate),
        ambiguities(app, PostUpdate),
        ambiguities(app, Last),
    ]
}

#[test]
fn no_two_systems_of_ours_race() {
    let mut ours = app(ContactModel::Crowd);
    let mut theirs = bare_app();
    // The resources that ours brings along.
    theirs.add_plugins(bevy::diagnostic::DiagnosticsPlugin);
    theirs.init_asset::<MoleculeTemplate>();
    start(&mut theirs);
    let raced = ambiguities(&mut ours, MoleculeSubstep);
    assert!(raced.is_empty(), "{raced:#?}");
    // Bevy and Rapier have some of their own.
    let (ours, theirs) = (all_ambiguities(&mut ours), all_ambiguities(&mut theirs));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!(ours.len() <= theirs.len(), "{ours:#?} against {theirs:#?}");
    }
}

#[test]
fn without_rapier_the_app_runs_all_the_same() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MoleculePlugins::default()));
    start(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::Y);
    run(&mut app, 3);
    // It has no body, there is no world of molecules to be in, and nobody moves it.
    assert!(app.world().get::<PreparedMolecule>(molecule).is_none());
    assert_eq!(position(&app, molecule), Vec3::Y);
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    assert_eq!(worlds.iter(world).count(), 0);
}
