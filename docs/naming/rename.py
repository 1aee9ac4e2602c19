#!/usr/bin/env python3
"""Carries out the rename lines of the plans beside this file with rust-analyzer, all of them against one snapshot of
the workspace, then renames the files. usage: rename.py ROOT PLAN...   Writes rename.log: FAILED, CLASH and OVERLAP lines
need a hand; SHADOW lines are uses of a local variable with the name of a function, which are left alone.
Needs rust-analyzer and rust-src (`rustup component add rust-analyzer rust-src`)."""
import json, os, queue, re, subprocess, sys, threading, time, urllib.parse


class RA:
    def __init__(self, root, linked=None):
        self.root = os.path.abspath(root)
        env = dict(os.environ)
        self.p = subprocess.Popen(['rust-analyzer'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, cwd=self.root, env=env)
        self.id = 0; self.pending = {}; self.quiescent = threading.Event(); self.lock = threading.Lock()
        self.versions = {}
        threading.Thread(target=self.reader, daemon=True).start()
        caps = {"workspace": {"workspaceEdit": {"documentChanges": True, "resourceOperations": ["create","rename","delete"]},
                              "didChangeWatchedFiles": {"dynamicRegistration": True}},
                "textDocument": {"rename": {"prepareSupport": True}},
                "experimental": {"serverStatusNotification": True},
                "general": {"positionEncodings": ["utf-8"]}}
        opts = {"checkOnSave": False, "cargo": {"allTargets": True},
                "cachePriming": {"enable": True, "numThreads": 2}, "numThreads": 2,
                "procMacro": {"enable": True}}
        self.req('initialize', {"processId": os.getpid(), "rootUri": self.uri(self.root), "capabilities": caps,
                                "initializationOptions": opts, "workspaceFolders": [{"uri": self.uri(self.root), "name": "w"}]})
        self.note('initialized', {})
    def uri(self, p): return 'file://' + urllib.parse.quote(p)
    def path(self, u): return urllib.parse.unquote(u[len('file://'):])
    def send(self, m):
        b = json.dumps(m).encode()
        with self.lock:
            self.p.stdin.write(b'Content-Length: %d\r\n\r\n' % len(b) + b); self.p.stdin.flush()
    def note(self, method, params): self.send({"jsonrpc":"2.0","method":method,"params":params})
    def req(self, method, params, timeout=900):
        self.id += 1; q = queue.Queue(); self.pending[self.id] = q
        self.send({"jsonrpc":"2.0","id":self.id,"method":method,"params":params})
        m = q.get(timeout=timeout)
        if 'error' in m: raise RuntimeError(m['error'].get('message', str(m['error'])))
        return m.get('result')
    def reader(self):
        f = self.p.stdout
        while True:
            n = 0
            while True:
                l = f.readline()
                if not l: return
                l = l.strip()
                if not l: break
                k, v = l.split(b':', 1)
                if k.lower() == b'content-length': n = int(v)
            m = json.loads(f.read(n))
            if 'id' in m and 'method' in m:
                r = None
                if m['method'] == 'workspace/configuration': r = [None for _ in m['params']['items']]
                self.send({"jsonrpc":"2.0","id":m['id'],"result":r})
            elif 'id' in m:
                q = self.pending.pop(m['id'], None)
                if q: q.put(m)
            elif m.get('method') == 'experimental/serverStatus':
                if m['params'].get('quiescent'): self.quiescent.set()
                else: self.quiescent.clear()
                if m['params'].get('message'): print('RA:', m['params']['message'], file=sys.stderr)
    def wait(self):
        self.quiescent.wait(900)
        time.sleep(1)
        self.quiescent.wait(900)


root, plans = os.path.abspath(sys.argv[1]), sys.argv[2:]
ra = RA(root); t0 = time.time(); ra.wait(); print('ready after %.0f s' % (time.time() - t0), flush=True)
log = open('rename.log', 'w')
def find_decl(f, kind, old, at):
    p = os.path.join(root, f)
    lines = open(p, encoding='utf-8').read().split('\n')
    kw = {'type': r'(?:struct|enum|trait|type|union)', 'fn': r'fn', 'const': r'(?:const|static)', 'macro': r'macro_rules!'}[kind]
    pat = rf'\b{kw} {old}\b' if kind != 'macro' else rf'macro_rules! {old}\b'
    hits = [i for i, l in enumerate(lines) if re.search(pat, l) and not l.strip().startswith('//')]
    if not hits: raise RuntimeError('not found')
    if at: i = min(hits, key=lambda h: abs(h + 1 - at))
    elif len(hits) > 1 and kind in ('type', 'fn', 'const'):
        # the first one that is not in a test module
        i = hits[0]
        log.write(f'# several {old} in {f}: {[h+1 for h in hits]}\n')
        return [loc(p, lines, h, kw, old) for h in hits] if kind == 'fn' and at is None else [loc(p, lines, i, kw, old)]
    else: i = hits[0]
    return [loc(p, lines, i, kw, old)]
def loc(p, lines, i, kw, old):
    e = re.search(kw, lines[i]).end()
    c = re.search(rf'\b{old}\b', lines[i][e:]).start() + e
    return p, i, len(lines[i][:c].encode())
def find_field(f, ty, old):
    p = os.path.join(root, f)
    lines = open(p, encoding='utf-8').read().split('\n')
    s = next(i for i, l in enumerate(lines) if re.search(rf'\b(struct|enum) {ty}\b', l))
    for i in range(s, min(s + 200, len(lines))):
        m = re.search(rf'(?:^|[\s{{,(])(?:pub(?:\([^)]*\))? )?({old}):', lines[i])
        if m and not lines[i].strip().startswith('//'): return [(p, i, len(lines[i][:m.start(1)].encode()))]
        if i > s and lines[i].startswith('}'): break
    raise RuntimeError('no field')
def find_module(f):
    base = f[:-3]; old = os.path.basename(base)
    if old == 'mod': base = os.path.dirname(f); old = os.path.basename(base)
    parent = os.path.dirname(base)
    for c in (parent + '/lib.rs', parent + '/main.rs', parent + '/mod.rs', parent + '.rs'):
        p = os.path.join(root, c)
        if not os.path.exists(p): continue
        for i, x in enumerate(open(p, encoding='utf-8').read().split('\n')):
            m = re.match(rf'\s*(?:pub(?:\([^)]*\))? )?mod ({old});', x)
            if m: return [(p, i, m.start(1))], base, parent
    raise RuntimeError('no declaration of the module')
texts = {}
def shadowed(p, x, old):
    """Whether an edit of a function's name is on a local variable of the same name."""
    if p not in texts: texts[p] = open(p, 'rb').read().split(b'\n')
    L = texts[p]; r = x['range']; i = r['start']['line']
    before = L[i][:r['start']['character']].decode('utf-8', 'replace'); after = L[i][r['end']['character']:].decode('utf-8', 'replace')
    if L[i][r['start']['character']:r['end']['character']].decode('utf-8', 'replace') != old: return False
    if re.match(r'\s*(\(|::)', after) or re.search(r'(::|\.|fn )$', before) or re.match(r'\s*(pub(\(\w+\))? )?use ', before): return False
    j = i
    while j >= 0:
        t = L[j].decode('utf-8', 'replace'); seg = t[:r['start']['character']] if j == i else t
        if re.search(rf'\blet (mut )?{old}\b|\|(mut )?{old}\s*[:,|]|, {old}\||[(,] ?(mut )?{old}: |^\s*(mut )?{old}: |\bfor {old} in|(Some|Ok|Err)\({old}\) =', seg): return True
        if j != i and re.match(r'\s*(pub(\([^)]*\))? )?(const )?(async )?fn ', t): break
        j -= 1
    return False
edits = {}   # path -> {(sl,sc,el,ec): (text, plan line)}
moves = []   # (base, newbase) relative
ok = bad = 0
def collect(e, why, fn=None):
    n = 0
    changes = e.get('documentChanges') or [{"textDocument":{"uri":u},"edits":x} for u,x in (e.get('changes') or {}).items()]
    for c in changes:
        if 'kind' in c: continue
        p = ra.path(c['textDocument']['uri'])
        if not p.startswith(root): continue
        d = edits.setdefault(p, {})
        for x in c['edits']:
            if fn and shadowed(p, x, fn): log.write(f'SHADOW {p}:{x["range"]["start"]["line"]+1} {why}\n'); continue
            r = x['range']; k = (r['start']['line'], r['start']['character'], r['end']['line'], r['end']['character'])
            if k in d and d[k][0] != x['newText']: log.write(f'CLASH {p}:{k[0]+1} {d[k]} and {x["newText"]} ({why})\n'); continue
            d[k] = (x['newText'], why); n += 1
    return n
t1 = time.time()
newer, olds = {}, {}
for plan in plans:
    for l in open(plan):
        m = re.match(r'type (\S+) (\w+) -> (\w+)', l)
        if not m: continue
        f, a, b = m.groups()
        first = next((k for k, v in newer.items() if k[0] == f and v == a), None)
        if first: newer[first] = b; olds[(f, b)] = first[1]; newer[(f, a)] = None
        else: newer[(f, a)] = b; olds[(f, b)] = a
for plan in plans:
    for n, l in enumerate(open(plan), 1):
        l = l.split('#')[0].strip()
        if not l or l.split()[0] in ('move', 'folder'): continue
        try:
            m = re.match(r'(module|type|fn|const|macro|field) (\S+) (?:(\S+) )?-> (\w+)(?: @(\d+))?$', l)
            if not m: raise RuntimeError('cannot read')
            kind, f, old, new, at = m.groups(); at = int(at) if at else None
            if kind == 'type':
                if newer.get((f, old), new) is None: continue
                new = newer.get((f, old), new)
            if kind == 'module':
                locs, base, parent = find_module(f); moves.append((base, parent + '/' + new))
            elif kind == 'field':
                ty, old = old.split('.')
                if not re.search(rf'\b(struct|enum) {ty}\b', open(os.path.join(root, f), encoding='utf-8').read()): ty = olds.get((f, ty), ty)
                locs = find_field(f, ty, old)
            else: locs = find_decl(f, kind, old, at)
            k = 0
            for p, i, c in locs:
                for attempt in range(4):
                    try:
                        e = ra.req('textDocument/rename', {"textDocument":{"uri":ra.uri(p)}, "position":{"line":i,"character":c}, "newName":new}); break
                    except RuntimeError as ex:
                        if 'content modified' in str(ex) and attempt < 3: time.sleep(0.5); continue
                        raise
                k += collect(e, l, old if kind == 'fn' else None)
            ok += 1; log.write(f'{os.path.basename(plan)}:{n}: {l}: {k}\n')
        except Exception as e:
            bad += 1; log.write(f'FAILED {os.path.basename(plan)}:{n}: {l}: {e}\n'); log.flush()
        if (ok + bad) % 200 == 0: print(ok, bad, '%.0f s' % (time.time() - t1), flush=True)
ra.p.terminate()
# apply texts
for p, d in edits.items():
    data = open(p, 'rb').read(); starts = [0] + [i + 1 for i, b in enumerate(data) if b == 10]
    es = sorted(((starts[a] + b, starts[c] + e, t.encode(), w) for (a, b, c, e), (t, w) in d.items()), key=lambda x: (x[0], x[1]), reverse=True)
    last = len(data) + 1
    for s, t, txt, w in es:
        if t > last: log.write(f'OVERLAP {p} at {s}: {w}\n'); continue
        data = data[:s] + txt + data[t:]; last = s
    open(p, 'wb').write(data)
# then files, deepest first
for a, b in sorted(moves, key=lambda m: -m[0].count('/')):
    f = os.path.join(root, a); g = os.path.join(root, b)
    if os.path.exists(f + '.rs'): subprocess.check_call(['git', 'mv', f + '.rs', g + '.rs.moving'], cwd=root)
    if os.path.isdir(f): subprocess.check_call(['git', 'mv', f, g + '.moving'], cwd=root)
    # children that move within carry on below the new name: only last segments change, so nothing else to do
for a, b in sorted(moves, key=lambda m: m[0].count('/')):
    pass
for d, ds, fs in os.walk(root, topdown=False):
    if '/target' in d or '/node_modules' in d or '/.git' in d: continue
    for x in fs + ds:
        if x.endswith('.moving'): 
            subprocess.check_call(['git', 'mv', os.path.join(d, x), os.path.join(d, x[:-7])], cwd=root)
print(f'ok={ok} failed={bad} in {time.time()-t1:.0f} s', flush=True)
log.write(f'ok={ok} failed={bad}\n')


# Names that rust-analyzer does not see: in macro bodies, in attributes, and shorthand fields inside macros.
def sub(path, *pairs):
    f = os.path.join(root, path)
    if not os.path.exists(f): print('NO FILE', path); return
    s = open(f, encoding='utf-8').read(); o = s
    for a, b in pairs:
        n = s.replace(a, b)
        if n == s and b not in s: print('MISSING', path, a[:60])
        s = n
    if s != o: open(f, 'w', encoding='utf-8').write(s)


def rsub(path, *pairs):
    f = os.path.join(root, path)
    if not os.path.exists(f): print('NO FILE', path); return
    s = open(f, encoding='utf-8').read()
    for a, b in pairs: s = re.sub(a, b, s)
    open(f, 'w', encoding='utf-8').write(s)


sub('crates/vault/src/fault_point.rs', ('protocol::fault::', 'protocol::fault_injection::'))
sub('crates/store/src/transaction.rs', ('$crate::commit::', '$crate::transaction::'), ('$crate::error::Doing::doing', '$crate::error::FailureContext::doing'), ('commit_on!(settling', 'commit_on!(relaxed'), ('protocol::fault::', 'protocol::fault_injection::'), ('.lend()', '.acquire()'), ('give_back()', 'release()'))
sub('crates/store/src/branch.rs', ('branch::line!', 'branch::ancestry!'))
sub('crates/store/src/turn.rs', ('branch::line!', 'branch::ancestry!'))
sub('crates/store/src/effect.rs', ('image::insert_packed', 'content::insert_packed'))
sub('crates/store/src/effect_history.rs', ('happened!(', 'applied_effects!('))
sub('crates/hub/src/wire.rs', ('"of_use::word"', '"lenient_values::string_or_null"'), ('"of_use::input_method"', '"lenient_values::input_method"'))
sub('crates/hub/src/local/server.rs', ('FromConnection { line, event }', 'FromConnection { line, event: news }'))
rsub('crates/app/src/notifications.rs', (r'(Notification \{\s*)kind,(\s*conversation: Some)', r'\1kind: happened,\2'), (r'Notification \{ kind, conversation: None', r'Notification { kind: happened, conversation: None'))
sub('crates/app/src/adapters/archive.rs', ('ArchivedTranscript { messages, sources:', 'ArchivedTranscript { messages: said, sources:'))
sub('crates/app/src/adapters/transcript.rs', ('let VisibleHistory { compaction, rows, hidden_fingerprint, .. }', 'let VisibleHistory { compaction, rows, hidden_fingerprint: privacy_view, .. }'), ('let TurnNotifications { now, needs_approval } =', 'let TurnNotifications { now: said, needs_approval: held } ='))
