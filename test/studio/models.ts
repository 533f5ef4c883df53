/** Models for tests of Studio's diagram and editor. */
import type { Relationship, StoredColumn, StoredModel, StoredTable } from '../../src/web/studio/base/model-edit.js';

export const column = (columnName: string, parts: Partial<StoredColumn> = {}): StoredColumn => ({
  ...{ columnName, datatype: 'BIGINT', alias: '', label: '', isHide: false, isCustomColumn: false, sql: '' },
  ...{ isApplyTimezone: false, isAggregate: false, allowAggregate: false, defaultAggregation: null, defaultSort: null },
  numbers: null,
  ...parts,
});

export const table = (tableName: string, names: readonly string[], parts: Partial<StoredTable> = {}): StoredTable => ({
  ...{ schemaName: 'main', tableName, label: '', clientColumn: null, tenancyPath: null, isHide: false, wildcard: null },
  ...{ datamartTableColumns: names.map((name) => column(name)), ...parts },
});

/** `orders.client → clients.id` and the like; many to one unless it says otherwise. */
export const leads = (from: string, to: string, cardinality: Relationship['cardinality'] = 'ManyToOne') => {
  const [parentTableName = '', parentColumnName = ''] = from.split('.');
  const [childTableName = '', childColumnName = ''] = to.split('.');
  const ends = { parentTableName, parentColumnName, childTableName, childColumnName };
  return { relationshipName: from, ...ends, cardinality, join: null };
};

export const model = (
  datamartTables: readonly StoredTable[],
  datamartRelationships: StoredModel['datamartRelationships'] = [],
): StoredModel => ({
  ...{ name: 'shop', updatedAt: '', companyIntegration: { name: 'shop' }, sharedTables: [] },
  datamartOrganization: {
    ...{ tenancyLevel: 'TABLE', schemaName: 'main', tableName: 'clients', clientColumnType: 'NUMBER' },
    ...{ tableClientNameColumn: 'name', tablePrimaryKeyColumn: 'id', primaryDatabase: null },
  },
  datamartTables,
  datamartRelationships,
});
