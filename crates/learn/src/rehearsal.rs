//! Training that can be repeated to the last bit, for tests: parameters without a certificate, and no way to one.

use crate::PaidRun;
use pairdp_certificate::Representation;
use pairdp_noise::{Replay, Source};
use pairdp_release::{Checkpointer, Exchange, LearnError, run};

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
        let (curator, _) = self.spec.curator(self.rows, source, checkpointer)?;
        let mut curator = curator.scored_by(self.foreign)?;
        run(&mut curator, checkpointer)
    }

    /// Everything that a run releases, in order: where columns lie, if that comes first, every answer of training, and labels by cells
    /// of the score, if they are counted. For audits,
    /// whose tables are their own; there is no certificate.
    ///
    /// # Errors
    /// As [`PaidRun::train`].
    pub fn releases<S: Source>(
        self,
        source: S,
    ) -> Result<(Option<Representation>, Vec<Exchange>), LearnError> {
        let checkpointer = &mut Checkpointer::none();
        let (curator, representation) = self.spec.curator(self.rows, source, checkpointer)?;
        let mut curator = curator.traced().scored_by(self.foreign)?;
        let parameters = run(&mut curator, checkpointer)?;
        self.spec.predictor(parameters, representation.clone(), &mut curator)?;
        Ok((representation, curator.trace().to_vec()))
    }
}
