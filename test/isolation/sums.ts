/** Measures that can be added: the answers of all owners together must equal the answer without a tenant filter. */
import fc from 'fast-check';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { ColumnRef, Datamart } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { MetricAnswer } from '../../src/model/query/engine.js';
import { byClients, columnRef, datamart, metric, question, relationship, table } from '../engine/world.js';
import { columns, type OwnTable, ownTables, parentOf, sharedTables } from './dataset.js';
import { add, type Exact, parseExact, zero } from './exact.js';
import type { Stage } from './stage.js';

export type ASum = {
  readonly from: OwnTable;
  readonly by: readonly ('label' | 'code' | 'flag' | 'places.label' | 'kinds.code')[];
  readonly hasCondition: boolean;
  /** Whether the table and its parents have no client column, except the topmost one. */
  readonly isDerived: boolean;
};

export const aSum: fc.Arbitrary<ASum> = fc.record({
  from: fc.constantFrom(...ownTables),
  by: fc.uniqueArray(fc.constantFrom('label', 'code', 'flag', 'places.label', 'kinds.code'), { maxLength: 2 }),
  hasCondition: fc.boolean(),
  isDerived: fc.boolean(),
});

/** Returns the tables from this one up to the topmost parent. */
const lineOf = (name: OwnTable): readonly OwnTable[] => {
  const parent = parentOf[name];
  return parent === undefined ? [name] : [name, ...lineOf(parent)];
};

const martOf = ({ from, isDerived }: ASum, isTenanted: boolean): Datamart => {
  const above = isDerived ? lineOf(from) : [from];
  return datamart({
    tenancy: isTenanted ? byClients() : null,
    tables: [
      ...above.map((name, index) => table(name, columns, isTenanted && index === above.length - 1 ? 'tenant' : null)),
      ...sharedTables.map((name) => table(name, columns)),
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    ],
    relationships: [
      ...above
        .slice(1)
        .map((name, index) => relationship(`${above[index]}.up`, `${name}.uid`, 'LEFT JOIN', 'ManyToOne')),
      relationship(`${from}.ref`, 'places.id', 'LEFT JOIN', 'ManyToOne'),
      relationship(`${from}.ref`, 'kinds.id', 'LEFT JOIN', 'ManyToOne'),
    ],
    sharedTables: sharedTables.map((name) => `main.${name}`),
  });
};

const definitionOf = ({ from, by }: ASum): VisualDefinition => {
  const own = (column: string): ColumnRef => columnRef(column.includes('.') ? column : `${from}.${column}`);
  return metric(from, {
    dimensions: by.map((name) => ({ name, column: own(name) })),
    measures: [
      { name: 'rows', aggregate: 'COUNT' },
      { name: 'known', aggregate: 'COUNT', column: own('label') },
      { name: 'amount', aggregate: 'SUM', column: own('amount') },
      { name: 'price', aggregate: 'SUM', column: own('price') },
    ],
  });
};

/** Adds measures to the sums, by the values of the dimensions. A sum over no rows is NULL and adds nothing. */
const addTo = (sums: Map<string, Record<string, Exact>>, { rows }: MetricAnswer, { by }: ASum): void => {
  for (const row of rows) {
    const key = JSON.stringify(by.map((name) => row[name]));
    const known = sums.get(key) ?? {};
    for (const name of ['rows', 'known', 'amount', 'price']) {
      known[name] = add(known[name] ?? zero, parseExact(String(row[name] ?? 0)));
    }
    sums.set(key, known);
  }
};

const written = (sums: ReadonlyMap<string, Record<string, Exact>>): string =>
  [...sums]
    .filter(([, { rows }]) => rows !== undefined && rows.n !== 0n)
    .map(([key, values]) => `${key} ${Object.entries(values).map(([name, { n, d }]) => `${name} ${n}/${d}`)}`)
    .sort()
    .join('\n');

/** Throws if the parts do not add up to the whole. */
export const assertAddsUp = async ({ engine, places, dataset }: Stage, asked: ASum): Promise<void> => {
  const definition = definitionOf(asked);
  const conditions: readonly Condition[] = asked.hasCondition
    ? [{ column: columnRef('kinds.flag'), predicate: { kind: 'compare', operator: '=', value: true } }]
    : [];
  const ask = (isTenanted: boolean, clientId: string, more: readonly Condition[] = []) =>
    engine.query(
      question(places.shared, martOf(asked, isTenanted), clientId, definition, {
        conditions: [...conditions, ...more],
      }),
    );
  const owners = (dataset.get('clients') ?? []).map(({ id }) => String(id));
  const nobodys: Condition = { column: columnRef(`${asked.from}.tenant`), predicate: { kind: 'isNull' } };
  const parts = await Promise.all([...owners.map((owner) => ask(true, owner)), ask(false, 'None', [nobodys])]);
  const [sum, whole] = [new Map(), new Map()];
  for (const part of parts) addTo(sum, part, asked);
  addTo(whole, await ask(false, 'None'), asked);
  if (written(sum) !== written(whole))
    throw new Error(`the parts\n${written(sum)}\nare not the whole\n${written(whole)}`);
};
