import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, InvalidOptions, type LibraryOptions } from '../../src/compose/library.js';
import { captureLog } from './harness.js';
import { listen, startScriptedService } from './scripted-service.js';

const policies = new URL('../../config/policies/flights.yaml', import.meta.url).pathname;
const identify: LibraryOptions['identify'] = ({ headers }) =>
  headers['x-user'] === 'ann' ? { sub: 'ann', org_id: 'LAX', roles: ['analyst'] } : null;

const ownFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-library-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

describe('the gateway as a library', () => {
  it('creates a router in front of a service in another process, from a few settings', async () => {
    const { upstream, url: service } = await startScriptedService();
    const { log } = captureLog();
    const dataDir = await ownFolder();
    const gateway = await createGateway({
      identify,
      policies,
      service: { url: service, apiKey: 'the-api-key' },
      dataDir,
      log,
    });
    onTestFinished(() => gateway.close());
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
    expect(new Set(upstream.calls.filter(({ path }) => path !== '/openapi.json').map(({ bearer }) => bearer))).toEqual(
      new Set(['the-api-key']),
    );
    expect((await ask({ 'x-user': 'bob' })).status).toBe(401);
  });

  it('is refused for a missing policy file, and for origins that no browser sends', async () => {
    const service = { url: 'http://127.0.0.1:1', apiKey: 'key' };
    const dataDir = await ownFolder();
    await expect(createGateway({ identify, policies: '/nowhere.yaml', service, dataDir })).rejects.toThrow(/nowhere/);
    await expect(createGateway({ identify, policies, service, dataDir, allowedOrigins: ['*'] })).rejects.toThrow(
      /must be an origin/,
    );
  });

  it('names every wrong option in one message, before it opens anything', async () => {
    const dataDir = join(await ownFolder(), 'data');
    const wrong = {
      policies: '/nowhere.yaml',
      polices: policies,
      service: { url: 'analytics.example.com', apikey: 'key' },
      limits: { userPerMinute: 0 },
      allowedOrigins: ['https://app.example.com/'],
      hookSecrets: ['secret'],
      databaseUrl: 'mysql://db/guestlist',
      log: console.log,
      dataDir,
    };
    const refused: unknown = await createGateway(wrong as unknown as LibraryOptions).catch((error: unknown) => error);
    if (!(refused instanceof InvalidOptions)) throw refused;
    expect(refused.message).toContain('createGateway: 11 invalid options');
    expect(refused.faults.map((fault) => fault.split(':')[0]).sort()).toEqual(
      [
        'allowedOrigins.0',
        'databaseUrl',
        'hookSecrets.0',
        'identify',
        'limits.userPerMinute',
        'log',
        'policies',
        'polices',
        'service.apiKey',
        'service.apikey',
        'service.url',
      ].sort(),
    );
    expect(refused.message).toContain('polices: unknown option; did you mean policies?');
    expect(refused.message).toContain('service.apikey: unknown option; did you mean apiKey?');
    expect(existsSync(dataDir)).toBe(false);
  });
});
