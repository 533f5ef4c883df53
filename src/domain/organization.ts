/** What belongs to the organization beside its datamarts: data apps, datasources, workspaces, credentials. */
export type DataApp = {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A database that holds the customers' rows. */
export type Datasource = {
  readonly id: string;
  readonly name: string;
  /** When its tables were last looked at (`POST /datasource/sync`, or when it was made); null: never. */
  readonly syncedAt: Date | null;
} & DatasourceConnection;

/** A datasource without what it is reached by. */
export type DatasourceSummary = Pick<Datasource, 'id' | 'name' | 'syncedAt' | 'datasourceType'>;

/** How it is reached. Which hosts and folders are allowed is the operator's to say. */
export type DatasourceConnection = DuckDbConnection | ServerConnection;
export type DatasourceType = DatasourceConnection['datasourceType'];

/** `path` is a file inside one of the configured folders. */
export type DuckDbConnection = { readonly datasourceType: 'DUCKDB'; readonly path: string };

/** MariaDB is spoken to as MySQL. */
export type ServerConnection = {
  readonly datasourceType: 'POSTGRES' | 'MYSQL' | 'CLICKHOUSE';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** At rest encrypted; in no answer, no log line and no error. */
  readonly password: string;
  readonly database: string;
  /** The schema of tables that name none; null: the server's default (`public`; on MySQL and ClickHouse the database is the schema). */
  readonly schema: string | null;
  readonly isSsl: boolean;
};

export type ConnectionType = 'DATASOURCE' | 'DATAMART' | 'MULTI_DATASOURCE' | 'MULTI_DATAMART';

/** Kept and given back; of these only `themeName` has an effect yet. */
export type WorkspaceSettings = {
  readonly llmName?: string | undefined;
  readonly aiCopilotLlms?: readonly string[] | undefined;
  readonly isEnableMetricSuggestions?: boolean | undefined;
  readonly isEnableMetricSummary?: boolean | undefined;
  readonly summaryType?: string | undefined;
  readonly customSummaryPrompt?: string | undefined;
  readonly themeName?: string | undefined;
};

export type Workspace = WorkspaceSettings & {
  readonly id: string;
  readonly name: string;
  readonly connectionType: ConnectionType;
  /** Of the type DATASOURCE; null there: it is gone, and the workspace reaches nothing. */
  readonly datasourceId: string | null;
  /** Of the type DATAMART; null there: it is gone, and the workspace reaches nothing. */
  readonly datamartId: string | null;
};

/** Whether what is in the workspace may read this datamart. One whose source is gone reaches nothing, and not everything. */
export const reachesDatamart = (
  { connectionType, datasourceId, datamartId }: Workspace,
  datamart: { readonly id: string; readonly datasourceId: string },
): boolean => {
  switch (connectionType) {
    case 'DATAMART':
      return datamartId === datamart.id;
    case 'DATASOURCE':
      return datasourceId === datamart.datasourceId;
    case 'MULTI_DATAMART':
    case 'MULTI_DATASOURCE':
      return true;
  }
};

/** By its last characters an owner tells one credential from another. None of a short one: they would be much of it. */
export const keyHintOf = (token: string): string | null => (token.length >= 32 ? token.slice(-4) : null);
