/** Appends to the audit chain: one transaction for all waiting events, in one order for all replicas. */
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Ledger, LedgerTables } from '../ledger/ledger.js';
import type { AuditEvent } from './audit.js';
import { type AuditContent, type ChainHead, entryOf } from './chain.js';
import { type Pseudonyms, pseudonymsOf, withoutNames } from './pseudonyms.js';

export type StampedEvent = { readonly at: Date; readonly event: AuditEvent };

type Db = Transaction<LedgerTables>;

/** The tenant reference of events without a tenant. */
const noTenantRef = '';

/** Locks the chain's head until the end of the transaction, so that appends and erasures run one after the other. */
const lockHead = async (db: Db): Promise<ChainHead> => {
  const { seq, hash } = await db
    .selectFrom('audit_head')
    .select(['seq', 'hash'])
    .where('id', '=', 1)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { seq: Number(seq), hash };
};

type KeyRow = LedgerTables['tenant_keys'];

const newKey = (ref: string, clientId: string | null): KeyRow => {
  const key = randomBytes(32);
  return {
    tenant_ref: ref,
    pseudonym: clientId === null ? '' : pseudonymsOf(key).tenant(clientId),
    key: key.toString('base64'),
  };
};

/** ClientIds by tenant reference. Null for events without a tenant. */
type Clients = ReadonlyMap<string, string | null>;

/**
 * Returns the keys of these tenants, and creates missing ones. A deleted tenant gets no new key, since nothing of it
 * may be stored.
 */
const keysOf = async (db: Db, clients: Clients): Promise<ReadonlyMap<string, Pseudonyms>> => {
  const refs = [...clients.keys()];
  const find = () => db.selectFrom('tenant_keys').selectAll().where('tenant_ref', 'in', refs).execute();
  const found = await find();
  const missing = refs.filter((ref) => !found.some(({ tenant_ref }) => tenant_ref === ref));
  if (missing.length > 0) {
    const deleted = await db
      .selectFrom('tenants')
      .select('tenant_ref')
      .where('tenant_ref', 'in', missing)
      .where('state', '=', 'deleted')
      .execute();
    const gone = new Set(deleted.map(({ tenant_ref }) => tenant_ref));
    const made = missing.filter((ref) => !gone.has(ref)).map((ref) => newKey(ref, clients.get(ref) ?? null));
    if (made.length > 0) await db.insertInto('tenant_keys').values(made).execute();
    found.push(...made);
  }
  return new Map(found.map(({ tenant_ref, key }) => [tenant_ref, pseudonymsOf(Buffer.from(key, 'base64'))]));
};

/** Replaces names that were erased. */
const erased = 'erased';

/**
 * Returns the names to seal. Undefined for an event without a tenant: no erasure would ever destroy the key of such
 * names.
 */
const namesIn = ({ clientId, user }: AuditEvent): string | undefined =>
  clientId === undefined ? undefined : JSON.stringify({ tenant: clientId, user });

const detailOf = ({ detail, clientId, user }: AuditEvent): AuditEvent['detail'] =>
  detail === undefined
    ? undefined
    : Object.fromEntries(
        Object.entries(detail).map(([name, value]) => [
          name,
          typeof value === 'string' ? withoutNames(value, [clientId, user]) : value,
        ]),
      );

const contentOf = (
  { at, event }: StampedEvent,
  { seq, hash }: ChainHead,
  pseudonyms: Pseudonyms | undefined,
): AuditContent => {
  const { kind, code, requestId, clientId, user, policyAt, requestDigest, upstreamId, durationMs } = event;
  const names = namesIn(event);
  return {
    seq: seq + 1,
    at: at.toISOString(),
    kind,
    code,
    requestId,
    tenant: clientId === undefined ? undefined : (pseudonyms?.tenant(clientId) ?? erased),
    user: user === undefined ? undefined : (pseudonyms?.user(user) ?? erased),
    policyAt,
    requestDigest: requestDigest === undefined ? undefined : pseudonyms?.digest(requestDigest),
    upstreamId,
    durationMs,
    detail: detailOf(event),
    names: names === undefined ? undefined : pseudonyms?.seal(names, 'names'),
    prev: hash,
  };
};

const insertAll = async (
  db: Db,
  before: ChainHead,
  stamped: readonly StampedEvent[],
  keyOf: (event: AuditEvent) => Pseudonyms | undefined,
): Promise<ChainHead> => {
  let head = before;
  const rows = stamped.map((one) => {
    const content = contentOf(one, head, keyOf(one.event));
    const entry = entryOf(content);
    head = { seq: content.seq, hash: entry.hash };
    const { kind, requestId = null, tenant = null } = content;
    return { ...entry, seq: content.seq, at: one.at, kind, request_id: requestId, tenant };
  });
  await db.insertInto('audit_events').values(rows).execute();
  await db.updateTable('audit_head').set(head).where('id', '=', 1).execute();
  return head;
};

type ExplanationRow = { request_id: string; tenant_ref: string; at: Date; sealed: string };

/** The key of one decision's explanation. Callers choose request ids and can repeat them, so it includes the entry's `seq`. */
export const explanationKeyOf = (requestId: string, seq: number): string => `${requestId}:${seq}`;

const explanationsOf = (
  stamped: readonly StampedEvent[],
  before: ChainHead,
  refOf: (event: AuditEvent) => string,
  keyOf: (event: AuditEvent) => Pseudonyms | undefined,
): readonly ExplanationRow[] =>
  stamped.flatMap(({ at, event }, index) => {
    const { requestId, explanation } = event;
    const pseudonyms = keyOf(event);
    if (requestId === undefined || explanation === undefined || pseudonyms === undefined) return [];
    const key = explanationKeyOf(requestId, before.seq + 1 + index);
    const text = JSON.stringify({ ...explanation, clientId: event.clientId, code: event.code });
    return [{ request_id: key, tenant_ref: refOf(event), at, sealed: pseudonyms.seal(text, key) }];
  });

/** Stores these events in the transaction that does what they say, and returns the new head. */
export const appendWithin = async (
  db: Db,
  ledger: Pick<Ledger, 'refOf'>,
  stamped: readonly StampedEvent[],
): Promise<ChainHead> => {
  const refOf = ({ clientId }: AuditEvent): string => (clientId === undefined ? noTenantRef : ledger.refOf(clientId));
  const head = await lockHead(db);
  const clients = new Map(stamped.map(({ event }) => [refOf(event), event.clientId ?? null]));
  const keys = await keysOf(db, clients);
  const keyOf = (event: AuditEvent): Pseudonyms | undefined => keys.get(refOf(event));
  const explanations = explanationsOf(stamped, head, refOf, keyOf);
  if (explanations.length > 0) {
    await db
      .insertInto('audit_explanations')
      .values([...explanations])
      .execute();
  }
  return insertAll(db, head, stamped, keyOf);
};

/** Stores these events, all or none, and returns the new head. */
export const appendEvents = (ledger: Ledger, stamped: readonly StampedEvent[]): Promise<ChainHead> =>
  ledger.db.transaction().execute((db) => appendWithin(db, ledger, stamped));

/** Destroys what identifies a tenant in the audit: its key and its sealed explanations. The chain does not change. */
export const eraseFromAudit = async (
  db: Db,
  tenantRef: string,
): Promise<{ readonly keys: number; readonly explanations: number }> => {
  await lockHead(db);
  const keys = await db.deleteFrom('tenant_keys').where('tenant_ref', '=', tenantRef).executeTakeFirst();
  const explanations = await db.deleteFrom('audit_explanations').where('tenant_ref', '=', tenantRef).executeTakeFirst();
  return { keys: Number(keys.numDeletedRows), explanations: Number(explanations.numDeletedRows) };
};
