/** The service is told of holds: at once, or as soon as it answers. */
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { createHolds } from '../../src/gateway/retention/holds.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { createUpstream } from '../../src/gateway/upstream/upstream.js';
import { capabilityNames } from '../../src/model/capability.js';
import type { Transport } from '../../src/platform/http/interface/client.js';
import { captureLog } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { createOwnService, type OwnService } from './own-service.js';

let service: OwnService;
beforeEach(async () => {
  service = await createOwnService();
  return () => service.close();
});

const holdsOf = async (ledger = service.ledger, log = pino({ level: 'silent' })) => {
  const transport = service.upstream.transport as Transport;
  const upstream = createUpstream(
    (request, signal) => transport({ ...request, gateway: 'here' }, signal),
    service.upstream.apiKey,
  );
  return createHolds({
    ledger,
    upstream,
    capabilities: fixedCapabilities(capabilityNames),
    clock: service.deps.clock,
    log,
  });
};
const atService = async (): Promise<readonly string[]> => {
  const db = service.database.connect<{ 'guestlist.client_holds': { client_id: string } }>();
  const rows = await db.selectFrom('guestlist.client_holds').select('client_id').orderBy('client_id').execute();
  return rows.map(({ client_id }) => client_id);
};

it('has each hold when the command ends, and not the one that was removed', async () => {
  const holds = await holdsOf();
  const { id, service: has } = await holds.add({ clientId: 'LAX', reason: 'r' }, null);
  expect([has, await atService()]).toEqual(['told', ['LAX']]);
  await holds.add({ clientId: 'LAX', reason: 'another' }, null);
  await holds.remove({ id, reason: 'over' }, null);
  expect(await atService()).toEqual(['LAX']);
  const all = await holds.add({ clientId: null, reason: 'r' }, null);
  expect(await atService()).toEqual(['', 'LAX']);
  await holds.remove({ id: all.id, reason: 'over' }, null);
  expect(await atService()).toEqual(['LAX']);
});

it('is told later if it cannot be reached: the hold counts at the gateway, and the log says so', async () => {
  const { log, lines } = captureLog();
  const holds = await holdsOf(service.ledger, log);
  service.state.meddle = () => {
    throw new Error('the service is away');
  };
  expect((await holds.add({ clientId: 'LAX', reason: 'r' }, null)).service).toBe('unreachable');
  expect(await holds.finish()).toBe(1);
  expect(lines.map(({ event }) => event)).toEqual(['hold.tell_failed', 'hold.tell_failed']);
  expect((await holds.list()).service).toBe('unreachable');
  service.state.meddle = () => {};
  expect(await holds.finish()).toBe(0);
  expect([await atService(), (await holds.list()).service]).toEqual([['LAX'], 'told']);
});

it('is told again at the start of a process, and takes the holds of a ledger that was restored', async () => {
  const holds = await holdsOf();
  for (const clientId of ['A', 'B', 'C']) await holds.add({ clientId, reason: 'r' }, null);
  await service.database
    .connect<{ 'guestlist.client_holds': { client_id: string } }>()
    .deleteFrom('guestlist.client_holds')
    .execute();
  expect(await (await holdsOf()).finish()).toBe(0);
  expect(await atService()).toEqual(['A', 'B', 'C']);
  const restored = await openTestLedger();
  const later = await holdsOf(restored);
  expect((await later.add({ clientId: 'D', reason: 'r' }, null)).service).toBe('told');
  expect(await atService()).toEqual(['D']);
});
