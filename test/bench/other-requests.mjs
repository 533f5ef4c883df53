// Sends one small request after the other to a server (arguments: its URL and an API key), and reports over IPC how long they waited, in ms.
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from './server.mjs';

const [url, key] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let waits = [];

const ask = () =>
  new Promise((resolve, reject) => {
    const since = performance.now();
    const options = { agent, headers: { authorization: `Bearer ${key}` } };
    get(`${url}/api/v2/workspace?isPagination=true`, options, (answer) => {
      answer.resume();
      answer.on('end', () => resolve({ status: answer.statusCode, wait: performance.now() - since }));
    }).on('error', reject);
  });

process.on('message', (message) => {
  if (message === 'reset') waits = [];
  else process.send({ requests: waits.length, longest: Math.max(...waits), median: median(waits) });
});

for (let index = 0; index < 50; index += 1) await ask();
process.send('ready');
for (;;) {
  const { status, wait } = await ask();
  if (status !== 200) throw new Error(`a small request was answered with ${status}`);
  waits.push(wait);
  await pause(1);
}
