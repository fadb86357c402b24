//! Templated support mail: a generator, and the stream of a compiled program over it.

use artifact::program::{Input, Outcome};
use artifact::text::mix;
use learning::comparator::Comparator;
use learning::course::{Change, Course, Turn};
use learning::proof::Means;
use learning::synthesis::{Compiler, Sample};
use serde_json::json;

use crate::stream::{Done, KEY, terms};

const FIRST: [&str; 24] = [
    "Ann", "Bela", "Carlos", "Dora", "Emil", "Fatima", "Goran", "Hanna", "Ivan", "Jana", "Kofi", "Lena",
    "Marek", "Nadia", "Omar", "Petra", "Quentin", "Rosa", "Stefan", "Tamara", "Ugo", "Vera", "Wanda",
    "Yusuf",
];
const LAST: [&str; 20] = [
    "Adams", "Berger", "Costa", "Duval", "Eriksen", "Fischer", "Gupta", "Horvat", "Ito", "Jansen", "Keller",
    "Lopez", "Moreau", "Novak", "Okafor", "Perez", "Rossi", "Silva", "Toth", "Weber",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Category, and the ways such a mail is written.
const KINDS: [(&str, [&str; 3]); 6] = [
    (
        "refund",
        [
            "Hello,\n\nI would like a refund for order {id}, placed on {date}. I paid {money} for {count} items.\n\nRegards,\n{name}\n",
            "Please refund me. Order {id} from {date}, {count} items, {money} each was the price.\n\nRegards,\n{name}\n",
            "Hi team, my order {id} of {date} has to be refunded. The price was {money} apiece and I bought {count} items.\n\nRegards,\n{name}\n",
        ],
    ),
    (
        "delivery",
        [
            "Hello,\n\nwhere is my parcel? Order {id} was placed on {date}: {count} items at {money}.\n\nRegards,\n{name}\n",
            "My parcel has not arrived. It is order {id} from {date}, {count} items for {money} each.\n\nRegards,\n{name}\n",
            "Order {id} of {date} is late, the parcel should be here. I ordered {count} items and paid {money}.\n\nRegards,\n{name}\n",
        ],
    ),
    (
        "damage",
        [
            "Hello,\n\norder {id} came broken. Bought on {date}, {count} items, {money} per piece.\n\nRegards,\n{name}\n",
            "What I got is broken: {count} items of order {id}, {date}, each {money}.\n\nRegards,\n{name}\n",
            "The goods of order {id} from {date} are broken. There were {count} items at {money}.\n\nRegards,\n{name}\n",
        ],
    ),
    (
        "invoice",
        [
            "Hello,\n\nI need the invoice for order {id}, {date}. It was {count} items for {money} each.\n\nRegards,\n{name}\n",
            "Could you send an invoice? Order {id}, date {date}, {count} items, unit price {money}.\n\nRegards,\n{name}\n",
            "For our books we need an invoice of order {id} of {date}: {count} items, {money} apiece.\n\nRegards,\n{name}\n",
        ],
    ),
    (
        "cancel",
        [
            "Hello,\n\nplease cancel order {id}. I placed it on {date}: {count} items, {money} each.\n\nRegards,\n{name}\n",
            "I want to cancel. Order {id}, {date}, {count} items at {money}.\n\nRegards,\n{name}\n",
            "Kindly cancel what I bought on {date} under {id}: {count} items for {money} each.\n\nRegards,\n{name}\n",
        ],
    ),
    (
        "address",
        [
            "Hello,\n\nI have moved. Please change the address of order {id} ({date}, {count} items, {money} each).\n\nRegards,\n{name}\n",
            "The address of order {id} from {date} is wrong. It is about {count} items at {money}.\n\nRegards,\n{name}\n",
            "New address for order {id}, {date}: {count} items, {money} apiece.\n\nRegards,\n{name}\n",
        ],
    ),
];

/// The `at`-th mail of `seed`, with what a model makes of it.
pub(crate) fn mail(seed: u64, at: u64) -> Sample {
    let mut state = mix(seed) ^ mix(at);
    let mut pick = |most: usize| {
        state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        (state % most as u64) as usize
    };
    let (category, ways) = KINDS[pick(KINDS.len())];
    let text = ways[pick(ways.len())];
    let (year, month, day) = (2023 + pick(3), pick(12), 13 + pick(15));
    let written = match pick(4) {
        0 => format!("{year}-{:02}-{day:02}", month + 1),
        1 => format!("{day} {} {year}", MONTHS[month]),
        2 => format!("{} {day}, {year}", MONTHS[month]),
        _ => format!("{day:02}.{:02}.{year}", month + 1),
    };
    let (whole, cents) = (1 + pick(900), pick(100));
    let (price, currency) = match pick(3) {
        0 => (format!("${whole}.{cents:02}"), "USD"),
        1 => (format!("€{whole}.{cents:02}"), "EUR"),
        _ => (format!("{whole}.{cents:02} GBP"), "GBP"),
    };
    let count = 2 + pick(30);
    let id = format!("{}-{}", ["AX", "BK", "CQ"][pick(3)], 10_000 + pick(90_000));
    let name = format!("{} {}", FIRST[pick(FIRST.len())], LAST[pick(LAST.len())]);
    let cents = whole * 100 + cents;
    let input = text
        .replace("{id}", &id)
        .replace("{date}", &written)
        .replace("{money}", &price)
        .replace("{count}", &count.to_string())
        .replace("{name}", &name);
    let number = |cents: usize| artifact::normal::as_value(cents as f64 / 100.0).unwrap_or_default();
    let output = json!({
        "category": category,
        "order": id,
        "date": format!("{year}-{:02}-{day:02}", month + 1),
        "price": number(cents),
        "currency": currency,
        "total": number(cents * count),
        "customer": name,
        "answer": format!("Dear {name}, we are looking into order {id}."),
    });
    Sample { input, output }
}

/// A stream of `count` mails: what became of each, when it was promoted, and the compiler at the end.
pub(crate) fn serve(seed: u64, count: usize) -> (Vec<Done>, Option<usize>, Compiler) {
    let mut compiler = Compiler::new(Comparator::Exact);
    let mut course = Course::new(terms(0.01, Means::Shadow));
    let (mut done, mut promoted) = (Vec::with_capacity(count), None);
    for at in 0..count {
        let sample = mail(seed, at as u64);
        let answer = compiler.artifact().map(|artifact| artifact.answer(&Input::new(sample.input.as_str())));
        let right = match &answer {
            Some(Outcome::Answer(answer)) => Some(compiler.comparator().agree(answer, &sample.output)),
            _ => None,
        };
        let turn = if right.is_some() { course.turn(KEY, &(at as u64).to_be_bytes()) } else { Turn::Live };
        done.push(Done { served: turn == Turn::Serve, right: right == Some(true), trust: 0.0 });
        if turn == Turn::Serve {
            continue;
        }
        if turn == Turn::Compare
            && course.compared(right == Some(true), 0.0) == Some(Change::Promoted)
            && promoted.is_none()
        {
            promoted = Some(at + 1);
        }
        compiler.learn(sample, right == Some(true));
    }
    (done, promoted, compiler)
}
