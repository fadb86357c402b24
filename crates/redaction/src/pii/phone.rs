//! Telephone numbers: the spellings of many countries, and what the words around a number say of it.
//!
//! A number is *told by its shape* when nothing else is written so: a country code, the North American 3-3-4, a leading zero in
//! groups. Everything else that could be one (`467 3395`) wants a word such as "call" or "fax" near it. Dates, amounts, parts
//! of longer numbers and what is called an order or an invoice are none. Looks at most 80 bytes ahead.

use super::context::said_before;
use super::number::{Group, Joint, Number, first_digit, may_join};
use super::reader::{Looked, Match, Reader, is_word_byte, sight};
use crate::detector::{Class, Detector, Digits, Sight, Trigger, View};

pub(super) const PHONE: Detector = Detector {
    rule: "phone",
    class: Class::Phone,
    trigger: Trigger::Digits(may_be),
    look: |view: View<'_>| -> Sight { sight(find(&Reader::new(view))) },
};

/// Seven digits, or fewer with others behind them.
fn may_be(digits: Digits) -> bool {
    let joined = match digits.after {
        [b' ' | b'-' | b'.' | b'/', next] => next.is_ascii_digit() || next == b'(',
        [b'(', next] => next.is_ascii_digit(),
        [b')', next] => next.is_ascii_digit() || matches!(next, b' ' | b'-' | b'.'),
        [after, _] => matches!(after, 0xc2 | 0xe2),
    };
    (joined || digits.length >= 7) && !is_word_byte(digits.before[1]) && !b"$#/@%".contains(&digits.before[1])
}

/// What a number's shape says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Nothing else is written so.
    Telling,
    /// It could be one.
    Possible,
    /// It is something else.
    Other,
}

fn find(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let Some(first) = first_digit(reader)? else { return Ok(None) };
    if !may_start(reader, first) {
        return Ok(None);
    }
    // Most numbers are short and stand alone.
    let end = reader.run(first, |byte| byte.is_ascii_digit())?;
    if end < first + 7 && !reader.byte(end)?.is_some_and(may_join) {
        return Ok(None);
    }
    if end == first + 4 && is_day(reader, first)? {
        return Ok(None);
    }
    let Some(number) = Number::read(reader, first)? else { return Ok(None) };
    let start = number.start;
    if number.groups().len() == 1 && number.groups()[0].len() < 7
        || reader.before(start).is_some_and(|byte| is_word_byte(byte) || b"$#/@%".contains(&byte))
        || has_currency(reader.behind(start, 4))
    {
        return Ok(None);
    }
    // What is no part of it may follow in the same spelling: a telephone number and a year.
    for count in (1..=number.groups().len()).rev() {
        let shape = shape(reader, &number, count);
        if shape == Shape::Other {
            continue;
        }
        let end = number.groups()[count - 1].end;
        let Some(whole) = extended(reader, end)? else { continue };
        let told = (shape == Shape::Telling && !said_before(reader, start, 20, OTHERS))
            || said_before(reader, start, 48, CALLED)
            || (count == number.groups().len() && called_after(reader, whole)?);
        if told {
            return Ok(Some((start..whole, Class::Phone, "phone")));
        }
    }
    Ok(None)
}

/// Whether a number can start with the digit at `first`: not within another number or a word.
fn may_start(reader: &Reader<'_>, first: usize) -> bool {
    match reader.before(first) {
        Some(b'_') => false,
        Some(byte) if byte.is_ascii_alphabetic() => false,
        // `order-1234567`
        Some(b'-') if reader.behind(first, 2).first().is_some_and(u8::is_ascii_lowercase) => false,
        Some(b' ') => !Number::continues(reader, first, b" ") || is_apart(reader, first),
        _ => !Number::continues(reader, first, b"-.,/:)"),
    }
}

/// Whether the digits before the space are a number of their own: a postcode at the end of an address has five or more.
fn is_apart(reader: &Reader<'_>, first: usize) -> bool {
    reader.behind(first - 1, 12).iter().rev().take_while(|byte| byte.is_ascii_digit()).count() >= 5
}

fn has_currency(behind: &[u8]) -> bool {
    let behind = behind.strip_suffix(b" ").unwrap_or(behind);
    ["€", "£", "¥", "$", "₹"].iter().any(|sign| behind.ends_with(sign.as_bytes()))
}

/// What the first `count` groups look like.
fn shape(reader: &Reader<'_>, number: &Number, count: usize) -> Shape {
    let groups = &number.groups()[..count];
    let mut digits = [0; 19];
    let Some(digits) = number.digits(reader, count, &mut digits) else { return Shape::Other };
    let joints = || groups.iter().skip(1).map(|group| group.joint);
    let lengths: [usize; 9] = std::array::from_fn(|place| groups.get(place).map_or(0, Group::len));
    let slashes = joints().filter(|joint| *joint == Joint::Slash).count();
    let total = digits.len();
    if !(7..=15).contains(&total) || slashes > 1 || is_date(digits, &lengths[..count]) {
        return Shape::Other;
    }
    if number.plus {
        let grouped = count > 1 || total >= 10;
        return if digits[0] != 0 && total >= 8 && grouped { Shape::Telling } else { Shape::Other };
    }
    let bracketed = number.bracket && joints().next() == Some(Joint::Close);
    if number.bracket && !bracketed {
        return Shape::Possible;
    }
    let punctuated = joints().all(|joint| joint != Joint::Space) || bracketed;
    // An area may be joined otherwise than the rest: `070-778 91 36`.
    let even = bracketed || joints().skip(1).all(|joint| Some(joint) == joints().nth(1));
    let telling = match (&lengths[..count], digits[0]) {
        ([3, 3, 4], lead) => even && (punctuated || lead != 1),
        ([1, 3, 3, 4], 1) | ([3, 3, 3, 4], 0) => true,
        ([2..=5, ..], 0) if digits[1] == 0 => count >= 3 && total >= 11,
        // An area and the rest of it.
        ([2..=5, 5..=8], 0) => (10..=12).contains(&total) && joints().all(|joint| joint != Joint::Dot),
        ([2..=4, 3..=5, 3..=4], _) if bracketed => true,
        // Russia and China.
        ([1, 3, 3, 2, 2], 7 | 8) => true,
        ([3, 4, 4], 1) => digits[1] >= 3,
        ([2..=5, rest @ ..], 0) => {
            (count >= 3 || bracketed)
                && even
                && (9..=11).contains(&total)
                && rest.iter().all(|length| *length >= 2)
        }
        _ => false,
    };
    // Decimals and thousands: `1.5000000`, `12 345 678`.
    let counted =
        count > 1 && lengths[0] < 4 && lengths[1..count].iter().all(|length| *length == 3) && !bracketed;
    let pieces = count > 1 && lengths[..count].contains(&1) && digits[0] != 0 && digits[0] != 1;
    if telling {
        Shape::Telling
    } else if pieces
        || (counted && joints().any(|joint| joint == Joint::Dot))
        || is_national(&lengths[..count], joints())
    {
        Shape::Other
    } else {
        Shape::Possible
    }
}

/// Whether a day is written at `first` as most programs write it: `2024-05-17`.
fn is_day(reader: &Reader<'_>, first: usize) -> Looked<bool> {
    let mut digits = [0; 8];
    for (place, digit) in (0..10).filter(|place| !matches!(place, 4 | 7)).zip(&mut digits) {
        match reader.byte(first + place)? {
            Some(byte @ b'0'..=b'9') => *digit = byte - b'0',
            _ => return Ok(false),
        }
    }
    let joined = reader.byte(first + 4)? == Some(b'-') && reader.byte(first + 7)? == Some(b'-');
    let goes_on = reader.byte(first + 10)?.is_some_and(|byte| byte.is_ascii_digit());
    Ok(joined && !goes_on && is_date(&digits, &[4, 2, 2]))
}

/// Whether the digits are a day: year, month and day in either order.
fn is_date(digits: &[u8], lengths: &[usize]) -> bool {
    let two = |place: usize| digits[place] * 10 + digits[place + 1];
    match lengths {
        [4, 2, 2, ..] => {
            (1..=12).contains(&two(4)) && (1..=31).contains(&two(6)) && matches!(digits[0], 1 | 2)
        }
        [2, 2, 4, ..] => {
            let (left, right) = (two(0), two(2));
            (1..=31).contains(&left)
                && (1..=31).contains(&right)
                && left.min(right) <= 12
                && matches!(digits[4], 1 | 2)
        }
        [4, 4, ..] => matches!(two(0), 19 | 20) && matches!(two(4), 19 | 20),
        [8] => matches!(two(0), 19 | 20) && (1..=12).contains(&two(4)) && (1..=31).contains(&two(6)),
        _ => false,
    }
}

/// Whether the groups are those of an American social security number.
fn is_national(lengths: &[usize], mut joints: impl Iterator<Item = Joint>) -> bool {
    lengths == [3, 2, 4] && joints.all(|joint| joint == Joint::Hyphen)
}

/// Where the number ends with its extension; none if something else goes on behind it.
fn extended(reader: &Reader<'_>, end: usize) -> Looked<Option<usize>> {
    let gap = reader.run(end, |byte| byte == b' ' || byte == b',')?.min(end + 2);
    for word in ["extension", "ext.", "ext", "x", "#"] {
        let Some(mut position) = reader.literal(gap, word)? else { continue };
        if reader.byte(position)? == Some(b' ') && word != "x" {
            position += 1;
        }
        let digits = reader.run(position, |byte| byte.is_ascii_digit())?;
        if (1..=6).contains(&(digits - position)) && reader.ends(digits)? {
            return Ok(Some(digits));
        }
    }
    let next = reader.byte(end)?;
    if next.is_some_and(|byte| is_word_byte(byte) || byte == b'@' || byte == b'%') {
        return Ok(None);
    }
    // `1200-1000 = 200` is a sum.
    let sum = reader.literal(end, "=")?.is_some() || reader.literal(end, " =")?.is_some();
    let goes_on =
        matches!(next, Some(b',' | b':')) && reader.byte(end + 1)?.is_some_and(|byte| byte.is_ascii_digit());
    Ok((!goes_on && !sum).then_some(end))
}

/// Whether what follows says that it is a telephone number: `416 60 039 office`.
fn called_after(reader: &Reader<'_>, end: usize) -> Looked<bool> {
    let gap = reader.run(end, |byte| matches!(byte, b' ' | b'-' | b'('))?;
    if gap == end || gap > end + 3 {
        return Ok(false);
    }
    for word in ["office", "fax", "mobile", "cell", "mob", "tel", "phone", "landline"] {
        if let Some(after) = reader.literal(gap, word)?
            && reader.ends(after)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Words that make a number one to call.
const CALLED: &[&str] = &[
    "answer*",
    "anruf*",
    "appel*",
    "call",
    "calling",
    "callback",
    "celular",
    "cell",
    "cellphone",
    "cellulare",
    "contact",
    "desk",
    "dial*",
    "fax",
    "faxnummer",
    "gsm",
    "handy",
    "handynummer",
    "hotline",
    "landline",
    "llam*",
    "message",
    "messages",
    "mob",
    "mobil",
    "mobile",
    "mobilnummer",
    "mobiltelefon",
    "movil",
    "móvil",
    "msisdn",
    "phone",
    "phones",
    "phoned",
    "puhelin",
    "reach",
    "ring",
    "rufnummer",
    "sms",
    "tel",
    "teléfono",
    "telefon*",
    "telefoon*",
    "telephone*",
    "texted",
    "texting",
    "tfno",
    "tlf",
    "tél",
    "téléphone",
    "whatsapp",
    "wa.me",
    "телефон",
    "тел",
];

/// Words that make a number something else.
const OTHERS: &[&str] = &[
    "account",
    "amount",
    "asin",
    "barcode",
    "bestellung",
    "build",
    "case",
    "claim",
    "commande",
    "confirmation",
    "ean",
    "factura",
    "facture",
    "id",
    "invoice",
    "isbn*",
    "issn",
    "item",
    "lot",
    "model",
    "order",
    "part",
    "pedido",
    "po",
    "policy",
    "product",
    "rechnung",
    "receipt",
    "ref",
    "reference",
    "reservation",
    "serial",
    "sku",
    "ssn",
    "ticket",
    "tracking",
    "upc",
    "nhs",
    "sin",
    "bsn",
    "tin",
    "version",
];

#[cfg(test)]
mod tests {
    use super::super::tests::{found, nothing};

    #[test]
    fn numbers_that_their_shape_tells_are_found() {
        for number in [
            "+1-984-182-0190",
            "+46 (0)8 928 571 38",
            "+447700 921 916",
            "+49 30 901820",
            "+14155552671",
            "(415) 555-2671",
            "(579)888-3058",
            "415-555-2671",
            "415.555.2671",
            "1-800-555-0199",
            "001-518-640-0854",
            "0044 20 7946 0958",
            "020 7946 0958",
            "01.84.17.61.18",
            "0490 75 40 81",
            "(08) 8747 6301",
            "345-899-3560x4587",
            "415-555-2671 ext. 12",
            "0171 0703312",
            "06-22875422",
            "070-778 91 36",
            "(11) 95175-1750",
            "8 (944) 463-06-74",
            "138 0456 9912",
            "+33\u{a0}6\u{a0}12\u{a0}34\u{a0}56\u{a0}78",
        ] {
            found(&format!("It is {number}, she said."), number);
            found(&format!("It is {number}"), number);
        }
    }

    #[test]
    fn numbers_that_words_tell_are_found() {
        found("Call me on 9472 7916? Thanks", "9472 7916");
        found("Fax: 9498777106", "9498777106");
        found("Phone:\n60-56-85-91", "60-56-85-91");
        found("416 60 039 office", "416 60 039");
        found("phone_number=4155552671&x=1", "4155552671");
        found("{\"mobilePhone\":\"01711234567\"}", "01711234567");
    }

    #[test]
    fn other_numbers_are_left_alone() {
        nothing("on 2024-05-30, 30.05.2024, 05/30/2024 10:20, 20240530 and 2000-04-16 11:34:35");
        nothing("9472 7916 and 467 3395 and 60-56-85-91 and 12 345 678");
        nothing("costs $415-555-2671, 1,234,567.89 or € 10 000 000");
        nothing("order 415-555-2671, ISBN 978-3-16-148410-0, ISBN 0-306-40615-2");
        nothing("v1.234.5678 and 192.0.2.146 and 3.1415926535 and 1700000000");
        nothing("id a415-555-2671 or 415-555-2671b, 550e8400-e29b-41d4-a716-446655440000");
        nothing("https://example.com/415-555-2671 2019-2021 2019 2020 2021");
    }
}
