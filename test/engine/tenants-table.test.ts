/** Projects and invoices both have a key of the organizations that are the tenants, and invoices one of projects. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder } from './test-databases.js';
import {
  byClients,
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  relationship,
  table,
} from './world.js';

const data = [
  {
    name: 'organizations',
    columns: { id: 'VARCHAR', name: 'VARCHAR' },
    rows: [
      ['acme', 'Acme'],
      ['other', 'Other'],
    ],
  },
  {
    name: 'projects',
    columns: { id: 'BIGINT', organization: 'VARCHAR', name: 'VARCHAR' },
    rows: [
      [1, 'acme', 'Bridge'],
      [2, 'acme', 'Tunnel'],
      [3, 'other', 'Secret'],
    ],
  },
  {
    name: 'invoices',
    columns: { id: 'BIGINT', organization: 'VARCHAR', project: 'BIGINT' },
    rows: [
      [1, 'acme', 1],
      [2, 'acme', 1],
      [3, 'acme', 2],
      [4, 'acme', null],
      [5, 'other', 3],
    ],
  },
];
const mart = datamart({
  tenancy: { ...byClients(), tableName: 'organizations' },
  tables: data.map(({ name, columns }) => table(name, columns, name === 'organizations' ? null : 'organization')),
  relationships: [
    relationship('invoices.project', 'projects.id', 'LEFT JOIN', 'ManyToOne'),
    relationship('invoices.organization', 'organizations.id', 'LEFT JOIN', 'ManyToOne'),
    relationship('projects.organization', 'organizations.id', 'LEFT JOIN', 'ManyToOne'),
  ],
});

let builder: Builder;
let place: Place;
let engine: Engine;
beforeAll(async () => {
  builder = await createBuilder('DUCKDB');
  place = await builder.build('projects', data);
  ({ engine } = createLoggedEngine());
});
afterAll(() => builder.remove());

const countBy = async (column: string, parts: Parameters<typeof question>[4] = {}) => {
  const definition = metric('invoices', {
    dimensions: [{ name: 'name', column: columnRef(column) }],
    measures: [{ name: 'n', aggregate: 'COUNT' }],
  });
  const { rows } = await engine.query(question(place, mart, 'acme', definition, parts));
  return rows.map(({ name, n }) => [name, n]);
};

it('each invoice counts at its own project, and not at every project of its tenant', async () => {
  expect(await countBy('projects.name')).toEqual([
    ['Bridge', 2],
    ['Tunnel', 1],
    [null, 1],
  ]);
  expect(await countBy('organizations.name')).toEqual([['Acme', 4]]);
});

it('a filter of projects leaves the invoices of those projects', async () => {
  const conditions = [
    { column: columnRef('projects.name'), predicate: { kind: 'oneOf' as const, values: ['Tunnel'] } },
  ];
  expect(await countBy('organizations.name', { conditions })).toEqual([['Acme', 1]]);
});
