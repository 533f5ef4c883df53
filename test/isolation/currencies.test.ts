/**
 * Proves that no currency of another tenant reaches a tenant: its answers say the currencies that its own rows say, and
 * equal those of a database that holds nothing else. `npm run isolation -- --only currencies` runs many more cases.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Measure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { Datamart, ModelNumbers } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { AnswerColumn, Cell, Engine } from '../../src/model/query/engine.js';
import { codeOf } from '../../src/model/query/numbers.js';
import { Refusal } from '../../src/model/refusal.js';
import { systemClock } from '../../src/platform/work/time.js';
import { type Builder, createBuilder, findKinds } from '../engine/test-databases.js';
import {
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  relationship,
  rowsOf,
  table,
} from '../engine/world.js';
import { countOfCases } from './count.js';

const seed = Number(process.env.ISOLATION_SEED ?? 20_261_129);
const wanted = process.env.ISOLATION_KINDS?.split(',');
const kinds = (await findKinds()).filter((kind) => wanted === undefined || wanted.includes(kind));
const isShort = process.env.ISOLATION_SHRINK === '0';
const cases = countOfCases(240, 400);
/** Number of questions on one set of databases. */
const perStage = 40;

const tenants = ['a', 'b', 'c'] as const;
type Tenant = (typeof tenants)[number];
type Invoice = {
  readonly owner: Tenant;
  readonly currency: string | null;
  readonly cents: number;
  readonly kind: string;
};
type World = { readonly currencies: Readonly<Record<Tenant, string | null>>; readonly invoices: readonly Invoice[] };

const columns = {
  clients: { id: 'VARCHAR', name: 'VARCHAR', currency: 'VARCHAR', region: 'VARCHAR' },
  invoices: { id: 'BIGINT', owner: 'VARCHAR', currency: 'VARCHAR', cents: 'BIGINT', kind: 'VARCHAR' },
  lines: { id: 'BIGINT', invoice: 'BIGINT', fee: 'BIGINT' },
} as const;
const code = fc.constantFrom('EUR', 'GBP', 'JPY', 'usd', 'KWD ', 'euros', null);
const aWorld: fc.Arbitrary<World> = fc.record({
  currencies: fc.record({ a: code, b: code, c: code }),
  invoices: fc.array(
    fc.record({
      owner: fc.constantFrom(...tenants),
      currency: fc.constantFrom('EUR', 'GBP', 'JPY', null),
      cents: fc.integer({ min: -100_000, max: 100_000 }),
      kind: fc.constantFrom('new', 'old'),
    }),
    { minLength: 3, maxLength: 14 },
  ),
});

/** The tables with the rows of these tenants alone. Keys are the same in each database. */
const tablesOf = ({ currencies, invoices }: World, kept: readonly Tenant[]) => {
  const own = invoices.flatMap((one, at) => (kept.includes(one.owner) ? [{ ...one, id: at + 1 }] : []));
  return [
    {
      ...{ name: 'clients', columns: columns.clients },
      rows: kept.map((id) => [id, id.toUpperCase(), currencies[id], id === 'a' ? 'north' : 'south']),
    },
    {
      ...{ name: 'invoices', columns: columns.invoices },
      rows: own.map(({ id, owner, currency, cents, kind }) => [id, owner, currency, cents, kind]),
    },
    { name: 'lines', columns: columns.lines, rows: own.map(({ id, cents }) => [id, id, cents]) },
  ];
};

const ofRow: ModelNumbers = { scale: 2, currency: { column: 'currency' } };
const ofTenant: ModelNumbers = { scale: 2, currency: { tenantColumn: 'currency' } };
const martOf = (numbers: ModelNumbers, hidden: 'no' | 'hidden' | 'masked'): Datamart => {
  const with_ = (name: string, of: ReturnType<typeof table>, own: ModelNumbers) => ({
    ...of,
    columns: of.columns.map((column) => (column.columnName === name ? { ...column, numbers: own } : column)),
  });
  const mart = datamart({
    tenancy: byClients(),
    tables: [
      table('clients', columns.clients),
      with_('cents', table('invoices', columns.invoices, 'owner'), numbers),
      // The tenant of a line is that of its invoice.
      with_('fee', table('lines', columns.lines), ofTenant),
    ],
    relationships: [relationship('lines.invoice', 'invoices.id')],
  });
  const name = numbers === ofRow ? 'main.invoices.currency' : 'main.clients.currency';
  if (hidden === 'no') return mart;
  return withColumnRules(mart, {
    hideColumns: hidden === 'hidden' ? [name] : [],
    maskColumns: hidden === 'masked' ? { [name]: 'first' } : {},
  });
};

const anAsk = fc.record({
  tenant: fc.constantFrom(...tenants),
  isOfRow: fc.boolean(),
  isOfLines: fc.boolean(),
  hidden: fc.constantFrom('no' as const, 'no' as const, 'hidden' as const, 'masked' as const),
  groups: fc.subarray(['currency', 'kind'] as const),
  only: fc.constantFrom(null, 'EUR', 'GBP'),
  region: fc.constantFrom(null, null, 'north', 'south'),
  way: fc.constantFrom('query' as const, 'stream' as const, 'rows' as const),
});
type AnAsk = typeof anAsk extends fc.Arbitrary<infer Value> ? Value : never;
type Said = { readonly rows: readonly string[]; readonly currencies: readonly (string | undefined)[] };

const sum = (name: string, path: string): Measure => ({ name, aggregate: 'SUM', column: columnRef(path) });
const definitionOf = ({ isOfLines, groups }: AnAsk): VisualDefinition => {
  const path = isOfLines ? 'lines.fee' : 'invoices.cents';
  return metric(isOfLines ? 'lines' : 'invoices', {
    dimensions: groups.map((name) => ({ name, column: columnRef(`invoices.${name}`) })),
    measures: [sum('amount', path)],
    underlying: [columnRef('invoices.currency'), columnRef(path)],
  });
};
const conditionsOf = ({ only, region }: AnAsk): readonly Condition[] => {
  const ofToken = { isOfToken: true, isHidden: true } as const;
  return [
    ...(only === null ? [] : [condition('invoices.currency', { kind: 'oneOf', values: [only] })]),
    ...(region === null
      ? []
      : [
          {
            ...condition('clients.region', { kind: 'oneOf', values: [region] }),
            ...{ ...ofToken, restriction: 'whereRead' as const },
          },
        ]),
  ];
};

const textOf = (cells: readonly (Cell | undefined)[]): string =>
  JSON.stringify(cells.map((cell) => (typeof cell === 'string' && /^-?[\d.]+$/.test(cell) ? Number(cell) : cell)));
const saidOf = (found: readonly AnswerColumn[]): Said['currencies'] =>
  found.map(({ currency, currencyColumn }) => (currencyColumn === undefined ? currency : `of ${currencyColumn}`));

const askOf =
  (engine: Engine) =>
  async (place: Place, ask: AnAsk): Promise<Said | { readonly refused: string }> => {
    const mart = martOf(ask.isOfRow ? ofRow : ofTenant, ask.hidden);
    const asked = question(place, mart, ask.tenant, definitionOf(ask), { conditions: conditionsOf(ask) });
    try {
      if (ask.way === 'stream') {
        const stream = await engine.stream(asked);
        return { rows: (await rowsOf(stream)).map(textOf).toSorted(), currencies: saidOf(stream.columns) };
      }
      const { rows, columns: found } = ask.way === 'rows' ? await engine.underlying(asked) : await engine.query(asked);
      return { rows: rows.map((row) => textOf(Object.values(row))).toSorted(), currencies: saidOf(found) };
    } catch (error) {
      if (error instanceof Refusal) return { refused: error.reason };
      throw error;
    }
  };

/** The currency that the tenant's own row of the client master table names, if the token shows it. */
const expectedCode = ({ currencies }: World, { tenant, isOfRow, hidden, region }: AnAsk): string | undefined => {
  const isKept = region === null || (tenant === 'a') === (region === 'north');
  // Where each row has its own, the token hides the column of the rows.
  const isShown = hidden === 'no' || isOfRow;
  return isShown && isKept ? codeOf(currencies[tenant]) : undefined;
};

type Stage = { readonly world: World; readonly shared: Place; readonly alone: Readonly<Record<Tenant, Place>> };

const judge = async (stage: Stage, ask: AnAsk, engine: Engine, tally: { named: number }): Promise<void> => {
  const [together, alone] = await Promise.all(
    [stage.shared, stage.alone[ask.tenant]].map((place) => askOf(engine)(place, ask)),
  );
  expect(together).toEqual(alone);
  if (together === undefined || 'refused' in together) {
    const isHidden = together?.refused === 'column-not-in-datamart';
    // No question names the column of the tenant's currency: where that one is hidden, there is an answer without a code.
    const isNamed = ask.isOfRow && ask.hidden === 'hidden';
    expect([together?.refused, isHidden ? isNamed : ask.isOfRow && !ask.isOfLines]).toEqual([
      ...[isHidden ? 'column-not-in-datamart' : 'currencies-mixed', true],
    ]);
    return;
  }
  const said = together.currencies.at(-1);
  if (together.rows.length === 0 || said === undefined) return;
  tally.named += 1;
  const own = stage.world.invoices.filter(({ owner }) => owner === ask.tenant);
  if (!ask.isOfRow || ask.isOfLines) expect(said).toBe(expectedCode(stage.world, ask));
  // A filter that leaves one currency names it, whether there are rows or not.
  else if (said !== 'of currency') expect([ask.only, ...own.map(({ currency }) => currency)]).toContain(said);
};

describe.each(kinds)('on %s', (kind) => {
  const withStage = async (builder: Builder, world: World, at: number, work: (stage: Stage) => Promise<void>) => {
    const build = (name: string, kept: readonly Tenant[]) =>
      builder.build(`currencies_${at}_${name}`, tablesOf(world, kept));
    const [shared, a, b, c] = [
      await build('all', tenants),
      ...[await build('a', ['a']), await build('b', ['b']), await build('c', ['c'])],
    ];
    if (a === undefined || b === undefined || c === undefined) throw new Error('a database for each tenant');
    await work({ world, shared, alone: { a, b, c } });
  };

  it('each answer says the currencies of the tenant’s own rows, and of no other', async () => {
    const builder = await createBuilder(kind);
    const cache = { secret: Buffer.alloc(32, 1), clock: systemClock, ttlSeconds: 60, maxBytes: 1e6, shared: null };
    const tally = { named: 0 };
    try {
      for (let asked = 0; asked < cases; asked += perStage) {
        const [world] = fc.sample(aWorld, { seed: seed + asked, numRuns: 1 });
        if (world === undefined) throw new Error('nothing was drawn');
        await withStage(builder, world, asked, async (stage) => {
          // Each stage has databases of its own, and a server takes only so many connections.
          const { engine } = createLoggedEngine({ maskSecret: Buffer.alloc(32, 2), cache });
          try {
            await fc.assert(
              fc.asyncProperty(anAsk, (ask) => judge(stage, ask, engine, tally)),
              { seed: seed + asked, endOnFailure: isShort, numRuns: Math.min(perStage, cases - asked) },
            );
          } finally {
            await engine.close();
          }
        });
      }
    } finally {
      await builder.remove();
    }
    if (process.env.ISOLATION_CASES !== undefined) process.stderr.write(`currencies, ${kind}: ${tally.named} named\n`);
    if (cases >= 240) expect(tally.named / cases).toBeGreaterThan(0.15);
  }, 36_000_000);
});
