//! Engines: whoever holds the parts of a table and answers questions about them.
//!
//! Here in this process, in worker processes of this command, or behind a bridge to a cluster, `python3 -m pairdp.engines`. Workers
//! and bridge speak the same frames over their pipes: a tag of one byte, a length in eight little-endian bytes, and as many
//! bytes. `P` with a JSON list of parts is answered by `R` when they are loaded, `Q` with a question by `S` with the merged
//! answers; `E` says why not. The end of input ends a worker.
//!
//! A worker that is lost is started again, and asked again: its answers are functions of its records, without noise.

use crate::failure::Failure;
use pairdp_release::parts::{Ask, Part, merge};
use pairdp_units::{FrontEnd, Hint};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How often a worker is started again over one question.
const LOSSES: u32 = 8;
/// How long a process may take to end once it has nothing more to say.
const ENDING: Duration = Duration::from_secs(5);
/// No frame is longer: a length beyond it is not one.
const LONGEST: u64 = 1 << 40;

/// Where parts are held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// In this process.
    Here,
    /// In so many processes of this machine.
    Local(usize),
    /// On a cluster that Python can reach.
    Cluster(String),
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(count) = text.strip_prefix("local:") {
            return match count.parse() {
                Ok(count @ 1..=1024) => Ok(Self::Local(count)),
                _ => Err("local:N has N from 1 to 1024".into()),
            };
        }
        if text.starts_with("ray:") || text.starts_with("dask://") {
            return Ok(Self::Cluster(text.to_owned()));
        }
        Err("an engine is local:N, ray:auto, ray:HOST:PORT, ray://HOST:PORT or dask://HOST:PORT".into())
    }

    /// How many shares a metric's pairs are divided into.
    pub(crate) fn workers(&self) -> usize {
        match self {
            Self::Here => 1,
            Self::Local(count) => *count,
            Self::Cluster(text) => {
                let said = text.rsplit_once("workers=").and_then(|(_, count)| count.parse().ok());
                said.unwrap_or(8)
            }
        }
    }

    /// Has the parts loaded.
    pub(crate) fn connect(&self, parts: Vec<String>) -> Result<Ask, Failure> {
        let workers = match self {
            Self::Here => return here(&parts),
            Self::Local(count) => {
                let mut dealt = vec![Vec::new(); (*count).min(parts.len())];
                let workers = dealt.len();
                parts.into_iter().enumerate().for_each(|(at, part)| dealt[at % workers].push(part));
                let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
                let threads = (cores / workers).max(1);
                let worker = |parts| Worker::new(Program::Own { threads }, parts);
                dealt.into_iter().map(worker).collect()
            }
            Self::Cluster(address) => vec![Worker::new(Program::Bridge(address.clone()), parts)],
        };
        together(workers)
    }
}

/// Parts in this process.
fn here(texts: &[String]) -> Result<Ask, Failure> {
    let parts = texts.iter().map(|text| Part::load(text)).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(move |question| merged(&parts, question).map_err(|error| error.explained(FrontEnd::Command))))
}

fn merged(parts: &[Part], question: &[u8]) -> Result<Vec<u8>, pairdp_release::LearnError> {
    let mut answers = parts.iter().map(|part| part.answer(question));
    let first = answers.next().unwrap_or(Err(pairdp_release::LearnError::NoParts))?;
    answers.try_fold(first, |merged, answer| merge(&merged, &answer?))
}

/// Asks all workers at once and merges what they answer.
fn together(mut workers: Vec<Worker>) -> Result<Ask, Failure> {
    for worker in &mut workers {
        worker.start().map_err(|error| worker.program.failure(&error))?;
    }
    for worker in &mut workers {
        worker.loaded().map_err(refused)?;
    }
    Ok(Box::new(move |question| {
        for worker in &mut workers {
            // One that is gone is noticed when its answer is missing.
            let _ = worker.send(b'Q', question);
        }
        let mut all: Option<Vec<u8>> = None;
        for worker in &mut workers {
            let answer = worker.answer(question)?;
            all = Some(match all {
                None => answer,
                Some(before) => {
                    merge(&before, &answer).map_err(|error| error.explained(FrontEnd::Command))?
                }
            });
        }
        all.ok_or_else(|| "there are no workers".to_owned())
    }))
}

fn refused(message: String) -> Failure {
    let (message, hint) = match message.split_once("\nhint: ") {
        Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
        None => (message, None),
    };
    Failure::Refused { code: "engine", message, hint }
}

/// What a worker runs.
enum Program {
    /// This command, on so many threads.
    Own { threads: usize },
    /// The bridge to a cluster.
    Bridge(String),
}

impl Program {
    fn command(&self) -> io::Result<Command> {
        match self {
            Self::Own { threads } => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("worker").env("RAYON_NUM_THREADS", threads.to_string());
                Ok(command)
            }
            Self::Bridge(address) => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "which Python reaches a cluster says nothing about noise"
                )]
                let python = std::env::var_os("PAIRDP_PYTHON").unwrap_or_else(|| "python3".into());
                let mut command = Command::new(python);
                command.args(["-m", "pairdp.engines", address]);
                Ok(command)
            }
        }
    }

    /// What is said when it ends before its parts are loaded.
    fn ended(&self) -> String {
        match self {
            Self::Own { .. } => "a worker ended while it loaded its parts".to_owned(),
            Self::Bridge(_) => {
                "the bridge to the cluster ended: is pairdp installed in the Python that runs it?\n\
                                hint: set the environment variable PAIRDP_PYTHON to a Python that has it"
                    .to_owned()
            }
        }
    }

    fn failure(&self, error: &io::Error) -> Failure {
        match self {
            Self::Own { .. } => Failure::Failed(format!("a worker process could not be started: {error}")),
            Self::Bridge(_) => Failure::coded(
                "engine",
                format!("the Python that connects to the cluster could not be started: {error}"),
                "set the environment variable PAIRDP_PYTHON to a Python that has pairdp installed",
            ),
        }
    }
}

/// A process that holds parts.
struct Worker {
    program: Program,
    parts: Vec<String>,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its input ends with this value; a worker in the middle of a sum need not finish it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    fn new(program: Program, parts: Vec<String>) -> Self {
        Self { program, parts, process: None }
    }

    /// Starts the process and tells it what to load.
    fn start(&mut self) -> io::Result<()> {
        let mut command = self.program.command()?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no pipes"));
        };
        let (input, output) = (BufWriter::new(input), BufReader::new(output));
        self.process = Some(Process { child, input, output });
        let parts = serde_json::to_vec(&self.parts)?;
        // One that is gone already is noticed when it does not say that it has loaded them.
        let _ = self.send(b'P', &parts);
        Ok(())
    }

    fn send(&mut self, tag: u8, body: &[u8]) -> io::Result<()> {
        let process = self.process.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        send(&mut process.input, tag, body)
    }

    fn receive(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let process = self.process.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        receive(&mut process.output)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Waits until the parts are loaded; a worker that is killed over it is started again.
    fn loaded(&mut self) -> Result<(), String> {
        for _ in 0..LOSSES {
            match self.receive() {
                Ok((b'R', _)) => return Ok(()),
                Ok((_, message)) => return Err(String::from_utf8_lossy(&message).into_owned()),
                Err(_) if self.was_killed() => self.start().map_err(|error| error.to_string())?,
                Err(_) => return Err(self.program.ended()),
            }
        }
        Err(format!("a worker was killed {LOSSES} times while it loaded its parts"))
    }

    /// Whether its process was ended from outside, and not by what it found: starting it again may help.
    fn was_killed(&mut self) -> bool {
        let deadline = Instant::now() + ENDING;
        while let Some(process) = &mut self.process {
            match process.child.try_wait() {
                Ok(Some(status)) => return status.code().is_none(),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
                _ => return false,
            }
        }
        false
    }

    /// The answer to a question that was sent; a worker that is gone is started again and asked again.
    fn answer(&mut self, question: &[u8]) -> Result<Vec<u8>, String> {
        for _ in 0..LOSSES {
            match self.receive() {
                Ok((b'S', answer)) => return Ok(answer),
                Ok((_, message)) => return Err(String::from_utf8_lossy(&message).into_owned()),
                Err(_) => {
                    self.start().map_err(|error| error.to_string())?;
                    self.loaded()?;
                    // If it is gone again, its answer will be missing again.
                    let _ = self.send(b'Q', question);
                }
            }
        }
        Err(format!("a worker was lost {LOSSES} times over one question"))
    }
}

fn send(stream: &mut impl Write, tag: u8, body: &[u8]) -> io::Result<()> {
    stream.write_all(&[tag])?;
    stream.write_all(&(body.len() as u64).to_le_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

/// A frame, or none at the end of input.
fn receive(stream: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; 9];
    match stream.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let [tag, length @ ..] = head;
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a frame"));
    }
    // As it comes in: a length is believed only as far as bytes follow.
    let mut body = Vec::new();
    if stream.take(length).read_to_end(&mut body)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((tag, body)))
}

/// A worker: loads the parts it is told, and answers until its input ends.
pub(crate) fn serve(input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    let mut parts = Vec::new();
    while let Some((tag, body)) = receive(input)? {
        let answer = match tag {
            b'P' => load(&body).map(|loaded| {
                parts = loaded;
                (b'R', Vec::new())
            }),
            b'Q' => merged(&parts, &body)
                .map(|answer| (b'S', answer))
                .map_err(|error| error.explained(FrontEnd::Command)),
            _ => Err("not a message for a worker".to_owned()),
        };
        match answer {
            Ok((tag, body)) => send(output, tag, &body)?,
            Err(message) => send(output, b'E', message.as_bytes())?,
        }
    }
    Ok(())
}

fn load(body: &[u8]) -> Result<Vec<Part>, String> {
    let texts: Vec<String> = serde_json::from_slice(body).map_err(|_| "not a list of parts".to_owned())?;
    texts.iter().map(|text| Part::load(text).map_err(|error| error.explained(FrontEnd::Command))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("local:2", Some(Address::Local(2))),
            ("local:0", None),
            ("local:", None),
            ("ray:auto", Some(Address::Cluster("ray:auto".into()))),
            ("ray://h:1", Some(Address::Cluster("ray://h:1".into()))),
            ("dask://h:1?workers=3", Some(Address::Cluster("dask://h:1?workers=3".into()))),
            ("spark://h:1", None),
        ] {
            assert_eq!(Address::parse(text).ok(), expected, "{text}");
        }
        assert_eq!(Address::parse("dask://h:1?workers=3").unwrap().workers(), 3);
    }

    #[test]
    fn a_worker_survives_bad_messages() {
        let mut input = Vec::new();
        for (tag, body) in [(b'X', "x"), (b'P', "{"), (b'P', "[\"{}\"]"), (b'Q', "question")] {
            send(&mut input, tag, body.as_bytes()).unwrap();
        }
        let mut output = Vec::new();
        serve(&mut input.as_slice(), &mut output).unwrap();
        let mut answers = output.as_slice();
        for _ in 0..4 {
            assert_eq!(receive(&mut answers).unwrap().unwrap().0, b'E');
        }
        assert!(receive(&mut answers).unwrap().is_none());
        // A frame that ends too soon, and one that claims to be endless.
        assert!(receive(&mut &b"Q\x09\0\0\0\0\0\0\0abc"[..]).is_err());
        assert!(receive(&mut &b"Q\xff\xff\xff\xff\xff\xff\xff\xffabc"[..]).is_err());
    }
}
