import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRedisCache } from '../../src/platform/cache-redis.js';
import { analyst, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';

const hasServer = spawnSync('redis-server', ['--version']).status === 0;
if (!hasServer) console.warn('SKIPPED: no redis-server on PATH, so the gateway with a stopped Redis is not tested');
it.runIf(process.env.CI === 'true')('redis-server is there', () => expect(hasServer).toBe(true));

const startRedis = async (): Promise<{ child: ChildProcess; url: string }> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  for await (const chunk of child.stdout ?? []) {
    if (String(chunk).includes('Ready to accept connections')) break;
  }
  return { child, url: `redis://127.0.0.1:${port}` };
};

describe.runIf(hasServer)('the gateway with Redis', () => {
  it('shares tokens between replicas, and goes on minting when Redis is killed', async () => {
    const { child, url } = await startRedis();
    const log = pino({ level: 'silent' });
    const caches = await Promise.all([createRedisCache({ url, log }), createRedisCache({ url, log })]);
    onTestFinished(async () => {
      await Promise.all(caches.map((cache) => cache.close()));
    });
    const ledger = await openTestLedger();
    const first = await startGateway({ cache: caches[0], ledger });
    const second = await startGateway({ cache: caches[1], ledger });
    const { token } = await first.granted(analyst);
    await second.granted({ ...analyst, sub: 'warm-up' });
    expect((await second.granted(analyst)).token).toBe(token);
    expect(second.upstream.mints()).toHaveLength(1);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    // Without a cache every request mints for itself, except those that wait for one under way.
    const before = first.upstream.mints().length;
    const answers = await Promise.all(Array.from({ length: 50 }, () => first.granted(analyst)));
    const minted = first.upstream.mints().length - before;
    expect(minted).toBeGreaterThan(0);
    expect(new Set(answers.map((answer) => answer.token)).size).toBe(minted);
  });

  it('takes what it finds there for a miss where it is not a token', async () => {
    const { url } = await startRedis();
    const cache = await createRedisCache({ url, log: pino({ level: 'silent' }) });
    onTestFinished(() => cache.close());
    const poisoned = [
      '',
      'null',
      '7',
      '[]',
      '{"token":7,"expiresAtMs":9e15}',
      '{"token":"x","expiresAtMs":"soon"}',
      '{',
    ];
    for (const text of poisoned) {
      const { granted } = await startGateway({ cache: { ...cache, get: async () => text } });
      expect((await granted(analyst)).token).toBe('guest-token-1');
    }
  });
});
