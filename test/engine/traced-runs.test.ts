/** What a span says about a statement at a datasource. */
import { expect, it } from 'vitest';
import { tracedRuns } from '../../src/engine/datasources/traced-runs.js';
import type { ClientDatabase } from '../../src/model/datamart/tenant.js';
import { registerTraces, writtenOf } from '../platform/traces.js';

const exporter = registerTraces();

const tenant = { kind: 'untenanted' } as unknown as Parameters<ReturnType<typeof tracedRuns>['run']>[1];
const table = { names: ['name'], dataTypes: ['string' as const], rows: [['planted-row'], ['planted-row']] };

it('the text has neither values nor the name of a database of one tenant, and no row is in the span', async () => {
  const runs = tracedRuns(
    { run: async () => table, stream: async (_, __, sink) => [await sink(table), await sink(table)] as never },
    { name: 'warehouse', datasourceType: 'POSTGRES' },
    { database: 'planted_db' as ClientDatabase },
  );
  const sql = `select "name" from "planted_db"."sales" where client = $1 and kind = 'planted-text'`;
  const statement = { sql, parameters: ['planted-client'] };
  expect(await runs.run(statement, tenant)).toBe(table);
  await runs.stream(statement, tenant, async () => {});
  const spans = exporter.getFinishedSpans();
  const about = { 'db.system.name': 'postgresql', 'guestlist.datasource': 'warehouse' };
  const text = `select "name" from "…"."sales" where client = $1 and kind = '…'`;
  expect(spans.map(({ attributes }) => attributes)).toEqual([
    { ...about, 'db.query.text': text, 'db.response.returned_rows': 2 },
    { ...about, 'db.query.text': text, 'db.response.returned_rows': 4 },
  ]);
  expect(writtenOf(spans)).not.toContain('planted');
});
