import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Datamart, DatamartTable, ListedDatamart } from '../../model/datamart/datamart.js';
import type { Page } from '../../model/page.js';
import { mapItems, type Slices } from '../../model/slices.js';
import { knownDatamart, knownRelationships, knownRollups, knownTables, knownTenancy } from './known-content.js';
import { assertKnown } from './known-fields.js';
import { listRows } from './list-rows.js';
import { createNamedStore } from './named.js';
import { type StoredTables, storedTables } from './previous-release.js';
import { jsonb, nullableJsonb } from './query.js';
import type { Tables } from './tables.js';

const isList = (tables: StoredTables): tables is readonly DatamartTable[] => Array.isArray(tables);

/** Throws if a newer release stored the datamart, with a part that this one does not know. */
export const decodeDatamart = (row: Selectable<Tables['datamarts']>): Datamart => ({
  id: assertKnown(knownDatamart, row, `datamart ${row.id}`).id,
  name: row.name,
  datasourceId: row.datasource_id,
  tenancy: assertKnown(knownTenancy, row.tenancy, `the tenancy of datamart ${row.id}`),
  tables: decodeTables(row),
  relationships: assertKnown(knownRelationships, row.relationships, `a relationship of datamart ${row.id}`),
  sharedTables: row.shared_tables,
  cacheTtlSeconds: row.cache_ttl_seconds,
  cacheStaleSeconds: row.cache_stale_seconds,
  rollups: assertKnown(knownRollups, row.rollups, `a rollup of datamart ${row.id}`) ?? [],
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const decodeTables = ({ id, tables }: Selectable<Tables['datamarts']>): readonly DatamartTable[] =>
  assertKnown(knownTables, isList(tables) ? tables : tables.tables, `a table of datamart ${id}`);

const encode = (datamart: Datamart): Insertable<Tables['datamarts']> => ({
  id: datamart.id,
  name: datamart.name,
  datasource_id: datamart.datasourceId,
  tenancy: nullableJsonb(datamart.tenancy),
  tables: jsonb(storedTables(datamart.tables)),
  relationships: jsonb(datamart.relationships),
  shared_tables: jsonb(datamart.sharedTables),
  cache_ttl_seconds: datamart.cacheTtlSeconds ?? null,
  cache_stale_seconds: datamart.cacheStaleSeconds ?? null,
  rollups: jsonb(datamart.rollups ?? []),
  created_at: datamart.createdAt,
  updated_at: datamart.updatedAt,
});

/**
 * Deleting a datamart also deletes its semantic layer and the tokens that are scoped to it, and clears the references
 * of workspaces: foreign keys do this.
 */
export const createDatamartStore = (db: Kysely<Tables>) => ({
  ...createNamedStore(db, { table: 'datamarts', what: 'The datamart', decode: decodeDatamart, encode }),
  /** Returns the datasource's datamart if it has exactly one. */
  findOnlyOf: async (datasourceId: string) => {
    const rows = await db
      .selectFrom('datamarts')
      .selectAll()
      .where('datasource_id', '=', datasourceId)
      .limit(2)
      .execute();
    const [row] = rows;
    return row === undefined || rows.length > 1 ? undefined : decodeDatamart(row);
  },
  /** As `findByName`, and locks the datamart until the transaction ends. */
  lockByName: async (name: string) => {
    const row = await db
      .selectFrom('datamarts')
      .selectAll()
      .where('name', '=', name)
      .forNoKeyUpdate()
      .executeTakeFirst();
    return row && decodeDatamart(row);
  },
  /** Returns the datamarts, ordered by name. */
  list: (wanted: Page | null): Slices<ListedDatamart> => {
    const datamarts = db
      .selectFrom('datamarts')
      .innerJoin('datasources', 'datasources.id', 'datamarts.datasource_id')
      .selectAll('datamarts')
      .select('datasources.name as datasource_name');
    return mapItems(listRows(datamarts, ['datamarts.name'], wanted), ({ datasource_name: datasourceName, ...row }) => ({
      datamart: decodeDatamart(row),
      datasourceName,
    }));
  },
  /**
   * Deletes the datamart, its semantic layer and the guest tokens that are scoped to it. Workspaces that were connected
   * to it stay, without a datamart.
   */
  remove: async (id: string) => {
    await db.deleteFrom('datamarts').where('id', '=', id).execute();
  },
});

export type DatamartStore = ReturnType<typeof createDatamartStore>;
