// Builds, changes and asks with MiniSearch; prints the row that the other candidates print.
import { readFileSync, readdirSync, writeFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import MiniSearch from 'minisearch';

const [vault, queries, place] = process.argv.slice(2);
const UPDATES = 20;
const ROUNDS = 3;

const folded = (word) =>
  word
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase();
const index = new MiniSearch({
  fields: ['title', 'headings', 'text'],
  processTerm: folded,
  searchOptions: { prefix: true, combineWith: 'AND', boost: { title: 4, headings: 2 } },
});

function paths(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith('.') ? [] : paths(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

function read(path, id) {
  const text = readFileSync(path, 'utf8');
  const headings = text.split('\n').filter((line) => line.startsWith('#'));
  return { id, title: basename(path, '.md'), headings: headings.join('\n'), text };
}

const quantile = (times, percent) =>
  times.toSorted((a, b) => a - b)[Math.floor((times.length * percent) / 100)];

function timed(work) {
  const began = performance.now();
  work();
  return performance.now() - began;
}

function used(work) {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e3;
}

function anonymous() {
  const rollup = readFileSync('/proc/self/smaps_rollup', 'utf8');
  return Number(/^Anonymous:\s+(\d+) kB/m.exec(rollup)[1]) * 1024;
}

const cpu = process.cpuUsage();
const began = performance.now();
const all = paths(vault).toSorted();
all.forEach((path, id) => index.add(read(path, id)));
const wall = performance.now() - began;
const { user, system } = process.cpuUsage(cpu);

// It has no phrases: their words are asked for, all of them.
const times = JSON.parse(readFileSync(queries, 'utf8')).map(({ words }) => {
  const rounds = Array.from({ length: ROUNDS }, () => used(() => index.search(words.join(' '))));
  return Math.min(...rounds);
});
const memory = anonymous();

const middle = Math.floor(all.length / 2);
const updates = Array.from({ length: UPDATES }, (_, at) => {
  const note = read(all[middle + at], middle + at);
  return timed(() => {
    index.discard(note.id);
    index.add({ ...note, text: `${note.text} newword${at}` });
    if (index.search(`newword${at}`).length === 0) throw new Error('a changed note is not found');
  });
});

// The data that it needs to find its index again; no string is as long as that of a large vault.
function size() {
  const file = join(place, 'index.json');
  try {
    writeFileSync(file, JSON.stringify(index));
  } catch {
    return 'none';
  }
  return (statSync(file).size / 1e6).toFixed(1);
}

console.log(
  [
    `build_cpu_s=${((user + system) / 1e6).toFixed(2)}`,
    `build_wall_s=${(wall / 1e3).toFixed(2)}`,
    `update_ms=${quantile(updates, 50).toFixed(2)}`,
    `cpu_p50_us=${(quantile(times, 50) * 1e3).toFixed(0)}`,
    `cpu_p99_us=${(quantile(times, 99) * 1e3).toFixed(0)}`,
    `disk_mb=${size()}`,
    `anon_mb=${(memory / 1e6).toFixed(1)}`,
  ].join(' '),
);
