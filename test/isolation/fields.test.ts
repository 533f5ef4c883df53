/**
 * The fields that a guest may build on, over random datamarts: hidden names occur nowhere, and tables share a group
 * only if the engine finds the one way between them over tables that it may read.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findPath } from '../../src/engine/question/paths.js';
import type { Datamart, DatamartTable, TableRef } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { guestFields } from '../../src/model/guest/fields.js';
import { byClients, columnRef, datamart, relationship, table, tableRef } from '../engine/world.js';
import { countOfCases } from './count.js';

const seed = Number(process.env.ISOLATION_SEED ?? 20_261_123);
const numRuns = Math.ceil(countOfCases(2000, 2000) / 10);

const most = 7;
type Kind = 'open' | 'hidden' | 'unreadable';
type Case = {
  readonly kinds: readonly Kind[];
  readonly edges: readonly (readonly [number, number])[];
  readonly bound: readonly number[];
  readonly joinModel: 'single' | 'multi';
  /** The tenants' own table; null where clients are not separated by table. */
  readonly tenants: number | null;
};
const node = fc.nat(most - 1);
const aCase: fc.Arbitrary<Case> = fc.record({
  kinds: fc.array(fc.constantFrom<Kind>('open', 'open', 'open', 'hidden', 'unreadable'), {
    minLength: most,
    maxLength: most,
  }),
  edges: fc.array(fc.tuple(node, node), { maxLength: 8 }),
  bound: fc.array(node, { maxLength: 1 }),
  joinModel: fc.constantFrom('multi', 'multi', 'single'),
  tenants: fc.option(node, { freq: 2 }),
});

const nameOf = (index: number, kind: Kind): string => `${kind === 'open' ? 'shown' : 'secret'}${index}`;

const martOf = ({ kinds, edges, tenants }: Case): Datamart => {
  const tables = kinds.map((kind, index): DatamartTable => {
    const made = table(nameOf(index, kind), { id: 'BIGINT', open: 'VARCHAR', secret: 'VARCHAR' });
    const columns = made.columns.map((column) => ({ ...column, isHide: column.columnName === 'secret' }));
    return { ...made, columns, isHide: kind === 'hidden' };
  });
  const relationships = edges.map(([from, to], index) => {
    const [a, b] = [tables[from], tables[to]].map((one) => one?.tableName ?? '');
    return { ...relationship(`${a}.secret`, `${b}.id`), relationshipName: `secret${index}` };
  });
  const tableName = tenants === null ? undefined : tables[tenants]?.tableName;
  if (tableName === undefined) return datamart({ tables, relationships, tenancy: null });
  const owned = tables.map((one) => (one.tableName === tableName ? one : { ...one, clientColumn: 'secret' }));
  return datamart({ tables: owned, relationships, tenancy: { ...byClients(), tableName } });
};

const layerOf = (mart: Datamart) => ({
  feedback: 'secret',
  updatedAt: mart.updatedAt,
  tables: mart.tables.map(({ schemaName, tableName, columns }) => ({
    ...{ schemaName, tableName, description: `about ${tableName}`, synonyms: [`like ${tableName}`] },
    columns: columns.map(({ columnName }) => ({
      ...{ columnName, description: `about ${columnName}`, synonyms: [], columnType: null, isIdentifier: false },
    })),
  })),
});

/** The engine's own answer: the tables on the only path, or undefined. */
const pathOf = (mart: Datamart, a: TableRef, b: TableRef): readonly TableRef[] | undefined => {
  try {
    return [a, ...findPath(mart, a, b).map(({ far }) => far)];
  } catch {
    return undefined;
  }
};

test('no hidden name is told, and tables that share a group are those that the engine joins', () => {
  const tally = { listed: 0, joined: 0, apart: 0 };
  fc.assert(
    fc.property(aCase, (one) => {
      const mart = martOf(one);
      const refs = mart.tables.map(({ tableName }) => tableRef(tableName));
      const isReadable = (of: TableRef): boolean =>
        one.kinds[refs.findIndex((ref) => ref.tableName === of.tableName)] !== 'unreadable';
      const conditions = one.bound.map(
        (index): Condition => ({
          column: columnRef(`${refs[index]?.tableName}.secret`),
          predicate: { kind: 'oneOf', values: ['secret'] },
          restriction: 'always',
          isHidden: true,
        }),
      );
      const fields = guestFields({ datamart: mart, isReadable, joinModel: one.joinModel, conditions }, layerOf(mart));
      expect(JSON.stringify(fields)).not.toContain('secret');
      const mayJoin = (a: TableRef, b: TableRef): boolean => pathOf(mart, a, b)?.every(isReadable) ?? false;
      const mayRead = (a: TableRef): boolean =>
        conditions.every(({ column }) => mayJoin(a, column)) &&
        (one.joinModel === 'multi' || refs.every((b) => mayJoin(a, b) || isApart(mart, a, b)));
      const expected = refs.filter((ref, index) => one.kinds[index] === 'open' && mayRead(ref));
      expect(fields.tables.map(({ tableName }) => tableName)).toEqual(expected.map(({ tableName }) => tableName));
      for (const a of fields.tables) {
        for (const b of fields.tables) {
          if (a.joinGroup === b.joinGroup) expect(mayJoin(a, b)).toBe(true);
          // Through the tenants' own table, two tables may each be joined with a third, and not with each other.
          else if (one.tenants === null) expect(mayJoin(a, b)).toBe(false);
          tally[mayJoin(a, b) ? 'joined' : 'apart'] += a === b ? 0 : 1;
        }
      }
      tally.listed += fields.tables.length;
    }),
    { seed, numRuns },
  );
  expect(Math.min(tally.joined, tally.apart)).toBeGreaterThan(numRuns / 2);
});

/** Whether no relationship leads from one table to the other. */
const isApart = ({ relationships }: Datamart, a: TableRef, b: TableRef): boolean => {
  const reached = new Set([a.tableName]);
  for (const near of reached) {
    for (const { parent, child } of relationships) {
      if (parent.tableName === near) reached.add(child.tableName);
      if (child.tableName === near) reached.add(parent.tableName);
    }
  }
  return !reached.has(b.tableName);
};
