/** Fills an empty database with the rows of another one or of a file: whole and compared, or not at all. */
import { sql, type Transaction } from 'kysely';
import { verifyAudit } from '../../gateway/audit/read.js';
import { type LedgerTables, schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import { migrateSchema } from '../../platform/databases/migrate.js';
import { type Contents, listReferences, readContents } from '../../platform/databases/move/catalog.js';
import { type Mark, writeMark } from '../../platform/databases/move/mark.js';
import { digestOf, insertRows, type RowSource, setFormats, setSequence } from '../../platform/databases/move/rows.js';
import { type End, type FoundPart, namesOf, type Part, type Say, takeLock } from './ends.js';

export type CopiedTable = { readonly name: string; readonly rows: number };

const describeTables = ({ tables, sequences }: Contents): string => JSON.stringify([tables, sequences]);

/** Both ends have run the same migrations, so another table or column was made by hand. */
const assertSameTables = (source: Contents, target: Contents): void => {
  if (describeTables(source) === describeTables(target)) return;
  const theirs = new Map(target.tables.map((table) => [table.name, JSON.stringify(table.columns)]));
  const names = [
    ...source.tables
      .filter(({ name, columns }) => theirs.get(name) !== JSON.stringify(columns))
      .map(({ name }) => name),
    ...source.sequences.filter((name) => !target.sequences.includes(name)),
  ];
  throw new Error(
    `The migrations of this version do not make the source's tables: ${names.join(', ') || 'the target has more'} was made or changed by something else. Remove it, or use the version that made it.`,
  );
};

/** The part as the migrations of the source make it: those of an older version are fewer. */
const asItWas = ({ schema, what, migrations, done }: FoundPart): Part => ({
  schema,
  what,
  migrations: Object.fromEntries(Object.entries(migrations).filter(([name]) => done.includes(name))),
});

/** Creates the tables of the target anew, as the source has them. Until the copy has ended, the mark keeps every start away. */
const makeTarget = async (
  { db, name }: End,
  parts: readonly FoundPart[],
  mark: Omit<Mark, 'at' | 'stage'>,
): Promise<void> => {
  try {
    await writeMark(db, { ...mark, stage: 'filling' });
  } catch (cause) {
    throw new Error(`${name} takes no tables: its user must be allowed to create a schema.`, { cause });
  }
  for (const { schema } of parts) await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
  for (const part of parts) await migrateSchema({ db, ...asItWas(part) });
};

/** Rows are copied as they are: no trigger changes them, and references are checked when all rows are there. */
const withoutRules = async <T>(
  target: Transaction<unknown>,
  { tables }: Contents,
  schemas: readonly string[],
  work: () => Promise<T>,
): Promise<T> => {
  const references = await listReferences(target, schemas);
  for (const { table, name } of references)
    await sql`alter table ${sql.raw(table)} drop constraint ${sql.raw(name)}`.execute(target);
  for (const { name } of tables) await sql`alter table ${sql.raw(name)} disable trigger user`.execute(target);
  const done = await work();
  for (const { name } of tables) await sql`alter table ${sql.raw(name)} enable trigger user`.execute(target);
  for (const { table, name, definition } of references)
    await sql`alter table ${sql.raw(table)} add constraint ${sql.raw(name)} ${sql.raw(definition)}`.execute(target);
  return done;
};

const copyTables = async (source: RowSource, target: Transaction<unknown>, say: Say): Promise<CopiedTable[]> => {
  const copied: CopiedTable[] = [];
  for (const table of source.contents.tables) {
    // Migrations write first rows, which the source has too.
    await sql`delete from ${sql.raw(table.name)}`.execute(target);
    let rows = 0;
    for await (const some of source.rows(table)) {
      await insertRows(target, table, some);
      rows += some.length;
      say(`copying ${table.name}: ${rows} rows`);
    }
    copied.push({ name: table.name, rows });
  }
  for (const name of source.contents.sequences) await setSequence(target, name, await source.sequence(name));
  return copied;
};

const assertCopied = async (source: RowSource, target: Transaction<unknown>, say: Say): Promise<void> => {
  for (const table of source.contents.tables) {
    say(`comparing ${table.name}`);
    const [here, there] = [await source.digest(table), await digestOf(target, table)];
    if (here.hash === there.hash && here.rows === there.rows) continue;
    throw new Error(
      `The copy of ${table.name} differs from the source (${here.rows} rows there, ${there.rows} here). The target cannot be used; the source is as it was.`,
    );
  }
};

/** Verifies the audit chain of the target. Null: there is no ledger. */
export const verifyCopiedAudit = async (target: End['db'], parts: readonly Part[], say: Say) => {
  if (!parts.some(({ schema }) => schema === ledgerSchema)) return null;
  say('verifying the audit');
  return verifyAudit({ db: (target as unknown as Transaction<LedgerTables>).withSchema(ledgerSchema) }, undefined, {
    verifier: 'copied',
  });
};

/**
 * Makes the tables of the target, copies and compares every row in one transaction, and calls `finish` in it. A failure
 * leaves empty tables and a mark that keeps every start away.
 */
export const fill = async <T>(
  { source, parts }: { readonly source: RowSource; readonly parts: readonly FoundPart[] },
  to: End,
  mark: Omit<Mark, 'at' | 'stage'>,
  { say, finish }: { readonly say: Say; readonly finish: (target: Transaction<unknown>) => Promise<T> },
): Promise<{ readonly tables: readonly CopiedTable[]; readonly finished: T }> => {
  await makeTarget(to, parts, mark);
  return to.db.transaction().execute(async (target) => {
    await takeLock(target);
    await setFormats(target);
    const schemas = namesOf(parts);
    assertSameTables(source.contents, await readContents(target, schemas));
    const tables = await withoutRules(target, source.contents, schemas, () => copyTables(source, target, say));
    await assertCopied(source, target, say);
    return { tables, finished: await finish(target) };
  });
};
