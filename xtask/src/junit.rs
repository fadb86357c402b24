//! The little of JUnit's XML that the reports of the test programs need: names, times, failures.

/// One test as the report has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TestCase {
    pub(crate) name: String,
    pub(crate) seconds: f64,
    pub(crate) failed: bool,
}

/// The tests of a report, in its order. What is no report has none.
pub(crate) fn tests(xml: &str) -> Vec<TestCase> {
    // Text inside the report is escaped, so `<testcase ` is always the element.
    xml.split("<testcase ").skip(1).filter_map(test).collect()
}

fn test(element: &str) -> Option<TestCase> {
    let (head, body) = element.split_once('>')?;
    let name = attribute(head, "name")?;
    // Not every program says what a test belongs to.
    let name = attribute(head, "classname").map_or(name.clone(), |class| format!("{class} {name}"));
    let seconds = attribute(head, "time").and_then(|time| time.parse().ok()).unwrap_or(0.0);
    // A test that passed on a later try has `flakyFailure` instead, and did pass.
    let failed = ["<failure", "<error"].iter().any(|tag| body.contains(tag));
    Some(TestCase { name, seconds, failed })
}

fn attribute(head: &str, name: &str) -> Option<String> {
    // With the blank before it, since `classname` also ends in `name`.
    let wanted = format!(" {name}=\"");
    let head = format!(" {head}");
    let start = head.find(&wanted)? + wanted.len();
    let value = head[start..].split('"').next()?;
    let unescaped =
        value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    Some(unescaped.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ci" tests="3" failures="1" errors="0" uuid="u" time="1.9">
    <testsuite name="ledger" tests="3" disabled="0" errors="0" failures="1">
        <testcase name="chain::holds" classname="ledger" timestamp="t" time="0.250">
        </testcase>
        <testcase name="chain::breaks" classname="ledger" timestamp="t" time="1.500">
            <failure type="test failure with exit code 101">thread &lt;testcase panicked</failure>
        </testcase>
        <testcase name="a&lt;b&gt; &amp;amp;" classname="ledger::it" timestamp="t" time="0.001"/>
    </testsuite>
</testsuites>"#;

    #[test]
    fn names_times_and_failures_are_read() {
        let expected = [
            ("ledger chain::holds", 0.25, false),
            ("ledger chain::breaks", 1.5, true),
            ("ledger::it a<b> &amp;", 0.001, false),
        ];
        let read = tests(REPORT);
        let read: Vec<_> = read.iter().map(|test| (test.name.as_str(), test.seconds, test.failed)).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn a_test_may_belong_to_nothing() {
        let read = tests(r#"<testcase name="GET /runs" time="0.5" /><testcase name="GET /x"><failure/>"#);
        let read: Vec<_> = read.iter().map(|test| (test.name.as_str(), test.failed)).collect();
        assert_eq!(read, [("GET /runs", false), ("GET /x", true)]);
    }

    #[test]
    fn what_is_no_report_has_no_tests() {
        assert_eq!(tests(""), []);
        assert_eq!(tests("<testcase"), []);
        assert_eq!(tests("<testcase name=\"x"), []);
    }
}
