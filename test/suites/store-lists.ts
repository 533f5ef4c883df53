/** Long lists are read in slices by key, with the same result as one statement. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type KyselyPlugin, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whole } from '../../src/model/slices.js';
import type { Database } from '../../src/platform/databases/database.js';
import { listRows } from '../../src/service/store/list-rows.js';
import { createStore } from '../../src/service/store/store.js';
import { schemaName, type Tables } from '../../src/service/store/tables.js';
import { testSealer } from './sealer.js';
import { dashboardSample, embedSample, insertOrganization } from './store-samples.js';

const limits: unknown[] = [];
/** Records the LIMIT of each statement. */
const noteLimits: KyselyPlugin = {
  transformQuery: ({ node }) => {
    const limit = 'limit' in node ? node.limit?.limit : undefined;
    limits.push(limit !== undefined && 'value' in limit ? limit.value : null);
    return node;
  },
  transformResult: async ({ result }) => result,
};

export const listSuite = (name: string, open: () => Promise<Database>) =>
  describe(`lists on ${name}`, () => {
    let database: Database;
    let dataAppId: string;
    const rows = 57;
    beforeAll(async () => {
      database = await open();
      const db = database.connect<Tables>();
      const store = createStore(db, testSealer);
      const { workspace, dataApp } = await insertOrganization(store);
      dataAppId = dataApp.id;
      const dashboard = dashboardSample(workspace.id);
      await store.dashboards.insert(dashboard);
      for (let row = 0; row < rows; row += 1) await store.embeds.insert(embedSample(dataAppId, dashboard.id));
      // The times differ only in microseconds, which JavaScript dates would lose.
      await sql`update guestlist.embeds set created_at =
      '2026-03-29T01:59:59Z'::timestamptz + (ascii(embed_id) % 5) * interval '3 microseconds'`.execute(db);
    });
    afterAll(() => database.close());

    const own = () =>
      database
        .connect<Tables>()
        .withPlugin(noteLimits)
        .withSchema(schemaName)
        .selectFrom('embeds')
        .selectAll()
        .where('data_app_id', '=', dataAppId);

    it('is in slices of any size what it is at once, without repetition', async () => {
      const all = await own().orderBy('created_at').orderBy('embed_id').execute();
      expect(all).toHaveLength(rows);
      const size = fc.integer({ min: 1, max: rows + 1 });
      await fc.assert(
        fc.asyncProperty(size, async (limit) => {
          limits.length = 0;
          const listed = await whole(listRows(own(), ['created_at', 'embed_id'], null, limit));
          expect(listed.map(({ embed_id }) => embed_id)).toEqual(all.map(({ embed_id }) => embed_id));
          // The last slice is shorter than the limit, or empty.
          expect(limits).toEqual(Array.from({ length: Math.floor(rows / limit) + 1 }, () => limit));
        }),
        { numRuns: 12, examples: [[1], [rows]] },
      );
    });

    it('the pages of a list by number are the same list', async () => {
      const all = await whole(listRows(own(), ['created_at', 'embed_id'], null));
      const paged = [];
      for (let number = 1; number <= 6; number += 1)
        paged.push(...(await whole(listRows(own(), ['created_at', 'embed_id'], { number, size: 10 }))));
      expect(paged.map(({ embed_id }) => embed_id)).toEqual(all.map(({ embed_id }) => embed_id));
    });

    it('ends a client with many tokens, and its own alone, however they are sliced', async () => {
      const db = database.connect<Tables>();
      const store = createStore(db, testSealer);
      const now = new Date('2026-03-30T00:00:00Z');
      const give = (clientId: string, count: number, expiresAt: Date | null) =>
        sql`insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, grants, created_at, expires_at, epoch)
        select ${clientId} || n || ${String(expiresAt)}, encode(sha256(convert_to(${clientId + String(expiresAt)} || n, 'UTF8')), 'hex'),
          ${dataAppId}, ${clientId}, '{}', now(), ${expiresAt}::timestamptz, 0 from generate_series(1, ${count}::integer) as n`.execute(
          db,
        );
      await give('acme', 620, null);
      await give('acme', 40, new Date('2026-03-29T00:00:00Z'));
      await give('beta', 3, null);
      const left = () => whole(store.guestTokens.listLive({ dataAppId, now }, null));
      expect(await left()).toHaveLength(623);
      const which = { kind: 'client', clientId: 'acme', userIdentifier: null } as const;
      expect(await store.guestTokens.revoke(dataAppId, which, now)).toBe(620);
      expect((await left()).map(({ clientId }) => clientId)).toEqual(['beta', 'beta', 'beta']);
      await give('acme', 501, null);
      expect(await store.clients.erase(dataAppId, 'acme')).toMatchObject({ guestTokens: 501 });
      expect((await left()).map(({ clientId }) => clientId)).toEqual(['beta', 'beta', 'beta']);
    });

    it('asks for no list without a limit', async () => {
      limits.length = 0;
      const db = database.connect<Tables>().withPlugin(noteLimits);
      const store = createStore(db, testSealer);
      const none = randomUUID();
      await whole(store.dataApps.list(null));
      await whole(store.apiKeys.listByDataApp(none, null));
      await whole(store.serviceTokens.list(null));
      await whole(store.datasources.list(null));
      await whole(store.datamarts.list(null));
      await whole(store.workspaces.list(null));
      await whole(store.dashboards.listByWorkspace(none, none, null));
      await whole(store.metrics.listByWorkspace(none, none, null));
      await whole(store.embeds.listByDataApp(none, null));
      await whole(store.guestTokens.listLive({ dataAppId: none, now: new Date(0) }, null));
      expect(limits).toEqual(Array.from({ length: 10 }, () => 100));
    });
  });
