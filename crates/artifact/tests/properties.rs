//! What holds for every program and every input.

use std::collections::BTreeMap;

use artifact::normal::Read;
use artifact::program::{
    Call, Find, Input, Limits, Open, Operation, Outcome, Part, Program, Rule, complete, run,
};
use artifact::tag::{FEATURES, Layout, Tagger, Weights, Whole, together_hash};
use artifact::token::Kind;
use artifact::{Artifact, Guard};
use proptest::prelude::*;
use serde_json::{Value, json};

fn find() -> impl Strategy<Value = Find> {
    let kind = prop::sample::select(&Kind::VISIBLE[..]);
    prop_oneof![
        kind.clone().prop_map(|kind| Find::Only { kind }),
        (kind, prop::collection::vec("[a-z:]{0,4}", 0..3))
            .prop_map(|(kind, before)| Find::After { kind, before }),
        ("\\PC{0,4}", "\\PC{0,3}", any::<u16>()).prop_map(|(before, after, longest)| Find::Between {
            before,
            after,
            longest
        }),
        ("[a-z(.*+)\\[\\]?]{0,8}", 0..3_u8).prop_map(|(pattern, group)| Find::Regex { pattern, group }),
        "(/[a-z0-9~]{0,3}){0,3}".prop_map(|pointer| Find::Pointer { pointer }),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!({ "a": [1, "x"] }))
    ]
}

fn open() -> impl Strategy<Value = Vec<Open>> {
    let field = ("[a-z]{1,3}", 0..5_usize, prop::collection::vec(value(), 0..3), any::<bool>());
    let field = field.prop_map(|(name, place, seen, any)| Open {
        name,
        place,
        shapes: seen.iter().map(artifact::fingerprint::outline).collect(),
        values: if any { Vec::new() } else { seen },
    });
    prop::collection::vec(field, 0..3)
}

fn tagged() -> impl Strategy<Value = Program> {
    let row = (0..FEATURES as u32, prop::array::uniform5(-1.0_f32..1.0));
    let trusting = || prop::option::of(-2.0_f32..2.0);
    let otherwise = prop::option::of(value());
    (prop::collection::vec(row, 0..2048), trusting(), trusting(), otherwise).prop_map(
        |(rows, threshold, whole, otherwise)| {
            let together =
                [vec![0], vec![1], vec![0, 1]].map(|fields| (together_hash(fields.into_iter()), 3));
            let mut together = together.to_vec();
            together.sort_unstable();
            let tagger = Tagger {
                fields: vec!["x".to_owned(), "y".to_owned()],
                weights: Weights::of(rows.iter().map(|(bucket, row)| (*bucket, row.as_slice()))),
                threshold,
                whole: whole.map(|least| Whole {
                    together,
                    most_unknown: 1.0,
                    threshold: Some(least),
                    ..Whole::default()
                }),
                ..Tagger::default()
            };
            let otherwise = otherwise.map(|value| ("z".to_owned(), value)).into_iter().collect();
            let layout = Layout { otherwise, reads: BTreeMap::from([("y".to_owned(), Read::Number)]) };
            Program::Tag { tagger: Box::new(tagger), layout }
        },
    )
}

fn program() -> impl Strategy<Value = Program> {
    let leaf = prop_oneof![
        value().prop_map(|value| Program::Constant { value }),
        (find(), prop::sample::select(&Read::ALL[..]))
            .prop_map(|(find, read)| Program::Extract { find, read }),
        tagged(),
        (prop::collection::vec(("[a-z]{1,4}", value()), 0..4), prop::option::of(value())).prop_map(
            |(rules, otherwise)| {
                let rule =
                    |(word, value)| Rule { all_of: vec![word], none_of: vec!["not".to_owned()], value };
                Program::DecisionList {
                    rules: rules.into_iter().map(rule).collect(),
                    otherwise: otherwise.map(|value| Box::new(Program::Constant { value })),
                }
            }
        ),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let operation = prop::sample::select(vec![
            Operation::Add,
            Operation::Subtract,
            Operation::Multiply,
            Operation::Divide,
        ]);
        let fields = || prop::collection::vec(("[a-z]{1,3}", inner.clone()), 0..4);
        prop_oneof![
            (inner.clone(), prop::collection::btree_map("[a-z0-9]{0,3}", value(), 0..4))
                .prop_map(|(key, table)| Program::Lookup { key: Box::new(key), table }),
            (inner.clone(), "\\PC{0,6}").prop_map(|(slot, text)| Program::Template {
                parts: vec![Part::Text(text), Part::Slot(slot)]
            }),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|of| Program::Consensus { of }),
            (operation, inner.clone(), inner.clone(), any::<u8>()).prop_map(
                |(operation, left, right, digits)| {
                    Program::Arithmetic { operation, left: Box::new(left), right: Box::new(right), digits }
                }
            ),
            (fields(), open()).prop_map(|(fields, delegated)| Program::Fields { fields, delegated }),
            fields().prop_map(|arguments| Program::Plan {
                calls: vec![Call { tool: "t".to_owned(), arguments }]
            }),
        ]
    })
}

proptest! {
    #[test]
    fn every_program_is_total_and_deterministic(program in program(), text in "\\PC{0,80}") {
        let first = run(&program, &Input::new(text.as_str()), Limits::default());
        prop_assert_eq!(first, run(&program, &Input::new(text), Limits::default()));
    }

    #[test]
    fn what_was_written_and_read_is_the_same_program(program in program(), text in "\\PC{0,60}") {
        let made = Artifact { guard: Guard { longest: 1000, ..Guard::default() }, program };
        let read: Artifact = serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
        prop_assert_eq!(&made, &read);
        prop_assert_eq!(made.answer(&Input::new(text.as_str())), read.answer(&Input::new(text)));
    }

    #[test]
    fn fewer_steps_never_make_another_answer(program in program(), text in "\\PC{0,60}", steps in 0..40_u32) {
        use artifact::program::Abstention;
        let all = run(&program, &Input::new(text.as_str()), Limits::default());
        let few = run(&program, &Input::new(text), Limits { steps, ..Limits::default() });
        prop_assert!(few == all || few == Outcome::Abstain(Abstention::Exhausted));
    }

    #[test]
    fn a_part_is_completed_by_its_open_fields_and_by_nothing_else(
        part in prop::collection::vec(("[a-z]{1,2}", value()), 0..4), open in open(),
        told in prop::collection::vec(("[a-z]{1,3}", value()), 0..4), is_like in any::<bool>(),
    ) {
        let part: serde_json::Map<_, _> = part.into_iter().collect();
        let mut told: serde_json::Map<_, _> = told.into_iter().collect();
        if is_like {
            told = open.iter().filter_map(|open| Some((open.name.clone(), open.values.first()?.clone()))).collect();
        }
        let whole = complete(&part, &open, &told);
        prop_assert_eq!(&whole, &complete(&part, &open, &told));
        if let Ok(whole) = whole {
            prop_assert!(part.iter().all(|(name, value)| whole.get(name) == Some(value)));
            prop_assert!(told.iter().all(|(name, value)| whole.get(name) == Some(value)));
            prop_assert!(whole.keys().all(|name| part.contains_key(name) || told.contains_key(name)));
            prop_assert!(open.iter().all(|open| open.admits(&whole[&open.name])));
        }
    }

    #[test]
    fn any_json_that_reads_as_an_artifact_runs(text in "\\PC{0,60}", json in "\\PC{0,120}") {
        if let Ok(read) = serde_json::from_str::<Artifact>(&json) {
            let _ = read.answer(&Input::new(text));
        }
    }
}

#[test]
fn a_program_that_is_too_deep_abstains() {
    let mut program = Program::Constant { value: json!(1) };
    for _ in 0..50 {
        program = Program::Consensus { of: vec![program] };
    }
    let outcome = run(&program, &Input::new(""), Limits::default());
    assert_eq!(outcome, artifact::program::Outcome::Abstain(artifact::program::Abstention::Exhausted));
}

/// The seed that the fuzzer begins with is a classifier that answers, so that what grows out of it is one too.
#[test]
fn the_seed_of_a_classifier_reads_and_answers() {
    let seed = include_str!("../../../fuzz/seeds/artifact/classify");
    let (program, input) = seed.split_once('\n').unwrap();
    let read: Artifact = serde_json::from_str(program).unwrap();
    let said = read.answer(&Input::new(input));
    assert!(matches!(said, artifact::program::Outcome::Answer(_)), "{said:?}");
    let again: Artifact = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!((&again, again.answer(&Input::new(input))), (&read, said));
}

/// The same for a tagger, which tells all of its fields or nothing.
#[test]
fn the_seed_of_a_tagger_reads_and_answers_whole() {
    let seed = include_str!("../../../fuzz/seeds/artifact/tag");
    let (program, input) = seed.split_once('\n').unwrap();
    let read: Artifact = serde_json::from_str(program).unwrap();
    let whole = json!({ "intent": "play", "year": null, "song": "Blue Moon", "artist": "ANN" });
    assert_eq!(read.answer(&Input::new(input)), Outcome::Answer(whole));
    // Every field that is found is as sure; but these were never found together.
    assert!(matches!(read.answer(&Input::new("play Blue Moon")), Outcome::Abstain(_)));
    let again: Artifact = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!(again, read);
}

/// And for a hybrid: what it leaves open is told by somebody else, in its place and as live has told it before, or it is no answer.
#[test]
fn the_seed_of_a_hybrid_tells_its_part_and_is_completed_in_order() {
    let seed = include_str!("../../../fuzz/seeds/artifact/hybrid");
    let (program, input) = seed.split_once('\n').unwrap();
    let read: Artifact = serde_json::from_str(program).unwrap();
    let Outcome::Partial(part, open) = read.answer(&Input::new(input)) else { panic!("a part") };
    assert_eq!((json!(part), open), (json!({ "order": 4711, "team": "billing" }), vec!["mood".to_owned()]));
    let told = |told: Value| complete(&part, read.program.open(), told.as_object().unwrap());
    let whole = told(json!({ "mood": "calm" })).unwrap();
    assert_eq!(Value::from(whole).to_string(), r#"{"order":4711,"mood":"calm","team":"billing"}"#);
    for (wrong, why) in [
        (json!({}), "`mood` is missing"),
        (json!({ "mood": "calm", "team": "sales" }), "`team` was not asked for"),
        (json!({ "mood": "bright" }), "`mood` is unlike what live says there"),
        (json!({ "mood": ["calm"] }), "`mood` is unlike what live says there"),
    ] {
        assert_eq!(told(wrong).unwrap_err().to_string(), why);
    }
}
