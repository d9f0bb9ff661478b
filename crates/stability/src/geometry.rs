//! The public constants that decide how far one record can move a path.
//!
//! A step of any optimiser here is w ↦ Π(w − η(mean of terms + λw)). A *term* is the (sub)gradient of the loss of
//! one pair, or of one record in the pointwise case. Replacing a record changes the terms it occurs in; the rest
//! see it only through w. [`Geometry`] bounds both kinds of change, and says how regular terms are in w.
//!
//! | method | symbol | supremum of the distance of two terms that differ |
//! |---|---|---|
//! | [`replaced`](Geometry::replaced) | D | in one record, at one parameter |
//! | [`replaced_apart`](Geometry::replaced_apart) | D₂ | in one record, at two parameters |
//! | [`replaced_twice`](Geometry::replaced_twice) | S | in the record that fills *both* places, at one parameter |
//! | [`both_orders`](Geometry::both_orders) | D_sym | as D, for the sum of a pair's terms in both orders |
//! | [`same_term`](Geometry::same_term) | H | in nothing but the parameter |
//!
//! Two parameters matter: a proof that splits a step into touched and untouched terms compares touched terms at the
//! two runs' own parameters, where D alone does not bound them (D₂ ≤ D + H does). And a record paired with itself
//! changes in both places at once, which D does not bound either (2D does). Both have safe defaults here, and can
//! be set where the loss allows less: for an AUC loss S = 0, because a record paired with itself has no gradient.
//!
//! # Assumptions
//! Losses are convex in w on the whole space, and the regularity holds there, not only on the domain: the
//! recurrences use co-coercivity at gradient points that may lie outside.

use crate::error::{StabilityError, constant};
use pairdp_units::directed::{down_by, up};
use serde::{Deserialize, Serialize};

/// How a term changes with the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regularity {
    /// Lipschitz with this constant L.
    Smooth {
        /// L, without the ridge.
        constant: f64,
    },
    /// ‖g(w) − g(w′)‖ ≤ constant·‖w − w′‖^exponent, 0 ≤ exponent < 1.
    Hoelder {
        /// The exponent a.
        exponent: f64,
        /// The constant L_a.
        constant: f64,
    },
    /// Subgradients that may jump, as those of the hinge.
    Jumps,
}

/// How far a computed step may be from the exact one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct NumericError {
    /// τ: the distance of the computed mean of terms from the exact one. A step gains 2ητ.
    pub gradient: f64,
    /// Distance added to a step whatever its size: rounding of the update and of the projection. A step gains twice
    /// this.
    pub step: f64,
    /// γ with ⟨u, w − w′⟩ ≥ −γ for the difference u of computed means of the same terms at w and w′. Exact
    /// subgradients of a convex loss have γ = 0. A computed one need not: a rounded score may pick the other side of
    /// a jump, and τ, being a distance, cannot express that without being as large as the jump. For slopes that are
    /// monotone in a score with error e, and range over an interval of length c, γ = 2ec.
    pub monotonicity: f64,
}

/// Checked public constants; see the module's table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Geometry {
    replaced: f64,
    replaced_apart: f64,
    replaced_twice: f64,
    replaced_twice_apart: f64,
    both_orders: f64,
    both_orders_apart: f64,
    same_term: f64,
    regularity: Regularity,
    ridge: f64,
    #[serde(serialize_with = "finite_or_nothing")]
    diameter: f64,
    numeric: NumericError,
}

impl Geometry {
    /// From D, D_sym, H and the regularity of terms; no ridge, no cap, exact arithmetic.
    ///
    /// # Errors
    /// [`StabilityError::Constant`] or [`StabilityError::Range`] for anything but finite numbers of at least 0 and an
    /// exponent in \[0, 1).
    ///
    /// ```
    /// use pairdp_stability::{Geometry, Regularity};
    ///
    /// // AUC with the hinge loss, features of norm at most 1: everything is 2.
    /// let hinge = Geometry::new(2.0, 2.0, 2.0, Regularity::Jumps)?.with_apart(2.0, 2.0)?.with_self_pairs(0.0, 0.0)?;
    /// assert!(Geometry::new(f64::NAN, 2.0, 2.0, Regularity::Jumps).is_err());
    /// # Ok::<(), pairdp_stability::StabilityError>(())
    /// ```
    pub fn new(
        replaced: f64,
        both_orders: f64,
        same_term: f64,
        regularity: Regularity,
    ) -> Result<Self, StabilityError> {
        constant("D", replaced)?;
        constant("D_sym", both_orders)?;
        constant("H", same_term)?;
        match regularity {
            Regularity::Smooth { constant: value } => {
                constant("L", value)?;
            }
            Regularity::Hoelder { exponent, constant: value } => {
                constant("L_a", value)?;
                if !(0.0..1.0).contains(&exponent) {
                    return Err(StabilityError::Range { name: "a", value: exponent, low: 0.0, high: 1.0 });
                }
            }
            Regularity::Jumps => {}
        }
        let replaced_twice = 2.0 * replaced;
        Ok(Self {
            replaced,
            replaced_apart: up(replaced + same_term),
            replaced_twice,
            replaced_twice_apart: up(replaced_twice + same_term),
            both_orders,
            both_orders_apart: up(both_orders + 2.0 * same_term),
            same_term,
            regularity,
            ridge: 0.0,
            diameter: f64::INFINITY,
            numeric: NumericError::default(),
        })
    }

    /// What follows from gradients of norm at most G and nothing else: D = D₂ = S = H = 2G, D_sym = 4G.
    ///
    /// # Errors
    /// As [`Geometry::new`].
    pub fn lipschitz(bound: f64, regularity: Regularity) -> Result<Self, StabilityError> {
        let two = 2.0 * bound;
        Self::new(two, 2.0 * two, two, regularity)?.with_apart(two, 2.0 * two)?.with_self_pairs(two, two)
    }

    /// Sets D₂ and the same for both orders.
    ///
    /// # Errors
    /// Not finite, or below the difference at one parameter.
    pub fn with_apart(mut self, replaced: f64, both_orders: f64) -> Result<Self, StabilityError> {
        self.replaced_apart = apart(self.replaced, replaced)?;
        self.both_orders_apart = apart(self.both_orders, both_orders)?;
        Ok(self)
    }

    /// Sets S, for a record paired with itself, at one parameter and at two.
    ///
    /// # Errors
    /// Not finite, or less at two parameters than at one.
    pub fn with_self_pairs(mut self, same: f64, two: f64) -> Result<Self, StabilityError> {
        self.replaced_twice = constant("S", same)?;
        self.replaced_twice_apart = apart(same, two)?;
        Ok(self)
    }

    /// Adds (λ/2)‖w‖² to the objective. It cancels between neighbours and contracts the path.
    ///
    /// # Errors
    /// Not a finite number of at least 0.
    pub fn with_ridge(mut self, ridge: f64) -> Result<Self, StabilityError> {
        self.ridge = constant("λ", ridge)?;
        Ok(self)
    }

    /// Caps distances at the diameter of the domain that every iterate is projected to; ∞ for no projection. Where
    /// projections round, the diameter must cover the computed iterates.
    ///
    /// # Errors
    /// Not positive.
    pub fn with_diameter(mut self, diameter: f64) -> Result<Self, StabilityError> {
        if diameter > 0.0 {
            self.diameter = diameter;
            Ok(self)
        } else {
            Err(StabilityError::Diameter(diameter))
        }
    }

    /// Accounts for computed steps.
    ///
    /// # Errors
    /// An error that is not a finite number of at least 0.
    pub fn with_numeric_error(mut self, error: NumericError) -> Result<Self, StabilityError> {
        constant("gradient error", error.gradient)?;
        constant("step error", error.step)?;
        constant("monotonicity error", error.monotonicity)?;
        self.numeric = error;
        Ok(self)
    }

    /// D.
    pub fn replaced(&self) -> f64 {
        self.replaced
    }

    /// D₂.
    pub fn replaced_apart(&self) -> f64 {
        self.replaced_apart
    }

    /// S.
    pub fn replaced_twice(&self) -> f64 {
        self.replaced_twice
    }

    /// S at two parameters.
    pub fn replaced_twice_apart(&self) -> f64 {
        self.replaced_twice_apart
    }

    /// D_sym.
    pub fn both_orders(&self) -> f64 {
        self.both_orders
    }

    /// D_sym at two parameters.
    pub fn both_orders_apart(&self) -> f64 {
        self.both_orders_apart
    }

    /// H.
    pub fn same_term(&self) -> f64 {
        self.same_term
    }

    /// How terms change with the parameter.
    pub fn regularity(&self) -> Regularity {
        self.regularity
    }

    /// λ.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// The cap on distances, possibly ∞.
    pub fn diameter(&self) -> f64 {
        self.diameter
    }

    /// The allowance for computed steps.
    pub fn numeric(&self) -> NumericError {
        self.numeric
    }

    /// The longest step for which a smooth loss's recurrence holds, 2/(L + λ); `None` for other losses.
    pub fn longest_smooth_step(&self) -> Option<f64> {
        match self.regularity {
            Regularity::Smooth { constant } => Some(down_by(2.0 / (constant + self.ridge), 2.0)),
            _ => None,
        }
    }
}

fn apart(same: f64, two: f64) -> Result<f64, StabilityError> {
    constant("difference at two parameters", two)?;
    if two >= same { Ok(two) } else { Err(StabilityError::Apart { same, apart: two }) }
}

/// JSON has no ∞: an absent diameter means none.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn finite_or_nothing<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    value.is_finite().then_some(*value).serialize(serializer)
}

/// What a file may hold before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    replaced: f64,
    replaced_apart: f64,
    replaced_twice: f64,
    replaced_twice_apart: f64,
    both_orders: f64,
    both_orders_apart: f64,
    same_term: f64,
    regularity: Regularity,
    ridge: f64,
    diameter: Option<f64>,
    numeric: NumericError,
}

impl TryFrom<Unchecked> for Geometry {
    type Error = StabilityError;

    fn try_from(raw: Unchecked) -> Result<Self, StabilityError> {
        Self::new(raw.replaced, raw.both_orders, raw.same_term, raw.regularity)?
            .with_apart(raw.replaced_apart, raw.both_orders_apart)?
            .with_self_pairs(raw.replaced_twice, raw.replaced_twice_apart)?
            .with_ridge(raw.ridge)?
            .with_diameter(raw.diameter.unwrap_or(f64::INFINITY))?
            .with_numeric_error(raw.numeric)
    }
}
