/**
 * A table gets its client by columns that the database cannot compare. The host's message names them; a guest's message
 * does not.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { guestReads } from '../../src/service/guest/engine.js';
import { type Builder, createBuilder } from './test-databases.js';
import {
  byClients,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  stays,
  table,
} from './world.js';

const lines = { id: 'BIGINT', parent: 'HUGEINT' };
const secrets = { id: 'DECIMAL(38,2)', client: 'VARCHAR' };
const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('lines', lines),
    table('secrets', secrets, 'client'),
  ],
  relationships: [relationship('lines.parent', 'secrets.id')],
});
let builder: Builder;
let place: Place;
let engine: Engine;
beforeAll(async () => {
  builder = await createBuilder('DUCKDB');
  place = await builder.build('names', [
    { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
    { name: 'lines', columns: lines, rows: [[1, 1]] },
    { name: 'secrets', columns: secrets, rows: [[1, 'a']] },
  ]);
  ({ engine } = createLoggedEngine());
});
afterAll(async () => {
  await engine.close();
  await builder.remove();
});

it("a guest's message has no names, the host's message has", async () => {
  const count = metric('lines', { measures: [{ name: 'n', aggregate: 'COUNT' }] });
  const asked = question(place, mart, 'a', count);
  const refusal = await refusalOf(() => guestReads(engine, stays).query(asked));
  expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'tenancy-join-types' });
  expect(refusal.message).not.toMatch(/lines|secrets/);
  expect((await refusalOf(() => engine.query(asked))).message).toContain('main.secrets.id');
});
