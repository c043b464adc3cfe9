//! Macros that write what every kind and every set of words has in common, and the predicates of `skip_serializing_if`.

/// Defines the struct of a kind over its spec and status, with serde as the API has it and `kube_core::Resource`.
macro_rules! kind {
    (@scope Cluster) => { ::kube_core::ClusterResourceScope };
    (@scope Namespace) => { ::kube_core::NamespaceResourceScope };
    (
        $(#[$doc:meta])*
        $name:ident: $group:literal, $version:literal, $plural:literal, $scope:ident, $spec:ty $(, $status:ty)?
    ) => {
        $(#[$doc])*
        #[derive(::serde::Deserialize, Clone, Debug, Default, PartialEq)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            /// Standard metadata.
            pub metadata: ::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            /// What is wanted.
            pub spec: $spec,
            $(
                /// What was seen.
                pub status: Option<$status>,
            )?
        }

        impl $name {
            /// API group.
            pub const GROUP: &'static str = $group;
            /// Version within the group.
            pub const VERSION: &'static str = $version;
            /// `group/version`.
            pub const API_VERSION: &'static str = concat!($group, "/", $version);
            /// Kind.
            pub const KIND: &'static str = stringify!($name);
            /// Plural name, as in URLs.
            pub const PLURAL: &'static str = $plural;

            /// Decodes an object; unknown fields are ignored.
            pub fn from_value(value: &::serde_json::Value) -> Result<Self, ::serde_json::Error> {
                ::serde::Deserialize::deserialize(value)
            }

            /// Encodes the object, with `apiVersion` and `kind`.
            pub fn to_value(&self) -> Result<::serde_json::Value, ::serde_json::Error> {
                ::serde_json::to_value(self)
            }

            /// Name of the object; empty if it has none yet.
            pub fn name(&self) -> &str {
                self.metadata.name.as_deref().unwrap_or_default()
            }

            /// Namespace of the object; empty if it has none.
            pub fn namespace(&self) -> &str {
                self.metadata.namespace.as_deref().unwrap_or_default()
            }

            /// Value of a label; empty if it is absent.
            pub fn label(&self, key: &str) -> &str {
                self.metadata.labels.as_ref().and_then(|l| l.get(key)).map_or("", String::as_str)
            }

            /// Value of an annotation; empty if it is absent.
            pub fn annotation(&self, key: &str) -> &str {
                self.metadata.annotations.as_ref().and_then(|l| l.get(key)).map_or("", String::as_str)
            }

            /// Whether deletion has begun.
            pub fn is_deleting(&self) -> bool {
                self.metadata.deletion_timestamp.is_some()
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeStruct;
                let mut object = serializer.serialize_struct(Self::KIND, 5)?;
                object.serialize_field("apiVersion", Self::API_VERSION)?;
                object.serialize_field("kind", Self::KIND)?;
                object.serialize_field("metadata", &self.metadata)?;
                object.serialize_field("spec", &self.spec)?;
                $(
                    let status: &Option<$status> = &self.status;
                    if let Some(status) = status {
                        object.serialize_field("status", status)?;
                    }
                )?
                object.end()
            }
        }

        impl ::kube_core::Resource for $name {
            type DynamicType = ();
            type Scope = kind!(@scope $scope);

            fn kind(_: &()) -> ::std::borrow::Cow<'_, str> {
                Self::KIND.into()
            }
            fn group(_: &()) -> ::std::borrow::Cow<'_, str> {
                Self::GROUP.into()
            }
            fn version(_: &()) -> ::std::borrow::Cow<'_, str> {
                Self::VERSION.into()
            }
            fn plural(_: &()) -> ::std::borrow::Cow<'_, str> {
                Self::PLURAL.into()
            }
            fn meta(&self) -> &::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut ::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

/// Defines an enum over fixed words; the first is the default. Words after `|` are read but not written.
macro_rules! string_enum {
    (
        $(#[$doc:meta])*
        pub enum $name:ident {
            $(#[$first_doc:meta])* $first:ident = $first_text:literal $(| $first_old:literal)*,
            $($(#[$variant_doc:meta])* $variant:ident = $text:literal $(| $old:literal)*,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(::serde::Serialize, ::serde::Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[$first_doc])*
            #[default]
            #[serde(rename = $first_text $(, alias = $first_old)*)]
            $first,
            $(
                $(#[$variant_doc])*
                #[serde(rename = $text $(, alias = $old)*)]
                $variant,
            )*
        }

        impl $name {
            /// All words.
            pub const WORDS: &'static [&'static str] = &[$first_text $(, $text)*];

            /// The word, as the API has it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::$first => $first_text,
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::vocabulary::WordError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $first_text $(| $first_old)* => Ok(Self::$first),
                    $($text $(| $old)* => Ok(Self::$variant),)*
                    _ => Err($crate::vocabulary::WordError { given: text.to_owned(), allowed: Self::WORDS }),
                }
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}

pub(crate) use {kind, string_enum};

pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Keeps an explicit `null` apart from an absent value.
pub(crate) fn some_value<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<serde_json::Value>, D::Error> {
    serde::Deserialize::deserialize(deserializer).map(Some)
}
