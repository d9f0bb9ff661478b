//! Parquet files as other programs write them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_data::{Cells, DataError, Encoding, LabelUse, ParquetWriter, Schema, Table, WrittenColumn};
use parquet::basic::{Compression, Encoding as PageEncoding};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;

const MESSAGE: &str = "message table {
    required double plain;
    optional int32 small;
    optional int64 big (INTEGER(64, false));
    required boolean truth;
    optional binary text (STRING);
    required int32 money (DECIMAL(9, 2));
    required int32 day (DATE);
    required group deep { required int32 leaf; }
}";

const SCHEMA: &str = "
[label]
column = 'truth'
positive = 1
negative = 0
[[column]]
name = 'plain'
range = [0, 10]
[[column]]
name = 'small'
range = [-5, 5]
missing = 5
[[column]]
name = 'big'
categories = [0, '18446744073709551615']
missing = 0
[[column]]
name = 'text'
categories = ['cat', 'dog']
missing = 'dog'
[[column]]
name = 'money'
range = [0, 1]
";

/// A file of `groups` row groups of 6 records each.
fn write(path: &Path, groups: usize, properties: WriterProperties) {
    let schema = Arc::new(parse_message_type(MESSAGE).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let levels = [1, 1, 0, 1, 1, 0];
    for group in 0..groups {
        let mut rows = writer.next_row_group().unwrap();
        while let Some(mut column) = rows.next_column().unwrap() {
            let count = match column.untyped() {
                ColumnWriter::DoubleColumnWriter(w) => {
                    w.write_batch(&[0.0, 5.0, 99.0, 2.5, 7.5, group as f64], None, None)
                }
                ColumnWriter::BoolColumnWriter(w) => {
                    w.write_batch(&[true, false, true, true, false, true], None, None)
                }
                ColumnWriter::Int64ColumnWriter(w) => w.write_batch(&[0, -1, 7, 0], Some(&levels), None),
                ColumnWriter::ByteArrayColumnWriter(w) => {
                    let texts = ["cat", "dog", "emu", "cat"].map(ByteArray::from);
                    w.write_batch(&texts, Some(&levels), None)
                }
                ColumnWriter::Int32ColumnWriter(w) => {
                    if w.get_descriptor().name() == "small" {
                        w.write_batch(&[-5, 0, 2, 100], Some(&levels), None)
                    } else {
                        w.write_batch(&[0, 25, 50, 75, 100, 125], None, None)
                    }
                }
                _ => unreachable!(),
            };
            count.unwrap();
            column.close().unwrap();
        }
        rows.close().unwrap();
    }
    writer.close().unwrap();
}

fn read(path: &Path, schema: &str) -> Result<Table, DataError> {
    let schema = Schema::parse(schema).unwrap();
    Table::read(path, &Encoding::of(&schema), LabelUse::Read(schema.label()))
}

#[test]
fn columns_become_entries_by_the_same_rules() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(parquet::basic::GzipLevel::default()),
        Compression::ZSTD(parquet::basic::ZstdLevel::default()),
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for dictionary in [true, false] {
                let properties = WriterProperties::builder()
                    .set_compression(compression)
                    .set_writer_version(version)
                    .set_dictionary_enabled(dictionary)
                    .set_column_encoding("text".into(), PageEncoding::PLAIN);
                write(&path, 3, properties.build());
                let table = read(&path, SCHEMA).unwrap();
                assert_eq!((table.rows, table.columns), (18, 7));
                let group = |last: f64| {
                    let last = last / 5.0 - 1.0;
                    vec![
                        [-1.0, -1.0, 1.0, 0.0, 1.0, 0.0, -1.0],
                        [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, -0.5],
                        [1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0],
                        [-0.5, 0.4, 0.0, 0.0, 0.0, 0.0, 0.5],
                        [0.5, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0],
                        [last, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0],
                    ]
                };
                let expected: Vec<f64> = (0..3).flat_map(|g| group(f64::from(g)).concat()).collect();
                assert_eq!(table.features, expected);
                assert_eq!(table.targets[..6], [1.0, -1.0, 1.0, 1.0, -1.0, 1.0]);
            }
        }
    }
    let names = ["plain", "small", "big", "truth", "text", "money", "day", "deep"];
    assert_eq!(Table::header(&path).unwrap(), names);
}

/// One table as Parquet with nulls, as CSV with empty cells and as columns of a program: the same rows.
#[test]
fn empty_cells_have_the_same_place_in_every_format() {
    let schema = Schema::parse(
        "[label]\ncolumn = 'truth'\npositive = 1\nnegative = 0\n\
         [[column]]\nname = 'small'\nrange = [-5, 5]\nmissing = 'own'\n\
         [[column]]\nname = 'plain'\nrange = [0, 10]\nmissing = 'own'\n",
    );
    let schema = schema.unwrap();
    let encoding = Encoding::of(&schema);
    let folder = tempfile::tempdir().unwrap();
    let (binary, text) = (folder.path().join("t.parquet"), folder.path().join("t.csv"));
    write(&binary, 1, WriterProperties::builder().build());
    std::fs::write(&text, "truth,small,plain\n1,-5,0\n0,0,5\n1,,99\n1,2,2.5\n0,100,7.5\n1,,0\n").unwrap();
    let small = [-5.0, 0.0, f64::NAN, 2.0, 100.0, f64::NAN];
    let plain = [0.0, 5.0, 99.0, 2.5, 7.5, 0.0];
    let cells = [Cells::Numbers(small.to_vec()), Cells::Numbers(plain.to_vec())];
    let expected = [
        [-1.0, 0.0, -1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 1.0, 0.0],
        [0.4, 0.0, -0.5, 0.0],
        [1.0, 0.0, 0.5, 0.0],
        [0.0, 1.0, -1.0, 0.0],
    ];
    for path in [&binary, &text] {
        let table = Table::read(path, &encoding, LabelUse::Read(schema.label())).unwrap();
        assert_eq!((table.features, table.columns), (expected.concat(), 4), "{}", path.display());
    }
    assert_eq!(encoding.encode_cells(&cells).unwrap().features, expected.concat());
}

#[test]
fn refusals_say_where_and_never_what() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, 2, WriterProperties::builder().build());
    for (from, to, expected) in [
        ("missing = 5\n", "", "record 3, column `small`: empty"),
        ("name = 'small'", "name = 'day'", "column `day` is neither"),
        ("name = 'small'", "name = 'deep'", "column `deep` is neither"),
        ("name = 'small'", "name = 'absent'", "no column `absent`"),
        (
            "categories = ['cat', 'dog']\nmissing = 'dog'",
            "range = [0, 1]",
            "record 1, column `text`: not a number",
        ),
        ("positive = 1\nnegative = 0", "classes = ['a', true]", "record 2, column `truth`: the label"),
    ] {
        let message = read(&path, &SCHEMA.replace(from, to)).err().unwrap().to_string();
        assert!(message.contains(expected), "{to}: {message}");
    }
    for (column, encoding) in
        [("text", PageEncoding::DELTA_LENGTH_BYTE_ARRAY), ("plain", PageEncoding::BYTE_STREAM_SPLIT)]
    {
        let unread = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_column_encoding(column.into(), encoding);
        write(&path, 1, unread.build());
        let message = read(&path, SCHEMA).err().unwrap().to_string();
        assert!(message.contains(&format!("column `{column}` is stored in an encoding")), "{message}");
    }
}

#[test]
fn files_that_are_no_parquet_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for (content, expected) in [
        (&b""[..], "empty"),
        (b"PAR1", "damaged"),
        (b"PAR1....PAR1", "damaged"),
        (b"a,b\n1,2\n3,4\n", "damaged"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7fPAR1", "damaged"),
    ] {
        std::fs::write(&path, content).unwrap();
        let message = read(&path, SCHEMA).err().unwrap().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// A reader that believed every claim would make room for it.
#[test]
fn claims_of_great_size_are_refused_or_fail_without_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, 1, WriterProperties::builder().build());
    let good = std::fs::read(&path).unwrap();
    let started = std::time::Instant::now();
    // Every place in turn, overwritten with what reads as a number of about two thousand million.
    for at in 0..good.len() - 5 {
        let mut bad = good.clone();
        bad[at..at + 5].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x0f]);
        std::fs::write(&path, &bad).unwrap();
        let _ = read(&path, SCHEMA);
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// Numbers with a point, days and groups of columns name nobody.
#[test]
fn persons_are_not_named_by_just_any_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, 2, WriterProperties::builder().build());
    let of = |column: &str| {
        let text = SCHEMA.replace("[[column]]\nname = 'money'\nrange = [0, 1]\n", "");
        let text = text.replacen("[[column]]", &format!("[person]\ncolumn = '{column}'\n[[column]]"), 1);
        let schema = Schema::parse(&text).unwrap();
        let table = Table::read(&path, &Encoding::of(&schema), schema.label_use());
        table.map(|table| table.owners.unwrap().of_row().to_vec()).map_err(|error| error.to_string())
    };
    assert!(of("day").unwrap_err().contains("neither numbers nor text"));
    assert!(of("money").unwrap_err().contains("neither text nor a whole number"));
    assert!(of("deep").is_err());
}

/// Columns are decoded side by side, and refused as if they were read one after the other.
#[test]
fn of_two_faults_the_first_column_s_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let names = ["y", "a", "b", "c"].map(str::to_owned);
    let schema = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
        [[column]]\nname = 'a'\nrange = [0, 1]\n[[column]]\nname = 'b'\nrange = [0, 1]\n[[column]]\nname = 'c'\nrange = [0, 1]\n";
    let schema = Schema::parse(schema).unwrap();
    for (faults, told) in [
        ([Some(3000), Some(1), None], Some(("a", 3001))),
        ([None, Some(2500), Some(0)], Some(("b", 2501))),
        ([None, None, Some(4095)], Some(("c", 4096))),
        ([None, None, None], None),
    ] {
        let column = |fault: Option<usize>| {
            WrittenColumn::Numbers(
                (0..5000).map(|row| (Some(row) != fault).then_some(row as f64 / 5000.0)).collect(),
            )
        };
        let label = WrittenColumn::Numbers((0..5000).map(|row| Some(f64::from(row % 2))).collect());
        let columns = [label].into_iter().chain(faults.map(column)).collect();
        let writer =
            ParquetWriter::new(std::fs::File::create(&path).unwrap(), "test", &names, columns).unwrap();
        writer.finish().unwrap();
        let read = Table::read(&path, &Encoding::of(&schema), LabelUse::Read(schema.label()));
        match (read, told) {
            (Ok(table), None) => {
                assert_eq!((table.rows, table.columns), (5000, 3));
                for row in 0..5000 {
                    let value = (row as f64 / 5000.0 - 0.5) / 0.5;
                    assert!(
                        table.features[3 * row..3 * row + 3]
                            .iter()
                            .all(|cell| cell.to_bits() == value.to_bits())
                    );
                }
                assert!(table.targets.iter().enumerate().all(|(row, y)| (*y > 0.0) == (row % 2 == 1)));
            }
            (Err(DataError::Record { record, column, .. }), Some(told)) => {
                assert_eq!((column.as_str(), record), told);
            }
            (read, told) => panic!("{told:?}, and read {:?}", read.map(|table| table.rows)),
        }
    }
}
