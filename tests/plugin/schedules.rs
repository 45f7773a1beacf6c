//! Schedules: no ambiguities, and no need for Rapier.

use bevy::ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel};
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{MoleculeSubstep, MoleculeWorld, PreparedMolecule};
use bevy_rapier_molecules::prelude::*;

use super::test_app::*;

/// Ambiguities between systems, as Bevy describes them.
fn ambiguities(app: &mut App, label: impl ScheduleLabel + Clone) -> Vec<String> {
    app.world_mut().schedule_scope(label, |world, schedule| {
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            ..default()
        });
        // Bevy rebuilds only a changed schedule.
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

/// Ambiguities in each schedule that the plugin adds systems to.
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
fn the_plugin_adds_no_ambiguities() {
    let mut with_plugin = app(ContactModel::Crowd);
    let mut without_plugin = bare_app();
    // The resources that the plugin adds.
    without_plugin.add_plugins(bevy::diagnostic::DiagnosticsPlugin);
    without_plugin.init_asset::<MoleculeTemplate>();
    start(&mut without_plugin);
    let in_substep = ambiguities(&mut with_plugin, MoleculeSubstep);
    assert!(in_substep.is_empty(), "{in_substep:#?}");
    // Bevy and Rapier have ambiguities of their own.
    let with_plugin = all_ambiguities(&mut with_plugin);
    let without_plugin = all_ambiguities(&mut without_plugin);
    for (with, without) in with_plugin.iter().zip(&without_plugin) {
        assert!(with.len() <= without.len(), "{with:#?} and {without:#?}");
    }
}

#[test]
fn an_app_without_rapier_runs() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MoleculePlugins::default()));
    start(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::Y);
    run(&mut app, 3);
    assert!(app.world().get::<PreparedMolecule>(molecule).is_none());
    assert_eq!(position(&app, molecule), Vec3::Y);
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    assert_eq!(worlds.iter(world).count(), 0);
}
