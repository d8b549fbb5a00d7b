// The fold: from a session's events to what the page shows of it. The same events always give the same transcript.

/** @import { Approval, Image, InputState, LogEvent } from '../types.js' */
/** @import { Call, NoteRow, ResolvedRow, Row, UserRow } from './rows.js' */

import { plainText } from '../ansi.js';
import { modeName, modelName } from '../format.js';
import { isLasting } from '../parts/rules.js';
import { moreLines, target } from '../parts/target.js';
import { frameRow, userText } from './frames.js';
import { apiProblem, resetTime } from './problems.js';
import { UNKNOWN, addCall } from './rows.js';

/** What the CLI says of a task that is over. */
const ENDS = new Set(['completed', 'failed', 'killed']);

/** @typedef {{inputId: string, text: string, images: Image[], by: string, html?: string | undefined}} Queued */

/** What a session's events add up to. */
export class Transcript {
  /** @type {Row[]} */
  rows = [];
  /** The open approvals, oldest first. @type {Map<string, Approval>} */
  approvals = new Map();
  /** The messages that wait for their turn, oldest first. @type {Map<string, Queued>} */
  queue = new Map();
  /** The names that clients gave to messages that are in the log. @type {Set<string>} */
  clientMessages = new Set();
  /** @type {string | undefined} */
  model;
  /** @type {string | undefined} */
  mode;
  /** @type {string | undefined} */
  title;
  /** @type {string | undefined} */
  project;
  /** @type {string[]} */
  commands = [];
  cost = 0;
  contextTokens = 0;
  /** The model's context window in tokens; 0 until the CLI has said it. */
  contextWindow = 0;
  archived = false;
  /** When the running turn began; 0 when none runs. */
  turnSince = 0;
  /** Where the newest end of a turn is, 0 when none is here; how it ended, and the model's last words in it. */
  lastEnd = { seq: 0, how: '', said: '' };

  /** @type {Map<string, {call: Call, top: Row}>} */
  #calls = new Map();
  /** @type {Map<string, UserRow>} */
  #inputs = new Map();
  /** What was decided in the running turn. @type {Map<string, {row: ResolvedRow, toolUseId: string}>} */
  #decided = new Map();
  /** Which call began what goes on in the background. @type {Map<string, string>} */
  #tasks = new Map();
  /** @type {string} */
  #agent;
  #interruptedBy = '';
  /** What the running turn failed with, when it was already told. */
  #problem = '';
  /** When the usage limit ends that was told last, in seconds since 1970. */
  #limitEnds = 0;
  /** The model's last words in the running turn. */
  #lastSaid = '';

  /** @param {{agent?: string, project?: string | undefined}} [around] what the log itself may not say */
  constructor({ agent = 'claude', project } = {}) {
    this.#agent = agent;
    this.project = project;
  }

  /** How much of the model's context window is used, in percent; nothing while its size is not known. */
  get contextPercent() {
    if (this.contextTokens === 0 || this.contextWindow === 0) return undefined;
    return Math.min(100, Math.round((100 * this.contextTokens) / this.contextWindow));
  }

  /** @param {LogEvent} event */
  apply(event) {
    switch (event.type) {
      case 'system': return this.#system(event);
      case 'assistant': return this.#assistant(event);
      case 'tool_result': return this.#toolResult(event);
      case 'result': return this.#turnEnd(event);
      case 'permission_request': return this.#asked(/** @type {any} */ (event));
      case 'permission_resolved': return this.#resolved(event);
      case 'user_input': return this.#userInput(event);
      case 'input_state': return this.#inputState(event);
      case 'session_state': return this.#sessionState(event);
      case 'interrupt_requested':
        // The end of the turn tells who ended it.
        this.#interruptedBy = event['by'];
        return;
      case 'mode_changed':
        this.mode = event['mode'];
        return this.#note(event, 'shield', `Mode: ${modeName(event['mode'])} · ${event['by']}`);
      case 'model_changed':
        this.model = event['model'];
        // Another model may have another window.
        this.contextWindow = 0;
        return this.#note(event, 'agent', `Model: ${modelName(event['model'])} · ${event['by']}`);
      case 'session_renamed':
        this.title = event['title'];
        return;
      case 'session_archived':
        this.archived = event['archived'];
        return;
      case 'partial':
        if (event['thinking'] !== '') this.#push(event, { kind: 'thinking', text: event['thinking'] }, 'thought');
        if (event['text'] !== '') this.#push(event, { kind: 'text', text: event['text'], html: event['rendered'], cut: true });
        return;
      case 'frame': {
        // The CLI changes its mode by itself, too, as when a plan was accepted.
        if (event['kind'] === 'system') {
          this.mode = event['frame']?.permissionMode ?? this.mode;
          this.#task(event['frame']);
          if (event['frame']?.subtype === 'permission_denied') this.#denied(event['frame'].tool_use_id);
        }
        if (event['kind'] === 'rate_limit_event') this.#limitEnds = Number(event['frame']?.rate_limit_info?.resetsAt) || 0;
        return this.#frame(event);
      }
      default:
        // A newer bridge may say more than this page knows. It is shown as it came.
        this.#push(event, { kind: 'frame', name: event.type, frame: event });
    }
  }

  /** @param {LogEvent} event */
  #system(event) {
    this.model = event['model'] ?? this.model;
    this.mode = event['permissionMode'] ?? this.mode;
    this.project = event['projectPath'] ?? this.project;
    if (event['slashCommands'] !== undefined) this.commands = event['slashCommands'];
    if (event['subtype'] === 'init' && this.turnSince === 0) this.turnSince = event.at;
    if (event['isRestricted'] === true) this.#note(event, 'shield', 'Files of this project are off: not trusted yet');
  }

  /** @param {LogEvent} event */
  #frame(event) {
    const parentId = event['frame']?.parent_tool_use_id;
    if (event['kind'] === 'user' && typeof parentId === 'string') {
      // The first words to a subagent are in the call that started it.
      const parent = this.#parent(event, parentId);
      const row = userText(event['frame']) === String(parent.call.input['prompt'] ?? '').trim() || parent.call.below.length === 0 ? null : frameRow(event, this.#agent);
      if (row === null) return;
      parent.call.below.push(row);
      parent.top.rev += 1;
      return;
    }
    const row = frameRow(event, this.#agent);
    if (row === null) return;
    const last = this.rows.at(-1);
    if (row.kind === 'note' && row.isRetry === true && last?.kind === 'note' && last.isRetry === true) {
      // The next attempt takes the place of the last one: only the newest matters.
      last.text = row.text;
      last.rev += 1;
      return;
    }
    this.rows.push(row);
  }

  /**
   * The call that started a subagent. It may be on an older page of the log: then it gets a place of its own, as its words
   * are not the conversation's.
   *
   * @param {LogEvent} event
   * @param {string} id
   */
  #parent(event, id) {
    let known = this.#calls.get(id);
    if (known === undefined) {
      /** @type {Call} */
      const call = { id, name: 'Agent', input: {}, at: event.at, below: [] };
      known = { call, top: addCall(this.rows, call) };
      this.#calls.set(id, known);
    }
    return known;
  }

  /** @param {LogEvent} event */
  #assistant(event) {
    const { message, rendered = [], parentToolUseId } = event;
    const parent = typeof parentToolUseId === 'string' ? this.#parent(event, parentToolUseId) : undefined;
    const rows = parent?.call.below ?? this.rows;
    if (event['error'] !== undefined) return this.#apiError(event, rows, parent);
    const content = Array.isArray(message?.content) ? message.content : [];
    content.forEach((/** @type {any} */ block, /** @type {number} */ index) => {
      const key = `e${event.seq}-${index}`;
      const html = rendered[index] ?? undefined;
      if (block.type === 'text' && String(block.text).trim() !== '') {
        rows.push({ kind: 'text', key, rev: 0, at: event.at, text: block.text, html });
        if (parent === undefined) this.#lastSaid = block.text;
      } else if (block.type === 'thinking' && String(block.thinking).trim() !== '') {
        rows.push({ kind: 'thinking', key, rev: 0, at: event.at, text: block.thinking, html });
      } else if (block.type === 'tool_use' || block.type === 'server_tool_use') {
        /** @type {Call} */
        const call = { id: block.id, name: block.name, input: block.input ?? {}, at: event.at, below: [] };
        const row = addCall(rows, call);
        this.#calls.set(call.id, { call, top: parent?.top ?? row });
      } else if (!['text', 'thinking', 'redacted_thinking'].includes(block.type)) {
        rows.push({ kind: 'frame', key, rev: 0, at: event.at, name: String(block.type), frame: block });
      }
    });
    if (parent !== undefined) {
      parent.top.rev += 1;
      return;
    }
    const usage = message?.usage;
    if (usage !== undefined) {
      const parts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'];
      const sum = parts.reduce((total, part) => total + (Number(usage[part]) || 0), 0);
      if (sum > 0) this.contextTokens = sum;
    }
  }

  /**
   * The CLI tells of an API error in the model's name. It is no answer, and says what to do.
   *
   * @param {LogEvent} event
   * @param {Row[]} rows
   * @param {{top: Row} | undefined} parent
   */
  #apiError(event, rows, parent) {
    const content = Array.isArray(event['message']?.content) ? event['message'].content : [];
    const said = plainText(content.map((/** @type {any} */ block) => String(block?.text ?? '')).join('\n')).trim();
    const { what, todo } = apiProblem(event['error'], event['errorStatus'], said, this.#agent);
    const isLimited = event['error'] === 'rate_limit' && this.#limitEnds * 1000 > event.at;
    const ends = isLimited ? `It resets ${resetTime(this.#limitEnds)}: send again then.` : todo;
    const last = rows.at(-1);
    if (last?.kind === 'note' && last.isRetry === true) {
      // What is over must not read as if it went on.
      last.text = 'Tried again without success.';
      last.isRetry = false;
      last.rev += 1;
    }
    rows.push({ kind: 'note', key: `e${event.seq}-problem`, rev: 0, at: event.at, icon: 'alert', tone: 'bad', title: what, text: ends, detail: said });
    if (parent !== undefined) parent.top.rev += 1;
    else this.#problem = what;
  }

  /** A call that was refused has not failed. @param {unknown} id */
  #denied(id) {
    const known = this.#calls.get(String(id));
    if (known === undefined) return;
    known.call.notRun = 'denied';
    known.top.rev += 1;
  }

  /** What a call has begun may go on after its result has come. @param {any} frame */
  #task(frame) {
    const { subtype, task_id: task, tool_use_id: call } = frame ?? {};
    if (subtype === 'task_started' && typeof call === 'string') {
      this.#tasks.set(task, call);
      this.#goesOn(call, true);
    } else if (subtype === 'task_notification' || ENDS.has(frame?.patch?.status)) {
      this.#goesOn(this.#tasks.get(task) ?? call, false);
      this.#tasks.delete(task);
    }
  }

  /**
   * @param {string} id
   * @param {boolean} goesOn
   */
  #goesOn(id, goesOn) {
    const known = this.#calls.get(id);
    if (known === undefined) return;
    known.call.goesOn = goesOn;
    known.top.rev += 1;
  }

  /** @param {LogEvent} event */
  #toolResult(event) {
    const id = event['toolUseId'];
    let known = this.#calls.get(id);
    if (known === undefined) {
      // The call is on an older page of the log.
      /** @type {Call} */
      const call = { id, name: event['toolName'] ?? 'Tool', input: {}, at: event.at, below: [] };
      const parent = typeof event['parentToolUseId'] === 'string' ? this.#parent(event, event['parentToolUseId']) : undefined;
      const row = addCall(parent?.call.below ?? this.rows, call);
      known = { call, top: parent?.top ?? row };
      this.#calls.set(id, known);
    }
    known.call.doneAt = event.at;
    if (event['notRun'] !== undefined) known.call.notRun = event['notRun'];
    known.call.result = {
      content: event['content'],
      isError: event['isError'] === true,
      images: event['images'] ?? [],
      diff: event['diff'],
      truncated: event['truncated'],
    };
    known.top.rev += 1;
  }

  /** @param {LogEvent} event */
  #turnEnd(event) {
    const { subtype, error, result } = event;
    const before = this.cost;
    this.cost = event['cost'] ?? this.cost;
    if (event['contextWindow'] !== undefined) this.contextWindow = event['contextWindow'];
    let how = 'The turn is done';
    if (subtype === 'stopped') {
      how = event['by'] === undefined ? 'Stopped' : `Stopped by ${event['by']}`;
      this.#note(event, 'stop', how);
    } else if (subtype !== 'success' && this.#interruptedBy !== '') {
      how = `Interrupted by ${this.#interruptedBy}`;
      this.#note(event, 'stop', how);
    } else if (error !== undefined || subtype !== 'success') {
      how = this.#failed(event);
    } else if (this.#lastSaid === '' && typeof result === 'string' && result.trim() !== '') {
      // A command of the CLI's own says what it has to say only here.
      this.#push(event, { kind: 'text', text: result, html: event['rendered'] }, 'said');
      this.#lastSaid = result;
    }
    const usage = event['usage'] ?? {};
    const tokens = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens']
      .reduce((total, part) => total + (Number(usage[part]) || 0), 0);
    const spent = this.cost - before;
    if (event['duration'] !== undefined) {
      this.#push(event, { kind: 'turn', cost: spent > 0 ? spent : undefined, duration: event['duration'], tokens: tokens || undefined });
    }
    this.#unknown(event, event['indeterminate'] ?? []);
    this.turnSince = 0;
    this.lastEnd = { seq: event.seq, how, said: this.#lastSaid };
    this.#interruptedBy = '';
    this.#lastSaid = '';
    this.#problem = '';
  }

  /** A turn that failed; tells how. @param {LogEvent} event */
  #failed(event) {
    // An API error was told where it came.
    if (this.#problem !== '') return this.#problem;
    const { subtype } = event;
    const error = plainText(event['error'] ?? '').trim();
    if (event['errorStatus'] !== undefined) {
      const { what, todo } = apiProblem(undefined, event['errorStatus'], error, this.#agent);
      this.#push(event, { kind: 'note', icon: 'alert', tone: 'bad', title: what, text: todo, detail: error }, 'note');
      return what;
    }
    /** @type {Record<string, string>} */
    const words = {
      process_ended: 'The turn was cut off', start_failed: 'The agent did not start', error_max_turns: 'Turn limit reached',
      error_max_budget_usd: 'Budget used up', no_result: 'The turn ended without a result',
    };
    const what = words[subtype] ?? 'The turn failed';
    // The CLI says what went wrong in the model's name, too.
    const detail = error === this.#lastSaid.trim() || error === subtype ? '' : error;
    this.#push(event, { kind: 'note', icon: 'alert', tone: 'bad', title: what, text: detail }, 'note');
    return detail === '' ? what : `${what}: ${detail}`;
  }

  /** @param {Approval} approval */
  #asked(approval) {
    this.approvals.set(approval.id, approval);
    const known = this.#calls.get(approval.toolUseId);
    if (known === undefined) return;
    known.call.waits = true;
    known.top.rev += 1;
  }

  /** @param {LogEvent} event */
  #resolved(event) {
    const request = this.approvals.get(event['id']);
    this.approvals.delete(event['id']);
    const known = this.#calls.get(event['toolUseId']);
    const call = known?.call;
    if (known !== undefined) {
      known.call.waits = false;
      known.call.isAllowed = ['allowed', 'allowed_always', 'answered'].includes(event['decision']);
      known.top.rev += 1;
    }
    const tool = request?.toolName ?? call?.name ?? 'a tool';
    /** @type {ResolvedRow} */
    const row = {
      kind: 'resolved',
      key: `e${event.seq}-row`,
      rev: 0,
      at: event.at,
      decision: event['decision'],
      tool,
      target: target(tool, request?.input ?? call?.input ?? {}, this.project),
      more: moreLines(tool, request?.input ?? call?.input ?? {}),
      isLasting: isLasting(event['rules'] ?? [], request?.suggestions ?? []),
      by: event['by'],
      message: event['message'],
      rules: event['rules'] ?? [],
    };
    this.rows.push(row);
    if (event['decision'] === 'denied') this.#denied(event['toolUseId']);
    this.#decided.set(event['id'], { row, toolUseId: event['toolUseId'] });
  }

  /**
   * What was allowed, and nobody knows whether it was done: the CLI was gone before there was a result.
   *
   * @param {LogEvent} event
   * @param {string[]} ids
   */
  #unknown(event, ids) {
    for (const id of ids) {
      const decided = this.#decided.get(id);
      if (decided === undefined) {
        // The decision is on an older page of the log.
        this.#push(event, { kind: 'note', icon: 'alert', text: UNKNOWN, tone: 'bad' }, `unknown-${id}`);
        continue;
      }
      decided.row.isUnknown = true;
      decided.row.rev += 1;
      const known = this.#calls.get(decided.toolUseId);
      if (known === undefined) continue;
      known.call.isUnknown = true;
      known.top.rev += 1;
    }
    this.#decided.clear();
  }

  /** @param {LogEvent} event */
  #userInput(event) {
    if (event['clientMessageId'] !== undefined) this.clientMessages.add(event['clientMessageId']);
    /** @type {Queued} */
    const queued = { inputId: event['inputId'], text: event['text'], images: event['images'] ?? [], by: event['by'], html: event['rendered'] };
    if (event['state'] !== 'queued') this.#said(event, queued, event['state']);
    // Whoever ends a turn to be heard is not behind those who wait for its end.
    else if (event['delivery'] === 'interrupt') this.queue = new Map([[queued.inputId, queued], ...this.queue]);
    else this.queue.set(queued.inputId, queued);
  }

  /**
   * The user's words, where the model gets them.
   *
   * @param {LogEvent} event
   * @param {Queued} input
   * @param {InputState} state
   */
  #said(event, input, state) {
    if (this.turnSince === 0) this.turnSince = event.at;
    const { inputId, text, images, by, html } = input;
    /** @type {UserRow} */
    const row = { kind: 'user', key: `input-${inputId}`, rev: 0, at: event.at, inputId, text, html, images, state, by };
    this.rows.push(row);
    this.#inputs.set(inputId, row);
  }

  /** @param {LogEvent} event */
  #inputState(event) {
    const { inputId, state, text, rendered } = event;
    const queued = this.queue.get(inputId);
    if (queued !== undefined) {
      if (state === 'edited') this.queue.set(inputId, { ...queued, text: text ?? queued.text, html: rendered });
      else if (state !== 'queued') this.queue.delete(inputId);
      if (state === 'sending' || state === 'delivered' || state === 'indeterminate') {
        this.#said(event, queued, state);
      }
      return;
    }
    const row = this.#inputs.get(inputId);
    if (row === undefined) return;
    row.state = state;
    row.rev += 1;
  }

  /** @param {LogEvent} event */
  #sessionState(event) {
    const { state, why, by } = event;
    if (state !== 'running') {
      this.turnSince = 0;
      for (const call of this.#tasks.values()) this.#goesOn(call, false);
      this.#tasks.clear();
    }
    const words = { running: 'Running', interrupted: 'Interrupted', ended: 'Ended' };
    const what = words[/** @type {keyof typeof words} */ (state)] ?? state;
    // Who stopped it was told with the end of its turn.
    if (state === 'ended' && why?.startsWith('stopped by') === true) return;
    const tail = [why, by].filter((part) => part !== undefined).join(' · ');
    this.#note(event, state === 'running' ? 'play' : 'info', tail === '' ? what : `${what}: ${tail}`);
  }

  /**
   * @param {LogEvent} event
   * @param {string} icon
   * @param {string} text
   * @param {NoteRow['tone']} [tone]
   */
  #note(event, icon, text, tone) {
    this.#push(event, { kind: 'note', icon, text, tone }, 'note');
  }

  /**
   * @param {LogEvent} event
   * @param {any} row
   * @param {string} [part] tells several rows of one event apart
   */
  #push(event, row, part = 'row') {
    this.rows.push({ key: `e${event.seq}-${part}`, rev: 0, at: event.at, ...row });
  }
}

/**
 * The transcript of these events.
 *
 * @param {Iterable<LogEvent>} events
 * @param {{agent?: string, project?: string | undefined}} [around]
 */
export function fold(events, around) {
  const transcript = new Transcript(around);
  for (const event of events) transcript.apply(event);
  return transcript;
}
