//! What may be said about how to learn, as the core itself reads it: Python lists no name, choice or default a second time.

use crate::gateway::Refused;
use pairdp_learn::Settings;
use pairdp_model::Task;
use pairdp_pairwise::LossKind;
use pyo3::prelude::*;
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize as _, forward_to_deserialize_any};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::fmt;

/// A JSON object: for every setting its default, and what it holds: a list of names, or `"bool"`, `"int"` or `"float"`.
#[pyfunction]
pub(crate) fn settings_table() -> PyResult<String> {
    let defaults = serde_json::to_value(Settings::default()).map_err(unreadable)?;
    let entry = |name: &&'static str| {
        let entry = json!({ "default": defaults.get(name), "holds": held(name)? });
        Ok::<_, Refused>(((*name).to_owned(), entry))
    };
    let table: Map<String, Value> = asked::<Settings>().names.iter().map(entry).collect::<Result<_, _>>()?;
    Ok(Value::Object(table).to_string())
}

/// A JSON object: the losses that each task knows.
#[pyfunction]
pub(crate) fn losses_by_task() -> PyResult<String> {
    let mut table = Map::new();
    for task in asked::<Task>().names {
        let mut losses = Vec::new();
        for loss in asked::<LossKind>().names {
            let settings = Settings { task: read(task)?, loss: Some(read(loss)?), ..Settings::default() };
            if settings.problem(1).is_ok() {
                losses.push(json!(loss));
            }
        }
        table.insert((*task).to_owned(), losses.into());
    }
    Ok(Value::Object(table).to_string())
}

/// Settings as Python says them.
pub(crate) fn read_settings(text: &str) -> Result<Settings, Refused> {
    serde_json::from_str(text).map_err(|error| Refused::value(format!("settings: {error}")))
}

fn read<T: DeserializeOwned>(name: &'static str) -> Result<T, Refused> {
    let text: StrDeserializer<'_, serde_json::Error> = name.into_deserializer();
    T::deserialize(text).map_err(unreadable)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unreadable(error: serde_json::Error) -> Refused {
    Refused::value(error.to_string())
}

/// What a setting holds.
fn held(name: &'static str) -> Result<Value, Refused> {
    let asked = RefCell::new(Asked::default());
    let entry = std::iter::once((name, Question(&asked)));
    // It never answers, so there is no result.
    let _ = Settings::deserialize(MapDeserializer::<_, Unanswered>::new(entry));
    match asked.into_inner() {
        Asked { names: [], kind: "" } => Err(Refused::value(format!("nothing is known of `{name}`"))),
        Asked { names: [], kind } => Ok(kind.into()),
        Asked { names, .. } => Ok(names.into()),
    }
}

/// What a type asks a deserializer for.
fn asked<T: DeserializeOwned>() -> Asked {
    let asked = RefCell::new(Asked::default());
    let _ = T::deserialize(Question(&asked));
    asked.into_inner()
}

/// The names of an enumeration or of a structure's fields, or a plain kind.
#[derive(Default)]
struct Asked {
    names: &'static [&'static str],
    kind: &'static str,
}

/// A deserializer that notes what it is asked for and answers nothing.
#[derive(Clone, Copy)]
struct Question<'a>(&'a RefCell<Asked>);

impl IntoDeserializer<'_, Unanswered> for Question<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl Question<'_> {
    fn note<T>(self, names: &'static [&'static str], kind: &'static str) -> Result<T, Unanswered> {
        *self.0.borrow_mut() = Asked { names, kind };
        Err(Unanswered)
    }
}

impl<'de> Deserializer<'de> for Question<'_> {
    type Error = Unanswered;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unanswered> {
        self.note(&[], "")
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unanswered> {
        visitor.visit_some(self)
    }
    fn deserialize_bool<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unanswered> {
        self.note(&[], "bool")
    }
    fn deserialize_f64<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unanswered> {
        self.note(&[], "float")
    }
    fn deserialize_u32<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unanswered> {
        self.note(&[], "int")
    }
    fn deserialize_u64<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unanswered> {
        self.note(&[], "int")
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Unanswered> {
        self.note(variants, "")
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Unanswered> {
        self.note(fields, "")
    }
    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// No answer.
#[derive(Debug)]
struct Unanswered;

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer")
    }
}

impl std::error::Error for Unanswered {}

impl serde::de::Error for Unanswered {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}
