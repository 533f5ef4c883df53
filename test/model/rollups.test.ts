/** What a declaration of rollups accepts, and what its faults say. */
import { describe, expect, it } from 'vitest';
import { changeParts, type DatamartChanges, type DatamartParts, noParts } from '../../src/model/datamart/changes.js';
import type { RollupDraft } from '../../src/model/datamart/rollups.js';
import type { SourceColumn, SourceTable } from '../../src/model/datamart/source-schema.js';
import { viewSource } from '../../src/model/datamart/tables.js';
import { Refusal } from '../../src/model/refusal.js';

const columns: readonly (readonly [string, string, SourceColumn['kind']])[] = [
  ['id', 'BIGINT', 'integer'],
  ['client', 'VARCHAR', 'text'],
  ['region', 'VARCHAR', 'text'],
  ['state', "ENUM('a')", 'enum'],
  ['sold', 'DATE', 'date'],
  ['at', 'TIMESTAMP', 'date'],
  ['amount', 'BIGINT', 'integer'],
  ['cents', 'BIGINT', 'integer'],
  ['note', 'JSON', 'json'],
];
const tableOf = (schemaName: string, tableName: string): SourceTable => ({
  ...{ schemaName, tableName, primaryKey: ['id'], uniqueKeys: [], foreignKeys: [] },
  columns: columns.map(([columnName, datatype, kind]) => ({ columnName, datatype, kind, isNullable: true })),
});
const schema = [tableOf('main', 'sales'), tableOf('main', 'lines'), tableOf('main', 'clients'), tableOf('b', 'lines')];
const source = viewSource({ id: 'd', name: 'd', syncedAt: null, datasourceType: 'DUCKDB', path: 'x' }, schema);

const listed = (name: string, parts: object = {}) => ({
  name,
  columns: [
    ...columns.map(([column]) => ({ name: column, ...(column === 'cents' ? { numbers: { scale: 2 } } : {}) })),
    { name: 'twice', isCustomColumn: true, sql: 'amount * 2' },
  ],
  ...parts,
});
const tableList = [listed('sales', { clientColumn: 'client' }), listed('lines'), listed('clients')];
const tenancySettings = {
  tenancyLevel: 'TABLE',
  clientColumnType: 'STRING',
  schemaName: 'main',
  tableName: 'clients',
  tableClientNameColumn: 'region',
  tablePrimaryKeyColumn: 'client',
} as const;

const rollup: RollupDraft = {
  name: 'by day',
  from: 'sales',
  dimensions: ['region'],
  grain: 'day',
  measures: [{ aggregate: 'SUM', column: 'amount' }],
  partition: { column: 'sold', by: 'month', closesAfterHours: 24 },
  refresh: { everyMinutes: 60, again: 1 },
};

const write = (rollups: readonly RollupDraft[], changes: DatamartChanges = {}, before: DatamartParts = noParts) =>
  changeParts(before, { tableList, tenancySettings, rollups, ...changes }, source);
const faultOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  throw new Error('the write was accepted');
};

describe('a declaration of rollups', () => {
  it('is stored with the table that its name means', () => {
    const [stored] = write([rollup]).rollups ?? [];
    expect(stored).toEqual({ ...rollup, from: { schemaName: 'main', tableName: 'sales' } });
  });

  it('may be of the client master table and of a shared table', () => {
    expect(write([{ ...rollup, from: 'main.clients' }]).rollups).toHaveLength(1);
    expect(write([{ ...rollup, from: 'lines' }], { sharedTables: ['lines'] }).rollups).toHaveLength(1);
  });

  it.each<[string, Partial<RollupDraft>, string]>([
    ['an unknown table', { from: 'sale' }, 'rollups[0].from: got string "sale", expected a table of the datamart'],
    ['a table without a client column', { from: 'lines' }, 'the column that says whose a row is'],
    ['an unknown column', { dimensions: ['zone'] }, 'rollups[0].dimensions[0]: got string "zone"'],
    ['an expression', { dimensions: ['twice'] }, 'a rollup holds no expressions'],
    ['an expression to sum', { measures: [{ aggregate: 'SUM', column: 'twice' }] }, 'a rollup holds no expressions'],
    ['a column with a scale', { measures: [{ aggregate: 'SUM', column: 'cents' }] }, 'a column without a scale'],
    ['a sum of texts', { measures: [{ aggregate: 'SUM', column: 'region' }] }, 'expected a column of numbers'],
    ['the least of texts', { measures: [{ aggregate: 'MIN', column: 'region' }] }, 'a column of numbers or dates'],
    ['groups of JSON', { dimensions: ['note'] }, 'a column of texts, whole or exact numbers or dates'],
    ['groups of a closed list', { dimensions: ['state'] }, 'a column of texts, whole or exact numbers or dates'],
    ['a column named twice', { dimensions: ['region', 'region'] }, 'rollups[0].dimensions[1]: got string "region"'],
    ['its time as a dimension', { dimensions: ['sold'] }, 'partition.column is grouped by grain'],
    ['hours of days', { grain: 'hour' }, 'rollups[0].grain: got string "hour"'],
    [
      'months in files of days',
      { grain: 'month', partition: { ...rollup.partition, by: 'day' } },
      'rollups[0].partition.by: got string "day", expected month or longer',
    ],
    ['a time that is none', { partition: { ...rollup.partition, column: 'region' } }, 'expected a column of dates'],
    [
      'a measure named twice',
      { measures: [rollup.measures[0], rollup.measures[0]] as RollupDraft['measures'] },
      'rollups[0].measures[1].column',
    ],
  ])('is refused with its place for %s', (_, parts, words) => {
    expect(faultOf(() => write([{ ...rollup, ...parts }]))).toContain(words);
  });

  it('is refused where two rollups have one name', () => {
    expect(faultOf(() => write([rollup, { ...rollup, from: 'clients' }]))).toContain('rollups[1].name: got string');
  });

  it('is refused where each client has tables of its own', () => {
    const tenancy = { tenancyLevel: 'DATABASE', primaryDatabase: null } as const;
    expect(faultOf(() => write([rollup], { tenancySettings: tenancy }))).toContain('each client has tables of its own');
  });

  it('is kept by a change without rollups, and removed by an empty list', () => {
    const before = write([rollup]);
    expect(changeParts(before, { cacheTtlSeconds: 5 }, undefined).rollups).toEqual(before.rollups);
    expect(changeParts(before, { rollups: [] }, undefined).rollups).toEqual([]);
  });

  it('keeps a change from taking away a column that it needs', () => {
    const before = write([rollup]);
    const [sales, ...others] = tableList;
    const without = {
      ...sales,
      name: 'sales',
      columns: (sales?.columns ?? []).filter(({ name }) => name !== 'region'),
    };
    const fault = faultOf(() => changeParts(before, { tableList: [without, ...others] }, source));
    expect(fault).toMatch(/tableList: the kept rollup "by day" no longer fits .*region.*send rollups without it/);
  });
});
