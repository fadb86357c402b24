//! A store that takes objects only if their requests are signed, by AWS's words: everything is made again from the request
//! as it came, and nothing of our signing code is used.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::receiver::Seen;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Whether a request is signed with this key for this region.
pub(crate) fn is_signed(seen: &Seen, (id, secret): (&str, &str), region: &str) -> bool {
    let authorization = seen.header("authorization").strip_prefix("AWS4-HMAC-SHA256 ").unwrap();
    let part = |name: &str| {
        let mut parts = authorization.split(',').map(str::trim);
        parts.find_map(|part| part.strip_prefix(&format!("{name}="))).unwrap().to_owned()
    };
    let (date, names) = (seen.header("x-amz-date"), part("SignedHeaders"));
    let scope = format!("{}/{region}/s3/aws4_request", &date[..8]);
    if part("Credential") != format!("{id}/{scope}")
        || hex(&Sha256::digest(&seen.body)) != seen.header("x-amz-content-sha256")
    {
        return false;
    }
    // Whatever else begins with `x-amz-` must be signed, and so must the host.
    let mut wanted = seen.headers.keys().map(|name| name.as_str()).filter(|name| name.starts_with("x-amz-"));
    let is_in = |name: &str| names.split(';').any(|signed| signed == name);
    if !is_in("host") || !wanted.all(is_in) {
        return false;
    }
    let (path, query) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
    let mut canonical = vec![seen.method.clone(), path.to_owned(), query.to_owned()];
    canonical.extend(names.split(';').map(|name| format!("{name}:{}", seen.header(name).trim())));
    canonical.extend([String::new(), names.clone(), seen.header("x-amz-content-sha256").to_owned()]);
    let hashed = hex(&Sha256::digest(canonical.join("\n").as_bytes()));
    let key = [&date[..8], region, "s3", "aws4_request"];
    let key = key.into_iter().fold(format!("AWS4{secret}").into_bytes(), |key, part| mac(&key, part));
    part("Signature") == hex(&mac(&key, &format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashed}")))
}
