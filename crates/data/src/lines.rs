//! Text files of many lines, read in pieces on every core.
//!
//! Whoever is idle takes the lock, reads the next piece of the file, ends it where a record ends, and is handed the
//! rows of the matrix that the piece will fill; then it parses outside the lock. So reading (and unpacking) overlaps
//! with parsing, records keep their order, and beside the matrix only a piece a thread is in memory.

use crate::cell_encoder::CellEncoder;
use crate::source::Source;
use crate::table::SPARE;
use crate::{DataError, Table};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of a piece: small enough to stay in a core's cache with what it becomes.
const PIECE: usize = 1 << 17;
/// No record is longer. An open quote would otherwise swallow a file.
const LONGEST_RECORD: usize = 1 << 24;
/// Numbers that the rows of a part may have, where a file is read part by part, if its lines have a byte each.
const ROWS_OF_A_PART: usize = 1 << 22;
const SHORTEST_PART: usize = 1 << 8;

/// How lines become rows.
pub(crate) trait Lines: Sync {
    /// The length of the whole records at the start of `text`.
    fn whole_records(&self, text: &[u8]) -> usize;

    /// Parses whole records into rows of zeros, one a line at most, and returns the number of rows.
    fn parse(&self, text: &[u8], first_line: u64, rows: &mut Rows<'_>) -> Result<usize, LineProblem>;
}

/// Rows to fill: zeros at first.
#[derive(Default)]
pub(crate) struct Rows<'a> {
    pub(crate) features: &'a mut [f64],
    /// Empty when labels are not asked for.
    pub(crate) targets: &'a mut [f64],
    /// Empty when persons are not asked for.
    pub(crate) persons: &'a mut [u32],
}

impl<'a> Rows<'a> {
    /// Takes the first `count` rows off; they are there.
    pub(crate) fn take(&mut self, count: usize, columns: usize) -> Rows<'a> {
        let features = self.features.split_off_mut(..count * columns).unwrap_or_default();
        let targets = self.targets.split_off_mut(..count).unwrap_or_default();
        Self { features, targets, persons: self.persons.split_off_mut(..count).unwrap_or_default() }
    }
}

/// What is wrong with which line.
pub(crate) struct LineProblem {
    pub(crate) line: u64,
    pub(crate) what: LineFault,
}

/// What is wrong with a line.
pub(crate) enum LineFault {
    /// A cell is not what its column promises.
    Cell(String, crate::error::CellProblem),
    /// Not as many cells as the header has.
    Width,
    /// Not a record at all.
    Malformed,
}

impl LineProblem {
    pub(crate) fn at(self, path: &Path) -> DataError {
        let (path, line) = (path.to_owned(), self.line);
        match self.what {
            LineFault::Cell(column, what) => DataError::Cell { path, line, column, what },
            LineFault::Width => DataError::RowWidth { path, line },
            LineFault::Malformed => DataError::Malformed { path, line },
        }
    }
}

/// Reads the rest of a file, from `first_line` on; `start` holds what was read of it already.
pub(crate) fn read(
    source: Source,
    start: Vec<u8>,
    first_line: u64,
    rules: &CellEncoder<'_>,
    lines: &impl Lines,
) -> Result<(Table, Vec<u32>), DataError> {
    let path = source.path.clone();
    let columns = rules.encoding.dimension();
    let (labelled, of_persons) = (rules.label.is_some(), rules.ids.is_some());
    let (targets_a_row, persons_a_row) = (usize::from(labelled), usize::from(of_persons));
    let remaining = source.length;
    let (mut table, mut persons) = (Table::empty(columns), Vec::new());
    let mut feed = Feed::new(source, start, first_line, PIECE);
    loop {
        let room = table.rows;
        let wanted = {
            let rows = Rows {
                features: &mut table.features[feed.row * columns..],
                targets: &mut table.targets[feed.row * targets_a_row..],
                persons: &mut persons[feed.row * persons_a_row..],
            };
            let (filled, outcome) = fill(feed, rows, room, columns, lines);
            feed = filled;
            outcome.map_err(|fault| fault.at(&path))?
        };
        let Some(wanted) = wanted else { break };
        // The first piece tells about how many rows the file has; pages that stay untouched cost nothing.
        let guess = match remaining {
            Some(bytes) if room == 0 => estimate(wanted, bytes),
            _ => room + room / 2,
        };
        let needed = feed.row + wanted.lines;
        let rooms = [guess.max(needed), needed];
        let rows = rooms.into_iter().find(|rows| table.make_room(*rows, labelled));
        table.rows = rows.ok_or_else(|| DataError::TooLarge { path: path.clone() })?;
        persons.resize(table.rows * persons_a_row, 0);
    }
    close_gaps(&mut table, &mut persons, &mut feed.pieces);
    Ok((table, persons))
}

/// A piece that found no room.
#[derive(Clone, Copy)]
struct Wanted {
    lines: usize,
    bytes: usize,
}

fn estimate(first: Wanted, bytes: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a guess")]
    let rows = (bytes as f64 / first.bytes as f64 * first.lines as f64 * 1.02) as usize;
    rows + 2 * first.lines
}

/// Blank lines got rows that nobody filled: moves the rows after them up.
fn close_gaps(table: &mut Table, persons: &mut Vec<u32>, pieces: &mut [Piece]) {
    let (labelled, of_persons) = (!table.targets.is_empty(), !persons.is_empty());
    pieces.sort_unstable_by_key(|piece| piece.row);
    let mut to = 0;
    for piece in pieces {
        if piece.row != to {
            move_up(&mut table.features, table.columns, piece, to);
            move_up(&mut table.targets, usize::from(labelled), piece, to);
            move_up(persons, usize::from(of_persons), piece, to);
        }
        to += piece.filled;
    }
    table.rows = to;
    table.features.truncate(to * table.columns);
    table.targets.truncate(to);
    persons.truncate(to);
    table.features.shrink_to(to * (table.columns + SPARE));
    table.targets.shrink_to_fit();
}

fn move_up<T: Copy>(values: &mut [T], width: usize, piece: &Piece, to: usize) {
    values.copy_within(piece.row * width..(piece.row + piece.filled) * width, to * width);
}

/// Rows that one piece of the file became.
struct Piece {
    row: usize,
    filled: usize,
}

/// The file, in pieces.
struct Feed {
    source: Source,
    /// Bytes of a piece, unless a record is longer.
    piece: usize,
    /// Bytes that were read and not handed out.
    carry: Vec<u8>,
    /// The line that the carry starts with.
    line: u64,
    ended: bool,
    pieces: Vec<Piece>,
    /// Rows handed out.
    row: usize,
}

/// Whole records, where they start, and how many lines they are.
#[derive(Clone, Copy)]
struct Text {
    line: u64,
    lines: usize,
}

/// Whole records of a file.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    bytes: &'a [u8],
    text: Text,
}

impl Part<'_> {
    /// Its rows, and a number for the person of each where persons are read.
    pub(crate) fn rows(
        self,
        lines: &impl Lines,
        rules: &CellEncoder<'_>,
    ) -> Result<(Table, Vec<u32>), LineProblem> {
        let (most, columns) = (self.text.lines, rules.encoding.dimension());
        let mut features = vec![0.0; most * columns];
        let mut persons = vec![0; if rules.ids.is_some() { most } else { 0 }];
        let mut rows = Rows { features: &mut features, targets: &mut [], persons: &mut persons };
        let filled = lines.parse(self.bytes, self.text.line, &mut rows)?;
        features.truncate(filled * columns);
        persons.truncate(filled);
        Ok((Table { features, rows: filled, ..Table::empty(columns) }, persons))
    }
}

/// Reads the rest of a file in parts, a few for each core at a time, so that no more of it than these is in memory; what they become is
/// handed on in the order of the file.
pub(crate) fn in_parts<T: Send, E: From<DataError>>(
    source: Source,
    start: Vec<u8>,
    first_line: u64,
    width: usize,
    lines: &impl Lines,
    read: impl Fn(Part<'_>) -> Result<T, LineProblem> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let path = source.path.clone();
    // A line may be a few bytes, and its row as wide as there are categories.
    let piece = (ROWS_OF_A_PART / width.max(1)).clamp(SHORTEST_PART, PIECE);
    let mut feed = Feed::new(source, start, first_line, piece);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut buffers = vec![Vec::new(); cores];
    loop {
        let mut parts = Vec::with_capacity(cores);
        for buffer in &mut buffers {
            match feed.next(buffer, lines) {
                Ok(Some(text)) => parts.push(Part { bytes: buffer, text }),
                Ok(None) => break,
                Err(fault) => return Err(fault.at(&path).into()),
            }
        }
        if parts.is_empty() {
            return Ok(());
        }
        let rows: Vec<_> = std::thread::scope(|scope| {
            let read = &read;
            let others = parts[1..].iter().copied();
            let spawn = |part| (part, std::thread::Builder::new().spawn_scoped(scope, move || read(part)));
            let others: Vec<_> = others.map(spawn).collect();
            let first = read(parts[0]);
            let others = others.into_iter().map(|(part, thread)| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // A machine that gives no thread reads with fewer.
                Err(_) => read(part),
            });
            std::iter::once(first).chain(others).collect()
        });
        for rows in rows {
            take(rows.map_err(|problem| problem.at(&path))?)?;
        }
    }
}

/// What a table could not be read for.
enum Fault {
    Whole(DataError),
    Line(LineProblem),
}

impl Fault {
    fn at(self, path: &Path) -> DataError {
        match self {
            Self::Whole(error) => error,
            Self::Line(problem) => problem.at(path),
        }
    }
}

impl Feed {
    fn new(source: Source, start: Vec<u8>, first_line: u64, piece: usize) -> Self {
        Self { source, piece, carry: start, line: first_line, ended: false, pieces: Vec::new(), row: 0 }
    }

    /// Puts the next whole records into `buffer`; `None` at the end of the file.
    fn next(&mut self, buffer: &mut Vec<u8>, lines: &impl Lines) -> Result<Option<Text>, Fault> {
        buffer.clear();
        buffer.append(&mut self.carry);
        let mut wanted = self.piece;
        loop {
            if !self.ended && buffer.len() < wanted {
                let missing = wanted - buffer.len();
                let read = read_more(&mut self.source.reader, buffer, missing);
                self.ended = read.map_err(|error| Fault::Whole(self.source.failed(error)))? < missing;
            }
            if self.ended && buffer.is_empty() {
                return Ok(None);
            }
            if self.ended && buffer.last() != Some(&b'\n') {
                buffer.push(b'\n');
            }
            let whole = lines.whole_records(buffer);
            if whole > 0 {
                self.carry.extend_from_slice(&buffer[whole..]);
                buffer.truncate(whole);
                break;
            }
            wanted = 2 * buffer.len();
            if self.ended || wanted > LONGEST_RECORD {
                return Err(Fault::Line(LineProblem { line: self.line, what: LineFault::Malformed }));
            }
        }
        let text = Text { line: self.line, lines: memchr::memchr_iter(b'\n', buffer).count() };
        self.line += text.lines as u64;
        Ok(Some(text))
    }
}

/// Appends so many bytes, or as many as there are, and returns their number. `read_to_end` would begin with small reads, and make room for
/// larger ones anew each time.
fn read_more(reader: &mut impl io::Read, buffer: &mut Vec<u8>, wanted: usize) -> io::Result<usize> {
    let start = buffer.len();
    buffer.resize(start + wanted, 0);
    let mut end = start;
    while end < buffer.len() {
        match reader.read(&mut buffer[end..]) {
            Ok(0) => break,
            Ok(read) => end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(end);
    Ok(end - start)
}

/// What threads share while they fill rows.
struct Shared<'a> {
    feed: Feed,
    rows: Rows<'a>,
    /// Set when the rows are used up.
    wanted: Option<Wanted>,
    /// The earliest fault so far, and the row of its piece.
    fault: Option<(usize, Fault)>,
}

/// Fills rows until they or the file end.
fn fill(
    feed: Feed,
    rows: Rows<'_>,
    room: usize,
    columns: usize,
    lines: &impl Lines,
) -> (Feed, Result<Option<Wanted>, Fault>) {
    let shared = Mutex::new(Shared { feed, rows, wanted: None, fault: None });
    let stop = AtomicBool::new(false);
    let work = || work(&shared, &stop, room, columns, lines);
    let helpers = if room == 0 { 0 } else { std::thread::available_parallelism().map_or(0, |n| n.get() - 1) };
    std::thread::scope(|scope| {
        for _ in 0..helpers.min(room / 4096) {
            // A machine that gives no thread reads with fewer.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let Shared { feed, wanted, fault, .. } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let outcome = match fault {
        Some((_, fault)) => Err(fault),
        None => Ok(wanted),
    };
    (feed, outcome)
}

/// One thread's part: take a piece, parse it, and again.
fn work(shared: &Mutex<Shared<'_>>, stop: &AtomicBool, room: usize, columns: usize, lines: &impl Lines) {
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let mut buffer = Vec::new();
    // A thread that stops early stops the others too: what they would parse is not wanted any more.
    while !stop.load(Ordering::Relaxed) {
        let mut guard = lock();
        let state = &mut *guard;
        if state.wanted.is_some() {
            return;
        }
        let row = state.feed.row;
        let text = match state.feed.next(&mut buffer, lines) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(fault) => {
                stop.store(true, Ordering::Relaxed);
                state.refuse(row, fault);
                return;
            }
        };
        if text.lines > room - row {
            state.wanted = Some(Wanted { lines: text.lines, bytes: buffer.len() });
            state.feed.line = text.line;
            buffer.append(&mut state.feed.carry);
            state.feed.carry = buffer;
            return;
        }
        state.feed.row += text.lines;
        let mut rows = state.rows.take(text.lines, columns);
        drop(guard);
        let outcome = lines.parse(&buffer, text.line, &mut rows);
        let mut guard = lock();
        match outcome {
            Ok(filled) => guard.feed.pieces.push(Piece { row, filled }),
            Err(problem) => {
                stop.store(true, Ordering::Relaxed);
                guard.refuse(row, Fault::Line(problem));
            }
        }
    }
}

impl Shared<'_> {
    fn refuse(&mut self, row: usize, fault: Fault) {
        if self.fault.as_ref().is_none_or(|(earliest, _)| row < *earliest) {
            self.fault = Some((row, fault));
        }
    }
}
