'use strict';
(() => {
const el = (id) => document.getElementById(id);
const began = performance.now();

// What is in the page.

const meta = JSON.parse(el('meta').textContent);
const N = meta.steps;
const data = (() => {
  const text = el('data').textContent;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text), all = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) all[i] = raw.charCodeAt(i);
  return all;
})();

// A place in the bytes, from which numbers and texts are read one after the other.
let at = 0;
const go = (section) => { at = meta.sections[section][0]; return at + meta.sections[section][1]; };
const number = () => {
  let byte = data[at++];
  if (byte < 128) return byte;
  let value = byte & 127, unit = 128;
  do { byte = data[at++]; value += (byte & 127) * unit; unit *= 128; } while (byte > 127);
  return value;
};
const parts = meta.texts.map((text) => text.split('\u0001'));
const holes = parts.map((all) => all.length - 1);
const text = () => {
  const all = parts[number()];
  let said = all[0];
  for (let i = 1; i < all.length; i++) said += number() + all[i];
  return said;
};
const skipText = () => { for (let i = holes[number()]; i > 0; i--) while (data[at++] > 127); };
const textAt = (place) => { at = place; return text(); };

// Kinds and lanes of each step, counted from one.
const who = data.subarray(meta.sections.who[0], go('who'));
const kindOf = (step) => who[3 * (step - 1)];
const lanesOf = (step) => [who[3 * step - 2], who[3 * step - 1]].filter((lane) => lane !== 255);

const starts = [];
for (let end = go('starts'); at < end;) starts.push([number(), number()]);

// Messages. Their labels stay where they are until they are drawn.
const F = meta.flights;
const sent = new Int32Array(F), until = new Int32Array(F), labelAt = new Int32Array(F);
const from = new Uint8Array(F), to = new Uint8Array(F), flightKind = new Uint8Array(F), fate = new Uint8Array(F);
const arrival = new Int32Array(N + 2).fill(-1);
go('flights');
for (let i = 0, step = 0; i < F; i++) {
  step += number();
  sent[i] = step;
  from[i] = data[at++];
  to[i] = data[at++];
  flightKind[i] = data[at] & 63;
  fate[i] = data[at++] >> 6;
  until[i] = step + number();
  labelAt[i] = at;
  skipText();
  if (fate[i] === 0) arrival[until[i]] = i;
}
const label = (flight) => textAt(labelAt[flight]);
// Those that are on their way where a stretch of steps begins.
const STRETCH = 512;
const crossing = [];
for (let i = 0; i < F; i++) {
  for (let b = Math.ceil((sent[i] + 1) / STRETCH); b * STRETCH <= until[i]; b++) {
    (crossing[b] ||= []).push(i);
  }
}

// What each lane is: where it changes, and where the value stands.
go('series');
const lanes = meta.lanes.map((lane) => ({
  ...lane,
  series: lane.series.map((name) => {
    const count = number(), steps = new Int32Array(count), values = new Int32Array(count);
    for (let i = 0, step = 0; i < count; i++) {
      step += number();
      steps[i] = step;
      values[i] = at;
      skipText();
    }
    return { name, steps, values };
  }),
}));
const upTo = (sorted, value) => {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1; else high = middle;
  }
  return low;
};
const valueAfter = (series, step) => textAt(series.values[Math.max(0, upTo(series.steps, step) - 1)]);

// Steps, a stride at a time.
const strides = new Map();
const stride = (nth) => {
  let found = strides.get(nth);
  if (found) return found;
  found = [];
  go('steps');
  let time;
  const origin = at;
  [at, time] = [origin + starts[nth][0], starts[nth][1]];
  for (let i = nth * meta.stride; i < Math.min(N, (nth + 1) * meta.stride); i++) {
    time += number();
    const moment = { at: time, text: text(), facts: [] };
    for (let left = number(); left > 0; left--) {
      moment.facts.push({ lane: data[at++], mark: meta.marks[data[at++]], text: text() });
    }
    found.push(moment);
  }
  if (strides.size > 96) strides.delete(strides.keys().next().value);
  strides.set(nth, found);
  return found;
};
const moment = (step) => stride(Math.floor((step - 1) / meta.stride))[(step - 1) % meta.stride];

const FAULT = meta.kinds.indexOf('faults'), REPAIR = meta.kinds.indexOf('repairs');
const faults = [];
const present = new Set();
for (let step = 1; step <= N; step++) {
  const kind = kindOf(step);
  present.add(kind);
  if (kind === FAULT || kind === REPAIR) faults.push(step);
}
const faultsOnly = faults.filter((step) => kindOf(step) === FAULT);
const evidence = new Map(meta.evidence);
const evidenceSteps = meta.evidence.map(([step]) => step);
const broken = meta.end.word === 'held' ? 0 : N;

// What is shown: the steps of the kinds and lanes that are on, a row for each.

const on = { kinds: meta.kinds.map(() => true), lanes: lanes.map(() => true) };
let shown = new Int32Array(0), rowOf = new Int32Array(0), seen = [];
const choose = () => {
  seen = lanes.map((_, lane) => lane).filter((lane) => on.lanes[lane]);
  shown = new Int32Array(N);
  rowOf = new Int32Array(N + 2);
  let rows = 0;
  for (let step = 1; step <= N; step++) {
    rowOf[step] = rows;
    const a = who[3 * step - 2], b = who[3 * step - 1];
    const has = a === 255 || on.lanes[a] || (b !== 255 && on.lanes[b]);
    if ((on.kinds[kindOf(step)] && has) || step === broken) shown[rows++] = step;
  }
  rowOf[N + 1] = rows;
  shown = shown.subarray(0, rows);
};

// The look.

let color = {};
const readColors = () => {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue('--' + name).trim();
  color = Object.fromEntries([
    'ground', 'panel', 'ink', 'quiet', 'line', 'cursor', 'broken', 'evidence', 'accent', 'leading',
    'following', 'observing', 'joining', 'looking', 'down', 'client', 'trouble', ...meta.kinds,
  ].map((name) => [name, get(name)]));
  color.kinds = meta.kinds.map((kind) => color[kind === 'synchronization' ? 'synchronization' : kind]);
};
const FONT = '"DejaVu Sans", system-ui, sans-serif';
const dashes = {
  votes: [2, 3], pings: [1, 4], discovery: [7, 3], forwarding: [9, 3, 2, 3],
};
// Width, colour and dashes of a lane, by what its owner does.
const role = (name) => ({
  leading: [8, color.leading], establishing: [8, color.leading, [5, 4]], discovering: [8, color.leading, [2, 5]],
  following: [4, color.following], joining: [4, color.joining, [6, 4]], observing: [4, color.observing],
  looking: [3, color.looking, [2, 4]], draining: [3, color.looking, [6, 3]],
  connected: [3, color.client], connecting: [3, color.client, [3, 3]],
  halted: [2, color.trouble, [1, 5]], refused: [2, color.trouble, [1, 5]],
}[name] || [1, color.down, [1, 5]]);
const glyphs = {
  crash: '✕', powerloss: '⚡', halt: '✕', refused: '✕', start: '▲', cut: '✂', break: '✂', heal: '∼',
  pause: '‖', resume: '▸', wipe: '∅', rot: '☣', diskfails: '⊗', full: '▣', slow: '◔', clock: '◷',
  doom: '☠', commit: '✓', sync: '■', epoch: '◆', write: '□', truncate: '✂', install: '■', snapshot: '▤',
  propose: '▸', elected: '★', leads: '★', serves: '●', leaves: '↩', looks: '?', reload: '↻', timer: '◔',
  closed: '⊣', client: '·',
};
const bad = new Set(['crash', 'powerloss', 'halt', 'refused', 'cut', 'break', 'pause', 'wipe', 'rot', 'diskfails', 'full', 'slow', 'clock', 'doom', 'leaves']);

// Drawing.

const scroller = el('scroller'), picture = el('picture'), names = el('names'), map = el('map');
const STEPS = 14 + 7 * Math.max(5, String(N).length), GUTTER = STEPS + 84, MAP = 64;
let rowHeight = 22, cursor = 1, width = 0, height = 0, laneGap = 120, margin = 0, textAtX = 0;
const heights = [0.05, 0.1, 0.2, 0.4, 0.75, 1.5, 3, 5, 8, 12, 17, 22, 28, 36];
const x = (lane) => GUTTER + margin + laneGap * (seen.indexOf(lane) + 0.5);

const size = (canvas, wide, high) => {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.width = wide + 'px';
  canvas.style.height = high + 'px';
  canvas.width = Math.round(wide * ratio);
  canvas.height = Math.round(high * ratio);
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
};
let pen, namesPen, mapPen, mapImage;
const layOut = () => {
  const box = el('diagram').getBoundingClientRect();
  const bar = scroller.offsetWidth - scroller.clientWidth;
  width = box.width - MAP - bar;
  height = box.height - 34;
  scroller.style.right = MAP + 'px';
  pen = size(picture, width, height);
  namesPen = size(names, width, 34);
  mapPen = size(map, MAP, box.height);
  const count = Math.max(1, seen.length), texts = width - GUTTER - count * 150 > 280;
  const room = width - GUTTER - (texts ? 250 : 8);
  // What the first lane has to say at its left, and the last one at its right.
  margin = room / count < 70 ? 0 : 50;
  laneGap = Math.max(26, Math.min(220, (room - margin) / (count + (texts ? 0.5 : 0))));
  textAtX = texts ? GUTTER + margin + laneGap * (count + 0.5) + 6 : 0;
  el('height').style.height = Math.max(shown.length * rowHeight + 12, 1) + 'px';
  drawMap();
  draw();
};

let waiting = false;
const draw = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; paint(); });
};
const rowY = (row) => (row + 0.5) * rowHeight - scroller.scrollTop;
const y = (step) => rowY(step < 1 ? -0.5 : rowOf[Math.min(step, N + 1)]);

const paint = () => {
  pen.fillStyle = color.ground;
  pen.fillRect(0, 0, width, height);
  const rows = shown.length;
  const first = Math.max(0, Math.floor(scroller.scrollTop / rowHeight));
  const last = Math.min(rows - 1, Math.ceil((scroller.scrollTop + height) / rowHeight));
  const stepFirst = rows ? shown[Math.min(first, rows - 1)] : 1;
  const stepLast = rows && last >= 0 ? shown[last] : 1;
  bands(first, last);
  // From far away messages are many, and what everybody does must not be lost among them.
  if (rowHeight < 5) arrows(stepFirst, stepLast);
  for (const lane of seen) lines(lane, stepFirst, stepLast);
  if (rowHeight >= 5) arrows(stepFirst, stepLast);
  if (rowHeight >= 5) {
    for (let row = first; row <= last; row++) marks(shown[row], row);
  } else {
    ticks(stepFirst, stepLast);
  }
  if (rowHeight >= 12) for (let row = first; row <= last; row++) words(shown[row], row);
  else scale(first, last);
  heads();
  mapFrame();
  el('scroller').dataset.rows = `${first + 1}-${last + 1}`;
};

const bands = (first, last) => {
  const band = (step, fill) => {
    if (step < 1 || step > N) return;
    const row = rowOf[step];
    if (row < first - 1 || row > last + 1) return;
    pen.fillStyle = fill;
    pen.fillRect(0, rowY(row) - Math.max(rowHeight, 2) / 2, width, Math.max(rowHeight, 2));
  };
  for (const step of evidenceSteps) band(step, color.evidence);
  if (broken) band(broken, color.broken);
  if (cursor !== broken) band(cursor, color.cursor);
  else {
    pen.strokeStyle = color.accent;
    pen.lineWidth = 2;
    pen.strokeRect(1, rowY(rowOf[cursor]) - rowHeight / 2 + 1, width - 2, Math.max(rowHeight - 2, 1));
  }
};

const lines = (lane, stepFirst, stepLast) => {
  const series = lanes[lane].series[0], place = x(lane);
  let i = Math.max(0, upTo(series.steps, stepFirst) - 1);
  let lastY = -1;
  for (; i < series.steps.length && series.steps[i] <= stepLast + 1; i++) {
    const top = Math.max(-4, y(series.steps[i]));
    const end = i + 1 < series.steps.length ? series.steps[i + 1] : N + 1;
    const bottom = Math.min(height + 4, y(end));
    if (bottom - lastY < 0.5) continue;
    lastY = bottom;
    const [wide, stroke, dash] = role(textAt(series.values[i]));
    pen.strokeStyle = stroke;
    pen.lineWidth = wide;
    pen.setLineDash(dash || []);
    pen.beginPath();
    pen.moveTo(place, top);
    pen.lineTo(place, bottom);
    pen.stroke();
  }
  pen.setLineDash([]);
  if (rowHeight < 5) return;
  // Epochs, where they change.
  const epochs = lanes[lane].series[1];
  if (epochs.name !== 'epoch') return;
  for (let j = Math.max(0, upTo(epochs.steps, stepFirst - 1)); j < epochs.steps.length && epochs.steps[j] <= stepLast; j++) {
    const said = textAt(epochs.values[j]);
    if (epochs.steps[j] > 0 && said !== '–') tag(place - 9, y(epochs.steps[j]), 'e' + said, color.quiet, 'right');
  }
};

const tag = (px, py, said, fill, align = 'left', font = 11) => {
  pen.font = `${font}px ${FONT}`;
  pen.textAlign = align;
  pen.textBaseline = 'middle';
  pen.lineWidth = 4;
  pen.lineJoin = 'round';
  pen.strokeStyle = color.ground;
  pen.strokeText(said, px, py);
  pen.fillStyle = fill;
  pen.fillText(said, px, py);
};

// The messages that are on their way somewhere in between.
const flightsBetween = (stepFirst, stepLast) => {
  const bucket = Math.floor(stepFirst / STRETCH);
  const found = [];
  for (const i of crossing[bucket] || []) if (until[i] >= stepFirst) found.push(i);
  const low = upTo(sent, bucket * STRETCH - 1), high = upTo(sent, stepLast);
  const many = high - low, nth = Math.max(1, Math.ceil(many / 1500));
  for (let i = low; i < high; i += nth) {
    if (until[i] >= stepFirst && !(sent[i] < bucket * STRETCH)) found.push(i);
  }
  return [[...new Set(found)], nth];
};
let sparse = 1;
const arrows = (stepFirst, stepLast) => {
  const [found, nth] = flightsBetween(stepFirst, stepLast);
  sparse = nth;
  pen.globalAlpha = rowHeight < 1 ? 0.15 : rowHeight < 5 ? 0.6 : 1;
  for (const i of found) {
    const kind = flightKind[i];
    if (!on.kinds[kind] || !on.lanes[from[i]] || !on.lanes[to[i]]) continue;
    const x0 = x(from[i]), y0 = y(sent[i]);
    let x1 = x(to[i]), y1 = y(until[i]);
    if (fate[i] === 2) y1 = y(N + 1);
    const lost = fate[i] === 1;
    // What never arrives is drawn where it begins.
    if (lost) [x1, y1] = [x0 + (x1 - x0) * 0.5, y0 + Math.min(1.5 * rowHeight, y1 - y0)];
    if (fate[i] === 2) x1 = x0 + (x1 - x0) * 0.8;
    if (fate[i] === 3) [x1, y1] = [x0 + (x1 - x0) * 0.3, y0 + Math.min(rowHeight, (y1 - y0) * 0.3)];
    const chosen = until[i] === cursor && fate[i] === 0 || sent[i] === cursor;
    pen.strokeStyle = lost ? color.trouble : color.kinds[kind];
    pen.fillStyle = pen.strokeStyle;
    if (rowHeight >= 5) pen.globalAlpha = chosen || y1 - y0 < 40 * rowHeight ? 1 : 0.35;
    pen.lineWidth = chosen ? 2.6 : meta.kinds[kind] === 'pings' ? 0.8 : 1.3;
    pen.setLineDash(rowHeight < 5 ? [] : dashes[meta.kinds[kind]] || []);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    if (rowHeight < 5) continue;
    pen.setLineDash([]);
    if (lost) {
      pen.lineWidth = 1.8;
      pen.beginPath();
      pen.moveTo(x1 - 4, y1 - 4); pen.lineTo(x1 + 4, y1 + 4);
      pen.moveTo(x1 + 4, y1 - 4); pen.lineTo(x1 - 4, y1 + 4);
      pen.stroke();
    } else if (fate[i] === 0) {
      const angle = Math.atan2(y1 - y0, x1 - x0), back = 5;
      const tx = x1 - back * Math.cos(angle), ty = y1 - back * Math.sin(angle);
      pen.beginPath();
      pen.moveTo(tx, ty);
      pen.lineTo(tx - 8 * Math.cos(angle - 0.4), ty - 8 * Math.sin(angle - 0.4));
      pen.lineTo(tx - 8 * Math.cos(angle + 0.4), ty - 8 * Math.sin(angle + 0.4));
      pen.fill();
    }
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
};

// From far away, only what goes wrong.
const ticks = (stepFirst, stepLast) => {
  for (let i = upTo(faults, stepFirst - 1); i < faults.length && faults[i] <= stepLast; i++) {
    const step = faults[i], kind = kindOf(step);
    if (!on.kinds[kind]) continue;
    pen.fillStyle = kind === FAULT ? color.trouble : color.client;
    for (const lane of lanesOf(step)) {
      if (on.lanes[lane]) pen.fillRect(x(lane) - 7, y(step) - 1, 14, 2);
    }
  }
};

const marks = (step, row) => {
  const place = rowY(row), { facts } = moment(step);
  const [actor] = lanesOf(step);
  if (actor !== undefined && on.lanes[actor]) {
    pen.beginPath();
    pen.fillStyle = color.ground;
    pen.strokeStyle = color.kinds[kindOf(step)];
    pen.lineWidth = 1.6;
    pen.arc(x(actor), place, Math.min(4, rowHeight / 3), 0, 7);
    pen.fill();
    pen.stroke();
  }
  if (rowHeight < 8) return;
  const drawn = new Set();
  for (const fact of facts) {
    const glyph = glyphs[fact.mark];
    if (!glyph || !on.lanes[fact.lane]) continue;
    const loud = bad.has(fact.mark) || ['start', 'heal', 'resume'].includes(fact.mark);
    if (drawn.has(fact.lane) && !loud) continue;
    drawn.add(fact.lane);
    const fill = bad.has(fact.mark) ? color.trouble : loud ? color.client : color.ink;
    tag(x(fact.lane), place, glyph, fill, 'center', loud ? Math.min(16, rowHeight) : Math.min(11, rowHeight));
  }
};

const clock = (us) => {
  if (us < 1e6) return (us / 1000).toFixed(3) + ' ms';
  return (us / 1e6).toFixed(6) + ' s';
};
const fitted = (said, room) => {
  if (pen.measureText(said).width <= room) return said;
  let cut = Math.max(1, Math.floor(said.length * room / pen.measureText(said).width) - 1);
  return said.slice(0, cut) + '…';
};

const words = (step, row) => {
  const place = rowY(row), now = moment(step);
  pen.font = `11px ${FONT}`;
  pen.textBaseline = 'middle';
  pen.fillStyle = step === cursor ? color.ink : color.quiet;
  pen.textAlign = 'right';
  pen.fillText(String(step), STEPS, place);
  pen.fillText(clock(now.at), GUTTER - 8, place);
  // The label stands at the arrow's head, on its side; in each row arrives one.
  const flight = arrival[step];
  let taken = 0;
  if (flight >= 0 && on.lanes[from[flight]] && on.lanes[to[flight]] && on.kinds[flightKind[flight]]) {
    const side = Math.sign(x(from[flight]) - x(to[flight])) || 1;
    taken = side;
    const room = Math.abs(x(from[flight]) - x(to[flight])) - 26;
    const said = fitted(label(flight), Math.max(room, 20));
    tag(x(to[flight]) + side * 15, place + Math.min(6, rowHeight / 4), said, color.kinds[flightKind[flight]], side > 0 ? 'left' : 'right');
  }
  if (laneGap >= 70) {
    const texts = new Map();
    for (const fact of now.facts) {
      if (fact.text && on.lanes[fact.lane]) texts.set(fact.lane, texts.has(fact.lane) ? texts.get(fact.lane) + ', ' + fact.text : fact.text);
    }
    for (const [lane, said] of texts) {
      const mine = flight >= 0 && to[flight] === lane;
      const side = mine && taken > 0 ? -1 : 1;
      const room = side < 0 && lane === seen[0] ? x(lane) - GUTTER - 12 : laneGap - 16;
      pen.font = `11px ${FONT}`;
      tag(x(lane) + side * 11, place, fitted(said, room), color.ink, side > 0 ? 'left' : 'right');
    }
  }
  if (textAtX) {
    pen.font = `11px ${FONT}`;
    pen.textAlign = 'left';
    pen.fillStyle = color.quiet;
    pen.fillText(fitted(now.text, width - textAtX - 4), textAtX, place);
  }
};

// Where rows are too small for words: a few of the times.
const scale = (first, last) => {
  pen.font = `11px ${FONT}`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'right';
  pen.fillStyle = color.quiet;
  const every = Math.max(1, Math.ceil(44 / rowHeight));
  for (let row = Math.ceil(first / every) * every; row <= last; row += every) {
    pen.fillText(String(shown[row]), STEPS, rowY(row));
    pen.fillText(clock(moment(shown[row]).at), GUTTER - 8, rowY(row));
  }
  if (sparse > 1) tag(width - 8, height - 10, `one message of ${sparse} is drawn`, color.quiet, 'right');
};

const heads = () => {
  const p = namesPen;
  p.fillStyle = color.panel;
  p.fillRect(0, 0, width, 34);
  p.textBaseline = 'middle';
  p.textAlign = 'right';
  p.fillStyle = color.quiet;
  p.font = `11px ${FONT}`;
  p.fillText('step', STEPS, 17);
  p.fillText('time', GUTTER - 8, 17);
  p.textAlign = 'center';
  for (const lane of seen) {
    const now = valueAfter(lanes[lane].series[0], cursor);
    const epoch = lanes[lane].series[1].name === 'epoch' ? valueAfter(lanes[lane].series[1], cursor) : '–';
    p.font = `600 12px ${FONT}`;
    p.fillStyle = color.ink;
    const name = laneGap < 64 ? lanes[lane].name.split(' ')[1] : lanes[lane].name;
    p.fillText(name, x(lane), 11);
    p.font = `11px ${FONT}`;
    p.fillStyle = role(now)[1] === color.down ? color.quiet : role(now)[1];
    const long = `${now}, e${epoch}`;
    if (laneGap >= 64) p.fillText(epoch === '–' || p.measureText(long).width > laneGap - 6 ? now : long, x(lane), 25);
  }
};

// The whole run at the right edge.
const mapY = (step, high) => N ? (step / N) * high : 0;
const drawMap = () => {
  const high = el('diagram').getBoundingClientRect().height, p = mapPen;
  p.fillStyle = color.panel;
  p.fillRect(0, 0, MAP, high);
  const wide = Math.min(10, (MAP - 12) / Math.max(1, seen.length));
  seen.forEach((lane, nth) => {
    const { steps, values } = lanes[lane].series[0];
    let bottomBefore = 0;
    for (let i = 0; i < steps.length; i++) {
      const top = mapY(steps[i], high);
      const bottom = mapY(i + 1 < steps.length ? steps[i + 1] : N, high);
      if (bottom - bottomBefore < 0.5) continue;
      bottomBefore = bottom;
      p.fillStyle = role(textAt(values[i]))[1];
      p.fillRect(4 + nth * wide, top, Math.max(1, wide - 2), bottom - top);
    }
  });
  p.fillStyle = color.trouble;
  let before = -2;
  for (const step of faultsOnly) {
    const place = mapY(step, high);
    if (place - before < 1.5) continue;
    before = place;
    p.fillRect(MAP - 8, place, 8, 1.5);
  }
  p.fillStyle = color.leading;
  for (const step of evidenceSteps) p.fillRect(0, mapY(step, high) - 1, MAP, 2);
  if (broken) { p.fillStyle = color.trouble; p.fillRect(0, mapY(broken, high) - 3, MAP, 3); }
  mapImage = p.getImageData(0, 0, map.width, map.height);
};
const mapFrame = () => {
  const high = el('diagram').getBoundingClientRect().height;
  mapPen.putImageData(mapImage, 0, 0);
  if (!shown.length) return;
  const first = shown[Math.min(shown.length - 1, Math.max(0, Math.floor(scroller.scrollTop / rowHeight)))];
  const last = shown[Math.min(shown.length - 1, Math.max(0, Math.ceil((scroller.scrollTop + height) / rowHeight)))];
  mapPen.strokeStyle = color.ink;
  mapPen.lineWidth = 1.5;
  mapPen.strokeRect(1, mapY(first - 1, high), MAP - 2, Math.max(3, mapY(last, high) - mapY(first - 1, high)));
  mapPen.fillStyle = color.accent;
  mapPen.fillRect(0, mapY(cursor, high) - 1, MAP, 2);
};

// The step at the cursor, in words.

const make = (name, content, attributes = {}) => {
  const made = document.createElement(name);
  for (const part of [content].flat()) if (part !== undefined && part !== null) made.append(part);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'onclick') made.onclick = value; else made.setAttribute(key, value);
  }
  return made;
};
const link = (step, said) => make('a', said || `step ${step}`, { href: '#' + step, onclick: (event) => { event.preventDefault(); moveTo(step); } });

const table = (kinds) => {
  const all = seen.filter((lane) => kinds.includes(lanes[lane].kind));
  if (!all.length) return null;
  const head = make('thead', make('tr', [make('th', ''), ...all.map((lane) => make('th', lanes[lane].name))]));
  const rows = lanes[all[0]].series.map((series, nth) => {
    const cells = all.map((lane) => {
      const its = lanes[lane].series[nth];
      const place = Math.max(0, upTo(its.steps, cursor) - 1);
      const changed = place > 0 && its.steps[place] === cursor;
      const now = textAt(its.values[place]);
      if (!changed) return make('td', now);
      return make('td', [make('s', textAt(its.values[place - 1])), now], { class: 'changed' });
    });
    return make('tr', [make('th', series.name), ...cells]);
  });
  return make('table', [head, make('tbody', rows)]);
};

const tell = () => {
  const now = el('now');
  now.replaceChildren();
  if (!N) { now.append(make('p', 'There are no steps.')); return; }
  const { at: time, text: said, facts } = moment(cursor);
  now.append(make('h2', [`Step ${cursor} `, make('small', `${clock(time)} · ${meta.kinds[kindOf(cursor)]}`)]), make('code', said));
  const list = make('ul', []);
  const flight = arrival[cursor];
  if (flight >= 0) list.append(make('li', [`${label(flight)} was sent in `, link(sent[flight])]));
  for (let i = upTo(sent, cursor - 1); i < F && sent[i] === cursor; i++) {
    const what = [`${lanes[from[i]].name} sends ${label(i)} to ${lanes[to[i]].name}, `];
    if (fate[i] === 0) what.push('it arrives in ', link(until[i]));
    if (fate[i] === 1) what.push('it is lost in ', link(until[i]));
    if (fate[i] === 2) what.push('it is on its way at the end');
    if (fate[i] === 3) what.push('a newer one takes its place in ', link(until[i]));
    list.append(make('li', what));
  }
  for (const fact of facts) if (fact.text) list.append(make('li', `${lanes[fact.lane].name} ${fact.text}`));
  if (cursor === broken) list.append(make('li', make('b', `${meta.end.promise ? 'breaks ' + meta.end.promise + ': ' : ''}${meta.end.what}`)));
  else if (evidence.has(cursor)) list.append(make('li', make('b', 'the broken promise is about this')));
  now.append(list);
  for (const part of [table(['voter', 'observer']), table(['client'])]) if (part) now.append(part);
};

const tellStory = () => {
  const item = (step, said, name) => make('li', [make('span', String(step)), make('p', said)], {
    'data-step': step, class: name, onclick: () => moveTo(step),
  });
  const list = make('ol', meta.story.map(([step, said]) => item(step, said, evidence.has(step) && step !== broken ? 'evidence' : '')));
  list.append(item(N, meta.storyEnd, broken ? 'broken' : ''));
  const left = meta.leftOut ? ` the last ${meta.story.length} sentences of ${meta.story.length + meta.leftOut}` : '';
  el('story').append(make('h2', ['The story', make('small', left)]), list);
};
const followStory = () => {
  const items = [...el('story').querySelectorAll('li')];
  let here = null;
  for (const item of items) {
    item.classList.remove('here');
    if (Number(item.dataset.step) <= cursor) here = item;
  }
  if (here && Number(here.dataset.step) === cursor) here.classList.add('here');
  if (here) {
    const box = el('story');
    const top = here.offsetTop - box.offsetTop;
    if (top < box.scrollTop + 20 || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = top - box.clientHeight / 2;
  }
};

// Going about.

const moveTo = (step, quiet) => {
  cursor = Math.min(Math.max(1, Math.round(step) || 1), Math.max(1, N));
  const top = rowOf[cursor] * rowHeight;
  if (top < scroller.scrollTop + rowHeight || top > scroller.scrollTop + height - 3 * rowHeight) {
    scroller.scrollTop = Math.max(0, top - height / 2);
  }
  el('place').value = cursor;
  el('back').disabled = cursor <= 1;
  el('on').disabled = cursor >= N;
  tell();
  followStory();
  draw();
  if (!quiet) history.replaceState(null, '', '#' + cursor);
};
const besides = (list, step, way) => {
  const place = way > 0 ? upTo(list, step) : upTo(list, step - 1) - 1;
  return list[place];
};
const jump = (list, way) => { const step = besides(list, cursor, way); if (step) moveTo(step); };
// Over rows, so that what is not shown is not stepped on.
const walk = (by) => {
  const row = Math.min(Math.max(0, rowOf[cursor] + by), shown.length - 1);
  if (shown.length) moveTo(by < 0 && shown[rowOf[cursor]] !== cursor ? shown[Math.max(0, rowOf[cursor] - 1)] : shown[row]);
};
const zoom = (to, around = cursor) => {
  const place = y(around);
  rowHeight = Math.min(to, 15e6 / Math.max(1, shown.length));
  layOut();
  scroller.scrollTop = (rowOf[around] + 0.5) * rowHeight - Math.min(Math.max(place, 0), height);
  draw();
};
const zoomBy = (way) => {
  const next = way > 0 ? heights.find((one) => one > rowHeight * 1.01) : heights.filter((one) => one < rowHeight * 0.99).pop();
  if (next) zoom(next);
};
const fit = () => zoom(Math.min(36, (height - 12) / Math.max(1, shown.length)));

let matches = [], looking = 0;
const search = (said) => {
  const wanted = said.trim().toLowerCase(), mine = ++looking;
  matches = [];
  el('found').textContent = '';
  if (!wanted) return;
  let nth = 0;
  const some = () => {
    if (mine !== looking) return;
    const end = performance.now() + 12;
    while (nth < starts.length && performance.now() < end) {
      stride(nth).forEach((one, place) => {
        const step = nth * meta.stride + place + 1;
        const has = one.text.toLowerCase().includes(wanted) || one.facts.some((fact) => fact.text.toLowerCase().includes(wanted));
        if (has) matches.push(step);
      });
      nth++;
    }
    el('found').textContent = matches.length ? `${matches.length} found` : nth < starts.length ? '…' : 'none found';
    if (nth < starts.length) setTimeout(some);
  };
  some();
};

const theme = (to) => {
  document.documentElement.dataset.theme = to;
  readColors();
  layOut();
};
const other = () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');

const chips = () => {
  const chip = (said, group, nth, swatch) => {
    const made = make('button', [swatch, said], { 'aria-pressed': 'true' });
    made.onclick = () => {
      on[group][nth] = !on[group][nth];
      made.setAttribute('aria-pressed', on[group][nth]);
      const step = cursor;
      choose();
      layOut();
      moveTo(step, true);
    };
    return made;
  };
  meta.kinds.forEach((kind, nth) => {
    if (present.has(nth)) el('kinds').append(chip(kind, 'kinds', nth, make('i', '', { style: `color: var(--${kind})` })));
  });
  lanes.forEach((lane, nth) => el('lanes').append(chip(lane.name, 'lanes', nth)));
};

const verdict = () => {
  const box = el('verdict');
  if (meta.end.word === 'held') { box.append(make('b', 'held'), ` ${meta.end.what}`); return; }
  box.className = 'bad';
  const head = meta.end.promise ? `broken promise: ${meta.end.promise}` : { stuck: 'did not get well again', panicked: 'our own code gave up', diverged: 'does not fit' }[meta.end.word];
  box.append(make('b', head), make('div', meta.end.what));
  const about = meta.evidence.slice(0, -1);
  if (about.length) box.append(make('ul', about.map(([step, said]) => make('li', [link(step), ` ${said}`]))));
};

el('title').textContent = meta.about || meta.title;
el('plan').textContent = `${meta.about ? meta.title + ' · ' : ''}seed ${meta.seed} · ${meta.plan}`;
el('of').textContent = `of ${N}`;
el('broken').disabled = !broken;
el('fault').disabled = !faultsOnly.length;
el('back').onclick = () => walk(-1);
el('on').onclick = () => walk(1);
el('first').onclick = () => moveTo(1);
el('last').onclick = () => moveTo(N);
el('fault').onclick = () => jump(faultsOnly, 1);
el('broken').onclick = () => moveTo(broken);
el('place').onchange = (event) => moveTo(Number(event.target.value));
el('search').oninput = (event) => search(event.target.value);
el('search').onkeydown = (event) => { if (event.key === 'Enter') jump(matches, event.shiftKey ? -1 : 1); };
el('found-on').onclick = () => jump(matches, 1);
el('found-back').onclick = () => jump(matches, -1);
el('larger').onclick = () => zoomBy(1);
el('smaller').onclick = () => zoomBy(-1);
el('fit').onclick = fit;
el('theme').onclick = other;
el('help').onclick = () => el('keys').showModal();
scroller.onscroll = draw;
scroller.onclick = (event) => {
  const row = Math.floor((event.clientY - scroller.getBoundingClientRect().top + scroller.scrollTop) / rowHeight);
  if (shown[row]) moveTo(shown[row]);
};
scroller.addEventListener('wheel', (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoomBy(event.deltaY < 0 ? 1 : -1);
}, { passive: false });
const goOnMap = (event) => {
  const box = map.getBoundingClientRect();
  const step = Math.round((event.clientY - box.top) / box.height * N);
  scroller.scrollTop = rowOf[Math.min(Math.max(step, 1), N)] * rowHeight - height / 2;
};
map.onpointerdown = (event) => { map.setPointerCapture(event.pointerId); goOnMap(event); };
map.onpointermove = (event) => { if (event.buttons) goOnMap(event); };
window.onresize = layOut;
window.onhashchange = () => moveTo(Number(location.hash.slice(1)), true);
const keys = {
  ArrowRight: () => walk(1), ArrowDown: () => walk(1), j: () => walk(1),
  ArrowLeft: () => walk(-1), ArrowUp: () => walk(-1), k: () => walk(-1),
  PageDown: () => walk(Math.max(1, Math.floor(height / rowHeight) - 2)),
  PageUp: () => walk(-Math.max(1, Math.floor(height / rowHeight) - 2)),
  Home: () => moveTo(1), End: () => moveTo(N),
  f: () => jump(faultsOnly, 1), F: () => jump(faultsOnly, -1),
  b: () => { if (broken) moveTo(broken); },
  e: () => jump(evidenceSteps, 1), E: () => jump(evidenceSteps, -1),
  n: () => jump(matches, 1), N: () => jump(matches, -1),
  '+': () => zoomBy(1), '=': () => zoomBy(1), '-': () => zoomBy(-1), 0: fit,
  t: other, '?': () => el('keys').showModal(), '/': () => el('search').focus(),
};
document.addEventListener('keydown', (event) => {
  if (event.target.tagName === 'INPUT' || event.ctrlKey || event.metaKey || event.altKey) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  const act = keys[event.key];
  if (act && !el('keys').open) { event.preventDefault(); act(); }
});

// The place to begin at is in the address; without one it is where the promise was broken. A word
// after it says how it is to look.
const [wantedStep, ...wishes] = location.hash.slice(1).split('&');
const dark = matchMedia('(prefers-color-scheme: dark)');
document.documentElement.dataset.theme = wishes.includes('dark') ? 'dark' : wishes.includes('light') ? 'light' : dark.matches ? 'dark' : 'light';
dark.onchange = () => theme(dark.matches ? 'dark' : 'light');
readColors();
choose();
chips();
verdict();
tellStory();
layOut();
if (wishes.includes('all')) fit();
moveTo(Number(wantedStep) || broken || 1, true);
paint();
// How long it takes from one frame to the next, drawn at a hundred places and sizes.
const measure = async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const took = [];
  for (let i = 0; i < 100; i++) {
    rowHeight = heights[i % heights.length];
    el('height').style.height = shown.length * rowHeight + 'px';
    scroller.scrollTop = ((i * 37) % 100) / 100 * shown.length * rowHeight;
    await frame();
    const start = performance.now();
    paint();
    await frame();
    took.push(performance.now() - start);
  }
  took.sort((a, b) => a - b);
  document.documentElement.dataset.frames = `median ${took[50].toFixed(1)} ms, slowest ${took[99].toFixed(1)} ms`;
};
document.documentElement.dataset.drawn = Math.round(performance.now());
document.documentElement.dataset.unpacked = Math.round(performance.now() - began);
if (wishes.includes('measure')) measure();
})();
