//! Work that Python waits for: without its lock, with Ctrl-C, and safe after a fork.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often somebody who waits looks for signals.
const GLANCE: Duration = Duration::from_millis(50);

/// Runs `work` on threads of its own, and raises `KeyboardInterrupt` if that comes first. The work goes on until it looks
/// at the flag, and its result is dropped.
///
/// A pool for each call costs a fraction of a millisecond. Rayon's global one would not survive a fork: its threads stay
/// with the parent, and the child waits for them forever.
pub(crate) fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
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
        match py.detach(move || answers.recv_timeout(GLANCE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return Err(no_threads("the work ended without a result".into())),
            },
        }
    }
}
