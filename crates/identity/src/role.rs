//! Roles: what somebody is in an organisation, as a set of permissions.
//!
//! This is the whole table of who may do what. The gate asks it, `docs/reference/permissions.md` is made from it, and the
//! tests of the gateway walk along every edge of it.
//!
//! - Operators and services do not approve: whoever runs the agents does not also let them through.
//! - An auditor sees everything, and does nothing.
//! - Nobody grants a role that may do more than they may, and only owners make or unmake owners.

use std::fmt;
use std::str::FromStr;

use schema::{ApiKey, Scope};
use serde::{Deserialize, Serialize};

use crate::permission::{Permission as P, Permissions, of_scopes};

/// What somebody is in an organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Whose organisation it is. There is always one.
    Owner,
    /// Runs the organisation, but for what is its owners' alone.
    Admin,
    /// Runs the agents.
    Operator,
    /// Answers what the governor asks.
    Reviewer,
    /// Looks.
    Viewer,
    /// Looks at everything, the audit trail and the keys' names included.
    Auditor,
    /// A machine.
    Service,
}

/// What everybody who is a person may look at.
const LOOK: Permissions = Permissions::of(&[
    P::RunRead,
    P::ConversationRead,
    P::UsageRead,
    P::PolicyRead,
    P::AgentRead,
    P::ApprovalRead,
    P::ExceptionRead,
    P::BudgetRead,
    P::CacheRead,
    P::LearningRead,
    P::SettingRead,
    P::MemberRead,
    P::OrganisationRead,
]);

/// What is nobody's in an organisation: it is about all of them.
const OF_INSTALLATION: Permissions = Permissions::of(&[P::InstallationManage, P::PolicyReload]);

impl Role {
    /// Every role, the mightiest first.
    pub const ALL: [Self; 7] = [
        Self::Owner,
        Self::Admin,
        Self::Operator,
        Self::Reviewer,
        Self::Viewer,
        Self::Auditor,
        Self::Service,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Reviewer => "reviewer",
            Self::Viewer => "viewer",
            Self::Auditor => "auditor",
            Self::Service => "service",
        }
    }

    /// What it is for, in a line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Owner => "Whose organisation it is. There is always one.",
            Self::Admin => "Runs the organisation, but for what is its owners' alone.",
            Self::Operator => "Runs the agents. Does not approve what they want to do.",
            Self::Reviewer => "Answers what the governor asks.",
            Self::Viewer => "Looks.",
            Self::Auditor => "Looks at everything, the audit trail included, and does nothing.",
            Self::Service => "A machine: asks models and records. Never a person, and never approves.",
        }
    }

    /// What it lets somebody do. The table.
    #[must_use]
    pub fn permissions(self) -> Permissions {
        match self {
            Self::Owner => Permissions::all().without(OF_INSTALLATION),
            Self::Admin => Self::Owner.permissions().without(Permissions::of(&[P::OrganisationManage])),
            Self::Operator => LOOK.and(Permissions::of(&[
                P::GatewayCall,
                P::RunWrite,
                P::ConversationWrite,
                P::WebhookRead,
                P::CacheManage,
                P::LearningManage,
                P::ToolCacheRead,
                P::ToolCacheWrite,
                P::JobRead,
                P::JobManage,
            ])),
            Self::Reviewer => LOOK.and(Permissions::of(&[P::ApprovalDecide, P::AuditRead])),
            Self::Viewer => LOOK,
            Self::Auditor => P::ALL
                .iter()
                .filter(|permission| permission.is_reading())
                .fold(Permissions::NONE, |all, permission| all.and(Permissions::of(&[*permission]))),
            Self::Service => Permissions::of(&[
                P::GatewayCall,
                P::RunRead,
                P::RunWrite,
                P::ConversationRead,
                P::ConversationWrite,
                P::UsageRead,
                P::PolicyRead,
                P::AgentRead,
                P::ApprovalRead,
                P::BudgetRead,
                P::ToolCacheRead,
                P::ToolCacheWrite,
            ]),
        }
    }

    /// Whether it is one that people have.
    #[must_use]
    pub const fn is_for_people(self) -> bool {
        !matches!(self, Self::Service)
    }
}

/// Who makes somebody something: as what, and with which permissions.
#[derive(Debug, Clone, Copy)]
pub struct Granter {
    /// What they may do themselves.
    pub may: Permissions,
    /// Whether they are an owner, or run the installation.
    pub is_owner: bool,
}

/// Why somebody does not become something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GrantRefused {
    /// Only owners make or unmake owners.
    #[error("only an owner makes or unmakes an owner")]
    Owners,
    /// The role may do what the granter may not.
    #[error("the role `{0}` may do more than you may")]
    Exceeds(Role),
    /// Machines get accounts of their own.
    #[error("`service` is for machines; make a service account instead")]
    NotForPeople,
}

impl Granter {
    /// Whether somebody who is `before` (nothing, if they are new) may be made `after` (nothing, if they are let go).
    ///
    /// # Errors
    /// Why not.
    pub fn may_turn(self, before: Option<Role>, after: Option<Role>) -> Result<(), GrantRefused> {
        let touches_owner = [before, after].contains(&Some(Role::Owner));
        if touches_owner && !self.is_owner {
            return Err(GrantRefused::Owners);
        }
        if let Some(role) = after.filter(|role| !role.is_for_people()) {
            debug_assert_eq!(role, Role::Service);
            return Err(GrantRefused::NotForPeople);
        }
        // Whoever may do more than oneself is not oneself's to change either.
        match [before, after].into_iter().flatten().find(|role| !role.permissions().within(self.may)) {
            Some(role) => Err(GrantRefused::Exceeds(role)),
            None => Ok(()),
        }
    }
}

/// What a key opens: its scopes, and with `admin` all that operates its tenant. No key approves but one that says so.
#[must_use]
pub fn of_key(key: &ApiKey) -> Permissions {
    of_key_parts(key.admin, &key.scopes)
}

/// The same of a key that is to be made.
#[must_use]
pub fn of_key_parts(admin: bool, scopes: &[Scope]) -> Permissions {
    let scopes = of_scopes(scopes);
    if !admin {
        return scopes;
    }
    Role::Admin.permissions().without(Permissions::of(&[P::ApprovalDecide])).and(scopes)
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected one of owner, admin, operator, reviewer, viewer, auditor, service")]
pub struct NoRole;

impl FromStr for Role {
    type Err = NoRole;

    fn from_str(text: &str) -> Result<Self, NoRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(NoRole)
    }
}

/// The table as `docs/reference/permissions.md` has it.
#[must_use]
pub fn markdown() -> String {
    use std::fmt::Write as _;
    let mut page = String::from(
        "# Roles and permissions\n\n\
         Made from the table that the gateway asks; a test compares it. Every endpoint wants one permission, which the\n\
         [API reference](api.md) names. A person has those of their role in the organisation they act in; a key those of its scopes;\n\
         a machine those that both the role `service` and the scopes of its account have.\n\n\
         - Nobody grants a role that may do more than they may themselves, and only owners make or unmake owners. The last owner stays.\n\
         - Whoever asked for something never approves it, whatever their role.\n\
         - Owners of the default organisation also run the installation.\n\n\
         ## Roles\n\n| role | |\n|---|---|\n",
    );
    for role in Role::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| `{role}` | {} |", role.about());
    }
    page.push_str("\n## What each may do\n\n| permission |");
    Role::ALL.iter().for_each(|role| {
        let _ = write!(page, " {role} |");
    });
    page.push_str(" installation | |\n|---|");
    page.push_str(&":-:|".repeat(Role::ALL.len() + 1));
    page.push_str("---|\n");
    for permission in P::ALL {
        let _ = write!(page, "| `{permission}` |");
        for role in Role::ALL {
            page.push_str(if role.permissions().has(*permission) { " ✓ |" } else { " |" });
        }
        let _ = writeln!(page, " ✓ | {} |", permission.about());
    }
    page.push_str("\n## What a key opens\n\n| permission |");
    let scopes = [Scope::Gateway, Scope::Read, Scope::Write, Scope::Approve];
    scopes.iter().for_each(|scope| {
        let _ = write!(page, " `{}` |", scope.as_str());
    });
    page.push_str(" `admin` |\n|---|:-:|:-:|:-:|:-:|:-:|\n");
    for permission in P::ALL {
        let columns = scopes.iter().map(|scope| of_scopes(&[*scope])).chain([of_key_parts(true, &[])]);
        let marks: Vec<&str> = columns.map(|set| if set.has(*permission) { " ✓ |" } else { " |" }).collect();
        if marks.iter().any(|mark| mark.contains('✓')) {
            let _ = writeln!(page, "| `{permission}` |{}", marks.concat());
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_runs_agents_does_not_approve_and_who_audits_does_nothing() {
        for role in [Role::Operator, Role::Service, Role::Viewer, Role::Auditor] {
            assert!(!role.permissions().has(P::ApprovalDecide), "{role}");
        }
        assert!(Role::Reviewer.permissions().has(P::ApprovalDecide));
        assert!(Role::Auditor.permissions().iter().all(P::is_reading));
        assert!(P::ALL.iter().filter(|p| p.is_reading()).all(|p| Role::Auditor.permissions().has(*p)));
    }

    #[test]
    fn nothing_of_the_installation_is_in_a_role_or_a_key() {
        for role in Role::ALL {
            assert_eq!(role.permissions().only(OF_INSTALLATION), Permissions::NONE, "{role}");
        }
        assert!(!of_key_parts(true, &[Scope::Approve]).has(P::InstallationManage));
    }

    #[test]
    fn an_admin_key_approves_nothing_unless_it_says_so() {
        assert!(!of_key_parts(true, &[]).has(P::ApprovalDecide));
        assert!(of_key_parts(true, &[Scope::Approve]).has(P::ApprovalDecide));
    }

    /// Along every pair of roles: who is turned from what into what, by whom.
    #[test]
    fn no_grant_exceeds_the_granter_and_owners_are_the_owners_own() {
        for granter in Role::ALL {
            let by = Granter { may: granter.permissions(), is_owner: granter == Role::Owner };
            for before in [None].into_iter().chain(Role::ALL.map(Some)) {
                for after in [None].into_iter().chain(Role::ALL.map(Some)) {
                    let said = by.may_turn(before, after);
                    let owners = [before, after].contains(&Some(Role::Owner));
                    let exceeds =
                        [before, after].iter().flatten().any(|role| !role.permissions().within(by.may));
                    let touches = owners && granter != Role::Owner;
                    let wanted = !touches && !exceeds && after != Some(Role::Service);
                    assert_eq!(said.is_ok(), wanted, "{granter} turns {before:?} into {after:?}: {said:?}");
                }
            }
        }
        let admin = Granter { may: Role::Admin.permissions(), is_owner: false };
        assert_eq!(admin.may_turn(Some(Role::Viewer), Some(Role::Owner)), Err(GrantRefused::Owners));
        assert_eq!(admin.may_turn(Some(Role::Owner), None), Err(GrantRefused::Owners));
        assert_eq!(admin.may_turn(None, Some(Role::Reviewer)), Ok(()));
        let reviewer = Granter { may: Role::Reviewer.permissions(), is_owner: false };
        assert_eq!(reviewer.may_turn(None, Some(Role::Operator)), Err(GrantRefused::Exceeds(Role::Operator)));
    }

    #[test]
    fn a_role_is_read_by_its_name() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert_eq!("root".parse::<Role>(), Err(NoRole));
    }
}
