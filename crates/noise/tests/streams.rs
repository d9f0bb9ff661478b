//! No two forked processes, threads or copies ever share a block of key stream.

#![cfg(unix)]

use pairdp_noise::{Secure, Source};
use std::collections::HashMap;
use std::io::{Read, Write};

/// Sixteen batches of the generator.
const WORDS: usize = 8192;

fn draw(source: &mut Secure) -> Vec<u64> {
    (0..WORDS).map(|_| source.next_word()).collect()
}

/// Starts `work` on a copy of this process; the result waits for it and returns the words it drew.
#[expect(unsafe_code, reason = "there is no safe fork, and forks are what is tested")]
fn in_forked_child(work: impl FnOnce() -> Vec<u64>) -> Box<dyn FnOnce() -> Vec<u64>> {
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    // SAFETY: the child only computes, writes to a pipe and leaves by `_exit`, without running any destructor.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork failed");
    if child == 0 {
        let bytes: Vec<u8> = work().iter().flat_map(|word| word.to_le_bytes()).collect();
        let written = writer.write_all(&bytes).is_ok();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!written)) }
    }
    drop(writer);
    Box::new(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).expect("the words of the child");
        let mut status = 0;
        // SAFETY: waits for the child made above, once.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child failed");
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect()
    })
}

/// One test, so that nothing else runs in this process when it forks.
#[test]
fn forks_and_threads_never_share_key_stream() {
    let mut source = Secure::from_os().unwrap();
    // Leave part of a batch in the buffer: a copy of it is exactly what a child must not use.
    let before = source.next_word();
    let mut first = source.split();
    let mut second = source.split();
    let mut drawn = vec![("before", vec![before])];

    let one = in_forked_child(|| draw(&mut source));
    let two = in_forked_child(|| draw(&mut source));
    // A child that splits before it draws, and one that uses a source split off before the fork.
    let split = in_forked_child(|| draw(&mut source.split()));
    let inherited = in_forked_child(|| draw(&mut first));
    drawn.push(("parent after the fork", draw(&mut source)));
    drawn.push(("first child", one()));
    drawn.push(("second child", two()));
    drawn.push(("child that splits", split()));
    drawn.push(("child with a split source", inherited()));

    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| draw(&mut first));
        let two = scope.spawn(|| draw(&mut second));
        (one.join().unwrap(), two.join().unwrap())
    });
    drawn.push(("first thread", one));
    drawn.push(("second thread", two));
    drawn.push(("parent at the end", draw(&mut source)));

    // Not one word in common: among 2¹⁶ true random words a coincidence has probability 2⁻³³.
    let mut seen: HashMap<u64, &str> = HashMap::new();
    for (name, words) in drawn {
        assert!(words.len() == WORDS || name == "before");
        for word in words {
            if let Some(other) = seen.insert(word, name) {
                panic!("{name} and {other} share the word {word:x}");
            }
        }
    }
}
