//! Errors name the sphere and the time.

use bevy_rapier_molecules::motion::MotionError;
use bevy_rapier_molecules::motion::time_of_impact::{Wall, WallSide};
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, HubbardConfig, HubbardDetector, MovingSphere, Probe, SphereMotion,
    TimeVaryingConfig, TimeVaryingDetector,
};
use glam::DVec3;

/// Spheres that move by a function of index and time.
struct Trajectories(fn(u32, f64) -> Probe);

impl SphereMotion for Trajectories {
    fn probe(&mut self, sphere: u32, time: f64) -> Probe {
        (self.0)(sphere, time)
    }

    fn collide(&mut self, _: &Contact) {}
}

fn resting(sphere: u32, _: f64) -> Probe {
    Probe {
        position: DVec3::X * 10.0 * f64::from(sphere),
        velocity: DVec3::ZERO,
    }
}

const BALL: MovingSphere = MovingSphere {
    radius: 1.0,
    acceleration: 2.0,
};

fn start(
    spheres: &[MovingSphere],
    trajectory: fn(u32, f64) -> Probe,
) -> Result<TimeVaryingDetector, MotionError> {
    let config = TimeVaryingConfig::default();
    TimeVaryingDetector::new(
        spheres,
        Vec::new(),
        &config,
        0.0,
        &mut Trajectories(trajectory),
    )
}

#[test]
fn invalid_spheres_and_parameters_are_errors() {
    let bad = MovingSphere {
        radius: -1.0,
        ..BALL
    };
    let error = start(&[BALL, bad], resting).unwrap_err();
    assert!(matches!(
        error,
        MotionError::BadSphere {
            sphere: 1,
            what: "radius",
            ..
        }
    ));
    let bad = MovingSphere {
        acceleration: f64::NAN,
        ..BALL
    };
    let error = start(&[bad], resting).unwrap_err();
    assert!(matches!(error, MotionError::BadSphere { sphere: 0, .. }));
    let not_finite = |_: u32, _: f64| Probe {
        position: DVec3::NAN,
        velocity: DVec3::ZERO,
    };
    let error = start(&[BALL], not_finite).unwrap_err();
    assert!(matches!(
        error,
        MotionError::NotFinite {
            sphere: 0,
            what: "position",
            ..
        }
    ));
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let config = TimeVaryingConfig {
            tolerance,
            ..TimeVaryingConfig::default()
        };
        let built = TimeVaryingDetector::new(
            &[BALL],
            Vec::new(),
            &config,
            0.0,
            &mut Trajectories(resting),
        );
        assert!(matches!(built, Err(MotionError::BadParameter { .. })));
        let config = HubbardConfig {
            interval: tolerance,
            ..HubbardConfig::default()
        };
        let built = HubbardDetector::new(
            &[BALL],
            Vec::new(),
            &config,
            0.0,
            &mut Trajectories(resting),
        );
        assert!(matches!(built, Err(MotionError::BadParameter { .. })));
    }
    let config = TimeVaryingConfig::default();
    let built = TimeVaryingDetector::new(
        &[BALL],
        Vec::new(),
        &config,
        f64::NAN,
        &mut Trajectories(resting),
    );
    let message = "the start must be a finite number, not NaN";
    assert_eq!(built.unwrap_err().to_string(), message);
    let built = TimeVaryingDetector::new(
        &[BALL],
        Vec::new(),
        &config,
        -2.0,
        &mut Trajectories(resting),
    );
    assert!(built.is_ok());
}

#[test]
fn invalid_walls_are_errors() {
    let walls = [
        Wall::Plane {
            normal: DVec3::ONE,
            offset: 0.0,
        },
        Wall::Cuboid {
            low: DVec3::ONE,
            high: DVec3::ZERO,
        },
        Wall::Ball {
            center: DVec3::ZERO,
            radius: 0.0,
            side: WallSide::Inside,
        },
    ];
    for wall in walls {
        let walls = vec![Wall::box_faces(DVec3::ZERO, DVec3::ONE)[0].clone(), wall];
        let config = TimeVaryingConfig::default();
        let built =
            TimeVaryingDetector::new(&[BALL], walls, &config, 0.0, &mut Trajectories(resting));
        assert!(matches!(built, Err(MotionError::BadWall { wall: 1, .. })));
    }
}

#[test]
fn bound_violation_names_sphere_and_time() {
    // Sphere 1 is teleported at 3 s.
    let jumping = |sphere: u32, time: f64| Probe {
        position: resting(sphere, time).position
            + if sphere == 1 && time > 3.0 {
                DVec3::Y * 50.0
            } else {
                DVec3::ZERO
            },
        velocity: DVec3::ZERO,
    };
    let mut detector = start(&[BALL, BALL], jumping).unwrap();
    let error = detector
        .advance(100.0, &mut Trajectories(jumping))
        .unwrap_err();
    let MotionError::BoundViolated {
        sphere,
        time,
        since,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert!(sphere == 1 && time > 3.0 && since <= 3.0);
    assert!(error.to_string().contains("sphere 1 left its bound"));
    assert_eq!(detector.time(), time);
    // After `disturb` the detector continues.
    detector.disturb(1, &mut Trajectories(jumping)).unwrap();
    detector.advance(100.0, &mut Trajectories(jumping)).unwrap();
}

#[test]
fn velocity_jump_is_a_bound_violation() {
    let fast = |sphere: u32, time: f64| Probe {
        velocity: if time > 1.0 {
            DVec3::X * 1.0e3
        } else {
            DVec3::ZERO
        },
        ..resting(sphere, time)
    };
    let mut detector = start(&[BALL], fast).unwrap();
    let error = detector
        .advance(100.0, &mut Trajectories(fast))
        .unwrap_err();
    assert!(matches!(
        error,
        MotionError::BoundViolated {
            what: "velocity",
            sphere: 0,
            ..
        }
    ));
}

#[test]
fn past_times_and_unknown_spheres_are_errors() {
    let mut detector = start(&[BALL], resting).unwrap();
    detector.advance(2.0, &mut Trajectories(resting)).unwrap();
    for time in [1.0, f64::NAN] {
        let error = detector
            .advance(time, &mut Trajectories(resting))
            .unwrap_err();
        assert!(matches!(error, MotionError::TimeInPast { now: 2.0, .. }));
    }
    let error = detector.disturb(1, &mut Trajectories(resting)).unwrap_err();
    assert_eq!(error, MotionError::IndexOutOfRange { index: 1, count: 1 });
}

#[test]
fn empty_single_coincident_and_distant_scenes_work() {
    for count in [0, 1, 3] {
        let mut detector = start(&vec![BALL; count], resting).unwrap();
        detector.advance(50.0, &mut Trajectories(resting)).unwrap();
        assert_eq!(detector.counts().contacts, 0);
    }
    let same = |_: u32, _: f64| Probe {
        position: DVec3::splat(1.0e12),
        velocity: DVec3::ZERO,
    };
    let mut detector = start(&[BALL; 4], same).unwrap();
    detector.advance(0.01, &mut Trajectories(same)).unwrap();
    let points = [MovingSphere {
        radius: 0.0,
        acceleration: 0.0,
    }; 3];
    let mut detector = start(&points, resting).unwrap();
    detector.advance(1.0e6, &mut Trajectories(resting)).unwrap();
    assert_eq!(detector.counts().colliding, 0);
}
