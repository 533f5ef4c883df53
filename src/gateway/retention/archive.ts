/**
 * Archives the beginning of the audit: writes it as signed segments into a folder, and deletes it only then. One segment
 * is planned in the ledger, written to its file, and then deleted together with the note that it is archived. After a
 * crash at any point the next sweep goes on with the planned segment: its entries always make the same file.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { daysBefore, type Retained } from '../../model/retention.js';
import { type AgedRows, deleteAged, endOf, withTurn } from '../../platform/databases/aged-rows.js';
import { fileFault } from '../../platform/files/file-faults.js';
import { isMissing } from '../../platform/files/missing.js';
import { flushFolder, writeWhole } from '../../platform/files/whole-file.js';
import type { ArchiveKeys } from '../../platform/keys/archive-keys.js';
import { breathe } from '../../platform/work/breathe.js';
import { type AuditEntry, ChainFault, type ChainHead, follow, genesisHash } from '../audit/chain.js';
import {
  anchorText,
  openAnchor,
  type SegmentRange,
  segmentName,
  segmentText,
  verifySegment,
} from '../audit/segment.js';
import type { Ledger } from '../ledger/ledger.js';
import { type LedgerTables, schemaName } from '../ledger/tables.js';
import { isEntryHeld, isEverythingHeld } from './held.js';

export type AuditArchive = {
  /** Where segments are written. The folder is created if it does not exist. */
  readonly folder: string;
  /** Entries are archived once their whole day (UTC) is older. */
  readonly days: number;
  readonly keys: ArchiveKeys;
  /** The most entries of one segment. */
  readonly entries?: number;
};

type Db = Transaction<LedgerTables>;
type Planned = { readonly first: number; readonly last: number; readonly prev: string };

/** Whole days are archived, so that a sweep in each hour does not make a file in each hour. */
const cutOf = (now: Date, days: number): Date => {
  const before = daysBefore(now, days);
  return new Date(Date.UTC(before.getUTCFullYear(), before.getUTCMonth(), before.getUTCDate()));
};

/** The entries after `after` up to the first one that is too young, at most `limit`. */
const findRun = async (db: Db, after: number, cut: Date, limit: number) => {
  const near = db.selectFrom('audit_events').select(['seq', 'at']).where('seq', '>', after);
  const all = near.where('seq', '<=', after + limit);
  const young = await all.where('at', '>=', cut).orderBy('seq').limit(1).executeTakeFirst();
  const run = young === undefined ? all : all.where('seq', '<', young.seq);
  const first = await run.orderBy('seq').limit(1).executeTakeFirst();
  const last = await run.orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return first === undefined || last === undefined ? undefined : { first, last: Number(last.seq) };
};

/** Returns the segment that was planned and not finished, or plans the next one. Null: nothing is old enough. */
const plan = async (db: Db, cut: Date, limit: number): Promise<Planned | null> => {
  const newest = await db
    .selectFrom('audit_segments')
    .selectAll()
    .orderBy('first_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (newest !== undefined && newest.hash === null)
    return { first: Number(newest.first_seq), last: Number(newest.last_seq), prev: newest.prev };
  if (await isEverythingHeld(db)) return null;
  const before: ChainHead = { seq: Number(newest?.last_seq ?? 0), hash: newest?.hash ?? genesisHash };
  const run = await findRun(db, before.seq, cut, limit);
  if (run === undefined) return null;
  const planned = { first: before.seq + 1, last: run.last, prev: before.hash };
  const row = { first_seq: planned.first, last_seq: planned.last, prev: planned.prev, began_at: run.first.at };
  await db
    .insertInto('audit_segments')
    .values({ ...row, hash: null, anchor: null })
    .execute();
  return planned;
};

/** Number of entries to read and check before other tasks of this process run. */
const readAtOnce = 200;

/** Reads the planned entries. Throws ChainFault: a chain that is not whole is never archived. */
const readEntries = async ({ db }: Ledger, { first, last, prev }: Planned) => {
  const entries: AuditEntry[] = [];
  let head: ChainHead = { seq: first - 1, hash: prev };
  while (head.seq < last) {
    const rows = await db
      .selectFrom('audit_events')
      .select(['content', 'hash'])
      .where('seq', '>', head.seq)
      .where('seq', '<=', last)
      .orderBy('seq')
      .limit(readAtOnce)
      .execute();
    if (rows.length === 0) throw new Error(`the entries ${head.seq + 1} to ${last} of the audit are missing`);
    await breathe();
    for (const row of rows) {
      head = follow(head, row);
      entries.push(row);
    }
  }
  return { entries, head };
};

const readText = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw await fileFault(file, 'read', error);
  }
};

/** Whether a file has the same entries, under the signature of any key of the ring. */
const isSame = (text: string, { name, of, keys }: Segment): boolean => {
  try {
    const { header } = verifySegment({ name, text }, keys.verifier);
    return header.installation === of.installation && header.prev === of.prev && header.hash === of.hash;
  } catch (error) {
    if (error instanceof ChainFault) return false;
    throw error;
  }
};

/** Whether the file is there, and would be after a crash. Throws if it has other entries. */
const isWritten = async (file: string, segment: Segment): Promise<boolean> => {
  const there = await readText(file);
  if (there === undefined) return false;
  if (!isSame(there, segment))
    throw new Error(
      `${file} exists and has other entries: another installation writes into this folder, or a backup was restored. Name another folder in retention.archiveFolder, or move the files elsewhere.`,
    );
  await flushFolder(dirname(file));
  return true;
};

type Segment = {
  readonly name: string;
  readonly of: SegmentRange;
  readonly entries: readonly AuditEntry[];
  readonly keys: ArchiveKeys;
};

/** Writes the file, unless an earlier attempt or another process has done it. `by` names this process. */
const writeSegment = async (folder: string, segment: Segment, by: string): Promise<void> => {
  const { name, of, entries, keys } = segment;
  const file = join(folder, name);
  if (await isWritten(file, segment)) return;
  try {
    await writeWhole(file, Readable.from([Buffer.from(segmentText(of, entries, keys), 'utf8')]), by);
  } catch (error) {
    if (!(await isWritten(file, segment))) throw error;
  }
};

/** Whether the segment is archived, by another process. */
const isFinished = async ({ db }: Ledger, { first }: Planned): Promise<boolean> => {
  const row = db
    .selectFrom('audit_segments')
    .select('hash')
    .where('first_seq', '=', first)
    .where('hash', 'is not', null);
  return (await row.executeTakeFirst()) !== undefined;
};

/** Notes that the segment is archived, and deletes its entries but for those that a hold keeps. */
const finish = async (db: Db, of: SegmentRange, keys: ArchiveKeys): Promise<void> => {
  const planned = db.selectFrom('audit_segments').select('hash').where('first_seq', '=', of.first);
  // Another process has finished it.
  if ((await planned.executeTakeFirst())?.hash !== null) return;
  const { rows } = await sql<{ seq: string | number; hash: string }>`
    select t.seq, t.hash from guestlist_gateway.audit_events as t
    where t.seq between ${of.first} and ${of.last} and ${isEntryHeld} order by t.seq`.execute(db);
  const kept = rows.map(({ seq, hash }): [number, string] => [Number(seq), hash]);
  await db
    .updateTable('audit_segments')
    .set({ hash: of.hash, anchor: anchorText(of, kept, keys) })
    .where('first_seq', '=', of.first)
    .execute();
  await sql`
    delete from guestlist_gateway.audit_events as t
    where t.seq between ${of.first} and ${of.last} and not (${isEntryHeld})`.execute(db);
};

/** Signs one record anew that an earlier key of the ring signed, so that it verifies once that key is gone. */
const renewSignature = async (db: Db, keys: ArchiveKeys): Promise<boolean> => {
  const row = await db
    .selectFrom('audit_segments')
    .select(['first_seq', 'anchor'])
    .where(sql<SqlBool>`strpos(anchor, ${`,"key":"${keys.id}","signature":"`}) = 0`)
    .orderBy('first_seq')
    .limit(1)
    .executeTakeFirst();
  if (row?.anchor == null) return false;
  const { kept, ...of } = openAnchor(row.anchor, keys.verifier);
  await db
    .updateTable('audit_segments')
    .set({ anchor: anchorText(of, kept, keys) })
    .where('first_seq', '=', row.first_seq)
    .execute();
  return true;
};

const isArchived: RawBuilder<SqlBool> = sql`t.seq <= coalesce(
  (select max(last_seq) from guestlist_gateway.audit_segments where anchor is not null), 0)`;

/** Archived entries that a hold kept, and that no hold keeps any more. */
const released: AgedRows = {
  table: `${schemaName}.audit_events`,
  isDue: () => isArchived,
  isHeld: isEntryHeld,
};

/** Entries that are old enough, or archived already. */
export const oldEntries = (days: number): AgedRows => ({
  ...released,
  isDue: (now) => sql`(t.at < ${cutOf(now, days)} or ${isArchived})`,
});

const usualEntries = 5000;

/** The audit, for a sweep. Null days: nothing is archived, and nothing deleted. */
export const auditKind = (ledger: Ledger, { folder, days, keys, entries = usualEntries }: AuditArchive): Retained => {
  const { db, gatewayId } = ledger;
  const archive = async (planned: Planned) => {
    const { entries: read, head } = await readEntries(ledger, planned);
    const of: SegmentRange = { ...planned, installation: gatewayId, hash: head.hash };
    await writeSegment(folder, { name: segmentName(of), of, entries: read, keys }, ledger.self.id());
    return withTurn(db, schemaName, async (inner) => {
      await finish(inner, of, keys);
      return 'more' as const;
    });
  };
  return {
    kind: 'audit',
    sweep: async (now) => {
      const isRenewed = await withTurn(db, schemaName, (inner) => renewSignature(inner, keys));
      if (isRenewed === 'busy' || isRenewed) return isRenewed === 'busy' ? 'busy' : 'more';
      const planned = await withTurn(db, schemaName, (inner) => plan(inner, cutOf(now, days), entries));
      if (planned === 'busy') return planned;
      if (planned !== null)
        return archive(planned).catch(async (error: unknown) => {
          // Another process has deleted the entries while they were read.
          if (await isFinished(ledger, planned)) return 'busy' as const;
          throw error;
        });
      return withTurn(db, schemaName, async (inner) => endOf(await deleteAged(inner, released, now)));
    },
  };
};
