/** What the service keeps for a time: guest tokens that have expired, deliveries that ended, and what was used. */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { daysBefore, type Retained, type Retention } from '../../model/retention.js';
import {
  type AgedRows,
  agedKind,
  deleteAged,
  endOf,
  type KindRows,
  noteSwept,
  sliceRows,
  stopSweeps,
  withTurn,
} from '../../platform/databases/aged-rows.js';
import { inTransaction } from './query.js';
import { schemaName, type Tables } from './tables.js';
import { sumUpDays } from './usage.js';

export type ServiceTimes = {
  /** After a token has expired. */
  readonly tokensDays: number;
  /** After a delivery has ended. */
  readonly deliveriesDays: number;
  readonly usageDays: number;
  /** Days after which sums of hours become sums of days. */
  readonly hourDays: number;
};

/** A row of a client of a data app, which is named `t`. */
const isHeld: RawBuilder<SqlBool> = sql`exists (
  select from guestlist.client_holds where client_holds.data_app_id = t.data_app_id and client_holds.client_id in ('', t.client_id))`;

const rowsOf = (table: string, isDue: AgedRows['isDue']): AgedRows => ({
  table: `${schemaName}.${table}`,
  isDue,
  isHeld,
});

const usageRows = (days: number): KindRows => ({
  kind: 'usage',
  rows: rowsOf('usage', (now) => sql`t.at < ${daysBefore(now, days)}`),
});

const plainRows = ({ tokensDays, deliveriesDays }: ServiceTimes): readonly KindRows[] => [
  { kind: 'tokens', rows: rowsOf('guest_tokens', (now) => sql`t.expires_at < ${daysBefore(now, tokensDays)}`) },
  {
    kind: 'deliveries',
    rows: rowsOf(
      'deliveries',
      (now) => sql`t.state not in ('due', 'sending') and t.finished_at < ${daysBefore(now, deliveriesDays)}`,
    ),
  },
];

/** What would be deleted. */
export const serviceRows = (times: ServiceTimes): readonly KindRows[] => [
  ...plainRows(times),
  usageRows(times.usageDays),
];

/** Sums of hours become sums of days, which deletes hours: so those of a held client stay. */
const usageKind = (db: Kysely<Tables>, { usageDays, hourDays }: ServiceTimes): Retained => {
  const { kind, rows } = usageRows(usageDays);
  return {
    kind,
    sweep: (now) =>
      withTurn(db, schemaName, async (inner) => {
        const end = endOf(await deleteAged(inner, rows, now));
        return end === 'more' ? end : endOf(await sumUpDays(inner, daysBefore(now, hourDays), isHeld, sliceRows));
      }),
  };
};

const serviceRetention = (db: Kysely<Tables>, times: ServiceTimes): Retention => ({
  kinds: [...plainRows(times).map((kind) => agedKind(db, schemaName, kind)), usageKind(db, times)],
  noteSwept: (now) => noteSwept(db, schemaName, now),
});

type HeldClients = {
  readonly dataAppId: string;
  readonly gateway: string;
  readonly version: string;
  readonly isAll: boolean;
  readonly clientIds: readonly string[];
};

const hold = async (
  db: Kysely<Tables>,
  { dataAppId, gateway, version, isAll, clientIds }: HeldClients,
): Promise<string> =>
  inTransaction(db, async (inner) => {
    await stopSweeps(inner, schemaName);
    const known = inner.selectFrom('hold_versions').select('version');
    const row = await known.where('data_app_id', '=', dataAppId).where('gateway', '=', gateway).executeTakeFirst();
    if (row !== undefined && BigInt(row.version) > BigInt(version)) return String(row.version);
    await inner
      .insertInto('hold_versions')
      .values({ data_app_id: dataAppId, gateway, version })
      .onConflict((conflict) => conflict.columns(['data_app_id', 'gateway']).doUpdateSet({ version }))
      .execute();
    const own = inner.deleteFrom('client_holds').where('data_app_id', '=', dataAppId);
    await own.where('gateway', '=', gateway).execute();
    const held = new Set(isAll ? ['', ...clientIds] : clientIds);
    const rows = [...held].map((clientId) => ({ data_app_id: dataAppId, client_id: clientId, gateway }));
    if (rows.length > 0) await inner.insertInto('client_holds').values(rows).execute();
    return version;
  });

export const createRetentionStore = (db: Kysely<Tables>) => ({
  /** What is swept, and how. */
  of: (times: ServiceTimes): Retention => serviceRetention(db, times),
  /** Replaces the holds of this gateway in the data app, once no sweep runs. Returns the version that is in force. */
  hold: (held: HeldClients) => hold(db, held),
});
