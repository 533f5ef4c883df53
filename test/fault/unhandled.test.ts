/** A fault that nothing handled ends the built product: with a word, and after what was under way has been answered. */
import { request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { analyst, session } from '../product/guest.js';
import { startProduct } from '../product/product.js';
import { askOnce } from './clients.js';

const preload = fileURLToPath(new URL('fault-on-signal.mjs', import.meta.url));

it.each(['an exception', 'a rejection'])(
  'after %s that nothing handles, the process is not ready, answers what is under way, and ends with 1 and a log line',
  async (FAULT) => {
    const product = await startProduct({
      env: { NODE_OPTIONS: `--import=${preload}`, FAULT, GUESTLIST_SHUTDOWN_NOTICE_SECONDS: '2' },
    });
    onTestFinished(async () => {
      await product.stop('SIGKILL');
      await product.remove();
    });
    const ready = `${product.url}/readyz`;
    expect([(await askOnce(ready)).status, (await askOnce(ready)).status]).toEqual([200, 200]);
    const body = '{}';
    const headers = {
      authorization: `Bearer ${session(product, analyst('LAX'))}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const asked = send(`${product.url}/embed-token`, { method: 'POST', headers, agent: false });
    const answered = new Promise<string>((resolve, reject) => {
      asked.once('error', reject).once('response', (response) => resolve(text(response)));
    });
    asked.write(body.slice(0, 1));
    const ended = product.stop('SIGUSR2');
    await vi.waitFor(async () => expect(await askOnce(ready)).toMatchObject({ status: 503 }), { interval: 20 });
    asked.end(body.slice(1));
    expect(JSON.parse(await answered)).toMatchObject({ token: expect.any(String) });
    expect(await ended).toBe(1);
    const [line = '{}'] = product
      .output()
      .split('\n')
      .filter((text) => text.includes('"process.fault"'));
    expect(JSON.parse(line)).toMatchObject({ event: 'process.fault', err: { message: 'nothing handles this' } });
  },
);
