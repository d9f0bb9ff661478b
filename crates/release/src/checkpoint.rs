//! Interrupted runs go on where they were.
//!
//! A checkpoint holds the public state after so many releases: parameters, running sums, the terms of each release. It is a
//! function of what was released, so writing it releases nothing more. It never holds the key of the noise, nor anything
//! of the descents that the curator runs on its side.
//!
//! The last checkpoint of a run is its model. It is saved before the model is written anywhere else: from then on nothing is
//! left to release, and whoever goes on from it puts that very model in place.
//!
//! # Guarantee
//! A run that is killed and goes on makes, in all that ever leaves the process, exactly the releases of its mechanism: those
//! of the checkpoint are not made again, and those after it died with the process, unseen, so that the noise drawn in
//! their place is the first that anybody sees. A checkpoint of another mechanism is refused.
//!
//! A file can be copied, and two copies that both went on would release the next terms twice. Where somebody keeps count of the
//! run ([`Witness`], a ledger), every state that is saved is told of by its digest, and names the one that it replaced; a state
//! is gone on from only if it is the last that was told of, or replaces that one and died before it could tell. Whoever goes on
//! first saves a state of its own, so that of two copies the second is refused before it draws anything; and before every save
//! the witness is asked whether the run is still the same, so that a process that was overtaken writes nothing more. What
//! follows is also that nobody can edit a checkpoint. Without a witness nobody can tell copies apart.
//!
//! # Assumptions
//! The store replaces a checkpoint as a whole or not at all, and nobody reads the memory of the process. Whoever decides when
//! to kill a run must not see what it has not yet stored.

use crate::certificate::describe;
use crate::{Curator, Iterates, LearnError, Mechanism, Plan};
use pairdp_accountant::{Contested, Interrupted, Witness};
use pairdp_certificate::{Certificate, GradientRelease, RandomFeatures, Representation};
use pairdp_data::{Encoding, Label};
use pairdp_noise::{Secure, Source};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const FORMAT: &str = "pairdp-checkpoint/1";
/// A witness keeps what it is told for ever, so a long run saves less often: this share of its time is what a kill may cost.
const LOST_AT_MOST: u32 = 50;

/// Where checkpoints are kept.
pub trait Store {
    /// The last one saved, if any.
    ///
    /// # Errors
    /// What the operating system says.
    fn load(&mut self) -> std::io::Result<Option<String>>;

    /// Replaces it, durably and as a whole.
    ///
    /// # Errors
    /// What the operating system says.
    fn save(&mut self, text: &str) -> std::io::Result<()>;

    /// Forgets it.
    ///
    /// # Errors
    /// What the operating system says.
    fn remove(&mut self) -> std::io::Result<()>;
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checkpoint {
    format: String,
    /// What was being run: the certificate as it stands, without its releases.
    mechanism: String,
    /// A digest of how the table was read. Under another schema the same mechanism would go on with other numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reading: Option<String>,
    made: u32,
    iterates: Iterates,
    releases: Vec<GradientRelease>,
    /// What was released of where columns lie, which must not be released again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    representation: Option<Representation>,
    /// The run's name in a ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    /// The digest of the state of this run that this one replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
    /// What tells the state of a process that goes on from the one that it found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    taken_up: Option<u64>,
}

/// What a store holds.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Saved {
    /// Every release was made.
    Finished(Finished),
    /// Some were.
    Halfway(Box<Checkpoint>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finished {
    format: String,
    mechanism: String,
    /// The run's name in a ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    /// The digest of the state of this run that this one replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
    /// The text of the model's file.
    model: String,
}

impl Saved {
    fn interrupted(self, state: String) -> Option<Interrupted> {
        let (run, replaced) = match self {
            Self::Finished(finished) => (finished.run, finished.replaced),
            Self::Halfway(checkpoint) => (checkpoint.run, checkpoint.replaced),
        };
        Some(Interrupted { run: run?, state, replaced })
    }

    fn mechanism(&self) -> &str {
        match self {
            Self::Finished(finished) => &finished.mechanism,
            Self::Halfway(checkpoint) => &checkpoint.mechanism,
        }
    }
}

/// A text that two runs share only if their mechanisms are the same.
///
/// # Errors
/// [`LearnError::Checkpoint`] for numbers that cannot be written.
pub fn fingerprint(mechanism: &Mechanism) -> Result<String, LearnError> {
    let certificate = describe(mechanism, Vec::new());
    serde_json::to_string(&(certificate, mechanism.common().public.plan)).map_err(|_| LearnError::Checkpoint)
}

/// Saves checkpoints as a run proceeds, not more often than it is told to.
pub struct Checkpointer<'a> {
    store: Option<&'a mut dyn Store>,
    interval: Duration,
    began: Instant,
    saved: Option<Instant>,
    resumed: u32,
    run: Option<String>,
    witness: Option<Box<dyn Witness>>,
    /// The last state that the witness was told of.
    told: Option<String>,
    mechanism: Option<String>,
    reading: Option<String>,
    representation: Option<Representation>,
    counter: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl<'a> Checkpointer<'a> {
    /// Saves nothing.
    pub fn none() -> Self {
        Self {
            store: None,
            interval: Duration::MAX,
            began: Instant::now(),
            saved: None,
            resumed: 0,
            run: None,
            witness: None,
            told: None,
            mechanism: None,
            reading: None,
            representation: None,
            counter: Arc::default(),
            stop: Arc::default(),
        }
    }

    /// Saves to a store, at most once in each interval.
    pub fn to(store: &'a mut dyn Store, interval: Duration) -> Self {
        Self { store: Some(store), interval, ..Self::none() }
    }

    /// Ends the run with [`LearnError::Stopped`] at the first release after the flag is set. What was released until then
    /// stays in the process and in the store; whoever counts budgets must count the run in full.
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// How many releases were made so far, for whoever waits. The number of steps is public.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.counter)
    }

    /// What an interrupted run of this very mechanism released of where columns lie.
    ///
    /// # Errors
    /// [`LearnError::Checkpoint`] for one that is not of this run, [`LearnError::Store`] where it cannot be read.
    pub fn representation(&mut self, mechanism: &Mechanism) -> Result<Option<Representation>, LearnError> {
        let Some(checkpoint) = self.halfway()? else { return Ok(None) };
        // One without it would have it released a second time.
        match checkpoint.representation {
            Some(released) if checkpoint.mechanism == fingerprint(mechanism)? => Ok(Some(released)),
            _ => Err(LearnError::Checkpoint),
        }
    }

    /// Keeps what was released of where columns lie.
    pub fn represented(&mut self, released: Option<Representation>) {
        self.representation = released;
    }

    /// Releases that an earlier process had made.
    pub fn resumed(&self) -> u32 {
        self.resumed
    }

    /// An interrupted run that somebody paid for.
    ///
    /// # Errors
    /// [`LearnError`] when the checkpoint cannot be read.
    pub fn interrupted(&mut self) -> Result<Option<Interrupted>, LearnError> {
        let Some(text) = self.text()? else { return Ok(None) };
        Ok(parsed(&text)?.interrupted(digest(&text)))
    }

    /// Notes how the table is read: what was saved of one that was read in another way is of another run.
    ///
    /// # Errors
    /// [`LearnError::Checkpoint`] for one that is not of this run, [`LearnError::Store`] where it cannot be read.
    pub fn reads(
        &mut self,
        encoding: &Encoding,
        label: Option<&Label>,
        random_features: Option<RandomFeatures>,
    ) -> Result<(), LearnError> {
        // Other directions would be other columns under the same mechanism.
        let text = match random_features {
            Some(form) => serde_json::to_string(&(encoding, label, form)),
            None => serde_json::to_string(&(encoding, label)),
        };
        let text = text.map_err(|_| LearnError::Checkpoint)?;
        self.reading = Some(digest(&text));
        Ok(())
    }

    /// Refuses what was saved of another mechanism, before anything is paid for going on from it.
    ///
    /// # Errors
    /// [`LearnError::Checkpoint`] for one that is not of this run, [`LearnError::Store`] where it cannot be read.
    pub fn fits(&mut self, mechanism: &Mechanism) -> Result<(), LearnError> {
        match self.halfway()? {
            Some(saved) if saved.mechanism != fingerprint(mechanism)? => Err(LearnError::Checkpoint),
            _ => Ok(()),
        }
    }

    /// Notes who paid for the run, and takes it up: what was saved of it is saved anew, as the state of this process.
    ///
    /// # Errors
    /// [`LearnError::Checkpoint`] for one that is not of this run, [`LearnError::Store`] where it cannot be read.
    pub fn paid_as(
        &mut self,
        run: Option<String>,
        witness: Option<Box<dyn Witness>>,
    ) -> Result<(), LearnError> {
        let before = self.interrupted()?.filter(|before| Some(&before.run) == run.as_ref());
        (self.run, self.witness, self.told) = (run, witness, None);
        let (Some(checkpoint), Some(_)) = (self.halfway()?, &self.witness) else { return Ok(()) };
        if let Some(before) = before {
            // It may have died before it could tell.
            self.tell(before.state)?;
        }
        let taken_up = Some(Secure::from_os()?.next_word());
        let (run, replaced) = (self.run.clone(), self.told.clone());
        self.save(&Saved::Halfway(Box::new(Checkpoint { run, replaced, taken_up, ..checkpoint })))
    }

    /// Saves a state, unless the run went on elsewhere, and tells of it.
    fn save(&mut self, state: &Saved) -> Result<(), LearnError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let text = serde_json::to_string(state).map_err(|_| LearnError::Checkpoint)?;
        if let Some(witness) = &mut self.witness {
            witness.still()?;
        }
        store.save(&text).map_err(LearnError::Store)?;
        match state {
            // The end of the run tells of it.
            Saved::Finished(_) => Ok(()),
            Saved::Halfway(_) => self.tell(digest(&text)).inspect_err(|error| {
                if let (LearnError::Contested(Contested::Elsewhere(_)), Some(store)) =
                    (error, &mut self.store)
                {
                    // It was overtaken while it wrote: nobody may go on from this, nor see it.
                    let _ = store.remove();
                }
            }),
        }
    }

    fn tell(&mut self, state: String) -> Result<(), LearnError> {
        if let Some(witness) = &mut self.witness {
            witness.saved(&state)?;
            self.told = Some(state);
        }
        Ok(())
    }

    /// Notes which mechanism is about to run.
    ///
    /// # Errors
    /// [`LearnError::Checkpoint`] for one that is not of this run, [`LearnError::Store`] where it cannot be read.
    pub fn runs(&mut self, mechanism: &Mechanism) -> Result<(), LearnError> {
        if self.store.is_some() {
            self.mechanism = Some(fingerprint(mechanism)?);
        }
        Ok(())
    }

    /// Saves the model that the run made, by the text of its file, in the place of all that led to it.
    ///
    /// # Errors
    /// [`LearnError::Store`]; what is saved then leads to releases that were made, and must not be gone on from.
    /// [`LearnError::Contested`] if the run went on elsewhere: the model must not be seen.
    pub fn finish(&mut self, model: &str) -> Result<(), LearnError> {
        let Some(mechanism) = self.mechanism.clone() else { return Ok(()) };
        let (format, run, replaced) = (FORMAT.into(), self.run.clone(), self.told.clone());
        self.save(&Saved::Finished(Finished { format, mechanism, run, replaced, model: model.to_owned() }))
    }

    /// The mechanism of a run that made all its releases, and the text of its model.
    ///
    /// # Errors
    /// [`LearnError::Checkpoint`] for one that is not of this run, [`LearnError::Store`] where it cannot be read.
    pub fn finished(&mut self) -> Result<Option<(String, String)>, LearnError> {
        Ok(match self.load()? {
            Some(Saved::Finished(Finished { format, mechanism, model, .. })) if format == FORMAT => {
                Some((mechanism, model))
            }
            Some(Saved::Finished(_)) => return Err(LearnError::Checkpoint),
            _ => None,
        })
    }

    /// The public order that an interrupted run followed: the one to plan with, unless another was asked for.
    ///
    /// # Errors
    /// [`LearnError`] when the checkpoint cannot be read.
    pub fn order_seed(&mut self) -> Result<Option<u64>, LearnError> {
        let Some(checkpoint) = self.load()? else { return Ok(None) };
        let (_, plan): (Certificate, Plan) =
            serde_json::from_str(checkpoint.mechanism()).map_err(|_| LearnError::Checkpoint)?;
        Ok(Some(plan.order().seed))
    }

    /// What to go on from; there is no going on after the end.
    fn halfway(&mut self) -> Result<Option<Checkpoint>, LearnError> {
        match self.load()? {
            None => Ok(None),
            Some(Saved::Halfway(checkpoint)) if checkpoint.reading != self.reading => {
                Err(LearnError::Checkpoint)
            }
            Some(Saved::Halfway(checkpoint)) => Ok(Some(*checkpoint)),
            Some(Saved::Finished(_)) => Err(LearnError::Checkpoint),
        }
    }

    fn load(&mut self) -> Result<Option<Saved>, LearnError> {
        self.text()?.as_deref().map(parsed).transpose()
    }

    fn text(&mut self) -> Result<Option<String>, LearnError> {
        self.store.as_mut().map_or(Ok(None), |store| store.load()).map_err(LearnError::Store)
    }

    /// The state to go on from: that of a checkpoint, or the start.
    pub(crate) fn resume<S: Source>(&mut self, curator: &mut Curator<S>) -> Result<Iterates, LearnError> {
        self.saved = Some(Instant::now());
        let start = Iterates::from(curator.start());
        let Some(checkpoint) = self.halfway()? else {
            return Ok(start);
        };
        let same = checkpoint.format == FORMAT && checkpoint.mechanism == fingerprint(curator.mechanism())?;
        if !same || checkpoint.made != checkpoint.iterates.taken() || !checkpoint.iterates.fits(&start) {
            return Err(LearnError::Checkpoint);
        }
        curator.restore(checkpoint.made, checkpoint.releases)?;
        self.resumed = checkpoint.made;
        self.counter.store(u64::from(checkpoint.made), Ordering::Relaxed);
        Ok(checkpoint.iterates)
    }

    /// Notes a release that was made.
    pub(crate) fn record<S: Source>(
        &mut self,
        curator: &Curator<S>,
        iterates: &Iterates,
    ) -> Result<(), LearnError> {
        self.counter.store(u64::from(curator.made()), Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) {
            return Err(LearnError::Stopped);
        }
        if self.store.is_none() || self.saved.is_some_and(|saved| saved.elapsed() < self.interval()) {
            return Ok(());
        }
        let checkpoint = Checkpoint {
            format: FORMAT.into(),
            mechanism: fingerprint(curator.mechanism())?,
            reading: self.reading.clone(),
            made: curator.made(),
            iterates: iterates.clone(),
            releases: curator.releases().to_vec(),
            representation: self.representation.clone(),
            run: self.run.clone(),
            replaced: self.told.clone(),
            taken_up: None,
        };
        self.save(&Saved::Halfway(Box::new(checkpoint)))?;
        self.saved = Some(Instant::now());
        Ok(())
    }

    fn interval(&self) -> Duration {
        match self.witness {
            Some(_) => self.interval.max(self.began.elapsed() / LOST_AT_MOST),
            None => self.interval,
        }
    }
}

fn parsed(text: &str) -> Result<Saved, LearnError> {
    serde_json::from_str(text).map_err(|_| LearnError::Checkpoint)
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mechanism;
    use pairdp_certificate::{Algorithm, Average};
    use pairdp_noise::Secure;
    use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
    use pairdp_units::Budget;

    #[test]
    fn a_stopped_run_ends_at_its_next_release() {
        let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
        let problem = Problem::new(objective, Domain::Ball { radius: 3.0 }, 1.0).unwrap();
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let plan = Plan::new(Algorithm::NoisyGd, 5, 0.1, Average::Last).unwrap();
        let run = |stop: bool| {
            let (features, targets) = (vec![0.1, 0.2, -0.3, 0.4], vec![1.0, -1.0, 1.0, -1.0]);
            let records = Records::with_targets(features, 1, targets, 1.0).unwrap();
            let mut checkpointer = Checkpointer::none().stopped_by(Arc::new(AtomicBool::new(stop)));
            let mechanism = Mechanism::calibrate(problem, plan, 4, 1, budget).unwrap();
            let curator = Curator::open(records, mechanism, Secure::from_os().unwrap()).unwrap();
            let outcome = curator.certified(&mut checkpointer);
            (outcome.map(drop), checkpointer.counter().load(Ordering::Relaxed))
        };
        assert!(matches!(run(true), (Err(LearnError::Stopped), 1)));
        assert!(matches!(run(false), (Ok(()), 5)));
    }
}
