//! Messages on their way to browsers.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, RETRY_AFTER};
use tokio::sync::Semaphore;
use web_push_native::encrypt;

use super::endpoint::{PublicNames, Reach};
use super::subscriptions::{PushError, Subscribed, Subscription, Subscriptions, file_error};
use super::vapid::Vapid;
use crate::auth::DeviceId;

/// How many messages are on their way at a time.
const AT_ONCE: usize = 16;

/// How often one message is tried.
const ATTEMPTS: u32 = 5;

/// How much longer each wait is than the one before.
const BACK_OFF: u32 = 4;

/// Push services take bodies of 4096 bytes; encryption adds 103.
const LONGEST_TEXT: usize = 3000;

/// The longest wait that a service may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

/// How long a service may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a service keeps a message for a browser that is off.
const KEPT_SECONDS: u32 = 4 * 60 * 60;

/// Services want some contact, and a bridge that only its own machine reaches has none.
const NO_CONTACT: &str = "mailto:nobody@pilothouse.invalid";

/// How messages are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushSetup {
    /// How the people behind this bridge can be reached, as `mailto:` or `https:`; push services may ask for it. Without
    /// one, it is the bridge's public address.
    pub contact: Option<String>,
    /// How long to wait before the second attempt; each further wait is longer.
    pub first_wait: Duration,
    /// Whether addresses that are not public may be called. Only good for a push service on the same machine, in a test.
    pub allow_local: bool,
}

impl Default for PushSetup {
    fn default() -> Self {
        Self { contact: None, first_wait: Duration::from_secs(1), allow_local: false }
    }
}

/// How soon a message is to arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Somebody waits for the user.
    High,
    /// It is good to know.
    Normal,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// The service has it.
    Yes,
    /// The browser is no longer subscribed.
    Gone,
    /// The service refused it, or could not be reached.
    No,
    /// It was no news any more.
    Unwanted,
}

/// Sends messages to the browsers that want them.
pub(crate) struct Push {
    vapid: Vapid,
    subscriptions: Subscriptions,
    contact: String,
    first_wait: Duration,
    reach: Reach,
    slots: Semaphore,
    /// Made when it is first needed, as it reads the certificates of the system.
    http: OnceLock<Result<reqwest::Client, String>>,
}

impl Push {
    /// Reads the key and the subscriptions in this directory, or makes them. `url` is where the bridge is found.
    pub(crate) fn open(directory: &Path, setup: PushSetup, url: &str) -> Result<Self, PushError> {
        let key = directory.join("push.key");
        let vapid = Vapid::open(&key).map_err(|error| file_error(&key, &error))?;
        let subscriptions = Subscriptions::open(directory.join("push.json"))?;
        let reach = if setup.allow_local { Reach::Anywhere } else { Reach::Public };
        let public = Some(url.to_owned()).filter(|url| url.starts_with("https:"));
        let contact = setup.contact.or(public).unwrap_or_else(|| NO_CONTACT.to_owned());
        let first_wait = setup.first_wait;
        let slots = Semaphore::new(AT_ONCE);
        Ok(Self { vapid, subscriptions, contact, first_wait, reach, slots, http: OnceLock::new() })
    }

    /// What browsers subscribe to.
    pub(crate) fn public_key(&self) -> String {
        self.vapid.public_key()
    }

    /// Adds a browser of a device.
    pub(crate) fn subscribe(&self, device: &DeviceId, subscription: Subscription) -> Result<(), PushError> {
        let refused = |why: &str| PushError::NoSubscription(format!("its endpoint cannot be called: {why}"));
        self.reach.check(&subscription.endpoint).map_err(refused)?;
        subscription.keys()?;
        self.subscriptions.add(device, subscription)
    }

    /// Takes a browser of a device away.
    pub(crate) fn unsubscribe(&self, device: &DeviceId, endpoint: &str) -> Result<(), PushError> {
        self.subscriptions.remove(Some(device), endpoint)
    }

    /// Takes away what belongs to devices that are no more.
    pub(crate) fn keep(&self, devices: &[DeviceId]) -> Result<(), PushError> {
        self.subscriptions.keep(devices)
    }

    /// The browsers of all devices.
    pub(crate) fn subscribed(&self) -> Vec<(DeviceId, Subscription)> {
        let all = self.subscriptions.list().into_iter();
        all.map(|Subscribed { device, subscription }| (device, subscription)).collect()
    }

    /// Sends a message to one browser, several times if need be, as long as it is wanted. `topic` is what a newer message
    /// replaces an older one by.
    pub(crate) async fn send(
        &self,
        to: &Subscription,
        message: &str,
        topic: &str,
        urgency: Urgency,
        is_wanted: impl Fn() -> bool,
    ) -> Delivered {
        let mut wait = self.first_wait;
        for attempt in 1..=ATTEMPTS {
            // Only while it is on its way: what waits for a service that is down must not keep others waiting.
            let slot = self.slots.acquire().await;
            if !is_wanted() {
                return Delivered::Unwanted;
            }
            let answer = self.attempt(to, message, topic, urgency).await;
            drop(slot);
            let asked_to_wait = match answer {
                Ok(Answer { status, .. }) if status.is_success() => return Delivered::Yes,
                Ok(Answer { status: StatusCode::NOT_FOUND | StatusCode::GONE, .. }) => {
                    if let Err(error) = self.subscriptions.remove(None, &to.endpoint) {
                        tracing::warn!(%error, "a subscription that is gone stays in its file");
                    }
                    return Delivered::Gone;
                }
                Ok(Answer { status, wait }) if passes(status) => {
                    tracing::debug!(%status, attempt, "a push service asks to try again");
                    wait
                }
                Ok(Answer { status, .. }) => {
                    tracing::warn!(%status, "a push service refused a message");
                    return Delivered::No;
                }
                Err(why) => {
                    tracing::debug!(why, attempt, "a push service could not be reached");
                    None
                }
            };
            if attempt < ATTEMPTS {
                tokio::time::sleep(asked_to_wait.unwrap_or(wait).min(LONGEST_WAIT)).await;
                wait *= BACK_OFF;
            }
        }
        tracing::warn!("a message could not be pushed");
        Delivered::No
    }

    async fn attempt(
        &self,
        to: &Subscription,
        message: &str,
        topic: &str,
        urgency: Urgency,
    ) -> Result<Answer, String> {
        let url = self.reach.check(&to.endpoint)?;
        let (public, auth) = to.keys().map_err(|error| error.to_string())?;
        let message = message.get(..message.floor_char_boundary(LONGEST_TEXT)).unwrap_or_default();
        let body = encrypt(message.into(), &public, &auth).map_err(|error| error.to_string())?;
        let origin = url.origin().ascii_serialization();
        let now = jiff::Timestamp::now().as_millisecond();
        let signed = self.vapid.authorization(&origin, &self.contact, now);
        let urgency = match urgency {
            Urgency::High => "high",
            Urgency::Normal => "normal",
        };
        let request = self
            .http()?
            .post(url)
            .header(AUTHORIZATION, signed.ok_or("it cannot be signed")?)
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("ttl", KEPT_SECONDS)
            .header("urgency", urgency)
            .header("topic", topic)
            .body(body);
        let answer = request.send().await.map_err(|error| error.to_string())?;
        let after = answer.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok());
        let wait = after.and_then(|after| after.trim().parse().ok()).map(Duration::from_secs);
        Ok(Answer { status: answer.status(), wait })
    }

    fn http(&self) -> Result<&reqwest::Client, String> {
        let made = self.http.get_or_init(|| build(self.reach).map_err(|error| error.to_string()));
        made.as_ref().map_err(Clone::clone)
    }
}

/// What a service says.
struct Answer {
    status: StatusCode,
    /// How long it asks to wait.
    wait: Option<Duration>,
}

/// Whether what is wrong may be right again in a moment.
fn passes(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
}

fn build(reach: Reach) -> reqwest::Result<reqwest::Client> {
    // Somebody else may have chosen a provider before; either will do.
    drop(tokio_rustls::rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder()
        .timeout(PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .pool_max_idle_per_host(1);
    match reach {
        Reach::Public => client.https_only(true).dns_resolver(PublicNames::shared()).build(),
        // Reading the system's certificates takes time, and a service on this machine has none of them.
        Reach::Anywhere => client.tls_certs_only([]).build(),
    }
}

impl std::fmt::Debug for Push {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Push").field("contact", &self.contact).finish_non_exhaustive()
    }
}
