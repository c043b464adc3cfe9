//! JSON that keeps the order of keys.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number, Value};
use std::fmt;

/// A JSON document.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A number
    Number(Number),
    /// A text
    Text(String),
    /// A list
    List(Vec<Document>),
    /// An object, its keys as they were written
    Map(Vec<(String, Document)>),
}

impl Document {
    /// The same with every object's keys sorted.
    pub fn sorted(self) -> Self {
        match self {
            Document::List(items) => Document::List(items.into_iter().map(Document::sorted).collect()),
            Document::Map(entries) => {
                let mut entries: Vec<_> =
                    entries.into_iter().map(|(key, value)| (key, value.sorted())).collect();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                Document::Map(entries)
            }
            other => other,
        }
    }
}

impl From<&Value> for Document {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Document::Null,
            Value::Bool(flag) => Document::Bool(*flag),
            Value::Number(number) => Document::Number(number.clone()),
            Value::String(text) => Document::Text(text.clone()),
            Value::Array(items) => Document::List(items.iter().map(Document::from).collect()),
            Value::Object(map) => {
                Document::Map(map.iter().map(|(key, value)| (key.clone(), Document::from(value))).collect())
            }
        }
    }
}

impl From<Document> for Value {
    fn from(document: Document) -> Self {
        match document {
            Document::Null => Value::Null,
            Document::Bool(flag) => Value::Bool(flag),
            Document::Number(number) => Value::Number(number),
            Document::Text(text) => Value::String(text),
            Document::List(items) => items.into_iter().map(Value::from).collect(),
            Document::Map(entries) => {
                Value::Object(entries.into_iter().map(|(key, value)| (key, Value::from(value))).collect())
            }
        }
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Document::Null => serializer.serialize_unit(),
            Document::Bool(flag) => serializer.serialize_bool(*flag),
            Document::Number(number) => number.serialize(serializer),
            Document::Text(text) => serializer.serialize_str(text),
            Document::List(items) => serializer.collect_seq(items),
            Document::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON or YAML document")
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_none<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Document, D::Error> {
        deserializer.deserialize_any(Reader)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Document, E> {
        Ok(Document::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Document, E> {
        Ok(Document::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Document, E> {
        Ok(Document::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Document, E> {
        Number::from_f64(number)
            .map(Document::Number)
            .ok_or_else(|| E::custom(format!("{number} is no JSON number")))
    }

    fn visit_str<E>(self, text: &str) -> Result<Document, E> {
        Ok(Document::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Document, E> {
        Ok(Document::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Document, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Document::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut entries: Vec<(String, Document)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Document>()? {
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some((_, slot)) => *slot = value,
                None => entries.push((key, value)),
            }
        }
        Ok(Document::Map(entries))
    }
}
