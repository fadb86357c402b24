//! Every trick of `evasions.txt`, played against a listener that must stay alone; and the same tricks where they are
//! allowed, so that it is known that they would work.

use std::collections::{BTreeMap, HashSet};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use egress::{EgressError, Kind, Method, Place, Reach, Redirects, Request};

use crate::server::{Server, redirect};
use crate::table::{Evasion, Trick, evasions};
use crate::world::{HERE, Listener, Names, Watched, client_with};

/// A world in which a trick is played.
struct Stage {
    listener: Listener,
    reach: Reach,
}

/// What became of it.
struct Played {
    /// The reason of a refusal, the name of another error, or what an answer said.
    said: String,
    /// Who was dialled, beside the server that redirects.
    dialled: Vec<SocketAddr>,
}

impl Stage {
    async fn play(&self, trick: &Trick) -> Played {
        let port = self.listener.port.to_string();
        let here = |text: &str| text.replace("{port}", &port);
        match trick {
            Trick::Url(url) => self.ask(&here(url), &["127.0.0.1"], None).await,
            Trick::Name { name, addresses } => {
                self.ask(&format!("http://{name}:{port}/"), &[addresses], None).await
            }
            Trick::Rebind { first, then } => self.ask_twice(first, then).await,
            Trick::Redirect { before, status, location } => {
                let again = std::iter::repeat_n(redirect(*status, "/again"), *before);
                let server = Server::start(again.chain([redirect(*status, &here(location))])).await;
                self.ask(&format!("http://good.example:{}/", server.port), &["127.0.0.1"], Some(server)).await
            }
            Trick::Loop { status, location } => {
                let server = Server::start([redirect(*status, &location.replace("{hop}", "{self}"))]).await;
                self.ask(&format!("http://good.example:{}/", server.port), &["127.0.0.1"], Some(server)).await
            }
        }
    }

    /// Asks for `url`. The server that redirects, if there is one, may be reached.
    async fn ask(&self, url: &str, leading_to: &[&str], server: Option<Server>) -> Played {
        let hop = server.as_ref().map(|server| server.port);
        let place = hop.map(|port| format!("good.example:{port}").parse::<Place>().unwrap());
        let reach = place.into_iter().fold(self.reach.clone(), Reach::and);
        let watched = Arc::new(Watched::default());
        let client = client_with(reach, Names::leading_to(leading_to), Arc::clone(&watched));
        let request = Request::new(Method::Get, url).redirects(Redirects::Follow);
        let said = tell(client.send(&request).await.map(|answer| answer.body.to_vec()));
        let dialled = watched.dialled().into_iter().filter(|address| Some(address.port()) != hop);
        Played { said, dialled: dialled.collect() }
    }

    /// The first time the name leads outside, and exactly that is dialled although it leads inside by then. The second
    /// time it is refused.
    async fn ask_twice(&self, first: &str, then: &str) -> Played {
        let watched = Arc::new(Watched::default());
        let names = Names::leading_to(&[first, then]);
        let client = client_with(self.reach.clone(), names, Arc::clone(&watched));
        let request = Request::new(Method::Get, format!("http://evil.example:{}/", self.listener.port));
        let outside = client.send(&request).await.unwrap_err();
        assert!(matches!(outside, EgressError::Connect { .. }), "{first} {then}: {outside}");
        let port = self.listener.port;
        let pinned: Vec<SocketAddr> = first
            .split(',')
            .map(|address| SocketAddr::new(address.parse::<IpAddr>().unwrap().to_canonical(), port))
            .collect();
        assert_eq!(watched.dialled(), pinned, "{first} {then}");
        let said = tell(client.send(&request).await.map(|answer| answer.body.to_vec()));
        Played { said, dialled: watched.dialled() }
    }
}

fn tell(answer: Result<Vec<u8>, EgressError>) -> String {
    match answer {
        Ok(body) => String::from_utf8(body).unwrap(),
        Err(error) => error.refusal().map_or(error.name(), |refusal| refusal.name()).to_owned(),
    }
}

#[test]
fn the_table_is_long_and_says_nothing_twice() {
    let all = evasions();
    let lines: HashSet<String> =
        all.iter().map(|evasion| evasion.line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines.len(), all.len());
    assert!(all.len() >= 600, "{}", all.len());
}

#[tokio::test]
async fn no_evasion_reaches_the_listener() {
    let mut stage = Stage { listener: Listener::start().await, reach: Reach::public() };
    let mut wrong = Vec::new();
    for Evasion { line, trick, reason } in evasions() {
        let played = stage.play(&trick).await;
        if played.said != reason || !played.dialled.is_empty() {
            wrong.push(format!("{line}\n    said {}, dialled {:?}", played.said, played.dialled));
        }
    }
    assert!(wrong.is_empty(), "{} of the table:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(stage.listener.visitors().await, 0);
}

/// The control: the same lines, by a client that may reach this machine, do reach the listener. So the test above can fail.
#[tokio::test]
async fn where_this_machine_may_be_reached_the_same_lines_reach_it() {
    let mut stage = Stage { listener: Listener::start().await, reach: Reach::private() };
    let mut reached = BTreeMap::<&str, usize>::new();
    for Evasion { line, trick, reason } in evasions() {
        // Nobody shakes hands there, and what was refused for its spelling stays so.
        if !matches!(reason, "loopback" | "local_name") || line.contains("https:") {
            continue;
        }
        let kind = line.split_whitespace().next().unwrap();
        let played = stage.play(&trick).await;
        // 127.0.0.2 is this machine too, and nobody listens there.
        let ends_here = |address: &SocketAddr| address.ip() == HERE || address.ip() == Ipv6Addr::LOCALHOST;
        if played.dialled.last().is_some_and(ends_here) {
            assert!(played.said == "reached" || !stage.listener.has_v6, "{line}: {}", played.said);
            *reached.entry(kind).or_default() += usize::from(played.said == "reached");
        }
    }
    let all: usize = reached.values().sum();
    assert_eq!(stage.listener.visitors().await, all, "{reached:?}");
    assert!(
        all >= 150 && ["url", "name", "redirect", "chain"].iter().all(|kind| reached[kind] >= 8),
        "{reached:?}"
    );
}

#[tokio::test]
async fn a_listed_place_is_reached_though_nothing_else_on_this_machine_is() {
    let listener = Listener::start().await;
    let port = listener.port;
    let reach = Reach::public().and(format!("hooks:{port}").parse().unwrap());
    let mut stage = Stage { listener, reach };
    let played = stage.play(&Trick::Url("http://hooks:{port}/".to_owned())).await;
    assert_eq!((played.said.as_str(), played.dialled), ("reached", vec![SocketAddr::new(HERE, port)]));
    for other in ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://hooks.example:{port}/"] {
        let played = stage.play(&Trick::Url(other.to_owned())).await;
        assert_ne!(played.said, "reached", "{other}");
    }
    assert_eq!(stage.listener.visitors().await, 1);
}

#[tokio::test]
async fn metadata_services_are_refused_whatever_is_allowed() {
    let mut stage = Stage { listener: Listener::start().await, reach: Reach::private() };
    let metadata: Vec<Evasion> =
        evasions().into_iter().filter(|evasion| evasion.reason == "metadata").collect();
    assert!(metadata.len() >= 60, "{}", metadata.len());
    for Evasion { line, trick, reason } in metadata {
        let played = stage.play(&trick).await;
        assert_eq!(played.said, reason, "{line}");
        let is_outside = |address: &SocketAddr| Kind::of(address.ip()) == Kind::Public;
        assert!(played.dialled.iter().all(is_outside), "{line}: {:?}", played.dialled);
    }
    assert_eq!(stage.listener.visitors().await, 0);
}
