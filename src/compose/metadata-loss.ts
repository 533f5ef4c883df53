/**
 * Finds writes that the embedded database has lost, by comparing it with its high-water mark, and databases that were
 * never used.
 */
import { readdir } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import type { AuditEvent } from '../gateway/audit/audit.js';
import type { ChainHead } from '../gateway/audit/chain.js';
import { type LedgerTables, schemaName } from '../gateway/ledger/tables.js';
import type { Database } from '../platform/databases/database.js';
import { listDone } from '../platform/databases/migrate.js';
import { isMissing } from '../platform/files/missing.js';
import { bytesOf, type HighWaterMark } from '../platform/keys/high-water-mark.js';
import { schemaName as storeSchema } from '../service/store/tables.js';

/** What is missing, as it is written to the audit. */
export type Loss = NonNullable<AuditEvent['detail']>;

type Db = Kysely<LedgerTables>;

/** Whether no part of the product has ever been started on the database. */
export const isUnused = async (database: Database): Promise<boolean> => {
  const there = await Promise.all(
    [storeSchema, schemaName].map((schema) => listDone(database.connect<unknown>(), schema)),
  );
  return there.every((done) => done.length === 0);
};

/**
 * Returns the last entry of the audit chain; null if there is no audit. Must read through Kysely, whose SELECTs are not
 * counted as writes.
 */
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

/** Whether the entry was archived, as far as the ledger tells: it has the hashes of the last entries of segments. */
const isArchived = async (db: Db, { seq, hash }: ChainHead): Promise<boolean> => {
  const { isThere } = await db
    .selectNoFrom(sql<boolean>`to_regclass(${`${schemaName}.audit_segments`}) is not null`.as('isThere'))
    .executeTakeFirstOrThrow();
  if (!isThere) return false;
  const segments = db.withSchema(schemaName).selectFrom('audit_segments').select(['last_seq', 'hash']);
  const row = await segments
    .where('first_seq', '<=', seq)
    .where('last_seq', '>=', seq)
    .where('hash', 'is not', null)
    .executeTakeFirst();
  return row !== undefined && (Number(row.last_seq) > seq || row.hash === hash);
};

/**
 * Returns the position of the last checkpoint. The database wrote it before this start, so later writes are not
 * included.
 */
const loadFoundLsn = async (db: Db): Promise<string> => {
  const found = sql<string>`(select redo_lsn::text from pg_control_checkpoint())`.as('lsn');
  return (await db.selectNoFrom(found).executeTakeFirstOrThrow()).lsn;
};

/** Returns the position up to which writes are on disk. A killed process does not lose these. */
export const loadWrittenLsn = async (db: Db): Promise<string> => {
  const written = sql<string>`pg_current_wal_flush_lsn()::text`.as('lsn');
  return (await db.selectNoFrom(written).executeTakeFirstOrThrow()).lsn;
};

const auditLoss = async (db: Db, marked: ChainHead | null): Promise<Loss | null> => {
  if (marked === null || marked.seq === 0) return null;
  const head = await findHead(db);
  const seq = head?.seq ?? 0;
  if (seq < marked.seq) return { why: 'audit entries are missing', firstEntry: seq + 1, lastEntry: marked.seq };
  if ((await findHash(db, marked.seq)) === marked.hash || (await isArchived(db, marked))) return null;
  return { why: 'the audit is not the recorded one', lastEntry: marked.seq };
};

/** Returns what the database lacks compared to the mark; null if nothing is missing. */
export const findLoss = async (database: Database, mark: HighWaterMark): Promise<Loss | null> => {
  const db = database.connect<LedgerTables>();
  const missing = bytesOf(mark.lsn) - bytesOf(await loadFoundLsn(db));
  const bytes = missing > 0n ? { lostBytes: Number(missing) } : {};
  const audit = await auditLoss(db, mark.audit);
  if (audit !== null) return { ...audit, ...bytes, markedAt: mark.at };
  if (missing > 0n) return { why: 'the end of the write-ahead log is missing', ...bytes, markedAt: mark.at };
  return mark.isBehind ? { why: 'an earlier start found missing data', markedAt: mark.at } : null;
};

const isEmpty = async (folder: string): Promise<boolean> => {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    // Any other error occurs again when the folder is opened, and is reported there.
    return isMissing(error);
  }
};

/** Finds losses in the files, before the database is opened. */
export const findLossInFiles = async (folder: string, mark: HighWaterMark | undefined): Promise<Loss | null> =>
  mark !== undefined && (await isEmpty(folder))
    ? {
        why: 'the database is gone',
        ...(mark.audit === null ? {} : { firstEntry: 1, lastEntry: mark.audit.seq }),
        markedAt: mark.at,
      }
    : null;
