//! Columns of dates, in every way that files hold them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_data::{Cells, DataError, Encoding, LabelUse, Schema, Survey, Table};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, Int96};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;

/// From 2024-02-28 to 2024-03-03: the middle is 2024-03-01, as there is a 29th.
const SCHEMA: &str = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
    [[column]]\nname = 'day'\nkind = 'date'\nrange = [2024-02-28, 2024-03-03]\n";
const FIRST: i32 = 19_781;
/// What the days before the range, in it, and after it become.
const EXPECTED: [f64; 7] = [-1.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.0];

fn encoding(schema: &str) -> Encoding {
    Encoding::of(&Schema::parse(schema).unwrap())
}

fn read(path: &Path) -> Result<Vec<f64>, DataError> {
    Ok(Table::read(path, &encoding(SCHEMA), LabelUse::Ignore)?.features)
}

#[test]
fn texts_of_dates_become_days() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let days = "day,y\n0001-01-01,1\n2024-02-28,1\n 2024-02-29 ,0\n\"2024-03-01T23:59:59.999\",1\n2024-03-02 00:00,0\n\
                2024-03-04T00:30+02:00,1\n9999-12-31,0\n";
    std::fs::write(&path, days).unwrap();
    assert_eq!(read(&path).unwrap(), EXPECTED);
    for wrong in ["29.02.2024", "20240229", "19782", "2024-02-30", "1e3"] {
        std::fs::write(&path, format!("day,y\n2024-02-28,1\n{wrong},0\n")).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.ends_with("line 3, column `day`: not a date") && !error.contains(wrong), "{error}");
    }
    std::fs::write(&path, "day,y\n,1\n").unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("empty, and the schema does not say"));
    let survey = |missing: &str| {
        std::fs::write(&path, "day,y\n,1\nsoon,1\n2024-03-01,1\n2025-01-01,0\n").unwrap();
        let schema = format!("{SCHEMA}{missing}\n");
        Survey::read(&path, &encoding(&schema), &["day".to_owned()], &Arc::default()).unwrap()
    };
    let read = survey("missing = 2024-03-02");
    assert_eq!(
        (read.table.features, read.readable),
        (vec![0.5, 0.0, 0.0, 1.0], vec![true, false, true, true])
    );
    let counts = &read.columns[0];
    assert_eq!((counts.clipped, counts.missing, counts.unreadable), (1, 1, 1));
    assert_eq!(read.kept[0], ["", "soon", "2024-03-01", "2025-01-01"]);
    assert_eq!(survey("missing = 'own'").table.features, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn days_in_memory_are_read_as_files_are() {
    let days = (-1..6).map(|day| f64::from(FIRST + day)).collect();
    let table = encoding(SCHEMA).encode_cells(&[Cells::Numbers(days)]).unwrap();
    assert_eq!(table.features, EXPECTED);
    for odd in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        assert!(encoding(SCHEMA).encode_cells(&[Cells::Numbers(vec![odd])]).is_err());
    }
    assert!(encoding(SCHEMA).encode_matrix(&[1.0], 1).err().unwrap().contains("holds dates, not numbers"));
}

/// Writes the moments of seven days, or whatever a column of this type takes for them.
fn write(path: &Path, column: &str, moment: &dyn Fn(i32) -> i64) {
    let message = format!("message table {{ {column}; required int32 y; }}");
    let schema = Arc::new(parse_message_type(&message).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let days = || -1..6;
    while let Some(mut column) = rows.next_column().unwrap() {
        let name = match column.untyped() {
            ColumnWriter::Int32ColumnWriter(w) => w.get_descriptor().name().to_owned(),
            _ => "day".to_owned(),
        };
        let written = match column.untyped() {
            ColumnWriter::Int32ColumnWriter(w) if name == "y" => w.write_batch(&[1; 7], None, None),
            ColumnWriter::Int32ColumnWriter(w) => {
                let days: Vec<i32> = days().map(|day| i32::try_from(moment(day)).unwrap()).collect();
                w.write_batch(&days, None, None)
            }
            ColumnWriter::Int64ColumnWriter(w) => {
                w.write_batch(&days().map(moment).collect::<Vec<i64>>(), None, None)
            }
            ColumnWriter::Int96ColumnWriter(w) => {
                let of = |day: i32| {
                    let mut value = Int96::new();
                    let nanoseconds = 86_399_999_999_999_u64;
                    let low = u32::try_from(nanoseconds & 0xffff_ffff).unwrap();
                    value.set_data(
                        low,
                        u32::try_from(nanoseconds >> 32).unwrap(),
                        u32::try_from(moment(day)).unwrap(),
                    );
                    value
                };
                w.write_batch(&days().map(of).collect::<Vec<_>>(), None, None)
            }
            ColumnWriter::DoubleColumnWriter(w) => {
                w.write_batch(&days().map(|day| moment(day) as f64).collect::<Vec<_>>(), None, None)
            }
            ColumnWriter::BoolColumnWriter(w) => w.write_batch(&[true; 7], None, None),
            ColumnWriter::ByteArrayColumnWriter(w) => {
                let text = |day: i32| pairdp_data::date_text(moment(day) as f64);
                w.write_batch(
                    &days().map(|day| ByteArray::from(text(day).as_str())).collect::<Vec<_>>(),
                    None,
                    None,
                )
            }
            _ => unreachable!(),
        };
        written.unwrap();
        column.close().unwrap();
    }
    rows.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn parquet_holds_dates_in_many_ways_and_all_mean_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let day = |day: i32| i64::from(FIRST + day);
    let moment = |parts: i64| move |day: i32| (i64::from(FIRST + day) * 86_400 + 86_399) * parts + parts - 1;
    for (column, of) in [
        ("required int32 day (DATE)", &day as &dyn Fn(i32) -> i64),
        ("required int64 day (TIMESTAMP(MILLIS, true))", &moment(1_000)),
        ("required int64 day (TIMESTAMP(MICROS, false))", &moment(1_000_000)),
        ("required int64 day (TIMESTAMP(NANOS, true))", &moment(1_000_000_000)),
        ("required int64 day (TIMESTAMP_MILLIS)", &moment(1_000)),
        ("required int64 day (TIMESTAMP_MICROS)", &moment(1_000_000)),
        ("required int96 day", &|day| i64::from(FIRST + day) + 2_440_588),
        ("required binary day (STRING)", &day),
    ] {
        write(&path, column, of);
        assert_eq!(read(&path).unwrap(), EXPECTED, "{column}");
    }
}

#[test]
fn numbers_in_a_column_of_dates_are_no_dates_and_absurd_days_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for column in [
        "required int32 day",
        "required int64 day",
        "required double day",
        "required boolean day",
        "required int64 day (INTEGER(64, true))",
        "required int32 day (DECIMAL(9, 2))",
    ] {
        write(&path, column, &|day| i64::from(FIRST + day));
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("record 1, column `day`: not a date"), "{column}: {error}");
    }
    for column in ["required int32 day (TIME(MILLIS, true))", "required int64 day (TIME(MICROS, true))"] {
        write(&path, column, &|day| i64::from(day + 1));
        assert!(matches!(read(&path), Err(DataError::ColumnType { .. })), "{column}");
    }
    for (column, extreme) in [
        ("required int32 day (DATE)", i64::from(i32::MAX)),
        ("required int32 day (DATE)", i64::from(i32::MIN)),
        ("required int64 day (TIMESTAMP(MILLIS, true))", i64::MAX),
        ("required int64 day (TIMESTAMP(MILLIS, true))", i64::MIN),
        ("required int96 day", i64::from(u32::MAX)),
        ("required int96 day", 0),
    ] {
        write(&path, column, &|_| extreme);
        let end = if extreme > 0 { 1.0 } else { -1.0 };
        assert_eq!(read(&path).unwrap(), [end; 7], "{column} {extreme}");
    }
}

/// A date that the schema takes for a number is refused, as a number of days would be in nobody's range.
#[test]
fn dates_are_numbers_only_where_the_schema_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, "required int32 day (DATE)", &|day| i64::from(FIRST + day));
    let plain = SCHEMA.replace("kind = 'date'\nrange = [2024-02-28, 2024-03-03]", "range = [0, 1]");
    let refused = Table::read(&path, &encoding(&plain), LabelUse::Ignore).err().unwrap();
    assert!(matches!(refused, DataError::ColumnType { .. }), "{refused}");
    let kept = Survey::read(&path, &encoding(SCHEMA), &["day".to_owned()], &Arc::default()).unwrap().kept;
    assert_eq!(kept[0][..2], ["2024-02-27", "2024-02-28"]);
}
