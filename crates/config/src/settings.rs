//! Settings: what holds, and where each of it comes from.

use crate::key::{DefaultValue, Key};
use crate::keys;
use crate::origin::Origin;
use crate::source::Assignment;
use crate::value::Value;
use crypto::SecretString;
use schema::Network;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything that can be set, with what it is set to.
#[derive(Debug)]
pub struct Settings(Vec<Setting>);

/// One key with what holds for it.
#[derive(Debug)]
pub struct Setting {
    /// The key.
    pub key: &'static Key,
    /// The key's path, with the name of its table filled in.
    pub path: Cow<'static, str>,
    /// Its value; nothing when it is unset and has no default.
    pub value: Option<Value>,
    /// Where the value comes from.
    pub origin: Origin,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Human on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

impl Setting {
    /// The secrets in it.
    fn secrets(&self) -> Vec<&SecretString> {
        match &self.value {
            Some(Value::Secret(secret)) => vec![secret],
            Some(Value::Secrets(secrets)) => secrets.iter().collect(),
            Some(Value::Headers(headers)) => headers.iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    /// The variable that sets it; empty when there is none.
    pub fn variable(&self) -> String {
        let name = self.path.split('.').nth(1).unwrap_or_default();
        keys::variable(self.key, name)
    }
}

impl Settings {
    /// The defaults with `assignments` over them, the last of each key winning.
    pub(crate) fn of(assignments: impl Iterator<Item = Assignment>) -> Self {
        let mut settings: Vec<Setting> =
            keys::all().map(|key| default_setting(key, key.path.into())).collect();
        for Assignment { key, path, value, origin } in assignments {
            let new = Setting { key, path, value: Some(value), origin };
            match settings.iter_mut().find(|setting| setting.path == new.path) {
                Some(setting) => *setting = new,
                None => settings.push(new),
            }
        }
        with_table_defaults(&mut settings);
        // Defaults that follow another key come last, when that key has its value.
        let mut settings = Self(settings);
        for index in 0..settings.0.len() {
            if settings.0[index].value.is_none() {
                settings.0[index].value = settings.derived_default(settings.0[index].key);
            }
        }
        settings
    }

    /// Every setting, in the order of the reference.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter()
    }

    /// The setting at `path`; nothing for a path that is no key.
    pub fn get(&self, path: &str) -> Option<&Setting> {
        self.0.iter().find(|setting| setting.path == path)
    }

    /// `server.host`.
    pub fn host(&self) -> IpAddr {
        match self.value("server.host") {
            Some(Value::Address(address)) => *address,
            _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }

    /// `server.port`.
    pub fn port(&self) -> u16 {
        match self.value("server.port") {
            Some(Value::Integer(port)) => u16::try_from(*port).unwrap_or(DEFAULT_PORT),
            _ => DEFAULT_PORT,
        }
    }

    /// `server.drain_seconds`.
    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.integer("server.drain_seconds").unwrap_or(30))
    }

    /// `server.drain_delay_seconds`.
    pub fn drain_delay(&self) -> Duration {
        Duration::from_secs(self.integer("server.drain_delay_seconds").unwrap_or(0))
    }

    /// `limits.concurrent_requests`.
    pub fn concurrent_requests(&self) -> usize {
        self.size("limits.concurrent_requests", 4_096)
    }

    /// `limits.body_bytes_in_progress`.
    pub fn body_bytes_in_progress(&self) -> usize {
        self.size("limits.body_bytes_in_progress", 128 << 20)
    }

    /// A number of things or of bytes.
    fn size(&self, path: &str, default: usize) -> usize {
        self.integer(path).and_then(|size| usize::try_from(size).ok()).unwrap_or(default)
    }

    /// `jobs.embedded`.
    pub fn worker_embedded(&self) -> bool {
        self.boolean("jobs.embedded").unwrap_or(true)
    }

    /// `jobs.poll_ms`.
    pub fn worker_poll(&self) -> Duration {
        Duration::from_millis(self.integer("jobs.poll_ms").unwrap_or(500))
    }

    /// `learning.interval_ms`.
    pub fn learn_every(&self) -> Duration {
        Duration::from_millis(self.integer("learning.interval_ms").unwrap_or(10_000))
    }

    /// `learning.small_model` and `learning.small_model_percent`, if there is such a model.
    pub fn small_model(&self) -> Option<(&str, u8)> {
        let percent =
            self.integer("learning.small_model_percent").and_then(|percent| u8::try_from(percent).ok());
        self.text("learning.small_model").map(|model| (model, percent.unwrap_or(20)))
    }

    /// `learning.auto_promote`.
    pub fn auto_promote(&self) -> bool {
        self.boolean("learning.auto_promote").unwrap_or(false)
    }

    /// `governance.meshguard_timeout_ms`.
    pub fn remote_governor_patience(&self) -> Duration {
        Duration::from_millis(self.integer("governance.meshguard_timeout_ms").unwrap_or(2_000))
    }

    /// `store.retention_days`; `None` keeps everything.
    pub fn retention(&self) -> Option<Duration> {
        let days = self.integer("store.retention_days").unwrap_or(90);
        (days > 0).then(|| Duration::from_secs(days * 24 * 60 * 60))
    }

    /// `store.data_dir`.
    pub fn data_dir(&self) -> &Path {
        Path::new(self.text("store.data_dir").unwrap_or("data"))
    }

    /// `governance.policies_dir`.
    pub fn policies_dir(&self) -> &Path {
        Path::new(self.text("governance.policies_dir").unwrap_or("policies"))
    }

    /// `store.path`.
    pub fn db_path(&self) -> PathBuf {
        self.text("store.path").map_or_else(|| self.data_dir().join("punk.db"), PathBuf::from)
    }

    /// `keys.dir`.
    pub fn keys_dir(&self) -> PathBuf {
        self.text("keys.dir").map_or_else(|| self.data_dir().join("keys"), PathBuf::from)
    }

    /// `vault.master_key_command`: the program and its arguments, if there is one.
    pub fn master_key_command(&self) -> &[String] {
        self.texts("vault.master_key_command")
    }

    /// `vault.master_key_file`.
    pub fn master_key_file(&self) -> Option<&Path> {
        self.text("vault.master_key_file").map(Path::new)
    }

    /// `vault.master_key`.
    pub fn master_key(&self) -> Option<&SecretString> {
        self.secret("vault.master_key")
    }

    /// `vault.old_key_files`.
    pub fn old_key_files(&self) -> impl Iterator<Item = &Path> {
        self.texts("vault.old_key_files").iter().map(Path::new)
    }

    /// `ledger.name`.
    pub fn log_name(&self) -> &str {
        self.text("ledger.name").unwrap_or("punk.local")
    }

    /// `log.filter`.
    pub fn log_filter(&self) -> &str {
        self.text("log.filter").unwrap_or("info")
    }

    /// `log.format`.
    pub fn log_format(&self) -> LogFormat {
        match self.text("log.format") {
            Some("human") => LogFormat::Human,
            Some("json") => LogFormat::Json,
            _ => LogFormat::Auto,
        }
    }

    /// `auth.api_key`.
    pub fn api_key(&self) -> Option<&SecretString> {
        self.secret("auth.api_key")
    }

    /// `auth.require_login`.
    pub fn require_login(&self) -> bool {
        self.boolean("auth.require_login").unwrap_or(false)
    }

    /// `auth.session_idle_minutes`, `auth.session_hours` and `auth.session_rotation_minutes`.
    pub fn session_times(&self) -> [Duration; 3] {
        let minutes = |path, default| Duration::from_secs(60 * self.integer(path).unwrap_or(default));
        [
            minutes("auth.session_idle_minutes", 720),
            60 * minutes("auth.session_hours", 168),
            minutes("auth.session_rotation_minutes", 15),
        ]
    }

    /// `server.max_body_bytes`.
    pub fn max_body_bytes(&self) -> usize {
        self.size("server.max_body_bytes", 32 << 20)
    }

    /// `server.cors_origins`; none unless set.
    pub fn cors_origins(&self) -> &[String] {
        self.texts("server.cors_origins")
    }

    /// `server.trusted_proxies`; none unless set.
    pub fn trusted_proxies(&self) -> Vec<Network> {
        // All of them were read once when they were set.
        self.texts("server.trusted_proxies").iter().filter_map(|network| network.parse().ok()).collect()
    }

    /// `limits.redis_patience_ms`.
    pub fn limits_patience(&self) -> Duration {
        Duration::from_millis(self.integer("limits.redis_patience_ms").unwrap_or(50))
    }

    /// `limits.connections`.
    pub fn connections(&self) -> usize {
        self.size("limits.connections", 10_000)
    }

    /// `limits.header_bytes`.
    pub fn header_bytes(&self) -> usize {
        self.size("limits.header_bytes", 32 << 10)
    }

    /// `limits.header_seconds`, `limits.idle_seconds`, `limits.body_seconds` and `limits.stalled_seconds`.
    pub fn client_times(&self) -> [Duration; 4] {
        let seconds = |path, default| Duration::from_secs(self.integer(path).unwrap_or(default));
        [
            seconds("limits.header_seconds", 15),
            seconds("limits.idle_seconds", 75),
            seconds("limits.body_seconds", 120),
            seconds("limits.stalled_seconds", 60),
        ]
    }

    /// `limits.requests_per_minute`; `None` is no limit.
    pub fn requests_per_minute(&self) -> Option<NonZeroU32> {
        self.limit("limits.requests_per_minute")
    }

    /// `limits.chat_requests_per_minute`; `None` is no limit.
    pub fn chat_requests_per_minute(&self) -> Option<NonZeroU32> {
        self.limit("limits.chat_requests_per_minute")
    }

    /// `limits.user_requests_per_minute`; `None` is no limit.
    pub fn user_requests_per_minute(&self) -> Option<NonZeroU32> {
        self.limit("limits.user_requests_per_minute")
    }

    /// `limits.ip_requests_per_minute`; `None` is no limit.
    pub fn ip_requests_per_minute(&self) -> Option<NonZeroU32> {
        self.limit("limits.ip_requests_per_minute")
    }

    fn limit(&self, path: &str) -> Option<NonZeroU32> {
        NonZeroU32::new(self.integer(path)?.try_into().ok()?)
    }

    /// `webhooks.allow_private`.
    pub fn private_webhooks(&self) -> bool {
        self.boolean("webhooks.allow_private").unwrap_or(false)
    }

    /// The texts at `path`; none when it is unset.
    pub fn texts(&self, path: &str) -> &[String] {
        match self.value(path) {
            Some(Value::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// The text at `path`, when it is set, not secret and not of another kind.
    pub fn text(&self, path: &str) -> Option<&str> {
        match self.value(path) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The number at `path`.
    pub fn integer(&self, path: &str) -> Option<u64> {
        match self.value(path) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The boolean at `path`.
    pub fn boolean(&self, path: &str) -> Option<bool> {
        match self.value(path) {
            Some(Value::Boolean(boolean)) => Some(*boolean),
            _ => None,
        }
    }

    /// The secret at `path`, when it is set.
    pub fn secret(&self, path: &str) -> Option<&SecretString> {
        match self.value(path) {
            Some(Value::Secret(secret)) => Some(secret),
            _ => None,
        }
    }

    /// Every secret that is set, for what has to keep them out of its output. A reference names one and is none.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        let all = self
            .0
            .iter()
            .flat_map(|setting| setting.secrets().into_iter().map(move |secret| (setting, secret)));
        all.filter(|(setting, secret)| !(setting.key.refers && is_reference(secret)))
            .map(|(_, secret)| secret)
    }

    /// Every setting that means a secret in the vault, with what it says; also where no such thing can be said.
    pub fn references(&self) -> impl Iterator<Item = (&Setting, &SecretString)> {
        let all = self
            .0
            .iter()
            .flat_map(|setting| setting.secrets().into_iter().map(move |secret| (setting, secret)));
        all.filter(|(_, secret)| is_reference(secret))
    }

    pub(crate) fn value(&self, path: &str) -> Option<&Value> {
        self.get(path)?.value.as_ref()
    }

    fn derived_default(&self, key: &Key) -> Option<Value> {
        match key.default {
            DefaultValue::Under { folder, name } => {
                let path = Path::new(self.text(folder)?).join(name);
                Some(Value::Text(path.to_string_lossy().into_owned()))
            }
            DefaultValue::SameAs(path) => self.value(path).map(Value::duplicate),
            DefaultValue::Unset | DefaultValue::Text(_) | DefaultValue::Inferred(_) => None,
        }
    }
}

const DEFAULT_PORT: u16 = 4100;

/// Whether a text means a secret in the vault, rather than being one.
fn is_reference(secret: &SecretString) -> bool {
    secret.expose().starts_with("cred:")
}

/// What nobody set.
fn default_setting(key: &'static Key, path: Cow<'static, str>) -> Setting {
    Setting { key, path, value: plain_default(key), origin: Origin::Default }
}

/// Adds what the named tables leave to their defaults. What has none stays out: it would be noise in every table.
fn with_table_defaults(settings: &mut Vec<Setting>) {
    for (table, name) in crate::served::tables(settings) {
        for key in table.keys {
            let path = keys::path(key, &name);
            let absent = settings.iter().all(|setting| setting.path != path);
            let default = default_setting(key, path.into());
            if absent && default.value.is_some() {
                settings.push(default);
            }
        }
    }
}

fn plain_default(key: &Key) -> Option<Value> {
    match key.default {
        DefaultValue::Text(text) => Value::from_text(key, text),
        _ => None,
    }
}
