//! How fast safe noise is, alone and next to noise that is not safe.
//!
//! The yardstick is a floating-point ziggurat (Marsaglia and Tsang 2000) with 256 layers and one word a sample,
//! drawing from the very same ChaCha20 stream. It leaks through its low-order bits and exists in this crate only.

use crate::report::{Report, best_seconds};

use pairdp_noise::{Replay, Scale, Secure, Source, fill_discrete_laplace, fill_euclidean, fill_gaussian};

const SAMPLES: usize = 1 << 20;
const REPEATS: usize = 25;

pub(crate) fn run(report: &mut Report) {
    let Ok(mut secure) = Secure::from_os() else { return };
    let mut words = Words::new();
    let mut integers = vec![0_i64; SAMPLES];
    let mut floats = vec![0_f64; SAMPLES];
    let layers = Layers::new();

    // The two take turns, so that a disturbance of the machine meets both.
    let Ok(scale) = Scale::power_of_two(30) else { return };
    let (mut ours, mut plain) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPEATS {
        let seconds = best_seconds(1, || fill_gaussian(&mut secure, scale, &mut integers));
        ours = if seconds < ours { seconds } else { ours };
        let seconds = best_seconds(1, || layers.fill(&mut words, &mut floats));
        plain = if seconds < plain { seconds } else { plain };
    }
    let rate = |seconds: f64| SAMPLES as f64 / seconds;
    report.row("gaussian", &[("scale_bits", 30.0)], rate(ours), "samples/s/core");
    report.row("gaussian/plain-normal", &[("scale_bits", 30.0)], plain / ours, "ratio of speeds");
    report.row("plain-normal", &[], rate(plain), "samples/s/core");

    for bits in [0, 46] {
        let Ok(scale) = Scale::power_of_two(bits) else { return };
        let seconds = best_seconds(REPEATS, || fill_gaussian(&mut secure, scale, &mut integers));
        report.row(
            "gaussian-other-scale",
            &[("scale_bits", f64::from(bits))],
            rate(seconds),
            "samples/s/core",
        );
    }
    let seconds = best_seconds(3, || fill_discrete_laplace(&mut secure, scale.into(), &mut integers));
    report.row("discrete-laplace", &[("scale_bits", 30.0)], rate(seconds), "samples/s/core");
    let seconds = best_seconds(3, || fill_euclidean(&mut secure, scale, &mut integers));
    report.row("euclidean", &[("dimension", SAMPLES as f64)], rate(seconds), "coordinates/s/core");
}

/// Words of the generator, taken in bulk.
struct Words {
    source: Replay,
    batch: [u64; 512],
    next: usize,
}

impl Words {
    fn new() -> Self {
        Self { source: Replay::from_seed(1), batch: [0; 512], next: 512 }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        if self.next == 512 {
            self.source.fill_words(&mut self.batch);
            self.next = 0;
        }
        let word = self.batch[self.next];
        self.next += 1;
        word
    }
}

/// The tables of the floating-point ziggurat: widths of the layers, and the curve at them.
struct Layers {
    widths: [f64; LAYERS + 1],
    heights: [f64; LAYERS + 1],
}

const LAYERS: usize = 256;
/// Where the tail starts and the area of each layer, for 256 layers (Marsaglia and Tsang 2000, Doornik 2005).
const TAIL_START: f64 = 3.654_152_885_361_009;
const AREA: f64 = 0.004_928_673_233_997_088;

impl Layers {
    fn new() -> Self {
        let density = |x: f64| (-x * x / 2.0).exp();
        let mut widths = [0.0; LAYERS + 1];
        widths[0] = AREA / density(TAIL_START);
        widths[1] = TAIL_START;
        for i in 2..LAYERS {
            let height = density(widths[i - 1]) + AREA / widths[i - 1];
            widths[i] = (-2.0 * height.ln()).sqrt();
        }
        Self { widths, heights: widths.map(density) }
    }

    fn fill(&self, words: &mut Words, out: &mut [f64]) {
        for sample in out {
            *sample = self.draw(words);
        }
    }

    #[inline]
    fn draw(&self, words: &mut Words) -> f64 {
        loop {
            let word = words.next();
            let layer = usize::from(word.to_le_bytes()[0]);
            // A float in [2, 4) from 52 bits, less 3.
            let u = f64::from_bits(word >> 12 | 0x4000_0000_0000_0000) - 3.0;
            let x = u * self.widths[layer];
            if x.abs() < self.widths[layer + 1] {
                return x;
            }
            if let Some(x) = self.examine(words, layer, x) {
                return x;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn examine(&self, words: &mut Words, layer: usize, x: f64) -> Option<f64> {
        let mut uniform = || ((words.next() >> 11) as f64 + 0.5) * f64::powi(2.0, -53);
        if layer == 0 {
            loop {
                let (t, y) = (-uniform().ln() / TAIL_START, -uniform().ln());
                if 2.0 * y >= t * t {
                    return Some((TAIL_START + t).copysign(x));
                }
            }
        }
        let (low, high) = (self.heights[layer], self.heights[layer + 1]);
        (low + (high - low) * uniform() < (-x * x / 2.0).exp()).then_some(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A yardstick that draws something else would prove nothing.
    #[test]
    fn the_yardstick_is_normal() {
        let mut samples = vec![0.0; 1_000_000];
        Layers::new().fill(&mut Words::new(), &mut samples);
        let n = samples.len() as f64;
        let moment = |power| samples.iter().map(|x: &f64| x.powi(power)).sum::<f64>() / n;
        for (power, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (4, 3.0, 96.0), (6, 15.0, 10_170.0)]
        {
            assert!((moment(power) - expected).abs() < 5.0 * (variance / n).sqrt(), "moment {power}");
        }
        let beyond = samples.iter().filter(|x| x.abs() > TAIL_START).count() as f64;
        assert!((beyond / n - 2.58e-4).abs() < 1e-4);
    }
}
