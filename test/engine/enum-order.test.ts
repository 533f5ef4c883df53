/** The values of an enum keep the order of their declaration, on every database that has enums. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, type Kind } from './test-databases.js';
import {
  at,
  byClients,
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  table,
} from './world.js';

const declared = ['todo', 'doing', 'done', 'abandoned'];
const texts = declared.map((value) => `'${value}'`).join(', ');
const creations: Readonly<Record<Kind, readonly string[]>> = {
  DUCKDB: [`CREATE TABLE tickets (client VARCHAR, stage ENUM(${texts}))`],
  POSTGRES: [
    `CREATE TYPE public.stage AS ENUM (${texts})`,
    'CREATE DOMAIN public.stage_of_ticket AS public.stage',
    'CREATE TABLE tickets (client VARCHAR(9), stage public.stage_of_ticket)',
  ],
  MYSQL: [`CREATE TABLE tickets (client VARCHAR(9), stage ENUM(${texts}))`],
  CLICKHOUSE: [`CREATE TABLE tickets (client String, stage Enum8(${texts})) ENGINE = MergeTree ORDER BY tuple()`],
  SQLITE: ['CREATE TABLE tickets (client TEXT, stage TEXT)'],
};

const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('tickets', { client: 'VARCHAR', stage: 'VARCHAR' }, 'client'),
  ],
});

/** SQLite has no type of a closed list. */
const ofOwnTypes = (await findKinds()).filter((kind) => kind !== 'SQLITE');

describe.each(ofOwnTypes)('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('stages', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      ...creations[kind],
      `INSERT INTO tickets VALUES ${declared
        .toSorted()
        .map((value) => `('a', '${value}')`)
        .join(', ')}`,
    ]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const stage = columnRef('tickets.stage');
  const grouped = metric('tickets', {
    dimensions: [{ name: 'Stage', column: stage }],
    measures: [{ name: 'n', aggregate: 'COUNT' }],
  });

  it('lists the column as an enum', async () => {
    const tables = await engine.introspect(place.datasource);
    const columns = tables.find(({ tableName }) => tableName === 'tickets')?.columns;
    expect(columns?.map(({ columnName, kind: of }) => [columnName, of])).toContainEqual(['stage', 'enum']);
  });

  it('sorts a chart of the column as the enum is declared, in both directions', async () => {
    for (const direction of ['ASC', 'DESC'] as const) {
      const definition = at(place, { ...grouped, sort: [{ name: 'Stage', direction }] });
      const { rows } = await engine.query(question(place, mart, 'a', definition));
      expect(rows.map((row) => row.Stage)).toEqual(direction === 'ASC' ? declared : declared.toReversed());
    }
  });

  it('lists the options of a filter as the enum is declared', async () => {
    const { sort: _, offset: __, ...asked } = question(place, mart, 'a', grouped);
    expect(await engine.options({ ...asked, column: at(place, stage), search: null })).toEqual(declared);
  });
});
