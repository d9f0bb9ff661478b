//! Unsigned integers of several 64-bit limbs, the lowest limb first.
//!
//! Just the few operations that the rare paths need, and Euclidean noise for every coordinate: with lengths known where they are
//! inlined, their loops are unrolled.

/// The low 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
pub(crate) fn low(x: u128) -> u64 {
    x as u64
}

/// `out` = a·b, which must fit.
#[inline]
pub(crate) fn multiply(a: &[u64], b: &[u64], out: &mut [u64]) {
    debug_assert!(out.len() >= a.len() + b.len());
    out.fill(0);
    for (i, &left) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, &right) in b.iter().enumerate() {
            // At most (2⁶⁴−1)² + 2(2⁶⁴−1) = 2¹²⁸−1.
            let sum = u128::from(left) * u128::from(right) + u128::from(out[i + j]) + carry;
            out[i + j] = low(sum);
            carry = sum >> 64;
        }
        out[i + b.len()] = low(carry);
    }
}

/// `a` += b; a carry out of the last limb is lost.
#[inline]
pub(crate) fn add(a: &mut [u64], b: &[u64]) {
    debug_assert!(a.len() >= b.len());
    let mut carry = false;
    for (i, limb) in a.iter_mut().enumerate() {
        let (sum, first) = limb.overflowing_add(b.get(i).copied().unwrap_or(0));
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        *limb = sum;
        carry = first || second;
    }
}

/// ⌊√n⌋ in four limbs, of a number of seven: one bit after the other, from the top.
pub(crate) fn square_root(n: &[u64; 7]) -> [u64; 4] {
    let mut root = [0; 4];
    for bit in (0..224).rev() {
        let mut candidate = root;
        candidate[bit / 64] |= 1 << (bit % 64);
        let mut square = [0; 8];
        multiply(&candidate, &candidate, &mut square);
        // A candidate has at most 224 bits, its square at most 448: the eighth limb stays 0.
        if square[..7].iter().rev().le(n.iter().rev()) {
            root = candidate;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn big(limbs: &[u64]) -> BigUint {
        limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
    }

    /// Limbs at random, the extreme ones often.
    fn limb() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)]
    }

    proptest! {
        #[test]
        fn products_and_sums_are_exact(a in prop::array::uniform4(limb()), b in prop::array::uniform3(limb())) {
            let mut product = [0; 7];
            multiply(&a, &b, &mut product);
            prop_assert_eq!(big(&product), big(&a) * big(&b));
            let mut sum = [a[0], a[1], a[2], a[3], 0];
            add(&mut sum, &b);
            prop_assert_eq!(big(&sum), big(&a) + big(&b));
        }

        #[test]
        fn square_roots_are_rounded_down(n in prop::array::uniform7(limb())) {
            prop_assert_eq!(big(&square_root(&n)), big(&n).sqrt());
        }
    }
}
