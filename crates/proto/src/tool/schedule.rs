use serde_json::{Map, Number, Value};

use crate::wire::{Opt, SessionId, open_enum, record};

record! {
    /// Makes a schedule.
    #[derive(Default)]
    pub struct CronCreateInput {
        /// When, as a cron expression.
        cron: String,
        /// The prompt.
        prompt: String,
        /// Whether it repeats.
        recurring: Opt<bool>,
        /// Whether it outlives the session.
        durable: Opt<bool>,
    }

    /// The schedule.
    #[derive(Default)]
    pub struct CronCreateOutput {
        /// Names it.
        id: String,
        /// The same in words.
        human_schedule as "humanSchedule": String,
        /// Whether it repeats.
        recurring: bool,
        /// Whether it outlives the session.
        durable: Opt<bool>,
        /// When it fires next.
        next_fire_at as "nextFireAt": Opt<Number>,
    }

    /// Removes a schedule.
    #[derive(Default)]
    pub struct CronDeleteInput {
        /// Names it.
        id: String,
    }

    /// The schedule.
    #[derive(Default)]
    pub struct CronDeleteOutput {
        /// Names it.
        id: String,
        /// Set when a wake-up ended with it.
        ended_loop_wakeup as "endedLoopWakeup": Opt<bool>,
    }

    /// Lists the schedules.
    #[derive(Default)]
    pub struct CronListInput {}

    /// The schedules.
    #[derive(Default)]
    pub struct CronListOutput {
        /// The schedules.
        jobs: Vec<CronJob>,
    }

    /// A schedule.
    #[derive(Default)]
    pub struct CronJob {
        /// Names it.
        id: String,
        /// When, as a cron expression.
        cron: String,
        /// The same in words.
        human_schedule as "humanSchedule": String,
        /// The prompt.
        prompt: String,
        /// Whether it repeats.
        recurring: Opt<bool>,
        /// Whether it outlives the session.
        durable: Opt<bool>,
        /// When it fires next.
        next_fire_at as "nextFireAt": Opt<Number>,
    }

    /// Wakes the model up later.
    #[derive(Default)]
    pub struct ScheduleWakeupInput {
        /// How long to wait.
        delay_seconds as "delaySeconds": Opt<Number>,
        /// Why.
        reason: Opt<String>,
        /// The prompt.
        prompt: Opt<String>,
        /// Whether to stop.
        stop: Opt<bool>,
        /// Whether to do nothing.
        noop: Opt<bool>,
    }

    /// When that will be.
    pub struct ScheduleWakeupOutput {
        /// When, in milliseconds since 1970.
        scheduled_for as "scheduledFor": Number,
        /// The delay that was taken.
        clamped_delay_seconds as "clampedDelaySeconds": Number,
        /// Whether the delay was cut.
        was_clamped as "wasClamped": bool,
        /// Whether it was stopped.
        stopped: Opt<bool>,
        /// How many were cancelled.
        cancelled_wakeups as "cancelledWakeups": Opt<u64>,
    }

    /// Handles remote triggers.
    pub struct RemoteTriggerInput {
        /// What the user did.
        action: RemoteTriggerAction,
        /// The trigger.
        trigger_id: Opt<String>,
        /// The session.
        session_id: Opt<SessionId>,
        /// Where to go on.
        cursor: Opt<String>,
        /// What to send.
        body: Opt<Map<String, Value>>,
    }

    /// The answer of the service.
    #[derive(Default)]
    pub struct RemoteTriggerOutput {
        /// The state.
        status: u64,
        /// The answer as JSON text.
        json: String,
        /// A summary.
        summary: Opt<String>,
    }

    /// Sends a notification.
    #[derive(Default)]
    pub struct PushNotificationInput {
        /// The text.
        message: String,
        /// The state.
        status: Opt<PushStatus>,
    }

    /// Whether it was sent.
    #[derive(Default)]
    pub struct PushNotificationOutput {
        /// The text.
        message: String,
        /// Whether it was pushed.
        push_sent as "pushSent": Opt<bool>,
        /// Whether it was shown here.
        local_sent as "localSent": Opt<bool>,
        /// Why nothing was sent.
        disabled_reason as "disabledReason": Opt<PushDisabledReason>,
        /// When it was sent.
        sent_at as "sentAt": Opt<String>,
    }

    /// Reads queued notifications.
    #[derive(Default)]
    pub struct ReadNotificationsInput {}

    /// The notifications.
    #[derive(Default)]
    pub struct ReadNotificationsOutput {
        /// The notifications.
        notifications: Vec<QueuedNotification>,
        /// How many are left.
        remaining: u64,
        /// When they were read.
        read_at: Opt<String>,
    }

    /// A notification that waited.
    #[derive(Default)]
    pub struct QueuedNotification {
        /// Names it.
        notification_id: String,
        /// Where it comes from.
        origin: String,
        /// When it was queued.
        queued_at: String,
        /// The content.
        content: String,
        /// When it arrived.
        arrived_at: Opt<String>,
    }
}

open_enum! {
    /// What to do with remote triggers.
    pub enum RemoteTriggerAction {
        List = "list",
        Get = "get",
        Create = "create",
        Update = "update",
        Run = "run",
        CreateWebhookTrigger = "create_webhook_trigger",
        ListRuns = "list_runs",
        GetRunLog = "get_run_log",
    }

    /// Why a notification is sent.
    pub enum PushStatus {
        Proactive = "proactive",
    }

    /// Why nothing was sent.
    pub enum PushDisabledReason {
        ConfigOff = "config_off",
        UserPresent = "user_present",
        NoTransport = "no_transport",
    }
}
