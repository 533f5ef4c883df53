import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  changeParts,
  type DatamartChanges,
  type DatamartParts,
  needsSource,
  noParts,
} from '../../src/model/datamart/changes.js';
import type { Tenancy } from '../../src/model/datamart/datamart.js';
import { draftRelationships, nameTables } from '../../src/model/datamart/relationships.js';
import type { SourceTable } from '../../src/model/datamart/source-schema.js';
import { defaultSchemaOf, type TableDraft, viewSource } from '../../src/model/datamart/tables.js';
import type { Datasource, ServerConnection } from '../../src/model/organization.js';
import { Refusal } from '../../src/model/refusal.js';

const datasource: Datasource = { id: 'd', name: 'd', syncedAt: null, datasourceType: 'DUCKDB', path: 'x' };
const sourceTable = (schemaName: string, tableName: string): SourceTable => ({
  schemaName,
  tableName,
  columns: [
    { columnName: 'id', datatype: 'VARCHAR', isNullable: false },
    { columnName: 'n', datatype: 'BIGINT', isNullable: true },
    { columnName: 'at', datatype: 'TIMESTAMP', isNullable: true },
  ],
  primaryKey: [],
  uniqueKeys: [],
  foreignKeys: [],
});
const source = viewSource(datasource, [sourceTable('main', 'a'), sourceTable('main', 'b'), sourceTable('eu', 'a')]);

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const columnDraft = fc.record({
  name: fc.constantFrom('id', 'n', 'at'),
  alias: optional(fc.constantFrom('', 'x')),
  isHide: optional(fc.boolean()),
  allowAggregate: optional(fc.boolean()),
  defaultAggregation: optional(fc.constantFrom('SUM', null)),
  isApplyTimezone: optional(fc.boolean()),
  defaultSort: optional(fc.constantFrom('ASC' as const, 'DESC' as const, '' as const, null)),
});

const tableDraft = fc.record({
  ref: fc.constantFrom(['a', undefined], ['b', 'main'], ['a', 'eu']),
  clientColumn: optional(fc.constantFrom('id', 'n', null)),
  // Rarely, since most paths name no relationship and are refused.
  tenancyPath: fc.constantFrom(...Array<undefined>(9).fill(undefined), 'r1', 'r2', null),
  label: optional(fc.constantFrom('', 'Label')),
  isHide: optional(fc.boolean()),
  columns: fc.uniqueArray(columnDraft, { minLength: 1, selector: ({ name }) => name }),
});

const tableList = fc
  .uniqueArray(tableDraft, { selector: ({ ref }) => ref.join('.') })
  .map((drafts) =>
    drafts.map(({ ref: [name = '', schemaName], ...rest }): TableDraft => ({ name, schemaName, ...rest })),
  );

const relationshipDraft = fc.record({
  parentTableName: fc.constantFrom('main.a', 'eu.a', 'b'),
  parentColumnName: fc.constantFrom('id', 'n'),
  childTableName: fc.constantFrom('main.a', 'eu.a', 'b'),
  childColumnName: fc.constantFrom('id', 'n'),
  relationshipName: fc.constantFrom('r1', 'r2', 'r3'),
  cardinality: optional(fc.constantFrom('ManyToOne' as const, null)),
  join: optional(fc.constantFrom('INNER JOIN' as const, null)),
});

const master = fc.record({
  clientColumnType: fc.constantFrom('NUMBER' as const, 'STRING' as const),
  schemaName: fc.constantFrom('main', 'eu'),
  tableName: fc.constantFrom('a', 'b'),
  tableClientNameColumn: fc.constantFrom('id', 'at'),
  tablePrimaryKeyColumn: fc.constantFrom('id', 'n', 'at'),
});
const primaryDatabase = optional(fc.constantFrom('one', 'two', null));

const tenancySettings = fc.oneof(
  fc.tuple(master, primaryDatabase).map(([fields, database]) => ({
    ...fields,
    tenancyLevel: 'TABLE' as const,
    primaryDatabase: database,
  })),
  fc.record(
    {
      tenancyLevel: fc.constantFrom('DATABASE' as const, 'MULTI_DATABASE' as const),
      primaryDatabase,
      tableName: fc.constantFrom('a', 'kept'),
    },
    { requiredKeys: ['tenancyLevel'] },
  ),
  fc.record(
    { tableClientNameColumn: fc.constantFrom('id', 'at'), primaryDatabase: fc.constantFrom('three', null) },
    { requiredKeys: [] },
  ),
);

const changes: fc.Arbitrary<DatamartChanges> = fc.record({
  tableList: optional(tableList),
  tenancySettings: optional(tenancySettings),
  relationships: optional(fc.array(relationshipDraft, { maxLength: 3 })),
  sharedTables: optional(fc.subarray(['main.a', 'eu.a', 'b', 'main.b'])),
});

/** A simple model of the specification: a datamart's fields as the list shows them. */
type Model = {
  readonly tables: readonly object[];
  readonly names: readonly string[];
  readonly clientColumns: readonly string[];
  readonly paths: readonly { readonly table: string; readonly path: string; readonly hasColumn: boolean }[];
  readonly tenancy: Readonly<Record<string, unknown>> | null;
  readonly relationships: readonly Readonly<Record<string, unknown>>[];
  readonly sharedTables: readonly string[];
};

const emptyModel: Model = {
  tables: [],
  names: [],
  clientColumns: [],
  paths: [],
  tenancy: null,
  relationships: [],
  sharedTables: [],
};

const given = (fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const datatypes: Readonly<Record<string, string>> = { id: 'VARCHAR', n: 'BIGINT', at: 'TIMESTAMP' };

const modelTables = (list: readonly TableDraft[]): Pick<Model, 'tables' | 'names' | 'clientColumns' | 'paths'> => ({
  names: list.flatMap(({ name, schemaName = 'main', columns }) =>
    columns.map((column) => `${schemaName}.${name}.${column.name}`),
  ),
  clientColumns: list.flatMap(({ clientColumn }) => clientColumn ?? []),
  paths: list.flatMap(({ name, schemaName = 'main', tenancyPath, clientColumn }) =>
    tenancyPath == null
      ? []
      : [{ table: `${schemaName}.${name}`, path: tenancyPath, hasColumn: typeof clientColumn === 'string' }],
  ),
  tables: list.map(({ name, schemaName = 'main', columns, ...rest }) => ({
    label: '',
    clientColumn: null,
    tenancyPath: null,
    isHide: false,
    wildcard: null,
    ...given(rest),
    schemaName,
    tableName: name,
    columns: columns.map(({ name: columnName, ...column }) => ({
      alias: '',
      label: '',
      isHide: false,
      isApplyTimezone: false,
      isCustomColumn: false,
      sql: '',
      isAggregate: false,
      allowAggregate: false,
      defaultAggregation: null,
      ...given(column),
      defaultSort: column.defaultSort || null,
      defaultGrain: null,
      numbers: null,
      dates: null,
      columnName,
      datatype: datatypes[columnName],
    })),
  })),
});

const modelTenancy = (current: Model['tenancy'], settings: object & { readonly tenancyLevel?: string | undefined }) => {
  const { primaryDatabase: kept, ...rest } = current ?? {};
  const { primaryDatabase: sent, ...named } = given(settings) as { primaryDatabase?: unknown };
  const next: Record<string, unknown> = { ...rest, ...named };
  if (next.tenancyLevel === 'TABLE') return next;
  return {
    ...next,
    primaryDatabase: settings.tenancyLevel === undefined ? null : sent === undefined ? (kept ?? null) : sent,
  };
};

/** Returns the model after the changes, or `refused`. */
const step = (model: Model, change: DatamartChanges): Model | 'refused' => {
  const tables = change.tableList === undefined ? model : modelTables(change.tableList);
  const settings = change.tenancySettings;
  if (settings !== undefined && settings.tenancyLevel === undefined && model.tenancy === null) return 'refused';
  const tenancy = settings === undefined ? model.tenancy : modelTenancy(model.tenancy, settings);
  if (tenancy?.tenancyLevel === 'TABLE' && (settings !== undefined || change.tableList !== undefined)) {
    const wanted = tenancy.clientColumnType === 'NUMBER' ? 'n' : 'id';
    if (tables.clientColumns.some((column) => column !== wanted)) return 'refused';
    if (settings !== undefined && tenancy.tablePrimaryKeyColumn !== wanted) return 'refused';
    if (settings !== undefined && tenancy.schemaName === 'eu' && tenancy.tableName === 'b') return 'refused';
  }
  const full = (name: string): string => (name.includes('.') ? name : `main.${name}`);
  const relationships: Model['relationships'] =
    change.relationships?.map((item) => ({
      cardinality: null,
      join: null,
      ...given(item),
      parentTableName: full(item.parentTableName),
      childTableName: full(item.childTableName),
    })) ?? model.relationships;
  const relationshipNames = relationships.map((item) => item.relationshipName);
  if (new Set(relationshipNames).size < relationshipNames.length) return 'refused';
  const { names } = tables;
  const ends = relationships.flatMap((item) => [
    `${item.parentTableName}.${item.parentColumnName}`,
    `${item.childTableName}.${item.childColumnName}`,
  ]);
  const sharedTables = change.sharedTables ?? model.sharedTables;
  if (ends.some((end) => !names.includes(end))) return 'refused';
  if (sharedTables.some((name) => !names.some((column) => column.startsWith(`${full(name)}.`)))) return 'refused';
  const isTwofold = tables.paths.some(
    ({ table, path, hasColumn }) =>
      hasColumn ||
      sharedTables.some((name) => full(name) === table) ||
      !relationships.some(
        (item) =>
          item.relationshipName === path && (item.parentTableName === table) !== (item.childTableName === table),
      ),
  );
  if (isTwofold) return 'refused';
  return { ...tables, tenancy, relationships, sharedTables };
};

const flat = ({ tables, tenancy, relationships, sharedTables }: DatamartParts) => ({
  tables,
  tenancy,
  sharedTables,
  relationships: relationships.map(({ parent, child, ...rest }) => ({
    ...rest,
    parentTableName: `${parent.schemaName}.${parent.tableName}`,
    parentColumnName: parent.columnName,
    childTableName: `${child.schemaName}.${child.tableName}`,
    childColumnName: child.columnName,
  })),
});

describe('a run of changes keeps, replaces and clears as the specification says', () => {
  test('a run of changes keeps, replaces and clears as a model of the specification says', () => {
    const seen = { applied: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 8 }), (run) => {
        let [parts, model]: [DatamartParts, Model] = [noParts, emptyModel];
        for (const change of run) {
          const next = step(model, change);
          if (next === 'refused') {
            seen.refused += 1;
            expect(() => changeParts(parts, change, source)).toThrow(Refusal);
            continue;
          }
          seen.applied += 1;
          parts = changeParts(parts, change, needsSource(change) ? source : undefined);
          model = next;
          const { names: _, clientColumns: __, paths: ___, ...shown } = model;
          expect(flat(parts)).toEqual(shown);
        }
      }),
      { seed: 9, numRuns: 600 },
    );
    // Both outcomes must occur: a model that refused everything would always agree.
    expect(Math.min(seen.applied, seen.refused)).toBeGreaterThan(300);
  });
});

describe('tenancy', () => {
  const table: Tenancy = {
    tenancyLevel: 'TABLE',
    clientColumnType: 'STRING',
    schemaName: 'main',
    tableName: 'a',
    tableClientNameColumn: 'id',
    tablePrimaryKeyColumn: 'id',
  };

  test('tenancy may change from TABLE to DATABASE and back', () => {
    const first = changeParts(
      { ...noParts, tenancy: table },
      { tenancySettings: { tenancyLevel: 'DATABASE', primaryDatabase: 'x' } },
      undefined,
    );
    expect(first.tenancy).toEqual({ ...table, tenancyLevel: 'DATABASE', primaryDatabase: 'x' });
    const second = changeParts(first, { tenancySettings: { ...table, primaryDatabase: 'y' } }, source);
    expect(second.tenancy).toEqual(table);
  });
});

describe('names of tables', () => {
  test('a listed name reads back as the same table, whatever dots it has', () => {
    const name = fc.constantFrom('a', 'b', 'a.b', 'b.a', 'a.b.a');
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ schemaName: name, tableName: name }), { selector: (item) => JSON.stringify(item) }),
        (refs) => {
          const tables = refs.map((ref) => ({ ...ref, label: '', clientColumn: null, isHide: false, columns: [] }));
          const named = nameTables(tables);
          for (const item of tables) {
            const end = { ...item, columnName: 'k' };
            const [draft] = draftRelationships(
              [{ relationshipName: 'r', parent: end, child: end, cardinality: null, join: null }],
              named,
            );
            const meant = named.get(draft?.parentTableName ?? '') ?? [];
            // An ambiguous name must never select the wrong item.
            expect(meant).toContain(item);
          }
        },
      ),
    );
  });
});

describe('the schema of tables that name none', () => {
  const server = (parts: Partial<ServerConnection>): Datasource => ({
    id: 'd',
    name: 'd',
    syncedAt: null,
    datasourceType: 'POSTGRES',
    host: 'h',
    port: 1,
    username: 'u',
    password: 'p',
    database: 'base',
    schema: null,
    isSsl: false,
    ...parts,
  });

  test.each<[string, Datasource, string]>([
    ['main on DuckDB', datasource, 'main'],
    ['public on PostgreSQL', server({}), 'public'],
    ["the connection's on PostgreSQL", server({ schema: 'sales' }), 'sales'],
    ['the database on MySQL', server({ datasourceType: 'MYSQL', schema: 'other' }), 'base'],
  ])('the schema of tables that name none is %s', (_, of, expected) => {
    expect(defaultSchemaOf(of)).toBe(expected);
  });
});
