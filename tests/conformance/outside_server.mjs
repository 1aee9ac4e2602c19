// A model server that others wrote, on loopback, behind a proxy that keeps the bodies of requests:
// `node outside_server.mjs FOLDER` prints its address, and ends with its input.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';

import { LLMock } from '@copilotkit/aimock';

const folder = process.argv[2];
const endpoints = {
  '/v1/messages': 'anthropic',
  '/v1/chat/completions': 'openai',
  '/api/chat': 'ollama',
};
const call = (name, parameters) => ({ name, arguments: JSON.stringify(parameters) });
const mock = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 7, strict: true });

// One request after the other, as the results of each turn become more.
const results = (count) => (asked) => {
  const last = asked.messages.findLastIndex((message) => message.role === 'user');
  const turn = asked.messages.slice(last + 1);
  return turn.filter((message) => message.role === 'tool').length === count;
};
const reads = ['Alpha.md', 'Beta.md'].map((path) => call('read_file', { path }));
mock.on({ userMessage: /both notes/, predicate: results(0) }, { toolCalls: reads });
const line = call('append_file', { path: 'Alpha.md', content: 'four' });
const append = { content: 'One line is missing.', toolCalls: [line] };
mock.on({ userMessage: /both notes/, predicate: results(2) }, append);
mock.on({ userMessage: /both notes/, predicate: results(3) }, { content: 'Now it is there: ö ✓' });
mock.on({ userMessage: /Thanks/ }, { content: 'You are welcome.' });
const upstream = new URL(await mock.start());

const server = createServer(async (asked, answer) => {
  const parts = [];
  for await (const part of asked) parts.push(part);
  const body = Buffer.concat(parts);
  const wire = endpoints[new URL(asked.url, upstream).pathname];
  if (wire) {
    const name = createHash('sha256').update(body).digest('hex').slice(0, 16);
    writeFileSync(join(folder, `${wire}-${name}.json`), body);
  }
  const { method, headers, url: path } = asked;
  const { hostname, port } = upstream;
  const onward = request({ hostname, port, path, method, headers }, (reply) => {
    answer.writeHead(reply.statusCode, reply.headers);
    reply.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  onward.end(body);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
