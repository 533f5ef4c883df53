/** A tinyint(1) of MySQL holds numbers, unless the author declares a boolean (metabase#3506). */
import { describe, expect, it } from 'vitest';
import { columnKind } from '../../src/model/datamart/datatypes.js';
import { type ColumnDraft, type SourceView, tableListFaults, tablesOf } from '../../src/model/datamart/tables.js';
import { table } from '../engine/world.js';

const columns = [
  { columnName: 'flag', datatype: 'tinyint(1)', kind: 'integer', isNullable: true },
  { columnName: 'count', datatype: 'int(11)', kind: 'integer', isNullable: true },
] as const;
const source: SourceView = {
  defaultSchema: 'main',
  find: () => ({ schemaName: 'main', tableName: 't', columns, primaryKey: [], uniqueKeys: [], foreignKeys: [] }),
  findLike: () => undefined,
};
const draft = (column: Partial<ColumnDraft>) => [{ name: 't', columns: [{ name: 'flag', ...column }] }];
const kindAfter = (column: Partial<ColumnDraft>, stored = tablesOf([], source)) =>
  tablesOf(draft(column), source, stored).flatMap((one) => one.columns.map(columnKind));
const declared = tablesOf(draft({ isBoolean: true }), source);

describe('a column of tinyint(1)', () => {
  it('of a new datamart holds numbers, and booleans where that is declared', () => {
    expect(kindAfter({})).toEqual(['integer']);
    expect(kindAfter({ isBoolean: true })).toEqual(['boolean']);
  });

  it('stays what the stored datamart says until a change says otherwise', () => {
    const earlier = [table('t', { flag: 'tinyint(1)' })];
    for (const stored of [earlier, declared]) {
      expect(kindAfter({}, stored)).toEqual(['boolean']);
      expect(kindAfter({ isBoolean: false }, stored)).toEqual(['integer']);
    }
  });

  it('is the only one that may be declared a boolean', () => {
    expect(tableListFaults(draft({ isBoolean: true }), source)).toEqual([]);
    const [fault] = tableListFaults(draft({ name: 'count', isBoolean: true }), source);
    expect(fault).toContain('tableList[0].columns[0].isBoolean');
    expect(fault).toContain('int(11)');
  });
});
