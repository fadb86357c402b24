//! AWS Signature Version 4, as far as it takes to put an object: everything in headers, nothing in the query.

use crypto::{Secret, SecretString, hmac_sha256};
use ledger::sha256;
use schema::Timestamp;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Who signs, and for where.
pub(super) struct Signer<'a> {
    pub(super) access_key_id: &'a str,
    pub(super) secret_access_key: &'a SecretString,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
}

impl Signer<'_> {
    /// The value of `authorization` for a request to `path`, which is escaped as it is sent. `headers` are all that is
    /// signed: in lower case, trimmed, in the order of their names, with `host` among them.
    pub(super) fn authorization(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        payload: &str,
        date: &str,
    ) -> String {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let signed = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        // The empty line is the query.
        let request = format!("{method}\n{path}\n\n{lines}\n{signed}\n{payload}");
        let day = date.get(..8).unwrap_or(date);
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let text = format!("{ALGORITHM}\n{date}\n{scope}\n{}", sha256(request.as_bytes()));
        let signature = hex::encode(hmac_sha256(self.key(day).expose(), text.as_bytes()));
        let credential = format!("{}/{scope}", self.access_key_id);
        format!("{ALGORITHM} Credential={credential},SignedHeaders={signed},Signature={signature}")
    }

    /// The key of one day, region and service.
    fn key(&self, day: &str) -> Secret<[u8; 32]> {
        let first = SecretString::new(format!("AWS4{}", self.secret_access_key.expose()));
        let day = Secret::new(hmac_sha256(first.expose().as_bytes(), day.as_bytes()));
        let region = Secret::new(hmac_sha256(day.expose(), self.region.as_bytes()));
        let service = Secret::new(hmac_sha256(region.expose(), self.service.as_bytes()));
        Secret::new(hmac_sha256(service.expose(), b"aws4_request"))
    }
}

/// A moment as AWS writes it: `20130524T000000Z`.
pub(super) fn amz_date(at: Timestamp) -> String {
    let text = at.to_string();
    let seconds = text.split('.').next().unwrap_or(&text);
    seconds.chars().filter(char::is_ascii_alphanumeric).chain(['Z']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn signature(authorization: &str) -> &str {
        authorization.rsplit_once("Signature=").unwrap().1
    }

    #[test]
    fn the_get_vanilla_vector_of_the_test_suite_is_reproduced() {
        let secret = SecretString::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned());
        let signer = Signer {
            access_key_id: "AKIDEXAMPLE",
            secret_access_key: &secret,
            region: "us-east-1",
            service: "service",
        };
        let headers = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
        let authorization = signer.authorization("GET", "/", &headers, EMPTY, "20150830T123600Z");
        assert_eq!(
            authorization,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,\
             SignedHeaders=host;x-amz-date,\
             Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
    }

    #[test]
    fn the_documented_examples_of_s3_are_reproduced() {
        let secret = SecretString::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned());
        let signer = Signer {
            access_key_id: "AKIAIOSFODNN7EXAMPLE",
            secret_access_key: &secret,
            region: "us-east-1",
            service: "s3",
        };
        let date = "20130524T000000Z";
        let payload = sha256(b"Welcome to Amazon S3.").to_string();
        let put = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            ("host", "examplebucket.s3.amazonaws.com"),
            ("x-amz-content-sha256", payload.as_str()),
            ("x-amz-date", date),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        assert_eq!(
            signature(&signer.authorization("PUT", "/test%24file.text", &put, &payload, date)),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
        let get = [
            ("host", "examplebucket.s3.amazonaws.com"),
            ("range", "bytes=0-9"),
            ("x-amz-content-sha256", EMPTY),
            ("x-amz-date", date),
        ];
        assert_eq!(
            signature(&signer.authorization("GET", "/test.txt", &get, EMPTY, date)),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
    }

    #[test]
    fn a_moment_is_written_as_aws_does() {
        let at: Timestamp = "2013-05-24T00:00:00.123Z".parse().unwrap();
        assert_eq!(amz_date(at), "20130524T000000Z");
    }
}
