//! Keys and mouse.

use bevy::app::AppExit;
use bevy::input::mouse::AccumulatedMouseMotion;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::{Input, Motion, Part, ResponseMode};
use bevy_rapier_molecules::prelude::ColourMode;

use super::arguments::{Arguments, Stereo};
use super::orbit::Orbit;
use super::window::Docked;

/// Speed of a molecule while a key is held, nm/s.
const SPEED: f32 = 0.8;

/// Turning speed while a key is held, radian/s.
const TURNING: f32 = 1.2;

/// Longest time that one frame stands for, s: a slow frame must not become a long way.
const LONGEST_FRAME: f32 = 0.1;

/// Motion for each pixel that the mouse moves, as a fraction of the view's distance.
const DRAG: f32 = 0.0012;

/// Turn for each pixel that the mouse moves, radian.
const DRAG_TURN: f32 = 0.006;

/// Factor of the radii for each press.
const RADII_STEP: f32 = 1.05;

/// Everything that is switched and matters to the window only.
#[derive(Resource)]
pub struct Switches {
    /// Whether keys and mouse move the view rather than a molecule.
    pub view_mode: bool,
    /// Whether motions are along the axes of the moved molecule, not of the screen.
    pub object_space: bool,
    pub transparent: bool,
    /// Whether overlapping atoms flash.
    pub flash: bool,
    /// Whether the terminal beeps at a collision.
    pub beep: bool,
    /// How far the view rocks to and fro, radian; 0 for not at all.
    pub rocking: f32,
    pub stereo: Stereo,
    /// Distance of the eyes in units of the view's distance.
    pub eyes: f32,
    /// Whether light comes from the camera rather than from above.
    pub headlight: bool,
    pub colour: ColourMode,
    /// Whether checks are timed against brute force.
    pub brute_force: bool,
}

impl From<&Arguments> for Switches {
    fn from(arguments: &Arguments) -> Self {
        Self {
            view_mode: false,
            object_space: false,
            transparent: arguments.transparent,
            // A picture would show them or not by chance.
            flash: arguments.picture.screenshot.is_none(),
            beep: false,
            rocking: 0.0,
            stereo: arguments.stereo,
            eyes: 0.06,
            headlight: false,
            colour: ColourMode::Group,
            brute_force: arguments.brute_force,
        }
    }
}

/// Listens to keys and mouse.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            Update,
            (switch, change_session, hold_keys, drag, rock, beep),
        );
    }
}

/// What is switched by one press and matters to the window only.
fn switch(
    keys: Res<ButtonInput<KeyCode>>,
    mut switches: ResMut<Switches>,
    mut exits: MessageWriter<AppExit>,
) {
    for key in keys.get_just_pressed() {
        match key {
            KeyCode::Tab => switches.view_mode = !switches.view_mode,
            KeyCode::KeyO => switches.object_space = !switches.object_space,
            KeyCode::KeyT => switches.transparent = !switches.transparent,
            KeyCode::KeyF => switches.flash = !switches.flash,
            KeyCode::KeyB => switches.beep = !switches.beep,
            KeyCode::KeyR => switches.rocking = if switches.rocking > 0.0 { 0.0 } else { 0.1 },
            KeyCode::Comma => switches.rocking = (switches.rocking - 0.05).max(0.0),
            KeyCode::Period => switches.rocking = (switches.rocking + 0.05).min(1.0),
            KeyCode::KeyX => switches.stereo = switches.stereo.next(),
            KeyCode::BracketLeft => switches.eyes = (switches.eyes - 0.01).max(0.0),
            KeyCode::BracketRight => switches.eyes = (switches.eyes + 0.01).min(0.3),
            KeyCode::KeyL => switches.headlight = !switches.headlight,
            KeyCode::KeyK => {
                switches.colour = match switches.colour {
                    ColourMode::Group => ColourMode::Element,
                    ColourMode::Element => ColourMode::Chain,
                    _ => ColourMode::Group,
                };
            }
            KeyCode::Escape => {
                exits.write(AppExit::Success);
            }
            _ => {}
        }
    }
}

/// What is switched by one press and belongs to the session.
fn change_session(keys: Res<ButtonInput<KeyCode>>, mut docked: ResMut<Docked>) {
    if !docked.0.to_play.is_empty() {
        return;
    }
    let settings = *docked.0.session.settings();
    let mut inputs = Vec::new();
    for key in keys.get_just_pressed() {
        inputs.push(match key {
            KeyCode::KeyM => Input::Switch,
            KeyCode::KeyC => Input::Collisions(!settings.collisions),
            KeyCode::Digit1 => Input::Response(ResponseMode::Stop),
            KeyCode::Digit2 => Input::Response(ResponseMode::Cue),
            KeyCode::Digit3 => Input::Response(ResponseMode::Slide),
            KeyCode::Digit4 => Input::Response(ResponseMode::Push),
            KeyCode::Equal | KeyCode::NumpadAdd => Input::Radii(settings.radii * RADII_STEP),
            KeyCode::Minus | KeyCode::NumpadSubtract => Input::Radii(settings.radii / RADII_STEP),
            KeyCode::KeyG => Input::Guidance(!settings.guidance),
            KeyCode::KeyH => Input::Free,
            _ => continue,
        });
    }
    for input in inputs {
        docked.0.input(&input);
    }
}

/// Right, up and towards the viewer.
struct Axes([Vec3; 3]);

impl Axes {
    /// Those of the screen, or of the moved molecule.
    fn new(switches: &Switches, docked: &Docked, view: &Transform) -> Self {
        let rotation = if switches.object_space {
            let session = &docked.0.session;
            session.pose(session.settings().moved).rotation
        } else {
            view.rotation
        };
        Self([Vec3::X, Vec3::Y, Vec3::Z].map(|axis| rotation * axis))
    }

    fn along(&self, parts: Vec3) -> Vec3 {
        let [right, up, near] = self.0;
        right * parts.x + up * parts.y + near * parts.z
    }
}

/// 1 if `more` is held, −1 if `less` is.
fn held(keys: &ButtonInput<KeyCode>, less: KeyCode, more: KeyCode) -> f32 {
    f32::from(i8::from(keys.pressed(more)) - i8::from(keys.pressed(less)))
}

/// Motion while keys are held.
fn hold_keys(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time>,
    switches: Res<Switches>,
    mut docked: ResMut<Docked>,
    mut views: Query<(&mut Orbit, &Transform)>,
) {
    let shift = Vec3::new(
        held(&keys, KeyCode::ArrowLeft, KeyCode::ArrowRight),
        held(&keys, KeyCode::ArrowDown, KeyCode::ArrowUp),
        held(&keys, KeyCode::PageUp, KeyCode::PageDown),
    );
    // Twist turns about the vertical.
    let turn = Vec3::new(
        held(&keys, KeyCode::KeyW, KeyCode::KeyS),
        held(&keys, KeyCode::KeyA, KeyCode::KeyD),
        held(&keys, KeyCode::KeyE, KeyCode::KeyQ),
    );
    if shift == Vec3::ZERO && turn == Vec3::ZERO {
        return;
    }
    let seconds = time.delta_secs().min(LONGEST_FRAME);
    for (mut orbit, view) in &mut views {
        if switches.view_mode {
            orbit.yaw -= (shift.x + turn.y) * TURNING * seconds;
            orbit.pitch = (orbit.pitch + (shift.y + turn.x) * TURNING * seconds).clamp(-1.5, 1.5);
        } else if docked.0.to_play.is_empty() {
            let axes = Axes::new(&switches, &docked, view);
            docked.0.input(&Input::Move(Motion {
                translation: axes.along(shift) * SPEED * seconds,
                rotation: axes.along(turn) * TURNING * seconds,
            }));
        }
    }
}

/// Motion with the left button of the mouse: with Shift it turns, with Ctrl it moves to and
/// from the viewer.
fn drag(
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    mouse: Res<AccumulatedMouseMotion>,
    switches: Res<Switches>,
    mut docked: ResMut<Docked>,
    mut views: Query<(&mut Orbit, &Transform)>,
) {
    if !buttons.pressed(MouseButton::Left) || mouse.delta == Vec2::ZERO {
        return;
    }
    let Vec2 { x, y } = mouse.delta;
    for (mut orbit, view) in &mut views {
        if switches.view_mode {
            orbit.yaw -= x * DRAG_TURN;
            orbit.pitch = (orbit.pitch + y * DRAG_TURN).clamp(-1.5, 1.5);
            continue;
        }
        if !docked.0.to_play.is_empty() {
            continue;
        }
        let axes = Axes::new(&switches, &docked, view);
        let shift = DRAG * orbit.distance;
        let motion = if keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]) {
            Motion::rotation(axes.along(Vec3::new(y, x, 0.0)) * DRAG_TURN)
        } else if keys.any_pressed([KeyCode::ControlLeft, KeyCode::ControlRight]) {
            Motion::translation(axes.along(Vec3::Z * y) * shift)
        } else {
            Motion::translation(axes.along(Vec3::new(x, -y, 0.0)) * shift)
        };
        docked.0.input(&Input::Move(motion));
    }
}

/// Turns the view to and fro, which shows depth.
fn rock(time: Res<Time>, switches: Res<Switches>, mut views: Query<&mut Orbit>) {
    if switches.rocking == 0.0 {
        return;
    }
    let now = time.elapsed_secs();
    let swing = |at: f32| switches.rocking * (1.5 * at).sin();
    for mut orbit in &mut views {
        orbit.yaw += swing(now) - swing(now - time.delta_secs());
    }
}

/// The terminal's bell when molecules begin to collide.
#[expect(clippy::print_stdout, reason = "the bell is a character")]
fn beep(switches: Res<Switches>, docked: Res<Docked>, mut before: Local<bool>) {
    let now = !docked.0.clashes.is_empty() || docked.0.blocked;
    if switches.beep && now && !*before {
        use std::io::Write;
        print!("\x07");
        // Without a terminal nobody hears it anyway.
        let _ = std::io::stdout().flush();
    }
    *before = now;
}

/// Name of a molecule for people.
pub fn name_of(part: Part) -> &'static str {
    match part {
        Part::Receptor => "receptor",
        Part::Ligand => "ligand",
    }
}
