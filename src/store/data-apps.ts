import type { Kysely, Selectable } from 'kysely';
import type { DataApp } from '../domain/organization.js';
import type { DataAppStore } from '../domain/ports.js';
import { createNamedStore } from './named.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['data_apps']>;

const decode = (row: Row): DataApp => ({
  id: row.id,
  name: row.name,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const encode = (dataApp: DataApp): Row => ({
  id: dataApp.id,
  name: dataApp.name,
  created_at: dataApp.createdAt,
  updated_at: dataApp.updatedAt,
});

export const createDataAppStore = (db: Kysely<Tables>): DataAppStore =>
  createNamedStore(db, { table: 'data_apps', what: 'The data app', decode, encode });
