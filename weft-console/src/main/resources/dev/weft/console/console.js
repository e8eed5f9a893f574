'use strict';

// The page of the Weft console. Messages of the server, each JSON with a type:
//   tick    the numbers of the process and its schedulers, new pieces of the lanes, longest waits,
//           and how long ago the fibers were counted
//   fibers  what a search found; scopes: the tree of scopes; stack: one fiber
// All text of the program is set as text and never as HTML.
//
// The file is long because the page is one script, which needs no build and is asked for once.

const WINDOW = 10_000; // what a lane shows, in milliseconds
const KEEP = 30_000; // how long slices are remembered, for the slowest
const SHORTEST = 5; // pieces of lanes that the server has not told, in milliseconds
const POINTS = 120; // of a plot
const MIXED = 0, SLICE = 1, SLEEP = 2; // kinds of pieces, as dev.weft.internal.events.Lane has them
const STATES = [
  ['running', 'running'], ['ready', 'ready'], ['waiting', 'waiting'], ['sleeping', 'sleeping'],
  ['blocking', 'on helpers'], ['awaitingHelper', 'waiting for a helper']];

const $ = id => document.getElementById(id);
const lanes = new Map(); // by place, "id of the scheduler/index": {pieces, canvas, …}
const plots = new Map(); // by name: values
let last; // the tick before
let clock = {server: 0, local: 0}; // the time of the last tick, here and there
let socket, retry = 500, paused = false, tab = 'overview', stackId = '';

// ---- the connection

function connect() {
  if (document.hidden) return;
  const at = new URL('live', location.href);
  at.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  socket = new WebSocket(at);
  socket.onopen = () => {
    retry = 500;
    status('live', 'live');
    look();
    if (paused) send('pause');
  };
  socket.onmessage = event => {
    const message = JSON.parse(event.data);
    ({tick, fibers: showFibers, scopes: showScopes, stack: showStack})[message.type](message);
  };
  socket.onclose = event => {
    if (document.hidden) return status('', 'not looking');
    status('lost', event.code === 1001 ? 'the program has ended its console' : event.reason || 'connection lost');
    setTimeout(connect, retry);
    retry = Math.min(retry * 2, 10_000);
  };
}

function send(text) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(text);
}

function status(kind, text) {
  const shown = $('status');
  shown.className = kind;
  if (shown.textContent !== text) shown.textContent = text;
}

function look() {
  if (tab === 'fibers') $('found').textContent = 'searching…';
  send(tab === 'fibers' ? 'look fibers ' + $('text').value.trim() : 'look ' + tab);
}

// a page in a hidden tab costs the program nothing
document.addEventListener('visibilitychange', () => {
  if (document.hidden) socket?.close();
  else if (!socket || socket.readyState > WebSocket.OPEN) connect();
});

// ---- ticks

function tick(now) {
  clock = {server: now.now, local: performance.now()};
  const seconds = last ? (now.now - last.now) / 1000 : 0;
  about(now.process);
  cards(now, seconds);
  const shown = new Set();
  // of very many fibers the counts and the waits are some seconds old
  const age = now.counted > 2500 ? `counted ${span(Math.round(now.counted / 1000) * 1000)} ago` : '';
  for (const scheduler of now.schedulers) showScheduler(scheduler, seconds, shown, age);
  $('waits-age').textContent = age;
  for (const old of $('schedulers').querySelectorAll('.scheduler')) {
    if (!shown.has(old.dataset.scheduler)) {
      old.remove();
      for (const place of [...lanes.keys()]) if (place.startsWith(old.dataset.scheduler + '/')) lanes.delete(place);
    }
  }
  showWaits(now.waits);
  showSlow(now.now);
  last = now;
  if (reducedMotion.matches) drawAll();
}

function about(process) {
  $('command').textContent = process.program;
  document.title = process.program + ' – Weft console';
  $('command').title = process.command;
  $('about').textContent = `process ${process.pid}, Java ${process.java}, up ${span(process.uptime)}, ${process.cores} cores`;
}

function cards(now, seconds) {
  const all = key => now.schedulers.reduce((sum, s) => sum + s[key], 0);
  const ofWorkers = (tick, key) => tick.schedulers.reduce((sum, s) => sum + s.workers.reduce((n, w) => n + w[key], 0), 0);
  const rate = key => seconds ? Math.max(0, (ofWorkers(now, key) - ofWorkers(last, key)) / seconds) : 0;
  const begun = tick => tick.schedulers.reduce((sum, s) => sum + s.begun, 0);
  const p = now.process;
  const cpu = seconds && p.cpu >= 0 ? (p.cpu - last.process.cpu) / 10 / seconds : 0;
  const live = begun(now) - now.schedulers.reduce((sum, s) => sum + s.ended, 0);
  card('cpu', 'CPU', cpu, `${Math.round(cpu)} %`, `of ${p.cores * 100}`);
  card('heap', 'Heap', p.heap, bytes(p.heap), `of ${bytes(p.heapLimit)}`);
  card('fibers', 'Fibers', live, count(live), seconds ? `${count((begun(now) - begun(last)) / seconds)} new/s` : '');
  card('switches', 'Switches', rate('switches'), count(rate('switches')), '/s');
  card('steals', 'Steals', rate('stolen'), count(rate('stolen')), '/s');
  card('ready', 'Ready', all('ready'), count(all('ready')), 'for a thread');
  card('timers', 'Timers', ofWorkers(now, 'timers'), count(ofWorkers(now, 'timers')), 'set');
  if (p.sockets >= 0) {
    card('sockets', 'Sockets', p.sockets, count(p.sockets), p.limit > 0 ? `${count(p.descriptors)} of ${count(p.limit)} fds` : '',
      p.limit > 0 && p.descriptors > .8 * p.limit);
  }
  const busy = all('blocking');
  card('helpers', 'Helpers', busy, `${busy}`, p.helperQueue ? `${p.helperQueue} calls wait` : `busy of ${p.helperLimit}`, p.helperQueue > 0);
  const rescues = all('rescues');
  if (rescues) card('rescues', 'Rescues', rescues, count(rescues), 'a fault of Weft’s', true);
}

function card(id, label, value, text, note, alarm) {
  let node = $('card-' + id);
  if (!node) {
    node = make('div', 'card');
    node.id = 'card-' + id;
    node.append(make('div', 'label', label), make('div', 'note'), make('div', 'value'));
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 100 30');
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true');
    for (const name of ['area', 'curve']) {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      path.setAttribute('class', name);
      svg.append(path);
    }
    node.append(svg);
    $('cards').append(node);
  }
  node.classList.toggle('alarm', Boolean(alarm));
  node.querySelector('.value').textContent = text;
  node.querySelector('.note').textContent = note;
  const values = plots.get(id) ?? [];
  plots.set(id, values);
  if (last || values.length) values.push(value); // the first tick has no rates
  if (values.length > POINTS) values.shift();
  const most = Math.max(...values, 1e-9) * 1.1;
  const step = 100 / (Math.max(values.length, 30) - 1);
  const x = i => (100 - (values.length - 1 - i) * step).toFixed(1);
  const line = values.map((v, i) => `${x(i)},${(29 - 27 * v / most).toFixed(1)}`).join('L');
  const [area, curve] = node.querySelectorAll('path');
  curve.setAttribute('d', line && 'M' + line);
  area.setAttribute('d', line && `M${x(0)},30L${line}L100,30Z`);
}

// ---- schedulers and their lanes

function showScheduler(scheduler, seconds, shown, age) {
  shown.add(scheduler.id); // names are not unique
  let node = [...$('schedulers').children].find(n => n.dataset.scheduler === scheduler.id);
  if (!node) {
    node = make('section', 'scheduler');
    node.dataset.scheduler = scheduler.id;
    const top = make('div', 'top');
    top.append(make('h2', '', scheduler.name), make('span', 'soft sum'));
    const axis = make('div', 'axis');
    axis.setAttribute('aria-hidden', 'true');
    axis.append(make('span', '', '10 s ago'), make('span', '', '5 s'), make('span', '', 'now'));
    const states = make('div', 'states');
    states.setAttribute('aria-hidden', 'true');
    const counts = make('ul', 'counts');
    for (const [key, label] of STATES) {
      states.append(make('i', key));
      const item = make('li');
      item.append(make('i', key), make('b', key), ' ' + label);
      item.querySelector('b').className = 'count-' + key;
      counts.append(item);
    }
    const apart = make('li', 'apart');
    apart.append(make('i', 'running'), make('b'), ' set apart');
    apart.title = 'fibers that compute, on threads of their own';
    counts.append(apart);
    node.append(top, states, counts, make('div', 'lanes'), axis);
    $('schedulers').append(node);
  }
  const before = last?.schedulers.find(s => s.id === scheduler.id);
  const total = STATES.reduce((sum, [key]) => sum + scheduler[key], 0);
  node.querySelector('.sum').textContent = `${scheduler.workers.length === 1 ? '1 thread' : scheduler.workers.length + ' threads'}, ${count(total)} fibers` +
    (before && seconds ? `, ${count((scheduler.ended - before.ended) / seconds)} ended/s` : '') + (age && ', ' + age);
  // a scheduler that does nothing, as the shared one of a program that never asked for it
  const ran = scheduler.workers.some((worker, i) => worker.switches !== before?.workers[i]?.switches);
  node.classList.toggle('idle', !total && !ran);
  node.querySelector('.apart').hidden = !scheduler.apart;
  node.querySelector('.apart b').textContent = count(scheduler.apart);
  const bars = node.querySelector('.states').children;
  STATES.forEach(([key], i) => {
    bars[i].style.flexGrow = total ? scheduler[key] / total : 0;
    node.querySelector('.count-' + key).textContent = count(scheduler[key]);
    node.querySelector('.counts').children[i].hidden = !scheduler[key] && i > 3;
  });
  scheduler.workers.forEach((worker, i) => showLane(node.querySelector('.lanes'), scheduler, worker, i, before?.workers[i], seconds));
}

function showLane(parent, scheduler, worker, index, before, seconds) {
  const place = scheduler.id + '/' + index;
  let lane = lanes.get(place);
  if (!lane) {
    const node = make('div', 'lane');
    const canvas = document.createElement('canvas');
    canvas.setAttribute('role', 'img');
    const what = make('span', 'what');
    node.append(make('span', 'soft', String(index)), canvas, what);
    parent.append(node);
    lane = {pieces: [], node, canvas, what, begin: clock.server, label: `${scheduler.name}, ${index}`};
    lanes.set(place, lane);
  }
  for (const piece of worker.lane) {
    const tail = lane.pieces.at(-1);
    if (tail && tail[0] === piece[0] && tail[1] === piece[1]) lane.pieces.pop(); // it goes on
    else if (tail?.untold && tail[0] === SLEEP) tail[2] = Math.max(tail[2], piece[1]); // it slept until then
    lane.pieces.push(piece);
  }
  // the lane cannot know of what began before a page looked, and has not ended
  if (worker.held && !worker.lane.length) addUntold(lane, SLICE);
  else if (worker.asleep) addUntold(lane, SLEEP);
  while (lane.pieces.length && lane.pieces[0][2] < clock.server - KEEP) lane.pieces.shift();
  lane.held = worker.held;
  lane.node.classList.toggle('held', worker.held);
  const since = Math.max(lane.begin, clock.server - 2 * WINDOW / 10);
  const busy = lane.pieces.reduce((sum, [, from, to, ran]) => sum + (to > since ? ran * Math.min(1, (to - since) / Math.max(to - from, .01)) : 0), 0);
  const load = clock.server > since ? Math.min(100, Math.round(100 * busy / (clock.server - since))) : 0;
  const slices = before && seconds ? (worker.switches - before.switches) / seconds : 0;
  lane.what.replaceChildren(make('b', '', `${load} %`),
    worker.held ? ' held by one fiber' : `, ${count(slices)} slices/s` + (worker.ready ? `, ${count(worker.ready)} ready` : ''));
  lane.canvas.setAttribute('aria-label', `thread ${index} of ${scheduler.name}: ${lane.what.textContent}`);
}

/** Adds a piece from the end of what the lane has told until now. */
function addUntold(lane, kind) {
  let tail = lane.pieces.at(-1);
  if (!tail?.untold || tail[0] !== kind) {
    const from = Math.max(lane.begin, tail ? tail[2] : 0);
    if (clock.server - from < SHORTEST) return;
    tail = Object.assign([kind, from, from, 0, 1, 0], {untold: true});
    lane.pieces.push(tail);
  }
  tail[2] = clock.server;
  if (kind === SLICE) tail[3] = tail[2] - tail[1];
}

function draw(lane, now, colours) {
  const canvas = lane.canvas;
  const scale = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale), height = Math.round(canvas.clientHeight * scale);
  if (!width) return;
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const pen = canvas.getContext('2d');
  pen.clearRect(0, 0, width, height);
  const x = time => (time - now + WINDOW) / WINDOW * width;
  pen.fillStyle = colours.sleep;
  pen.globalAlpha = .45;
  const first = Math.max(0, x(lane.begin));
  pen.fillRect(first, 0, width - first, height);
  for (const [kind, from, to, ran, , stolen] of lane.pieces) {
    if (to < now - WINDOW) continue;
    const left = x(from), wide = Math.max(scale * .75, x(to) - left);
    if (kind === SLEEP) {
      pen.globalAlpha = 1;
      pen.fillStyle = colours.sleep;
      pen.fillRect(left, height * .38, wide, height * .24);
    } else {
      const held = kind === SLICE && to - from >= 100;
      pen.fillStyle = held ? colours.held : colours.run;
      pen.globalAlpha = kind === SLICE ? 1 : .18 + .62 * Math.min(1, ran / Math.max(to - from, .01));
      pen.fillRect(left, 0, wide, height);
    }
    if (stolen) {
      pen.globalAlpha = .9;
      pen.fillStyle = colours.steal;
      pen.fillRect(left, 0, 1.5 * scale, height * .22);
    }
  }
  pen.globalAlpha = 1;
}

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue('--' + name).trim();
  return {run: of('run'), sleep: of('sleep'), held: of('held'), steal: of('steal')};
}

function drawAll() {
  if (tab !== 'overview' || document.hidden) return;
  // a second behind, so that pieces come in smoothly
  const smooth = reducedMotion.matches ? 0 : Math.min(performance.now() - clock.local, 5000) - (last?.every ?? 1000);
  const now = clock.server + (paused || socket?.readyState !== WebSocket.OPEN ? 0 : smooth);
  const set = colours();
  for (const lane of lanes.values()) draw(lane, now, set);
}

let drawn = 0;
function animate(time) {
  if (!reducedMotion.matches && time - drawn > 60) {
    drawn = time;
    drawAll();
  }
  requestAnimationFrame(animate);
}

// ---- tables

function showWaits(waits) {
  rows($('waits'), waits, 'No fiber waits.', fiber => [
    open(fiber, fiber.scheduler), cell('why', fiber.state === 'SLEEPING' ? 'sleep' : fiber.waitsFor), cell('n', span(fiber.waited))]);
}

function showSlow(now) {
  const slices = [];
  for (const lane of lanes.values()) {
    for (const [kind, from, to, ran, , , name, id] of lane.pieces) {
      if (kind === SLICE && id && to > now - KEEP) slices.push({id, name, label: lane.label, ran});
    }
  }
  slices.sort((a, b) => b.ran - a.ran);
  rows($('slow'), slices.slice(0, 10), 'No slice took 5 ms or longer.', slice => [
    open(slice), cell('why', slice.label), cell('n', span(slice.ran))]);
}

function showFibers(found) {
  if (found.text !== $('text').value.trim()) return; // an older question
  const n = found.fibers.length;
  $('found').textContent = found.more ? `the first ${n}` : n === 1 ? '1 fiber' : `${n} fibers`;
  rows($('list'), found.fibers, 'No fiber has this in its name.', fiber => [
    open(fiber), state(fiber), cell('', `${fiber.scheduler}, ${fiber.thread}`), cell('why', fiber.waitsFor),
    cell('n', fiber.waited ? span(fiber.waited) : '')]);
}

function showScopes(message) {
  $('no-scopes').hidden = message.lines.length > 0;
  const tree = make('ul', 'tree');
  const parents = [tree];
  for (const line of message.lines) {
    const item = make('li');
    if (line.fiber) {
      item.append(opener(line.fiber), ' ', make('span', 'soft', line.fiber.state.toLowerCase() +
        (line.fiber.waited ? ` for ${span(line.fiber.waited)}` : '') + (line.fiber.state === 'WAITING' && line.fiber.waitsFor ? ', ' + line.fiber.waitsFor : '')));
    } else {
      item.append(make('span', 'soft', line.label));
    }
    parents.length = line.depth + 1;
    if (!parents.at(-1)) parents[line.depth] = parents.findLast(Boolean);
    parents.at(-1).append(item);
    const below = make('ul');
    item.append(below);
    parents.push(below);
  }
  tree.querySelectorAll('ul:empty').forEach(list => list.remove());
  const old = $('tree');
  const focused = document.activeElement?.dataset?.id;
  tree.id = 'tree';
  old.replaceWith(tree);
  if (focused) tree.querySelector(`[data-id="${focused}"]`)?.focus();
}

function rows(table, things, none, cells) {
  const body = table.tBodies[0];
  const focused = body.contains(document.activeElement) ? document.activeElement.dataset.id : undefined;
  body.replaceChildren(...things.map(thing => {
    const row = make('tr');
    row.append(...cells(thing));
    return row;
  }));
  if (!things.length) {
    const row = make('tr', 'empty');
    const only = cell('', none);
    only.colSpan = table.tHead.rows[0].cells.length;
    row.append(only);
    body.append(row);
  }
  if (focused) body.querySelector(`[data-id="${focused}"]`)?.focus();
}

function open(fiber, note) {
  const node = make('td');
  node.append(opener(fiber));
  if (note) node.append(make('span', 'sub', ' ' + note));
  return node;
}

function opener(fiber) {
  const button = make('button', 'open', fiber.name);
  button.type = 'button';
  button.dataset.id = fiber.id;
  button.title = `fiber ${fiber.id}: show its stack`;
  return button;
}

function state(fiber) {
  const key = {RUNNING: 'running', READY: 'ready', WAITING: 'waiting', SLEEPING: 'sleeping', BLOCKING: 'blocking', COMPUTING: 'running'}[fiber.state] ?? '';
  const node = cell('state', '');
  node.append(make('i', key), fiber.state === 'BLOCKING' ? 'on a helper' : fiber.state.toLowerCase());
  return node;
}

// ---- one fiber

function showStack(fiber) {
  if (fiber.id !== stackId) return;
  $('stack-title').textContent = fiber.found ? fiber.name : `Fiber ${fiber.id}`;
  $('stack-summary').textContent = fiber.found ? fiber.summary : 'has ended';
  $('stack-frames').textContent = fiber.found ? fiber.stack.map(frame => 'at ' + frame).join('\n') || 'no stack: it has not started, or it runs' : '';
  if (!$('stack').open) $('stack').showModal();
}

document.addEventListener('click', event => {
  const button = event.target.closest('.open');
  if (button) {
    stackId = button.dataset.id;
    send('stack ' + stackId);
  }
});
$('again').onclick = () => send('stack ' + stackId);
$('close').onclick = () => $('stack').close();
$('stack').addEventListener('close', () => {
  document.querySelector(`#${tab} .open[data-id="${stackId}"]`)?.focus();
});

// ---- tabs, search, keys

function select(name, focus) {
  tab = name;
  for (const each of document.querySelectorAll('[role=tab]')) {
    const selected = each.id === 'tab-' + name;
    each.setAttribute('aria-selected', selected);
    each.tabIndex = selected ? 0 : -1;
    if (selected && focus) each.focus();
    $(each.getAttribute('aria-controls')).hidden = !selected;
  }
  look();
}

for (const each of document.querySelectorAll('[role=tab]')) {
  each.onclick = () => select(each.getAttribute('aria-controls'));
  each.onkeydown = event => {
    const all = [...document.querySelectorAll('[role=tab]')];
    const at = all.indexOf(each);
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1 + all.length, Home: 0, End: all.length - 1}[event.key];
    if (to !== undefined) {
      event.preventDefault();
      select(all[to % all.length].getAttribute('aria-controls'), true);
    }
  };
}

let typing;
$('text').oninput = () => {
  clearTimeout(typing);
  typing = setTimeout(look, 150);
};
$('search').onsubmit = event => {
  event.preventDefault();
  look();
};

function setPaused(on) {
  paused = on;
  $('pause').setAttribute('aria-pressed', on);
  $('pause').textContent = on ? 'Go on' : 'Pause';
  send(on ? 'pause' : 'go');
  if (socket?.readyState === WebSocket.OPEN) status(on ? '' : 'live', on ? 'paused' : 'live');
}
$('pause').onclick = () => setPaused(!paused);

document.addEventListener('keydown', event => {
  if (event.target.matches('input') || event.ctrlKey || event.metaKey || event.altKey || $('stack').open) return;
  if (event.key === '/') {
    event.preventDefault();
    select('fibers');
    $('text').focus();
  } else if (event.key === 'p') {
    setPaused(!paused);
  }
});

// ---- words

function make(tag, className = '', text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function cell(className, text) {
  return make('td', className, text);
}

function count(n) {
  if (n >= 1e6) return (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + ' M';
  return n >= 10 || Number.isInteger(n) ? Math.round(n).toLocaleString('en') : n.toFixed(1);
}

function bytes(n) {
  return n >= 1 << 30 ? (n / (1 << 30)).toFixed(1) + ' GB' : Math.round(n / (1 << 20)) + ' MB';
}

function span(millis) {
  if (millis < 1000) return `${millis < 10 ? Math.round(millis * 10) / 10 : Math.round(millis)} ms`;
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)} s`;
  const minutes = Math.floor(millis / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor(millis / 1000) % 60} s`;
  return minutes < 2880 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 1440)} days`;
}

connect();
requestAnimationFrame(animate);
