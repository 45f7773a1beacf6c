//! The rocking of the view of `docking`.

use crate::rocking::Rocking;

/// Frame time, s.
const FRAME: f32 = 1.0 / 60.0;

const AMPLITUDE: f32 = 0.1;

/// Rocks for some frames. Returns the angle after each.
fn rock(rocking: &mut Rocking, frames: usize) -> Vec<f32> {
    let mut angle = 0.0;
    let mut advance = || {
        angle += rocking.advance(AMPLITUDE, false, FRAME);
        angle
    };
    (0..frames).map(|_| advance()).collect()
}

#[test]
fn the_view_rocks_to_both_sides_by_the_amplitude() {
    // Five periods of 2π / 1.5 s.
    let angles = rock(&mut Rocking::default(), 1257);
    let [low, high] = [f32::min, f32::max].map(|choose| angles.iter().copied().fold(0.0, choose));
    assert!((low + AMPLITUDE).abs() < 1e-4 && (high - AMPLITUDE).abs() < 1e-4);
    let crossings = angles
        .windows(2)
        .filter(|two| two[0] < 0.0 && two[1] >= 0.0);
    assert_eq!(crossings.count(), 5);
    assert!(
        angles.windows(2).all(|two| (two[1] - two[0]).abs() < 0.003),
        "no jumps"
    );
}

#[test]
fn rocking_stops_while_the_user_moves_and_continues_from_there() {
    for frames_before in [1, 20, 63, 100, 200] {
        let (mut paused, mut other) = (Rocking::default(), Rocking::default());
        let before = rock(&mut paused, frames_before);
        assert_eq!(before, rock(&mut other, frames_before));
        for _ in 0..500 {
            assert_eq!(paused.advance(AMPLITUDE, true, FRAME), 0.0);
        }
        assert_eq!(rock(&mut paused, 300), rock(&mut other, 300));
    }
}

#[test]
fn the_view_returns_when_rocking_is_turned_off() {
    let mut rocking = Rocking::default();
    let angle = rock(&mut rocking, 40)[39];
    assert!(angle > 0.05);
    assert_eq!(
        rocking.advance(0.0, true, FRAME),
        0.0,
        "not while the user moves"
    );
    assert!((angle + rocking.advance(0.0, false, FRAME)).abs() < 1e-6);
    assert_eq!(rocking.advance(0.0, false, FRAME), 0.0);
    let first = rocking.advance(AMPLITUDE, false, FRAME);
    assert!((0.0..0.003).contains(&first), "starts from the middle");
}
