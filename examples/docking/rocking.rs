//! The rocking of the view, which shows depth.

/// Angular frequency, radian/s.
const FREQUENCY: f32 = 1.5;

/// Rocks the view left and right about the vertical axis, and stops while the user moves
/// something, as in Turk (1989), section 4.3.1.
///
/// The paper does not say from where it continues: here from where it stopped, without a jump.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rocking {
    /// Radian, from −π to π; 0 in the middle.
    phase: f32,
    /// Angle by which the view is turned, radian.
    angle: f32,
}

impl Rocking {
    /// Advances by `seconds`, and returns the change of the angle, radian.
    ///
    /// Without an amplitude (radian) the view returns to the middle. `moves` is whether the user
    /// moves a molecule, the view or the light.
    pub fn advance(&mut self, amplitude: f32, moves: bool, seconds: f32) -> f32 {
        if moves {
            return 0.0;
        }
        if amplitude > 0.0 {
            let phase = self.phase + FREQUENCY * seconds;
            // A bounded angle keeps its precision.
            self.phase = phase.sin().atan2(phase.cos());
        } else {
            self.phase = 0.0;
        }
        let angle = amplitude * self.phase.sin();
        let change = angle - self.angle;
        self.angle = angle;
        change
    }
}
