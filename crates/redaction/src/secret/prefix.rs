//! Tokens that say what they are by how they begin.
//!
//! The list holds beginnings that providers have published; any case of them is taken, since formats are often quoted in another. A token that
//! is not in the list, but is made in the same way, is recognised by `token.rs`.

use crate::detector::{Class, LOOK_AHEAD, Sight, View};
use crate::secret::shape::Shape;
use crate::words::Edges;

/// How tokens with this beginning go on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefix {
    pub(crate) text: &'static str,
    /// How many characters follow at least.
    least: usize,
    body: Body,
}

/// What the rest of a token is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Body {
    /// Letters, digits, `_` and `-`.
    Word,
    /// Those, and dots.
    Dotted,
    /// Those of base64, of both alphabets.
    Base64,
    /// Hexadecimal digits, and `-` between groups of them.
    Hex,
    /// Capitals and digits, in groups.
    Capital,
    /// As [`Self::Word`], and mostly numbers.
    Numbers,
    /// Exactly so many letters and digits as our own tokens have.
    Ours,
}

const fn word(text: &'static str, least: usize) -> Prefix {
    Prefix { text, least, body: Body::Word }
}

const fn dotted(text: &'static str, least: usize) -> Prefix {
    Prefix { text, least, body: Body::Dotted }
}

const fn base64(text: &'static str, least: usize) -> Prefix {
    Prefix { text, least, body: Body::Base64 }
}

const fn hex(text: &'static str, least: usize) -> Prefix {
    Prefix { text, least, body: Body::Hex }
}

const fn capital(text: &'static str, least: usize) -> Prefix {
    Prefix { text, least, body: Body::Capital }
}

/// 43 characters that are thrown, and six to check them by.
const fn ours(text: &'static str) -> Prefix {
    Prefix { text, least: 49, body: Body::Ours }
}

const fn numbers(text: &'static str, least: usize) -> Prefix {
    Prefix { text, least, body: Body::Numbers }
}

/// The beginnings that are known.
pub(crate) const PREFIXES: &[Prefix] = &[
    // Our own.
    ours("pk_"),
    ours("ps_"),
    ours("sv_"),
    ours("in_"),
    // Source code hosts and package registries.
    word("ghp_", 30),
    word("gho_", 30),
    word("ghu_", 30),
    word("ghs_", 30),
    word("ghr_", 30),
    word("github_pat_", 22),
    dotted("glpat-", 18),
    dotted("glrt-", 18),
    dotted("gldt-", 18),
    dotted("glft-", 18),
    dotted("glsoat-", 18),
    dotted("glcbt-", 18),
    dotted("glptt-", 18),
    dotted("gloas-", 18),
    dotted("glagent-", 18),
    dotted("glimt-", 18),
    dotted("glffct-", 18),
    word("GR1348941", 18),
    base64("ATBB", 24),
    base64("ATATT3", 40),
    base64("ATCTT3", 40),
    word("npm_", 30),
    base64("pypi-AgEI", 30),
    hex("rubygems_", 40),
    word("CLOJARS_", 50),
    word("dckr_pat_", 20),
    word("dckr_oat_", 20),
    word("oy2", 40),
    word("cio", 32),
    word("jfrt@", 20),
    word("AKCp", 40),
    base64("cmVmd", 40),
    word("sgp_", 30),
    word("sntrys_", 30),
    base64("sntrys_eyJ", 30),
    hex("sntryu_", 40),
    word("sqp_", 30),
    word("squ_", 30),
    word("sqa_", 30),
    word("lin_api_", 24),
    word("lin_oauth_", 24),
    word("CCIPAT_", 24),
    word("CCIPRJ_", 24),
    word("bkua_", 20),
    word("bkaj_", 20),
    // Clouds and platforms.
    capital("AKIA", 16),
    capital("ASIA", 16),
    capital("ABIA", 16),
    capital("ACCA", 16),
    capital("A3T", 17),
    capital("AROA", 16),
    base64("ABSK", 60),
    base64("bedrock-api-key-", 16),
    word("AIza", 30),
    base64("ya29.", 20),
    word("GOCSPX-", 20),
    base64("1//0", 30),
    base64("AccountKey=", 40),
    base64("SharedAccessKey=", 40),
    hex("doo_v1_", 60),
    hex("dop_v1_", 60),
    hex("dor_v1_", 60),
    word("LTAI", 16),
    word("AQVN", 30),
    dotted("t1.", 80),
    word("YCAJE", 20),
    word("YCP", 30),
    word("HRKU-", 30),
    word("dapi", 30),
    hex("dapi", 30),
    word("dp.pt.", 30),
    dotted("dp.st.", 30),
    dotted("dp.ct.", 30),
    dotted("dp.sa.", 30),
    dotted("dp.scim.", 30),
    dotted("dp.audit.", 30),
    dotted("hvs.", 20),
    dotted("hvb.", 20),
    dotted("hvr.", 20),
    dotted("s.", 24),
    dotted("b.", 90),
    word("pul-", 36),
    base64("fo1_", 30),
    base64("fm1a_", 50),
    base64("fm1r_", 50),
    base64("fm2_", 50),
    word("rnd_", 24),
    word("nfp_", 30),
    word("vercel_", 20),
    word("vcp_", 20),
    word("railway_", 20),
    word("pscale_tkn_", 30),
    word("pscale_oauth_", 30),
    word("pscale_pw_", 30),
    dotted("pscale_", 30),
    word("sbp_", 30),
    word("sb_secret_", 20),
    word("tskey-", 20),
    word("tskey-auth-", 16),
    word("tk-us-", 30),
    hex("v1.0-", 60),
    word("ico-", 30),
    word("dt0c01.", 24),
    dotted("dt0c01.", 60),
    dotted("dt0s01.", 24),
    dotted("dt0s16.", 24),
    word("prefect-", 30),
    word("pnu_", 30),
    word("api_org_", 30),
    word("nvapi-", 40),
    word("esecret_", 20),
    base64("eyJrIjoi", 40),
    base64("glc_", 30),
    word("glsa_", 30),
    word("NRAK-", 24),
    word("NRII-", 24),
    word("NRJS-", 16),
    word("NRIQ-", 24),
    word("NRRA-", 24),
    word("NRSP-", 24),
    word("ddp_", 30),
    word("ddpat_", 20),
    word("phc_", 30),
    word("phx_", 30),
    word("hcaik_", 40),
    // Payments, commerce, messaging.
    word("sk_live_", 10),
    word("sk_test_", 10),
    word("rk_live_", 10),
    word("rk_test_", 10),
    word("sk_prod_", 10),
    word("rk_prod_", 10),
    word("whsec_", 20),
    word("pk_live_", 16),
    word("pk_test_", 16),
    word("sq0atp-", 20),
    word("sq0csp-", 30),
    word("sq0idp-", 20),
    word("EAAA", 40),
    word("EAAl", 40),
    word("EAAM", 60),
    word("EAAC", 60),
    hex("shpat_", 30),
    hex("shpca_", 30),
    hex("shppa_", 30),
    hex("shpss_", 30),
    hex("shpua_", 30),
    hex("shptka_", 30),
    hex("shippo_live_", 30),
    hex("shippo_test_", 30),
    word("duffel_test_", 30),
    word("duffel_live_", 30),
    numbers("FLWSECK_TEST-", 12),
    numbers("FLWSECK-", 12),
    numbers("FLWPUBK_TEST-", 12),
    numbers("FLWPUBK-", 12),
    word("EZAK", 40),
    word("EZTK", 40),
    word("access-sandbox-", 30),
    word("access-production-", 30),
    word("access-development-", 30),
    word("live_", 24),
    word("test_", 24),
    word("PMAK-", 40),
    numbers("xoxb-", 20),
    numbers("xoxp-", 20),
    numbers("xoxe-", 20),
    numbers("xoxa-", 12),
    numbers("xoxr-", 10),
    numbers("xoxo-", 6),
    numbers("xoxs-", 6),
    numbers("xoxc-", 12),
    numbers("xoxd-", 12),
    dotted("xoxe.xoxb-", 40),
    dotted("xoxe.xoxp-", 40),
    numbers("xapp-", 8),
    word("SG.", 20),
    dotted("SG.", 40),
    word("xkeysib-", 40),
    word("xsmtpsib-", 40),
    hex("SK", 32),
    hex("AC", 32),
    word("key-", 30),
    word("pubkey-", 30),
    word("rdme_", 40),
    word("tfp_", 30),
    word("secret_", 30),
    word("ntn_", 30),
    dotted("patt", 40),
    word("figd_", 30),
    word("sm_aat_", 14),
    word("sm_pat_", 14),
    word("sm_sat_", 14),
    word("fio-u-", 40),
    word("dnkey-", 40),
    word("p8e-", 28),
    capital("API-", 24),
    word("s-s4t2ud-", 40),
    word("s-s4t2af-", 40),
    dotted("sl.", 60),
    // Models.
    word("sk-ant-", 16),
    word("sk-proj-", 16),
    word("sk-svcacct-", 16),
    word("sk-admin-", 16),
    word("sk-or-v1-", 30),
    word("sk-", 20),
    word("hf_", 30),
    word("pplx-", 30),
    word("gsk_", 30),
    word("xai-", 30),
    word("r8_", 30),
    word("sk_", 28),
    word("tgp_v1_", 20),
    word("fw_", 20),
    word("csk-", 30),
    word("pcsk_", 30),
    // Keys and the like.
    capital("AGE-SECRET-KEY-1", 40),
    capital("A3-", 26),
    base64("ops_eyJ", 60),
    word("4b1d", 36),
    word("sha256~", 40),
    dotted("pat.", 50),
    dotted("sat.", 50),
    word("_gitlab_session=", 24),
    word("xprv", 90),
    word("pk_", 30),
    word("pst-", 20),
    word("vault:v", 20),
    word("key_", 24),
];

/// So many letters and digits without a joint are no name.
const UNBROKEN: usize = 16;

/// Beginnings that names have as well: what follows has to look like chance.
const LIKE_WORDS: &[&str] = &[
    "s.", "b.", "t1.", "sl.", "pat.", "sat.", "sk_", "pk_", "fw_", "r8_", "rnd_", "key_", "key-", "pubkey-",
    "live_", "test_", "secret_", "vercel_", "railway_", "prefect-", "api_org_", "pul-", "ico-", "pst-",
    "SG.", "API-", "A3-", "v1.0-", "fo1_",
];

/// Whether a body is the rest of a name and the value it is given: `key_id=…`.
fn is_name_of_value(body: &[u8]) -> bool {
    let name = body.split(|byte| *byte == b'=').next().unwrap_or_default();
    name.len() < body.len()
        && name.len() <= 12
        && name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

impl Prefix {
    fn is_like_a_word(&self) -> bool {
        LIKE_WORDS.contains(&self.text)
    }

    /// A beginning with a joint in it is known in any case; without one, it is only letters, and has to be to the letter.
    pub(crate) fn edges(&self) -> Edges {
        let joint = self.text.bytes().any(|byte| !byte.is_ascii_alphanumeric());
        if joint && self.text.len() > 3 { Edges::Beginning } else { Edges::Prefix }
    }

    /// Whether nothing but a token goes on like this, even one that somebody made up: samples are formed like what they are samples of, and
    /// so are keys that were chosen to look harmless.
    fn is_certain(&self, body: &[u8]) -> bool {
        match self.body {
            Body::Ours => body.len() == self.least,
            Body::Capital => {
                body.len() == 16
                    && self.text.len() == 4
                    && body.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            }
            _ => {
                let is_joint = |byte: &u8| !byte.is_ascii_alphanumeric();
                self.text.ends_with(['_', '-', '.'])
                    && !self.is_like_a_word()
                    && body.split(is_joint).any(|part| part.len() >= UNBROKEN)
            }
        }
    }
}

/// What the token is that begins as `prefix` does.
pub(crate) fn look(prefix: &Prefix, view: View<'_>) -> Sight {
    let from = view.at + prefix.text.len();
    let mut end = from + view.text[from..].iter().take_while(|byte| prefix.body.holds(**byte)).count();
    if end == view.text.len() && !view.ended && end - view.at < LOOK_AHEAD {
        return Sight::Wait;
    }
    while end > from && view.text[end - 1] == b'.' {
        end -= 1;
    }
    let body = &view.text[from..end];
    let to_the_letter = view.text[view.at..from] == *prefix.text.as_bytes();
    let is_token = || to_the_letter && prefix.is_certain(body) || is_random(prefix, body);
    if body.len() < prefix.least || (prefix.is_like_a_word() && is_name_of_value(body)) || !is_token() {
        return Sight::Nothing;
    }
    Sight::Found { range: view.at..end, class: Class::Secret, rule: "token-with-known-prefix" }
}

impl Body {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Ours => byte.is_ascii_alphanumeric(),
            Self::Word | Self::Numbers => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'='),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'='),
            Self::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.')
            }
            Self::Hex => byte.is_ascii_hexdigit() || byte == b'-' || byte.is_ascii_alphanumeric(),
            Self::Capital => {
                byte.is_ascii_uppercase()
                    || byte.is_ascii_digit()
                    || byte == b'-'
                    || byte.is_ascii_lowercase()
            }
        }
    }
}

/// Whether the rest of a token is no word.
fn is_random(prefix: &Prefix, body: &[u8]) -> bool {
    let shape = Shape::of(body);
    if shape.distinct < 4 {
        return false;
    }
    match prefix.body {
        Body::Ours => false,
        Body::Hex => shape.digits * 12 >= shape.length && shape.beyond_hex <= 2 + shape.length / 8,
        Body::Capital => {
            shape.upper + shape.digits >= shape.length - 5 - shape.length / 8 && shape.chance > 0.0
        }
        Body::Numbers => shape.digits >= 1 || shape.chance > 1.0,
        // A long beginning that is no word leaves little doubt.
        _ if prefix.text.len() >= 5 && Shape::of(prefix.text.as_bytes()).chance > 0.5 => {
            shape.chance > 0.0 || shape.digits >= 2
        }
        _ => shape.chance > 0.15 * shape.length as f32 && shape.chance > 3.0,
    }
}
