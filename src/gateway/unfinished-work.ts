/** Counts the long work of the gateway that waits to be continued, for its meters. */
import { sql } from 'kysely';
import type { GatewayMeters, WorkKind } from './common/meters.js';
import type { Ledger } from './ledger/ledger.js';
import type { FinishWork } from './ledger/takeover.js';
import { interruptedCopies } from './provision/ledger.js';
import { interruptedRollouts } from './rollout/ledger.js';

type Row = { readonly count: string; readonly seconds: number };

const numbersOf = (since: string) => [
  sql<string>`count(*)`.as('count'),
  sql<number>`coalesce(extract(epoch from now() - min(${sql.ref(since)})), 0)::float8`.as('seconds'),
];

const reads: Readonly<Record<WorkKind, (db: Ledger['db']) => Promise<Row | undefined>>> = {
  rollout: (db) => interruptedRollouts(db).select(numbersOf('rollouts.updated_at')).executeTakeFirst(),
  provisioning: (db) => interruptedCopies(db).select(numbersOf('dashboards.started_at')).executeTakeFirst(),
  erasure: (db) =>
    db.selectFrom('tenants').where('is_erasure_owed', '=', true).select(numbersOf('deleted_at')).executeTakeFirst(),
  revocation: (db) => db.selectFrom('pending_revocations').select(numbersOf('created_at')).executeTakeFirst(),
};

export type Unfinished = { readonly kind: WorkKind; readonly count: number; readonly seconds: number };

/** Counts what waits, with the age of the oldest in seconds. */
export const listUnfinished = async (db: Ledger['db']): Promise<readonly Unfinished[]> => {
  const found: Unfinished[] = [];
  for (const [kind, read] of Object.entries(reads) as readonly [WorkKind, (typeof reads)[WorkKind]][]) {
    const row = await read(db);
    found.push({ kind, count: Number(row?.count ?? 0), seconds: row?.seconds ?? 0 });
  }
  return found;
};

/** Reads the numbers after each round of unfinished work. */
export const createCountUnfinished =
  ({ db }: Pick<Ledger, 'db'>, { unfinished }: Pick<GatewayMeters, 'unfinished'>): FinishWork =>
  async () => {
    for (const { kind, count, seconds } of await listUnfinished(db)) unfinished(kind, count, seconds);
    return 0;
  };
