/** A new model in Studio proposes what `guestlist init` takes for the same tables, and says anew what follows from each choice. */
import { describe, expect, test } from 'vitest';
import { askClientColumn, askTenantTable } from '../../src/cli/init/questions.js';
import { qualifiedName, sameTable, type TableRef } from '../../src/model/datamart/datamart.js';
import { draftByBestWays } from '../../src/model/datamart/model-draft.js';
import { proposeModel } from '../../src/model/datamart/proposed-model.js';
import type { SourceTable } from '../../src/model/datamart/source-schema.js';
import { listDatasourceTables, type SourceTables } from '../../src/service/datasources/contract/tables.js';
import { bodyOf } from '../../src/web/studio/base/drafted-model.js';
import { proposedModel, withTable, withTenants, withWay } from '../../src/web/studio/base/model-draft.js';
import type { Catalogue } from '../../src/web/studio/base/source-tables.js';

/** A table by its columns; `?` where one may be NULL, and the table after `>` that it refers to by a key. */
const table = (tableName: string, columns: Readonly<Record<string, string>>): SourceTable => ({
  ...{ schemaName: 'clinic', tableName, kind: 'table', primaryKey: ['id'], uniqueKeys: [], estimatedRows: null },
  columns: Object.entries({ id: 'integer', ...columns }).map(([columnName, text]) => {
    const datatype = text.replace(/\?|>.*$/g, '').trim();
    return { columnName, datatype, kind: datatype === 'integer' ? 'integer' : 'text', isNullable: text.includes('?') };
  }),
  foreignKeys: Object.entries(columns).flatMap(([column, text]) => {
    const other = text.split('> ')[1];
    const references = { schemaName: 'clinic', tableName: other ?? '' };
    return other === undefined ? [] : [{ columns: [column], references, referencedColumns: ['id'] }];
  }),
});

const practice = 'integer > practices';
/** Nothing is named like tenants. Invoices lead to the practice by a column of their own, and by three other ways. */
const clinic = [
  table('practices', { name: 'text' }),
  table('pet_owners', { practice_id: practice, name: 'text' }),
  table('departments', { practice_id: practice, name: 'text' }),
  table('animals', { owner_id: 'integer > pet_owners', name: 'text' }),
  table('visits', { animal_id: 'integer > animals', department_id: 'integer > departments', status: 'text' }),
  table('invoices', { practice_id: practice, owner_id: 'integer > pet_owners', visit_id: 'integer? > visits' }),
  table('invoice_lines', { invoice_id: 'integer > invoices', quantity: 'integer' }),
  table('referrals', { from_practice: practice, to_practice: practice }),
  table('migrations', { name: 'text' }),
];

/** What the service answers Studio. */
const encode = listDatasourceTables.encode as unknown as (found: SourceTables) => { readonly data: Catalogue };
const catalogueOf = (tables: readonly SourceTable[]): Catalogue => {
  const found = { name: 'clinic', datasourceType: 'POSTGRES', tableCount: tables.length, tables } as const;
  return encode({ ...found, proposals: proposeModel(tables) }).data;
};

/** What `init --yes` takes, as names with what says whose the rows are. */
const initTakes = async (tables: readonly SourceTable[]) => {
  const proposals = proposeModel(tables);
  const tenants = await askTenantTable(null, {}, tables, proposals);
  const clientColumn = await askClientColumn(null, {}, tables, tenants, proposals);
  const { datamart } = draftByBestWays(tables, proposals.relationships, {
    ...{ name: 'clinic', tenantTable: tenants.table, keyColumn: tenants.keyColumn, clientColumn },
    ...{ shared: [], paths: new Map(), bridges: [], baseFilters: [], amounts: [] },
  });
  const isTenants = (one: TableRef): boolean => sameTable(one, tenants.table);
  return {
    tenants: qualifiedName(tenants.table),
    tables: datamart.tables.map((one) => [
      qualifiedName(one),
      isTenants(one) ? tenants.keyColumn : (one.clientColumn ?? one.tenancyPath ?? null),
    ]),
  };
};
const studioTakes = (draft: ReturnType<typeof proposedModel>) => ({
  tenants: draft.tenants?.table,
  tables: bodyOf(draft).tableList.map(({ schemaName, name, clientColumn, tenancyPath }) => [
    `${schemaName}.${name}`,
    clientColumn ?? tenancyPath ?? null,
  ]),
});
const draft = proposedModel(catalogueOf(clinic));
const tableIn = (of: typeof draft, name: string) => of.tables.find((one) => one.table.tableName === name);

describe('a new model in Studio', () => {
  test('has the table of tenants, the columns and the ways that init takes by itself', async () => {
    const taken = await initTakes(clinic);
    expect(studioTakes(draft)).toEqual(taken);
    expect(taken.tenants).toBe('clinic.practices');
    expect(taken.tables).toContainEqual(['clinic.invoices', 'practice_id']);
    expect(taken.tables).toContainEqual(['clinic.visits', 'visits.department_id']);
  });

  test('is the same when the proposed table of tenants is chosen after another one', async () => {
    const other = withTenants(draft, 'clinic.pet_owners');
    expect(tableIn(other, 'invoices')?.ownership).toEqual({ kind: 'column', column: 'owner_id' });
    expect(tableIn(other, 'departments')?.isUsed).toBe(false);
    expect(studioTakes(withTenants(other, 'clinic.practices'))).toEqual(await initTakes(clinic));
  });

  test('offers the other ways of a table, and follows the one that is chosen', () => {
    const { ways, tenancyPath } = tableIn(draft, 'visits') ?? {};
    expect(ways?.map(({ relationshipName }) => relationshipName)).toEqual(['visits.department_id', 'visits.animal_id']);
    expect(tenancyPath).toBe('visits.department_id');
    const changed = withWay(draft, 'clinic.visits', 'visits.animal_id');
    expect(bodyOf(changed).tableList).toContainEqual(expect.objectContaining({ tenancyPath: 'visits.animal_id' }));
  });

  test('says no reason any more once a choice gave the table, and those behind it, an owner', () => {
    const none = withTable(withTable(draft, 'clinic.invoices', { isUsed: false }), 'clinic.visits', { isUsed: false });
    expect(tableIn(none, 'invoice_lines')).toMatchObject({ isUsed: false, leftOut: expect.any(String) });
    const back = withTable(none, 'clinic.invoices', { isUsed: true });
    expect(tableIn(back, 'invoice_lines')).toMatchObject({ isUsed: true, leftOut: null });
  });

  test('chooses none of several columns that refer to the tenants, until a person does', () => {
    expect(tableIn(draft, 'referrals')).toMatchObject({
      ...{ isUsed: false, tenancyPath: null },
      leftOut: 'several of its columns refer to the tenants, and each may be another role',
    });
    const chosen = withWay(draft, 'clinic.referrals', 'referrals.to_practice');
    expect(tableIn(chosen, 'referrals')).toMatchObject({
      ...{ isUsed: true, leftOut: null, ownership: { kind: 'column', column: 'to_practice' } },
    });
  });

  test('keeps the reason of a table that nobody owns, though a person uses it', () => {
    expect(tableIn(draft, 'migrations')?.isUsed).toBe(false);
    const used = withTable(draft, 'clinic.migrations', { isUsed: true });
    expect(tableIn(used, 'migrations')).toMatchObject({ isUsed: true, leftOut: expect.any(String) });
    const shared = withTable(used, 'clinic.migrations', { ownership: { kind: 'shared' } });
    expect(tableIn(shared, 'migrations')).toMatchObject({ isUsed: true, leftOut: null });
  });
});
