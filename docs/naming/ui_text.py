#!/usr/bin/env python3
"""Sets the words of ui.md in the catalogs where the text is still the one that it names. usage: ui_text.py ROOT UI_MD"""
import json, re, sys
root = sys.argv[1]
md = open(sys.argv[2], encoding='utf-8').read()
en_md, de_md = md.split('## German (168 messages)')
def rows(t):
    for l in t.split('\n'):
        m = re.match(r'^\| `([\w]+)(?: \[([^\]]+)\])?` \| (.*) \|\s*$', l)
        if not m: continue
        key, form, rest = m.groups()
        cells = [c.strip() for c in re.split(r'(?<!\\) \| ', rest)]
        if len(cells) >= 2: yield key, form, cells[0].replace('\\n', '\n'), cells[1].replace('\\n', '\n')
for lang, t in (('en', en_md), ('de', de_md)):
    p = f'{root}/ui/messages/{lang}.json'
    raw = open(p, encoding='utf-8').read()
    data = json.loads(raw)
    done = same = 0; odd = []
    for key, form, now, better in rows(t):
        if key not in data: odd.append((key, 'no such key')); continue
        v = data[key]
        cur = v if isinstance(v, str) else v[0]['match'].get(form) if form else None
        if cur is None: odd.append((key, form, 'no such form')); continue
        if cur == better: same += 1; continue
        if cur != now: odd.append((key, form, f'is {cur!r}, was {now!r}, better {better!r}')); continue
        a, b = json.dumps(cur, ensure_ascii=False), json.dumps(better, ensure_ascii=False)
        # placeholders stay
        if sorted(re.findall(r'\{\w+\}', cur)) != sorted(re.findall(r'\{\w+\}', better)): odd.append((key, form, 'placeholders differ', cur, better)); continue
        if isinstance(v, str): 
            new = re.sub(rf'(^  "{key}": ){re.escape(a)}', lambda m: m.group(1) + b, raw, flags=re.M)
        else:
            i = raw.index(f'\n  "{key}": ['); j = raw.index('\n  ]', i)
            new = raw[:i] + raw[i:j].replace(f'"{form}": {a}', f'"{form}": {b}') + raw[j:]
        if new == raw: odd.append((key, form, 'not replaced')); continue
        raw = new; done += 1
    json.loads(raw)
    open(p, 'w', encoding='utf-8').write(raw)
    print(lang, 'done', done, 'same', same, 'odd', len(odd))
    for o in odd: print('  ', *o)
