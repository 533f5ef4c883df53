/**
 * Tables of many tenants. Keys repeat, dangle and are NULL, and a wrong comparison would treat different client ids as
 * equal.
 */
import type { Value as Literal, TableData } from '../engine/test-databases.js';
import type { StoredRow } from './evaluator-joins.js';

/** The tenants that ask. All are different; one of them is an SQL injection. */
export const tenants = ['acme', 'ACME', 'acmé', 'acme ', '01', "' OR 1=1 --"] as const;
export type Tenant = (typeof tenants)[number];

/** Owners of rows who never ask. Rows of the owner null belong to no client. */
const strangers = ['1', '1e0', '%', 'someone else', null] as const;

/** The same clients as numbers. Two of them are beyond 2^53 and equal when read as floats. */
const numbersOf: ReadonlyMap<string, string> = new Map([
  ['acme', '1'],
  ['ACME', '-1'],
  ['acmé', '10'],
  ['acme ', '9007199254740993'],
  ['01', '9007199254740992'],
  ["' OR 1=1 --", '0'],
  ['1', '2'],
  ['1e0', '100'],
  ['%', '-10'],
  ['someone else', '9007199254740994'],
]);
export const numberOf = (tenant: string): string => numbersOf.get(tenant) ?? '0';

/** Tables whose rows belong to one tenant, and tables that all tenants share. `clients` is the client master table. */
export const ownTables = ['orders', 'lines', 'visits'] as const;
export const sharedTables = ['places', 'kinds'] as const;
export const tableNames = [...ownTables, ...sharedTables, 'clients'] as const;
export type TableName = (typeof tableNames)[number];
export type OwnTable = (typeof ownTables)[number];

/**
 * The parent tables through which a table's rows can get their client: `up` is the `uid` of a row of the same owner.
 */
export const parentOf: { readonly [Name in TableName]?: OwnTable } = { lines: 'orders', visits: 'lines' };

/** Columns with their types. Those whose name ends in `@` are converted to the question's timezone. */
export const columns = {
  tenant: 'VARCHAR',
  tenant_no: 'BIGINT',
  id: 'BIGINT',
  ref: 'BIGINT',
  uid: 'BIGINT',
  up: 'BIGINT',
  code: 'VARCHAR',
  label: 'VARCHAR',
  amount: 'BIGINT',
  price: 'DECIMAL(12,2)',
  weight: 'DOUBLE',
  flag: 'BOOLEAN',
  day: 'DATE',
  'at@': 'TIMESTAMP',
  stamp: 'TIMESTAMP',
  'moment@': 'TIMESTAMP WITH TIME ZONE',
} as const;
export const clientColumns = { id: 'VARCHAR', no: 'BIGINT', name: 'VARCHAR', amount: 'BIGINT' } as const;

export const labels = ['red', 'RED', 'réd', 'red ', 'blue', '%', '_', 'a\\b', '', "o'clock", '01', '1', '1e0'] as const;
export const codes = ['x', 'X', 'x ', '01', '1', 'é', 'e'] as const;
export const amounts = [-5, 0, 1, 7, 7, 20, 1000, '9007199254740993'] as const;
export const prices = ['-2.50', '0.00', '0.10', '0.20', '12.35', '999999999.99'] as const;
/** Some of these numbers cannot be represented exactly as floats. */
export const weights = [-1.5, 0, 0.1, 0.2, 2.25, 1e6] as const;
export const days = ['2023-12-31', '2024-01-01', '2024-02-29', '2024-03-31', '2024-04-01', '2024-10-27'] as const;
/** Times in and near the hours that daylight saving time skips or repeats. */
export const times = [
  '2023-12-31 23:59:59',
  '2024-01-01 00:00:00',
  '2024-03-10 07:30:00',
  '2024-03-31 00:59:59',
  '2024-03-31 01:00:00.250000',
  '2024-10-27 00:30:00',
  '2024-10-27 01:30:00',
] as const;

/**
 * A small generator of fixed random numbers (a multiplicative congruential one), so that a failing case can be repeated
 * and read.
 */
const createRandom = (seed: number): ((below: number) => number) => {
  let state = (Math.abs(seed) % 2147483646) + 1;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
};

type Pick = <T extends Literal>(items: readonly T[]) => Literal;

const createPick = (random: (below: number) => number): Pick => {
  return (items) => (random(6) === 0 ? null : (items[random(items.length)] ?? null));
};

/** Values of foreign keys: most lead to one row, some to none. */
const usualRefs: readonly number[] = [1, 2, 3, 4, 5, 9];

const rowOf = (owner: string | null, id: number, pick: Pick, refs: readonly number[]): StoredRow => ({
  tenant: owner,
  tenant_no: owner === null ? null : numberOf(owner),
  id,
  ref: pick(refs),
  uid: id,
  up: null,
  code: pick(codes),
  label: pick(labels),
  amount: pick(amounts),
  price: pick(prices),
  weight: pick(weights),
  flag: pick([true, false]),
  day: pick(days),
  at: pick(times),
  stamp: pick(times),
  moment: pick(times.map((time) => `${time}+00`)),
});

export type Dataset = ReadonlyMap<TableName, readonly StoredRow[]>;

/** A key that no row has. */
const dangling = 99_999_999;

/**
 * Adds parents. `uid` is unique over all owners. A row without an owner has no parent, a missing parent, or a parent
 * without an owner.
 */
const withParents = (tables: ReadonlyMap<OwnTable, readonly StoredRow[]>, first: number): typeof tables => {
  const made = new Map<OwnTable, readonly StoredRow[]>();
  for (const [name, rows] of tables) {
    const parent = parentOf[name];
    const above = parent === undefined ? [] : (made.get(parent) ?? []);
    const parentsOf = (owner: unknown): readonly unknown[] => [
      ...above.flatMap((row) => (row.tenant === owner ? [row.uid] : [])),
      ...(owner === null ? [null, dangling] : []),
    ];
    made.set(
      name,
      rows.map((row, index) => {
        const among = parentsOf(row.tenant) as readonly (number | null)[];
        return { ...row, uid: first + index, up: among[(index * 7) % Math.max(among.length, 1)] ?? null };
      }),
    );
  }
  return made;
};

export type DatasetOptions = { readonly first?: number; readonly refs?: readonly number[] };

/**
 * Creates the tables. `id` numbers an owner's rows, so it is unique for each tenant and repeats between tenants.
 * `first` is the first `uid` of each table.
 */
export const createDataset = (seed: number, { first = 1, refs = usualRefs }: DatasetOptions = {}): Dataset => {
  const random = createRandom(seed);
  const pick = createPick(random);
  const owned = (): readonly StoredRow[] =>
    [...tenants, ...strangers].flatMap((owner) =>
      Array.from({ length: 6 + random(5) }, (_, index) => rowOf(owner, index + 1, pick, refs)),
    );
  const everybodys = (): readonly StoredRow[] =>
    Array.from({ length: 7 }, (_, index) =>
      rowOf([...tenants, ...strangers][random(11)] ?? null, index + 1, pick, refs),
    );
  const clients = [...tenants, ...strangers].flatMap((id, index): readonly StoredRow[] =>
    id === null ? [] : [{ id, no: numberOf(id), name: `client ${index}`, amount: index }],
  );
  return new Map<TableName, readonly StoredRow[]>([
    ...withParents(new Map(ownTables.map((name) => [name, owned()])), first),
    ...sharedTables.map((name): [TableName, readonly StoredRow[]] => [name, everybodys()]),
    ['clients', clients],
  ]);
};

/**
 * Returns the rows of one tenant, as its own database would hold them. Compares ids in JavaScript, not in a database.
 */
export const shardOf = (dataset: Dataset, tenant: Tenant): Dataset =>
  new Map(
    [...dataset].map(([name, rows]): [TableName, readonly StoredRow[]] => {
      if ((sharedTables as readonly string[]).includes(name)) return [name, rows];
      const owner = name === 'clients' ? 'id' : 'tenant';
      return [name, rows.filter((row) => row[owner] === tenant)];
    }),
  );

/** Returns the data set with as many additional rows, which belong to strangers. */
export const withMoreStrangers = (dataset: Dataset, seed: number): Dataset => {
  const others = createDataset(seed, { first: 1_000_000 });
  const isStrange = (row: StoredRow): boolean => !(tenants as readonly unknown[]).includes(row.tenant);
  return new Map(
    [...dataset].map(([name, rows]): [TableName, readonly StoredRow[]] => [
      name,
      (ownTables as readonly string[]).includes(name) ? [...(others.get(name) ?? []).filter(isStrange), ...rows] : rows,
    ]),
  );
};

export const tablesOf = (dataset: Dataset): readonly TableData[] =>
  [...dataset].map(([name, rows]) => {
    const defined = Object.entries(name === 'clients' ? clientColumns : columns);
    const names = defined.map(([column]) => column.replace('@', ''));
    return {
      name,
      columns: Object.fromEntries(defined.map(([column, type]) => [column.replace('@', ''), type])),
      rows: rows.map((row) => names.map((column) => row[column] ?? null)),
    };
  });
