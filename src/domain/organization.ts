/** What belongs to the organization beside its datamarts: data apps, datasources, workspaces, credentials. */
export type DataApp = {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A database that holds the customers' rows. `path` is inside the data folder or one that the configuration names. */
export type Datasource = {
  readonly id: string;
  readonly name: string;
  readonly datasourceType: 'DUCKDB';
  readonly path: string;
};

export type ConnectionType = 'DATASOURCE' | 'DATAMART' | 'MULTI_DATASOURCE' | 'MULTI_DATAMART';

export type Workspace = {
  readonly id: string;
  readonly name: string;
  readonly connectionType: ConnectionType;
  readonly datasourceId: string | null;
  readonly datamartId: string | null;
};
