//! Pictures and documents as addresses, the way OpenAI's wires write them.

use crate::at::At;
use crate::part::ImageSource;
use crate::request::Refused;

/// Reads an address, or the bytes in a `data:` address.
pub(crate) fn from_url(at: &At<'_>) -> Result<ImageSource, Refused> {
    let url = at.text()?;
    let Some(data) = url.strip_prefix("data:") else {
        return match url {
            "" => Err(at.expected("an address")),
            url => Ok(ImageSource::Url { url: url.to_owned() }),
        };
    };
    let bytes = data.split_once(";base64,").filter(|(kind, data)| !kind.is_empty() && !data.is_empty());
    let (media_type, data) =
        bytes.ok_or_else(|| at.refused("expected `data:<media type>;base64,<bytes>`"))?;
    Ok(ImageSource::Base64 { media_type: media_type.to_owned(), data: data.to_owned() })
}

/// The address of it; what is with a vendor has none.
pub(crate) fn to_url(source: &ImageSource) -> Option<String> {
    match source {
        ImageSource::Url { url } => Some(url.clone()),
        ImageSource::Base64 { media_type, data } => Some(format!("data:{media_type};base64,{data}")),
        ImageSource::FileId { .. } => None,
    }
}
