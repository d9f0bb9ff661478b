//! Training that can be repeated to the last bit, for tests: parameters without a certificate, and no way to one.

use crate::{Checkpointer, LearnError, PaidRun, run};
use pairdp_noise::Replay;

impl PaidRun {
    /// The parameters that [`PaidRun::train`] would find with noise that anybody can repeat: for tests, and for
    /// nothing that is published.
    ///
    /// # Errors
    /// As [`PaidRun::train`].
    pub fn rehearse(
        self,
        source: Replay,
        checkpointer: &mut Checkpointer<'_>,
    ) -> Result<Vec<f64>, LearnError> {
        let (mut curator, _) = self.spec.curator(self.rows, source, checkpointer)?;
        run(&mut curator, checkpointer)
    }
}
