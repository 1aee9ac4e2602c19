#!/usr/bin/env python3
"""Moves modules of one crate to other parents. usage: mover.py REPO SRC CRATE_NAME PLAN
SRC: folder with lib.rs or main.rs. PLAN lines: `old::path -> new::path` (last segment the same),
and `new FOLDER | head doc` for new parents."""
import os, re, subprocess, sys
repo, src, crate, plan = sys.argv[1:5]
src = os.path.join(repo, src)
FMT = os.path.join(os.environ.get('TMPDIR', '/tmp'), 'fmt-%s.toml')
for g in ('Item', 'Module'):
    open(FMT % g, 'w').write(f'max_width = 100\nuse_small_heuristics = "Max"\nimports_granularity = "{g}"\nunstable_features = true\n')
def fmt(files, g):
    for i in range(0, len(files), 200):
        subprocess.run(['rustup','run','nightly','rustfmt','--edition','2024','--config-path',FMT % g,
            '--config','skip_children=true'] + files[i:i+200], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
moves, heads = {}, {}
for l in open(plan):
    l = l.strip()
    if not l or l.startswith('#'): continue
    if l.startswith('new '):
        k, v = l[4:].split('|', 1); heads[k.strip()] = v.strip(); continue
    a, b = [x.strip() for x in l.split('->')]
    moves[a] = b
root = 'lib.rs' if os.path.exists(os.path.join(src, 'lib.rs')) else 'main.rs'
def modpath(f):
    r = os.path.relpath(f, src)
    if r == root: return ()
    p = r[:-3].split(os.sep)
    if p[-1] == 'mod': p.pop()
    return tuple(p)
files = [os.path.join(d, f) for d, _, fs in os.walk(src) for f in fs if f.endswith('.rs')]
files = [f for f in files if '/bin/' not in f]
mods = {modpath(f): f for f in files}
mv = {tuple(a.split('::')): tuple(b.split('::')) for a, b in moves.items()}
for a in mv:
    if a not in mods: sys.exit(f'no module {"::".join(a)}')
def new(p):
    p = tuple(p)
    for n in range(len(p), 0, -1):
        if p[:n] in mv: return mv[p[:n]] + p[n:]
    return p
children = {}
for m in mods:
    if m: children.setdefault(m[:-1], set()).add(m[-1])
# dependents: other rust files of the workspace that name the crate
others = subprocess.run(['grep','-rlE',rf'\b{crate}::', '--include=*.rs', repo + '/crates', repo + '/src-tauri', repo + '/tests', repo + '/benches', repo + '/fuzz'], capture_output=True, text=True).stdout.split()
others = [f for f in others if f not in files and '/target/' not in f]
before = {f: open(f, 'rb').read() for f in files + others}
fmt(files, 'Item'); fmt(others, 'Item')
PATH = re.compile(r'(?<![\w:$])(\$?crate|super|self|' + crate + r')((?:::\s*\w+)+)')
def inline_depths(text):
    """For each offset the list of inline modules around it: [(start,end)]"""
    out = []
    for m in re.finditer(r'\bmod\s+(\w+)\s*\{', text):
        i, d = m.end(), 1
        while i < len(text) and d:
            c = text[i]
            if c == '{': d += 1
            elif c == '}': d -= 1
            i += 1
        out.append((m.end(), i, m.group(1)))
    return out
def rewrite(f, text, here):
    spans = inline_depths(text) if here is not None else []
    newhere = new(here) if here is not None else None
    def sub(m):
        head, segs = m.group(1), [s for s in re.split(r'\s*::\s*', m.group(2)) if s]
        if head in ('crate', '$crate') and here is None: return m.group(0)
        if head == crate and here is not None and crate not in ('crate',): pass
        if head in ('crate', '$crate', crate):
            a = tuple(segs); b = new(a)
            return m.group(0) if a == b else head + '::' + '::'.join(b)
        inl = [n for s, e, n in spans if s <= m.start() < e]
        base = list(here) + inl
        if head == 'super':
            if not base: return m.group(0)
            base = base[:-1]; up = 1; rest = list(segs)
            while rest and rest[0] == 'super':
                if not base: return m.group(0)
                base = base[:-1]; rest = rest[1:]; up += 1
            if up <= len(inl): return m.group(0)
        else:
            if inl: return m.group(0)
            rest = list(segs); up = 0
        if not rest: return m.group(0)
        a = tuple(base + rest); b = new(a)
        # what the same relative words mean from the new place
        nb = list(newhere)
        nb = nb[:len(nb) - (up - len(inl))] if up else nb
        if tuple(nb + rest) == b and up - len(inl) <= len(newhere): return m.group(0)
        return 'crate::' + '::'.join(b)
    text = PATH.sub(sub, text)
    if here is not None:
        for c in children.get(here, ()):
            a = here + (c,); b = new(a)
            if b == a: continue
            rel = '::'.join(b[len(newhere):]) if b[:len(newhere)] == newhere else 'crate::' + '::'.join(b)
            text = re.sub(r'(^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+)' + c + r'(?=::|;| as)', lambda m: m.group(1) + rel, text, flags=re.M)
            text = re.sub(r'(?<![\w:.$])' + c + r'(?=::[A-Za-z_])', rel, text) if not re.search(r'use [\w:]*::' + c + ';', text) else text
        if here in mv and not here[:-1]:
            text = text.replace('pub(super)', 'pub(crate)')
    return text
# take the declarations out
DECL = r'((?:^[ \t]*(?:#\[[^\n]*\]|///[^\n]*)\n)*)^([ \t]*)(pub(?:\([^)]*\))?\s+)?mod %s;[^\n]*\n'
decl = {}
texts = {}
for f in files: texts[f] = rewrite(f, open(f, encoding='utf-8').read(), modpath(f))
for f in others: texts[f] = rewrite(f, open(f, encoding='utf-8').read(), None)
for a, b in mv.items():
    if a[:-1] == b[:-1]: sys.exit('same parent: ' + str(a))
    pf = mods[a[:-1]]
    m = re.search(DECL % a[-1], texts[pf], flags=re.M)
    if not m: sys.exit(f'no declaration of {a} in {pf}')
    decl[a] = (m.group(1), (m.group(3) or '').strip())
    texts[pf] = texts[pf][:m.start()] + texts[pf][m.end():]
for f, t in texts.items(): open(f, 'w', encoding='utf-8').write(t)
# move the files
newfiles = {}
def target(b, is_mod): 
    return os.path.join(src, *b) + ('/mod.rs' if is_mod else '.rs')
for a, b in mv.items():
    f = mods[a]
    is_mod = f.endswith('/mod.rs')
    d = os.path.join(src, *a)
    nd = os.path.join(src, *b)
    os.makedirs(os.path.dirname(nd), exist_ok=True)
    if not is_mod: subprocess.check_call(['git','mv',f,nd + '.rs'], cwd=repo)
    if os.path.isdir(d): 
        subprocess.check_call(['git','mv',d,nd], cwd=repo)
# declare
parents = {}
for a, b in mv.items(): parents.setdefault(b[:-1], []).append(a)
def parent_file(p):
    for c in (os.path.join(src, *p) + '.rs', os.path.join(src, *p, 'mod.rs')):
        if os.path.exists(c): return c
    if not p: return os.path.join(src, root)
    f = os.path.join(src, *p) + '.rs'
    os.makedirs(os.path.dirname(f), exist_ok=True)
    head = heads.get('::'.join(p), 'TODO')
    open(f, 'w').write('//! ' + head + '\n')
    subprocess.check_call(['git','add',f], cwd=repo)
    g = parent_file(p[:-1])
    add_decl(g, [('', 'pub(crate)' if len(p) > 1 else '', p[-1])])
    return f
def add_decl(f, ds):
    t = open(f, encoding='utf-8').read()
    block = ''.join(f'{attrs}{vis + " " if vis else ""}mod {n};\n' for attrs, vis, n in ds)
    ms = list(re.finditer(r'^(?:pub(?:\([^)]*\))?\s+)?mod \w+;\n', t, flags=re.M))
    if ms: at = ms[-1].end()
    else:
        at = 0
        for l in t.splitlines(keepends=True):
            if l.startswith('//!') or l.startswith('#!['): at += len(l)
            else: break
        block = '\n' + block
    open(f, 'w', encoding='utf-8').write(t[:at] + block + t[at:])
for p, as_ in sorted(parents.items()):
    f = parent_file(p)
    ds = []
    for a in sorted(as_, key=lambda a: mv[a][-1]):
        attrs, vis = decl[a]
        if not vis and p: vis = 'pub(crate)'
        ds.append((attrs, vis, mv[a][-1]))
    add_decl(f, ds)
allf = [os.path.join(d, f) for d, _, fs in os.walk(src) for f in fs if f.endswith('.rs')]
fmt(allf, 'Module'); fmt(others, 'Module')
