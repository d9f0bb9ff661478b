/// Who reads a message, and in whose words a way out is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontEnd {
    /// The `pairdp` command.
    Command,
    /// The Python package.
    Python,
}

impl FrontEnd {
    /// A setting with a value, as it is written here: `--step-size 0.1`, or `step_size=0.1`.
    pub fn setting(self, name: &str, value: &str) -> String {
        match self {
            Self::Command => format!("`--{} {value}`", name.replace('_', "-")),
            Self::Python if value.parse::<f64>().is_ok() => format!("`{name}={value}`"),
            Self::Python => format!("`{name}=\"{value}\"`"),
        }
    }

    /// One of two ways to say the same.
    pub fn either<T>(self, command: T, python: T) -> T {
        match self {
            Self::Command => command,
            Self::Python => python,
        }
    }
}

/// The way out of an error, kept apart from its message.
///
/// An error says in one line what was refused, in words of nobody's; the hint says what to do about it, in the words of whoever
/// reads it. The command line prints it on a line of its own, Python appends it to the exception.
pub trait Hint: std::error::Error {
    /// What the user can do, if we know.
    fn hint(&self, to: FrontEnd) -> Option<String>;

    /// What kind of refusal this is, for programs: a word that stays the same between versions.
    fn code(&self) -> &'static str {
        "refused"
    }

    /// Whether the machine did not do its part, rather than the request being refused.
    fn is_failure(&self) -> bool {
        false
    }

    /// Both in one text, the hint on a line of its own.
    fn explained(&self, to: FrontEnd) -> String {
        match self.hint(to) {
            Some(hint) => format!("{self}\nhint: {hint}"),
            None => self.to_string(),
        }
    }
}

/// What cannot happen needs no way out.
impl Hint for std::convert::Infallible {
    fn hint(&self, _: FrontEnd) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_as_each_front_end_has_them() {
        let said = |name, value| [FrontEnd::Command, FrontEnd::Python].map(|to| to.setting(name, value));
        assert_eq!(said("step_size", "0.1"), ["`--step-size 0.1`", "`step_size=0.1`"]);
        assert_eq!(
            said("calibration", "certified"),
            ["`--calibration certified`", "`calibration=\"certified\"`"]
        );
    }
}
