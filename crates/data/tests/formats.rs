//! Tables in every format that is read, and what is refused in each.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use flate2::Compression;
use flate2::write::GzEncoder;
use pairdp_data::{DataError, Encoding, LabelUse, Schema, Table};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use tempfile::TempDir;

const SCHEMA: &str = "
[label]
column = 'y'
positive = 'yes'
negative = 'no'
[[column]]
name = 'a'
range = [0, 10]
missing = 5
[[column]]
name = 'b'
categories = ['u', 'v, w', 'quo\"te', '']
[[column]]
name = 'c'
range = [0, 10]
[[column]]
name = 'd'
categories = ['k', 'l']
missing = 'l'
other = true
";

/// Writes a file and reads it as a table.
fn read(name: &str, content: &[u8], schema: &str) -> Result<Table, DataError> {
    let (_folder, path) = file(name, content);
    let schema = Schema::parse(schema).unwrap();
    Table::read(&path, &Encoding::of(&schema), LabelUse::Read(schema.label()))
}

fn file(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// The message without the file's own place.
fn refusal(name: &str, content: &[u8], schema: &str) -> String {
    let message = read(name, content, schema).err().unwrap().to_string();
    message[message.find(name).unwrap()..].to_owned()
}

#[test]
fn cells_become_entries_by_public_rules() {
    let csv = "\u{feff}\r\n\"c\",id,a,b,d,y\r\n\
               1,\"x,\"\"\ny\",7.5,u,k,yes\r\n\
               \n\
               \"2\",,,\"v, w\",,no\n\
               99, , NaN ,\"quo\"\"te\",other, yes \n\
               -3,q\"q,1e0,,l,\"no\"";
    let expected: [[f64; 9]; 4] = [
        [0.5, 1.0, 0.0, 0.0, 0.0, -0.8, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, -0.6, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        [-0.8, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 1.0, 0.0],
    ];
    for table in [
        read("t.csv", csv.as_bytes(), SCHEMA).unwrap(),
        read("t.csv.gz", &packed(csv.as_bytes()), SCHEMA).unwrap(),
    ] {
        assert_eq!((table.rows, table.columns), (4, 9));
        assert_eq!(table.features, expected.concat());
        assert_eq!(table.targets, [1.0, -1.0, 1.0, -1.0]);
    }
}

/// Empty cells of a column with a place for them, read from every kind of text; the number is then the middle of its range.
#[test]
fn empty_cells_may_have_a_place_of_their_own() {
    let schema = SCHEMA.replace("missing = 5", "missing = 'own'");
    let csv = "a,b,c,d,y\n7.5,u,1,k,yes\n,u,1,k,no\n\" \",u,1,k,no\n NaN ,u,1,k,yes\n1e99,u,1,k,yes\n";
    let rest = [1.0, 0.0, 0.0, 0.0, -0.8, 1.0, 0.0, 0.0];
    let row = |a: [f64; 2]| [&a[..], &rest].concat();
    let expected = [[0.5, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]].map(row).concat();
    let table = read("t.csv", csv.as_bytes(), &schema).unwrap();
    assert_eq!((table.columns, table.features), (10, expected));
    // What a line of LIBSVM leaves out is 0 and not missing; a place that was empty is filled again.
    let schema = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
                  [[column]]\nname = '2'\nrange = [-1, 1]\nmissing = 'own'\n\
                  [[column]]\nname = '3'\nrange = [-1, 1]\nmissing = 'own'\n";
    let table = read("t.svm", b"1 2:nan 3:0.5\n0 3:nan\n1 2:0.25\n", schema).unwrap();
    assert_eq!(table.features, [0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0, 0.25, 0.0, 0.0, 0.0]);
}

#[test]
fn names_of_entries_match_the_entries() {
    let schema = Schema::parse(SCHEMA).unwrap();
    let names = Encoding::of(&schema).feature_names();
    assert_eq!(names, ["a", "b=u", "b=v, w", "b=quo\"te", "b=", "c", "d=k", "d=l", "d≠"]);
    assert_eq!(Encoding::of(&schema).dimension(), names.len());
}

#[test]
fn refusals_say_where_and_never_what() {
    let header = "a,b,c,d,y\n";
    for (rows, expected) in [
        ("1,u,secret,k,yes\n", "t.csv: line 2, column `c`: not a number"),
        ("1,u,2,k,yes\n\n\n1,u,,k,yes", "t.csv: line 5, column `c`: empty"),
        ("1,\"\n\n\",2,k,yes\n1,u,inf,k,yes", "t.csv: line 5, column `c`: not a finite"),
        ("1,u,2,k,secret\n", "t.csv: line 2, column `y`: the label is none"),
        ("1,u,2,k,\n", "t.csv: line 2, column `y`: the label is empty"),
        ("1,u,2,k\n", "t.csv: line 2: not as many cells"),
        ("1,u,2,k,yes,\n", "t.csv: line 2: not as many cells"),
        ("1,u,2,k,yes\n1,\"secret,2,k,yes\n", "t.csv: line 3: not a valid record"),
        ("1,u,2,k,yes\n1,\"sec\"ret,2,k,yes\n", "t.csv: line 3: not a valid record"),
    ] {
        let message = refusal("t.csv", format!("{header}{rows}").as_bytes(), SCHEMA);
        assert!(message.starts_with(expected), "{rows:?}: {message}");
        assert!(!message.contains("sec"), "{message}");
    }
    let message = refusal("t.csv", b"a,b,c,d,y\n1,\xff,2,k,yes\n", SCHEMA);
    assert_eq!(message, "t.csv: line 2, column `b`: not UTF-8 text");
    for (content, expected) in [
        (&b""[..], "t.csv: the file is empty"),
        (b"\n\r\n", "t.csv: the file is empty"),
        (b"a,b,c,d\n", "t.csv: line 1: no column `y`"),
        (b"a,a,b,c,d,y\n", "t.csv: line 1: column `a` appears twice"),
        (b"a,\"b\n", "t.csv: line 1: not a valid record"),
    ] {
        assert!(refusal("t.csv", content, SCHEMA).starts_with(expected), "{expected}");
    }
    assert!(refusal("t.xlsx", b"", SCHEMA).contains("not that of a table"));
}

const LARGE: &str = "[label]\ncolumn = 'y'\nrange = [0, 1e6]\n[[column]]\nname = 'x'\nrange = [0, 1e6]\n\
                     [[column]]\nname = 'c'\ncategories = [\"p\\nq\", \"r\"]\n";

/// A file of many pieces, with quoted line ends and blank lines; a row number in every row.
fn large(rows: usize, long: &str) -> String {
    let mut csv = String::from("x,c,note,y\n");
    for row in 0..rows {
        let category = if row % 3 == 0 { "\"p\nq\"" } else { "r" };
        let _ = writeln!(csv, "{row},{category},{},{row}", if row % 1000 == 7 { long } else { "" });
        if row % 501 == 0 {
            csv.push_str("\n\r\n");
        }
    }
    csv
}

#[test]
fn pieces_join_without_loss_or_disorder() {
    // One record is longer than a piece.
    let csv = large(40_000, &format!("\"{}\"", "long, \n".repeat(30_000)));
    for (name, content) in [("t.csv", csv.clone().into_bytes()), ("t.csv.gz", packed(csv.as_bytes()))] {
        let table = read(name, &content, LARGE).unwrap();
        assert_eq!(table.rows, 40_000);
        for row in 0..table.rows {
            let scaled = row as f64 / 5e5 - 1.0;
            let first = f64::from(u8::from(row % 3 == 0));
            assert!((table.targets[row] - scaled).abs() < 1e-12, "{row}");
            let [x, p, r] = table.features[3 * row..3 * row + 3] else { unreachable!() };
            assert!((x - scaled).abs() < 1e-12, "{row}");
            assert_eq!((p, r), (first, 1.0 - first), "{row}");
        }
    }
}

#[test]
fn the_first_fault_is_reported_with_its_line() {
    let csv = large(60_000, "").replace("\n30001,", "\nbad,").replace("\n50001,", "\nbad,");
    let line = csv[..csv.find("bad").unwrap()].matches('\n').count() + 1;
    for _ in 0..20 {
        let expected = format!("t.csv: line {line}, column `x`: not a number");
        assert_eq!(refusal("t.csv", csv.as_bytes(), LARGE), expected);
    }
}

#[test]
fn packed_files_that_are_damaged_or_bombs_are_refused() {
    let whole = packed(large(1000, "").as_bytes());
    assert!(refusal("t.csv.gz", &whole[..whole.len() / 2], LARGE).contains("damaged"));
    assert!(refusal("t.csv.gz", b"x,c,y\n", LARGE).contains("damaged"));
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(b"x,c,y\n").unwrap();
    for _ in 0..100 {
        bomb.write_all(&b"1,r,1\n".repeat(1 << 16)).unwrap();
    }
    assert!(refusal("t.csv.gz", &bomb.finish().unwrap(), LARGE).contains("too large"));
}

#[test]
fn an_open_quote_does_not_swallow_the_file() {
    let csv = format!("x,c,y\n1,\"r,1\n{}", "1,r,1\n".repeat(12_000_000));
    assert_eq!(refusal("t.csv", csv.as_bytes(), LARGE), "t.csv: line 2: not a valid record");
}

#[test]
fn records_have_a_greatest_length() {
    let record = |length: usize| format!("x,c,note,y\n1,r,\"{}\",1\n", "n".repeat(length));
    assert_eq!(read("t.csv", record(1 << 22).as_bytes(), LARGE).unwrap().rows, 1);
    let message = refusal("t.csv", record(20 << 20).as_bytes(), LARGE);
    assert_eq!(message, "t.csv: line 2: not a valid record");
}

const INDEXED: &str = "[label]\ncolumn = 'label'\nclasses = [1, 2, 3]\n[[column]]\nname = '1'\nrange = [0, 2]\n\
                       [[column]]\nname = '17'\nrange = [-1, 1]\nmissing = 1\n\
                       [[column]]\nname = '4'\ncategories = [0, 1]\n";

#[test]
fn libsvm_rows_are_sparse() {
    let text = "+1 1:2 3:77 17:0.5 # a comment\n\n2\n3.0\t4:1\t17:nan\r\n";
    for table in [
        read("t.svm", text.as_bytes(), INDEXED).unwrap(),
        read("t.libsvm.gz", &packed(text.as_bytes()), INDEXED).unwrap(),
    ] {
        assert_eq!((table.rows, table.columns), (3, 4));
        assert_eq!(table.targets, [0.0, 1.0, 2.0]);
        assert_eq!(table.features, [1.0, 0.5, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 1.0, 0.0, 1.0]);
    }
    for (text, expected) in [
        ("1 1:2\n4\n", "t.svm: line 2, column `label`: the label"),
        ("1 1:secret\n", "t.svm: line 1, column `1`: not a number"),
        ("1 1:\n", "t.svm: line 1, column `1`: empty"),
        ("1 0:1\n", "t.svm: line 1: not a valid"),
        ("1 2:1 2:1\n", "t.svm: line 1: not a valid"),
        ("1 3:1 2:1\n", "t.svm: line 1: not a valid"),
        ("1 qid:7 1:1\n", "t.svm: line 1: not a valid"),
        ("1:1 2:1\n", "t.svm: line 1: not a valid"),
        ("1 5\n", "t.svm: line 1: not a valid"),
        ("1 99999999999999999999:1\n", "t.svm: line 1: not a valid"),
    ] {
        let message = refusal("t.svm", text.as_bytes(), INDEXED);
        assert!(message.starts_with(expected), "{text:?}: {message}");
    }
    assert!(refusal("t.svm", b"1 1:1", &INDEXED.replace("'17'", "'x'")).contains("`x` of the schema"));
    assert!(refusal("t.svm", b"1 1:1", &INDEXED.replace("'17'", "'01'")).contains("appears twice"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What any writer of CSV may write comes back as it was.
    #[test]
    fn quoted_cells_come_back(
        cells in prop::collection::vec((prop::sample::select(vec!["a", "b, c", "d\"", "\"", "e\r\nf", "g\nh", ","]), any::<bool>()), 1..60),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let values = ["a", "b, c", "d\"", "\"", "e\r\nf", "g\nh", ","];
        let quote = |text: &str, always: bool| {
            if always || text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
        };
        let mut csv = format!("c,y{ending}");
        for (cell, always) in &cells {
            let _ = write!(csv, "{},1{ending}", quote(cell, *always));
        }
        let list: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        let schema = format!(
            "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n[[column]]\nname = 'c'\ncategories = [{}]\n",
            list.join(", ")
        );
        let table = read("t.csv", csv.as_bytes(), &schema).unwrap();
        prop_assert_eq!(table.rows, cells.len());
        for (row, (cell, _)) in table.features.chunks(values.len()).zip(&cells) {
            for (entry, value) in row.iter().zip(values) {
                prop_assert_eq!(*entry > 0.5, value == *cell);
            }
        }
    }
}

const PERSONS: &str = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n[person]\ncolumn = 'who'\n[[column]]\nname = 'a'\nrange = [0, 9]\n";

fn owners(name: &str, content: &[u8], schema: &str) -> Result<Vec<u32>, String> {
    let (_folder, path) = file(name, content);
    let schema = Schema::parse(schema).unwrap();
    let table = Table::read(&path, &Encoding::of(&schema), schema.label_use());
    table.map(|table| table.owners.unwrap().of_row().to_vec()).map_err(|error| error.to_string())
}

#[test]
fn persons_are_numbered_by_first_appearance_in_every_text() {
    let text = "who,a,y\nP2,1,1\n\n\"P1\",2,0\n P2 ,3,0\n\"P,3\",4,1\nP1,5,1\n";
    assert_eq!(owners("t.csv", text.as_bytes(), PERSONS).unwrap(), [0, 1, 0, 2, 1]);
    assert_eq!(owners("t.csv.gz", &packed(text.as_bytes()), PERSONS).unwrap(), [0, 1, 0, 2, 1]);
    // Read in pieces on every core, in the order of the file.
    let mut long = String::from("who,a,y\n");
    (0..200_000).for_each(|i| writeln!(long, "{},1,1", (i * 7919) % 5003).unwrap());
    let mut known = std::collections::HashMap::new();
    let expected: Vec<u32> = (0..200_000)
        .map(|i| {
            let next = u32::try_from(known.len()).unwrap();
            *known.entry((i * 7919) % 5003).or_insert(next)
        })
        .collect();
    assert_eq!(owners("t.csv", long.as_bytes(), PERSONS).unwrap(), expected);
    assert!(owners("t.csv", b"a,y\n1,1\n", PERSONS).unwrap_err().contains("no column `who`"));
    assert!(owners("t.svm", b"1 1:2\n", PERSONS).is_err());
}

#[test]
fn one_person_may_be_in_several_files() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = ["who,a,y\n7,1,1\n8,2,0\n", "y,who,a\n0,8,3\n1,007,4\n1,9,4\n"]
        .iter()
        .enumerate()
        .map(|(k, text)| {
            let path = folder.path().join(format!("{k}.csv"));
            std::fs::write(&path, text).unwrap();
            path
        })
        .collect();
    for (kind, expected) in [("text", [0, 1, 1, 2, 3]), ("integer", [0, 1, 1, 0, 2])] {
        let text = PERSONS.replace("'who'\n", &format!("'who'\nkind = '{kind}'\n"));
        let schema = Schema::parse(&text).unwrap();
        let (table, ids) = Table::read_with_ids(&paths, &Encoding::of(&schema), schema.label_use()).unwrap();
        assert_eq!(table.owners.unwrap().of_row(), expected);
        assert_eq!((&ids[0][..], &ids[1][..]), (&b"7"[..], &b"8"[..]));
    }
}

#[test]
fn a_column_of_persons_is_neither_a_feature_nor_the_label() {
    for (column, expected) in
        [("a", "names persons and is also listed"), ("y", "names persons and is also listed")]
    {
        let message = Schema::parse(&PERSONS.replace("'who'", &format!("'{column}'"))).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    let ignored = format!("ignore = ['who']\n{PERSONS}");
    assert!(Schema::parse(&ignored).unwrap_err().contains("ignored and also listed"));
    assert!(Schema::parse(&PERSONS.replace("column = 'who'", "column = 'who'\nkind = 'float'")).is_err());
}

/// A person with many equal records makes a file that unpacks a thousandfold: who else is in the table must not depend on it.
#[test]
fn how_far_a_table_of_persons_unpacks_decides_nothing() {
    let equal = |count: usize| packed(format!("who,a,y\n{}P2,2,0\n", "P1,1,1\n".repeat(count)).as_bytes());
    for count in [1, 12_000_000] {
        let owners = owners("t.csv.gz", &equal(count), PERSONS).unwrap();
        assert_eq!((owners.len(), owners.last()), (count + 1, Some(&1)));
    }
    let records = PERSONS.replace("[person]\ncolumn = 'who'\n", "");
    assert!(refusal("t.csv.gz", &equal(12_000_000), &records).contains("too large"));
}

/// What a schema proposes for a person is a name that speaks of one; an id that may be of the record itself is only asked about.
#[test]
fn an_id_of_a_record_is_not_taken_for_a_person() {
    for (header, person, ignored) in [
        (&["id", "patient_id", "age", "y"][..], Some("patient_id"), None),
        (&["stay_id", "patient", "y"], Some("patient"), None),
        (&["visit_id", "user", "person_count", "y"], Some("user"), None),
        (&["stay_id", "age", "y"], None, Some("stay_id")),
        (&["id", "age", "y"], None, Some("id")),
        (&["age", "weight", "y"], None, None),
        (&["patient", "y"], None, None),
    ] {
        let text = pairdp_data::template(header.iter().copied(), pairdp_data::Delimiter::default());
        let filled_in = text.replacen("\"FILL IN\"", "1", 1).replace("\"FILL IN\"", "0");
        let schema = Schema::parse(&filled_in.replace("[nan, nan]", "[0, 1]")).unwrap();
        assert_eq!(schema.person().map(|person| person.column.as_str()), person, "{text}");
        assert_eq!(schema.ignored().first().map(String::as_str), ignored, "{text}");
        assert_eq!(text.contains("# [person]"), ignored.is_some());
    }
}
