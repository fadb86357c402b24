//! The paths of people and machines: who somebody is, and what they are where.

use http::{Method, StatusCode};
use identity::Permission;
use schema::{InvitationId, RunId, ServiceAccountId, SessionId, UserId};

use super::{MACHINES, PEOPLE};
use crate::endpoint::{Content, Endpoint, Guard};
use crate::machines::{capability, service_account, token};
use crate::people::{invitation, login, member, oidc, organisation, user};

pub(super) fn login() -> Vec<Endpoint> {
    let session = "The id of a session, as `GET /api/v1/auth/sessions` lists it.";
    vec![
        Endpoint::new(PEOPLE, Method::POST, "/api/v1/auth/login", "logIn", login::create)
            .guard(Guard::Anyone)
            .summary("Log in; the session is a cookie that no script can read")
            .about(
                "Whatever is wrong, the answer is the same. What changes something with the cookie has to show `csrfToken` in \
                 `x-punk-csrf`, and come from a page of this gateway.",
            )
            .takes::<login::NewLogin>(r#"{"email":"ada@example.org","password":"four words of your own"}"#)
            .answers::<login::LoggedIn>("Who is logged in.")
            .may_refuse(StatusCode::UNAUTHORIZED),
        Endpoint::new(PEOPLE, Method::POST, "/api/v1/auth/logout", "logOut", login::end)
            .guard(Guard::Person)
            .summary("Log out, everywhere at once")
            .answers::<login::EndedSessions>("The session has ended."),
        Endpoint::new(PEOPLE, Method::GET, "/api/v1/auth/session", "getSession", login::show)
            .guard(Guard::Person)
            .summary("Who is logged in, and where they act")
            .answers::<login::LoggedIn>("Who is logged in."),
        Endpoint::new(PEOPLE, Method::POST, "/api/v1/auth/password", "changePassword", login::change_password)
            .guard(Guard::Person)
            .summary("Choose another password; every other session ends")
            .takes::<login::PasswordChange>(
                r#"{"currentPassword":"four words of your own","newPassword":"five other words of mine"}"#,
            )
            .answers::<login::LoggedIn>("Who is logged in, with a new session.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(PEOPLE, Method::POST, "/api/v1/auth/organisation", "chooseOrganisation", login::choose_organisation)
            .guard(Guard::Person)
            .summary("Act in another organisation of one's own")
            .takes::<login::OrganisationChoice>(r#"{"organisation":"ten_00000000000000000000000000"}"#)
            .answers::<login::LoggedIn>("Who is logged in, and where they act.")
            .may_refuse(StatusCode::NOT_FOUND)
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(PEOPLE, Method::GET, "/api/v1/auth/sessions", "listSessions", login::sessions)
            .guard(Guard::Person)
            .summary("List one's own sessions, the last first")
            .answers::<login::SessionList>("The sessions."),
        Endpoint::new(PEOPLE, Method::DELETE, "/api/v1/auth/sessions", "endOtherSessions", login::end_others)
            .guard(Guard::Person)
            .summary("End all of one's sessions but this one")
            .answers::<login::EndedSessions>("They have ended."),
        Endpoint::new(PEOPLE, Method::DELETE, "/api/v1/auth/sessions/{id}", "endSession", login::end_one)
            .guard(Guard::Person)
            .summary("End one of one's sessions")
            .param::<SessionId>("id", session)
            .answers::<login::EndedSessions>("It has ended."),
        Endpoint::new(PEOPLE, Method::POST, "/api/v1/auth/accept", "acceptInvitation", invitation::accept)
            .guard(Guard::Anyone)
            .summary("Accept an invitation: as somebody new, or as whoever is logged in")
            .takes::<invitation::Acceptance>(
                r#"{"token":"ten_00000000000000000000000000.in_…","name":"Ada","password":"four words of your own"}"#,
            )
            .answers::<login::LoggedIn>("Who is logged in.")
            .may_refuse(StatusCode::UNAUTHORIZED)
            .may_refuse(StatusCode::FORBIDDEN)
            .may_refuse(StatusCode::CONFLICT),
    ]
}

pub(super) fn people() -> Vec<Endpoint> {
    let (user, of_invitation) = ("The id of a person.", "The id of an invitation.");
    vec![
        Endpoint::new(PEOPLE, Method::GET, "/api/v1/members", "listMembers", member::list)
            .needs(Permission::MemberRead)
            .summary("List who belongs to the organisation")
            .query::<member::MemberQuery>()
            .answers::<member::MemberPage>("A page of members."),
        Endpoint::new(PEOPLE, Method::PATCH, "/api/v1/members/{id}", "changeMember", member::change)
            .needs(Permission::MemberManage)
            .summary("Make a member something else, but not more than oneself")
            .param::<UserId>("id", user)
            .takes::<member::MemberPatch>(r#"{"role":"reviewer"}"#)
            .answers::<member::MemberDetail>("The member.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(PEOPLE, Method::DELETE, "/api/v1/members/{id}", "removeMember", member::remove)
            .needs(Permission::MemberManage)
            .summary("Let a member go; the last owner stays")
            .param::<UserId>("id", user)
            .answers::<member::MemberDetail>("What they were.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(
            PEOPLE,
            Method::DELETE,
            "/api/v1/members/{id}/sessions",
            "endMemberSessions",
            member::end_sessions,
        )
        .needs(Permission::MemberManage)
        .summary("Log a member out of the organisation, everywhere at once")
        .param::<UserId>("id", user)
        .answers::<login::EndedSessions>("Their sessions have ended."),
        Endpoint::new(PEOPLE, Method::POST, "/api/v1/invitations", "createInvitation", invitation::create)
            .needs(Permission::MemberManage)
            .summary("Invite somebody; what they show is shown once")
            .takes::<invitation::NewInvitation>(r#"{"email":"ada@example.org","role":"viewer"}"#)
            .creates::<invitation::MadeInvitation>("The invitation, and what to hand over.")
            .may_refuse(StatusCode::NOT_FOUND),
        Endpoint::new(PEOPLE, Method::GET, "/api/v1/invitations", "listInvitations", invitation::list)
            .needs(Permission::MemberRead)
            .summary("List invitations, newest first")
            .query::<invitation::InvitationQuery>()
            .answers::<invitation::InvitationPage>("A page of invitations."),
        Endpoint::new(
            PEOPLE,
            Method::DELETE,
            "/api/v1/invitations/{id}",
            "revokeInvitation",
            invitation::revoke,
        )
        .needs(Permission::MemberManage)
        .summary("Take an invitation back")
        .param::<InvitationId>("id", of_invitation)
        .answers::<invitation::RevokedInvitation>("It does not hold any more.")
        .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(PEOPLE, Method::GET, "/api/v1/organisation", "getOrganisation", organisation::show)
            .needs(Permission::OrganisationRead)
            .summary("Look at the organisation in which one acts")
            .answers::<organisation::ShownOrganisation>("The organisation."),
        Endpoint::new(
            PEOPLE,
            Method::PATCH,
            "/api/v1/organisation",
            "changeOrganisation",
            organisation::change,
        )
        .needs(Permission::OrganisationManage)
        .summary("Rename the organisation")
        .takes::<organisation::OrganisationPatch>(r#"{"name":"Analytical Engines"}"#)
        .answers::<organisation::ShownOrganisation>("The organisation."),
        Endpoint::new(PEOPLE, Method::GET, "/api/v1/users", "listUsers", user::list)
            .needs(Permission::InstallationManage)
            .summary("List the people of the installation, newest first")
            .query::<user::UserQuery>()
            .answers::<user::UserPage>("A page of people."),
        Endpoint::new(PEOPLE, Method::POST, "/api/v1/users", "createUser", user::create)
            .needs(Permission::InstallationManage)
            .summary("Make somebody who logs in")
            .takes::<user::NewUser>(
                r#"{"email":"ada@example.org","password":"four words of your own","role":"admin"}"#,
            )
            .creates::<user::UserDetail>("The person.")
            .may_refuse(StatusCode::NOT_FOUND)
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(PEOPLE, Method::PATCH, "/api/v1/users/{id}", "changeUser", user::change)
            .needs(Permission::InstallationManage)
            .summary("Rename somebody, keep them out, or give them another password")
            .param::<UserId>("id", user)
            .takes::<user::UserPatch>(r#"{"disabled":true}"#)
            .answers::<user::UserDetail>("The person.")
            .may_refuse(StatusCode::CONFLICT),
    ]
}

pub(super) fn elsewhere() -> Vec<Endpoint> {
    vec![
        Endpoint::new(PEOPLE, Method::GET, "/api/v1/auth/oidc/login", "beginOidcLogin", oidc::begin)
            .guard(Guard::Anyone)
            .summary("Send a browser to the provider at which people log in")
            .query::<oidc::OidcQuery>()
            .answers_with(StatusCode::SEE_OTHER, "There.", Content::Other("text/plain"))
            .may_refuse(StatusCode::NOT_FOUND),
        Endpoint::new(PEOPLE, Method::GET, "/api/v1/auth/oidc/callback", "finishOidcLogin", oidc::finish)
            .guard(Guard::Anyone)
            .summary("Where the provider sends browsers back to")
            .answers_with(
                StatusCode::SEE_OTHER,
                "Logged in, and back where they came from.",
                Content::Other("text/plain"),
            )
            .may_refuse(StatusCode::NOT_FOUND),
    ]
}

pub(super) fn machines() -> Vec<Endpoint> {
    let account = "The id of a service account.";
    vec![
        Endpoint::new(MACHINES, Method::POST, "/api/v1/service-accounts", "createServiceAccount", service_account::create)
            .needs(Permission::ServiceAccountManage)
            .summary("Make an account for a machine; its secret is shown once")
            .takes::<service_account::NewServiceAccount>(r#"{"name":"nightly report","scopes":["read"]}"#)
            .creates::<service_account::MadeServiceAccount>("The account and its secret."),
        Endpoint::new(MACHINES, Method::GET, "/api/v1/service-accounts", "listServiceAccounts", service_account::list)
            .needs(Permission::ServiceAccountRead)
            .summary("List the accounts of machines, newest first")
            .query::<service_account::ServiceAccountQuery>()
            .answers::<service_account::ServiceAccountPage>("A page of accounts."),
        Endpoint::new(MACHINES, Method::POST, "/api/v1/service-accounts/{id}/rotate", "rotateServiceAccount", service_account::rotate)
            .needs(Permission::ServiceAccountManage)
            .summary("Give an account another secret; the one before is good for a while")
            .param::<ServiceAccountId>("id", account)
            .takes::<service_account::Rotation>(r#"{"graceSeconds":3600}"#)
            .answers::<service_account::MadeServiceAccount>("The account and its new secret.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(MACHINES, Method::DELETE, "/api/v1/service-accounts/{id}", "removeServiceAccount", service_account::remove)
            .needs(Permission::ServiceAccountManage)
            .summary("Remove an account; its tokens are refused at once")
            .param::<ServiceAccountId>("id", account)
            .answers::<service_account::RemovedServiceAccount>("It is gone.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(MACHINES, Method::POST, "/api/v1/auth/token", "createToken", token::create)
            .guard(Guard::Anyone)
            .summary("Exchange the secret of an account, or a session, for a short-lived token")
            .about(
                "OAuth 2.0 client credentials, as JSON, as a form, or with HTTP Basic. A page of this gateway that sends its cookie \
                 and nothing else gets a token for what its person may do.",
            )
            .takes::<token::TokenRequest>(
                r#"{"grant_type":"client_credentials","client_id":"ten_00000000000000000000000000.sva_…","client_secret":"sv_…"}"#,
            )
            .answers::<token::TokenAnswer>("The token.")
            .may_refuse(StatusCode::UNAUTHORIZED),
        Endpoint::new(MACHINES, Method::POST, "/api/v1/auth/revoke", "revokeToken", token::revoke)
            .guard(Guard::Anyone)
            .summary("Take a token back, before its time is over")
            .about("Whoever has a token may give it up. By its `jti` it takes `service_account:manage`.")
            .takes::<token::NewRevocation>(r#"{"jti":"9f2c5d1e7b3a4c6d8e0f1a2b3c4d5e6f"}"#)
            .answers::<token::RevokedToken>("It holds no more, if it ever did."),
        Endpoint::new(MACHINES, Method::POST, "/api/v1/runs/{id}/tokens", "createRunToken", capability::create)
            .needs(Permission::RunWrite)
            .summary("Make a token for one run, that opens nothing else, for minutes")
            .param::<RunId>("id", "The id of a run, as `x-punk-run-id` names it.")
            .takes::<capability::NewCapability>(r#"{"scopes":["write"],"ttlSeconds":300}"#)
            .creates::<capability::MadeCapability>("The token.")
            .may_refuse(StatusCode::GONE),
        Endpoint::new(MACHINES, Method::GET, "/.well-known/jwks.json", "getJwks", token::keys)
            .summary("The keys that this gateway's tokens are checked with")
            .answers_with(StatusCode::OK, "A JWK set.", Content::Object(&["keys"])),
    ]
}
