//! Which verbs of people ask for which verbs of tools. General English, in few groups; no tool and no service is named.

use crate::words::{is_one_of, singular};

/// Tools whose name has one of the first words are asked for by any of the second.
const GROUPS: &[(&str, &str)] = &[
    (
        "send email mail message notify forward reply respond dm text contact remind alert broadcast announce tell",
        "send email mail message notify forward reply respond answer write tell inform ping dm text contact announce
         broadcast remind alert share post ask give thank greet submit deliver pass invite congratulate report",
    ),
    (
        "pay transfer refund wire reimburse charge donate deposit withdraw remit",
        "pay refund transfer send wire reimburse repay settle buy purchase donate deposit withdraw remit tip give order
         return compensate charge",
    ),
    (
        "create make new insert register open generate write draft save log record schedule plan put build start setup
         compose issue raise store",
        "create make add schedule book set put insert register open generate write draft plan arrange organise organize
         prepare start setup build compose save record log block note produce copy upload file raise issue store remind
         enter reserve",
    ),
    (
        "add append attach include join enter comment",
        "add append attach include insert put write extend invite join note enter save record log comment reply copy",
    ),
    (
        "update change edit modify adjust set rename correct replace reschedule move postpone switch revise amend reset mark
         patch upsert configure close resolve assign",
        "update change edit modify adjust set rename correct fix replace reschedule move shift postpone increase decrease
         raise lower switch revise amend reset extend mark turn delay push configure close resolve assign reassign bump",
    ),
    (
        "delete remove erase trash clear discard drop purge kick ban revoke unshare wipe unsubscribe destroy cancel stop abort
         terminate disable end",
        "delete remove erase trash clear discard drop purge clean kick ban revoke unshare eliminate wipe destroy
         unsubscribe cancel stop abort terminate undo disable end",
    ),
    (
        "share grant invite allow permit authorize authorise add",
        "share give grant invite allow permit authorize authorise provide add let",
    ),
    (
        "book reserve rent order buy purchase checkout subscribe hire",
        "book reserve rent order buy purchase make schedule arrange get subscribe hire",
    ),
    (
        "post publish upload tweet submit push release deploy",
        "post publish upload share put write create send update submit tweet announce push release deploy make",
    ),
    (
        "run execute launch trigger call invoke restart start perform click fill type press",
        "run execute start launch trigger call invoke restart deploy click fill type press test build install",
    ),
    (
        "accept approve confirm decline reject sign",
        "accept approve confirm decline reject sign agree refuse",
    ),
    (
        "copy archive sort merge export import download",
        "copy archive move sort merge export import download organise organize file save back",
    ),
];

/// Two words that ask together, the second at most four words behind the first, for what the third asks for.
pub(crate) const PHRASES: &[(&str, &str, &str)] = &[
    ("let", "know", "tell"),
    ("get", "rid", "delete"),
    ("call", "off", "cancel"),
    ("give", "access", "share"),
    ("set", "up", "create"),
    ("sign", "up", "register"),
    ("push", "back", "postpone"),
];

/// Who sends or makes one of these pays.
const MONEY: &str = "money payment transaction transfer fund invoice refund";

/// The verbs of people that ask for a tool whose name has the word `verb` and, beside it, `things`. None if the word is no
/// verb that we know.
pub(crate) fn asked_by(verb: &str, things: &[String]) -> std::vec::IntoIter<&'static str> {
    let sends = is_one_of(verb, "send create make schedule add");
    let pays = sends && things.iter().any(|thing| is_one_of(singular(thing), MONEY));
    let groups =
        GROUPS.iter().filter(move |(heads, _)| is_one_of(verb, heads) || (pays && is_one_of("pay", heads)));
    groups.flat_map(|(_, asks)| asks.split_ascii_whitespace()).collect::<Vec<_>>().into_iter()
}

/// Whether a tool whose name has this word changes something.
pub(crate) fn is_write(word: &str) -> bool {
    GROUPS.iter().any(|(heads, _)| is_one_of(word, heads))
}

/// Whether a tool whose name begins with this word only looks.
pub(crate) fn is_read(word: &str) -> bool {
    const READS: &str = "analyze browse calculate check compare compute convert count describe display fetch filter find get
        has inspect is list load look lookup peek preview query read retrieve scan search show summarize translate view
        visit what who";
    is_one_of(word, READS)
}

/// Whether a word that writes as a verb is a thing behind a verb that reads: `get_email`, `list_messages`.
pub(crate) fn is_thing(word: &str) -> bool {
    const THINGS: &str = "alert book build call change charge comment contact draft email end file forward invite issue log
        mail message new note open order payment plan post purchase record refund release rent reply run schedule set share
        start store test text transfer type update";
    is_one_of(singular(word), THINGS)
}
