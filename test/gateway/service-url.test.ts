/** The service's URL in answers of a server that listens on all addresses. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { analyst, sign, startGateway } from './harness.js';

const asks = (url: string, headers: Record<string, string>): Promise<{ serviceUrl: string; token: string }> =>
  new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { authorization: `Bearer ${sign(analyst)}`, ...headers } };
    const sent = request(`${url}/embed-token`, options, async (response) => resolve(JSON.parse(await text(response))));
    sent.once('error', reject).end();
  });

it.each([
  ['numbers.example.com', {}, 'http://numbers.example.com'],
  ['Numbers.Example.com:8080', {}, 'http://numbers.example.com:8080'],
  ['[::1]:3000', {}, 'http://[::1]:3000'],
  ['numbers.example.com', { origin: 'https://numbers.example.com' }, 'https://numbers.example.com'],
  ['numbers.example.com', { origin: 'https://evil.example' }, 'http://numbers.example.com'],
  ['numbers.example.com', { 'x-forwarded-host': 'evil.example' }, 'http://numbers.example.com'],
  ['evil.example/path', {}, 'OWN'],
  ['user@evil.example', {}, 'OWN'],
  ['::1', {}, 'OWN'],
  ['', {}, 'OWN'],
])('for a request to %j with %j, it is %s', async (host, headers, expected) => {
  const { url } = await startGateway({ serviceUrl: null });
  const { serviceUrl } = await asks(url, { host, ...headers });
  expect(serviceUrl).toBe(expected === 'OWN' ? url : expected);
});

it("an invented Host header is never in another caller's answer, even if both get the same token", async () => {
  const { url } = await startGateway({ serviceUrl: null });
  const forged = await asks(url, { host: 'evil.example' });
  const own = await asks(url, {});
  expect([own.token, own.serviceUrl]).toEqual([forged.token, url]);
});

it('is the configured URL, whatever the caller sends', async () => {
  const { url } = await startGateway({ serviceUrl: 'https://numbers.example.com' });
  expect((await asks(url, { host: 'evil.example' })).serviceUrl).toBe('https://numbers.example.com');
});
