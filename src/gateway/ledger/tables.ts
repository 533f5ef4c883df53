/** The gateway's own tables. Every statement names the schema, which `ledgerOf` sees to. */
import type { ColumnType, Generated, RawBuilder } from 'kysely';

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
  /** Who brings about now what a tenant's state asks for: one at a time over all replicas. */
  readonly tenant_turns: { tenant_ref: string; holder: string; expires_at: Date };
  /** What is being made for a tenant at the upstream just now. */
  readonly tenant_works: { work_id: string; tenant_ref: string; expires_at: Date };
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
