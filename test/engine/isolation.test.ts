import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JoinKind } from '../../src/domain/datamart.js';
import type { Condition, Predicate } from '../../src/domain/filter.js';
import type { Measure, MetricDefinition } from '../../src/domain/metric.js';
import type { Engine } from '../../src/domain/ports.js';
import { buildShards, type Edition, martOf, tenants, type World } from './isolation-data.js';
import { type Builder, createBuilder, findKinds } from './places.js';
import { at, columnRef, condition, createLoggedEngine, metric, type Place, question } from './world.js';

const allJoinKinds: readonly JoinKind[] = ['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'];
const editions: readonly Edition[] = ['own', 'all'];

type Way = 'query' | 'underlying' | { readonly options: string };

describe.each(await findKinds())('on %s', (kind) => {
  /** MySQL has no FULL JOIN. */
  const joinKinds = allJoinKinds.filter((join) => kind !== 'MYSQL' || join !== 'FULL JOIN');
  let builder: Builder;
  let files: Awaited<ReturnType<typeof buildShards>>;
  let engine: Engine;

  beforeAll(async () => {
    // On PostgreSQL too, the columns themselves take `acme` for `ACME`, as they do on MariaDB where nothing is said.
    builder = await createBuilder(kind, { POSTGRES: { VARCHAR: 'VARCHAR COLLATE public.loose' } });
    files = await buildShards(builder);
    engine = createLoggedEngine().engine;
  }, 60_000);
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  /** The tenant's answer out of the file that all share, and the whole answer of the file that holds this tenant alone. */
  const bothAnswers = async (
    world: World,
    tenant: string,
    definition: MetricDefinition,
    conditions: readonly Condition[] = [],
    way: Way = 'query',
    page: { readonly limit?: number | null; readonly offset?: number } = {},
  ) => {
    const ask = (path: Place, isTenanted: boolean) => {
      const asked = question(path, martOf(world, isTenanted), isTenanted ? tenant : 'None', definition, {
        conditions,
        ...page,
      });
      return typeof way === 'string'
        ? engine[way](asked)
        : engine.options({ ...asked, column: at(path, columnRef(way.options)), search: null, limit: 500 });
    };
    return { shared: await ask(files.shared, true), shard: await ask(files.shardOf(tenant), false) };
  };

  const measuresOf = (name: string): readonly Measure[] => [
    { name: `rows ${name}`, aggregate: 'COUNT' },
    { name: `sum ${name}`, aggregate: 'SUM', column: columnRef(`${name}.amount`) },
    { name: `min ${name}`, aggregate: 'MIN', column: columnRef(`${name}.label`) },
    { name: `keys ${name}`, aggregate: 'COUNT_DISTINCT', column: columnRef(`${name}.key`) },
  ];

  const worldOf = (a: Edition, b: Edition, join: JoinKind): World => ({
    editions: { a, b, c: 'own' },
    joins: { ab: join, bc: null, client: join },
  });

  const pairs = editions.flatMap((a) => editions.flatMap((b) => joinKinds.map((join) => ({ a, b, join }))));

  describe('a tenant sees what a database of its own would show', () => {
    it.each(pairs)('$join of a ($a) to b ($b), from either side', async ({ a, b, join }) => {
      const world = worldOf(a, b, join);
      const [one, two] = [`a_${a}`, `b_${b}`];
      for (const tenant of tenants) {
        for (const from of [one, two]) {
          const definition = metric(from, {
            dimensions: [{ name: 'left', column: columnRef(`${one}.label`) }],
            measures: [...measuresOf(one), ...measuresOf(two).slice(1)],
            underlying: ['tenant', 'key', 'amount'].flatMap((name) => [
              columnRef(`${one}.${name}`),
              columnRef(`${two}.${name}`),
            ]),
          });
          const answers = await bothAnswers(world, tenant, definition);
          expect(answers.shared).toEqual(answers.shard);
          const rows = await bothAnswers(world, tenant, definition, [], 'underlying');
          expect(rows.shared).toEqual(rows.shard);
          expect(rows.shared).not.toMatchObject({ totalRecords: 0 });
        }
      }
    });

    it.each(joinKinds)('the master list of clients, by %s, shows one client', async (join) => {
      const world = worldOf('own', 'all', join);
      for (const tenant of tenants) {
        for (const from of ['a_own', 'clients']) {
          const definition = metric(from, {
            dimensions: [{ name: 'client', column: columnRef('clients.id') }],
            measures: measuresOf('a_own'),
          });
          const { shared, shard } = await bothAnswers(world, tenant, definition);
          expect(shared).toEqual(shard);
          expect(shared).toMatchObject({ rows: expect.arrayContaining([expect.objectContaining({ client: tenant })]) });
          const options = await bothAnswers(world, tenant, definition, [], { options: 'clients.name' });
          expect(options.shared).toEqual(options.shard);
          expect(options.shared).toHaveLength(1);
        }
      }
    });

    it.each(joinKinds)(
      'a condition along a %s meets only own rows, whether its table is joined or not',
      async (join) => {
        const world: World = {
          editions: { a: 'own', b: 'own', c: 'own' },
          joins: { ab: join, bc: join, client: null },
        };
        for (const tenant of tenants) {
          for (const on of ['a_own.label', 'b_own.label', 'c_own.label']) {
            const definition = metric('a_own', { measures: measuresOf('a_own') });
            const conditions = [condition(on, { kind: 'oneOf', values: ['red', 'blue'] })];
            const { shared, shard } = await bothAnswers(world, tenant, definition, conditions);
            expect(shared).toEqual(shard);
            const options = await bothAnswers(world, tenant, definition, conditions, { options: 'c_own.tenant' });
            expect(options.shared).toEqual(options.shard);
            expect([[], [tenant]]).toContainEqual(options.shared);
          }
        }
      },
    );
  });

  const predicates: readonly Predicate[] = [
    { kind: 'compare', operator: '<>', value: 'red' },
    { kind: 'oneOf', values: ['red', 'blue'] },
    { kind: 'noneOf', values: ['blue'] },
    { kind: 'like', pattern: '%e%' },
    { kind: 'isNotNull' },
    { kind: 'isNull' },
  ];

  const arbitraryCase = fc.record({
    editions: fc.record({
      a: fc.constantFrom(...editions),
      b: fc.constantFrom(...editions),
      c: fc.constantFrom(...editions),
    }),
    joins: fc.record({
      ab: fc.constantFrom(...joinKinds, null),
      bc: fc.constantFrom(...joinKinds, null),
      client: fc.constantFrom(...joinKinds, null),
    }),
    tenant: fc.constantFrom(...tenants),
    from: fc.constantFrom('a' as const, 'b' as const, 'c' as const),
    dimensions: fc.uniqueArray(fc.constantFrom('a' as const, 'b' as const, 'c' as const, 'client' as const), {
      maxLength: 3,
    }),
    measured: fc.constantFrom('a' as const, 'b' as const, 'c' as const),
    conditions: fc.array(
      fc.record({
        on: fc.constantFrom('a' as const, 'b' as const, 'c' as const),
        predicate: fc.constantFrom(...predicates),
      }),
      { maxLength: 3 },
    ),
    way: fc.constantFrom('query' as const, 'underlying' as const, 'options' as const),
    limit: fc.option(fc.integer({ min: 0, max: 6 })),
    offset: fc.integer({ min: 0, max: 6 }),
  });

  it('answers the same from the shared file as from the shard, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryCase,
        async ({ tenant, from, dimensions, measured, conditions, way, limit, offset, ...world }) => {
          const name = (logical: 'a' | 'b' | 'c'): string => `${logical}_${world.editions[logical]}`;
          const label = (logical: 'a' | 'b' | 'c' | 'client'): string =>
            logical === 'client' ? 'clients.name' : `${name(logical)}.label`;
          const definition = metric(name(from), {
            dimensions: dimensions.map((logical) => ({ name: `by ${logical}`, column: columnRef(label(logical)) })),
            measures: measuresOf(name(measured)),
            underlying: [columnRef(`${name(measured)}.tenant`), columnRef(`${name(from)}.key`)].filter(
              (ref, index, all) => index === 0 || ref.tableName !== all[0]?.tableName,
            ),
          });
          const asked = conditions.map(({ on, predicate }) => condition(label(on), predicate));
          const { shared, shard } = await bothAnswers(
            world,
            tenant,
            definition,
            asked,
            way === 'options' ? { options: label(measured) } : way,
            way === 'options' ? {} : { limit, offset },
          );
          expect(shared).toEqual(shard);
        },
      ),
      // Each question costs chdb's process several times what it costs a server.
      { seed: 20_241_120, numRuns: kind === 'CLICKHOUSE' ? 60 : 250 },
    );
  }, 120_000);
});
