import type { Kysely, Selectable } from 'kysely';
import type { Workspace } from '../domain/organization.js';
import type { NamedStore } from '../domain/ports.js';
import { createNamedStore } from './named.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['workspaces']>;

const decode = (row: Row): Workspace => ({
  id: row.id,
  name: row.name,
  connectionType: row.connection_type,
  datasourceId: row.datasource_id,
  datamartId: row.datamart_id,
});

const encode = (workspace: Workspace): Row => ({
  id: workspace.id,
  name: workspace.name,
  connection_type: workspace.connectionType,
  datasource_id: workspace.datasourceId,
  datamart_id: workspace.datamartId,
});

export const createWorkspaceStore = (db: Kysely<Tables>): NamedStore<Workspace> =>
  createNamedStore(db, { table: 'workspaces', what: 'The workspace', decode, encode });
