import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type LibraryOptions } from '../../src/library.js';
import { captureLog } from './harness.js';
import { createScriptedUpstream } from './scripted-upstream.js';

type Listener = Parameters<typeof createServer>[1];

const listen = async (listener: Listener): Promise<string> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks = await request.toArray();
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

/** A service of the interface on a port of its own. */
const startService = async () => {
  const upstream = createScriptedUpstream();
  const url = await listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
    const answer = await upstream.transport({
      method: (request.method ?? 'GET') as 'GET',
      path: pathname,
      query: Object.fromEntries(searchParams),
      bearer: (request.headers.authorization ?? '').replace('Bearer ', ''),
      body: await bodyOf(request),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  return { upstream, url };
};

const policies = new URL('../../config/policies/flights.yaml', import.meta.url).pathname;
const identify: LibraryOptions['identify'] = ({ headers }) =>
  headers['x-user'] === 'ann' ? { sub: 'ann', org_id: 'LAX', roles: ['analyst'] } : null;

describe('the gateway as a library', () => {
  it('is a router in front of a service in another process, made of a few settings', async () => {
    const { upstream, url: service } = await startService();
    const { log } = captureLog();
    const gateway = createGateway({ identify, policies, service: { url: service, apiKey: 'the-api-key' }, log });
    const host = await listen(express().use('/analytics', gateway));
    const ask = (headers: Record<string, string>) =>
      fetch(`${host}/analytics/embed-token`, { method: 'POST', headers: { origin: host, ...headers } });
    const answer = await ask({ 'x-user': 'ann' });
    expect(await answer.json()).toMatchObject({
      token: 'guest-token-1',
      serviceUrl: service,
      embeds: [{ id: 'delays--LAX' }],
    });
    expect(upstream.lastMint()).toMatchObject({ clientId: 'LAX' });
    expect(new Set(upstream.calls.map(({ bearer }) => bearer))).toEqual(new Set(['the-api-key']));
    expect((await ask({ 'x-user': 'bob' })).status).toBe(401);
  });

  it('is not made of a policy file that is not there, or of origins that no browser sends', () => {
    const service = { url: 'http://127.0.0.1:1', apiKey: 'key' };
    expect(() => createGateway({ identify, policies: '/nowhere.yaml', service })).toThrow(/nowhere/);
    expect(() => createGateway({ identify, policies, service, allowedOrigins: ['*'] })).toThrow(/must be an origin/);
  });
});
