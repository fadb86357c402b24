//! One endpoint: where it is, who may call it, what it takes and what it answers.
//!
//! The router, the OpenAPI document and the reference page are made from these, so none of them can say something else.

use axum::Router;
use axum::handler::Handler;
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on};
use http::{Method, StatusCode};
use identity::Permission;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::app::App;
use crate::error::Wire;
use crate::gate::{self, Gate, Surface};

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Whoever reaches it.
    Public,
    /// Whoever reaches it, counted by address: it is where somebody says who they are, or its handler asks.
    Anyone,
    /// Whoever is logged in, about themselves. It takes no permission, so it is there for somebody who has none left.
    Person,
    /// Whoever has the permission.
    Needs(Permission),
}

/// What an endpoint is about; the document groups by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

/// The schema of something, made when the document is.
pub(crate) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// A part of the path that the caller fills in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathParam {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) schema: Describe,
}

/// What is in a body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// JSON of this shape.
    Json(Describe),
    /// A JSON object with at least these members: the shape belongs to somebody else.
    Object(&'static [&'static str]),
    /// The same or, when the caller asks for a stream, server-sent events.
    ObjectOrStream(&'static [&'static str]),
    /// Server-sent events.
    Stream,
    /// Something else, by its media type.
    Other(&'static str),
    /// One of these, by their media types.
    Others(&'static [&'static str]),
}

/// One way in which an endpoint answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) about: &'static str,
    pub(crate) content: Content,
}

/// An endpoint.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Its name in generated clients.
    pub(crate) id: &'static str,
    pub(crate) tag: Tag,
    pub(crate) summary: &'static str,
    pub(crate) about: &'static str,
    pub(crate) guard: Guard,
    pub(crate) wire: Wire,
    pub(crate) params: Vec<PathParam>,
    pub(crate) query: Option<Describe>,
    pub(crate) body: Option<Content>,
    /// What the body may look like, as JSON.
    pub(crate) example: Option<&'static str>,
    pub(crate) answers: Vec<Answer>,
    /// The statuses of refusals beyond those that follow from the rest.
    pub(crate) refusals: Vec<StatusCode>,
    handler: MethodRouter<App>,
}

/// The schema of `T`.
pub(crate) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Endpoint {
    /// An endpoint that everybody may call until it says otherwise.
    pub(crate) fn new<H, T>(
        tag: Tag,
        method: Method,
        path: &'static str,
        id: &'static str,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        // Every method of the table is one that axum knows; `every_endpoint_answers` calls each of them.
        let filter = MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::GET);
        Self {
            method,
            path,
            id,
            tag,
            summary: "",
            about: "",
            guard: Guard::Public,
            wire: Wire::of(path),
            params: Vec::new(),
            query: None,
            body: None,
            example: None,
            answers: Vec::new(),
            refusals: Vec::new(),
            handler: on(filter, handler),
        }
    }

    pub(crate) fn guard(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }

    /// Whoever calls has this permission.
    pub(crate) fn needs(self, permission: Permission) -> Self {
        self.guard(Guard::Needs(permission))
    }

    /// What it does, in a line.
    pub(crate) fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// What else there is to know.
    pub(crate) fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// A part of the path.
    pub(crate) fn param<T: JsonSchema>(mut self, name: &'static str, about: &'static str) -> Self {
        self.params.push(PathParam { name, about, schema: schema_of::<T> });
        self
    }

    pub(crate) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(schema_of::<T>);
        self
    }

    /// Takes JSON of this shape, such as `example`.
    pub(crate) fn takes<T: JsonSchema>(mut self, example: &'static str) -> Self {
        (self.body, self.example) = (Some(Content::Json(schema_of::<T>)), Some(example));
        self
    }

    /// Takes a JSON object of somebody else's shape.
    pub(crate) fn takes_object(mut self, members: &'static [&'static str], example: &'static str) -> Self {
        (self.body, self.example) = (Some(Content::Object(members)), Some(example));
        self
    }

    /// Answers 200 with JSON of this shape.
    pub(crate) fn answers<T: JsonSchema>(self, about: &'static str) -> Self {
        self.answers_with(StatusCode::OK, about, Content::Json(schema_of::<T>))
    }

    /// Answers 201 with JSON of this shape.
    pub(crate) fn creates<T: JsonSchema>(self, about: &'static str) -> Self {
        self.answers_with(StatusCode::CREATED, about, Content::Json(schema_of::<T>))
    }

    /// Answers 202 with JSON of this shape: what was asked for will be done.
    pub(crate) fn accepts<T: JsonSchema>(self, about: &'static str) -> Self {
        self.answers_with(StatusCode::ACCEPTED, about, Content::Json(schema_of::<T>))
    }

    pub(crate) fn answers_with(mut self, status: StatusCode, about: &'static str, content: Content) -> Self {
        self.answers.push(Answer { status, about, content });
        self
    }

    /// May also refuse in this way.
    pub(crate) fn may_refuse(mut self, status: StatusCode) -> Self {
        self.refusals.push(status);
        self
    }

    /// Every status of a refusal, in order.
    pub(crate) fn all_refusals(&self) -> Vec<StatusCode> {
        let mut all = self.refusals.clone();
        if self.body.is_some() {
            all.extend([StatusCode::BAD_REQUEST, StatusCode::REQUEST_TIMEOUT, StatusCode::PAYLOAD_TOO_LARGE]);
        }
        if self.query.is_some() {
            all.push(StatusCode::BAD_REQUEST);
        }
        if !self.params.is_empty() {
            all.push(StatusCode::NOT_FOUND);
        }
        if self.guard != Guard::Public {
            // A name in a header can be malformed, whatever the method.
            all.extend([
                StatusCode::BAD_REQUEST,
                StatusCode::UNAUTHORIZED,
                StatusCode::FORBIDDEN,
                StatusCode::TOO_MANY_REQUESTS,
                StatusCode::INTERNAL_SERVER_ERROR,
                StatusCode::SERVICE_UNAVAILABLE,
            ]);
            if self.method != Method::GET {
                all.push(StatusCode::INSUFFICIENT_STORAGE);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Joins the router, behind its guard.
    pub(crate) fn join(self, router: Router<App>, app: &App) -> Router<App> {
        let handler = match self.guard {
            Guard::Public => self.handler,
            guard => {
                let gate = Gate {
                    app: app.clone(),
                    guard,
                    wire: self.wire,
                    surface: Surface::of(self.path),
                    path: self.path,
                };
                self.handler.route_layer(middleware::from_fn_with_state(gate, gate::pass))
            }
        };
        router.route(self.path, handler)
    }
}

/// A JSON object with at least these members.
pub(crate) fn object_with(members: &[&str]) -> Schema {
    json_schema!({ "type": "object", "required": members, "additionalProperties": true })
}
