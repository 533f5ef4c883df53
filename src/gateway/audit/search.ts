/**
 * Finds entries of the audit by words. The database looks through the contents, and for the tenants whose ids have a
 * word. Names of users are sealed: they are opened entry by entry, the newest thousand at once and the others at the
 * end. Once a tenant's key is destroyed, neither finds a name of it.
 */
import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import { breathe } from '../../platform/work/breathe.js';
import type { Ledger, LedgerTables } from '../ledger/ledger.js';
import { entryNames, findKey, namesOf } from './read.js';

const cursorPattern = /^(contents|names):([1-9]\d{0,14}):([1-9]\d{0,14})$/;

export const auditSearchInput = z.strictObject({
  words: z
    .array(
      z
        .string()
        .max(200)
        .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'text without control characters'),
    )
    .min(1)
    .max(8)
    .describe('An entry must contain each of them, in upper or lower case.'),
  after: z
    .string()
    .regex(cursorPattern, '`next` of an earlier answer')
    .optional()
    .describe('`next` of the call before. Left out: the newest entries.'),
  limit: z.number().int().min(1).max(100).default(20),
});

const foundEntry = entryNames.extend({ seq: z.number(), at: z.string(), kind: z.string(), code: z.string() });
type FoundEntry = z.output<typeof foundEntry>;

/** `next`: where a call that goes on begins. Null: every entry was looked at. */
export const foundEntries = z.object({ entries: z.array(foundEntry), next: z.string().nullable() });
type FoundEntries = z.output<typeof foundEntries>;

export type SearchBounds = {
  /** How many entries one statement looks through. */
  readonly block: number;
  /** Asked after each statement: whether there is time for another one. */
  readonly goesOn: () => boolean;
};

const searchMs = 500;
const usualBounds = (): SearchBounds => {
  const end = performance.now() + searchMs;
  return { block: 10_000, goesOn: () => performance.now() < end };
};

/** The most entries that a statement answers. Their names are opened before other tasks of this process run. */
const sliceSize = 200;
/** The newest entries, whose names are opened first. */
const newestOpened = 1000;

/** `end`: the entries before it are left. `newest`: the last entry when the search began. */
type Cursor = { readonly phase: 'contents' | 'names'; readonly end: number; readonly newest: number };

const cursorOf = async ({ db }: Ledger, after: string | undefined): Promise<Cursor> => {
  const [, phase, end, newest] = cursorPattern.exec(after ?? '') ?? [];
  if (phase !== undefined) return { phase: phase as Cursor['phase'], end: Number(end), newest: Number(newest) };
  const head = await db.selectFrom('audit_head').select('seq').executeTakeFirst();
  const last = Number(head?.seq ?? 0);
  return { phase: 'contents', end: last + 1, newest: last };
};

/** The phase that follows where no entry is left. Null: the search has ended. */
const onward = (cursor: Cursor): Cursor | null => {
  if (cursor.end > 1) return cursor;
  const end = cursor.newest - newestOpened + 1;
  return cursor.phase === 'contents' && end > 1 ? { ...cursor, phase: 'names', end } : null;
};

/** Each letter beyond ASCII in both cases, in PostgreSQL's syntax; all else stands for itself. */
const patternOf = (word: string): string =>
  [...word]
    .map((letter) =>
      /[ -~]/.test(letter)
        ? letter.replace(/[^\w\s]/, '\\$&')
        : `(?:${[...new Set([letter, letter.toLowerCase(), letter.toUpperCase()])].join('|')})`,
    )
    .join('');

/**
 * Whether the column may contain the word, in upper or lower case. `collate "C"` folds ASCII only, which is ten times as
 * fast as the database's own rules.
 */
const mayHold = (column: string, word: string): RawBuilder<SqlBool> => {
  const folded = sql`lower(${sql.ref(column)} collate "C")`;
  const wanted = word.toLowerCase();
  return /^[ -~]*$/.test(wanted)
    ? sql<SqlBool>`strpos(${folded}, ${wanted}) > 0`
    : sql<SqlBool>`${folded} ~ ${patternOf(wanted)}`;
};

type Where = ExpressionBuilder<LedgerTables, 'audit_events'>;

/** A condition that each entry meets whose contents and tenant have the words, and few others do. */
const shows = async (ledger: Ledger, words: readonly string[]) => {
  // A tenant that never signed up has a key and no row.
  const exact = await Promise.all(words.map(async (word) => (await findKey(ledger, ledger.refOf(word)))?.tenant(word)));
  const tenantsNamed = (eb: Where, word: string) =>
    eb
      .selectFrom('tenant_keys')
      .innerJoin('tenants', 'tenants.tenant_ref', 'tenant_keys.tenant_ref')
      .select('tenant_keys.pseudonym')
      .where(mayHold('tenants.client_id', word));
  const tenant = sql<string>`coalesce(${sql.ref('audit_events.tenant')}, '')`;
  return (eb: Where): Expression<SqlBool> =>
    eb.and(
      words.map((word, at) =>
        eb.or([
          mayHold('audit_events.content', word),
          eb(tenant, 'in', tenantsNamed(eb, word)),
          ...(exact[at] === undefined ? [] : [eb(tenant, '=', exact[at])]),
        ]),
      ),
    );
};

/** Returns up to `sliceSize` entries of the block before `end`, the newest first, that may have the words. */
const readBlock = async (
  { db }: Ledger,
  { phase, end, newest }: Cursor,
  floor: number,
  isShown: (eb: Where) => Expression<SqlBool>,
) =>
  db
    .selectFrom('audit_events')
    .select(['audit_events.seq', 'audit_events.content', 'audit_events.hash'])
    .where('audit_events.seq', '<', end)
    .where('audit_events.seq', '>=', floor)
    .where((eb) =>
      phase === 'contents'
        ? eb.or([eb('audit_events.seq', '>', newest - newestOpened), isShown(eb)])
        : eb.and([eb('audit_events.tenant', 'is not', null), eb.not(isShown(eb))]),
    )
    .orderBy('audit_events.seq', 'desc')
    .limit(sliceSize)
    .execute();

type Row = { readonly seq: string | number; readonly content: string; readonly hash: string };

/** Those of the rows that have all words in what a person may read of them. */
const matching = async (
  ledger: Ledger,
  rows: readonly Row[],
  words: readonly string[],
): Promise<readonly FoundEntry[]> => {
  const names = await namesOf(ledger, rows);
  return rows.flatMap(({ seq, content }, index) => {
    const { at, kind, code, requestId, detail } = JSON.parse(content);
    const named = names[index] ?? {};
    const text = [seq, kind, code, requestId, JSON.stringify(detail ?? ''), named.tenant, named.user].join(' ');
    const hasAll = words.every((word) => text.toLowerCase().includes(word.toLowerCase()));
    return hasAll ? [{ ...named, seq: Number(seq), at, kind, code }] : [];
  });
};

/**
 * Finds entries by words in their number, kind, result, request, details and the names that are not erased; the newest
 * first, and those last that only a user's name in an old entry tells. Ends after about half a second, so `next` may be
 * there though nothing was found.
 */
export const findInAudit = async (
  ledger: Ledger,
  { words, after, limit }: z.output<typeof auditSearchInput>,
  { block, goesOn }: SearchBounds = usualBounds(),
): Promise<FoundEntries> => {
  const isShown = await shows(ledger, words);
  const entries: FoundEntry[] = [];
  const answer = (cursor: Cursor | null): FoundEntries => ({
    entries,
    next: cursor === null ? null : `${cursor.phase}:${cursor.end}:${cursor.newest}`,
  });
  let cursor = onward(await cursorOf(ledger, after));
  while (cursor !== null) {
    const floor = Math.max(1, cursor.end - block);
    const rows = await readBlock(ledger, cursor, floor, isShown);
    for (const entry of await matching(ledger, rows, words)) {
      entries.push(entry);
      if (entries.length === limit) return answer(onward({ ...cursor, end: entry.seq }));
    }
    cursor = onward({ ...cursor, end: rows.length < sliceSize ? floor : Number(rows.at(-1)?.seq) });
    await breathe();
    if (!goesOn()) break;
  }
  return answer(cursor);
};
