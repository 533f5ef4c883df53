/** Logins that a gateway tells its service of: each once, whatever fails between, and of its own data app alone. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Capabilities } from '../../src/gateway/upstream/capabilities.js';
import { createLoginReports } from '../../src/gateway/upstream/logins.js';
import { Refusal } from '../../src/model/refusal.js';
import type { UsageQuestion } from '../../src/model/usage.js';
import { type Call, createClient } from '../../src/platform/http/interface/client.js';
import { reportLogins } from '../../src/service/usage/contract.js';
import type { Backing } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { analyst, createMovableClock, startGateway } from './harness.js';
import { createOwnService, type OwnService, servicePolicy } from './own-service.js';

const backings: readonly Backing[] = (await isPostgresThere()) ? ['pglite', 'postgres'] : ['pglite'];
const log = pino({ level: 'silent' });
const ids = { uuid: randomUUID };
const always = { requireCapability: async () => {} };
const all = { from: new Date('2000-01-01'), to: new Date('2100-01-01'), step: null, by: [], limit: 100 } as const;

describe.each(backings)('on %s', (backing) => {
  let service: OwnService;
  beforeEach(async () => {
    service = await createOwnService(backing);
  });
  afterEach(() => service.close());
  const stored = (question: Partial<UsageQuestion> = {}) => service.store.usage.read({ ...all, ...question });
  const call = (): Call => createClient(service.upstream.transport, service.upstream.apiKey);

  it('a gateway counts each token that it gave, kept ones too, for the user whose mint was counted', async () => {
    const gateway = await startGateway({ ...service, policy: servicePolicy });
    for (const claims of [analyst, analyst, { ...analyst, sub: 'another' }]) await gateway.granted(claims);
    await gateway.close();
    await service.use.flush();
    expect(await stored({ clientId: String(analyst.org_id) })).toMatchObject([{ logins: 3, mints: 2, users: 2 }]);
  });

  const reports = (upstream: Call, capabilities: Pick<Capabilities, 'requireCapability'> = always) =>
    createLoginReports({ upstream, capabilities, clock: createMovableClock(), ids, log });

  it('a call whose answer was lost counts once, and what came meanwhile is told next', async () => {
    let isLosing = true;
    const losing: Call = async (...given) => {
      const answer = await call()(...given);
      if (isLosing) throw new Error('the answer is lost');
      return answer;
    };
    const { count, write } = reports(losing);
    count({ clientId: 'LAX', userIdentifier: 'ann' });
    await write();
    count({ clientId: 'LAX', userIdentifier: 'ann' });
    await write();
    isLosing = false;
    await write();
    expect(await stored({ clientId: 'LAX' })).toMatchObject([{ logins: 2 }]);
  });

  it('many users are told in several calls, each once', async () => {
    let calls = 0;
    const counting: Call = (...given) => {
      calls += 1;
      return call()(...given);
    };
    const { count, write } = reports(counting);
    for (let user = 0; user < 1_001; user += 1) count({ clientId: 'LAX', userIdentifier: `user-${user}` });
    await write();
    await write();
    expect([calls, (await stored({ clientId: 'LAX' }))[0]?.logins]).toEqual([3, 1_001]);
  });

  it('a key counts in its own data app alone, and takes no number of the writer of another one', async () => {
    const { store, deps, api } = service;
    const other = randomUUID();
    await store.apiKeys.insert({
      ...{ id: randomUUID(), name: 'other', dataAppId: api('other').dataAppId, hash: deps.tokens.hash(other) },
      ...{ createdAt: deps.clock.now(), expiresAt: null },
    });
    const report = {
      ...{ writer: randomUUID(), number: 1 },
      logins: [{ at: '2024-01-01T00:00:00.000Z', clientId: 'LAX', userIdentifier: null, count: 1 }],
    };
    await createClient(service.upstream.transport, other)(reportLogins, { ...report, number: 9 });
    await call()(reportLogins, report);
    expect(await stored({ by: ['dataApp'] })).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ dataAppId: api().dataAppId, logins: 1 }),
        expect.objectContaining({ dataAppId: api('other').dataAppId, logins: 1 }),
      ]),
    );
  });

  it('a gateway whose clock is ahead counts for this hour', async () => {
    const login = { at: '2024-06-01T00:00:00.000Z', clientId: 'LAX', userIdentifier: null, count: 1 };
    await call()(reportLogins, { writer: randomUUID(), number: 1, logins: [login] });
    const [row] = await stored({ step: 'hour' });
    expect(row?.at).toEqual(service.deps.clock.now());
  });

  it('logins of long ago count in the first hour that may still be told', async () => {
    const login = { clientId: 'LAX', userIdentifier: null, count: 1 };
    const logins = ['0000-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '2000-01-01T00:00:00Z'].map((at) => ({
      ...login,
      at,
    }));
    await call()(reportLogins, { writer: randomUUID(), number: 1, logins });
    const earliest = new Date(service.deps.clock.now().getTime() - 31 * 24 * 3_600_000);
    expect(await stored({ step: 'hour' })).toMatchObject([{ at: earliest, logins: 3 }]);
  });
});

describe('a service that counts no logins', () => {
  it('is told nothing, and nothing is kept for it', async () => {
    let isMissing = true;
    const told: unknown[] = [];
    const upstream: Call = async (_, input) => {
      told.push(input);
      return {} as never;
    };
    const requireCapability = async () => {
      if (isMissing) throw new Refusal('NOT_SUPPORTED', 'Not supported here.');
    };
    const { count, write } = createLoginReports({
      ...{ upstream, capabilities: { requireCapability }, clock: createMovableClock(), ids, log },
    });
    count({ clientId: 'LAX', userIdentifier: 'ann' });
    await write();
    isMissing = false;
    await write();
    expect(told).toEqual([]);
    count({ clientId: 'LAX', userIdentifier: 'ann' });
    await write();
    expect(told).toMatchObject([{ logins: [{ count: 1 }] }]);
  });
});
