//! Tables of persons with several records each, as they are learned from.
//!
//! A person is one entry of the table, whatever the number of records, which is secret. Either all records of a person are kept,
//! with weights that add up to at most 1, or one of them, drawn in secret before anything else: a table of one record a person
//! then, for every algorithm. In both cases exchanging a person moves what is released no further than exchanging one of as many
//! records as there are persons would: `proofs/persons.md`.

use crate::LearnError;
use pairdp_certificate::Algorithm;
use pairdp_data::{Owners, Table};
use pairdp_noise::Source;
use pairdp_pairwise::{Neighbours, PerPerson, Problem, Strata};
use zeroize::Zeroize as _;

/// Whether an algorithm is about sums over the whole table, in which records of persons can be weighed.
pub fn can_weigh(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::NoisyGd | Algorithm::Moments | Algorithm::OutputGd)
}

/// The rows that count, and what each counts, for a problem and the public number of records or persons.
///
/// # Errors
/// [`LearnError::WrongTable`] for a public number that is not the table's, [`LearnError::NoPersons`] where it does not say whose
/// records they are.
pub fn settle(
    mut table: Table,
    problem: Problem,
    size: usize,
    source: &mut impl Source,
) -> Result<(Table, Strata), LearnError> {
    let Some(per_person) = problem.per_person() else {
        if table.owners.is_some() {
            return Err(LearnError::Persons);
        }
        // Rows beyond a cap do not count.
        let strata = Strata::plain(table.rows.min(size));
        return Ok((table, strata));
    };
    let owners = table.owners.take().ok_or(LearnError::NoPersons)?;
    if problem.neighbours() == Neighbours::ReplaceOne && owners.persons() != size {
        let (expected, found) = (size, owners.persons());
        return Err(LearnError::WrongNumberOfPersons { expected, found });
    }
    match per_person {
        PerPerson::One => {
            countable(table.rows)?;
            let rows = one_each(&owners, size, source);
            let strata = Strata::plain(rows.len());
            Ok((select(table, &rows), strata))
        }
        PerPerson::Weights => weighed(table, &owners, size),
    }
}

/// Rows of the first `most` persons, those with fewer records first.
///
/// # Errors
/// [`LearnError::TooManyRecords`].
pub fn weighed(table: Table, owners: &Owners, most: usize) -> Result<(Table, Strata), LearnError> {
    weighed_by(table, owners, &owners.records(), most, most)
}

/// The same where persons may have other records elsewhere: `records` says how many each has in all.
pub(crate) fn weighed_by(
    table: Table,
    owners: &Owners,
    records: &[u32],
    most: usize,
    size: usize,
) -> Result<(Table, Strata), LearnError> {
    countable(table.rows)?;
    let of = |row: u32| owners.of_row()[row as usize] as usize;
    let rows = u32::try_from(table.rows).unwrap_or(u32::MAX);
    let mut order: Vec<u32> = (0..rows).filter(|row| of(*row) < most).collect();
    order.sort_by_key(|row| records[of(*row)]);
    let counts: Vec<u32> = order.iter().map(|row| records[of(*row)]).collect();
    let strata = Strata::of_persons(&counts, size);
    Ok((select(table, &order), strata))
}

/// Refuses more rows than the records of a person are counted in: left out, they would push out other persons' rows, and weights would
/// add up to more than 1.
pub(crate) fn countable(rows: usize) -> Result<(), LearnError> {
    u32::try_from(rows).map(drop).map_err(|_| LearnError::TooManyRecords)
}

/// A row of each of the first `most` persons. One word is drawn for each of them, however many records there are to draw from, so
/// that what is drawn later depends on nobody's number of records.
fn one_each(owners: &Owners, most: usize, source: &mut impl Source) -> Vec<u32> {
    let persons = owners.persons().min(most);
    let mut wanted: Vec<u64> = owners.records()[..persons]
        .iter()
        .map(|records| {
            let place = (u128::from(source.next_word()) * u128::from(*records)) >> 64;
            u64::try_from(place).unwrap_or(u64::MAX)
        })
        .collect();
    let mut chosen = vec![0; persons];
    for (row, owner) in (0_u32..).zip(owners.of_row()) {
        let owner = *owner as usize;
        let Some(left) = wanted.get_mut(owner) else { continue };
        if *left == 0 {
            chosen[owner] = row;
        }
        *left = left.wrapping_sub(1);
    }
    chosen
}

/// These rows, in this order. What they are copied from is wiped.
fn select(mut table: Table, rows: &[u32]) -> Table {
    let width = table.columns;
    let row = |at: &u32| &table.features[*at as usize * width..(*at as usize + 1) * width];
    let features: Vec<f64> = rows.iter().flat_map(row).copied().collect();
    let targets = rows.iter().map(|at| table.targets[*at as usize]).collect();
    table.features.zeroize();
    table.targets.zeroize();
    Table { features, targets, rows: rows.len(), columns: width, owners: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_noise::Replay;

    fn table(owners: &[u32]) -> Table {
        let rows = owners.len();
        let features: Vec<f64> = (0..rows).map(|row| row as f64).collect();
        let owners = Some(Owners::new(owners.to_vec()));
        Table { targets: features.clone(), features, columns: 1, rows, owners }
    }

    #[test]
    fn persons_with_equally_many_records_lie_together_and_those_beyond_the_cap_do_not_count() {
        let mut table = table(&[4, 4, 9, 1, 4, 1, 7]);
        let owners = table.owners.take().unwrap();
        let (rows, strata) = weighed(table, &owners, 3).unwrap();
        assert_eq!(rows.features, [2.0, 3.0, 5.0, 0.0, 1.0, 4.0]);
        assert_eq!((strata.size(), rows.rows, rows.targets), (3, 6, rows.features));
    }

    /// Every record of a person is as likely, and the others' draws do not depend on how many there are. 4,000 draws, five
    /// standard deviations: a false alarm once in a million.
    #[test]
    fn one_record_of_each_person_is_drawn() {
        let owners = Owners::new(vec![0, 0, 1, 0, 2, 2]);
        let mut counts = [0_u32; 6];
        let mut source = Replay::from_seed(5);
        for _ in 0..4000 {
            let rows = one_each(&owners, 9, &mut source);
            rows.iter().zip(0..).for_each(|(row, person)| assert_eq!(owners.of_row()[*row as usize], person));
            rows.iter().for_each(|row| counts[*row as usize] += 1);
        }
        for (count, chance) in counts.iter().zip([1.0 / 3.0, 1.0 / 3.0, 1.0, 1.0 / 3.0, 0.5, 0.5]) {
            let (mean, deviation) = (4000.0 * chance, (4000.0 * chance * (1.0_f64 - chance)).sqrt());
            assert!((f64::from(*count) - mean).abs() <= 5.0 * deviation, "{counts:?}");
        }
        let more = Owners::new([vec![0; 1000], vec![1, 2, 2]].concat());
        for seed in 0..50 {
            let draw = |owners| one_each(owners, 9, &mut Replay::from_seed(seed));
            assert_eq!(draw(&owners)[2] - 4, draw(&more)[2] - 1001);
        }
        assert_eq!(one_each(&owners, 2, &mut source).len(), 2);
    }
}
