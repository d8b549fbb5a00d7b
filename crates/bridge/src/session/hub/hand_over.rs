//! From one bridge to the next: what is at rest ends with the bridge, and what was at work is gone on with.

use std::sync::Arc;

use super::launch::Launch;
use super::{Hub, lock};
use crate::api::{ErrorCode, Lease, SessionId, SessionView};
use crate::auth::{Roots, Scopes};
use crate::session::command::What;
use crate::session::refusal::Refusal;

impl Hub {
    /// Ends every session that has a CLI, and says which. Those that were at work are handed over to the next bridge on
    /// this log: see [`Hub::take_over`].
    pub async fn shut_down(&self, by: &str) -> Vec<SessionId> {
        let live: Vec<SessionId> = {
            let sessions = lock(&self.inner.sessions);
            sessions.iter().filter(|(_, entry)| entry.is_live()).map(|(id, _)| id.clone()).collect()
        };
        // All are told before any is waited for, as each may take its time.
        let mut ending = Vec::new();
        for id in &live {
            ending.extend(self.submit(id, What::ShutDown, by).await);
        }
        for ended in ending {
            drop(ended.await);
        }
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        live
    }

    /// Goes on with the sessions that the last bridge handed over, as far as they are beneath `roots`, and says which. Their
    /// messages that waited are sent; what ran when the bridge was shut down is not repeated.
    pub async fn take_over(&self, roots: &Roots, by: &str) -> Vec<SessionView> {
        let mut taken = Vec::new();
        for view in self.list(true).into_iter().filter(|view| view.handed_over) {
            let opened = roots.open(&view.project_path);
            let opened =
                opened.map_err(|error| Refusal::new(ErrorCode::ProjectNotAllowed, error.to_string()));
            let project = match opened {
                // Nobody is there to ask, so that it starts as a device of no great scopes would start it.
                Ok(project) => self.clear(project, Scopes::usual()).await.map(Arc::new),
                Err(refusal) => Err(refusal),
            };
            let project = match project {
                Ok(project) => project,
                Err(error) => {
                    tracing::warn!(session = %view.session_id, %error, "a session is not gone on with");
                    continue;
                }
            };
            let launch = Launch {
                project,
                resume: view.claude_session_id.clone(),
                fork: false,
                mode: None,
                model: None,
                by: by.to_owned(),
                key: None,
            };
            let started = match &launch.resume {
                Some(_) => self.launch(launch, Lease::Attach).await,
                None => self.run_again(&view.session_id, launch).await,
            };
            match started {
                Ok(_) => taken.push(view),
                Err(refusal) => {
                    tracing::warn!(session = %view.session_id, why = refusal.message, "a session is not gone on with");
                }
            }
        }
        taken
    }
}
