/**
 * Computes the joined rows of a metric by nested loops in memory. Tables are joined in the documented order: along the
 * only path from the metric's `from`, nearer tables first, and equally near tables in the order of the datamart's
 * relationships.
 */

import type { ConditionTree } from '../../src/model/dashboard/metric.js';
import {
  type ColumnRef,
  type Datamart,
  findColumn,
  type JoinKind,
  type Relationship,
  sameTable,
  type TableRef,
} from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { exactOfFloat, parseExact } from './exact.js';
import { toLocal } from './times.js';
import { type ColumnKind, compareValues, kindOf, passes, type Value } from './values.js';

/** A value as it was written into the test's table. */
export type Stored = string | number | boolean | null;
/** A row of one table, by column. Rows are identified by object identity. */
export type StoredRow = Readonly<Record<string, Stored>>;

/** Rows without tenancy: either other tenants' rows were removed before, or there are none. */
export type Source = {
  readonly mart: Datamart;
  readonly rowsOf: (table: TableRef) => readonly StoredRow[];
  readonly timezone: string | null;
};

/** One row of each joined table, by the table's position; null if an outer join found no match. */
export type Joined = readonly (StoredRow | null)[];

/** Why a question has no correct answer, as the engine's reason code. */
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

type Path = readonly Step[];

/**
 * Returns every path that a question may mean. Where all relationships with the table of clients are keys of it by the
 * client columns, a path that avoids that table wins over those through it, and a path to it that passes a table with a
 * key beyond the first one does not count.
 */
export const waysBetween = (mart: Datamart, from: TableRef, to: TableRef): readonly Path[] => {
  const all = allWays(mart, from, to);
  const { tenancy } = mart;
  if (tenancy?.tenancyLevel !== 'TABLE' || sameTable(from, tenancy)) return all;
  const isClients = (table: TableRef): boolean => sameTable(table, tenancy);
  const keys = mart.relationships.flatMap(({ parent, child }) => {
    if (isClients(parent)) return [{ own: child, of: parent }];
    return isClients(child) ? [{ own: parent, of: child }] : [];
  });
  const isKey = ({ own, of }: (typeof keys)[number]): boolean =>
    of.columnName === tenancy.tablePrimaryKeyColumn &&
    mart.tables.some((table) => sameTable(table, own) && table.clientColumn === own.columnName);
  if (!keys.every(isKey)) return all;
  if (!isClients(to)) {
    const beside = all.filter((path) => !path.some(({ far }) => isClients(far)));
    return beside.length > 0 ? beside : all;
  }
  const hasKey = (table: TableRef): boolean => keys.some(({ own }) => sameTable(own, table));
  return all.filter((path) => path.slice(0, -1).every(({ near }) => !hasKey(near)));
};

/** Returns every path over relationships that visits no table twice. */
const allWays = (mart: Datamart, from: TableRef, to: TableRef, met: readonly TableRef[] = []): readonly Path[] => {
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
    return allWays(mart, step.far, to, been).map((rest) => [step, ...rest]);
  });
};

export const theWay = (mart: Datamart, from: TableRef, to: TableRef): Path => {
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

/** Whether a row of the near table may match several far rows, according to the datamart. */
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

/** The value as joins compare it: without a timezone. */
const storedValue = (stored: Stored | undefined, kind: ColumnKind): Value => {
  if (stored === null || stored === undefined || typeof stored === 'boolean') return stored ?? null;
  if (kind === 'exact' || kind === 'float') return numberOf(stored, kind);
  return kind === 'text' ? String(stored) : String(stored).replace(' ', 'T').replace('+00', '');
};

/**
 * The value as a metric shows it: times are in the question's timezone if the datamart says that the column is
 * converted.
 */
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

/**
 * The context in which conditions are evaluated: the joined tables, and those whose joined rows a condition tests
 * directly.
 */
export type Judged = {
  readonly source: Source;
  readonly from: TableRef;
  readonly tables: readonly TableRef[];
  readonly tested: readonly TableRef[];
};

/**
 * Whether the row meets all conditions. A condition on a joined table tests the row joined from it. All conditions on
 * another table must be met by one row of that table that the joined row leads to.
 */
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

/**
 * Whether the row meets a tree of conditions. Conditions in one `all` on the same unjoined table must be met by the
 * same row; in an `any`, each may be met by another row.
 */
export const satisfies = (judged: Judged, row: Joined, tree: ConditionTree): boolean => {
  if ('any' in tree) return tree.any.some((item) => satisfies(judged, row, item));
  if (!('all' in tree)) return meets(judged, row, [tree]);
  const plain = tree.all.filter((item) => 'predicate' in item);
  return meets(judged, row, plain) && tree.all.every((item) => 'predicate' in item || satisfies(judged, row, item));
};
