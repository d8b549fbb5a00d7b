// The list of sessions: those that need the user first, then those that work, then those that are ready; below them what
// was worked on before.

/** @import { App } from '../main.js' */
/** @import { Approval, RecentSession, SessionView } from '../types.js' */

import { h, refill, swap } from '../dom.js';
import { ago, basename, beneath, clock } from '../format.js';
import { icon } from '../icons.js';
import { compactApproval } from '../parts/approval.js';
import { watch } from '../parts/guard.js';
import { chooseSheet, failed } from '../parts/sheet.js';
import { pathText } from '../parts/target.js';
import { settled } from '../parts/trust.js';
import { resume, startSheet } from './start.js';

const RECENT = 12;

/** How long after a tap nothing in the list moves: the next tap may be on its way. */
const QUIET = 1_000;

/** @typedef {'needs' | 'working' | 'background' | 'ready' | 'damaged' | 'cut' | 'over'} Word */

/** @type {Record<Word, string>} */
const WORDS = { needs: 'Needs you', working: 'Working', background: 'Running in background', ready: 'Ready', damaged: 'Damaged', cut: 'Interrupted', over: 'Ended' };

/** What a session is, in a word. @param {SessionView} session @returns {Word} */
function wordOf(session) {
  if (session.approvals.length > 0) return 'needs';
  if (session.state !== 'running' && session.damage !== undefined) return 'damaged';
  if (session.state !== 'running') return session.state === 'interrupted' ? 'cut' : 'over';
  if (session.status !== 'idle') return 'working';
  return (session.background ?? []).length > 0 ? 'background' : 'ready';
}

/** What a session is called. @param {SessionView} session */
function nameOf(session) {
  return session.title ?? basename(session.projectPath);
}

/** Whether a session is in the list: one that was put aside is, as long as it needs the user. @param {SessionView} session */
function isListed(session) {
  return !session.archived || session.approvals.length > 0;
}

/** The list. */
export class ListView {
  element = h('section', { class: 'list-pane', 'aria-label': 'Sessions' });
  #search = '';
  /** @type {RecentSession[]} */
  #recent = [];
  #hasMore = false;
  #asked = 0;
  #lastListed = '';
  /**
   * Cards are kept while they say the same, so that a tap never misses. What a card asks is kept for as long as it is asked,
   * so that it need not be armed again because something else of the card has changed.
   *
   * @type {Map<string, {said: string, element: HTMLElement, asked: Map<string, HTMLElement>}>}
   */
  #cards = new Map();
  /** Whether a mouse is over the sessions. */
  #isHovered = false;
  /** Whether a finger or a button is down on them. */
  #isDown = false;
  /** When one was last tapped. */
  #tappedAt = -QUIET;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.field = h('input', { class: 'search-field', type: 'search', placeholder: 'Search sessions', 'aria-label': 'Search sessions', enterkeyhint: 'search' });
    this.field.addEventListener('input', () => {
      this.#search = this.field.value.trim().toLowerCase();
      this.update(true);
      void this.loadRecent();
    });
    this.start = h('button', { class: 'button primary new', type: 'button', 'aria-label': 'New session', onclick: () => startSheet(app) }, icon('plus'), 'New');
    this.note = h('div', { class: 'agent-note' });
    this.sessions = h('div', { class: 'sessions' });
    this.recent = h('div', { class: 'recent' });
    this.#followPointers();
    this.element.append(
      h('header', { class: 'list-head' },
        h('h1', { class: 'brand-head', tabindex: -1 }, h('a', { class: 'brand', href: '#/' }, icon('helm'), h('span', {}, 'Pilothouse'))),
        app.chip,
        h('a', { class: 'icon-button', href: '#/settings', 'aria-label': 'Settings' }, icon('gear'))),
      h('div', { class: 'list-tools' },
        h('label', { class: 'search' }, icon('search'), this.field), this.start),
      h('div', { class: 'list-scroll', tabindex: 0, role: 'group', 'aria-label': 'List of sessions' }, this.note, this.sessions, this.recent));
    app.list.changed.on(() => {
      this.update();
      const listed = this.#listed().sort().join();
      if (listed === this.#lastListed) return;
      this.#lastListed = listed;
      // What is above from now on leaves the list below at once, not only when that was asked for again.
      this.#drawRecent();
      void this.loadRecent();
    });
    app.link.changed.on((state) => {
      if (state !== 'open') return;
      this.#sayAgent();
      this.start.hidden = app.bridge.mayNot('input');
      // Looking through what is on disk takes its time: what was asked for comes first.
      setTimeout(() => this.loadRecent());
    });
    let seconds = 0;
    setInterval(() => {
      seconds += 1;
      // What works has a clock; how long ago the others did something is told in minutes.
      const works = app.list.sessions.some(({ state, status }) => state === 'running' && status === 'running');
      if (document.visibilityState === 'visible' && (works || seconds % 10 === 0)) this.update();
    }, 1000);
  }

  /** Where work was done before, newest first. */
  get projects() {
    const running = [...this.app.list.sessions].sort((a, b) => b.updatedAt - a.updatedAt);
    const paths = [...running, ...this.#recent].map(({ projectPath }) => projectPath);
    return [...new Set(paths)].filter((path) => path !== undefined);
  }

  /** Takes the focus: the card of the session that was left, or the list's heading. @param {string | null} session */
  focus(session) {
    const card = session === null ? undefined : this.#cards.get(session)?.element;
    const place = /** @type {HTMLElement | null | undefined} */ (card?.querySelector('.card-link')) ?? this.element.querySelector('h1');
    /** @type {HTMLElement | null} */ (place)?.focus({ preventScroll: true });
  }

  /** The bridge's own agent, or the demo, must not be taken for the real thing. */
  #sayAgent() {
    const agent = this.app.link.welcome?.agent;
    // The demo is chosen by the bridge; a script is somebody's own.
    const isOwn = agent?.note?.startsWith('the script ') === true;
    const words = { demo: isOwn ? 'A script plays the model.' : 'Demo: a script plays the model.', embedded: 'The built-in agent runs here, not Claude Code.' };
    const said = words[/** @type {keyof typeof words} */ (agent?.kind)] ?? '';
    refill(this.note, said === '' ? null : h('p', { class: 'notice', title: agent?.note ?? '' }, icon('info'), h('span', {}, said)));
  }

  async loadRecent(offset = 0) {
    // They are here to go on with.
    if (this.app.bridge.mayNot('input')) return;
    const asked = (this.#asked += 1);
    try {
      const { sessions, hasMore } = await this.app.bridge.recent({ limit: RECENT, offset, ...(this.#search === '' ? {} : { search: this.#search }) });
      if (asked !== this.#asked) return;
      this.#recent = offset === 0 ? sessions : [...this.#recent, ...sessions];
      this.#hasMore = hasMore;
      this.#drawRecent();
      if (this.app.list.sessions.length === 0) this.update();
    } catch {
      // Without a connection the old list stays.
    }
  }

  /** What is under a pointer stays there. */
  #followPointers() {
    const tapped = () => {
      this.#isDown = false;
      this.#tappedAt = performance.now();
      // A timer may be early by less than a frame.
      setTimeout(() => this.update(), QUIET + 20);
    };
    const ends = () => { if (this.#isDown) tapped(); };
    this.sessions.addEventListener('pointerdown', () => { this.#isDown = true; });
    addEventListener('pointerup', ends, { capture: true });
    addEventListener('pointercancel', ends, { capture: true });
    // By the keyboard, too.
    this.sessions.addEventListener('click', tapped);
    // A finger hovers over nothing, although some browsers say so.
    this.sessions.addEventListener('pointerover', ({ pointerType }) => { this.#isHovered = pointerType !== 'touch'; });
    this.sessions.addEventListener('pointerleave', () => {
      this.#isHovered = false;
      this.update();
    });
  }

  /** @param {boolean} [isAsked] whether the user wants another list, wherever the pointer is */
  update(isAsked = false) {
    const fits = (/** @type {SessionView} */ session) => this.#search === '' ||
      [session.title, session.projectPath, session.lastLine, session.branch].some((text) => text?.toLowerCase().includes(this.#search));
    const shown = this.app.list.sessions.filter((session) => isListed(session) && fits(session));
    /** @type {Record<Word, SessionView[]>} */
    const groups = { needs: [], working: [], background: [], ready: [], damaged: [], cut: [], over: [] };
    for (const session of shown) groups[wordOf(session)].push(session);
    for (const group of Object.values(groups)) group.sort((a, b) => b.updatedAt - a.updatedAt);
    const waiting = groups.needs.length;
    const here = this.app.list.find(this.app.current ?? '');
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${here === undefined ? '' : `${nameOf(here)} · `}Pilothouse`;
    for (const [id, { element }] of this.#cards) mark(element, id === this.app.current);
    const isInView = this.sessions.checkVisibility();
    if (!isAsked && isInView && (this.#isDown || performance.now() - this.#tappedAt < QUIET)) return;
    const ids = new Set(shown.map(({ id }) => id));
    for (const id of this.#cards.keys()) if (!ids.has(id)) this.#cards.delete(id);
    const sections = /** @type {[Word, SessionView[]][]} */ (Object.entries(groups)).filter(([, sessions]) => sessions.length > 0);
    const wanted = sections.map(([word, sessions]) => ({ word, sessions }));
    this.#reconcile(wanted, !isAsked && isInView && this.#isHovered);
    if (this.app.list.loaded && shown.length === 0 && this.#search === '') {
      refill(this.sessions, h('div', { class: 'empty' }, icon('helm'), h('p', {}, 'No sessions yet.'),
        this.app.bridge.mayNot('input') ? null : h('p', { class: 'muted' }, this.#recent.length > 0 ? 'Start one, or resume one below.' : 'Start one, then follow it from anywhere.')));
    } else if (this.app.list.loaded && shown.length === 0) {
      refill(this.sessions, h('p', { class: 'empty muted' }, `No running session matches “${this.field.value.trim()}”.`));
    } else if (!this.app.list.loaded) {
      refill(this.sessions, h('div', { class: 'skeletons', 'aria-hidden': 'true' }, [1, 2, 3].map(() => h('div', { class: 'skeleton' }))));
    }
  }

  /**
   * Puts cards in their order, touching only what is different.
   *
   * @param {{word: Word, sessions: SessionView[]}[]} groups
   * @param {boolean} isHeld whether a pointer is over them: then each stays where it is, and new ones come last
   */
  #reconcile(groups, isHeld) {
    if (isHeld && this.#cards.size > 0) {
      const cards = groups.flatMap(({ word, sessions }) => sessions.map((session) => this.#card(session, word)));
      for (const child of [...this.sessions.querySelectorAll(':scope > .card')]) if (!cards.includes(/** @type {HTMLElement} */ (child))) child.remove();
      this.sessions.append(...cards.filter(({ parentElement }) => parentElement !== this.sessions));
      watch();
      return;
    }
    /** @type {HTMLElement[]} */
    const wanted = [];
    for (const { word, sessions } of groups) {
      let head = /** @type {HTMLElement | null} */ (this.sessions.querySelector(`:scope > h2[data-word="${word}"]`));
      head ??= h('h2', { class: `group-head ${word}`, 'data-word': word });
      head.textContent = sessions.length > 1 ? `${WORDS[word]} · ${sessions.length}` : WORDS[word];
      wanted.push(head);
      for (const session of sessions) wanted.push(this.#card(session, word));
    }
    for (const child of [...this.sessions.children]) if (!wanted.includes(/** @type {HTMLElement} */ (child))) child.remove();
    wanted.forEach((element, index) => {
      const there = this.sessions.children[index];
      if (there !== element) this.sessions.insertBefore(element, there ?? null);
    });
    watch();
  }

  /**
   * @param {SessionView} session
   * @param {Word} word
   */
  #card(session, word) {
    const said = JSON.stringify([word, session.title, session.projectPath, session.branch, session.lastLine, session.cost, session.approvals.map(({ id, digest }) => [id, digest]), session.background, session.damage]);
    let card = this.#cards.get(session.id);
    if (card?.said !== said) {
      const focused = document.activeElement;
      const asked = new Map(session.approvals.slice(0, 2).map((approval) => {
        const key = `${approval.id} ${approval.digest ?? ''}`;
        return [key, card?.asked.get(key) ?? this.#ask(session, approval)];
      }));
      const was = focused?.closest('.asked');
      const element = this.#draw(session, word, [...asked.values()]);
      if (card !== undefined) swap(card.element, element);
      // What is taken along loses the focus; what is over leaves it to its session, and to no button that decides.
      if (was !== null && was !== undefined && card?.element.contains(was)) /** @type {HTMLElement | null} */ (element.querySelector('.card-link'))?.focus({ preventScroll: true });
      else if (focused instanceof HTMLElement && element.contains(focused)) focused.focus({ preventScroll: true });
      card = { said, element, asked };
      this.#cards.set(session.id, card);
    }
    const time = card.element.querySelector('.card-time');
    if (time !== null) time.textContent = timeOf(session, word);
    return card.element;
  }

  /**
   * @param {SessionView} session
   * @param {Approval} approval
   */
  #ask({ id, projectPath }, approval) {
    const open = () => this.app.go(`#/s/${encodeURIComponent(id)}`);
    return compactApproval(approval, { bridge: this.app.bridge, sessionId: id, project: projectPath }, open);
  }

  /**
   * @param {SessionView} session
   * @param {Word} word
   * @param {HTMLElement[]} asked
   */
  #draw(session, word, asked) {
    const place = [session.title === undefined ? '' : basename(session.projectPath), session.branch ?? ''].filter((part) => part !== '');
    const spent = this.app.bridge.cost(session.cost);
    return h('article', { class: `card ${word}`, 'data-session': session.id, 'aria-current': this.app.current === session.id ? 'true' : null },
      h('a', { class: 'card-link', href: `#/s/${encodeURIComponent(session.id)}` },
        h('span', { class: 'card-top' },
          h('span', { class: `light ${word}`, 'aria-hidden': 'true' }),
          h('span', { class: 'card-name' }, nameOf(session)),
          h('span', { class: 'unseen' }, `, ${WORDS[word]}`),
          h('span', { class: 'card-time' }, timeOf(session, word))),
        session.lastLine === undefined || session.lastLine === '' ? null : h('span', { class: 'card-line' }, session.lastLine),
        session.damage === undefined ? null : h('span', { class: 'card-line problem' }, session.damage),
        word === 'background' ? h('span', { class: 'card-task' }, icon('clock'), h('span', {}, (session.background ?? []).join(', '))) : null,
        h('span', { class: 'card-foot' },
          h('span', { class: 'card-place' }, place.length > 0 ? place.join(' · ') : pathText(beneath(session.projectPath, this.app.link.welcome?.roots ?? []))),
          session.cost > 0 && spent !== '' ? h('span', {}, spent) : null)),
      word === 'cut' && this.app.bridge.may('input') ? h('div', { class: 'card-buttons' },
        h('button', { class: 'button small', type: 'button', onclick: () => resume(this.app, session.id, session.projectPath) }, icon('play'), 'Resume')) : null,
      asked,
      session.approvals.length > 2 ? h('a', { class: 'card-more', href: `#/s/${encodeURIComponent(session.id)}` }, `${session.approvals.length - 2} more`) : null);
  }

  /** What Claude Code calls the sessions that are in the list. */
  #listed() {
    return this.app.list.sessions.filter(isListed).flatMap(({ claudeSessionId }) => (claudeSessionId === undefined ? [] : [claudeSessionId]));
  }

  #drawRecent() {
    // Those of the list above are not told twice.
    const listed = new Set(this.#listed());
    const shown = this.#recent.filter(({ sessionId }) => !listed.has(sessionId));
    refill(this.recent,
      shown.length === 0 ? null : h('h2', { class: 'group-head' }, 'Recent'),
      shown.map((session) => h('button', { class: 'recent-row', type: 'button', 'data-recent': session.sessionId, onclick: () => this.#resume(session) },
        icon('history'),
        h('span', { class: 'recent-text' },
          h('span', { class: 'recent-name' }, session.summary || session.firstPrompt || 'Untitled session'),
          h('span', { class: 'muted small' }, [basename(session.projectPath), session.gitBranch, ago(session.modifiedAt)].filter((part) => part !== undefined && part !== '').join(' · '))))),
      this.#hasMore ? h('button', { class: 'button quiet', type: 'button', onclick: () => this.loadRecent(this.#recent.length) }, 'Show more') : null);
  }

  /** @param {RecentSession} session */
  #resume(session) {
    const go = (/** @type {'attach' | 'fork' | 'take_over'} */ lease) => {
      settled(this.app, session.projectPath ?? '')
        .then((goesOn) => (goesOn ? this.app.bridge.resume(session.sessionId, session.projectPath ?? '', lease) : null))
        .then((id) => { if (id !== null) this.app.go(`#/s/${encodeURIComponent(id)}`); }, failed);
    };
    if (session.inUseBy === undefined) {
      chooseSheet('Resume session', [
        { name: 'Resume', what: session.summary, icon: 'play', pick: () => go('attach') },
        { name: 'Fork', what: 'Continue a copy; the original stays as it is', icon: 'branch', pick: () => go('fork') },
      ]);
      return;
    }
    chooseSheet('This session is in use', [
      { name: 'Join', what: 'Use it together', icon: 'right', pick: () => go('attach') },
      { name: 'Fork', what: 'Continue a copy', icon: 'branch', pick: () => go('fork') },
      { name: 'Take over', what: 'Stop it there first', icon: 'stop', danger: true, pick: () => go('take_over') },
    ]);
  }
}

/**
 * @param {HTMLElement} card
 * @param {boolean} isCurrent
 */
function mark(card, isCurrent) {
  if (isCurrent) card.setAttribute('aria-current', 'true');
  else card.removeAttribute('aria-current');
}

/**
 * @param {SessionView} session
 * @param {Word} word
 */
function timeOf(session, word) {
  const since = session.turnStartedAt;
  return word === 'working' && since !== undefined ? clock(Date.now() - since) : ago(session.updatedAt);
}
