/** Prints the licenses of all libraries that the programs and the window carry with them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const programs = ['vaultmate', 'cli'];
const paper = /^(licen[cs]e|copying|notice|copyright|unlicense)/i;

/** The crates that are linked in: reached from the programs without those for building and testing. */
function crates() {
  const platform = /^host: (.*)$/m.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }))[1];
  const words = ['metadata', '--format-version', '1', '--locked', '--filter-platform', platform];
  const options = { encoding: 'utf8', maxBuffer: 1 << 28 };
  const { packages, resolve } = JSON.parse(execFileSync('cargo', words, options));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const open = packages.filter(({ name }) => programs.includes(name)).map(({ id }) => id);
  const reached = new Set(open);
  while (open.length > 0) {
    for (const { pkg, dep_kinds } of nodes.get(open.pop()).deps) {
      if (reached.has(pkg) || !dep_kinds.some(({ kind }) => kind === null)) continue;
      reached.add(pkg);
      open.push(pkg);
    }
  }
  return packages
    .filter(({ id, source }) => source !== null && reached.has(id))
    .map(({ name, version, license, repository, manifest_path }) => {
      const folder = dirname(manifest_path);
      return { name: `${name} ${version}`, license, repository, folder };
    });
}

/** The modules of the window, and Svelte, whose runtime is in it. */
function modules() {
  const lock = JSON.parse(readFileSync('ui/package-lock.json', 'utf8')).packages;
  return Object.entries(lock)
    .filter(([place, { dev }]) => place !== '' && (!dev || place === 'node_modules/svelte'))
    .map(([place, { version, license }]) => {
      const name = `${place.replace(/^.*node_modules\//, '')} ${version}`;
      return { name, license, folder: join('ui', place) };
    });
}

function papers(folder) {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { withFileTypes: true });
  return files
    .filter((file) => file.isFile() && paper.test(file.name))
    .map(({ name }) => readFileSync(join(folder, name), 'utf8').trim());
}

const libraries = [...crates(), ...modules()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
/** Whose text it is, by the text: many libraries share one. */
const owners = new Map();
for (const { name, folder } of libraries) {
  for (const text of papers(folder)) owners.set(text, [...(owners.get(text) ?? []), name]);
}
const line = '-'.repeat(80);
console.log('Vaultmate carries these libraries:\n');
for (const { name, license, repository } of libraries) {
  console.log([name, license, repository].filter(Boolean).join(', '));
}
for (const [text, names] of owners) console.log(`\n${line}\n${names.join(', ')}\n\n${text}`);
