import { it } from 'vitest';
import { Blocks } from '../../src/shared/markdown/blocks';
import { renderClosed, renderOpen } from '../../src/shared/markdown/render';
const c: [string,string][] = [['quotes','>'.repeat(100000)],['lists','- '.repeat(50000)],['brk','['.repeat(100000)],['img','!['.repeat(50000)],['emph','*a '.repeat(100000)],['bt','`'.repeat(100000)],['angle','<'.repeat(100000)],['ent','&#1'.repeat(100000)],['links','a](b'.repeat(50000)],['fn','[^1]'.repeat(50000)],['line','x'.repeat(10485760)],['div','<div>'.repeat(100000)],['svg','<svg><g>'.repeat(50000)],['table',('|a'.repeat(2000)+'\n'+'|-'.repeat(2000)+'\n'+('|a'.repeat(2000)+'\n').repeat(100))]];
for (const [n,t] of c) for (const size of [5000, 20000, t.length]) it(`${n} ${size}`, () => {
  const s = t.slice(0,size);
  const r: string[] = [];
  for (const [k,f] of [['cut',()=>new Blocks().cut(s)],['closed',()=>renderClosed(s)],['open',()=>renderOpen(s)]] as const) { const a=performance.now(); let e=''; try{f()}catch(x){e=String(x).slice(0,60)} r.push(`${k} ${Math.round(performance.now()-a)}ms ${e}`); if (performance.now()-a>8000) break;}
  console.log(`RES ${n} ${size}: ${r.join(' | ')}`);
}, 60000);
