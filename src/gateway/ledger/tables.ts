/** The gateway's own tables. Every statement names the schema, which `ledgerOf` sees to. */
import type { Generated } from 'kysely';

export const schemaName = 'guestlist_gateway';

/** Where a tenant stands. What is deleted stays deleted until it is signed up anew. */
export type TenantState = 'active' | 'suspended' | 'deleted';

/** A bigint: PGlite gives a number, a server text. */
type Seq = string | number;

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
