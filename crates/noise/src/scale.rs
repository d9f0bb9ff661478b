//! The standard deviation of integer noise.

use crate::NoiseError;

/// log₂ of the largest scale.
pub(crate) const LARGEST_BITS: u32 = 46;

/// S, the scale of noise in lattice steps: a whole number of sixteenths from 1/16 to 2⁴⁶.
///
/// The limits keep the sampler's arithmetic in range: |round(S·Z)| < 2⁵⁰ always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scale {
    sixteenths: u64,
}

impl Scale {
    /// S = `sixteenths`/16.
    ///
    /// # Errors
    /// [`NoiseError::Scale`] outside 1/16 … 2⁴⁶.
    pub fn from_sixteenths(sixteenths: u64) -> Result<Self, NoiseError> {
        if (1..=16 << LARGEST_BITS).contains(&sixteenths) {
            Ok(Self { sixteenths })
        } else {
            Err(NoiseError::Scale { sixteenths })
        }
    }

    /// S = 2^`bits`.
    ///
    /// # Errors
    /// [`NoiseError::Scale`] above 2⁴⁶.
    pub fn power_of_two(bits: u32) -> Result<Self, NoiseError> {
        Self::from_sixteenths(if bits <= LARGEST_BITS { 16 << bits } else { u64::MAX })
    }

    /// 16·S.
    pub fn sixteenths(self) -> u64 {
        self.sixteenths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_out_of_range_are_refused() {
        assert!(Scale::from_sixteenths(0).is_err());
        assert!(Scale::from_sixteenths((16 << 46) + 1).is_err());
        assert!(Scale::power_of_two(47).is_err() && Scale::power_of_two(200).is_err());
        assert_eq!(Scale::power_of_two(46), Scale::from_sixteenths(16 << 46));
        assert_eq!(Scale::power_of_two(0).unwrap().sixteenths(), 16);
    }
}
