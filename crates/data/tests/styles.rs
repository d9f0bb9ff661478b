//! Text files with other delimiters and decimal commas.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_data::{DataError, Delimiter, Encoding, LabelUse, Schema, Table};
use pairdp_units::{FrontEnd, Hint as _};

const SCHEMA: &str = "[label]\ncolumn = 'cost'\nrange = [0, 10]\n\
    [[column]]\nname = 'a'\nrange = [0, 10]\nmissing = 'own'\n\
    [[column]]\nname = 'b'\ncategories = ['x,y', '1.5', '1,5']\n\
    [[column]]\nname = 'c'\nkind = 'date'\nrange = [2024-01-01, 2024-12-31]\n";

fn read(text: &str, style: &str) -> Result<Table, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let schema = Schema::parse(&format!("{style}{SCHEMA}")).unwrap();
    Table::read(&path, &Encoding::of(&schema), LabelUse::Read(schema.label()))
}

#[test]
fn a_table_is_the_same_however_it_is_written() {
    let usual = "a,b,c,cost\n2.5,\"x,y\",2024-01-01,7.5\n,1.5,2024-12-31,1e1\n-3,\"a\"\"b\",2024-12-31,0\n";
    let expected = read(usual, "").unwrap();
    for (style, text) in [
        (
            "delimiter = ';'\n",
            "a;b;c;cost\n2.5;x,y;2024-01-01;7.5\n;1.5;2024-12-31;1e1\n-3;\"a\"\"b\";2024-12-31;0\n",
        ),
        (
            "delimiter = '|'\n",
            "a|b|c|cost\r\n2.5|x,y|2024-01-01|7.5\r\n|\"1.5\"|2024-12-31|1e1\r\n-3|a|2024-12-31|0\r\n",
        ),
        (
            "delimiter = \"\\t\"\n",
            "a\tb\tc\tcost\n2.5\tx,y\t2024-01-01\t7.5\n\t1.5\t2024-12-31\t1e1\n-3\t\"a\tb\"\t2024-12-31\t0",
        ),
        (
            "delimiter = ';'\ndecimal = ','\n",
            "a;b;c;cost\n2,5;x,y;2024-01-01;7,5\n;1.5;2024-12-31;1e1\n\"-3,0\";\"a;b\";2024-12-31;,0\n",
        ),
    ] {
        let table = read(text, style).unwrap();
        assert_eq!(
            (table.features, table.targets),
            (expected.features.clone(), expected.targets.clone()),
            "{style}"
        );
    }
}

/// 1.500 may be fifteen hundred there.
#[test]
fn a_point_among_decimal_commas_is_refused() {
    let style = "delimiter = ';'\ndecimal = ','\n";
    for (row, column) in
        [("1.500;x;2024-01-01;1", "a"), ("1.500,5;x;2024-01-01;1", "a"), ("1;x;2024-01-01;1.5", "cost")]
    {
        let error = read(&format!("a;b;c;cost\n{row}\n"), style).err().unwrap();
        let message = error.to_string();
        assert!(message.contains(&format!("line 2, column `{column}`: a point in a number")), "{message}");
        assert!(!message.contains("500"));
    }
    for row in ["1,5,0;x;2024-01-01;1", "1,;x;2024-01-01;1;", "1,2e;x;2024-01-01;1"] {
        assert!(read(&format!("a;b;c;cost\n{row}\n"), style).is_err(), "{row}");
    }
    let without = read("a;b;c;cost\n1,5;x;2024-01-01;1\n", "delimiter = ';'\n").err().unwrap();
    assert!(without.hint(FrontEnd::Command).unwrap().contains("decimal = \",\""));
}

#[test]
fn another_delimiter_is_named_and_not_guessed() {
    for (text, style, hint) in [
        ("a;b;c;cost\n1;x;2024-01-01;1\n", "", "delimiter = \";\""),
        ("a\tb\tc\tcost\n1\tx\t2024-01-01\t1\n", "", "delimiter = \"\\t\""),
        ("a,b,c,cost\n1,x,2024-01-01,1\n", "delimiter = ';'\n", "leave `delimiter` out"),
    ] {
        let error = read(text, style).err().unwrap();
        assert!(matches!(error, DataError::OtherDelimiter { .. }), "{error}");
        assert!(error.hint(FrontEnd::Command).unwrap().contains(hint), "{error}");
    }
    assert!(matches!(read("a\n1\n", ""), Err(DataError::MissingColumn { .. })));
}

#[test]
fn a_header_is_divided_by_what_stands_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, header, delimiter) in [
        ("a.csv", "id,\"a;b\",y\n", Delimiter::Comma),
        ("b.csv", "id;a;y\n", Delimiter::Semicolon),
        ("c.tsv", "id\ta\ty\n", Delimiter::Tab),
        ("d.csv", "id|a|y", Delimiter::Bar),
        ("e.csv", "y\n", Delimiter::Comma),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, header).unwrap();
        assert_eq!(Table::delimiter(&path).unwrap(), delimiter);
        let names = Table::header(&path).unwrap();
        let template = pairdp_data::template(names.iter().map(String::as_str), delimiter);
        let filled = template
            .replacen("\"FILL IN\"", "1", 1)
            .replace("\"FILL IN\"", "0")
            .replace("[nan, nan]", "[0, 1]");
        if names.len() > 1 {
            assert_eq!(Schema::parse(&filled).unwrap().style().delimiter, delimiter);
        }
    }
}
