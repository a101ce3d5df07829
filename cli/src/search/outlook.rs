//! How much is left of a search by layers, from how the layers have grown so far.
//!
//! Nobody can know that before the end. As long as layers grow, all that can be said is how much
//! there is at least; once they shrink, how much it will be if they go on like that. They may grow
//! again: each thing that goes wrong has its own rise and fall.

use std::fmt;
use std::time::Duration;

use zoolab_sim::search::Progress;

use crate::bench::figures::count;

/// See the [module](self).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outlook {
    /// So many states are still to be expanded, and more if it goes on like this.
    AtLeast(u64),
    /// So many states are still to be expanded, if it goes on like this.
    About(u64),
}

impl Outlook {
    /// After a round.
    pub(super) fn of(progress: &Progress<'_>) -> Self {
        let Progress { figures, layer, layer_states, layer_expanded } = *progress;
        let here = layer_states - layer_expanded;
        let found = figures.layers.get(layer + 1).copied().unwrap_or(0);
        // What the next layer will have if the rest of this one is as its beginning.
        let next = match layer_expanded {
            0 => found,
            expanded => scale(found, layer_states, expanded),
        };
        if next >= layer_states {
            return Self::AtLeast(here.saturating_add(next));
        }
        // The sum of all layers to come, each smaller than the one before by the same factor.
        Self::About(here.saturating_add(scale(next, layer_states, layer_states - next)))
    }

    /// The same as a time, at so many states in so much of it.
    pub(super) fn with_time(self, expanded: u64, took: Duration) -> String {
        let (Self::AtLeast(states) | Self::About(states)) = self;
        let seconds = states as f64 * took.as_secs_f64() / expanded.max(1) as f64;
        format!("{self}, {}", span(seconds))
    }
}

fn scale(number: u64, by: u64, per: u64) -> u64 {
    let scaled = u128::from(number) * u128::from(by) / u128::from(per.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

fn span(seconds: f64) -> String {
    match seconds {
        _ if seconds < 120.0 => format!("{seconds:.0} s"),
        _ if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

impl fmt::Display for Outlook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(states) => {
                write!(f, "still growing, at least {} to go", count(*states as f64))
            }
            Self::About(states) => write!(f, "about {} to go", count(*states as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use zoolab_sim::search::Figures;

    use super::*;

    fn outlook(layers: &[u64], layer_expanded: u64) -> Outlook {
        let figures = Figures { layers: layers.to_vec(), ..Figures::default() };
        let layer = layers.len() - 2;
        let layer_states = layers[layer];
        Outlook::of(&Progress { figures: &figures, layer, layer_states, layer_expanded })
    }

    #[test]
    fn while_layers_grow_there_is_only_a_least() {
        assert_eq!(outlook(&[1, 3, 9], 3), Outlook::AtLeast(9));
        // A third of the layer is done and has led to nine; the rest will lead to twice as many.
        assert_eq!(outlook(&[1, 9, 9], 3), Outlook::AtLeast(6 + 27));
        assert_eq!(outlook(&[1, 3, 0], 0), Outlook::About(3));
    }

    #[test]
    fn when_they_shrink_the_sum_is_that_of_a_series() {
        // 50 + 25 + 12.5 + ...
        assert_eq!(outlook(&[1, 200, 100, 50], 100), Outlook::About(100));
        assert_eq!(outlook(&[1, 200, 100, 0], 100), Outlook::About(0));
    }

    #[test]
    fn a_time_is_as_honest_as_the_number() {
        let took = Duration::from_secs(10);
        let about = Outlook::About(6_000_000).with_time(1_000_000, took);
        assert_eq!(about, "about 6.00 M to go, 60 s");
        let least = Outlook::AtLeast(60_000_000).with_time(1_000_000, took);
        assert_eq!(least, "still growing, at least 60.00 M to go, 10 min");
    }
}
