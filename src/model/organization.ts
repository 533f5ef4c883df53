/** Types of the organization's data apps, datasources and workspaces. Datamarts are in datamart/. */
import { namesOf } from './record-of.js';

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
  /** When its tables were last read: at its creation or by `POST /datasource/sync`. Null if they never were. */
  readonly syncedAt: Date | null;
} & DatasourceConnection;

/** A datasource without its connection settings. */
export type DatasourceSummary = Pick<Datasource, 'id' | 'name' | 'syncedAt' | 'datasourceType'>;

/** Connection settings. The operator configures which hosts and folders are allowed. */
export type DatasourceConnection = FileConnection | ServerConnection;

/** Each type of server with the usual schema of tables that name none; null: the database is the schema. */
export const usualSchemas = { POSTGRES: 'public', MYSQL: null, CLICKHOUSE: null } as const;

/** Each type of database that is a file, as it is called. */
export const fileTypes = { DUCKDB: 'DuckDB', SQLITE: 'SQLite' } as const;

/** A type whose protocol and SQL are its own. */
export type Protocol = keyof typeof fileTypes | keyof typeof usualSchemas;

/**
 * Databases that speak the protocol of another one, as they are called, with their usual port. `wasRun`: the tests of the
 * engine were run on such a server. Without that, the operator has to allow it: see `datasources.untested`.
 */
export const variants = {
  AURORA_POSTGRES: { title: 'Aurora PostgreSQL', protocol: 'POSTGRES', port: 5432, wasRun: false },
  AURORA_MYSQL: { title: 'Aurora MySQL', protocol: 'MYSQL', port: 3306, wasRun: false },
  TIMESCALE: { title: 'TimescaleDB', protocol: 'POSTGRES', port: 5432, wasRun: false },
  CITUS: { title: 'Citus', protocol: 'POSTGRES', port: 5432, wasRun: false },
  COCKROACHDB: { title: 'CockroachDB', protocol: 'POSTGRES', port: 26_257, wasRun: false },
  REDSHIFT: { title: 'Amazon Redshift', protocol: 'POSTGRES', port: 5439, wasRun: false },
} as const satisfies Readonly<Record<string, VariantOf<keyof typeof usualSchemas>>>;

type VariantOf<Of extends Protocol> = {
  readonly title: string;
  readonly protocol: Of;
  readonly port: number;
  readonly wasRun: boolean;
};

export type Variant = keyof typeof variants;

/** The variants of one protocol. */
export type VariantNames<Of extends Protocol> = {
  [Name in Variant]: (typeof variants)[Name]['protocol'] extends Of ? Name : never;
}[Variant];

export const protocols = [...namesOf(fileTypes), ...namesOf(usualSchemas)] as const;
export const variantNames = namesOf(variants);
export const datasourceTypes = [...protocols, ...variantNames] as const;
export type DatasourceType = (typeof datasourceTypes)[number];

export const isVariant = (type: DatasourceType): type is Variant => Object.hasOwn(variants, type);

/** The type whose protocol the database speaks: its own, or that of which it is a variant. */
export const protocolOf = <Type extends DatasourceType>(type: Type): Exclude<Type, Variant> | VariantProtocol =>
  isVariant(type) ? variants[type].protocol : (type as Exclude<Type, Variant>);

type VariantProtocol = (typeof variants)[Variant]['protocol'];

/** Whether the tests of the engine were never run on such a server. */
export const isUntested = (type: DatasourceType): boolean => isVariant(type) && !variants[type].wasRun;

/** As `usualSchemas`, also of variants. */
export const usualSchemaOf = (type: ServerConnection['datasourceType']): string | null =>
  usualSchemas[protocolOf(type)];

/** `path` is a file inside one of the configured folders. */
export type FileConnection = { readonly datasourceType: keyof typeof fileTypes; readonly path: string };

/** Whether the database is a file of this machine, without a server, a user or a password. */
export const isFile = <Source extends { readonly datasourceType: DatasourceType }>(
  source: Source,
): source is Extract<Source, { readonly datasourceType: FileConnection['datasourceType'] }> =>
  Object.hasOwn(fileTypes, source.datasourceType);

/** MariaDB uses the type `MYSQL`. */
export type ServerConnection = {
  readonly datasourceType: keyof typeof usualSchemas | Variant;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** Encrypted in the database. Never part of an answer, a log line or an error. */
  readonly password: string;
  readonly database: string;
  /** Schema of tables that name no schema. Null: as `usualSchemas` says. */
  readonly schema: string | null;
  readonly isSsl: boolean;
  /** Servers that follow this one and have the same rows, users and rights. POSTGRES only. Left out: none. */
  readonly replicas?: readonly ReplicaAddress[] | undefined;
  /** How far a replica that is read may be behind. */
  readonly maxLagSeconds?: number | undefined;
};

export type ReplicaAddress = { readonly host: string; readonly port: number };

export type ConnectionType = 'DATASOURCE' | 'DATAMART' | 'MULTI_DATASOURCE' | 'MULTI_DATAMART';

/** Which models its guests may ask, and what its dashboards offer. */
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
  /**
   * Set for connection type DATASOURCE. Null for that type means that the datasource was deleted: the workspace then
   * reaches nothing.
   */
  readonly datasourceId: string | null;
  /**
   * Set for connection type DATAMART. Null for that type means that the datamart was deleted: the workspace then
   * reaches nothing.
   */
  readonly datamartId: string | null;
};

/**
 * Whether metrics of the workspace may read this datamart. A workspace whose source was deleted reaches no datamart.
 */
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

/**
 * Returns the last characters of a credential, by which an owner can distinguish credentials. Null for a short
 * credential, since the hint would reveal too much of it.
 */
export const keyHintOf = (token: string): string | null => (token.length >= 32 ? token.slice(-4) : null);

/** Number of deleted rows of an erased client, by kind. */
export type ErasedClient = {
  readonly dashboards: number;
  readonly embeds: number;
  readonly metrics: number;
  readonly guestMetrics: number;
  readonly guestLayouts: number;
  readonly guestViews: number;
  readonly guestBoards: number;
  readonly schedules: number;
  readonly guestTokens: number;
};
