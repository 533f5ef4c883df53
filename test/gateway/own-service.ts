/**
 * The real service in this process, with the gateway's ledger in the same database, as in the product's default setup.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { capabilityNames } from '../../src/model/capability.js';
import type { Transport, WireRequest } from '../../src/platform/http/interface/client.js';
import { createDispatch } from '../../src/platform/http/wire/bind.js';
import { inProcessTransport } from '../../src/platform/http/wire/in-process.js';
import { keepQuota } from '../../src/platform/limits/quota.js';
import { createAuthenticate } from '../../src/service/keys/authenticate.js';
import { createHandlers, operations, type UseCaseDeps } from '../../src/service/operations.js';
import { createUsageCounter } from '../../src/service/usage/usage.js';
import { createWorld, settings } from '../service/world.js';
import { dump } from '../suites/dump.js';
import type { Backing } from '../suites/metadata.js';
import { basePolicy, policyOf } from './policies.js';

/** Called before and after each call of the gateway to its service, so that a test can interfere. */
export type Meddle = (request: WireRequest, moment: 'before' | 'after') => Promise<void> | void;

const openSettings = {
  isAllowManageMetrics: true,
  isAllowCreateDashboardView: true,
  isAllowMetricCreation: true,
  isAllowMetricLayoutChange: true,
};

/** Grants both templates to every user, and creates one of them at sign-up. */
export const servicePolicy = policyOf({
  dataApp: 'app',
  workspace: 'space',
  datamart: 'sales',
  session: { ...basePolicy.session, claims: { ...basePolicy.session.claims } },
  templates: { delays: { name: 'Delays', accessSettings: openSettings }, routes: { name: 'Routes' } },
  onSignUp: ['delays'],
  rules: [{ name: 'all', when: 'true', grant: { templates: ['delays', 'routes'] } }],
});

export const createOwnService = async (
  backing?: Backing,
  overrides: Pick<Partial<UseCaseDeps>, 'reports' | 'renderer' | 'engine'> = {},
) => {
  const world = await createWorld(backing);
  const { store, deps } = world;
  await world.template('delays');
  await world.template('routes');
  const shared = await world.embed('delays', undefined, { ...settings, ...openSettings });
  const apiKey = randomUUID();
  await store.apiKeys.insert({
    id: randomUUID(),
    name: 'gateway',
    dataAppId: world.api().dataAppId,
    hash: deps.tokens.hash(apiKey),
    createdAt: deps.clock.now(),
    expiresAt: null,
  });
  const lastUses = { note: () => {} };
  const authenticate = createAuthenticate({ store, clock: deps.clock, tokens: deps.tokens, lastUses });
  const counted = {
    store,
    clock: deps.clock,
    ids: { uuid: randomUUID },
    shortTag: deps.shortTag,
    log: pino({ level: 'silent' }),
    keepQuota,
    journal: null,
  };
  const use = createUsageCounter(counted);
  const dispatch = createDispatch({
    operations,
    handlers: createHandlers({ ...deps, ...overrides, ids: { uuid: randomUUID } }),
    authenticate,
    log: pino({ level: 'silent' }),
    use,
  });
  const inner = inProcessTransport(dispatch);
  const state: { meddle: Meddle } = { meddle: () => {} };
  const transport: Transport = async (request, signal) => {
    await state.meddle(request, 'before');
    const answer = await inner(request, signal);
    await state.meddle(request, 'after');
    return answer;
  };
  const ledgerDb = world.database.connect<LedgerTables>();
  const ledger = await openLedger(ledgerDb);
  /** Returns every row of the gateway's tables as text. */
  const dumpLedger = async (): Promise<string> => {
    const { rows } = await sql<{ name: string }>`select quote_ident(table_name) as name from information_schema.tables
      where table_schema = 'guestlist_gateway'`.execute(ledgerDb);
    const texts = await Promise.all(
      rows.map(async ({ name }) => {
        const found = await sql<{
          row: string;
        }>`select t::text as row from ${sql.raw(`guestlist_gateway.${name}`)} as t`.execute(ledgerDb);
        return [name, ...found.rows.map(({ row }) => row)].join('\n');
      }),
    );
    return texts.join('\n');
  };
  return {
    ...world,
    shared,
    ledger,
    state,
    dispatch,
    use,
    authenticate,
    upstream: { transport, apiKey, baseUrl: 'http://service.test', capabilities: fixedCapabilities(capabilityNames) },
    /** Returns every row of gateway and service. */
    dumpAll: async () => `${await dump(world.database)}\n${await dumpLedger()}`,
  };
};
export type OwnService = Awaited<ReturnType<typeof createOwnService>>;
