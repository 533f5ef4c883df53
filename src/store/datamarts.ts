import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Datamart } from '../domain/datamart.js';
import type { NamedStore } from '../domain/ports.js';
import { jsonb, nullableJsonb } from './document.js';
import { createNamedStore } from './named.js';
import type { Tables } from './tables.js';

export const decodeDatamart = (row: Selectable<Tables['datamarts']>): Datamart => ({
  id: row.id,
  name: row.name,
  datasourceId: row.datasource_id,
  tenancy: row.tenancy,
  tables: row.tables,
  relationships: row.relationships,
  sharedTables: row.shared_tables,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const encode = (datamart: Datamart): Insertable<Tables['datamarts']> => ({
  id: datamart.id,
  name: datamart.name,
  datasource_id: datamart.datasourceId,
  tenancy: nullableJsonb(datamart.tenancy),
  tables: jsonb(datamart.tables),
  relationships: jsonb(datamart.relationships),
  shared_tables: jsonb(datamart.sharedTables),
  created_at: datamart.createdAt,
  updated_at: datamart.updatedAt,
});

export const createDatamartStore = (db: Kysely<Tables>): NamedStore<Datamart> =>
  createNamedStore(db, { table: 'datamarts', what: 'The datamart', decode: decodeDatamart, encode });
