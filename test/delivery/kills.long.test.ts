/** The sender is killed by SIGKILL at random moments: nothing is lost, and nothing comes twice but what had no answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Schedule } from '../../src/model/schedule/schedule.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { openTestDatabase, type TestDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { testSealer } from '../suites/sealer.js';
import { dueSample, later, scheduleSample } from '../suites/store-deliveries.js';
import { dashboardSample, insertOrganization, moment } from '../suites/store-samples.js';
import { type Mailbox, openMailbox } from './mailbox.js';

const kills = Number(process.env.DELIVER_KILLS ?? '8');
const reports = Number(process.env.DELIVER_REPORTS ?? '120');
const leaseMs = 1_000;
const child = fileURLToPath(new URL('kills-child.mjs', import.meta.url));

describe.skipIf(!(await isPostgresThere()))('a sender that is killed', () => {
  let database: TestDatabase;
  let store: Store;
  let mailbox: Mailbox;
  beforeAll(async () => {
    database = await openTestDatabase('postgres');
    store = createStore(database.connect<Tables>(), testSealer);
    mailbox = await openMailbox();
  }, 60_000);
  afterAll(async () => {
    await mailbox.close();
    await database.close();
  });

  const insertReports = async (clientId: string, count: number): Promise<Schedule> => {
    const { workspace, owner } = await insertOrganization(store);
    const board = dashboardSample(workspace.id);
    await store.dashboards.insert(board);
    const schedule = scheduleSample(board.id, { ...owner, clientId, userIdentifier: 'ann' });
    await store.schedules.insert(schedule);
    const due = Array.from({ length: count }, (_, index) => dueSample({ moment: later(index) }));
    await store.deliveries.insert(schedule, due, moment);
    return schedule;
  };
  const startSender = async () => {
    const sender = spawn(process.execPath, [child, String(database.url), mailbox.url, String(leaseMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(sender.stdout, 'data');
    return {
      kill: async (): Promise<void> => {
        const ended = once(sender, 'exit');
        sender.kill('SIGKILL');
        await ended;
      },
    };
  };

  test(
    'loses nothing, and sends nothing to those without the right',
    async () => {
      const active = await insertReports('active', reports);
      const suspended = await insertReports('suspended', 10);
      for (let count = 0; count < kills; count += 1) {
        const { kill } = await startSender();
        await wait(Math.random() * 150);
        await kill();
      }
      const last = await startSender();
      const isOpen = ({ state }: { readonly state: string }) => state === 'due' || state === 'sending';
      await vi.waitFor(
        async () => {
          const open = (await store.deliveries.list(active.id, reports)).filter(isOpen);
          const refused = (await store.deliveries.list(suspended.id, 10)).filter(isOpen);
          expect([...open, ...refused]).toEqual([]);
        },
        { timeout: 120_000, interval: 200 },
      );
      await last.kill();
      const counts = new Map<string, number>();
      for (const { mail } of mailbox.received) {
        const id = mail.messageId?.slice(1).split('@')[0] ?? '';
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      const ledger = await store.deliveries.list(active.id, reports);
      const rows = await database
        .connect<Tables>()
        .withSchema('guestlist')
        .selectFrom('deliveries')
        .selectAll()
        .execute();
      const handovers = new Map(rows.map((row) => [row.id, row.handovers]));
      for (const { id, state, reason } of ledger) {
        const arrived = counts.get(id) ?? 0;
        expect(arrived).toBeLessThanOrEqual(Math.min(2, handovers.get(id) ?? 0));
        if (state === 'sent') expect(arrived).toBeGreaterThanOrEqual(1);
        else expect([state, reason, handovers.get(id)]).toEqual(['failed', 'mail-unanswered', 2]);
      }
      const repeated = [...counts.values()].filter((count) => count > 1).length;
      // A killed process leaves at most the four messages that it was sending.
      expect(repeated).toBeLessThanOrEqual(4 * kills);
      const refusals = await store.deliveries.list(suspended.id, 10);
      expect(new Set(refusals.map(({ state, reason }) => `${state} ${reason}`))).toEqual(new Set(['skipped no-right']));
      expect([...counts.keys()].filter((id) => refusals.some((one) => one.id === id))).toEqual([]);
    },
    60_000 + kills * 3_000 + reports * 200,
  );
});
