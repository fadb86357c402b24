//! Identical requests that come together wait for one answer.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// The requests that are being answered now, in this process.
#[derive(Debug)]
pub struct Flights<K: Eq + Hash>(Arc<Mutex<HashMap<K, watch::Receiver<()>>>>);

/// What a request finds when it comes.
#[derive(Debug)]
pub enum Entry<K: Eq + Hash> {
    /// Nobody asks the same: this one goes ahead, and the others wait until the lead is dropped.
    Lead(Lead<K>),
    /// Somebody asked the same, and is done now.
    Joined,
}

/// Held by the one that went ahead. Those who wait go on when it is dropped, however it ended.
#[derive(Debug)]
pub struct Lead<K: Eq + Hash> {
    flights: Flights<K>,
    key: K,
    /// Its end is what the others wait for.
    _landed: watch::Sender<()>,
}

impl<K: Eq + Hash> Clone for Flights<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Eq + Hash> Default for Flights<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Eq + Hash + Clone> Flights<K> {
    /// Goes ahead, or waits for who does. A leader that fails lets everybody go at once, not one after the other: an
    /// upstream that is slow to fail must not be waited for by turns.
    pub async fn enter(&self, key: &K) -> Entry<K> {
        let mut waiting = {
            let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(ahead) = flights.get(key) {
                ahead.clone()
            } else {
                let (landed, wait) = watch::channel(());
                flights.insert(key.clone(), wait);
                return Entry::Lead(Lead { flights: self.clone(), key: key.clone(), _landed: landed });
            }
        };
        // It never changes: what is waited for is that the sender goes.
        let _ = waiting.changed().await;
        Entry::Joined
    }
}

impl<K: Eq + Hash> Drop for Lead<K> {
    fn drop(&mut self) {
        self.flights.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_leads_and_all_others_wait_until_it_lands() {
        let flights = Flights::default();
        let Entry::Lead(lead) = flights.enter(&7).await else { unreachable!("nobody is ahead") };
        let others: Vec<_> = (0..20)
            .map(|_| {
                let flights = flights.clone();
                tokio::spawn(async move { matches!(flights.enter(&7).await, Entry::Joined) })
            })
            .collect();
        assert!(matches!(flights.enter(&8).await, Entry::Lead(_)), "another request waits for nobody");
        tokio::task::yield_now().await;
        assert!(others.iter().all(|other| !other.is_finished()));
        drop(lead);
        for other in others {
            assert!(other.await.unwrap());
        }
        assert!(matches!(flights.enter(&7).await, Entry::Lead(_)), "afterwards nobody is ahead");
    }
}
