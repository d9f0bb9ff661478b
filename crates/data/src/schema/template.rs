//! A schema to fill in, from the names of a header.

use crate::Delimiter;
use std::fmt::Write as _;

/// What stands in a schema where somebody has to say what is publicly known. No table is read by it.
pub(crate) const FILL_IN: &str = "FILL IN";

/// A schema to fill in, made from the names in a header alone; the last is taken for the label. It is refused until it is filled in: a
/// guess would cut off every number, and nobody would notice.
pub fn template<'a>(header: impl IntoIterator<Item = &'a str>, delimiter: Delimiter) -> String {
    let mut names: Vec<&str> = header.into_iter().collect();
    let label = names.pop().unwrap_or("label");
    // An id that may be of the record itself is not taken for a person: that would protect records under the name of persons.
    let (person, unused) = match Likely::of(&names) {
        // Something has to be learned from.
        _ if names.len() < 2 => (None, None),
        Likely::Person(at) => (Some(names.remove(at)), None),
        Likely::Id(at) => (None, Some(names.remove(at))),
        Likely::Nobody => (None, None),
    };
    let mut text = String::from(
        "# What is publicly known about the table: never numbers taken from the table itself.\n\
         # A column with empty cells needs `missing`: a public value that they count as, or for numbers \"own\", which makes empty a value of its own.\n\
         private = true   # false if its records are public\n",
    );
    if delimiter != Delimiter::Comma {
        let _ = write!(
            text,
            "delimiter = \"{}\"\n# decimal = \",\"   # if 1,5 is a number between 1 and 2\n",
            delimiter.written()
        );
    }
    let ignored = unused.map(quoted).unwrap_or_default();
    let _ = write!(text, "ignore = [{ignored}]      # columns that are not used, such as an identifier\n\n");
    let label = quoted(label);
    let _ = write!(
        text,
        "[label]\ncolumn = {label}\n\
         positive = \"{FILL_IN}\"   # the value to look for; or: classes = [...], or: range = [low, high]\n\
         negative = \"{FILL_IN}\"\n\
         # For who fails first, instead of these: time = \"...\", event = \"...\", occurred = 1, censored = 0, horizon = ...\n"
    );
    if let Some(id) = unused {
        let id = quoted(id);
        let _ = write!(
            text,
            "\n# If {id} says whose each record is, and every person has one name only, move it here: each person is then protected with all of their records.\n\
             # [person]\n# column = {id}\n"
        );
    }
    if let Some(person) = person {
        let person = quoted(person);
        let _ = write!(
            text,
            "\n# Each person named here is protected with all of their records. Delete this if every record belongs to a different person.\n\
             [person]\ncolumn = {person}\nkind = \"text\"   # or \"integer\": 7 and 007 are then one person\n"
        );
    }
    for name in names {
        let name = quoted(name);
        let _ = write!(
            text,
            "\n[[column]]\nname = {name}\nrange = [nan, nan]   # {FILL_IN}: [lowest, highest]; or: categories = [...]; dates have kind = \"date\", too\n"
        );
    }
    text
}

/// What names alone, and never what repeats in a column, say about whose a record is.
enum Likely {
    /// A name that speaks of persons.
    Person(usize),
    /// An id of something: of a person, or of the record itself.
    Id(usize),
    /// Nothing.
    Nobody,
}

impl Likely {
    fn of(names: &[&str]) -> Self {
        const WORDS: [&str; 6] = ["patient", "person", "subject", "user", "client", "member"];
        let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let is_id = |name: &&String| *name == "id" || name.ends_with("_id");
        let speaks = |name: &&String| WORDS.iter().any(|word| name.contains(word));
        let at = |test: &dyn Fn(&&String) -> bool| names.iter().position(|name| test(&name));
        let named = || at(&|name| WORDS.contains(&name.as_str()));
        match at(&|name| is_id(name) && speaks(name)).or_else(named).or_else(|| at(&speaks)) {
            Some(person) => Self::Person(person),
            None => at(&is_id).map_or(Self::Nobody, Self::Id),
        }
    }
}

/// A text as TOML has it in double quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for symbol in text.chars() {
        match symbol {
            '"' | '\\' => quoted.extend(['\\', symbol]),
            _ if symbol.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(symbol));
            }
            _ => quoted.push(symbol),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    fn filled_in(template: &str) -> String {
        let text = template.replacen(&format!("\"{FILL_IN}\""), "1", 1);
        text.replace(&format!("\"{FILL_IN}\""), "0").replace("[nan, nan]", "[0, 1]")
    }

    #[test]
    fn what_nobody_filled_in_is_refused() {
        let text = template(["age", "y"], Delimiter::Comma);
        let message = |text: &str| Schema::parse(text).unwrap_err();
        assert!(message(&text).contains("`positive` is still to be filled in"), "{}", message(&text));
        let half = text.replacen(&format!("\"{FILL_IN}\""), "1", 1);
        assert!(message(&half).contains("`negative` is still to be filled in"), "{}", message(&half));
        let most = half.replace(&format!("\"{FILL_IN}\""), "0");
        assert!(
            message(&most).contains("column `age`: its range is still to be filled in"),
            "{}",
            message(&most)
        );
        assert!(Schema::parse(&filled_in(&text)).is_ok());
    }

    #[test]
    fn templates_are_schemas_whatever_the_names() {
        let names = ["age", "a \"b\"", "back\\slash", "", "line\nend\0", "\u{7f}é\u{301}漢", "y # z"];
        let schema = Schema::parse(&filled_in(&template(names, Delimiter::Tab))).unwrap();
        let columns: Vec<&str> = schema.columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!((columns.as_slice(), schema.label().column.as_str()), (&names[..6], names[6]));
    }
}
