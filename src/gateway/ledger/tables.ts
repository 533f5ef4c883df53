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
    created_at: Date;
  };
};
