//! Where randomness comes from, and what a result drawn from it may claim.
//!
//! [`Secure`] is a ChaCha20 stream under a key from the operating system. It takes no seed, reads no environment
//! variable and has no cargo feature that would change where its key comes from: noise that someone can repeat
//! protects no one. [`Replay`] repeats itself by design, for tests and simulation. They are different types with
//! different [`Source::Claim`]s, so that a model trained with [`Replay`] has no way to carry a certificate.
//!
//! There is no global generator and no hidden fallback: whoever draws holds the source, and a missing operating
//! system source is an error.
//!
//! # Guarantee
//! Words of [`Secure`] are computationally indistinguishable from uniform; what is proved for true randomness then
//! holds against every feasible adversary (Mironov, Pandey, Reingold and Vadhan, CRYPTO 2009). No two sources,
//! threads or forked processes share a block of key stream: sources are not `Clone`, [`Source::split`] draws a new
//! key, and a source found in a process with another id than the one that made it takes a new key from the
//! operating system before it hands out a word.
//!
//! # Assumptions
//! A forked process has another process id. Two exotic ways around it are not covered: restoring a snapshot of a
//! virtual machine, and entering a new process id namespace whose ids repeat those outside.

mod key_stream;

use crate::NoiseError;
use key_stream::KeyStream;
use std::fmt;
use zeroize::Zeroizing;

pub(crate) mod sealed {
    /// Only this crate decides what a source is: foreign implementations could not be vouched for.
    pub trait Sealed {}

    /// The fast way in for samplers.
    pub trait Stream: Sealed {
        /// To be called before the first word of each request: takes a new key after a fork.
        fn begin(&mut self);
        /// The next word.
        fn word(&mut self) -> u64;
        /// Some of the words that come next, at least one.
        fn peek(&mut self) -> &[u64];
        /// Marks the first `used` words of [`Stream::peek`] as used.
        fn skip(&mut self, used: usize);
    }
}
use sealed::{Sealed, Stream};

/// What a result may claim: [`Claimed`] or [`Unclaimed`].
pub trait Claim: Sealed + Send + Sync + 'static {
    /// Whether results may carry a privacy certificate.
    const CERTIFIED: bool;
}

/// The noise was fresh and secret: the result may carry a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimed;

/// The noise can be repeated: the result must not carry a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclaimed;

impl Sealed for Claimed {}
impl Sealed for Unclaimed {}
impl Claim for Claimed {
    const CERTIFIED: bool = true;
}
impl Claim for Unclaimed {
    const CERTIFIED: bool = false;
}

/// A stream of random 64-bit words. Sealed: [`Secure`] and [`Replay`] are all there is.
pub trait Source: Stream + Send + Sized {
    /// What a result drawn from this source may claim.
    type Claim: Claim;

    /// The next word.
    ///
    /// # Panics
    /// [`Secure`] panics if the process was forked and the operating system gives no new key.
    fn next_word(&mut self) -> u64 {
        self.begin();
        self.word()
    }

    /// Fills `out` with the next words.
    ///
    /// # Panics
    /// As [`Source::next_word`].
    fn fill_words(&mut self, mut out: &mut [u64]) {
        self.begin();
        while !out.is_empty() {
            let words = self.peek();
            let n = words.len().min(out.len());
            let (now, later) = out.split_at_mut(n);
            now.copy_from_slice(&words[..n]);
            self.skip(n);
            out = later;
        }
    }

    /// A source with a key of its own, drawn from this one: one for each thread.
    ///
    /// # Panics
    /// As [`Source::next_word`].
    #[must_use]
    fn split(&mut self) -> Self;
}

/// Randomness for releases: ChaCha20 under a fresh key from the operating system.
///
/// ```
/// use pairdp_noise::{Scale, Secure, fill_gaussian};
///
/// let mut source = Secure::from_os()?;
/// let mut noise = [0; 100];
/// fill_gaussian(&mut source, Scale::power_of_two(30)?, &mut noise);
/// # Ok::<(), pairdp_noise::NoiseError>(())
/// ```
///
/// Two copies would draw the same noise, so there are none:
///
/// ```compile_fail
/// # use pairdp_noise::{NoiseError, Secure};
/// # fn copy(source: &Secure) -> Secure {
/// source.clone()
/// # }
/// ```
pub struct Secure {
    stream: KeyStream,
    process: u32,
}

impl Secure {
    /// A source with a new key.
    ///
    /// # Errors
    /// [`NoiseError::OperatingSystem`] when the operating system has no randomness to give; there is no fallback.
    pub fn from_os() -> Result<Self, NoiseError> {
        Ok(Self { stream: KeyStream::new(&*operating_system_key()?), process: std::process::id() })
    }

    #[cold]
    #[inline(never)]
    fn take_new_key(&mut self, process: u32) {
        match operating_system_key() {
            Ok(key) => self.stream.restart(&key),
            // Going on would draw the noise that the parent draws. Nothing here depends on data.
            Err(error) => panic!("after a fork: {error}"),
        }
        self.process = process;
    }
}

fn operating_system_key() -> Result<Zeroizing<[u8; 32]>, NoiseError> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *key).map_err(NoiseError::OperatingSystem)?;
    Ok(key)
}

impl Sealed for Secure {}
impl Stream for Secure {
    #[inline]
    fn begin(&mut self) {
        let process = std::process::id();
        if process != self.process {
            self.take_new_key(process);
        }
    }

    #[inline]
    fn word(&mut self) -> u64 {
        self.stream.word()
    }

    #[inline]
    fn peek(&mut self) -> &[u64] {
        self.stream.peek()
    }

    #[inline]
    fn skip(&mut self, used: usize) {
        self.stream.skip(used);
    }
}

impl Source for Secure {
    type Claim = Claimed;

    fn split(&mut self) -> Self {
        self.begin();
        Self { stream: KeyStream::new(&self.stream.fresh_key()), process: self.process }
    }
}

impl fmt::Debug for Secure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secure").finish_non_exhaustive()
    }
}

/// Repeatable randomness for tests and simulation: the same stream construction, keyed by a number.
pub struct Replay {
    stream: KeyStream,
}

impl Replay {
    /// The stream of `seed`.
    pub fn from_seed(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self { stream: KeyStream::new(&key) }
    }
}

impl Sealed for Replay {}
impl Stream for Replay {
    #[inline]
    fn begin(&mut self) {}

    #[inline]
    fn word(&mut self) -> u64 {
        self.stream.word()
    }

    #[inline]
    fn peek(&mut self) -> &[u64] {
        self.stream.peek()
    }

    #[inline]
    fn skip(&mut self, used: usize) {
        self.stream.skip(used);
    }
}

impl Source for Replay {
    type Claim = Unclaimed;

    fn split(&mut self) -> Self {
        Self { stream: KeyStream::new(&self.stream.fresh_key()) }
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn words<S: Source>(source: &mut S, n: usize) -> Vec<u64> {
        (0..n).map(|_| source.next_word()).collect()
    }

    #[test]
    fn replay_repeats_and_secure_does_not() {
        assert_eq!(words(&mut Replay::from_seed(5), 2000), words(&mut Replay::from_seed(5), 2000));
        assert_ne!(words(&mut Replay::from_seed(5), 8), words(&mut Replay::from_seed(6), 8));
        let (mut a, mut b) = (Secure::from_os().unwrap(), Secure::from_os().unwrap());
        assert_ne!(words(&mut a, 8), words(&mut b, 8));
    }

    #[test]
    fn words_in_bulk_are_the_same_words() {
        let mut bulk = vec![0; 3000];
        let mut source = Replay::from_seed(9);
        let first = source.next_word();
        source.fill_words(&mut bulk[..700]);
        source.fill_words(&mut bulk[700..]);
        let one_by_one = words(&mut Replay::from_seed(9), 3001);
        assert_eq!((first, &bulk[..]), (one_by_one[0], &one_by_one[1..]));
    }

    #[test]
    fn split_streams_have_no_word_in_common() {
        let mut parent = Replay::from_seed(1);
        let mut children = [parent.split(), parent.split()];
        let grandchild = children[0].split();
        let mut seen = HashSet::new();
        for source in children.iter_mut().chain([&mut parent, &mut { grandchild }]) {
            for word in words(source, 5000) {
                assert!(seen.insert(word), "64-bit words of independent streams do not meet in 20 000 draws");
            }
        }
    }

    #[test]
    fn only_the_secure_source_may_certify() {
        fn certified<S: Source>(_: &S) -> bool {
            S::Claim::CERTIFIED
        }
        assert!(certified(&Secure::from_os().unwrap()));
        assert!(!certified(&Replay::from_seed(0)));
    }

    #[test]
    fn another_process_id_means_another_key() {
        let mut source = Secure::from_os().unwrap();
        source.next_word();
        // As in a forked child: the stream of the parent, under an id that is not ours.
        source.process = source.process.wrapping_add(1);
        let of_the_parent = source.peek()[0];
        assert_ne!(source.next_word(), of_the_parent);
        assert_eq!(source.process, std::process::id());
    }

    #[test]
    fn debug_output_shows_no_state() {
        assert_eq!(format!("{:?}", Secure::from_os().unwrap()), "Secure { .. }");
        assert_eq!(format!("{:?}", Replay::from_seed(1)), "Replay { .. }");
    }
}
