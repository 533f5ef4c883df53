/** Whose rows the tables of a model hold before it is saved, decided by the functions with which the service decides it. */
import type { Datamart, Tenancy } from '../../../model/datamart/datamart.js';
import { nameTables, type RelationshipDraft, relationshipsOf } from '../../../model/datamart/relationships.js';
import {
  type DescribedOwnership,
  describeOwnership,
  tableOwnerships,
} from '../../../model/datamart/table-ownership.js';
import type { StoredModel } from './model-edit.js';
import type { Catalogue } from './source-tables.js';

export type TableTenancy = DescribedOwnership;

/** The columns of each primary and unique key of a source, by `schema.table`. */
export type Keys = ReadonlyMap<string, readonly (readonly string[])[]>;

export const keysOf = ({ tables }: Pick<Catalogue, 'tables'>): Keys =>
  new Map(
    tables.map(({ schemaName, tableName, primaryKey, uniqueKeys }) => [
      `${schemaName}.${tableName}`,
      primaryKey.length === 0 ? uniqueKeys : [primaryKey, ...uniqueKeys],
    ]),
  );

const tenancyIn = ({ datamartOrganization: of }: StoredModel): Tenancy | null => {
  if (of === null) return null;
  if (of.tenancyLevel !== 'TABLE') {
    const tenancyLevel = of.tenancyLevel === 'DATABASE' ? 'DATABASE' : 'MULTI_DATABASE';
    return { tenancyLevel, primaryDatabase: of.primaryDatabase };
  }
  return {
    tenancyLevel: 'TABLE',
    clientColumnType: of.clientColumnType === 'NUMBER' ? 'NUMBER' : 'STRING',
    schemaName: of.schemaName ?? '',
    tableName: of.tableName ?? '',
    tableClientNameColumn: of.tableClientNameColumn ?? '',
    tablePrimaryKeyColumn: of.tablePrimaryKeyColumn ?? '',
  };
};

/** The model as the functions of the service take it. */
export const datamartOf = (model: StoredModel): Datamart => {
  const tables = model.datamartTables.map(({ datamartTableColumns: columns, ...table }) => ({ ...table, columns }));
  const moment = new Date(0);
  return {
    ...{ id: '', name: model.name, datasourceId: '', createdAt: moment, updatedAt: moment },
    tenancy: tenancyIn(model),
    tables,
    relationships: relationshipsOf(model.datamartRelationships as readonly RelationshipDraft[], nameTables(tables)),
    sharedTables: model.sharedTables,
  };
};

/** Says for each table, in the model's order, whose rows it holds. */
export const tenancyOf = (model: StoredModel, keys: Keys): readonly TableTenancy[] =>
  tableOwnerships(datamartOf(model), ({ schemaName, tableName }) => keys.get(`${schemaName}.${tableName}`) ?? []).map(
    describeOwnership,
  );

/** Whose rows a table holds, in words. */
export const whose = ({ kind, clientColumn, path, message }: TableTenancy): string => {
  const column = clientColumn === null ? '' : `${clientColumn.table}.${clientColumn.column}`;
  switch (kind) {
    case 'column':
      return `the tenant in ${column}`;
    case 'master':
      return `one row for each tenant, by ${column}`;
    case 'path':
      return `the tenant in ${column}, by ${path.map(({ toTable }) => toTable).join(', then ')}`;
    case 'bridge':
      return `every tenant in ${column} that refers to the row, by ${path.map(({ toTable }) => toTable).join(', then ')}`;
    case 'shared':
      return 'everybody reads every row';
    case 'database':
      return 'the tenant whose database it is';
    case 'none':
      return 'nobody: the model has no tenants';
    case 'unreadable':
      return message ?? 'nobody may read it';
  }
};

export type TenancyState = 'owned' | 'derived' | 'shared' | 'nobody’s';

export const stateOf = ({ kind }: Pick<TableTenancy, 'kind'>): TenancyState => {
  if (kind === 'unreadable' || kind === 'none') return 'nobody’s';
  if (kind === 'shared') return 'shared';
  return kind === 'path' || kind === 'bridge' ? 'derived' : 'owned';
};

/** The colour of a state, as badges have it. */
export const toneOf: Readonly<Record<TenancyState, 'good' | 'warn' | 'bad'>> = {
  owned: 'good',
  derived: 'good',
  shared: 'warn',
  'nobody’s': 'bad',
};
