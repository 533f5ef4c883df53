/** What a caller and a reader meet while the product is still starting. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { answerStarting } from '../../../src/platform/http/pages/starting.js';
import { hasChromium, launchChromium } from '../../suites/chromium.js';

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

it('tells a caller to try again, in JSON, and probes that it is alive', async () => {
  const origin = await listen(answerStarting);
  const answer = await fetch(`${origin}/api/v2/datasource`);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await answer.json()).toMatchObject({ error: { code: 'STARTING', status: 503 } });
  const alive = await fetch(`${origin}/healthz`);
  expect([alive.status, await alive.json()]).toEqual([200, { status: 'ok' }]);
});

it('gives a form or a script with a body JSON, whatever it accepts', async () => {
  const origin = await listen(answerStarting);
  const answer = await fetch(`${origin}/demo`, { method: 'POST', headers: { accept: 'text/html' }, body: 'a=1' });
  expect(answer.headers.get('content-type')).toContain('application/json');
});

it.runIf(hasChromium())('gives a browser a page that opens the one asked for once it is up', async () => {
  let listener: RequestListener = answerStarting;
  const origin = await listen((request, response) => listener(request, response));
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (/security policy/i.test(message.text())) faults.push(message.text());
  });
  await page.goto(`${origin}/demo?user=a`);
  expect(await page.getByRole('status').textContent()).toContain('is starting');
  listener = ({ url }, response) =>
    response.setHeader('Content-Type', 'text/html').end(`<h1>${url === '/demo?user=a' ? 'Up' : 'Wrong page'}</h1>`);
  await page.getByRole('heading', { name: 'Up' }).waitFor();
  expect(faults).toEqual([]);
});
