/** The gateway's own tables. Every statement names the schema, which `ledgerOf` sees to. */
import type { Generated } from 'kysely';

export const schemaName = 'guestlist_gateway';

/** Where a tenant stands. What is deleted stays deleted until it is signed up anew. */
export type TenantState = 'active' | 'suspended' | 'deleted';

/** The rows of each table, as the migrations made them. */
export type LedgerTables = {
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
    /** Who works on it, while its lease lasts. */
    runner: string | null;
    lease_until: Date | null;
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
