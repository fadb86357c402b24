//! A real collector's view: what arrives after a span, and what does not.
//!
//! The variables of OpenTelemetry are read from the process, so each case runs in a process of its own:
//! this very test binary again, with `PUNK_TEST_CHILD` set.
#![cfg(feature = "otlp")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};

/// What runs in the child: one span with a field, an event, and the end of the process.
#[test]
fn child() {
    if std::env::var_os("PUNK_TEST_CHILD").is_none() {
        return;
    }
    let options = telemetry::Options {
        filter: "info",
        format: telemetry::logs::Format::Json,
        service_name: "punk",
        service_version: "1.2.3",
        secrets: Vec::new(),
    };
    match telemetry::init(&options) {
        Ok(guard) => {
            let span = tracing::info_span!(
                "the-span",
                route = "cache",
                key = "sk-proj-4fT9xQz7LmN2vB8kRw3YcJ6dHs1G"
            );
            telemetry::context::continue_trace(
                &span,
                std::env::var("PUNK_TEST_PARENT").ok().as_deref(),
                None,
            );
            span.in_scope(|| tracing::info!("the-event"));
            drop(span);
            println!("exports: {}", guard.exports_traces());
            drop(guard);
        }
        Err(error) => println!("refused: {error}"),
    }
}

fn run(variables: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env("PUNK_TEST_CHILD", "1")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find_map(|line| line.find("exports: ").or(line.find("refused: ")).map(|start| &line[start..]));
    line.unwrap_or_default().to_owned()
}

/// Takes one request and answers 200; the head and the body.
fn receive(listener: &TcpListener) -> (String, Vec<u8>) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).unwrap();
        request.extend_from_slice(&buffer[..length]);
        if let Some((head, body)) = whole(&request) {
            answer(&mut stream);
            return (head, body);
        }
    }
}

fn whole(request: &[u8]) -> Option<(String, Vec<u8>)> {
    let end = request.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8(request[..end].to_vec()).unwrap();
    let length: usize =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let body = &request[end + 4..];
    (body.len() == length).then(|| (head, body.to_vec()))
}

fn answer(stream: &mut TcpStream) {
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n")
        .unwrap();
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_span_reaches_the_collector_as_protobuf_with_the_service_name() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || receive(&listener));
    let output = run(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_SERVICE_NAME", "my-service"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=punk"),
    ]);
    assert_eq!(said(&output), "exports: true");
    let (head, body) = collector.join().unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf"), "{head}");
    assert!(head.contains("x-team: punk"), "{head}");
    for text in ["my-service", "the-span", "the-event", "cache", "service.version", "1.2.3", "[masked]"] {
        assert!(contains(&body, text), "{text} is missing");
    }
    assert!(!contains(&body, "4fT9xQz7"), "the key was sent");
}

#[test]
fn a_span_joins_the_trace_that_its_caller_began() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || receive(&listener));
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint), ("PUNK_TEST_PARENT", parent)]);
    let (_, body) = collector.join().unwrap();
    let holds = |bytes: &[u8]| body.windows(bytes.len()).any(|window| window == bytes);
    assert!(holds(&0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes()), "the trace is another");
    assert!(holds(&0x00f0_67aa_0ba9_02b7_u64.to_be_bytes()), "the parent is missing");
}

#[test]
fn the_endpoint_for_traces_is_used_as_it_is_and_the_default_name_is_ours() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/custom/path", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || receive(&listener));
    run(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &endpoint)]);
    let (head, body) = collector.join().unwrap();
    assert!(head.starts_with("POST /custom/path HTTP/1.1\r\n"), "{head}");
    assert!(contains(&body, "service.name") && contains(&body, "punk"));
}

#[test]
fn nothing_is_exported_without_an_endpoint_or_when_disabled() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    assert_eq!(said(&run(&[])), "exports: false");
    assert_eq!(said(&run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")])), "exports: false");
    assert_eq!(said(&run(&[endpoint, ("OTEL_SDK_DISABLED", "true")])), "exports: false");
    assert_eq!(said(&run(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")])), "exports: false");
}

#[test]
fn a_sampler_that_takes_nothing_sends_nothing_and_a_dead_collector_does_not_hang_the_end() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    assert_eq!(said(&run(&[endpoint, ("OTEL_TRACES_SAMPLER", "always_off")])), "exports: true");
    assert_eq!(said(&run(&[endpoint])), "exports: true");
}

#[test]
fn what_is_not_spoken_is_refused_with_the_variable() {
    assert_eq!(
        said(&run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318")])),
        "refused: OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// URL of a collector on a network you trust; it may forward by https"
    );
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    assert_eq!(
        said(&run(&[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")])),
        "refused: OTEL_EXPORTER_OTLP_PROTOCOL asks for \"grpc\", and only http/protobuf is spoken; unset it"
    );
}
