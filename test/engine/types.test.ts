/**
 * The two laws of data, over every type of every database: what the write accepts, the query answers; and what the
 * options offer, the filter takes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aggregates, type Dimension, type MetricDefinition, type TimeGrain } from '../../src/model/dashboard/metric.js';
import { isNotFinite } from '../../src/model/filter/exact-number.js';
import type { FilterValue, Predicate, Scalar } from '../../src/model/filter/filter.js';
import { periods } from '../../src/model/filter/period.js';
import { readFilterValue } from '../../src/model/filter/value.js';
import { filterableColumns } from '../../src/model/guest/column-filters.js';
import { guestFields } from '../../src/model/guest/fields.js';
import { predicateOf } from '../../src/model/query/drill.js';
import type { Cell, MetricAnswer } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { findKinds } from './test-databases.js';
import { samples } from './type-samples.js';
import { openTypes, type TypeWorld } from './type-world.js';
import { columnRef, metric, question } from './world.js';

const moment = { now: new Date(0), timezone: null };
const timeGrains: readonly TimeGrain[] = [...periods, 'hourOfDay', 'dayOfWeek'];
const count = { name: 'n', aggregate: 'COUNT' } as const;

/** What a column is asked, by a name for the failure. */
type Shape = { readonly name: string; readonly parts: Parameters<typeof metric>[1]; readonly where?: Predicate };

const isAlike = (cells: readonly Cell[]): boolean =>
  new Set(cells.filter((cell) => cell !== null && !isNotFinite(cell)).map((cell) => typeof cell)).size <= 1;

describe.each(await findKinds())('on %s', (kind) => {
  let world: TypeWorld;
  const all = samples[kind];

  beforeAll(async () => {
    world = await openTypes(kind);
  });
  afterAll(() => world.close());

  const ask: TypeWorld['ask'] = (definition, conditions) => world.ask(definition, conditions);
  const isAccepted = async (definition: MetricDefinition): Promise<boolean> =>
    (await world.faultOf(definition)) === undefined;

  const shapesOf = (column: string, values: readonly Cell[]): readonly Shape[] => {
    const ref = columnRef(`types.${column}`);
    const dimension = (more: Partial<Dimension> = {}): Dimension => ({ name: 'd', column: ref, ...more });
    const grouped = (name: string, more: Partial<Dimension> = {}): Shape => ({
      name,
      parts: { dimensions: [dimension(more)], measures: [count] },
    });
    const given = values.filter((value): value is Scalar => value !== null);
    const where = (name: string, predicate: Predicate): Shape => ({
      name,
      parts: { measures: [count], where: { column: ref, predicate } },
    });
    return [
      ...aggregates.map((aggregate) => ({
        name: aggregate,
        parts: {
          measures: [{ name: 'm', aggregate, column: ref, ...(aggregate === 'PERCENTILE' ? { percentile: 0.3 } : {}) }],
        },
      })),
      grouped('grouped'),
      ...timeGrains.map((grain) => grouped(grain, { grain })),
      grouped('buckets of 1', { bucketWidth: 1 }),
      grouped('three buckets', { bucketCount: 3 }),
      { name: 'sorted', parts: { ...grouped('').parts, sort: [{ name: 'd', direction: 'DESC' }] } },
      { name: 'rows', parts: { underlying: [ref] } },
      ...given
        .slice(0, 2)
        .flatMap((value) => [
          where('= a value', { kind: 'compare', operator: '=', value }),
          where('>= a value', { kind: 'compare', operator: '>=', value }),
          where('one of values', { kind: 'oneOf', values: [value] }),
          where('none of values', { kind: 'noneOf', values: [value] }),
          where('from a value', { kind: 'range', from: value, to: null, toIsExclusive: false }),
        ]),
      where('a pattern', { kind: 'like', pattern: '%a%' }),
      where('no value', { kind: 'isNull' }),
    ] as readonly Shape[];
  };

  const run = (shape: Shape): Promise<MetricAnswer> => {
    const definition = metric('types', shape.parts);
    return shape.name === 'rows'
      ? world.engine.underlying(question(world.place, world.mart, 'None', definition))
      : ask(definition);
  };

  /** The cells of a column's groups with their counts. Undefined where the write refuses the group. */
  const groupsOf = async (column: string, more: Partial<Dimension> = {}) => {
    const dimension: Dimension = { name: 'd', column: columnRef(`types.${column}`), ...more };
    const definition = metric('types', { dimensions: [dimension], measures: [count] });
    if (!(await isAccepted(definition))) return undefined;
    const { rows } = await ask(definition);
    return { dimension, groups: rows.map(({ d = null, n }) => ({ value: d, n: Number(n) })) };
  };

  const countWhere = async (column: string, predicate: Predicate): Promise<number> => {
    const conditions = [{ column: columnRef(`types.${column}`), predicate }];
    return Number((await ask(metric('types', { measures: [count] }), conditions)).rows[0]?.n);
  };

  it.each(all.map(({ type }, index) => [type, `c${index}`] as const))(
    'what the write accepts of a column of %s, the query answers',
    async (_, column) => {
      const faults: string[] = [];
      const groups = (await groupsOf(column))?.groups ?? [];
      const offered = guestFields(
        { datamart: world.mart, isReadable: () => true, joinModel: 'multi', conditions: [] },
        undefined,
      ).tables[0]?.fields.find(({ columnName }) => columnName === column)?.aggregates;
      for (const shape of shapesOf(
        column,
        groups.map(({ value }) => value),
      )) {
        if (!(await isAccepted(metric('types', shape.parts)))) {
          if (offered?.some((one) => one === shape.name)) faults.push(`${shape.name} is offered, and refused`);
          continue;
        }
        try {
          const { rows, columns } = await run(shape);
          for (const { name } of columns) {
            const cells = rows.map((row) => row[name] ?? null);
            if (!isAlike(cells)) faults.push(`${shape.name}: ${JSON.stringify(cells)} are of several types`);
          }
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          faults.push(`${shape.name}: ${error.reason}: ${error.message}`);
        }
      }
      expect(faults).toEqual([]);
    },
  );

  it.each(all.map(({ type }, index) => [type, `c${index}`] as const))(
    'each group of a column of %s has exactly the rows that a click on it finds',
    async (_, column) => {
      const found = await groupsOf(column);
      const faults: string[] = [];
      for (const { value, n } of found?.groups ?? []) {
        const predicate = predicateOf(found?.dimension as Dimension, value);
        if ((world.mart.tables[0]?.columns.find((one) => one.columnName === column)?.kind ?? '') === 'opaque') continue;
        const rows = await countWhere(column, predicate);
        if (rows !== n) faults.push(`${JSON.stringify(value)} has ${n} rows, and a click finds ${rows}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it.each(all.map(({ type }, index) => [type, `c${index}`] as const))(
    'what the options of a column of %s offer, its filter takes',
    async (_, column) => {
      const filterable = filterableColumns(world.mart, null).get(`main.types.${column}`);
      if (filterable === undefined) return;
      const asked = question(world.place, world.mart, 'None', metric('types', { measures: [count] }));
      const [{ columnName: __, ...ref }] = [columnRef(`types.${column}`)];
      const options = await world.engine.options({
        ...asked,
        column: { ...ref, schemaName: world.place.schemaName, columnName: column },
        search: null,
      });
      const faults: string[] = [];
      let rows = await countWhere(column, { kind: 'isNull' });
      for (const value of options) {
        const reading = readFilterValue(filterable.dataType, value as FilterValue, moment);
        if ('expected' in reading) {
          faults.push(`${JSON.stringify(value)} is offered, and the filter takes ${reading.expected}`);
          continue;
        }
        const n = await countWhere(column, reading.predicate).catch((error: Refusal) => error.message);
        if (typeof n === 'string' || n === 0) faults.push(`${JSON.stringify(value)} is offered, and finds ${n}`);
        else rows += n;
      }
      const total = Number((await ask(metric('types', { measures: [count] }))).rows[0]?.n);
      if (faults.length === 0 && rows !== total) faults.push(`the options have ${rows} rows of ${total}`);
      expect(faults).toEqual([]);
    },
  );
});
