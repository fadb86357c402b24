//! Programs of one form, by tenant and by the kind of work they are for. Whoever looks up does not wait for the store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use artifact::fingerprint::skeleton;
use schema::{Digest, TenantId};
use wire::Request;

use crate::instructions::Known;
use crate::shelf::Shelved;
use crate::task::{Loose, Task, Unlearnable};

/// By tenant, then by the kind of work.
pub(crate) type Programs = HashMap<TenantId, HashMap<Digest, Arc<Shelved>>>;

/// Programs of one form.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// Whether there is anything at all.
    any: AtomicBool,
    tenants: RwLock<Programs>,
    /// Instructions of requests that came since these programs are here.
    instructions: Known,
}

impl Board {
    /// These are on it from now on.
    pub(crate) fn put(&self, programs: Programs) {
        self.any.store(!programs.is_empty(), Ordering::Release);
        *self.tenants.write().unwrap_or_else(PoisonError::into_inner) = programs;
        self.instructions.forget();
    }

    /// Whether anything of the tenant's is.
    pub(crate) fn has_any(&self, tenant: TenantId) -> bool {
        self.any.load(Ordering::Acquire)
            && self.tenants.read().unwrap_or_else(PoisonError::into_inner).contains_key(&tenant)
    }

    /// The program for a request, and what is different in it every time.
    pub(crate) fn search(
        &self,
        tenant: TenantId,
        model: &str,
        request: &Request,
    ) -> Result<Option<(Arc<Shelved>, String)>, Unlearnable> {
        let read = |text: &str| self.instructions.read(tenant, text);
        Ok(match Task::by(read, model, request) {
            Ok(task) => self.find(tenant, task.key).map(|found| (found, task.input)),
            Err(why) => {
                let loose = Loose::of(model, request).filter(|_| why == Unlearnable::NoInstructions);
                let loose = loose.ok_or(why)?;
                self.find_template(tenant, &loose).map(|found| (found, loose.text))
            }
        })
    }

    /// The program for a kind of work.
    pub(crate) fn find(&self, tenant: TenantId, key: Digest) -> Option<Arc<Shelved>> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        tenants.get(&tenant)?.get(&key).cloned()
    }

    /// What serves requests that fit a mined template, if one is: where two could be meant, nothing does.
    fn find_template(&self, tenant: TenantId, loose: &Loose) -> Option<Arc<Shelved>> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        let programs = tenants.get(&tenant)?.values();
        let here = skeleton(&loose.text);
        let admits = |shelved: &&Arc<Shelved>| {
            let template = shelved.executable.template.as_ref();
            template.is_some_and(|template| template.admits_pieces(loose.base, &here))
        };
        let mut fitting = programs.filter(admits);
        fitting.next().filter(|_| fitting.next().is_none()).cloned()
    }
}
