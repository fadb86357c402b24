//! A browser as far as a login needs one: it keeps cookies, follows redirects and fills in forms.

use crate::provider::{Whole, exchange};
use std::collections::BTreeMap;
use url::Url;

/// More steps than any login has.
const STEPS: usize = 20;

#[derive(Default)]
pub(crate) struct Browser {
    /// By name and path.
    cookies: BTreeMap<(String, String), String>,
}

impl Browser {
    /// Opens `url`, logs in as `name`, consents, and stops where it would be sent to `until`.
    pub(crate) fn log_in(&mut self, url: &Url, name: &str, until: &str) -> Url {
        self.walk(url, until, |_, page| {
            let form = match hidden(page, "prompt").as_deref() {
                Some("login") => format!("prompt=login&login={name}&password=any"),
                Some("consent") => "prompt=consent".to_owned(),
                _ => panic!("a page that nobody knows: {page}"),
            };
            (attribute(page, "<form", "action"), Some(form))
        })
    }

    /// Opens `url` and takes the way out that the page offers.
    pub(crate) fn cancel(&mut self, url: &Url, until: &str) -> Url {
        self.walk(url, until, |here, _| (format!("{}/abort", here.path()), None))
    }

    /// Follows redirects; on a page, goes where `act` says, with the form that it says.
    fn walk(
        &mut self,
        start: &Url,
        until: &str,
        act: impl Fn(&Url, &str) -> (String, Option<String>),
    ) -> Url {
        let (mut url, mut form) = (start.clone(), None::<String>);
        for _ in 0..STEPS {
            if url.as_str().starts_with(until) {
                return url;
            }
            let answer = self.open(&url, form.take().as_deref());
            let next = match answer.header("location") {
                Some(next) => next.to_owned(),
                None => {
                    let page = String::from_utf8(answer.body).unwrap();
                    assert_eq!(answer.status, 200, "{url}: {page}");
                    let (next, filled) = act(&url, &page);
                    form = filled;
                    next
                }
            };
            url = url.join(&next).unwrap();
        }
        panic!("a login without an end, now at {url}");
    }

    fn open(&mut self, url: &Url, form: Option<&str>) -> Whole {
        let fitting = self.cookies.iter().filter(|((_, path), _)| url.path().starts_with(path.as_str()));
        let cookies: Vec<String> = fitting.map(|((name, _), value)| format!("{name}={value}")).collect();
        let method = if form.is_some() { "POST" } else { "GET" };
        let answer = exchange(method, url, &[("cookie", cookies.join("; "))], form).unwrap();
        for (_, cookie) in answer.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let mut parts = cookie.split("; ");
            let (name, value) = parts.next().unwrap().split_once('=').unwrap();
            let path = parts.find_map(|part| part.strip_prefix("path=")).unwrap_or("/");
            self.cookies.insert((name.to_owned(), path.to_owned()), value.to_owned());
        }
        answer
    }
}

/// The value of an attribute of the first such tag.
fn attribute(page: &str, tag: &str, name: &str) -> String {
    let tag = page.split(tag).nth(1).unwrap_or_else(|| panic!("no {tag} in {page}"));
    tag.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().to_owned()
}

fn hidden(page: &str, name: &str) -> Option<String> {
    let input =
        page.split("<input type=\"hidden\"").find(|part| part.contains(&format!("name=\"{name}\"")))?;
    input.split("value=\"").nth(1)?.split('"').next().map(str::to_owned)
}
