//! Values that travel as text: one spelling, read by `FromStr`, written by `Display`.

/// Gives a type with `Display` and `FromStr` its serde form and its `Debug`: the text itself.
#[macro_export]
macro_rules! serde_as_text {
    ($type:ty $(, $generic:ident: $bound:path)?) => {
        impl<$($generic: $bound)?> ::std::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
        impl<$($generic: $bound)?> ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de $(, $generic: $bound)?> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'de, str> as ::serde::Deserialize<'de>>::deserialize(deserializer)?;
                text.parse().map_err(::serde::de::Error::custom)
            }
        }
    };
}
