/**
 * Random SELECTs have the same answer over a database of all tenants as over one with only this tenant's rows and
 * without tenancy.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SqlDefinition } from '../../src/model/dashboard/metric.js';
import { type Builder, createBuilder, findKinds, type TableData, type Value } from './test-databases.js';
import { byClients, createLoggedEngine, datamart, type Place, question, refusalOf, table } from './world.js';

const facts = { owner: 'VARCHAR', k: 'BIGINT', v: 'BIGINT', s: 'VARCHAR' };
const marks = { owner: 'VARCHAR', k: 'BIGINT', w: 'BIGINT' };
/** Client ids that differ by case, accent or a trailing blank. Only one client's text is a number. */
const owners = ['a', 'A', 'á', 'a '];
const value = (seed: number, of: number): number | null => (seed % 7 === 0 ? null : (seed * of) % 5);
const rowsOf = (owner: string, from: number): Value[][] =>
  Array.from({ length: 12 }, (_, index) => {
    const seed = from + index;
    return [owner, value(seed, 3), value(seed, 11), owner === 'a' ? String(seed % 4) : `of-${from}`];
  });
const tablesFor = (isKept: (owner: string) => boolean): readonly TableData[] => {
  const kept = owners.map((owner, at) => ({ owner, at })).filter(({ owner }) => isKept(owner));
  return [
    { name: 'facts', columns: facts, rows: kept.flatMap(({ owner, at }) => rowsOf(owner, at * 17 + 1)) },
    {
      name: 'marks',
      columns: marks,
      rows: kept.flatMap(({ owner, at }) => rowsOf(owner, at * 5 + 3).map(([, k, w]) => [owner, k ?? null, w ?? null])),
    },
    { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: kept.map(({ owner }) => [owner, owner]) },
  ];
};
const tables = (client: string | null) => [table('facts', facts, client), table('marks', marks, client)];
const shared = datamart({
  tenancy: byClients(),
  tables: [...tables('owner'), table('clients', { id: 'VARCHAR', name: 'VARCHAR' })],
});
const alone = datamart({
  tenancy: null,
  tables: [...tables(null), table('clients', { id: 'VARCHAR', name: 'VARCHAR' })],
});

/** Expressions over a relation with the columns k and v. */
const number = (alias: string) =>
  fc.constantFrom(
    `${alias}.k`,
    `${alias}.v`,
    `coalesce(${alias}.v, 0)`,
    `${alias}.k + ${alias}.v`,
    `case when ${alias}.k > 2 then ${alias}.v end`,
    '1',
  );
const condition = (alias: string, inner: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.tuple(number(alias), fc.constantFrom('=', '<>', '<', '>='), number(alias)).map((parts) => parts.join(' ')),
    fc.constantFrom(
      '1 = 1',
      `${alias}.v is null`,
      `not (${alias}.k = 1)`,
      `${alias}.k between 1 and 3`,
      `${alias}.k in (1, 3)`,
    ),
    inner.map((sql) => `${alias}.k in (select x.k from (${sql}) x)`),
    inner.map((sql) => `exists (select 1 from (${sql}) x where x.k = ${alias}.k)`),
    inner.map((sql) => `${alias}.v >= (select min(x.v) from (${sql}) x)`),
  );
/** Names of CTEs are names of tables on purpose. */
const relation: fc.Memo<string> = fc.memo((depth) => {
  const base = fc.constantFrom(
    'select k, v from facts',
    'select k, v from main.facts',
    'select k, w as v from marks',
    "select k, cast(s as int) as v from facts where owner >= ''",
  );
  if (depth <= 1) return base;
  const inner = relation(depth - 1);
  const joined = fc.tuple(
    inner,
    inner,
    fc.constantFrom('join', 'left join', 'right join', 'full join'),
    number('p'),
    number('q'),
  );
  return fc.oneof(
    base,
    fc.tuple(inner, condition('p', inner)).map(([sql, where]) => `select p.k, p.v from (${sql}) p where ${where}`),
    fc
      .tuple(inner, condition('p', inner), fc.constantFrom('facts', 'marks', 'c'))
      .map(
        ([sql, where, name]) =>
          `with ${name} as (${sql}) select p.k, p.v from ${name} p, (select count(*) as n from main.facts) z where ${where} and z.n > 3`,
      ),
    joined.map(
      ([a, b, kind, left, right]) =>
        `select p.k, q.v from (${a}) p ${kind} (${b}) q on ${kind === 'full join' ? 'p.k = q.k' : `${left} = ${right}`}`,
    ),
    fc
      .tuple(inner, fc.constantFrom('union', 'union all', 'except', 'intersect'), inner)
      .map(([a, word, b]) => `select * from (${a}) p ${word} select * from (${b}) q`),
    inner.map((sql) => `select p.k, sum(p.v) as v from (${sql}) p group by p.k having count(*) > 0`),
    inner.map((sql) => `select p.k, cast(rank() over (partition by p.k order by p.v) as bigint) as v from (${sql}) p`),
  );
});

const kinds = (await findKinds()).filter((kind) => kind === 'DUCKDB' || kind === 'POSTGRES');
const engine = createLoggedEngine();
const builders: Builder[] = [];
const places = new Map<string, { readonly all: Place; readonly own: Place }>();

beforeAll(async () => {
  for (const kind of kinds) {
    const builder = await createBuilder(kind);
    builders.push(builder);
    const all = await builder.build(
      'all',
      tablesFor(() => true),
    );
    places.set(kind, {
      all,
      own: await builder.build(
        'own',
        tablesFor((owner) => owner === 'a'),
      ),
    });
  }
});
afterAll(async () => {
  await engine.engine.close();
  for (const builder of builders) await builder.remove();
});

test.each(kinds)("%s gives the same answer as the tenant's own database", async (kind) => {
  const { all, own } = places.get(kind) ?? { all: undefined, own: undefined };
  if (all === undefined || own === undefined) throw new Error('no places');
  let answered = 0;
  const ask = async (place: Place, mart: typeof shared, client: string, sql: string) => {
    const definition: SqlDefinition = {
      ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [{ name: 'k' }, { name: 'v' }], measures: [] },
      ...{ filters: [], rlsVariables: [], sort: [], limit: null },
    };
    try {
      return (await engine.engine.query(question(place, mart, client, definition))).rows
        .map((row) => JSON.stringify(row))
        .sort();
    } catch (error) {
      return (await refusalOf(() => Promise.reject(error))).reason;
    }
  };
  await fc.assert(
    fc.asyncProperty(relation(3), async (sql) => {
      const expected = await ask(own, alone, 'None', sql);
      if (Array.isArray(expected)) answered += 1;
      expect(await ask(all, shared, 'a', sql), sql).toEqual(expected);
    }),
    { numRuns: 60, seed: 11 },
  );
  expect(answered).toBeGreaterThan(30);
});
