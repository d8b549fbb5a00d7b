// What the bridge says, as far as the page looks at it; docs/bridge-protocol.md says what it means. Types only.

/**
 * @typedef {'idle' | 'running' | 'waiting_approval'} Status
 * @typedef {'running' | 'interrupted' | 'ended'} Lifecycle
 * @typedef {'queue' | 'steer' | 'interrupt'} Delivery
 * @typedef {'queued' | 'edited' | 'sending' | 'delivered' | 'cancelled' | 'indeterminate'} InputState
 * @typedef {{mediaType: string, data: string}} Image
 *
 * @typedef {{kind: ' ' | '+' | '-', html: string}} DiffLine
 * @typedef {{oldStart: number, newStart: number, lines: DiffLine[]}} Hunk
 * @typedef {{path: string, added: number, removed: number, hunks: Hunk[], cut?: boolean}} Diff
 * @typedef {{kind: string, html?: string, path?: string, diff?: Diff, cut?: boolean}} Preview
 *
 * @typedef {{label: string, description?: string, preview?: string}} Option
 * @typedef {{question: string, header?: string, options: Option[], multiSelect?: boolean}} Question
 * @typedef {{type: string, behavior?: string, destination?: string, mode?: string, directories?: string[],
 *   rules?: {toolName: string, ruleContent?: string | null}[]}} Suggestion
 *
 * @typedef {object} Approval
 * @property {string} id
 * @property {string} toolUseId
 * @property {string} toolName
 * @property {Record<string, any>} input
 * @property {Suggestion[]} [suggestions]
 * @property {string} [reason]
 * @property {Question[]} [questions]
 * @property {Preview} [preview]
 * @property {string} [digest]
 *
 * @typedef {object} SessionView
 * @property {string} id
 * @property {string} projectPath
 * @property {Status} status
 * @property {Lifecycle} state
 * @property {string} [claudeSessionId]
 * @property {string} [title]
 * @property {string} [branch]
 * @property {string} [model]
 * @property {string} [permissionMode]
 * @property {string} [lastLine]
 * @property {number} cost
 * @property {number} createdAt
 * @property {number} updatedAt
 * @property {number} [turnStartedAt]
 * @property {number} [contextPercent]
 * @property {string[]} [background] what runs in the background
 * @property {number} seq
 * @property {boolean} archived
 * @property {string} [damage] what is wrong with its log
 * @property {Approval[]} approvals
 *
 * @typedef {object} RecentSession
 * @property {string} sessionId
 * @property {string} summary
 * @property {string} [firstPrompt]
 * @property {string} [projectPath]
 * @property {string} [gitBranch]
 * @property {number} modifiedAt
 * @property {string} [inUseBy]
 *
 * @typedef {{kind: string, text: string, file: string, isNew: boolean}} ProjectPart
 * @typedef {{projectPath: string, isTrusted: boolean, parts: ProjectPart[], broken: ProjectPart[], digest: string}} ProjectReview
 *
 * @typedef {object} Welcome
 * @property {string} version
 * @property {string} device
 * @property {string[]} scopes
 * @property {string[]} [roots]
 * @property {number} [messageBytes]
 * @property {{kind: string, version?: string, note?: string, sandbox?: {mode: string, missing?: string[]}}} [agent]
 *
 * @typedef {{type: string, sessionId: string, seq: number, at: number, [member: string]: any}} LogEvent
 * @typedef {{type: string, requestId?: string, sessionId?: string, [member: string]: any}} Message
 */

export {};
