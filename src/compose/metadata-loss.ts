/** What the embedded database lacks of what its high-water mark says. */
import { readdir } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import type { AuditEvent } from '../gateway/audit/audit.js';
import type { ChainHead } from '../gateway/audit/chain.js';
import { type LedgerTables, schemaName } from '../gateway/ledger/tables.js';
import type { Database } from '../platform/database.js';
import { bytesOf, type HighWaterMark } from '../platform/high-water-mark.js';

/** What is missing, as the audit puts it down. */
export type Loss = NonNullable<AuditEvent['detail']>;

type Db = Kysely<LedgerTables>;

/** Null where there is no audit. Kysely's own SELECTs do not count as writes. */
export const findHead = async (db: Db): Promise<ChainHead | null> => {
  const { isThere } = await db
    .selectNoFrom(sql<boolean>`to_regclass(${`${schemaName}.audit_head`}) is not null`.as('isThere'))
    .executeTakeFirstOrThrow();
  if (!isThere) return null;
  const head = await db.withSchema(schemaName).selectFrom('audit_head').select(['seq', 'hash']).executeTakeFirst();
  return head === undefined ? null : { seq: Number(head.seq), hash: head.hash };
};

const findHash = async (db: Db, seq: number): Promise<string | undefined> => {
  const events = db.withSchema(schemaName).selectFrom('audit_events');
  return (await events.select('hash').where('seq', '=', seq).executeTakeFirst())?.hash;
};

/** The end of the log as the start found it: what the start itself wrote comes after. */
const loadFoundLsn = async (db: Db): Promise<string> => {
  const found = sql<string>`(select redo_lsn::text from pg_control_checkpoint())`.as('lsn');
  return (await db.selectNoFrom(found).executeTakeFirstOrThrow()).lsn;
};

/** What is flushed is in the files: a kill cannot take it back. */
export const loadWrittenLsn = async (db: Db): Promise<string> => {
  const written = sql<string>`pg_current_wal_flush_lsn()::text`.as('lsn');
  return (await db.selectNoFrom(written).executeTakeFirstOrThrow()).lsn;
};

const auditLoss = async (db: Db, marked: ChainHead | null): Promise<Loss | null> => {
  if (marked === null || marked.seq === 0) return null;
  const head = await findHead(db);
  const seq = head?.seq ?? 0;
  if (seq < marked.seq) return { why: 'audit entries are missing', firstEntry: seq + 1, lastEntry: marked.seq };
  if ((await findHash(db, marked.seq)) === marked.hash) return null;
  return { why: 'the audit is not the one that there was', lastEntry: marked.seq };
};

/** What the database lacks of what the mark says; null: nothing. */
export const findLoss = async (database: Database, mark: HighWaterMark): Promise<Loss | null> => {
  const db = database.connect<LedgerTables>();
  const missing = bytesOf(mark.lsn) - bytesOf(await loadFoundLsn(db));
  const bytes = missing > 0n ? { lostBytes: Number(missing) } : {};
  const audit = await auditLoss(db, mark.audit);
  if (audit !== null) return { ...audit, ...bytes, markedAt: mark.at };
  if (missing > 0n) return { why: 'the end of the write-ahead log is missing', ...bytes, markedAt: mark.at };
  return mark.isBehind ? { why: 'an earlier start found that something is missing', markedAt: mark.at } : null;
};

const isEmpty = async (folder: string): Promise<boolean> => {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    // Any other fault is told by the one who opens the folder.
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
};

/** What the files tell before the database is opened. */
export const findLossInFiles = async (folder: string, mark: HighWaterMark | undefined): Promise<Loss | null> =>
  mark !== undefined && (await isEmpty(folder))
    ? {
        why: 'the database is gone',
        ...(mark.audit === null ? {} : { firstEntry: 1, lastEntry: mark.audit.seq }),
        markedAt: mark.at,
      }
    : null;
