/** Answers metrics over rows in memory by nested loops, without the engine. */

import type { AggregateMeasure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart, JoinKind, TableRef } from '../../src/model/datamart/datamart.js';

export type Row = Readonly<Record<string, number | string | null>>;
export type Tables = Readonly<Record<string, readonly Row[]>>;
/** One row of each table, by table name. A table that an outer join padded is missing. */
type Joined = Readonly<Record<string, Row>>;

type Edge = {
  readonly from: string;
  readonly to: string;
  readonly near: string;
  readonly far: string;
  readonly kind: JoinKind;
};

const mirrored: Readonly<Record<JoinKind, JoinKind>> = {
  'LEFT JOIN': 'RIGHT JOIN',
  'RIGHT JOIN': 'LEFT JOIN',
  'INNER JOIN': 'INNER JOIN',
  'FULL JOIN': 'FULL JOIN',
};

/** Returns every edge in the direction away from the root, nearest first. */
const edgesFrom = ({ relationships }: Datamart, root: string): readonly Edge[] => {
  const found: Edge[] = [];
  const seen = [root];
  for (const from of seen) {
    for (const { parent, child, join } of relationships) {
      const kind = join ?? 'LEFT JOIN';
      const forward = parent.tableName === from;
      if (!forward && child.tableName !== from) continue;
      const [near, far] = forward ? [parent, child] : [child, parent];
      if (seen.includes(far.tableName)) continue;
      seen.push(far.tableName);
      found.push({
        from,
        to: far.tableName,
        near: near.columnName,
        far: far.columnName,
        kind: forward ? kind : mirrored[kind],
      });
    }
  }
  return found;
};

const tablesOf = (definition: VisualDefinition): readonly TableRef[] =>
  [...definition.dimensions, ...definition.measures].flatMap(({ column }) => (column === undefined ? [] : [column]));

const join = (
  rows: readonly Joined[],
  table: readonly Row[],
  { from, to, near, far, kind }: Edge,
): readonly Joined[] => {
  const matches = (row: Joined, other: Row): boolean => row[from]?.[near] != null && row[from]?.[near] === other[far];
  const pairs = rows.flatMap((row) =>
    table.filter((other) => matches(row, other)).map((other) => ({ ...row, [to]: other })),
  );
  const left = rows.filter((row) => !table.some((other) => matches(row, other)));
  const right = table.filter((other) => !rows.some((row) => matches(row, other))).map((other) => ({ [to]: other }));
  return [
    ...pairs,
    ...(kind === 'LEFT JOIN' || kind === 'FULL JOIN' ? left : []),
    ...(kind === 'RIGHT JOIN' || kind === 'FULL JOIN' ? right : []),
  ];
};

/** Returns the joined rows for the definition under its `where`, which is one `all` of comparisons by `>`. */
export const joined = (data: Tables, mart: Datamart, definition: VisualDefinition): readonly Joined[] => {
  const root = definition.from.tableName;
  const edges = edgesFrom(mart, root);
  const needed = new Set<string>();
  for (const { tableName } of tablesOf(definition)) {
    for (let at = tableName; at !== root; at = edges.find(({ to }) => to === at)?.from ?? root) needed.add(at);
  }
  const own = edges.filter(({ to }) => needed.has(to));
  let rows: readonly Joined[] = (data[root] ?? []).map((row) => ({ [root]: row }));
  for (const edge of own) rows = join(rows, data[edge.to] ?? [], edge);
  const tests = definition.where !== undefined && 'all' in definition.where ? definition.where.all : [];
  return rows.filter((row) =>
    tests.every((test) => {
      if (!('predicate' in test) || test.predicate.kind !== 'compare') throw new Error('not a comparison');
      const { column, predicate } = test;
      const passes = (other: Row | undefined): boolean =>
        Number(other?.[column.columnName] ?? Number.NaN) > Number(predicate.value);
      const isJoined = column.tableName === root || needed.has(column.tableName);
      if (isJoined) return passes(row[column.tableName]);
      const way = (at: string): readonly Edge[] => {
        const edge = edges.find(({ to }) => to === at);
        return edge === undefined || needed.has(at) ? [] : [...way(edge.from), edge];
      };
      const chains = way(column.tableName).reduce<readonly Joined[]>(
        (some, edge) => join(some, data[edge.to] ?? [], { ...edge, kind: 'INNER JOIN' }),
        [row],
      );
      return chains.some((chain) => passes(chain[column.tableName]));
    }),
  );
};

/** Returns the values of a column, each row of the measure's table once. */
const valuesOf = (rows: readonly Joined[], { column }: AggregateMeasure, root: string): readonly number[] => {
  const table = column?.tableName ?? root;
  const own = [...new Set(rows.map((row) => row[table]))].filter((row) => row !== undefined);
  if (column === undefined) return own.map(() => 1);
  return own
    .map((row) => row[column.columnName] ?? null)
    .filter((value) => value !== null)
    .map(Number);
};

const percentile = (values: readonly number[], fraction: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const place = fraction * (sorted.length - 1);
  const [below = 0, above = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below + (above - below) * (place - Math.floor(place));
};

const aggregate = (
  values: readonly number[],
  { aggregate: of, percentile: fraction }: AggregateMeasure,
): number | null => {
  if (of === 'COUNT') return values.length;
  if (of === 'COUNT_DISTINCT') return new Set(values).size;
  if (values.length === 0) return null;
  const sum = values.reduce((a, b) => a + b, 0);
  if (of === 'SUM') return sum;
  if (of === 'AVG') return sum / values.length;
  if (of === 'MIN') return Math.min(...values);
  if (of === 'MAX') return Math.max(...values);
  return percentile(values, fraction ?? 0.5);
};

const byText = (a: unknown, b: unknown): number => {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return String(a) < String(b) ? -1 : 1;
};

/** Returns the answer's rows in the order of the dimensions, NULL last. */
export const answerOf = (
  rows: readonly Joined[],
  { dimensions, measures, from }: VisualDefinition,
): readonly (readonly unknown[])[] => {
  const groups = new Map<string, { readonly key: readonly unknown[]; readonly rows: Joined[] }>();
  if (dimensions.length === 0) groups.set('[]', { key: [], rows: [] });
  for (const row of rows) {
    const key = dimensions.map(({ column }) => row[column.tableName]?.[column.columnName] ?? null);
    const group = groups.get(JSON.stringify(key)) ?? { key, rows: [] };
    group.rows.push(row);
    groups.set(JSON.stringify(key), group);
  }
  const inOrder = [...groups.values()].sort(
    (a, b) => a.key.map((item, index) => byText(item, b.key[index])).find((order) => order !== 0) ?? 0,
  );
  return inOrder.map(({ key, rows: own }) => [
    ...key,
    ...measures.map((measure) => {
      if (measure.aggregate === undefined) throw new Error('no aggregate');
      return aggregate(valuesOf(own, measure, from.tableName), measure);
    }),
  ]);
};
