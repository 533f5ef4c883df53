import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import {
  completionScore,
  type SemanticTable,
  scoreWeights,
  type TableNotes,
  viewSemanticTables,
} from '../../src/model/datamart/semantic-layer.js';
import { writeSemanticTables } from '../../src/model/datamart/semantic-notes.js';

const maybeText = fc.option(fc.constantFrom('x', 'y'), { nil: null });

const table: fc.Arbitrary<SemanticTable> = fc.record({
  schemaName: fc.constant('main'),
  tableName: fc.constantFrom('a', 'b'),
  description: maybeText,
  synonyms: fc.array(fc.constantFrom('s', 't'), { maxLength: 2 }),
  columns: fc.array(
    fc.record({
      columnName: fc.constantFrom('c', 'd'),
      description: maybeText,
      synonyms: fc.array(fc.constantFrom('s', 't'), { maxLength: 2 }),
      columnType: fc.option(fc.constantFrom('Number', 'ENUM'), { nil: null }),
      isIdentifier: fc.boolean(),
    }),
    { minLength: 1, maxLength: 7 },
  ),
});
const tables = fc.array(table, { minLength: 1, maxLength: 6 });

const fill = (item: SemanticTable): SemanticTable => ({
  ...item,
  description: 'x',
  synonyms: ['s'],
  columns: item.columns.map((column) => ({ ...column, description: 'x', synonyms: ['s'], columnType: 'Number' })),
});
const clear = (item: SemanticTable): SemanticTable => ({
  ...item,
  description: null,
  synonyms: [],
  columns: item.columns.map((column) => ({ ...column, description: null, synonyms: [], columnType: null })),
});

/** Returns one variant of the layers for each optional part; that part is filled in it. */
const grown = (all: readonly SemanticTable[]): readonly (readonly SemanticTable[])[] =>
  all.flatMap((item, index) => {
    const put = (next: SemanticTable) => all.map((other, at) => (at === index ? next : other));
    return [
      put({ ...item, description: 'x' }),
      put({ ...item, synonyms: ['s'] }),
      ...item.columns.flatMap((column, at) => {
        const set = (parts: object) =>
          put({
            ...item,
            columns: item.columns.map((other, place) => (place === at ? { ...column, ...parts } : other)),
          });
        return [set({ description: 'x' }), set({ synonyms: ['s'] }), set({ columnType: 'Number' })];
      }),
    ];
  });

describe('completionScore', () => {
  test('the weights of completionScore are together 100', () => {
    expect(Object.values(scoreWeights).reduce((sum, weight) => sum + weight, 0)).toBe(100);
  });

  test('is a whole number from 0 to 100, and never less for more', () => {
    fc.assert(
      fc.property(tables, maybeText, (all, feedback) => {
        const score = completionScore(all, feedback);
        expect(Number.isInteger(score) && score >= 0 && score <= 100).toBe(true);
        expect(completionScore(all, 'x')).toBeGreaterThanOrEqual(score);
        for (const more of grown(all)) expect(completionScore(more, feedback)).toBeGreaterThanOrEqual(score);
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  test('is 0 when nothing is filled and only then, 100 when everything is and only then', () => {
    fc.assert(
      fc.property(tables, maybeText, (all, feedback) => {
        expect(completionScore(all.map(clear), null)).toBe(0);
        expect(completionScore(all.map(fill), 'x')).toBe(100);
        const isEmpty = feedback === null && JSON.stringify(all.map(clear)) === JSON.stringify(all);
        expect(completionScore(all, feedback) === 0).toBe(isEmpty);
        for (const [index] of all.entries()) {
          const gap = all.map((item, at) => (at === index ? { ...fill(item), description: null } : fill(item)));
          expect(completionScore(gap, 'x')).toBeLessThan(100);
        }
      }),
      { seed: 12, numRuns: 300 },
    );
  });

  test('one gap among a thousand columns is a gap', () => {
    const column = { columnName: 'c', description: 'x', synonyms: ['s'], columnType: 'Number', isIdentifier: false };
    const rest = Array.from({ length: 999 }, (_, index) => ({ ...column, columnName: `c${index}` }));
    const all = (first: object): readonly SemanticTable[] => [
      {
        schemaName: 'main',
        tableName: 't',
        description: 'x',
        synonyms: ['s'],
        columns: [{ ...column, ...first }, ...rest],
      },
    ];
    expect(completionScore(all({}), 'x')).toBe(100);
    for (const gap of [{ description: null }, { synonyms: [] }, { columnType: null }]) {
      expect(completionScore(all(gap), 'x')).toBe(99);
    }
  });

  test('a datamart without tables scores its feedback at most', () => {
    expect([completionScore([], null), completionScore([], 'x')]).toEqual([0, scoreWeights.feedback]);
  });
});

describe('notes', () => {
  const column = (columnName: string, parts: object = {}) => ({
    columnName,
    datatype: 'BIGINT',
    alias: '',
    label: '',
    isHide: false,
    isApplyTimezone: false,
    ...parts,
  });
  const datamart = (...columns: ReturnType<typeof column>[]): Pick<Datamart, 'tables'> => ({
    tables: [{ schemaName: 'main', tableName: 't', label: '', clientColumn: null, isHide: false, columns }],
  });
  const write = (mart: Pick<Datamart, 'tables'>, notes: TableNotes) => ({
    tables: writeSemanticTables(mart, undefined, [notes]),
    feedback: null,
    updatedAt: new Date(0),
  });

  test('notes of a custom column take every type: nobody knows yet what it holds', () => {
    const mart = datamart(column('c', { isCustomColumn: true, datatype: '' }));
    const layer = write(mart, { name: 't', columns: [{ name: 'c', columnType: 'Range' }] });
    expect(viewSemanticTables(mart, layer)[0]?.columns[0]?.columnType).toBe('Range');
    expect(() => write(mart, { name: 't', columns: [{ name: 'c', columnType: 'Other' }] })).toThrow(/one of String/);
  });

  test('a column type that no longer goes with the datatype is not read', () => {
    const layer = write(datamart(column('c')), { name: 't', columns: [{ name: 'c', columnType: 'Number' }] });
    const changed = datamart(column('c', { datatype: 'VARCHAR' }));
    expect(viewSemanticTables(changed, layer)[0]?.columns[0]?.columnType).toBeNull();
  });

  test('only what says something is kept', () => {
    const mart = datamart(column('c'), column('d'));
    expect(write(mart, { name: 't', columns: [{ name: 'd' }] }).tables).toEqual([]);
    const [kept] = write(mart, { name: 't', columns: [{ name: 'd', isIdentifier: true }] }).tables;
    expect(kept?.columns.map(({ columnName }) => columnName)).toEqual(['d']);
  });

  test('names of the prototype are no tables, columns or types', () => {
    const mart = datamart(column('c'));
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(() => write(mart, { name })).toThrow(/expected a table/);
      expect(() => write(mart, { name: 't', columns: [{ name }] })).toThrow(/expected a column/);
      expect(() => write(mart, { name: 't', columns: [{ name: 'c', columnType: name }] })).toThrow(/expected one of/);
    }
  });
});
