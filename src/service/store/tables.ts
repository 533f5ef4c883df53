/** The tables of the service's metadata, as types for the query builder. */
import type { ColumnType, Generated } from 'kysely';
import type { Brand, Epoch, HashedToken, Sealed } from '../../model/brand.js';
import type { DashboardFilter, LayoutCard, MetricPlacement } from '../../model/dashboard/dashboard.js';
import type { AccessSettings, Embed } from '../../model/dashboard/embed.js';
import type { GridCard, MetricDefinition } from '../../model/dashboard/metric.js';
import type { Tile } from '../../model/dashboard/tile.js';
import type { Relationship, Rollup, Tenancy } from '../../model/datamart/datamart.js';
import type { SemanticTable } from '../../model/datamart/semantic-layer.js';
import type { ClientLevel, SourceTable } from '../../model/datamart/source-schema.js';
import type { FilterValues, GuestGrant } from '../../model/guest/grant.js';
import type { GuestLayout } from '../../model/guest/layout.js';
import type { BoardContent } from '../../model/guest/own-board.js';
import type { SavedUnder, ViewChoices } from '../../model/guest/saved-view.js';
import type { ConnectionType, DatasourceType, WorkspaceSettings } from '../../model/organization.js';
import type { Person } from '../../model/person.js';
import type { EndOutcome, RunningProcess, WorkKind } from '../../model/query/running.js';
import type { Alert } from '../../model/schedule/alert.js';
import type { CatchUp } from '../../model/schedule/catch-up.js';
import type { Recurrence } from '../../model/schedule/recurrence.js';
import type { DeliveryReason, DeliveryState, ReportFormat } from '../../model/schedule/schedule.js';
import type { UsageFault, UsageMessage } from '../../model/usage.js';
import type { StoredTables } from './previous-release.js';

/** The PostgreSQL schema that holds all tables. Every statement names it. */
export const schemaName = 'guestlist';

/** JSON text that `jsonb` has checked and encoded. */
export type JsonText = Brand<string, 'JsonText'>;

/** A jsonb column: read as a value, written as text. */
type Jsonb<T> = ColumnType<T, JsonText, JsonText>;
type NullableJsonb<T> = ColumnType<T | null, JsonText | null, JsonText | null>;

/** The columns of each table, as the migrations create them. */
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
  readonly studio_sessions: {
    id: string;
    hash: HashedToken;
    issuer: string;
    subject: string;
    person: Jsonb<Person>;
    created_at: Date;
    used_at: Date;
    expires_at: Date;
    issuer_token: Sealed | null;
    vouched_at: Date | null;
    asked_at: Date | null;
  };
  readonly datasources: {
    id: string;
    name: string;
    datasource_type: DatasourceType;
    /** For a file; null for a server. */
    path: string | null;
    /** For a server: its connection settings as encrypted JSON. Null for a file. */
    sealed: Sealed | null;
    synced_at: Date | null;
    /** The tables at the latest sync; null before the first one. */
    source_tables: NullableJsonb<readonly SourceTable[]>;
  };
  /** Databases that may belong to a client, as the latest sync found them. */
  readonly client_databases: { datasource_id: string; level: ClientLevel; name: string };
  readonly datamarts: {
    id: string;
    name: string;
    datasource_id: string;
    tenancy: NullableJsonb<Tenancy>;
    tables: Jsonb<StoredTables>;
    relationships: Jsonb<readonly Relationship[]>;
    shared_tables: Jsonb<readonly string[]>;
    cache_ttl_seconds: number | null;
    cache_stale_seconds: number | null;
    rollups: NullableJsonb<readonly Rollup[]>;
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
    tiles: Jsonb<readonly Tile[]>;
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
  readonly guest_views: ViewerColumns & {
    id: string;
    name: string;
    choices: Jsonb<ViewChoices & SavedUnder>;
    created_at: Date;
    is_shared: boolean;
    is_default: boolean;
  };
  readonly guest_boards: ViewerColumns & {
    id: string;
    name: string;
    content: Jsonb<BoardContent>;
    is_shared: boolean;
    version: number;
    created_at: Date;
  };
  readonly schedules: {
    id: string;
    dashboard_id: string;
    opened_id: string;
    data_app_id: string;
    /** Both empty: the host's. */
    client_id: string;
    user_identifier: string;
    name: string;
    format: ReportFormat;
    recurrence: Jsonb<Recurrence>;
    catch_up: CatchUp;
    is_paused: boolean;
    next_at: Date | null;
    created_at: Date;
    alert: NullableJsonb<Alert>;
    /** What the last check of an alert found, sealed: it holds values of the client. */
    alert_state: ColumnType<Sealed | null, never, Sealed | null>;
    muted_until: Date | null;
    channel: string | null;
    dashboard_filter: Jsonb<FilterValues>;
    metric_ids: NullableJsonb<readonly string[]>;
    /** Sealed: it can hold addresses. */
    recipients: Sealed | null;
  };
  /** Addresses without an account. `digest` is keyed. */
  readonly report_addresses: {
    id: string;
    data_app_id: string;
    client_id: string;
    digest: string;
    created_at: Date;
    asked_at: ColumnType<Date | null, never, Date | null>;
    confirmed_at: ColumnType<Date | null, never, Date>;
  };
  /** Recipients who ended what they get of a schedule. */
  readonly schedule_stops: { schedule_id: string; recipient: string; stopped_at: Date };
  /** What the last check of an alert found for one recipient. Sealed. That of an alert without recipients is in its schedule. */
  readonly alert_states: { schedule_id: string; recipient: string; state: Sealed };
  readonly deliveries: {
    id: string;
    schedule_id: string;
    /** A user identifier, the digest of an address, or empty for the delivery that finds the recipients. */
    recipient: string;
    moment: Date;
    data_app_id: string;
    client_id: string;
    /** The tenant's copy, of a host's schedule. */
    dashboard_id: string | null;
    is_requested: boolean;
    state: DeliveryState;
    reason: DeliveryReason | null;
    attempts: Generated<number>;
    /** Hand-overs to a mail server that has not answered. */
    handovers: Generated<number>;
    attempt_at: Date;
    claimed_at: ColumnType<Date | null, never, Date>;
    lease_id: ColumnType<string | null, never, string | null>;
    leased_until: ColumnType<Date | null, never, Date | null>;
    finished_at: Date | null;
  };
  readonly dashboard_metrics: {
    dashboard_id: string;
    metric_id: string;
    placement: MetricPlacement;
    position: number;
    placed_at: Date;
  };
  /** Embed ids and dashboard ids of a data app share one namespace: each name refers to one dashboard. */
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
    /** The sum of the subject's epochs when the token's mint began; hidden from the previous release as `-1 - sum`. */
    epoch: Epoch;
    last_used_at: ColumnType<Date | null, never, Date | null>;
    /** The deployment of a gateway that minted it; null: none that said so. */
    gateway: string | null;
  };
  /**
   * A single row: the key of the tags that are stored, sealed. It is also the canary that tells a wrong encryption key at
   * start.
   */
  readonly sealing_canary: { is_only: Generated<boolean>; sealed: Sealed };
  /** A single row: the number of transactions that changed content. */
  readonly content_revision: { is_only: boolean; revision: string };
  /** What was used, by hour; by day once that is long ago. An empty text stands for none. */
  readonly usage: {
    at: Date;
    data_app_id: string;
    client_id: string;
    /** The pseudonym of a user. */
    person: string;
    dashboard_id: string;
    metric_id: string;
    logins: string;
    mints: string;
    source_queries: string;
    kept_answers: string;
    failed_answers: string;
    rows: string;
    ms: string;
    exports: string;
    mails: string;
    model_tokens: string;
    warm_up_queries: string;
    warm_up_ms: string;
  };
  /** How far what was used is sent to a billing system. No row: nothing ever was. */
  readonly usage_sending: {
    is_only: ColumnType<boolean, never, never>;
    /** Hours before it are in messages. */
    closed_until: Date;
    /** Of the message that is next. */
    attempts: number;
    attempt_at: Date;
    /** Why the last attempt failed. */
    fault: UsageFault | null;
    lease_id: string | null;
    leased_until: Date | null;
  };
  /** What is not sent yet. `is_late`: counted after the hour was closed. */
  readonly usage_messages: { id: string; at: Date; is_late: boolean; tenants: Jsonb<UsageMessage['tenants']> };
  /** The last batch of use that each process has stored. */
  readonly usage_writers: { writer: string; batch: string; at: Date };
  /** What each process does now. It counts as gone at `silent_at`, unless it writes before. Unlogged. */
  readonly running_processes: { instance: string; silent_at: Date; state: Jsonb<RunningProcess> };
  /** Work that an operator wants ended, in the process that runs it. Null: it has not answered. Unlogged. */
  readonly running_ends: {
    id: string;
    instance: string;
    kind: WorkKind;
    number: number;
    at: Date;
    outcome: EndOutcome | null;
  };
  /** A single row: when the last sweep went through everything. A sweep locks it. */
  readonly retention: { is_only: Generated<boolean>; swept_at: ColumnType<Date, Date | undefined, Date> };
  /** Clients that gateways hold. Empty `client_id`: the whole data app. */
  readonly client_holds: { data_app_id: string; client_id: string; gateway: string };
  readonly hold_versions: { data_app_id: string; gateway: string; version: string };
  /** Empty `user_identifier`: the whole client. `client_id` also empty: the whole data app. */
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
  /** Null for a key that was not revoked. */
  revoked_at: ColumnType<Date | null, never, Date | null>;
  /** When the key was replaced. It stays valid until `expires_at`. */
  replaced_at: ColumnType<Date | null, never, Date | null>;
};

/** `user_identifier` is '' for tokens without a user. */
type ViewerColumns = { dashboard_id: string; data_app_id: string; client_id: string; user_identifier: string };

/** Both null for rows of the organization. */
type OwnerColumns = { data_app_id: string | null; client_id: string | null };

/** The fields of a grant that have no column. They contain no dates, which JSON cannot represent. */
export type GrantDocument = Omit<
  GuestGrant,
  'id' | 'dataAppId' | 'clientId' | 'userIdentifier' | 'datamartId' | 'createdAt' | 'expiresAt'
>;
