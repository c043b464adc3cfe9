//! What a schema says of merging, with gaps filled: `metadata` in every resource, and
//! deduced types where there is no schema.

use super::element::Element;
use super::{Reset, object_meta};
use crate::arena::{Absent, ListType, Node, View};
use serde_json::Value;

/// Objects of any kind inside another, opaque to Go's types.
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/// The type of a value while walking.
#[derive(Clone, Copy)]
pub(super) struct Type<'a> {
    view: Option<View<'a>>,
    place: Place,
}

/// Where in an object the walk is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root(Reset),
    Metadata(Reset),
    Embedded,
    Below,
}

/// What lies below a key.
pub(super) struct Child<'a> {
    pub(super) ty: Type<'a>,
    /// A struct's field, as opposed to a map's key. Structs' fields are owned by their leaves alone.
    pub(super) declared: bool,
    /// The schema allows it.
    pub(super) known: bool,
    /// What Go's types hold when it is not set: a struct by value, or a field without omitempty.
    pub(super) absent: Absent,
}

impl<'a> Type<'a> {
    /// An object's type; without a view it is deduced.
    pub(super) fn root(view: Option<View<'a>>, reset: Reset) -> Self {
        Type { view, place: Place::Root(reset) }
    }

    /// The same object with nothing skipped.
    pub(super) fn unfiltered(self) -> Self {
        Type { place: Place::Embedded, ..self }
    }

    const DEDUCED: Type<'static> = Type { view: None, place: Place::Below };

    pub(super) fn node(self) -> Option<&'a Node> {
        self.view.map(View::node)
    }

    fn below(view: View<'a>) -> Self {
        let place = if view.node().embedded { Place::Embedded } else { Place::Below };
        Type { view: Some(view), place }
    }

    /// A map that is replaced as a whole.
    pub(super) fn atomic_map(self) -> bool {
        self.node().is_some_and(|node| node.atomic || node.name.as_deref() == Some(RAW_EXTENSION))
    }

    /// A list's way of merging.
    pub(super) fn list(self) -> &'a ListType {
        self.node().map_or(&ListType::Atomic, |node| &node.list_type)
    }

    /// The type of a list's elements.
    pub(super) fn item(self) -> Type<'a> {
        match self.view.and_then(View::items) {
            Some(view) => Type::below(view),
            None => Type::DEDUCED,
        }
    }

    /// Keys that this request can't write.
    pub(super) fn resets(self, key: &str) -> bool {
        match self.place {
            Place::Root(Reset::Status) => key == "status",
            Place::Root(Reset::AllButStatus) => !matches!(key, "status" | "metadata" | "apiVersion" | "kind"),
            Place::Metadata(Reset::AllButStatus) => !object_meta::unowned(key) && key != "annotations",
            _ => false,
        }
    }

    /// Keys that no one owns or that this request can't write.
    pub(super) fn skips(self, key: &str) -> bool {
        match self.place {
            Place::Root(_) => matches!(key, "apiVersion" | "kind") || self.resets(key),
            Place::Metadata(_) => object_meta::unowned(key) || self.resets(key),
            Place::Embedded | Place::Below => false,
        }
    }

    /// What lies below a key.
    pub(super) fn child(self, key: &str) -> Child<'a> {
        let implicit = |ty| Child { ty, declared: true, known: true, absent: Absent::Leave };
        match (self.place, key) {
            (Place::Root(reset), "metadata") => {
                return Child {
                    absent: Absent::Zero,
                    ..implicit(Type { view: Some(object_meta::view()), place: Place::Metadata(reset) })
                };
            }
            (Place::Embedded, "metadata") => return implicit(Type::below(object_meta::view())),
            (Place::Root(_) | Place::Embedded, "apiVersion" | "kind") => return implicit(Type::DEDUCED),
            _ => {}
        }
        let deduced = |known| Child { ty: Type::DEDUCED, declared: false, known, absent: Absent::Leave };
        let Some(view) = self.view else { return deduced(true) };
        let node = view.node();
        if let Some((field, below)) = view.field(key) {
            return Child { ty: Type::below(below), declared: true, known: true, absent: field.absent };
        }
        match node.values {
            Some(id) => Child { ty: Type::below(view.at(id)), ..deduced(true) },
            None => deduced(node.preserve_unknown || node.fields.is_empty()),
        }
    }

    /// The name of a list element, or none if it has none: then the list counts as atomic.
    pub(super) fn element(self, item: &Value) -> Option<Element> {
        match self.list() {
            ListType::Atomic => None,
            ListType::Set => match item {
                Value::Null | Value::Array(_) | Value::Object(_) => None,
                scalar => Some(Element::Value(scalar.clone())),
            },
            ListType::Map(keys) => {
                let mut found: Vec<(String, Value)> =
                    keys.iter().filter_map(|key| Some((key.clone(), self.key(item, key)?.clone()))).collect();
                found.sort_by(|(a, _), (b, _)| a.cmp(b));
                (!found.is_empty()).then_some(Element::Key(found))
            }
        }
    }

    /// A key of a list element, or that key's default.
    fn key<'v>(self, item: &'v Value, key: &str) -> Option<&'v Value>
    where
        'a: 'v,
    {
        let map = item.as_object()?;
        map.get(key).or_else(|| self.item().node()?.fields.get(key)?.default.as_ref())
    }

    /// The names of all elements, or none if one has none.
    pub(super) fn elements(self, items: &[Value]) -> Option<Vec<Element>> {
        items.iter().map(|item| self.element(item)).collect()
    }
}
