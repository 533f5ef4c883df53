/**
 * Makes the tables startable by the previous release, one step down: hides the migrations that it does not know. Rows
 * that would show too much there stay, and it cannot read them (src/service/store/previous-release.ts). The tables stay
 * as they are, so processes of this release go on beside it, and the next start of this release takes the migrations back.
 */
import { type Kysely, sql, type Transaction } from 'kysely';
import { appendWithin } from '../../gateway/audit/append.js';
import { loadRefOf } from '../../gateway/ledger/ledger.js';
import { type LedgerTables, schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import { hideMigrations, type Migrations } from '../../platform/databases/migrate.js';
import { previousVersion } from '../../service/store/previous-release.js';
import { schemaName as serviceSchema, type Tables } from '../../service/store/tables.js';
import { productParts } from './ends.js';
import { type Configured, openWritable, type Surroundings } from './writable.js';

/** The last migration of the previous release in each schema. RELEASING.md says when to change it. */
const lastOfPrevious: Readonly<Record<string, string>> = {
  [serviceSchema]: '0001-first-release',
  [ledgerSchema]: '0002-paused-rollouts',
};

export type StepDownRequest = {
  /** Whether nothing is changed. */
  readonly isDry: boolean;
  /** Whether content that the previous release cannot read may stay, which is then missing there. */
  readonly withoutThem: boolean;
};

/** What the previous release cannot read. `holds`: it deletes what is old enough, also of held tenants. */
export type Unreadable = { readonly datamarts: readonly string[]; readonly tokens: number; readonly holds: number };

export type SteppedDown = {
  readonly version: string;
  readonly unreadable: Unreadable;
  /** The migrations that are hidden; those that would be, if nothing was changed. */
  readonly hidden: readonly string[];
  readonly isDone: boolean;
};

type Part = { readonly schema: string; readonly migrations: Migrations };

const lastIn = (schema: string): string => {
  const last = lastOfPrevious[schema];
  if (last === undefined) throw new Error(`nothing says which migration of ${schema} the previous release has`);
  return last;
};

/**
 * The migrations after the last one of the previous release. Throws if one of them took away what that release needs.
 *
 * @internal Tests only: they look for migrations that contract.
 */
export const hiddenMigrations = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(({ schema, migrations }) => {
    const last = lastIn(schema);
    const later = Object.keys(migrations).filter((name) => name > last);
    const contracting = later.find((name) => migrations[name]?.contracts === true);
    if (contracting === undefined) return later;
    throw new Error(
      `Release ${previousVersion} cannot start on these tables: the migration ${contracting} removed what it needs. Restore the backup that you made before the upgrade.`,
    );
  });

const findUnreadable = async (db: Kysely<unknown>): Promise<Unreadable> => {
  const tables = (db as Kysely<Tables>).withSchema(serviceSchema);
  const datamarts = await tables
    .selectFrom('datamarts')
    .select('name')
    .where(sql<boolean>`jsonb_typeof(tables) = 'object'`)
    .orderBy('name')
    .execute();
  const { rows } = await sql<{ tokens: number; holds: number }>`
    select count(*)::integer as tokens, (select count(*)::integer from guestlist_gateway.holds) as holds
    from guestlist.guest_tokens where epoch < 0 and (expires_at is null or expires_at > now())`.execute(db);
  const [{ tokens, holds } = { tokens: 0, holds: 0 }] = rows;
  return { datamarts: datamarts.map(({ name }) => name), tokens, holds };
};

const isEmpty = ({ datamarts, tokens, holds }: Unreadable): boolean =>
  datamarts.length === 0 && tokens === 0 && holds === 0;

/** All of it or nothing: a process never finds one schema of the one release and one of the other. */
const hideAll = async (ledger: Transaction<LedgerTables>, unreadable: Unreadable, at: Date) => {
  const refOf = await loadRefOf(ledger);
  const db = ledger as unknown as Kysely<unknown>;
  const hidden: string[] = [];
  for (const { schema } of productParts) hidden.push(...(await hideMigrations(db, schema, lastIn(schema))));
  const { datamarts, ...counts } = unreadable;
  const detail = { command: 'step-down', to: previousVersion, datamarts: datamarts.length, ...counts };
  await appendWithin(ledger, { refOf }, [{ at, event: { kind: 'admin', code: 'OK', detail } }]);
  return hidden;
};

/**
 * Steps down, or only says what would be. Works beside running processes; an embedded database must be stopped. Nothing
 * is changed if there is content that the previous release cannot read, unless the request accepts that.
 */
export const stepDown = async (
  config: Configured,
  { isDry, withoutThem }: StepDownRequest,
  surroundings: Surroundings,
): Promise<SteppedDown> => {
  const later = hiddenMigrations(productParts);
  const end = await openWritable(config, surroundings);
  try {
    const unreadable = await findUnreadable(end.db);
    const common = { version: previousVersion, unreadable };
    if (isDry || !(isEmpty(unreadable) || withoutThem)) return { ...common, hidden: later, isDone: false };
    const at = surroundings.clock.now();
    const hidden = await end.ledger.transaction().execute((db) => hideAll(db, unreadable, at));
    return { ...common, hidden, isDone: true };
  } finally {
    await end.close();
  }
};
