/** The schema that holds all tables. Every statement names it. */
import type { ColumnType } from 'kysely';
import type { Brand, Epoch, HashedToken } from '../domain/brand.js';
import type { DashboardFilter, LayoutCard, MetricPlacement } from '../domain/dashboard/dashboard.js';
import type { AccessSettings, Embed } from '../domain/dashboard/embed.js';
import type { GridCard, MetricDefinition } from '../domain/dashboard/metric.js';
import type { DatamartTable, Relationship, Tenancy } from '../domain/datamart/datamart.js';
import type { SemanticTable } from '../domain/datamart/semantic-layer.js';
import type { ClientLevel, SourceTable } from '../domain/datamart/source-schema.js';
import type { GuestGrant } from '../domain/guest/grant.js';
import type { GuestLayout } from '../domain/guest/layout.js';
import type { ViewChoices } from '../domain/guest/saved-view.js';
import type { ConnectionType, DatasourceType, WorkspaceSettings } from '../domain/organization.js';
export const schemaName = 'guestlist';

/** What was checked and written by `jsonb`. */
export type JsonText = Brand<string, 'JsonText'>;

/** A jsonb column: read as its value, written as text. */
type Jsonb<T> = ColumnType<T, JsonText, JsonText>;
type NullableJsonb<T> = ColumnType<T | null, JsonText | null, JsonText | null>;

/** The rows of each table, as the migrations made them. */
export type Tables = {
  readonly data_apps: {
    id: string;
    name: string;
    created_at: Date;
    updated_at: Date;
    erasures: ColumnType<string, never, string>;
  };
  readonly api_keys: KeyRow & { data_app_id: string; description: string | null };
  readonly service_tokens: KeyRow;
  readonly datasources: {
    id: string;
    name: string;
    datasource_type: DatasourceType;
    /** Of a file. */
    path: string | null;
    /** Of a server: its connection as JSON, encrypted. */
    sealed: string | null;
    synced_at: Date | null;
    /** As they were then; null: never looked at. */
    source_tables: NullableJsonb<readonly SourceTable[]>;
  };
  /** Databases that may be a client's, as the latest sync found them. */
  readonly client_databases: { datasource_id: string; level: ClientLevel; name: string };
  readonly datamarts: {
    id: string;
    name: string;
    datasource_id: string;
    tenancy: NullableJsonb<Tenancy>;
    tables: Jsonb<readonly DatamartTable[]>;
    relationships: Jsonb<readonly Relationship[]>;
    shared_tables: Jsonb<readonly string[]>;
    cache_ttl_seconds: number | null;
    created_at: Date;
    updated_at: Date;
  };
  readonly semantic_layers: {
    datamart_id: string;
    tables: Jsonb<readonly SemanticTable[]>;
    feedback: string | null;
    updated_at: Date;
  };
  readonly workspaces: {
    id: string;
    name: string;
    connection_type: ConnectionType;
    datasource_id: string | null;
    datamart_id: string | null;
    settings: Jsonb<WorkspaceSettings>;
  };
  readonly dashboards: OwnerColumns & {
    id: string;
    external_dashboard_id: string;
    workspace_id: string;
    name: string;
    template_id: string | null;
    layout: Jsonb<readonly LayoutCard[]>;
    grid_margin: Jsonb<readonly number[]>;
    filters: Jsonb<readonly DashboardFilter[]>;
    metadata: NullableJsonb<Readonly<Record<string, unknown>>>;
    is_allow_private_metrics_by_default: boolean;
  };
  readonly metrics: OwnerColumns & {
    metric_id: string;
    workspace_id: string;
    name: string;
    definition: Jsonb<MetricDefinition>;
    lineage: Jsonb<readonly string[]>;
    is_archived: boolean;
    is_changed_by_guest: boolean;
  };
  readonly guest_metrics: {
    metric_id: string;
    dashboard_id: string;
    data_app_id: string;
    client_id: string;
    user_identifier: string | null;
    name: string;
    definition: Jsonb<MetricDefinition>;
    card: NullableJsonb<GridCard>;
    is_published: boolean;
    is_archived: boolean;
    created_at: Date;
  };
  readonly guest_layouts: ViewerColumns & { layout: Jsonb<GuestLayout> };
  readonly guest_views: ViewerColumns & { id: string; name: string; choices: Jsonb<ViewChoices>; created_at: Date };
  readonly dashboard_metrics: {
    dashboard_id: string;
    metric_id: string;
    placement: MetricPlacement;
    position: number;
    placed_at: Date;
  };
  /** Embed ids and dashboard ids of a data app share one namespace: each name stands for one dashboard. */
  readonly data_app_names: { data_app_id: string; name: string; dashboard_id: string };
  readonly embeds: {
    data_app_id: string;
    embed_id: string;
    embed_type: Embed['embedType'];
    dashboard_id: string;
    metric_id: string | null;
    name: string;
    description: string | null;
    access_settings: NullableJsonb<AccessSettings>;
    created_at: Date;
  };
  readonly guest_tokens: {
    id: string;
    hash: HashedToken;
    data_app_id: string;
    client_id: string;
    user_identifier: string | null;
    datamart_id: string | null;
    grants: Jsonb<GrantDocument>;
    created_at: Date;
    expires_at: Date | null;
    /** What the epochs of its subject came to when its mint began. */
    epoch: Epoch;
    last_used_at: ColumnType<Date | null, never, Date | null>;
  };
  /** One row: how many transactions changed the content. */
  readonly content_revision: { is_only: boolean; revision: string };
  /** Client and user empty: the whole data app. User empty: the whole client. */
  readonly revocation_epochs: { data_app_id: string; client_id: string; user_identifier: string; epoch: string };
};

type KeyRow = {
  id: string;
  name: string;
  hash: HashedToken;
  key_hint: string | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: ColumnType<Date | null, never, Date | null>;
  /** Null: current, or replaced. */
  revoked_at: ColumnType<Date | null, never, Date | null>;
  /** When it was rotated; it lives on until it expires. */
  replaced_at: ColumnType<Date | null, never, Date | null>;
};

/** `user_identifier` is '' for tokens that name no user. */
type ViewerColumns = { dashboard_id: string; data_app_id: string; client_id: string; user_identifier: string };

/** Both null: the organization's. */
type OwnerColumns = { data_app_id: string | null; client_id: string | null };

/** The part of a grant that has no column of its own. It holds no dates: JSON has none. */
export type GrantDocument = Omit<
  GuestGrant,
  'id' | 'dataAppId' | 'clientId' | 'userIdentifier' | 'datamartId' | 'createdAt' | 'expiresAt'
>;
