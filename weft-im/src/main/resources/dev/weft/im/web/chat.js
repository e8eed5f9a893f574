// The program of the chat page of Weft's instant-messaging server: speaks the server's protocol over
// a WebSocket, keeps what it knows of conversations, and shows that.
//
//   Connection ──events──► what is known ──► showing        user ──► what the user does ──► ask()
//   (protocol)             (conversations, presence, …)               (goes to the connection)
//
// One file, in this order: the protocol, what is known, connecting, rooms and history, sending,
// opening and leaving, showing, notices, what the user does. The file is long because the parts share
// the variables under "what is known", and nearly each function changes them and what is shown: as
// modules they would have to hand these variables round, as modules cannot assign what they import.
// Only the protocol (class Connection) knows of no other part. The page needs no build and no library.
//
// What holds at any time:
//  - A message is known by its id: it is shown once, and messages are shown in the order of ids.
//  - From the oldest message of a loaded conversation on, none is missing, except while `solid` is
//    set: then those after the id `solid` are still to be asked for, as the connection was lost.
//  - What the user has typed is in exactly one place: a draft, the texts being sent, or the log.
//  - All that comes from others goes into the page through textContent.
//  - The password is used once and forgotten. The token that the server gives for it is kept in the
//    storage of this window, so a reload comes back to where it was; logging out makes it worthless.

const TEXT_LIMIT = 4096;
const PAGE_SIZE = 50; // what HISTORY gives if it is not told a count
const MOST_PAGES = 20; // to ask for after a pause; what is older comes by scrolling
const KEPT_UNSEEN = 200; // messages of a conversation that is not open
const MOST_PEEKS = 30; // of rooms, and of direct conversations
const NO_ID_YET = Number.MAX_SAFE_INTEGER;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;
const CONNECT_LIMIT = 10_000;
const ANSWER_LIMIT = 20_000;
const LOOK_EVERY = 5_000;
const QUIET_LIMIT = 25_000; // after that the server is asked whether it is still there
const STORED_AS = 'weft-chat';
const CONFIRM_AFTER = 200;
const SAME_BREATH = 5 * 60_000; // messages of one sender within it stand under one heading
const NAME = /^[\p{L}\p{M}\p{Nd}_.-]{1,32}$/u;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

const $ = (id) => document.getElementById(id);

// ---- the protocol ----

/** The server said no. */
class Refused extends Error {
  constructor(code, text) {
    super(text || code);
    this.code = code;
  }
}

/** The connection has ended before the server said anything. */
class Disconnected extends Error {}

/** Splits off words; the last field is the rest of the line. */
function fields(line, count) {
  const result = [];
  let start = 0;
  for (let space = line.indexOf(' '); space >= 0 && result.length < count - 1; ) {
    result.push(line.slice(start, space));
    start = space + 1;
    space = line.indexOf(' ', start);
  }
  result.push(line.slice(start));
  return result;
}

function parseMessage(line) {
  const [, id, time, conversation, from, text = ''] = fields(line, 6);
  return { id: Number(id), time: new Date(time), conversation, from, text };
}

/** One WebSocket: commands and their answers in order, and events in between. */
class Connection {
  #socket;
  #events;
  #waiting = []; // for an answer, oldest first
  #history = null; // the answer whose messages are coming
  #ended = false;
  #heard = Date.now();

  /** Resolves when it is open. */
  static open(events) {
    return new Promise((resolve, reject) => {
      const url = new URL('chat', location.href);
      url.protocol = url.protocol.replace('http', 'ws');
      url.hash = '';
      const connection = new Connection(new WebSocket(url), events);
      const limit = setTimeout(() => connection.end(), CONNECT_LIMIT);
      connection.#waiting.push({
        resolve: () => resolve(connection),
        reject: () => reject(new Disconnected('The server cannot be reached.')),
      });
      connection.#socket.onopen = () => {
        clearTimeout(limit);
        connection.#next().resolve();
      };
    });
  }

  constructor(socket, events) {
    this.#socket = socket;
    this.#events = events;
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = () => this.end();
  }

  /** Sends a command; resolves with the answer's text, or for HISTORY with the messages. */
  request(line) {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(new Disconnected('There is no connection.'));
        return;
      }
      this.#waiting.push({ resolve, reject, since: Date.now() });
      this.#socket.send(line);
    });
  }

  /** Tells whether the server is silent though it should have answered. */
  isStuck() {
    const oldest = this.#waiting[0];
    return oldest !== undefined && Date.now() - oldest.since > ANSWER_LIMIT;
  }

  /** Tells whether nothing has come for a while, so that a dead network would not be noticed. */
  isQuiet() {
    return Date.now() - this.#heard > QUIET_LIMIT;
  }

  /** Ends it at once: a close handshake with a peer that is gone would take long. */
  end() {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    const lost = new Disconnected('The connection was lost.');
    this.#history?.reject(lost);
    for (const request of this.#waiting.splice(0)) {
      request.reject(lost);
    }
    this.#events.ended(this);
  }

  #receive(line) {
    this.#heard = Date.now();
    const [kind, rest = ''] = fields(line, 2);
    switch (kind) {
      case 'OK':
        this.#answered(rest);
        break;
      case 'ERR':
        this.#next().reject(new Refused(...fields(rest, 2)));
        break;
      case 'MSG':
        this.#message(parseMessage(line));
        break;
      case 'PRESENCE':
        this.#events.presence(...rest.split(' '));
        break;
      case 'JOINED':
        this.#events.joined(...rest.split(' '));
        break;
      case 'LEFT':
        this.#events.left(...rest.split(' '));
        break;
      case 'INVITED':
        this.#events.invited(...rest.split(' '));
        break;
      case 'BYE':
        this.#events.bye(rest);
        break;
      default: // of a later version
    }
  }

  #next() {
    return this.#waiting.shift() ?? { resolve() {}, reject() {} };
  }

  #answered(rest) {
    const [command, text = ''] = fields(rest, 2);
    const request = this.#next();
    if (command !== 'HISTORY') {
      request.resolve(text);
    } else {
      this.#history = { ...request, messages: [], count: Number(text) };
      this.#endHistory();
    }
  }

  #message(message) {
    if (this.#history) {
      this.#history.messages.push(message);
      this.#endHistory();
    } else {
      this.#events.message(message);
    }
  }

  #endHistory() {
    const { messages, count, resolve } = this.#history;
    if (messages.length >= count) {
      this.#history = null;
      resolve(messages);
    }
  }
}

// ---- what is known ----

/** A room, or with a name that begins with @ the talk with one user. */
class Conversation {
  messages = []; // by id
  loaded = false;
  complete = false; // up to the very first message
  busy = false; // asking for history
  solid = null;
  unread = 0;
  draft = '';
  sending = [];
  members = new Map(); // names to online or away

  constructor(key) {
    this.key = key;
    this.direct = key.startsWith('@');
    this.name = this.direct ? key.slice(1) : key;
  }

  get newestId() {
    return this.messages.at(-1)?.id ?? 0;
  }

  /** Returns where to insert it, or -1 if it is known. */
  #placeOf(id) {
    let place = this.messages.length;
    while (place > 0 && this.messages[place - 1].id > id) {
      place--;
    }
    return this.messages[place - 1]?.id === id ? -1 : place;
  }

  /** Returns whether it was new. */
  add(message) {
    const place = this.#placeOf(message.id);
    if (place >= 0) {
      this.messages.splice(place, 0, message);
    }
    return place >= 0;
  }

  forgetBefore(id) {
    const before = this.messages.length;
    this.messages = this.messages.filter((message) => message.id >= id);
    this.complete &&= this.messages.length === before;
  }

  has(id) {
    return this.#placeOf(id) < 0;
  }
}

const conversations = new Map(); // by key
const presence = new Map(); // of all users seen
const invitations = new Set(); // rooms
let account = null; // { name, token } while logged in
let connection = null; // null while there is none that is logged in
let opened = null; // the conversation on the screen
let failures = 0; // to connect, in a row
let retryTimer = 0;
let received = 0; // the id of the last message that came by itself
let confirmTimer = 0;
let farewell = ''; // why the server ended the connection
let peeked = false;
let renderTimer = 0;
let readsTheEnd = true; // the newest message is in view, and is to stay so

const isMine = (name) => name === account?.name;

function conversation(key) {
  if (!conversations.has(key)) {
    conversations.set(key, new Conversation(key));
  }
  return conversations.get(key);
}

function ask(line) {
  return connection
    ? connection.request(line)
    : Promise.reject(new Disconnected('There is no connection.'));
}

/** Does what may be cut off by a lost connection: that is shown anyway, and mended later. */
async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Disconnected)) {
      showError(error.message);
    }
    return undefined;
  }
}

// ---- connecting ----

const events = {
  message(message) {
    receive(message);
    confirmSoon(message.id);
  },
  presence(name, state) {
    setPresence(name, state);
    renderSoon();
  },
  joined(room, name) {
    if (isMine(name)) {
      conversation(room); // in another window
      invitations.delete(room);
    }
    conversations.get(room)?.members.set(name, 'online');
    setPresence(name, 'online');
    renderSoon();
  },
  left(room, name) {
    const known = conversations.get(room);
    known?.members.delete(name);
    if (known && isMine(name)) {
      forget(known);
    }
    renderSoon();
  },
  invited(room, by) {
    invitations.add(room);
    announce(`${by} invites you to ${room}`);
    renderSoon();
  },
  bye(reason) {
    farewell = reason;
  },
  ended(which) {
    if (which === connection) {
      connection = null;
      rememberGaps();
      reconnectLater();
    }
  },
};

/** Logs in by a password, or again by a token. */
async function signIn(command, words) {
  farewell = '';
  const fresh = await Connection.open(events);
  let name;
  try {
    // from now on the server sends again at the next login what was not confirmed
    fresh.request('SEEN 0').catch(() => {});
    name = await fresh.request(`${command} ${words}`);
  } catch (error) {
    fresh.end();
    throw error;
  }
  account = { name, token: command === 'RESUME' ? words : null };
  connection = fresh;
  failures = 0;
  if (!account.token) {
    const mine = account;
    fresh
      .request('TOKEN')
      .then((token) => {
        mine.token = token;
        if (mine === account) {
          store(mine);
        }
      })
      .catch(() => {}); // then a lost connection means to log in again
  }
}

/** Keeps the account for a reload of this window; or keeps none. */
function store(it) {
  try {
    if (it) {
      sessionStorage.setItem(STORED_AS, JSON.stringify(it));
    } else {
      sessionStorage.removeItem(STORED_AS);
    }
  } catch {
    // the browser keeps nothing: a reload logs out
  }
}

function stored() {
  try {
    const { name, token } = JSON.parse(sessionStorage.getItem(STORED_AS)) ?? {};
    return name && token ? { name, token } : null;
  } catch {
    return null;
  }
}

async function submitLogin(command) {
  const name = $('name').value.trim();
  const password = $('password').value;
  const problem = loginProblem(name, password);
  if (problem) {
    showLoginError(problem);
    return;
  }
  setLoginBusy(true);
  try {
    await signIn(command, `${name} ${password}`);
    $('password').value = '';
    enter();
  } catch (error) {
    showLoginError(farewell ? `${error.message} (${farewell})` : error.message);
  } finally {
    setLoginBusy(false);
  }
}

function loginProblem(name, password) {
  if (!NAME.test(name)) {
    return 'A name has 1 to 32 letters, digits, “_”, “-” or “.”, and no spaces.';
  }
  if (password.length < 8 || password.length > 128 || /\s/.test(password)) {
    return 'A password has 8 to 128 characters, and no spaces.';
  }
  return '';
}

function enter() {
  showView();
  openFromAddress();
  attempt(update);
}

/** Once for many messages that come together. */
function confirmSoon(id) {
  received = id;
  confirmTimer ||= setTimeout(confirm, CONFIRM_AFTER);
}

function confirm() {
  clearTimeout(confirmTimer);
  confirmTimer = 0;
  ask(`SEEN ${received}`).catch(() => {});
}

function rememberGaps() {
  for (const known of conversations.values()) {
    if (known.loaded) {
      known.solid ??= known.newestId;
    }
  }
}

function reconnectLater() {
  if (!account) {
    return;
  }
  const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** failures++);
  // not all pages at the same moment after the server has been away
  const pause = longest * (0.5 + Math.random() / 2);
  clearTimeout(retryTimer);
  retryTimer = setTimeout(reconnect, pause);
  showConnecting(pause);
  render();
}

async function reconnect() {
  clearTimeout(retryTimer);
  retryTimer = 0;
  if (!account || connection) {
    return;
  }
  showConnecting(0);
  try {
    if (!account.token) {
      throw new Refused('denied', 'The connection was lost. Log in again.');
    }
    await signIn('RESUME', account.token);
    showConnected();
    await attempt(update);
  } catch (error) {
    if (error instanceof Refused && error.code !== 'internal' && error.code !== 'limit') {
      logOut();
      showLoginError(error.message);
    } else {
      reconnectLater();
    }
  }
}

function reconnectNow() {
  if (retryTimer) {
    failures = 0;
    reconnect();
  }
}

/** Brings all that is shown up to date. */
async function update() {
  await refreshRooms();
  await refreshInvitations();
  await closeGaps();
  if (opened) {
    await load(opened);
    await refreshMembers(opened);
  }
  if (!peeked) {
    peeked = true;
    await peek();
  }
}

/** A dead network is silent: the server is asked now and then whether it is still there. */
function lookAtConnection() {
  if (connection?.isStuck()) {
    connection.end();
  } else if (connection?.isQuiet()) {
    ask('PING').catch(() => {});
  }
}

function logOut() {
  if (confirmTimer) {
    confirm();
  }
  const old = connection;
  account = connection = null;
  store(null);
  clearTimeout(retryTimer);
  retryTimer = 0;
  old?.request('LOGOUT').catch(() => {});
  old?.end();
  conversations.clear();
  invitations.clear();
  presence.clear();
  opened = null;
  peeked = false;
  failures = 0;
  farewell = '';
  showConnected();
  hideError();
  $('text').value = '';
  showView();
}

// ---- rooms, members, history ----

async function refreshRooms() {
  const names = (await ask('ROOMS')).split(' ').filter(Boolean);
  names.forEach(conversation);
  for (const known of conversations.values()) {
    if (!known.direct && !names.includes(known.key)) {
      forget(known);
    }
  }
  openFromAddress();
  render();
}

async function refreshInvitations() {
  const rooms = (await ask('INVITATIONS')).split(' ').filter(Boolean);
  invitations.clear();
  rooms.forEach((room) => invitations.add(room));
  render();
}

/** The user has left it, here or elsewhere. */
function forget(room) {
  const text = room === opened ? $('text').value : room.draft;
  if (!text && room.sending.length === 0) {
    conversations.delete(room.key);
    if (room === opened) {
      goTo('');
    }
  }
}

async function refreshMembers(room) {
  if (room.direct) {
    return;
  }
  const [, list = ''] = fields(await ask(`WHO ${room.key}`), 2);
  room.members = new Map(list.split(' ').filter(Boolean).map((member) => member.split(':')));
  room.members.forEach((state, name) => presence.set(name, state));
  render();
}

function setPresence(name, state) {
  presence.set(name, state);
  for (const known of conversations.values()) {
    if (known.members.has(name)) {
      known.members.set(name, state);
    }
  }
}

async function load(known) {
  if (known.loaded || known.busy) {
    return;
  }
  await asking(known, async () => {
    const page = await firstPage(known);
    known.loaded = true;
    known.complete = page.length < PAGE_SIZE;
    if (!known.complete) {
      known.forgetBefore(page[0].id); // there may be a gap between
    }
    page.forEach((message) => known.add(message));
  });
  showLog(known);
}

async function firstPage(known) {
  try {
    return await ask(`HISTORY ${known.key}`);
  } catch (error) {
    if (error.code !== 'unknown') {
      throw error;
    }
    showError(error.message);
    return [];
  }
}

async function loadOlder() {
  const known = opened;
  if (!known?.loaded || known.complete || known.busy || !connection) {
    return;
  }
  await asking(known, async () => {
    const page = await ask(`HISTORY ${known.key} ${known.messages[0].id}`);
    known.complete = page.length < PAGE_SIZE;
    page.forEach((message) => known.add(message) && showMessage(known, message));
  });
  render();
}

/** Two answers at once would not know of each other. */
async function asking(known, action) {
  known.busy = true;
  render();
  try {
    await action();
  } finally {
    known.busy = false;
  }
}

async function closeGaps() {
  for (const known of conversations.values()) {
    if (known.solid !== null && !known.busy) {
      await asking(known, () => closeGap(known));
    }
    if (unsure(known).length > 0) {
      await load(known);
      settle(known);
    }
  }
  render();
}

/**
 * Asks for what came after `solid`. The server sends at login what it has not delivered, but
 * another page of the same user may have got it in the meantime.
 */
async function closeGap(known) {
  let before = '';
  for (let pages = 1; ; pages++) {
    const page = await ask(`HISTORY ${known.key}${before}`);
    page.forEach((message) => message.id > known.solid && receive(message));
    if (page.length < PAGE_SIZE || page[0].id <= known.solid) {
      break;
    }
    if (pages === MOST_PAGES) {
      known.forgetBefore(page[0].id);
      showLog(known);
      break;
    }
    before = ` ${page[0].id}`;
  }
  known.solid = null;
}

/** Finds the last message of each conversation, for the list. */
async function peek() {
  const rooms = [...conversations.values()].filter((known) => !known.direct);
  const directs = (await ask('DIRECTS')).split(' ').filter(Boolean);
  const peers = directs.map((direct) => `@${direct.slice(0, direct.lastIndexOf(':'))}`);
  const keys = [
    ...rooms.map((room) => room.key).slice(0, MOST_PEEKS),
    ...peers.slice(0, MOST_PEEKS),
  ];
  peers.forEach(conversation);
  await Promise.all(rooms.slice(0, MOST_PEEKS).map((room) => attempt(() => refreshMembers(room))));
  await Promise.all(keys.map(peekAt));
  render();
}

async function peekAt(key) {
  try {
    const [last] = await ask(`HISTORY ${key} ${NO_ID_YET} 1`);
    if (last) {
      const known = conversation(key);
      if (known.messages.length === 0) {
        known.add(last);
      }
    }
  } catch {
    // it is only for the list
  }
}

/** Takes a message that may be new. */
function receive(message) {
  const known = conversation(message.conversation);
  if (!known.add(message)) {
    return;
  }
  dropSent(known);
  if (!isMine(message.from)) {
    noteUnread(known, message);
  }
  if (known === opened) {
    showMessage(known, message);
    if (!known.direct && !known.members.has(message.from)) {
      attempt(() => refreshMembers(known));
    }
  } else if (known.messages.length > KEPT_UNSEEN && known.solid === null) {
    known.forgetBefore(known.messages.at(-KEPT_UNSEEN).id);
  }
  renderSoon();
}

function noteUnread(known, message) {
  if (known === opened && !document.hidden) {
    announce(`${message.from}: ${message.text}`);
  } else {
    known.unread++;
  }
}

// ---- sending ----

async function submitText() {
  const text = clean($('text').value).trim();
  if (!text || !opened) {
    return;
  }
  if (text.length > TEXT_LIMIT) {
    showError(`A message has at most ${TEXT_LIMIT} characters; this has ${text.length}.`);
  } else if (!connection) {
    showError('There is no connection now. The text stays here until there is one.', true);
  } else {
    setDraft('');
    await send(opened, text);
  }
}

/** A message is one line. */
const clean = (text) => text.replace(CONTROLS, ' ').toWellFormed();

async function send(known, text) {
  const entry = { text, after: known.newestId, id: null, over: connection };
  known.sending.push(entry);
  render();
  scrollToEnd();
  try {
    const command = known.direct ? 'TELL' : 'SAY';
    entry.id = Number(await ask(`${command} ${known.name} ${text}`));
    hideError();
    dropSent(known);
  } catch (error) {
    if (error instanceof Refused) {
      giveBack(known, entry, error.message);
    } // else it may have arrived: settle() will know
  }
  render();
}

/** A text is shown as being sent until it comes back as a message. */
function dropSent(known) {
  known.sending = known.sending.filter((entry) => entry.id === null || !known.has(entry.id));
}

/** Texts that were sent over a connection that is gone. */
const unsure = (known) => known.sending.filter((entry) => entry.over !== connection);

/** Keeps of these what has not arrived, when all that has is known again. */
function settle(known) {
  if (!known.loaded || known.solid !== null || !connection) {
    return;
  }
  const claimed = new Set();
  const lost = unsure(known).filter((entry) => !hasArrived(known, entry, claimed));
  known.sending = known.sending.filter((entry) => entry.over === connection);
  for (const entry of lost.reverse()) {
    giveBack(known, entry, 'The connection was lost before this was sent. Press Enter to send it.');
  }
}

function hasArrived(known, entry, claimed) {
  const arrived = known.messages.find(
    (message) =>
      message.id > entry.after &&
      isMine(message.from) &&
      message.text === entry.text &&
      !claimed.has(message.id),
  );
  if (arrived) {
    claimed.add(arrived.id);
  }
  return arrived !== undefined || entry.id !== null;
}

function giveBack(known, entry, why) {
  known.sending = known.sending.filter((other) => other !== entry);
  const draft = known === opened ? $('text').value : known.draft;
  const both = draft ? `${entry.text} ${draft}` : entry.text;
  if (known === opened) {
    setDraft(both);
  } else {
    known.draft = both;
  }
  showError(known === opened ? why : `${known.key}: ${why}`);
}

function setDraft(text) {
  $('text').value = text;
  showCount();
}

// ---- opening and leaving ----

function keyInAddress() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

/** The address names what is open, so the browser's Back works and a reload comes back here. */
function goTo(key) {
  if (keyInAddress() !== key) {
    location.hash = encodeURIComponent(key);
  }
  openFromAddress();
}

function openFromAddress() {
  const key = keyInAddress();
  const isDirect = key.startsWith('@') && NAME.test(key.slice(1));
  const target = conversations.get(key) ?? (isDirect ? conversation(key) : null);
  if (account && target !== opened) {
    open(target);
  }
}

function open(target) {
  if (opened) {
    opened.draft = $('text').value;
  }
  opened = target;
  $('members-pane').classList.remove('shown');
  setText($('invited'), '');
  $('jump').hidden = true;
  hideError();
  if (target) {
    target.unread = 0;
    setDraft(target.draft);
    showLog(target);
    attempt(() => load(target));
    attempt(() => refreshMembers(target));
    focusText();
  }
  render();
}

/** On a phone the keyboard would cover what one came to read. */
function focusText() {
  if (matchMedia('(pointer: fine)').matches) {
    $('text').focus();
  }
}

async function submitJoin() {
  const key = $('join-name').value.trim();
  if (!NAME.test(key.replace(/^@/, ''))) {
    showJoinError('A name has 1 to 32 letters, digits, “_”, “-” or “.”, and no spaces.');
    return;
  }
  showJoinError('');
  try {
    // the server tells how it spells the name
    const room = key.startsWith('@')
      ? key
      : await ask(`${$('join-private').checked ? 'PRIVATE' : 'JOIN'} ${key}`);
    conversation(room);
    invitations.delete(room);
    $('join-name').value = '';
    $('join-private').checked = false;
    goTo(room);
  } catch (error) {
    showJoinError(error.message);
  }
}

async function join(room) {
  await attempt(async () => {
    await ask(`JOIN ${room}`);
    invitations.delete(room);
    conversation(room);
    goTo(room);
  });
  render();
}

async function submitInvitation() {
  const name = $('invite-name').value.trim().replace(/^@/, '');
  if (!NAME.test(name) || !opened) {
    showError('A name has 1 to 32 letters, digits, “_”, “-” or “.”, and no spaces.');
    return;
  }
  const room = opened.key;
  await attempt(async () => {
    await ask(`INVITE ${room} ${name}`);
    hideError();
    $('invite-name').value = '';
    setText($('invited'), `${name} is invited.`);
  });
}

async function leave() {
  const room = opened;
  await attempt(async () => {
    if (!room.direct) {
      await ask(`LEAVE ${room.key}`);
    }
    conversations.delete(room.key);
    goTo('');
  });
  render();
}

// ---- showing ----

function showView() {
  const inside = account !== null;
  $('login').hidden = inside;
  $('chat').hidden = !inside;
  showLoginError('');
  showJoinError('');
  if (inside) {
    $('me').textContent = account.name;
    paintAvatar($('me-avatar'), account.name);
  } else {
    $('name').focus();
  }
  render();
}

/** Once for many messages that come together. */
function renderSoon() {
  renderTimer ||= setTimeout(render);
}

function render() {
  clearTimeout(renderTimer);
  renderTimer = 0;
  renderLists();
  renderMembers();
  renderConversation();
  const unread = [...conversations.values()].reduce((sum, known) => sum + known.unread, 0);
  document.title = unread ? `(${unread}) Weft chat` : 'Weft chat';
  renderUnreadElsewhere(unread - (opened?.unread ?? 0));
  $('chat').classList.toggle('offline', !connection);
}

/** On a phone the list is not beside the conversation: its Back button tells. */
function renderUnreadElsewhere(count) {
  $('elsewhere').hidden = count === 0;
  setText($('elsewhere'), String(count));
  const back = 'Back to the conversations';
  $('back').setAttribute('aria-label', count ? `${back}, ${count} unread` : back);
}

function renderLists() {
  const all = [...conversations.values()];
  const rooms = all.filter((known) => !known.direct);
  const directs = all.filter((known) => known.direct);
  rooms.sort((a, b) => a.name.localeCompare(b.name));
  directs.sort((a, b) => b.newestId - a.newestId || a.name.localeCompare(b.name));
  updateList($('rooms'), rooms, (known) => known.key, newEntry, updateEntry);
  updateList($('directs'), directs, (known) => known.key, newEntry, updateEntry);
  const invited = [...invitations].sort((a, b) => a.localeCompare(b));
  $('invitations-title').hidden = invited.length === 0;
  updateList($('invitations'), invited, (room) => room, newInvitation, () => {});
}

/** Changes only what has to be: the element with the focus keeps it. */
function updateList(list, items, keyOf, make, update) {
  const old = new Map([...list.children].map((element) => [element.dataset.key, element]));
  const wanted = new Set(items.map(keyOf));
  old.forEach((element, key) => wanted.has(key) || element.remove());
  items.forEach((item, index) => {
    const key = keyOf(item);
    const element = old.get(key) ?? make(item);
    element.dataset.key = key;
    if (list.children[index] !== element) {
      list.insertBefore(element, list.children[index] ?? null);
    }
    update(element, item);
  });
}

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function paintAvatar(element, name) {
  let hue = 0;
  for (const character of name) {
    hue = (hue * 31 + character.codePointAt(0)) % 360;
  }
  element.style.setProperty('--hue', hue);
  setText(element, [...name][0].toUpperCase());
}

function newAvatar(name) {
  const avatar = make('span', 'avatar');
  avatar.setAttribute('aria-hidden', 'true');
  paintAvatar(avatar, name);
  return avatar;
}

function newButton(avatar, ...more) {
  const about = make('span', 'about', make('span', 'label'), make('span', 'last'));
  const button = make('button', 'entry', avatar, about, ...more);
  button.type = 'button';
  return make('li', '', button);
}

function newEntry(known) {
  const avatar = newAvatar(known.name);
  if (known.direct) {
    avatar.classList.add('with-presence');
  } else {
    avatar.classList.add('room');
    setText(avatar, '#');
  }
  const element = newButton(avatar, make('span', 'count'));
  element.firstChild.onclick = () => goTo(known.key);
  return element;
}

function newInvitation(room) {
  const avatar = make('span', 'avatar room', '#');
  avatar.setAttribute('aria-hidden', 'true');
  const element = newButton(avatar);
  const button = element.firstChild;
  setText(button.querySelector('.label'), room);
  setText(button.querySelector('.last'), 'you are invited: press to join');
  button.onclick = () => join(room);
  return element;
}

/** Without a connection nobody knows. */
const isOnline = (state) => connection !== null && state === 'online';

function updateEntry(element, known) {
  const button = element.firstChild;
  const last = known.messages.at(-1);
  button.setAttribute('aria-current', String(known === opened));
  button.classList.toggle('unread', known.unread > 0);
  button.classList.toggle('online', isOnline(presence.get(known.name)));
  setText(button.querySelector('.label'), known.name);
  setText(button.querySelector('.last'), last ? preview(known, last) : '');
  const count = button.querySelector('.count');
  count.hidden = known.unread === 0;
  setText(count, String(known.unread));
  count.setAttribute('aria-label', `${known.unread} unread`);
}

function preview(known, message) {
  const sender = isMine(message.from) ? 'you' : message.from;
  return known.direct && sender === known.name ? message.text : `${sender}: ${message.text}`;
}

function renderMembers() {
  const hidden = !opened || opened.direct;
  $('members-pane').hidden = hidden;
  $('members-button').hidden = hidden;
  const shown = $('members-pane').classList.contains('shown');
  $('members-button').setAttribute('aria-expanded', String(shown));
  if (!hidden) {
    const members = [...opened.members].sort(
      ([a, stateOfA], [b, stateOfB]) => stateOfB.localeCompare(stateOfA) || a.localeCompare(b),
    );
    updateList($('members'), members, ([name]) => name, newMember, updateMember);
  }
}

function newMember([name]) {
  const avatar = newAvatar(name);
  avatar.classList.add('with-presence');
  const element = newButton(avatar);
  const button = element.firstChild;
  button.disabled = isMine(name);
  button.title = isMine(name) ? '' : `Write to ${name}`;
  button.onclick = () => {
    conversation(`@${name}`);
    goTo(`@${name}`);
  };
  return element;
}

function updateMember(element, [name, state]) {
  const button = element.firstChild;
  button.classList.toggle('online', isOnline(state));
  button.classList.toggle('away', !isOnline(state));
  setText(button.querySelector('.label'), isMine(name) ? `${name} (you)` : name);
  setText(button.querySelector('.last'), connection ? state : '');
}

function renderConversation() {
  $('nothing-open').hidden = opened !== null;
  $('conversation').hidden = opened === null;
  $('chat').classList.toggle('reading', opened !== null);
  if (!opened) {
    return;
  }
  setText($('title'), opened.name);
  setText($('subtitle'), subtitle());
  setText($('leave'), opened.direct ? 'Close' : 'Leave');
  $('older').hidden = !opened.loaded || opened.complete;
  $('older').disabled = opened.busy || !connection;
  $('start').hidden = opened.loaded && !opened.complete;
  setText($('start'), opened.loaded ? beginning() : 'Loading…');
  renderSending();
}

function subtitle() {
  if (!connection) {
    return opened.direct ? 'direct messages' : '';
  }
  if (opened.direct) {
    const state = presence.get(opened.name);
    return state ? `direct messages · ${state}` : 'direct messages';
  }
  const states = [...opened.members.values()];
  const online = states.filter((state) => state === 'online').length;
  const members = states.length === 1 ? '1 member' : `${states.length} members`;
  return states.length ? `${members} · ${online} online` : '';
}

function beginning() {
  return opened.messages.length || opened.sending.length
    ? 'This is the beginning.'
    : 'No messages yet: write the first.';
}

function renderSending() {
  const atEnd = isAtEnd();
  $('pending').replaceChildren(
    ...opened.sending.map((entry) => {
      const text = make('p', 'text', entry.text);
      const state = make('span', 'state', connection ? 'sending…' : 'waiting for the connection…');
      return make('li', 'own', make('div', 'body', text, state));
    }),
  );
  if (atEnd) {
    scrollToEnd();
  }
}

// ---- the messages ----

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const longTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });
const dayName = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

function showLog(known) {
  if (known === opened) {
    $('log').replaceChildren(...known.messages.map(newMessage));
    for (const element of $('log').children) {
      joinToPrevious(element);
    }
    render();
    scrollToEnd();
  }
}

/** Puts a message into its place; a reader of another part is not moved. */
function showMessage(known, message) {
  const log = $('log');
  const scroller = $('scroller');
  const atEnd = isAtEnd();
  const fromEnd = scroller.scrollHeight - scroller.scrollTop;
  const following = elementAfter(message.id);
  const element = newMessage(message);
  log.insertBefore(element, following);
  joinToPrevious(element);
  if (following) {
    joinToPrevious(following);
  }
  if (atEnd) {
    scrollToEnd();
  } else if (following) {
    scroller.scrollTop = scroller.scrollHeight - fromEnd;
  } else {
    $('jump').hidden = false;
  }
}

function elementAfter(id) {
  let following = null;
  for (let last = $('log').lastElementChild; last; last = last.previousElementSibling) {
    if (Number(last.dataset.id) < id) {
      break;
    }
    following = last;
  }
  return following;
}

function newMessage(message) {
  const mine = isMine(message.from);
  const time = make('time', '', clock.format(message.time));
  time.dateTime = message.time.toISOString();
  time.title = longTime.format(message.time);
  const meta = make('div', 'meta', make('span', 'sender', mine ? 'you' : message.from), time);
  const text = make('p', 'text', message.text);
  text.dir = 'auto';
  text.title = time.title;
  const element = make('li', mine ? 'own' : '', make('div', 'body', meta, text));
  if (!mine) {
    element.prepend(newAvatar(message.from));
  }
  element.dataset.id = message.id;
  element.dataset.from = message.from;
  return element;
}

function joinToPrevious(element) {
  const previous = element.previousElementSibling;
  const time = timeOf(element);
  const sameDay = previous && dayName.format(timeOf(previous)) === dayName.format(time);
  if (sameDay) {
    delete element.dataset.day;
  } else {
    element.dataset.day = dayName.format(time);
  }
  const sameSender = previous && previous.dataset.from === element.dataset.from;
  element.classList.toggle(
    'follows',
    Boolean(sameDay && sameSender && time - timeOf(previous) < SAME_BREATH),
  );
}

const timeOf = (element) => new Date(element.querySelector('time').dateTime);

function isAtEnd() {
  const { scrollHeight, scrollTop, clientHeight } = $('scroller');
  return scrollHeight - scrollTop - clientHeight < 60;
}

function scrollToEnd() {
  readsTheEnd = true;
  $('scroller').scrollTop = $('scroller').scrollHeight;
  $('jump').hidden = true;
}

function announce(text) {
  setText($('announcer'), text);
}

// ---- notices ----

function show(element, text) {
  element.hidden = !text;
  setText(element, text);
}

const showLoginError = (text) => show($('login-error'), text);
const showJoinError = (text) => show($('join-error'), text);

function setLoginBusy(busy) {
  $('log-in').disabled = $('register').disabled = busy;
  setText($('log-in'), busy ? 'Connecting…' : 'Log in');
  if (busy) {
    showLoginError('');
  }
}

/** Shows what went wrong; if only the connection did, until there is one again. */
function showError(text, untilConnected = false) {
  setText($('error-text'), text);
  $('error').hidden = false;
  $('error').dataset.untilConnected = untilConnected;
}

function hideError() {
  $('error').hidden = true;
}

function showConnecting(pause) {
  const seconds = Math.ceil(pause / 1000);
  const why = farewell ? `The server said goodbye: ${farewell}. ` : '';
  const when = seconds > 1 ? `Trying again in ${seconds} seconds.` : '';
  setText($('connecting-text'), `${why}Connecting… ${when}`.trim());
  $('connect-now').hidden = seconds <= 1;
  $('connecting').hidden = false;
}

function showConnected() {
  $('connecting').hidden = true;
  if ($('error').dataset.untilConnected === 'true') {
    hideError();
  }
}

function showCount() {
  const { length } = clean($('text').value).trim();
  setText($('count'), `${length} of ${TEXT_LIMIT} characters`);
  $('count').classList.toggle('over', length > TEXT_LIMIT);
}

// ---- what the user does ----

function onSubmit(form, action) {
  $(form).addEventListener('submit', (event) => {
    event.preventDefault();
    action(event);
  });
}

function onClick(button, action) {
  $(button).addEventListener('click', action);
}

onSubmit('login-form', (event) => submitLogin(event.submitter?.value || 'LOGIN'));
onSubmit('join-form', submitJoin);
onSubmit('composer', submitText);
onClick('log-out', () => {
  goTo('');
  logOut();
});
onClick('connect-now', reconnectNow);
onClick('error-close', hideError);
onClick('older', () => attempt(loadOlder));
onClick('jump', scrollToEnd);
onClick('leave', leave);
onSubmit('invite-form', submitInvitation);
onClick('back', () => goTo(''));
onClick('members-button', () => {
  $('members-pane').classList.toggle('shown');
  renderMembers();
});

$('text').addEventListener('input', showCount);
$('text').addEventListener('keydown', (event) => {
  // while an input method composes, Enter ends the word and not the message; Safari tells by 229
  if (event.key === 'Enter' && !event.isComposing && event.keyCode !== 229) {
    event.preventDefault();
    submitText();
  }
});

$('scroller').addEventListener('scroll', () => {
  if ($('scroller').scrollTop < 40) {
    attempt(loadOlder);
  }
  readsTheEnd = isAtEnd();
  $('jump').hidden ||= readsTheEnd;
});

// a phone's keyboard takes half of it away
new ResizeObserver(() => readsTheEnd && scrollToEnd()).observe($('scroller'));

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && $('members-pane').classList.contains('shown')) {
    $('members-pane').classList.remove('shown');
    renderMembers();
    $('members-button').focus();
  }
});

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) {
    if (opened) {
      opened.unread = 0;
    }
    reconnectNow();
    render();
  }
});

window.addEventListener('online', reconnectNow);
window.addEventListener('hashchange', openFromAddress);
setInterval(lookAtConnection, LOOK_EVERY);
showCount();
account = stored();
showView();
if (account) {
  openFromAddress();
  reconnect();
}
