//! Orders to forget other orders, in the words of several languages: a verb, and near it what is to be forgotten.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::normal::Normal;
use super::{OVERRIDE, Signal};

/// How many bytes may lie between the verb and what is to be forgotten.
const NEAR: usize = 90;
/// How many of our words may lie between them.
const BETWEEN: usize = 12;

/// What a word does in such an order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// To forget.
    Verb,
    /// Which ones: "previous", "your".
    Which,
    /// What is to be forgotten.
    Object,
}

/// The words of a language, as stems.
struct Language {
    verbs: &'static [&'static str],
    /// Without one of these an order is everyday speech; empty where the verb and the object are enough.
    which: &'static [&'static str],
    objects: &'static [&'static str],
    /// The object may stand before the verb.
    turned: bool,
}

const LANGUAGES: &[Language] = &[
    Language {
        verbs: &[
            "ignore",
            "ignoring",
            "disregard",
            "forget",
            "override",
            "overrule",
            "bypass",
            "neglect",
            "do not follow",
            "don't follow",
            "stop following",
            "do not obey",
            "pay no attention to",
            "discard",
            "abandon",
            "set aside",
            "supersede",
            "drop all",
            "cancel all",
        ],
        which: &[
            "previous",
            "prior",
            "above",
            "earlier",
            "preceding",
            "all ",
            "any ",
            "your ",
            "original",
            "system",
            "before",
            "initial",
            "existing",
            "other",
            "current",
            "everything",
            "the user",
            "foregoing",
            "past ",
        ],
        objects: &[
            "instruction",
            "prompt",
            "rule",
            "guideline",
            "direction",
            "directive",
            "command",
            "message",
            "request",
            "task",
            "context",
            "constraint",
            "training",
            "polic",
            "orders",
            "safety",
            "you were told",
            "you have been told",
            "programming",
            "restriction",
        ],
        turned: false,
    },
    Language {
        verbs: &["ignora", "ignore", "ignoren", "olvida", "olvide", "haz caso omiso", "descarta", "no sigas"],
        which: &[],
        objects: &["instruccion", "indicacion", "órdenes", "reglas anteriores", "mensajes anteriores"],
        turned: false,
    },
    Language {
        verbs: &[
            "ignore",
            "ignorez",
            "oublie",
            "oubliez",
            "ne tiens pas compte",
            "ne tenez pas compte",
            "fais abstraction",
        ],
        which: &["précédent", "antérieur", "toutes", "ci-dessus", "vos ", "tes "],
        objects: &["instructions", "consignes", "directives", "ordres", "règles"],
        turned: false,
    },
    Language {
        verbs: &[
            "ignorier",
            "vergiss",
            "vergessen sie",
            "missachte",
            "beachte nicht",
            "verwirf",
            "überschreib",
        ],
        which: &[],
        objects: &["anweisung", "instruktion", "vorgabe", "befehle", "regeln", "anordnung"],
        turned: false,
    },
    Language {
        verbs: &["ignora", "ignorate", "dimentica", "trascura", "non seguire"],
        which: &[],
        objects: &["istruzion", "regole precedenti", "ordini", "direttive"],
        turned: false,
    },
    Language {
        verbs: &["ignore", "ignora", "esqueça", "esquece", "desconsidere", "desconsidera"],
        which: &[],
        objects: &["instruções", "instrucoes", "comandos anteriores", "regras anteriores", "diretrizes"],
        turned: false,
    },
    Language {
        verbs: &["negeer", "vergeet"],
        which: &[],
        objects: &["instructies", "opdrachten", "regels", "aanwijzingen"],
        turned: false,
    },
    Language {
        verbs: &["zignoruj", "ignoruj", "zapomnij"],
        which: &[],
        objects: &["instrukcj", "polece", "zasad"],
        turned: false,
    },
    Language {
        verbs: &["игнорируй", "проигнорируй", "забудь", "не обращай внимания"],
        which: &[],
        objects: &["инструкци", "указани", "правил", "команд"],
        turned: false,
    },
    Language {
        verbs: &["yok say", "yoksay", "görmezden gel", "dikkate alma", "unut"],
        which: &[],
        objects: &["talimat", "yönerge", "komut"],
        turned: true,
    },
    Language {
        verbs: &["忽略", "无视", "無視", "忘记", "忘掉", "不要理会"],
        which: &[],
        objects: &["指令", "指示", "说明", "提示", "规则", "命令", "要求"],
        turned: true,
    },
    Language {
        verbs: &["無視して", "無視し", "忘れて"],
        which: &[],
        objects: &["指示", "命令", "プロンプト", "ルール"],
        turned: true,
    },
    Language {
        verbs: &["무시"], which: &[], objects: &["지시", "명령", "지침", "프롬프트"], turned: true
    },
    Language {
        verbs: &["تجاهل", "انس"],
        which: &[],
        objects: &["التعليمات", "الأوامر", "تعليمات"],
        turned: false,
    },
    Language {
        verbs: &["अनदेखा", "नज़रअंदाज़", "भूल जा"], which: &[], objects: &["निर्देश", "आदेश"], turned: true
    },
];

struct Finder {
    automaton: AhoCorasick,
    /// The language and part of each pattern: a word may be one of several languages.
    parts: Vec<Vec<(usize, Part)>>,
}

static FINDER: LazyLock<Option<Finder>> = LazyLock::new(|| {
    let mut words: Vec<&str> = Vec::new();
    let mut parts: Vec<Vec<(usize, Part)>> = Vec::new();
    for (index, language) in LANGUAGES.iter().enumerate() {
        for (part, list) in
            [(Part::Verb, language.verbs), (Part::Which, language.which), (Part::Object, language.objects)]
        {
            for word in list {
                match words.iter().position(|known| known == word) {
                    Some(known) => parts[known].push((index, part)),
                    None => {
                        words.push(word);
                        parts.push(vec![(index, part)]);
                    }
                }
            }
        }
    }
    // The longest word is found, and is also each shorter one that it begins with.
    let own = parts.clone();
    for (longer, parts) in words.iter().zip(&mut parts) {
        for (shorter, own) in words.iter().zip(&own) {
            if longer != shorter && longer.starts_with(shorter) {
                parts.extend(own);
            }
        }
    }
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .match_kind(MatchKind::LeftmostLongest)
        .build(&words)
        .ok()?;
    Some(Finder { automaton, parts })
});

/// Finds orders to forget other orders.
pub(super) fn find(normal: &Normal, signals: &mut Vec<Signal>) {
    let Some(finder) = FINDER.as_ref() else { return };
    let text = normal.text.as_bytes();
    let hits: Vec<_> = finder
        .automaton
        .find_iter(&normal.text)
        .filter(|hit| {
            !text[hit.start()].is_ascii_lowercase()
                || !hit.start().checked_sub(1).is_some_and(|before| text[before].is_ascii_alphanumeric())
        })
        .collect();
    let has = |hit: usize, language: usize, part: Part| {
        finder.parts[hits[hit].pattern().as_usize()].contains(&(language, part))
    };
    let mut done = 0;
    for first in 0..hits.len() {
        if hits[first].start() < done {
            continue;
        }
        for (language, part) in &finder.parts[hits[first].pattern().as_usize()] {
            let words = &LANGUAGES[*language];
            let wanted = match part {
                Part::Verb => Part::Object,
                Part::Object if words.turned => Part::Verb,
                _ => continue,
            };
            let mut which = words.which.is_empty();
            let near = (first + 1..hits.len())
                .take(BETWEEN)
                .take_while(|next| hits[*next].start() < hits[first].end() + NEAR);
            for next in near {
                which |= has(next, *language, Part::Which);
                if has(next, *language, wanted) && which && hits[next].start() >= done {
                    done = hits[next].end();
                    let span = normal.origin(hits[first].start()..done);
                    signals.push(Signal {
                        label: OVERRIDE,
                        reason: "tells the reader to drop the orders it has",
                        span,
                    });
                    break;
                }
            }
        }
    }
}
