import type { Datamart, JoinKind } from '../../src/domain/datamart.js';
import type { Builder, TableData } from './places.js';
import { byClients, datamart, type Place, relationship, table } from './world.js';

/** Ids that a sloppy comparison takes for one another, and one that is an attack on a sloppy compiler. */
export const tenants = ['acme', 'ACME', 'acmé', 'acme ', "' OR 1=1 --", '%', '01'] as const;

type Cell = string | number | null;
type Row = readonly Cell[];

export const columns = { tenant: 'VARCHAR', key: 'BIGINT', up: 'BIGINT', label: 'VARCHAR', amount: 'BIGINT' };

/** Small and fixed, so that a failing case can be read: a multiplicative congruence, no library's and no clock's. */
const createRandom = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
};

const pick = <T>(random: (below: number) => number, items: readonly [T, ...T[]]): T => {
  const item = items[random(items.length)];
  return item === undefined ? items[0] : item;
};

/** Keys repeat, dangle and are NULL; so are tenants. */
const randomRows = (seed: number, count: number): readonly Row[] => {
  const random = createRandom(seed);
  return Array.from(
    { length: count },
    (): Row => [
      pick<Cell>(random, [...tenants, null, 'someone else', '1']),
      pick<Cell>(random, [1, 2, 3, 4, 5, 6, null]),
      pick<Cell>(random, [1, 2, 3, 4, 9, null]),
      pick<Cell>(random, ['red', 'RED', 'blue', '%', null]),
      pick<Cell>(random, [-5, 0, 7, 20, 1000, null]),
    ],
  );
};

/** Three logical tables, each in a tenanted and a shared edition: `a_own`, `a_all`, and so on. */
const data: Readonly<Record<string, readonly Row[]>> = Object.fromEntries(
  ['a', 'b', 'c'].flatMap((name, index) => [
    [`${name}_own`, randomRows(11 + index, 110)],
    [`${name}_all`, randomRows(71 + index, 9)],
  ]),
);
const clients: readonly Row[] = [...tenants, 'someone else', '1'].map((id, index) => [id, `client ${index}`]);

const tablesOf = (keep: (tenant: Cell | undefined) => boolean): readonly TableData[] => [
  { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: clients.filter(([id]) => keep(id)) },
  ...Object.entries(data).map(([name, rows]) => ({
    name,
    columns,
    rows: name.endsWith('_own') ? rows.filter(([tenant]) => keep(tenant)) : rows,
  })),
];

/** The database that all tenants share, and for each tenant one that holds its rows alone (compared here, not by a database). */
export const buildShards = async (builder: Builder) => {
  const shared = await builder.build(
    'shared',
    tablesOf(() => true),
  );
  const shards = new Map<string, Place>();
  for (const [index, tenant] of tenants.entries()) {
    const shard = await builder.build(
      `shard${index}`,
      tablesOf((owner) => owner === tenant),
    );
    shards.set(tenant, shard);
  }
  return { shared, shardOf: (tenant: string): Place => shards.get(tenant) ?? shared };
};

export type Edition = 'own' | 'all';
export type World = {
  readonly editions: { readonly a: Edition; readonly b: Edition; readonly c: Edition };
  readonly joins: { readonly ab: JoinKind | null; readonly bc: JoinKind | null; readonly client: JoinKind | null };
};

/** `a.up = b.key`, `b.up = c.key`, and the master table beside `a`. OneToOne lets every aggregate through. */
export const martOf = ({ editions, joins }: World, isTenanted: boolean): Datamart => {
  const name = (logical: 'a' | 'b' | 'c'): string => `${logical}_${editions[logical]}`;
  const tables = (['a', 'b', 'c'] as const).map((logical) =>
    table(name(logical), columns, isTenanted && editions[logical] === 'own' ? 'tenant' : null),
  );
  return datamart({
    tenancy: isTenanted ? byClients() : null,
    tables: [...tables, table('clients', { id: 'VARCHAR', name: 'VARCHAR' })],
    relationships: [
      relationship(`${name('a')}.up`, `${name('b')}.key`, joins.ab, 'OneToOne'),
      relationship(`${name('b')}.up`, `${name('c')}.key`, joins.bc, 'OneToOne'),
      relationship(`${name('a')}.tenant`, 'clients.id', joins.client, 'OneToOne'),
    ],
    sharedTables: ['a', 'b', 'c'].map((logical) => `main.${logical}_all`),
  });
};
