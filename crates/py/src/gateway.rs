//! The one way into the core: without Python's lock, with its errors as exceptions in Python's words, with Ctrl-C where it takes
//! long, and safe after a fork.

use pairdp_units::{FrontEnd, Hint};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyErr, import_exception};
use rayon::ThreadPoolBuilder;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

import_exception!(pairdp.exceptions, PrivacyBudgetError);

/// How often somebody who waits looks for signals.
const GLANCE: Duration = Duration::from_millis(50);

/// An exception to be: any of our errors becomes one by `?`, with its hint on a line of its own.
pub(crate) struct Refused(PyErr);

impl Refused {
    /// A `ValueError` for a value that Python handed over.
    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self(PyValueError::new_err(message.into()))
    }
}

impl<E: Hint> From<E> for Refused {
    fn from(error: E) -> Self {
        let text = error.explained(FrontEnd::Python);
        Self(match error.code() {
            "over-budget" => PrivacyBudgetError::new_err(text),
            _ => PyValueError::new_err(text),
        })
    }
}

impl From<Refused> for PyErr {
    fn from(refused: Refused) -> Self {
        refused.0
    }
}

/// Calls from Python into the core.
pub(crate) trait EnterCore {
    /// Lets other Python threads run meanwhile.
    fn enter_core<T: Send>(self, work: impl FnOnce() -> Result<T, Refused> + Send) -> PyResult<T>;

    /// The same on threads of its own; `KeyboardInterrupt` is raised if that comes first. The work then goes on until it looks
    /// at the flag, and its result is dropped.
    ///
    /// A pool for each call costs a fraction of a millisecond. Rayon's global one would not survive a fork: its threads stay
    /// with the parent, and the child waits for them forever.
    fn enter_core_for_long<T: Send + 'static>(
        self,
        work: impl FnOnce(Arc<AtomicBool>) -> Result<T, Refused> + Send + 'static,
    ) -> PyResult<T>;
}

impl EnterCore for Python<'_> {
    fn enter_core<T: Send>(self, work: impl FnOnce() -> Result<T, Refused> + Send) -> PyResult<T> {
        self.detach(work).map_err(PyErr::from)
    }

    fn enter_core_for_long<T: Send + 'static>(
        self,
        work: impl FnOnce(Arc<AtomicBool>) -> Result<T, Refused> + Send + 'static,
    ) -> PyResult<T> {
        let no_threads = |error: String| PyOSError::new_err(format!("no threads to train on: {error}"));
        let pool = ThreadPoolBuilder::new().build().map_err(|error| no_threads(error.to_string()))?;
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let (sender, mut receiver) = channel();
        let run = move || {
            // Nobody may be waiting any more.
            let _ = sender.send(pool.install(|| work(flag)));
        };
        let worker = thread::Builder::new().spawn(run).map_err(|error| no_threads(error.to_string()))?;
        loop {
            let answers = &mut receiver;
            match self.detach(move || answers.recv_timeout(GLANCE)) {
                Ok(result) => return result.map_err(PyErr::from),
                Err(RecvTimeoutError::Timeout) => {
                    self.check_signals().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                }
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => return Err(no_threads("the work ended without a result".into())),
                },
            }
        }
    }
}
