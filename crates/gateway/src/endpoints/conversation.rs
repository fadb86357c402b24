//! Conversations with models.

use ::identity::Permission;
use http::{Method, StatusCode};
use schema::ConversationId;

use super::CONVERSATIONS;
use crate::conversation;
use crate::endpoint::{Content, Endpoint};

pub(super) fn conversations() -> Vec<Endpoint> {
    let id = "The id of a conversation.";
    let (all, one) = ("/api/v1/conversations", "/api/v1/conversations/{id}");
    vec![
        Endpoint::new(CONVERSATIONS, Method::GET, all, "listConversations", conversation::list)
            .needs(Permission::ConversationRead)
            .summary("List conversations, newest first")
            .about("People see their own; whoever calls with a key sees those that keys of the tenant began.")
            .query::<conversation::ConversationQuery>()
            .answers::<conversation::ConversationPage>("A page of conversations."),
        Endpoint::new(CONVERSATIONS, Method::POST, all, "createConversation", conversation::create)
            .needs(Permission::ConversationWrite)
            .summary("Begin a conversation")
            .takes::<conversation::NewConversation>(
                r#"{"title":"Parcels","model":"gpt-4o","system":"Answer in one sentence."}"#,
            )
            .creates::<conversation::OneConversation>("The conversation, without a turn."),
        Endpoint::new(CONVERSATIONS, Method::GET, one, "getConversation", conversation::show)
            .needs(Permission::ConversationRead)
            .summary("Look at one conversation and its turns, oldest first")
            .param::<ConversationId>("id", id)
            .answers::<conversation::ConversationDetail>("The conversation."),
        Endpoint::new(CONVERSATIONS, Method::PATCH, one, "changeConversation", conversation::change)
            .needs(Permission::ConversationWrite)
            .summary("Rename a conversation, or say who answers from now on, and by which instructions")
            .about("What is left out stays as it is.")
            .param::<ConversationId>("id", id)
            .takes::<conversation::ConversationPatch>(r#"{"title":"Parcels to Berlin"}"#)
            .answers::<conversation::OneConversation>("The conversation.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(CONVERSATIONS, Method::DELETE, one, "deleteConversation", conversation::delete)
            .needs(Permission::ConversationWrite)
            .summary("Delete a conversation")
            .about(
                "Its runs stay in the ledger until retention gives them up; `DELETE /api/v1/subjects/{subject}` \
                 forgets what a person said.",
            )
            .param::<ConversationId>("id", id)
            .answers::<conversation::Deleted>("It is gone.")
            .may_refuse(StatusCode::CONFLICT),
        turns(id),
    ]
}

fn turns(id: &'static str) -> Endpoint {
    let upstream = [
        StatusCode::CONFLICT,
        StatusCode::UNPROCESSABLE_ENTITY,
        StatusCode::BAD_GATEWAY,
        StatusCode::GATEWAY_TIMEOUT,
    ];
    let endpoint = Endpoint::new(
        CONVERSATIONS,
        Method::POST,
        "/api/v1/conversations/{id}/turns",
        "createTurn",
        conversation::turn,
    )
    .needs(Permission::ConversationWrite)
    .summary("Say something, and have a model answer")
    .about(
        "The instructions, all that was said and this go through the gateway as one call of the app `chat` at temperature 0, \
         judged, routed and recorded like any other. A turn that fails or is blocked is not kept, and is answered with the \
         gateway's own error, in OpenAI's shape. With `stream` the answer comes as OpenAI's chunks; before `[DONE]` an event \
         named `turn` has the turn as it was kept.",
    )
    .param::<ConversationId>("id", id)
    .takes::<conversation::NewTurn>(r#"{"content":"Where is my parcel?","model":"gpt-4o"}"#)
    .answers_with(
        StatusCode::OK,
        "The turn as it was kept, and the answer as it was told.",
        Content::ObjectOrStream(&["turn", "reply"]),
    );
    upstream.into_iter().fold(endpoint, Endpoint::may_refuse)
}
