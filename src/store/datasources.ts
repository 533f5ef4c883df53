import type { Kysely, Selectable } from 'kysely';
import type { Datasource } from '../domain/organization.js';
import type { NamedStore } from '../domain/ports.js';
import { createNamedStore } from './named.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['datasources']>;

const decode = (row: Row): Datasource => ({
  id: row.id,
  name: row.name,
  datasourceType: row.datasource_type,
  path: row.path,
});

const encode = (datasource: Datasource): Row => ({
  id: datasource.id,
  name: datasource.name,
  datasource_type: datasource.datasourceType,
  path: datasource.path,
});

export const createDatasourceStore = (db: Kysely<Tables>): NamedStore<Datasource> =>
  createNamedStore(db, { table: 'datasources', what: 'The datasource', decode, encode });
