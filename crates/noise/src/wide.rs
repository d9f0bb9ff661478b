//! Unsigned integers of several 64-bit limbs, the lowest limb first.
//!
//! Just the three operations that the rare paths need; their speed does not matter.

/// The low 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
pub(crate) fn low(x: u128) -> u64 {
    x as u64
}

/// `out` = a·b, which must fit.
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
