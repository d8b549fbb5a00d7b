//! Who a message comes from.

use crate::wire::{Opt, open_enum, record, union};

union! {
    /// Who a message comes from. Unknown kinds are not human; absent means nobody said.
    pub enum MessageOrigin by "kind" {
        /// A person typed it. The only kind that is honoured when a host stamps it.
        "human" => Human(PlainOrigin),
        /// A messaging channel.
        "channel" => Channel(ChannelOrigin),
        /// Another session.
        "peer" => Peer(PeerOrigin),
        /// A background task.
        "task-notification" => TaskNotification(TaskNotificationOrigin),
        /// The coordinator of a team.
        "coordinator" => Coordinator(PlainOrigin),
        /// Not classified.
        "unclassified" => Unclassified(PlainOrigin),
        /// An observing agent.
        "observer" => Observer(ObserverOrigin),
        /// The CLI itself, to go on.
        "auto-continuation" => AutoContinuation(PlainOrigin),
        /// Activity that an observer saw.
        "observer-activity" => ObserverActivity(PlainOrigin),
    }
}

record! {
    /// An origin that needs no more than its kind.
    #[derive(Default)]
    pub struct PlainOrigin {}

    /// A messaging channel.
    #[derive(Default)]
    pub struct ChannelOrigin {
        /// The MCP server that delivered it.
        server: String,
    }

    /// Another session.
    #[derive(Default)]
    pub struct PeerOrigin {
        /// Its address.
        from: String,
        /// How it judges tool calls.
        from_mode as "fromMode": Opt<PeerMode>,
        /// Its name.
        name: Opt<String>,
        /// Its session.
        from_session as "fromSession": Opt<String>,
        /// Its task.
        sender_task_id as "senderTaskId": Opt<String>,
        /// What it said.
        body: Opt<String>,
        /// Its process, when that was checked.
        verified_peer_pid as "verifiedPeerPid": Opt<u64>,
    }

    /// A background task.
    #[derive(Default)]
    pub struct TaskNotificationOrigin {
        /// What kind of notification it is.
        subkind: Opt<TaskNotificationKind>,
        /// Why a schedule fired.
        fire_reason as "fireReason": Opt<String>,
        /// The run it belongs to.
        run_id as "runId": Opt<String>,
        /// What made the notification.
        producer: Opt<String>,
    }

    /// An observing agent.
    #[derive(Default)]
    pub struct ObserverOrigin {
        /// Its address.
        from: String,
        /// Its task.
        sender_task_id as "senderTaskId": String,
    }
}

open_enum! {
    /// How a peer judges tool calls.
    pub enum PeerMode {
        /// Without asking.
        Bypass = "bypass",
        /// It asks someone.
        Prompting = "prompting",
    }

    /// What a task notification is about.
    pub enum TaskNotificationKind {
        /// A schedule fired.
        ScheduledTrigger = "scheduled-trigger",
        /// A peer sent a message.
        PeerSendMessage = "peer-send-message",
        /// A project relayed it.
        ProjectsRelay = "projects-relay",
        /// It lay in the session's inbox.
        SessionInbox = "session-inbox",
    }
}
