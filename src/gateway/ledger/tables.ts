/** The types of the ledger's tables. `attachLedger` adds the schema's name to every statement. */
import type { ColumnType, Generated, RawBuilder } from 'kysely';
import type { Sealed } from '../../model/brand.js';
import { sealedColumnsOf } from '../../platform/keys/reseal.js';

export const schemaName = 'guestlist_gateway';

/** A tenant's status. A deleted tenant stays deleted until it signs up again. */
export const tenantStates = ['active', 'suspended', 'deleted'] as const;
export type TenantState = (typeof tenantStates)[number];

/** A bigint. PGlite returns a number, and a server returns text. */
type Seq = string | number;

/** The rows of each table, as migrations.ts creates them. */
export type LedgerTables = RolloutTables & {
  /** One row. `tenant_key` keys the references of tenants: 32 random bytes in base64. */
  readonly installation: { id: Generated<number>; tenant_key: string };
  readonly tenants: {
    /**
     * HMAC-SHA256 of the clientId under the installation's key, in hex. It is the only identifier of an erased tenant.
     */
    tenant_ref: string;
    /** Null if the tenant was erased. */
    client_id: string | null;
    state: TenantState;
    /** Time of the newest event that set the state. Null if there were only logins. */
    occurred_at: Date | null;
    created_at: Date;
    updated_at: Date;
    /** Time of the newest event of each kind. Null if there was none. */
    signed_up_at: Nullable<Date>;
    resumed_at: Nullable<Date>;
    suspended_at: Nullable<Date>;
    deleted_at: Nullable<Date>;
    /** Whether an erasure is pending: the tenant was deleted, and not everything is erased yet. */
    is_erasure_owed: Generated<boolean>;
    /** Number of changes of the state and of the data that depends on it. */
    changes: ColumnType<string, never, RawBuilder<string>>;
  };
  /** One row: the number of the newest change of an epoch. */
  readonly epoch_changes: { id: number; last: bigint };
  /** The revocation epochs. A scope without a row has the epoch 0. */
  readonly epochs: {
    /** The scope as written by revocation/scopes.ts. Contains no name of a tenant or user. */
    scope: string;
    epoch: bigint;
    /** Sessions issued before this time are refused. Null if none is. */
    revoked_at: Date | null;
    /** Number of the change that wrote this row. Changes become visible in the order of their numbers. */
    change: bigint;
  };
  /** Revocations that the service has not executed yet. */
  readonly pending_revocations: {
    id: string;
    /** A RevocationTarget as JSON. It contains a user or tenant until the row is deleted. */
    target: string;
    attempts: number;
    attempt_at: Date;
    /** Id of the process that handles the row. The row can be claimed if this is null or the process is dead. */
    claimed_by: string | null;
    created_at: Date;
  };
  /** One row for each process that is alive. It may be silent for `silence_ms` after its last heartbeat. */
  readonly processes: { process_id: string; beat_at: Date; silence_ms: Generated<number> };
  /** Leases over all processes: see leases.ts. */
  readonly leases: { name: string; holder: string; process_id: string };
  /** The last session of each user, sealed. */
  readonly recipients: { tenant_ref: string; user_ref: string; sealed: Sealed; issued_at: Date; seen_at: Date };
  readonly hook_deliveries: {
    /** Keyed digest of the webhook-id. */
    delivery_ref: string;
    /** Keyed digest of the event's kind and body. */
    body_ref: string;
    received_at: Date;
    done_at: Nullable<Date>;
    /** The response that was sent. */
    answer: ColumnType<unknown, string | null | undefined, string>;
  };
  readonly erasures: {
    tenant_ref: string;
    deleted_at: Date;
    started_at: Date;
    finished_at: Nullable<Date>;
    /** The steps so far: the erased data, and the data that could not be erased. */
    steps: ColumnType<readonly ErasureStep[], string, string>;
  };
  /** A tenant's dashboards: copies of templates. A row is inserted before its dashboard is made. */
  readonly dashboards: {
    tenant_ref: string;
    template: string;
    dashboard_id: string;
    /** SHA-256 of the copy's location: the upstream's URL, data app and workspace. */
    upstream: string;
    /** SHA-256 of the API key's id with which it was made or verified. */
    key_ref: string;
    /** The template version that the copy was made from. Null if unknown. */
    template_version: string | null;
    /** `<process id>/<random id>` of the latest attempt to make it. */
    attempt: string;
    started_at: Date;
    /** Null if this gateway found the copy and did not make it. */
    created_at: Date | null;
    /** Time of the last verification of owner, template and import. Null if never verified. */
    verified_at: Date | null;
    /** Time at which the service contradicted the verification. The copy is then verified again. */
    doubted_at: Date | null;
    failed_at: Date | null;
    failed_step: string | null;
    /** Reason code. */
    failure: string | null;
    /** Consecutive failures. */
    failures: Generated<number>;
  };
  /** The time until which tokens of a policy (by its `meaning`), minted by a process (`replica`), may be valid. */
  readonly policy_tokens: { replica: string; meaning: string; until: Date };
  /** Append-only. `content` and `hash` as audit/chain.ts makes them; the other columns are for searching. */
  readonly audit_events: {
    seq: Seq;
    at: Date;
    kind: string;
    request_id: string | null;
    /** Pseudonym of the tenant. */
    tenant: string | null;
    content: string;
    hash: string;
  };
  /** One row: sequence number and hash of the last entry. */
  readonly audit_head: { id: Generated<number>; seq: Seq; hash: string };
  /** Segments of the audit that were archived, or will be. Together they are the chain's beginning, without a gap. */
  readonly audit_segments: {
    first_seq: Seq;
    last_seq: Seq;
    /** The time of its first entry. */
    began_at: Date;
    /** The hash before its first entry. */
    prev: string;
    /** The hash of its last entry. Null: its file may not be written yet, and its entries are all here. */
    hash: string | null;
    /** What was archived, signed (audit/segment.ts). Null together with `hash`. */
    anchor: string | null;
  };
  /** One row, which a sweep locks. `holds_version` rises with each change of the holds; `told_version`: the service has that one. */
  readonly retention: {
    is_only: Generated<boolean>;
    swept_at: ColumnType<Date, Date | undefined, Date>;
    holds_version: ColumnType<string, never, RawBuilder<string>>;
    told_version: ColumnType<string, never, string>;
  };
  readonly holds: {
    id: string;
    /** Null: all tenants, and what belongs to none. */
    tenant_ref: string | null;
    /** Null: all tenants, or the tenant was erased. */
    client_id: string | null;
    reason: string;
    /** As the audit names people. */
    placed_by: string | null;
    placed_at: Date;
  };
  /** A key of 32 bytes in base64 for each tenant. The key for events without a tenant has an empty reference. */
  readonly tenant_keys: { tenant_ref: string; pseudonym: string; key: string };
  /** The input of one decision, encrypted with the tenant's key. `request_id` is made by explanationKeyOf (audit/append.ts). */
  readonly audit_explanations: { request_id: string; tenant_ref: string; at: Date; sealed: string };
  /** Every policy that was in force, as JSON: `[{file, text}]`. */
  readonly policy_texts: { digest: string; at: Date; files: string };
};

/** A nullable column. Null if it is left out in an insert. */
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;

/** The result of erasing one storage (see Eraser). Contains no tenant name. */
export type ErasureStep = {
  readonly where: string;
  /** Numbers of erased items by kind. */
  readonly erased: Readonly<Record<string, number>>;
  /** Data that is not erased, and the reason. */
  readonly left: readonly string[];
};

export type RolloutTables = {
  /** Every version of a template that was seen. `version` is the digest of `content`. */
  readonly template_versions: {
    template: string;
    version: string;
    content: string;
    /** The version without settings. Null: `version` is it. */
    content_version: string | null;
    label: string | null;
    recorded_at: Date;
  };
  /** Each change of a template that was seen, numbered from 1. A restored version is a new edition. */
  readonly template_editions: {
    template: string;
    number: number;
    version: string;
    at: Date;
    /** Who made it, as the audit names people. Null if nobody said so, as for a file that was imported. */
    made_by: string | null;
  };
  readonly rollouts: {
    id: string;
    template: string;
    version: string;
    workspace: string;
    /** RolloutOptions as JSON. */
    options: string;
    state: RolloutState;
    /** Who began it, as the audit names people. Null: by the gateway token. */
    started_by: Nullable<string>;
    created_at: Date;
    updated_at: Date;
  };
  readonly rollout_items: {
    rollout_id: string;
    dashboard_id: string;
    tenant_ref: string;
    cohort: number;
    state: ItemState;
    from_version: string | null;
    /** `before`: the content that a rollback restores. `after`: the content that the roll-out writes. */
    before_content: string | null;
    before_digest: string | null;
    after_content: string | null;
    after_digest: string | null;
    conflicts: string | null;
    fault: string | null;
    updated_at: Date;
  };
};

/**
 * The state of a roll-out. `running` or `rolling-back` without a lease means that the roll-out was interrupted and can
 * be resumed.
 */
export type RolloutState =
  | 'running'
  | 'paused'
  | 'stopped'
  | 'finished'
  | 'rolling-back'
  | 'rollback-stopped'
  | 'rolled-back';

/**
 * The state of one dashboard in a roll-out. `prepared`: its earlier content is stored, and the new content may or may
 * not have been written. `current`: no write was necessary. States that begin with `restore` belong to a rollback.
 */
export type ItemState =
  | 'waiting'
  | 'prepared'
  | 'applied'
  | 'current'
  | 'conflict'
  | 'missing'
  | 'unknown-base'
  | 'failed'
  | 'restored'
  | 'restore-conflict'
  | 'restore-missing'
  | 'restore-failed';

/** The ledger's columns that the encryption key seals. Explanations are not among them: a key of their tenant seals those. */
export const sealedColumns = sealedColumnsOf<LedgerTables>(schemaName, {
  'recipients.sealed': { key: ['tenant_ref', 'user_ref'], contextOf: (_, user = '') => user },
});
