//! How our own costs grow from the smallest vault to the largest, compared with the number of
//! notes.

use super::figure_line::FigureLine;

/// The cost of each kind over each vault.
#[derive(Debug, Default)]
pub(super) struct CostGrowth {
    /// Kind, notes, cost.
    costs: Vec<(&'static str, usize, f64)>,
}

impl CostGrowth {
    /// Takes down costs over a vault of so many notes.
    pub(super) fn add(&mut self, notes: usize, costs: Vec<(&'static str, f64)>) {
        self.costs.extend(costs.into_iter().map(|(kind, cost)| (kind, notes, cost)));
    }

    /// Prints a line for each kind that was taken over more than one vault; whether none grew
    /// faster than the notes.
    pub(super) fn print(&self) -> bool {
        let mut met = true;
        for (at, (kind, notes, cost)) in self.costs.iter().enumerate() {
            let mut earlier = self.costs.iter().take(at).filter(|(other, ..)| other == kind);
            let Some((_, before, cost_before)) = earlier.next() else { continue };
            let (grown, notes_grown) = (cost / cost_before, growth_factor(*notes, *before));
            let details = format!("cost_grew={grown:.2} notes_grew={notes_grown:.2}");
            let name = format!("growth_{kind}");
            met &= FigureLine::new(name, grown / notes_grown, 1.0, details).print(*notes);
        }
        met
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 notes")]
fn growth_factor(notes: usize, before: usize) -> f64 {
    notes as f64 / before.max(1) as f64
}
