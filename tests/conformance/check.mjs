// Holds request bodies against the providers' own types: `node check.mjs FOLDER`, with a file
// `WIRE-….json` a body. An excess property is an error only in a literal, so each body becomes one;
// and wherever an object of a body has a kind of its own, a copy with a property too many must not
// compile, or the check would be blind there.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const types = readFileSync(join(here, 'types.ts'), 'utf8');
const wires = { anthropic: 'Anthropic', openai: 'OpenAi', ollama: 'Ollama' };
const extra = { no_property_of_the_wire: true };

/** What a tool takes is the tool's own affair, on every wire. */
const free = new Set(['input', 'input_schema', 'parameters', 'arguments']);

/** Each object of a body that the provider's types describe, with its place and the body around it. */
function* objects(value, place, rebuilt) {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      yield* objects(item, `${place}[]`, (other) => rebuilt(value.with(at, other)));
    }
  } else if (value !== null && typeof value === 'object') {
    const kind = [value.role, value.type].filter((word) => typeof word === 'string').join(' ');
    const named = kind ? `${place}(${kind})` : place;
    yield [named, rebuilt({ ...value, ...extra })];
    for (const [name, part] of Object.entries(value)) {
      if (free.has(name)) continue;
      yield* objects(part, `${named}.${name}`, (other) => rebuilt({ ...value, [name]: other }));
    }
  }
}

/** The lines of a module, each with what a complaint about it means. */
function written(folder) {
  const lines = types.trimEnd().split('\n').map((text) => ({ text, means: 'the types' }));
  const seen = new Set();
  let bodies = 0;
  for (const file of readdirSync(folder).sort()) {
    const wire = wires[file.split('-')[0]];
    if (!wire || !file.endsWith('.json')) throw new Error(`${file} is of no wire that is known`);
    const body = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const satisfies = (value) => `${JSON.stringify(value)} satisfies ${wire};`;
    bodies += 1;
    lines.push({ text: `export const b${bodies} = ${satisfies(body)}`, means: `refused ${file}` });
    for (const [place, spoilt] of objects(body, wire, (value) => value)) {
      if (seen.has(place)) continue;
      seen.add(place);
      const means = `blind at ${place}`;
      lines.push({ text: '// @ts-expect-error', means });
      lines.push({ text: `export const c${seen.size} = ${satisfies(spoilt)}`, means });
    }
  }
  return { lines, bodies, controls: seen.size };
}

/** What the compiler says, a line each. */
function compiled(lines) {
  // Beside the modules, where the imports of the providers' types lead.
  const place = mkdtempSync(join(here, 'node_modules', '.check-'));
  try {
    const module = join(place, 'bodies.ts');
    writeFileSync(module, lines.map((line) => line.text).join('\n'));
    const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    const flags = '--noEmit --strict --skipLibCheck --pretty false'.split(' ');
    const how = ['--target', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler'];
    const run = spawnSync(process.execPath, [compiler, ...flags, ...how, module], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    if (run.error) throw run.error;
    const said = run.stdout.split('\n').filter((line) => /error TS\d+/.test(line));
    if (run.status !== 0 && said.length === 0) throw new Error(run.stdout + run.stderr);
    return said;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const { lines, bodies, controls } = written(process.argv[2]);
const complaints = new Map();
for (const said of compiled(lines)) {
  const at = Number(/\((\d+),\d+\): error/.exec(said)?.[1]);
  const means = lines[at - 1]?.means ?? 'the compiler';
  if (!complaints.has(means)) complaints.set(means, said.replace(/^.*?: error /, ''));
}
for (const [means, said] of complaints) console.log(`${means}: ${said.slice(0, 600)}`);
const count = (word) => [...complaints.keys()].filter((means) => means.startsWith(word)).length;
const [refused, blind] = [count('refused'), count('blind')];
console.log(`conformance: bodies=${bodies} refused=${refused} controls=${controls} blind=${blind}`);
process.exitCode = bodies > 0 && complaints.size === 0 ? 0 : 1;
