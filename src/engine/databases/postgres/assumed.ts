/**
 * A tenant's text column is compared by its own `=`, which can use an index, and which compares bytes where the
 * catalog says that the collation is deterministic. Comparing bytes in addition took a fifth of a query's time.
 * Instead the catalog is checked again after the query, in the same transaction, whose locks keep the columns
 * unchanged.
 */
import type { AssumedColumn, ReadTable, Statement, TenantPredicate } from '../../dialect/dialect.js';

/** The tenant columns that the leaves compare by `=` alone. */
export const assumedColumns = (leaves: readonly ReadTable[]): readonly AssumedColumn[] => {
  const columns = leaves.flatMap(({ table, tenant }) => (tenant === null ? [] : columnsIn(tenant, table)));
  return columns.filter((column, index) => columns.findIndex((other) => isSame(column, other)) === index);
};

type Table = Pick<AssumedColumn, 'schemaName' | 'tableName'>;

const columnsIn = (tenant: TenantPredicate, { schemaName, tableName }: Table): readonly AssumedColumn[] => {
  switch (tenant.kind) {
    case 'column': {
      const { stored } = tenant.type;
      return stored === undefined ? [] : [{ schemaName, tableName, columnName: tenant.columnName, stored }];
    }
    case 'all':
      return tenant.items.flatMap((item) => columnsIn(item, { schemaName, tableName }));
    case 'parent':
      return columnsIn(tenant.tenant, tenant.far.ref);
  }
};

const isSame = (one: AssumedColumn, other: AssumedColumn): boolean =>
  one.schemaName === other.schemaName && one.tableName === other.tableName && one.columnName === other.columnName;

/** A column's type and collation by their ids in `pg_attribute a`. The meaning of an id never changes. */
export const storedSql = `pg_catalog.concat(a.atttypid, ' ', a.attcollation)`;

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Counts the columns that are unchanged. */
export const assumedStatement = (assumed: readonly AssumedColumn[]): Statement => ({
  sql: `SELECT pg_catalog.count(*) FROM pg_catalog.pg_attribute a WHERE ${assumed
    .map((_, index) => {
      const [relation, name, stored] = [1, 2, 3].map((place) => `$${index * 3 + place}`);
      return `(a.attrelid = CAST(${relation} AS pg_catalog.regclass) AND a.attname = CAST(${name} AS pg_catalog.name) AND ${storedSql} = ${stored})`;
    })
    .join(' OR ')}`,
  parameters: assumed.flatMap(({ schemaName, tableName, columnName, stored }) => [
    `${quote(schemaName)}.${quote(tableName)}`,
    columnName,
    stored,
  ]),
});
