/**
 * The rows that a metric is about, by nested loops over rows in memory. The order of joins, as the datamart documents it: a table is joined
 * along the one way from the metric's `from`; nearer tables first, those equally near in the order of the datamart's relationships.
 */

import type { ConditionTree } from '../../src/domain/dashboard/metric.js';
import {
  type ColumnRef,
  type Datamart,
  findColumn,
  type JoinKind,
  type Relationship,
  sameTable,
  type TableRef,
} from '../../src/domain/datamart/datamart.js';
import type { Condition } from '../../src/domain/filter/filter.js';
import { exactOfFloat, parseExact } from './exact.js';
import { toLocal } from './times.js';
import { type ColumnKind, compareValues, kindOf, passes, type Value } from './values.js';

/** As it was written into the test's table. */
export type Stored = string | number | boolean | null;
/** A row of one table, by its columns. The object itself says which row it is. */
export type StoredRow = Readonly<Record<string, Stored>>;

/** A data set that one may see whole: tenancy was applied before, or there is none. */
export type Source = {
  readonly mart: Datamart;
  readonly rowsOf: (table: TableRef) => readonly StoredRow[];
  readonly timezone: string | null;
};

/** One row of each joined table, by the table's position; null where an outer join found none. */
export type Joined = readonly (StoredRow | null)[];

/** Why no answer is right, in the engine's words for it. */
export type Refusable = 'path-missing' | 'path-ambiguous' | 'fan-out' | 'full-join-unsupported';
export class Unanswerable extends Error {
  constructor(readonly reason: Refusable) {
    super(reason);
  }
}

export type Step = {
  readonly relationship: Relationship;
  readonly near: ColumnRef;
  readonly far: ColumnRef;
  readonly kind: JoinKind;
};

const seenFromChild: Readonly<Record<JoinKind, JoinKind>> = {
  'INNER JOIN': 'INNER JOIN',
  'FULL JOIN': 'FULL JOIN',
  'LEFT JOIN': 'RIGHT JOIN',
  'RIGHT JOIN': 'LEFT JOIN',
};

/** Every way over relationships that meets no table twice. */
export const waysBetween = (
  mart: Datamart,
  from: TableRef,
  to: TableRef,
  met: readonly TableRef[] = [],
): readonly (readonly Step[])[] => {
  if (sameTable(from, to)) return [[]];
  const been = [...met, from];
  return mart.relationships.flatMap((relationship) => {
    const { parent, child, join } = relationship;
    const kind = join ?? 'LEFT JOIN';
    const step: Step | undefined = sameTable(parent, from)
      ? { relationship, near: parent, far: child, kind }
      : sameTable(child, from)
        ? { relationship, near: child, far: parent, kind: seenFromChild[kind] }
        : undefined;
    if (step === undefined || been.some((table) => sameTable(table, step.far))) return [];
    return waysBetween(mart, step.far, to, been).map((rest) => [step, ...rest]);
  });
};

export const theWay = (mart: Datamart, from: TableRef, to: TableRef): readonly Step[] => {
  const [way, second] = waysBetween(mart, from, to);
  if (way === undefined) throw new Unanswerable('path-missing');
  if (second !== undefined) throw new Unanswerable('path-ambiguous');
  return way;
};

export const stepsTo = (mart: Datamart, from: TableRef, tables: readonly TableRef[]): readonly Step[] => {
  const depths = new Map<Relationship, { readonly step: Step; readonly depth: number }>();
  for (const table of tables) {
    theWay(mart, from, table).forEach((step, depth) => {
      depths.set(step.relationship, { step, depth });
    });
  }
  const order = ({ relationship }: Step): number => mart.relationships.indexOf(relationship);
  return [...depths.values()]
    .sort((a, b) => a.depth - b.depth || order(a.step) - order(b.step))
    .map(({ step }) => step);
};

/** Whether a row of the near table may match several of the far one, by what the datamart says. */
export const maybeSeveral = ({ relationship, far }: Step): boolean => {
  const { cardinality, child } = relationship;
  if (cardinality === null || cardinality === 'ManyToMany') return true;
  return sameTable(far, child) ? cardinality === 'OneToMany' : cardinality === 'ManyToOne';
};

type Known = { readonly kind: ColumnKind; readonly isApplyTimezone: boolean };
const known = new WeakMap<Datamart, Map<string, Known>>();

const columnIn = (mart: Datamart, ref: ColumnRef): Known => {
  const columns = known.get(mart) ?? new Map<string, Known>();
  known.set(mart, columns);
  const key = `${ref.tableName}.${ref.columnName}`;
  const met = columns.get(key);
  if (met !== undefined) return met;
  const column = findColumn(mart, ref);
  if (column === undefined) throw new RangeError(`no column ${ref.columnName}`);
  const made = { kind: kindOf(column.datatype), isApplyTimezone: column.isApplyTimezone };
  columns.set(key, made);
  return made;
};

export const isWholeColumn = (mart: Datamart, ref: ColumnRef): boolean =>
  /^(BIGINT|INTEGER)$/.test(findColumn(mart, ref)?.datatype ?? '');

export const columnKind = (mart: Datamart, ref: ColumnRef): ColumnKind => columnIn(mart, ref).kind;

const numberOf = (stored: string | number, kind: ColumnKind): Value =>
  kind === 'float' ? exactOfFloat(Number(stored)) : parseExact(String(stored));

/** As a join compares it: in no zone. */
const storedValue = (stored: Stored | undefined, kind: ColumnKind): Value => {
  if (stored === null || stored === undefined || typeof stored === 'boolean') return stored ?? null;
  if (kind === 'exact' || kind === 'float') return numberOf(stored, kind);
  return kind === 'text' ? String(stored) : String(stored).replace(' ', 'T').replace('+00', '');
};

/** As a metric shows it: a time of day in the question's zone, where the datamart says that the column takes one. */
export const valueIn = ({ mart, timezone }: Source, row: StoredRow | null | undefined, ref: ColumnRef): Value => {
  const { kind, isApplyTimezone } = columnIn(mart, ref);
  const value = storedValue(row?.[ref.columnName], kind);
  const zone = isApplyTimezone ? timezone : null;
  return zone !== null && typeof value === 'string' && (kind === 'instant' || kind === 'timestamp')
    ? toLocal(value, zone)
    : value;
};

export const areEqual = (mart: Datamart, near: StoredRow | null | undefined, far: StoredRow, step: Step): boolean => {
  const a = storedValue(near?.[step.near.columnName], columnKind(mart, step.near));
  const b = storedValue(far[step.far.columnName], columnKind(mart, step.far));
  return a !== null && b !== null && compareValues(a, b) === 0;
};

const joinOne = (
  source: Source,
  rows: readonly Joined[],
  position: number,
  width: number,
  step: Step,
): readonly Joined[] => {
  const met = new Set<StoredRow>();
  const joined = rows.flatMap((row): readonly Joined[] => {
    const matches = source.rowsOf(step.far).filter((far) => areEqual(source.mart, row[position], far, step));
    for (const far of matches) met.add(far);
    if (matches.length > 0) return matches.map((far) => [...row, far]);
    return step.kind === 'LEFT JOIN' || step.kind === 'FULL JOIN' ? [[...row, null]] : [];
  });
  if (step.kind !== 'RIGHT JOIN' && step.kind !== 'FULL JOIN') return joined;
  const alone = source.rowsOf(step.far).filter((far) => !met.has(far));
  return [...joined, ...alone.map((far): Joined => [...Array<null>(width).fill(null), far])];
};

export type JoinedRows = { readonly tables: readonly TableRef[]; readonly rows: readonly Joined[] };

export const positionIn = (tables: readonly TableRef[], table: TableRef): number =>
  tables.findIndex((candidate) => sameTable(candidate, table));

export const joinAll = (source: Source, from: TableRef, steps: readonly Step[]): JoinedRows => {
  const tables: TableRef[] = [from];
  let rows: readonly Joined[] = source.rowsOf(from).map((row) => [row]);
  for (const step of steps) {
    rows = joinOne(source, rows, positionIn(tables, step.near), tables.length, step);
    tables.push(step.far);
  }
  return { tables, rows };
};

/** Where conditions are judged: the joined tables, and which of them a condition may test in place. */
export type Judged = {
  readonly source: Source;
  readonly from: TableRef;
  readonly tables: readonly TableRef[];
  readonly tested: readonly TableRef[];
};

/** Whether all conditions hold for the row: one on a joined table for its row there, all on another table for one row that it leads to. */
export const meets = (judged: Judged, row: Joined, conditions: readonly Condition[]): boolean => {
  const { source, from, tables, tested } = judged;
  const isTested = (table: TableRef): boolean => tested.some((there) => sameTable(there, table));
  const outside = conditions.filter(({ column }) => !isTested(column));
  const elsewhere = outside
    .map(({ column }): TableRef => column)
    .filter((table, index, all) => all.findIndex((other) => sameTable(other, table)) === index);
  return (
    conditions
      .filter(({ column }) => isTested(column))
      .every((condition) => holdsFor(source, row[positionIn(tables, condition.column)], condition)) &&
    elsewhere.every((table) => {
      const steps = theWay(source.mart, from, table).filter(({ far }) => !isTested(far));
      const on = outside.filter(({ column }) => sameTable(column, table));
      return leadsTo(source, row[positionIn(tables, steps[0]?.near ?? from)], steps, on);
    })
  );
};

export const holdsFor = (
  source: Source,
  row: StoredRow | null | undefined,
  { column, predicate }: Condition,
): boolean => passes(predicate, valueIn(source, row, column), columnKind(source.mart, column));

const leadsTo = (
  source: Source,
  row: StoredRow | null | undefined,
  [step, ...rest]: readonly Step[],
  conditions: readonly Condition[],
): boolean =>
  step === undefined
    ? conditions.every((condition) => holdsFor(source, row, condition))
    : source
        .rowsOf(step.far)
        .some((far) => areEqual(source.mart, row, far, step) && leadsTo(source, far, rest, conditions));

/** A group of conditions. Side by side in an `all`, those on one table that is not joined are met by one of its rows; in an `any`, each by its own. */
export const satisfies = (judged: Judged, row: Joined, tree: ConditionTree): boolean => {
  if ('any' in tree) return tree.any.some((item) => satisfies(judged, row, item));
  if (!('all' in tree)) return meets(judged, row, [tree]);
  const plain = tree.all.filter((item) => 'predicate' in item);
  return meets(judged, row, plain) && tree.all.every((item) => 'predicate' in item || satisfies(judged, row, item));
};
