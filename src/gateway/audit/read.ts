/** Reads the audit: verifies that the chain is complete and unmodified, exports entries, and loads a request's decision. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '../../model/refusal.js';
import type { Unchanging } from '../../platform/http/interface/callable.js';
import type { ArchiveVerifier } from '../../platform/keys/archive-keys.js';
import { type Breathe, breathe as ofThisProcess } from '../../platform/work/breathe.js';
import { written } from '../common/admin-command.js';
import type { Ledger } from '../ledger/ledger.js';
import { explanationKeyOf } from './append.js';
import { type AuditKind, auditKinds, type Explanation } from './audit.js';
import { type AuditEntry, assertAnchor, ChainFault, type ChainHead, follow, genesisHash, lineOf } from './chain.js';
import { type Pseudonyms, pseudonymsOf } from './pseudonyms.js';
import { openAnchor, readAnchor, type SegmentAnchor } from './segment.js';

/** Maximum number of entries in one page of an export. */
const pageSize = 1000;
/** Number of entries to read and check before other tasks of this process run. */
const sliceSize = 200;

type Row = AuditEntry & { readonly seq: number };

const page = async ({ db }: Pick<Ledger, 'db'>, after: number, limit: number): Promise<readonly Row[]> => {
  const rows = await db
    .selectFrom('audit_events')
    .select(['seq', 'content', 'hash'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(({ seq, ...entry }) => ({ ...entry, seq: Number(seq) }));
};

export const verification = z.object({
  /** Number of entries that were checked after the archived ones. */
  entries: z.number(),
  /** Number of entries at the chain's beginning that were archived. */
  archived: z.number(),
  head: z.object({ seq: z.number(), hash: z.string() }),
  /** Null if the chain is complete and unmodified. */
  fault: z.object({ seq: z.number(), message: z.string() }).nullable(),
});
export type Verification = z.output<typeof verification>;

/**
 * Throws ChainFault unless the chain ends at its stored head and contains `anchor`, a head that was stored elsewhere.
 */
const assertEnd = (
  head: ChainHead,
  { stored, archived }: { readonly stored: ChainHead; readonly archived: number },
  anchor: ChainHead | undefined,
  anchorHash: string | null,
) => {
  if (head.seq < stored.seq)
    throw new ChainFault(head.seq + 1, `the last ${stored.seq - head.seq} entries are missing`);
  if (head.hash !== stored.hash) throw new ChainFault(head.seq, 'the head does not match the last entry');
  if (anchor === undefined) return;
  if (anchorHash === null && anchor.seq <= archived)
    throw new ChainFault(anchor.seq, `entry ${anchor.seq} was archived: verify its segment against this head (--file)`);
  assertAnchor(anchor, anchorHash);
};

/** Throws ChainFault unless the entries of the segment that are still here are those that its archive has. */
const assertKept = async (ledger: Pick<Ledger, 'db'>, { first, last, kept }: SegmentAnchor, breathe: Breathe) => {
  const hashes = new Map(kept);
  for (let after = first - 1; after < last; ) {
    const rows = (await page(ledger, after, Math.min(sliceSize, last - after))).filter(({ seq }) => seq <= last);
    await breathe();
    for (const row of rows) {
      if (hashes.get(row.seq) === row.hash && hash('sha256', row.content, 'hex') === row.hash) continue;
      throw new ChainFault(row.seq, `entry ${row.seq} was changed: it is not the one that was archived`);
    }
    after = rows.at(-1)?.seq ?? last;
  }
};

/** The hash of the chain at the anchor, as far as archived entries tell. Null: they do not. */
const hashAt = ({ prev, first, last, hash: lastHash, kept }: SegmentAnchor, { seq }: ChainHead): string | null => {
  if (seq === first - 1) return prev;
  return seq === last ? lastHash : (new Map(kept).get(seq) ?? null);
};

type Walked = { readonly head: ChainHead; readonly anchorHash: string | null };
const genesis: ChainHead = { seq: 0, hash: genesisHash };

/** Verifies the records of archived entries, and returns the head after them. */
const walkArchived = async (
  ledger: Pick<Ledger, 'db'>,
  anchor: ChainHead | undefined,
  { verifier, breathe }: Required<VerifyOptions>,
): Promise<Walked> => {
  let head = genesis;
  let anchorHash: string | null = null;
  const stored = ledger.db.selectFrom('audit_segments').select('anchor').where('anchor', 'is not', null);
  for (;;) {
    const row = await stored.where('last_seq', '>', head.seq).orderBy('first_seq').limit(1).executeTakeFirst();
    if (row?.anchor == null) break;
    const segment = verifier === 'copied' ? readAnchor(row.anchor) : openAnchor(row.anchor, verifier);
    if (segment.first !== head.seq + 1 || segment.prev !== head.hash)
      throw new ChainFault(
        head.seq + 1,
        `the record of the archived entries ${segment.first} to ${segment.last} does not follow the one before it`,
      );
    await assertKept(ledger, segment, breathe);
    if (anchor !== undefined) anchorHash ??= hashAt(segment, anchor);
    head = { seq: segment.last, hash: segment.hash };
  }
  return { head, anchorHash };
};

export type VerifyOptions = {
  /** The public keys of archived segments. `copied`: a copy of a database that was verified; signatures are not checked. */
  readonly verifier?: ArchiveVerifier | 'copied';
  readonly breathe?: Breathe;
};

const verifyOnce = async (
  ledger: Pick<Ledger, 'db'>,
  anchor: ChainHead | undefined,
  { verifier, breathe }: Required<VerifyOptions>,
): Promise<Verification> => {
  // Read before the entries, so that entries appended meanwhile are not a fault.
  const stored = await ledger.db.selectFrom('audit_head').select(['seq', 'hash']).executeTakeFirst();
  const end = { seq: Number(stored?.seq ?? 0), hash: stored?.hash ?? '' };
  let base = genesis;
  let head = genesis;
  const state = (fault: Verification['fault']): Verification => ({
    ...{ entries: head.seq - base.seq, archived: base.seq, head, fault },
  });
  try {
    const archived = await walkArchived(ledger, anchor, { verifier, breathe });
    base = archived.head;
    head = base;
    let anchorHash = anchor?.seq === 0 ? genesisHash : archived.anchorHash;
    while (head.seq < end.seq) {
      const rows = await page(ledger, head.seq, Math.min(sliceSize, end.seq - head.seq));
      if (rows.length === 0) break;
      await breathe();
      for (const row of rows) {
        head = follow(head, row);
        if (head.seq === anchor?.seq) anchorHash = head.hash;
      }
    }
    assertEnd(head, { stored: end, archived: base.seq }, anchor, anchorHash);
    return state(null);
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error;
    return state({ seq: error.seq, message: error.message });
  }
};

const countArchived = async ({ db }: Pick<Ledger, 'db'>): Promise<number> => {
  const archived = db.selectFrom('audit_segments').where('anchor', 'is not', null);
  const row = await archived.select(({ fn }) => fn.max('last_seq').as('last')).executeTakeFirst();
  return Number(row?.last ?? 0);
};

/**
 * Verifies the whole chain, in slices, from the end of its archived entries. `anchor` is a head that was stored elsewhere:
 * the log contains some, and every export ends with one. Begins again if entries are archived meanwhile.
 */
export const verifyAudit = async (
  ledger: Pick<Ledger, 'db'>,
  anchor?: ChainHead,
  { verifier = new Map(), breathe = ofThisProcess }: VerifyOptions = {},
): Promise<Verification> => {
  for (;;) {
    const before = await countArchived(ledger);
    const verified = await verifyOnce(ledger, anchor, { verifier, breathe });
    if (verified.fault === null || (await countArchived(ledger)) === before) return verified;
  }
};

/** Returns the pseudonyms of a tenant. Undefined if its key was destroyed or never created. */
export const findKey = async ({ db }: Ledger, tenantRef: string): Promise<Pseudonyms | undefined> => {
  const row = await db.selectFrom('tenant_keys').select('key').where('tenant_ref', '=', tenantRef).executeTakeFirst();
  return row === undefined ? undefined : pseudonymsOf(Buffer.from(row.key, 'base64'));
};

export const exportInput = z.strictObject({
  after: z.number().int().min(0).default(0).describe('The seq after which the page begins.'),
  limit: z.number().int().min(1).max(pageSize).default(pageSize),
  /** A clientId. */
  tenant: z.string().min(1).max(255).optional(),
  kind: z.enum(auditKinds).optional(),
  names: z.boolean().default(false).describe('Whether names are returned in addition to their pseudonyms.'),
});

/** The tenant and the user of an entry. */
export const entryNames = z.object({ tenant: z.string().optional(), user: z.string().optional() });
type EntryNames = z.output<typeof entryNames>;

/** Returns the names of these entries: finds each key by the tenant's pseudonym and opens the sealed names. */
export const namesOf = async (
  { db }: Ledger,
  entries: readonly AuditEntry[],
): Promise<readonly (EntryNames | null)[]> => {
  const contents = entries.map(({ content }): { tenant?: string; names?: string } => JSON.parse(content));
  const pseudonyms = [...new Set(contents.map(({ tenant = '' }) => tenant))];
  if (pseudonyms.length === 0) return [];
  const rows = await db.selectFrom('tenant_keys').selectAll().where('pseudonym', 'in', pseudonyms).execute();
  const keys = new Map(rows.map(({ pseudonym, key }) => [pseudonym, pseudonymsOf(Buffer.from(key, 'base64'))]));
  return contents.map(({ tenant = '', names }) => {
    const key = keys.get(tenant);
    return names === undefined || key === undefined ? null : JSON.parse(key.open(names, 'names'));
  });
};

export const auditPage = z.object({
  /** One entry on each line, in the format of chain.ts. */
  lines: z.array(z.string()),
  /** The names for each line, if requested. Null if the line has no names, or they were erased. */
  names: z.array(entryNames.nullable()).optional(),
  /** The `seq` after which the next page begins. Null if this page is the last. */
  next: z.number().nullable(),
});
type AuditPage = Unchanging<z.output<typeof auditPage>>;

/** Returns up to `limit` rows after `after`, read in slices. */
const firstRows = async <Row extends { readonly seq: string | number }>(
  limit: number,
  after: number,
  read: (after: number, most: number) => Promise<readonly Row[]>,
): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (let seq = after; rows.length < limit; seq = Number(rows.at(-1)?.seq)) {
    const most = Math.min(sliceSize, limit - rows.length);
    const slice = await read(seq, most);
    rows.push(...slice);
    if (slice.length < most) break;
  }
  return rows;
};

/** Returns one page of entries in order. A page for one tenant or kind is not a complete chain. */
export const exportAudit = async (ledger: Ledger, input: z.output<typeof exportInput>): Promise<AuditPage> => {
  const { after, limit, tenant, kind } = input;
  const key = tenant === undefined ? undefined : await findKey(ledger, ledger.refOf(tenant));
  if (tenant !== undefined && key === undefined) return { lines: [], next: null };
  let query = ledger.db.selectFrom('audit_events').select(['seq', 'content', 'hash']).orderBy('seq');
  if (tenant !== undefined && key !== undefined) query = query.where('tenant', '=', key.tenant(tenant));
  if (kind !== undefined) query = query.where('kind', '=', kind satisfies AuditKind);
  const rows = await firstRows(limit + 1, after, (seq, most) => query.where('seq', '>', seq).limit(most).execute());
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    lines: shown.map((row) => lineOf(row)),
    ...(input.names ? { names: await namesOf(ledger, shown) } : {}),
    next: rows.length > limit && last !== undefined ? Number(last.seq) : null,
  };
};

/** A request's decision with its inputs, and the policy at that time. */
export const decided = z.object({
  policyDigest: z.string(),
  session: written<Explanation['session']>(),
  asked: written<Explanation['asked']>(),
  now: z.string(),
  code: z.string(),
  clientId: z.string().nullable(),
  policy: z.array(z.object({ file: z.string(), text: z.string() })),
});
export type Decided = Unchanging<z.output<typeof decided>>;

const notExplained = (requestId: string, why: string): Refusal =>
  new Refusal('NOT_FOUND', `The request ${requestId} cannot be explained: ${why}.`);

/** Maximum number of decisions that an error message lists for one request id. */
const maxNamedDecisions = 20;

/**
 * Returns the keys under which the explanation can be stored. Earlier releases stored it under the request id alone.
 * Throws NOT_SUPPORTED if several decisions have this id, since any choice between them could be wrong.
 */
const explanationKeysOf = async ({ db }: Ledger, requestId: string): Promise<readonly string[]> => {
  const decisions = await db
    .selectFrom('audit_events')
    .select(['seq', 'kind', 'at'])
    .where('request_id', '=', requestId)
    .where('kind', 'in', ['mint', 'denial'] satisfies AuditKind[])
    .orderBy('seq', 'desc')
    .limit(maxNamedDecisions)
    .execute();
  const keys = decisions.map(({ seq }) => explanationKeyOf(requestId, Number(seq)));
  if (keys.length < 2) return [requestId, ...keys];
  const named = decisions.map(({ kind, at }, index) => `${keys[index]} (${kind}, ${at.toISOString()})`);
  throw new Refusal(
    'NOT_SUPPORTED',
    `Several decisions have the request id ${requestId}. Ask for one of them instead, newest first: ${named.join('; ')}.`,
  );
};

/**
 * Returns the inputs of a request's decision. `requestId` is the id of the request, or `<request id>:<seq of its audit
 * entry>` if several requests have that id. Throws NOT_SUPPORTED if several decisions have the id, and NOT_FOUND if no
 * explanation is stored (any more).
 */
export const loadExplanation = async (ledger: Ledger, requestId: string): Promise<Decided> => {
  const row = await ledger.db
    .selectFrom('audit_explanations')
    .select(['request_id', 'tenant_ref', 'sealed'])
    .where('request_id', 'in', await explanationKeysOf(ledger, requestId))
    .executeTakeFirst();
  if (row === undefined) {
    throw notExplained(
      requestId,
      'only requests that minted a token or were denied are kept, and not for ever. Look for the id in the log: the line of a query has the reason of a refusal as refused, and the line of a cached token the request that minted it as mintedBy',
    );
  }
  const key = await findKey(ledger, row.tenant_ref);
  if (key === undefined) throw notExplained(requestId, 'its tenant was erased');
  const { clientId = null, ...explanation } = JSON.parse(key.open(row.sealed, row.request_id));
  const policy = await ledger.db
    .selectFrom('policy_texts')
    .select('files')
    .where('digest', '=', explanation.policyDigest)
    .executeTakeFirst();
  if (policy === undefined) throw notExplained(requestId, 'its policy was not kept');
  return { ...explanation, clientId, policy: JSON.parse(policy.files) };
};

export type RecentSession = Pick<Decided, 'session' | 'asked' | 'clientId'> & {
  readonly at: Date;
  /** How many of the decisions that were looked through are this user's. */
  readonly times: number;
};

/** Requests by which somebody looked through a user's eyes: the claims are what that person wrote. */
const viewsAmong = async ({ db }: Ledger, requestIds: readonly string[]): Promise<ReadonlySet<string | null>> => {
  if (requestIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('audit_events')
    .select('request_id')
    .where('kind', '=', 'admin' satisfies AuditKind)
    .where('request_id', 'in', [...new Set(requestIds)])
    .execute();
  return new Set(rows.map(({ request_id }) => request_id));
};

const requestIdIn = (key: string): string => key.replace(/:\d+$/, '');

/**
 * Returns the latest sessions of users that were decided, one for each user, newest first. Looks through `limit`
 * decisions. Erased tenants have none.
 */
export const loadRecentSessions = async (ledger: Ledger, limit: number): Promise<readonly RecentSession[]> => {
  const rows = await ledger.db
    .selectFrom('audit_explanations')
    .select(['request_id', 'tenant_ref', 'at', 'sealed'])
    .orderBy('at', 'desc')
    .limit(limit)
    .execute();
  const views = await viewsAmong(
    ledger,
    rows.map((row) => requestIdIn(row.request_id)),
  );
  const byUser = new Map<string, RecentSession>();
  for (const row of rows) {
    const key = await findKey(ledger, row.tenant_ref);
    if (key === undefined || views.has(requestIdIn(row.request_id))) continue;
    const explained: Explanation & { readonly clientId?: string } = JSON.parse(key.open(row.sealed, row.request_id));
    const { session, asked } = explained;
    const clientId = explained.clientId ?? null;
    const user = JSON.stringify([session.issuer, session.subject, clientId]);
    const newest = byUser.get(user) ?? { session, asked, clientId, at: row.at, times: 0 };
    byUser.set(user, { ...newest, times: newest.times + 1 });
  }
  return [...byUser.values()];
};
