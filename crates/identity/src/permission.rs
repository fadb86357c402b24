//! Permissions: every single thing that somebody may be let do, named `noun:verb`.
//!
//! An endpoint asks for exactly one; a [`Role`](crate::role::Role), the scopes of a key and a capability token are sets of
//! them. There is no other measure of power, so "may do no more than" is "is a subset of".
//!
//! To add one: a line of the table below, and the roles that have it in `role.rs`. What nobody was given, nobody has but
//! whoever runs the installation.

use std::fmt;

use schema::Scope;

macro_rules! permissions {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal, $about:literal;)*) => {
        /// One thing that somebody may be let do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Permission {
            $(#[doc = $about] $name,)*
        }

        impl Permission {
            /// All of them, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name, such as `run:read`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// What it lets somebody do, in a line.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about,)*
                }
            }
        }
    };
}

permissions! {
    GatewayCall = "gateway:call", "Ask models, on `/v1`.";
    RunRead = "run:read", "Look at runs, their events and their proofs, and read along.";
    RunWrite = "run:write", "Record what was observed elsewhere: runs, events, feedback, memory.";
    ConversationRead = "conversation:read", "See one's own conversations with models.";
    ConversationWrite = "conversation:write", "Talk with models in conversations that are kept, rename and delete them.";
    UsageRead = "usage:read", "See what runs cost and what was saved.";
    PolicyRead = "policy:read", "See the policies in force, and ask what they would say.";
    PolicyReload = "policy:reload", "Have the files of the policies read now.";
    AgentRead = "agent:read", "See the agents and how far each is trusted.";
    AgentManage = "agent:manage", "Say how far an agent is trusted.";
    ApprovalRead = "approval:read", "See what people are asked.";
    ApprovalDecide = "approval:decide", "Answer questions of the governor.";
    ExceptionRead = "exception:read", "See the exceptions from policies.";
    ExceptionManage = "exception:manage", "Make and end exceptions from policies.";
    BudgetRead = "budget:read", "See budgets, and what is left of them.";
    BudgetManage = "budget:manage", "Make and end budgets.";
    WebhookRead = "webhook:read", "See who is told of what happens.";
    WebhookManage = "webhook:manage", "Have somebody told of what happens.";
    AuditRead = "audit:read", "See what operators changed and decided.";
    CacheRead = "cache:read", "See how much is kept, and how often it served.";
    CacheManage = "cache:manage", "Take out what is kept.";
    LearningRead = "learning:read", "See what is learned: patterns, attempts, artifacts and their gates.";
    LearningManage = "learning:manage", "Have something learned or not, promote artifacts and take them out of service.";
    ToolCacheRead = "tool_cache:read", "Ask whether a tool was called like this before.";
    ToolCacheWrite = "tool_cache:write", "Keep what a tool gave.";
    KeyRead = "key:read", "See the API keys, never the keys themselves.";
    KeyManage = "key:manage", "Make API keys and take them back.";
    ServiceAccountRead = "service_account:read", "See the accounts of machines.";
    ServiceAccountManage = "service_account:manage", "Make, rotate and end accounts of machines, and take back tokens.";
    CredentialRead = "credential:read", "See which secrets are in the vault, never the secrets.";
    CredentialManage = "credential:manage", "Put secrets into the vault and take them out of use.";
    RedactionRead = "redaction:read", "See what is held back from what is said and recorded.";
    RedactionManage = "redaction:manage", "Say what is held back from what is said and recorded.";
    SettingRead = "setting:read", "See what holds for the organisation.";
    SettingManage = "setting:manage", "Change what holds for the organisation.";
    MemberRead = "member:read", "See who belongs to the organisation, and who is invited.";
    MemberManage = "member:manage", "Invite people, change their roles, end their sessions, let them go.";
    OrganisationRead = "organisation:read", "See the organisation itself.";
    OrganisationManage = "organisation:manage", "Rename the organisation.";
    JobRead = "job:read", "See the work in the background.";
    JobManage = "job:manage", "Put back work that was given up.";
    SubjectErase = "subject:erase", "Forget a person, on record.";
    InstallationManage = "installation:manage", "Run the installation: make tenants and users, name another tenant than one's own.";
}

impl Permission {
    /// Whether it only lets somebody look.
    #[must_use]
    pub fn is_reading(self) -> bool {
        self.as_str().ends_with(":read")
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of permissions.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Permissions(u64);

// A set is one word; a 65th permission needs two.
const _: () = assert!(Permission::ALL.len() <= 64);

impl Permissions {
    /// None.
    pub const NONE: Self = Self(0);

    /// These.
    #[must_use]
    pub const fn of(permissions: &[Permission]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < permissions.len() {
            bits |= 1 << permissions[index] as u64;
            index += 1;
        }
        Self(bits)
    }

    /// All there are.
    #[must_use]
    pub const fn all() -> Self {
        Self::of(Permission::ALL)
    }

    /// Whether `permission` is one of them.
    #[must_use]
    pub const fn has(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u64) != 0
    }

    /// Whether all of these are among `others`.
    #[must_use]
    pub const fn within(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    /// These and `others`.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Those of these that are among `others` too.
    #[must_use]
    pub const fn only(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// These, but for `others`.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Each of them, in the order of the reference.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |permission| self.has(*permission))
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Permission::as_str)).finish()
    }
}

/// What a scope of a key or of a token opens.
#[must_use]
pub const fn of_scope(scope: Scope) -> Permissions {
    use Permission as P;
    match scope {
        // A conversation is a way to ask models; whoever may ask them may keep what was said.
        Scope::Gateway => Permissions::of(&[P::GatewayCall, P::ConversationRead, P::ConversationWrite]),
        Scope::Read => Permissions::of(&[
            P::RunRead,
            P::UsageRead,
            P::PolicyRead,
            P::AgentRead,
            P::ApprovalRead,
            P::ExceptionRead,
            P::BudgetRead,
            P::AuditRead,
            P::CacheRead,
            P::LearningRead,
            P::ToolCacheRead,
            P::SettingRead,
        ]),
        Scope::Write => Permissions::of(&[P::RunWrite, P::ToolCacheWrite]),
        Scope::Approve => Permissions::of(&[P::ApprovalDecide]),
    }
}

/// What all of these scopes open together.
#[must_use]
pub fn of_scopes(scopes: &[Scope]) -> Permissions {
    scopes.iter().fold(Permissions::NONE, |all, scope| all.and(of_scope(*scope)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_permission_is_a_noun_and_a_verb_and_no_two_share_a_name() {
        let names: HashSet<_> = Permission::ALL.iter().map(|permission| permission.as_str()).collect();
        assert_eq!(names.len(), Permission::ALL.len());
        for name in names {
            let (noun, verb) = name.split_once(':').unwrap();
            let is_word =
                |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(is_word(noun) && is_word(verb), "{name}");
        }
    }

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        for one in Permission::ALL {
            let set = Permissions::of(&[*one]);
            assert_eq!(set.iter().collect::<Vec<_>>(), [*one]);
            assert!(set.within(Permissions::all()) && !Permissions::all().within(set));
            assert!(!Permissions::all().without(set).has(*one));
            assert_eq!(Permissions::all().only(set), set);
        }
        assert_eq!(Permissions::all().iter().count(), Permission::ALL.len());
    }

    #[test]
    fn only_the_scope_that_says_so_approves() {
        let machines = of_scopes(&Scope::OF_MACHINES);
        assert!(!machines.has(Permission::ApprovalDecide));
        assert!(of_scope(Scope::Approve).has(Permission::ApprovalDecide));
        assert!(of_scope(Scope::Read).iter().all(Permission::is_reading));
    }
}
