//! A bar for whoever waits: on a terminal, from the second second on.
//!
//! Work counts in a number that this module looks at ten times a second: bytes of a file, or releases made, whose number
//! is public. Nothing else about the work is seen.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Bytes,
    Steps,
}

/// Does the work, and shows how far it is. Without a total, only for how long it has been going on.
pub(crate) fn shown<T>(
    what: &'static str,
    unit: Unit,
    total: Option<u64>,
    counter: &AtomicU64,
    work: impl FnOnce() -> T,
) -> T {
    let (done, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let start = Instant::now();
            let mut bar: Option<ProgressBar> = None;
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if start.elapsed() < PATIENCE {
                    continue;
                }
                let bar = bar.get_or_insert_with(|| new_bar(what, unit, total, start));
                bar.set_position(counter.load(Ordering::Relaxed));
                bar.tick();
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        // Dropped when the work ends, however it does: then the other thread ends, too.
        let _done = done;
        work()
    })
}

fn new_bar(what: &'static str, unit: Unit, total: Option<u64>, start: Instant) -> ProgressBar {
    let template = match (unit, total) {
        (_, None) => "{msg} {spinner} {elapsed}",
        (Unit::Bytes, Some(_)) => "{msg} {bar:30} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
        (Unit::Steps, Some(_)) => "{msg} {bar:30} {pos}/{len} steps, {per_sec}, {eta} left",
    };
    // Draws nothing where standard error is no terminal.
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.with_message(what).with_elapsed(start.elapsed())
}
