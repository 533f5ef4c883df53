/** The gateway's own tables. Every statement names the schema, which `ledgerOf` sees to. */
import type { ColumnType, Generated, RawBuilder } from 'kysely';

export const schemaName = 'guestlist_gateway';

/** Where a tenant stands. What is deleted stays deleted until it is signed up anew. */
export type TenantState = 'active' | 'suspended' | 'deleted';

/** A bigint: PGlite gives a number, a server text. */
type Seq = string | number;

/** The rows of each table, as the migrations made them. */
export type LedgerTables = RolloutTables & {
  /** One row. `tenant_key` keys the references of tenants: 32 random bytes in base64. */
  readonly installation: { id: Generated<number>; tenant_key: string };
  readonly tenants: {
    /** HMAC-SHA256 of the clientId under the installation's key, in hex: all that is left of a tenant that was erased. */
    tenant_ref: string;
    /** Null: erased. */
    client_id: string | null;
    state: TenantState;
    /** Of the newest event that set the state; null: nothing but a login was ever seen. */
    occurred_at: Date | null;
    created_at: Date;
    updated_at: Date;
    /** The newest event of each kind; null: none. */
    signed_up_at: Nullable<Date>;
    resumed_at: Nullable<Date>;
    suspended_at: Nullable<Date>;
    deleted_at: Nullable<Date>;
    /** It was deleted, and not everything is erased yet. */
    is_erasure_owed: Generated<boolean>;
    /** How often the state, or what follows from it, changed. */
    changes: ColumnType<string, never, RawBuilder<string>>;
  };
  /** One row: the number of the newest change of an epoch. */
  readonly epoch_changes: { id: number; last: bigint };
  /** What was revoked ever. A scope that has no row has the epoch 0. */
  readonly epochs: {
    /** As epoch-scopes.ts writes it: nobody's name is in it. */
    scope: string;
    epoch: bigint;
    /** Sessions that were issued before are refused; null: none. */
    revoked_at: Date | null;
    /** Of the change that wrote it: grows in the order in which changes become visible. */
    change: bigint;
  };
  /** Revocations whose half at the service is still to be done. */
  readonly pending_revocations: {
    id: string;
    /** A RevocationTarget as JSON: it names a user or tenant, until the row goes. */
    target: string;
    attempts: number;
    attempt_at: Date;
    /** The process that works on it; null, or a dead one: nobody. */
    claimed_by: string | null;
    created_at: Date;
  };
  /** One for each process that is alive, as far as the others know. */
  readonly processes: { process_id: string; beat_at: Date };
  /** Who works on what: `leases.ts` says how long. */
  readonly leases: { name: string; holder: string; process_id: string };
  readonly hook_deliveries: {
    /** Stands for the webhook-id. */
    delivery_ref: string;
    /** Stands for the event's kind and body. */
    body_ref: string;
    received_at: Date;
    done_at: Nullable<Date>;
    /** What was answered. */
    answer: ColumnType<unknown, string | null | undefined, string>;
  };
  readonly erasures: {
    tenant_ref: string;
    deleted_at: Date;
    started_at: Date;
    finished_at: Nullable<Date>;
    /** What was erased so far, and what could not be. */
    steps: ColumnType<readonly ErasureStep[], string, string>;
  };
  /** A tenant's copies of templates: one row for each, from before it is made. */
  readonly dashboards: {
    tenant_ref: string;
    template: string;
    dashboard_id: string;
    /** SHA-256 of where the copy is: the upstream's address, data app and workspace. */
    upstream: string;
    /** SHA-256 that stands for the API key which saw it there. */
    key_ref: string;
    /** `templateVersionOf` what it was made from; null: unknown. */
    template_version: string | null;
    /** Who makes it now, or did so last. */
    attempt: string;
    started_at: Date;
    /** Null: it was there when this gateway came. */
    created_at: Date | null;
    /** Owner, template and import were seen to be right; null: never. */
    verified_at: Date | null;
    /** The service said since that something about it does not fit. */
    doubted_at: Date | null;
    failed_at: Date | null;
    failed_step: string | null;
    /** A slug. */
    failure: string | null;
    /** In a row. */
    failures: Generated<number>;
  };
  /** Until when tokens may live that a process minted under a policy of this meaning: what is left of one whose process has ended. */
  readonly policy_tokens: { replica: string; meaning: string; until: Date };
  /** Append-only. `content` and `hash` as audit-chain.ts makes them; the other columns are for finding them. */
  readonly audit_events: {
    seq: Seq;
    at: Date;
    kind: string;
    request_id: string | null;
    /** A pseudonym. */
    tenant: string | null;
    content: string;
    hash: string;
  };
  /** One row: the last entry. */
  readonly audit_head: { id: Generated<number>; seq: Seq; hash: string };
  /** 32 bytes in base64 for each tenant; the reference of those who are of no tenant is empty. */
  readonly tenant_keys: { tenant_ref: string; pseudonym: string; key: string };
  /** What a request was decided on, sealed with the tenant's key. */
  readonly audit_explanations: { request_id: string; tenant_ref: string; at: Date; sealed: string };
  /** Every policy that was in force, as JSON: `[{file, text}]`. */
  readonly policy_texts: { digest: string; at: Date; files: string };
};

/** Left out in an insert: null. */
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;

/** One place that was erased. Names no tenant. */
export type ErasureStep = {
  readonly where: string;
  /** How many of what. */
  readonly erased: Readonly<Record<string, number>>;
  /** What stays, and why. */
  readonly left: readonly string[];
};

/** The tables of roll-outs. */

export type RolloutTables = {
  /** A template's content as it once was, kept once: `version` is the digest of `content`. */
  readonly template_versions: {
    template: string;
    version: string;
    content: string;
    label: string | null;
    recorded_at: Date;
  };
  readonly rollouts: {
    id: string;
    template: string;
    version: string;
    workspace: string;
    /** JSON: the canary, the steps, and what stops it. */
    options: string;
    state: RolloutState;
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
    /** The content that a rollback restores, with its digest; then the one that is written. */
    before_content: string | null;
    before_digest: string | null;
    after_content: string | null;
    after_digest: string | null;
    conflicts: string | null;
    fault: string | null;
    updated_at: Date;
  };
};

/** Where a roll-out stands. `running` and `rolling-back` without a lease were interrupted, and can be gone on with. */
export type RolloutState = 'running' | 'stopped' | 'finished' | 'rolling-back' | 'rollback-stopped' | 'rolled-back';

/**
 * Where one dashboard of a roll-out stands. `prepared`: its before-image is kept, and it may or may not be written. `current`: there was nothing to
 * write. What begins with `restore` is of a rollback.
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
