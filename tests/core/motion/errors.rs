//! What is wrong is said, with its place and its time.

use bevy_rapier_molecules::motion::MotionError;
use bevy_rapier_molecules::motion::time_of_impact::{Wall, WallSide};
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, HubbardConfig, HubbardDetector, MovingSphere, Probe, SphereMotion,
    TimeVaryingConfig, TimeVaryingDetector,
};
use glam::DVec3;

/// Spheres on a line, each moved by a function of time.
struct Ways(fn(u32, f64) -> Probe);

impl SphereMotion for Ways {
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
    way: fn(u32, f64) -> Probe,
) -> Result<TimeVaryingDetector, MotionError> {
    let config = TimeVaryingConfig::default();
    TimeVaryingDetector::new(spheres, Vec::new(), &config, 0.0, &mut Ways(way))
}

#[test]
fn numbers_that_are_none_are_refused_with_their_sphere() {
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
    let nowhere = |_: u32, _: f64| Probe {
        position: DVec3::NAN,
        velocity: DVec3::ZERO,
    };
    let error = start(&[BALL], nowhere).unwrap_err();
    assert!(matches!(
        error,
        MotionError::NotFinite {
            sphere: 0,
            what: "place",
            ..
        }
    ));
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let config = TimeVaryingConfig {
            tolerance,
            finest_cell_size: None,
        };
        let built = TimeVaryingDetector::new(&[BALL], Vec::new(), &config, 0.0, &mut Ways(resting));
        assert!(matches!(built, Err(MotionError::BadParameter { .. })));
        let config = HubbardConfig {
            interval: tolerance,
            ..HubbardConfig::default()
        };
        let built = HubbardDetector::new(&[BALL], Vec::new(), &config, 0.0, &mut Ways(resting));
        assert!(matches!(built, Err(MotionError::BadParameter { .. })));
    }
    let config = TimeVaryingConfig::default();
    let built =
        TimeVaryingDetector::new(&[BALL], Vec::new(), &config, f64::NAN, &mut Ways(resting));
    let said = "the start has to be a finite number, and is NaN";
    assert_eq!(built.unwrap_err().to_string(), said);
    let built = TimeVaryingDetector::new(&[BALL], Vec::new(), &config, -2.0, &mut Ways(resting));
    assert!(built.is_ok());
}

#[test]
fn walls_that_are_none_are_refused() {
    let walls = [
        Wall::Plane {
            normal: DVec3::ONE,
            offset: 0.0,
        },
        Wall::Block {
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
        let built = TimeVaryingDetector::new(&[BALL], walls, &config, 0.0, &mut Ways(resting));
        assert!(matches!(built, Err(MotionError::BadWall { wall: 1, .. })));
    }
}

#[test]
fn a_broken_promise_is_found_with_sphere_and_time() {
    // The second sphere jumps away at 3 s.
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
    let error = detector.advance(100.0, &mut Ways(jumping)).unwrap_err();
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
    assert!(error.to_string().contains("sphere 1 has left its bound"));
    assert_eq!(detector.time(), time);
    // Whoever says so may go on.
    detector.disturb(1, &mut Ways(jumping)).unwrap();
    detector.advance(100.0, &mut Ways(jumping)).unwrap();
}

#[test]
fn a_velocity_that_jumps_is_found_as_well() {
    let fast = |sphere: u32, time: f64| Probe {
        velocity: if time > 1.0 {
            DVec3::X * 1.0e3
        } else {
            DVec3::ZERO
        },
        ..resting(sphere, time)
    };
    let mut detector = start(&[BALL], fast).unwrap();
    let error = detector.advance(100.0, &mut Ways(fast)).unwrap_err();
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
fn there_is_no_way_back_and_no_sphere_beyond_the_last() {
    let mut detector = start(&[BALL], resting).unwrap();
    detector.advance(2.0, &mut Ways(resting)).unwrap();
    for time in [1.0, f64::NAN] {
        let error = detector.advance(time, &mut Ways(resting)).unwrap_err();
        assert!(matches!(error, MotionError::TimeInPast { now: 2.0, .. }));
    }
    let error = detector.disturb(1, &mut Ways(resting)).unwrap_err();
    assert_eq!(
        error,
        MotionError::IndexOutOfRange {
            sphere: 1,
            count: 1
        }
    );
}

#[test]
fn none_one_coincident_and_far_spheres_are_no_trouble() {
    for count in [0, 1, 3] {
        let mut detector = start(&vec![BALL; count], resting).unwrap();
        detector.advance(50.0, &mut Ways(resting)).unwrap();
        assert_eq!(detector.counts().contacts, 0);
    }
    let same = |_: u32, _: f64| Probe {
        position: DVec3::splat(1.0e12),
        velocity: DVec3::ZERO,
    };
    let mut detector = start(&[BALL; 4], same).unwrap();
    detector.advance(0.01, &mut Ways(same)).unwrap();
    let points = [MovingSphere {
        radius: 0.0,
        acceleration: 0.0,
    }; 3];
    let mut detector = start(&points, resting).unwrap();
    detector.advance(1.0e6, &mut Ways(resting)).unwrap();
    assert_eq!(detector.counts().colliding, 0);
}
