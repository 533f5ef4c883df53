/**
 * The two laws of data where no plain metric reads the column: custom columns, metrics in SQL, drill, underlying rows and
 * files. One question is about as many types as a statement can hold.
 */

import { strFromU8, unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import { createQueryWatch, type QueryWatch } from '../../src/engine/run/query-watch.js';
import type {
  Aggregate,
  Dimension,
  Measure,
  MetricDefinition,
  SqlDefinition,
  TimeGrain,
} from '../../src/model/dashboard/metric.js';
import type { DatatypeKind } from '../../src/model/datamart/datatypes.js';
import { isNotFinite, isNumberValue } from '../../src/model/filter/exact-number.js';
import type { Scalar } from '../../src/model/filter/filter.js';
import type { DownloadRows } from '../../src/model/guest/download.js';
import { drill } from '../../src/model/query/drill.js';
import type { AnswerColumn, Cell, MetricAnswer, MetricQuestion, MetricStream } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { type Alert, type AlertCondition, judge, observe } from '../../src/model/schedule/alert.js';
import { systemClock } from '../../src/platform/work/time.js';
import { toCsv } from '../../src/service/guest/contract/csv.js';
import { serialOf } from '../../src/service/guest/contract/xlsx/cells.js';
import { toXlsx } from '../../src/service/guest/contract/xlsx/workbook.js';
import { assertHostAlert } from '../../src/service/schedules/alerts.js';
import { findKinds, hasSql, type Kind } from './test-databases.js';
import { samples } from './type-samples.js';
import { openTypes, plainColumn, type TypeWorld } from './type-world.js';
import { columnRef, metric, question } from './world.js';

const count = { name: 'n', aggregate: 'COUNT' } as const;
/** One of each kind: types.test.ts has all of them. */
const grains: readonly TimeGrain[] = ['minute', 'week', 'month', 'hourOfDay', 'dayOfWeek'];
const id = columnRef('types.id');

/** Types that the author's own SQL shows as the database writes them, and a row as one type on all databases. */
const ownInSql: Readonly<Partial<Record<Kind, RegExp>>> = {
  DUCKDB: /^(TIMESTAMP_NS|VARCHAR\[2]|STRUCT|MAP)/,
  POSTGRES: /^(char\(4\)|inet)/,
  MYSQL: /^time\(/,
  CLICKHOUSE: /DateTime\('Asia/,
};

/** Kinds that SQL compares with text of any form. Another text fails at the database, as it would without Guestlist. */
const comparedInSql: ReadonlySet<DatatypeKind> = new Set([
  'integer',
  'number',
  'text',
  'enum',
  'uuid',
  'boolean',
  'date',
]);

const aggregates: readonly Aggregate[] = ['SUM', 'MIN', 'COUNT_DISTINCT', 'MEDIAN'];

const single = { dimensions: [], chronological: null, hasComparison: false };
const alertConditions: readonly AlertCondition[] = [
  { is: 'above', value: 0 },
  { is: 'below', value: 0.5 },
  { is: 'changeAbove', percent: 1, to: 'lastCheck' },
  { is: 'missing' },
];
const daily = {
  recurrence: { every: 'day', at: '09:00', timezone: 'UTC' },
  calendar,
  now: new Date(Date.UTC(2024, 0, 1)),
} as const;

const refusalIn = (work: () => void): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
};

/** A part of a metric, by the name that its fault has. */
type Item<T> = { readonly name: string; readonly of: T };

const reasonOf = (error: unknown): string => {
  if (error instanceof Refusal) return `${error.reason}: ${error.message}`;
  throw error;
};

const cellsOf = ({ rows }: Pick<MetricAnswer, 'rows'>, name: string): readonly Cell[] =>
  rows.map((row) => row[name] ?? null);

/** A custom column of dates has times, to the microsecond. */
const asTime = (cell: Cell): Cell =>
  typeof cell === 'string'
    ? cell.replace(/^(-?\d{4,6}-\d\d-\d\d)$/, '$1T00:00:00').replace(/(T.*\.\d{6})\d+$/, '$1')
    : cell;

const sameCells = (left: readonly Cell[], right: readonly Cell[]): boolean =>
  JSON.stringify(left) === JSON.stringify(right);

describe.each(await findKinds())('on %s', (kind) => {
  let world: TypeWorld;
  const all = samples[kind].map(({ type }, index) => ({ type, index, name: `c${index}` }));
  const quoted = (name: string): string => (kind === 'MYSQL' ? `\`${name}\`` : `"${name}"`);
  const custom = (columnName: string, sql: string, isAggregate = false) => ({
    ...{ ...plainColumn, columnName, datatype: '', isCustomColumn: true, sql, isAggregate },
  });
  const written = ['MIN', 'SUM'] as const;
  let now = Date.UTC(2024, 0, 1);
  let runs = 0;
  /** Counts the statements that read rows. */
  const watch: QueryWatch = {
    ...createQueryWatch(systemClock),
    run: (_, read) => {
      runs += 1;
      return read();
    },
  };

  beforeAll(async () => {
    world = await openTypes(
      kind,
      all.flatMap(({ index, name }) => [
        custom(`x${index}`, quoted(name)),
        ...written.map((aggregate) => custom(`${aggregate}${index}`, `${aggregate}(${quoted(name)})`, true)),
      ]),
      { clock: { now: () => new Date(now) }, watch },
    );
  });
  afterAll(() => world.close());

  const asked = (definition: MetricDefinition, parts: Partial<MetricQuestion> = {}): MetricQuestion =>
    question(world.place, world.mart, 'None', definition, parts);

  const kindOf = (name: string): DatatypeKind =>
    world.mart.tables[0]?.columns.find(({ columnName }) => columnName === name)?.kind ?? 'opaque';

  /** The types whose columns the write accepts as underlying rows, with their values in the order of the ids. */
  const read = async (prefix: 'c' | 'x') => {
    const named = all.map((one) => ({ ...one, name: `${prefix}${one.index}` }));
    const rowsWith = (names: readonly string[]): MetricDefinition =>
      metric('types', { underlying: [id, ...names.map((name) => columnRef(`types.${name}`))] });
    const accepted: typeof all = [];
    for (const one of named) if ((await world.faultOf(rowsWith([one.name]))) === undefined) accepted.push(one);
    const answer = await world.engine.underlying(asked(rowsWith(accepted.map(({ name }) => name))));
    return accepted.map((one) => ({
      ...one,
      cells: cellsOf(answer, one.name),
      dataType: answer.columns.find(({ name }) => name === one.name)?.dataType,
    }));
  };

  const known = new Map<string, ReturnType<typeof read>>();
  const readable = (prefix: 'c' | 'x'): ReturnType<typeof read> => {
    const reading = known.get(prefix) ?? read(prefix);
    known.set(prefix, reading);
    return reading;
  };

  /**
   * Asks the parts in one metric. Where the write refuses it or the query fails, its halves are asked, so that each fault
   * has the name of one part. A part that the write refuses is no fault.
   */
  const faultsOf = async <T>(
    items: readonly Item<T>[],
    definitionOf: (parts: readonly T[]) => MetricDefinition,
  ): Promise<readonly string[]> => {
    const [first, ...others] = items;
    if (first === undefined) return [];
    const definition = definitionOf(items.map(({ of }) => of));
    const isAccepted = (await world.faultOf(definition)) === undefined;
    const fault = isAccepted ? await world.ask(definition).then(() => undefined, reasonOf) : undefined;
    if (isAccepted && fault === undefined) return [];
    if (others.length === 0) return fault === undefined ? [] : [`${first.name}: ${fault}`];
    const middle = Math.ceil(items.length / 2);
    return [
      ...(await faultsOf(items.slice(0, middle), definitionOf)),
      ...(await faultsOf(items.slice(middle), definitionOf)),
    ];
  };

  const measured = (measures: readonly Measure[]): MetricDefinition =>
    metric('types', { measures: measures.map((one, index) => ({ ...one, name: `m${index}` })) });
  const grouped = (dimensions: readonly Dimension[]): MetricDefinition =>
    metric('types', { dimensions: dimensions.map((one, index) => ({ ...one, name: `d${index}` })), measures: [count] });
  const each = <T>(names: readonly string[], of: (name: string, one: (typeof all)[number]) => T): readonly Item<T>[] =>
    names.flatMap((name) => all.map((one) => ({ name: `${name} of ${one.type}`, of: of(name, one) })));

  it.runIf(hasSql(kind))('what the write accepts of a custom column over each type, the query answers', async () => {
    const aggregated = each<Measure>(aggregates, (aggregate, { index }) => ({
      ...{ name: '', aggregate: aggregate as Aggregate, column: columnRef(`types.x${index}`) },
    }));
    const own = each<Measure>(written, (aggregate, { index }) => ({
      ...{ name: '', aggregate: 'AGGREGATE', column: columnRef(`types.${aggregate}${index}`) },
    }));
    const expressions = each<Measure>(['MAX', 'AVG'], (aggregate, { name }) => ({
      ...{ name: '', expression: `${aggregate}(types.${quoted(name)})` },
    }));
    const dated = each<Dimension>(grains, (grain, { index }) => ({
      ...{ name: '', column: columnRef(`types.x${index}`), grain: grain as TimeGrain },
    }));
    const groups = each<Dimension>(['groups'], (_, { index }) => ({ name: '', column: columnRef(`types.x${index}`) }));
    const buckets = each<Dimension>(['buckets'], (_, { index }) => ({
      ...{ name: '', column: columnRef(`types.x${index}`), bucketWidth: 1 },
    }));
    const faults = [
      ...(await faultsOf([...aggregated, ...own, ...expressions], measured)),
      ...(await faultsOf([...groups, ...dated, ...buckets], grouped)),
    ];
    expect(faults).toEqual([]);
  });

  it.runIf(hasSql(kind))('a custom column shows each value of each type as the column itself does', async () => {
    const plain = await readable('c');
    const own = await readable('x');
    const faults = plain.flatMap(({ type, index, cells }) => {
      const found = own.find((one) => one.index === index)?.cells;
      if (found === undefined) return [];
      const expected = kindOf(`c${index}`) === 'date' ? cells.map(asTime) : cells;
      return sameCells(found, expected) ? [] : [`${type}: ${JSON.stringify(expected)} is ${JSON.stringify(found)}`];
    });
    expect(faults).toEqual([]);
  });

  const inSql = (sql: string, parts: Partial<SqlDefinition>): SqlDefinition => ({
    ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: [], filters: [] },
    ...{ rlsVariables: [], sort: [], limit: null, ...parts },
  });
  const selecting = (names: readonly string[]): SqlDefinition =>
    inSql(`SELECT id, ${names.map(quoted).join(', ')} FROM types`, {
      dimensions: ['id', ...names].map((name) => ({ name })),
      sort: [{ name: 'id', direction: 'ASC' }],
    });

  /** As `readable`, of the columns that the write accepts in SQL too. */
  let selected: ReturnType<typeof select> | undefined;
  const selectable = (): ReturnType<typeof select> => {
    selected ??= select();
    return selected;
  };
  const select = async () => {
    const found = [];
    for (const one of await readable('c'))
      if ((await world.faultOf(selecting([one.name]))) === undefined) found.push(one);
    return found;
  };

  it.runIf(hasSql(kind))('a metric in SQL shows each value of each type as the rows do', async () => {
    const plain = await selectable();
    const answer = await world.ask(selecting(plain.map(({ name }) => name)));
    const faults = plain.flatMap(({ type, name, cells, dataType }) => {
      const found = cellsOf(answer, name);
      const foundType = answer.columns.find((column) => column.name === name)?.dataType;
      const isSame = ownInSql[kind]?.test(type) === true || sameCells(found, cells);
      if (isSame && foundType === dataType) return [];
      return [`${type}: ${dataType} ${JSON.stringify(cells)} is ${foundType} ${JSON.stringify(found)}`];
    });
    expect(faults).toEqual([]);
  });

  it.runIf(hasSql(kind))(
    'a condition on a metric in SQL, and a variable in it, find the rows of each value',
    async () => {
      const faults: string[] = [];
      const counted = inSql('SELECT count(*) AS n FROM types', { measures: [{ name: 'n' }] });
      const numberOf = (definition: SqlDefinition, parts: Partial<MetricQuestion>) =>
        world.engine.query(asked(definition, parts)).then(({ rows }) => Number(rows[0]?.n), reasonOf);
      for (const { type, name, cells } of await readable('c')) {
        if (kindOf(name) === 'opaque') continue;
        const compared = inSql(`SELECT count(*) AS n FROM types WHERE ${quoted(name)} = v_variable`, {
          measures: [{ name: 'n' }],
          rlsVariables: [{ name: 'v', isOptional: false }],
        });
        const isCompared = comparedInSql.has(kindOf(name)) && ownInSql[kind]?.test(type) !== true;
        for (const value of new Set(cells.filter((cell): cell is Scalar => cell !== null))) {
          const rows = cells.filter((cell) => cell === value).length;
          const predicate = { kind: 'compare', operator: '=', value } as const;
          const found = await numberOf(counted, { conditions: [{ column: columnRef(`types.${name}`), predicate }] });
          if (found !== rows) faults.push(`${type} ${JSON.stringify(value)}: the condition finds ${found} of ${rows}`);
          // SQL compares as its database does: NaN in ClickHouse, dates before Christ in PostgreSQL, and in MySQL the
          // year 0, whose text is the year 2000.
          const isOwn = isNotFinite(value) || String(value).startsWith('-0000') || (type === 'year' && value === 0);
          if (!isCompared || isOwn) continue;
          const byVariable = await numberOf(compared, { variables: new Map([['v', [value]]]) });
          if (typeof byVariable === 'string' || byVariable < rows)
            faults.push(`${type} ${JSON.stringify(value)}: the variable finds ${byVariable} of ${rows}`);
        }
      }
      expect(faults).toEqual([]);
    },
  );

  it('a click on a group of each type leads to exactly its rows', async () => {
    const faults: string[] = [];
    for (const { type, name } of all) {
      if (kindOf(name) === 'opaque') continue;
      const definition = metric('types', {
        dimensions: [{ name: 'd', column: columnRef(`types.${name}`) }],
        ...{ measures: [count], drillPath: [{ name: 'id', column: id }], underlying: [id] },
      });
      if ((await world.faultOf(definition)) !== undefined) continue;
      for (const { d = null, n } of (await world.ask(definition)).rows) {
        const { definition: drilled, conditions } = drill(definition, [{ columnName: 'd', value: d }]);
        const rows = world.engine.underlying(asked(drilled, { conditions })).then((answer) => answer.rows.length);
        const found = await rows.catch(reasonOf);
        if (found !== Number(n)) faults.push(`${type} ${JSON.stringify(d)}: ${found} rows of ${n}`);
      }
    }
    expect(faults).toEqual([]);
  });

  /** The periods and buckets of a column, by how it is grouped, with the number of their rows. */
  const partsOf = async (name: string) => {
    const ways = [...grains.map((grain) => ({ grain })), { bucketWidth: 1 }];
    const dimensions = ways.map(
      (way): Dimension => ({ name: JSON.stringify(way), column: columnRef(`types.${name}`), ...way }),
    );
    const accepted: Dimension[] = [];
    for (const one of dimensions) if ((await world.faultOf(grouped([one]))) === undefined) accepted.push(one);
    if (accepted.length === 0) return [];
    const { rows } = await world.ask(metric('types', { dimensions: accepted, measures: [count] }));
    return accepted.map((dimension) => {
      const counts = new Map<Cell, number>();
      for (const row of rows) {
        const value = row[dimension.name] ?? null;
        counts.set(value, (counts.get(value) ?? 0) + Number(row.n));
      }
      return { dimension, counts };
    });
  };

  it('a click on a period or bucket of each type finds exactly its rows', async () => {
    const clicks: Item<{ readonly measure: Measure; readonly n: number }>[] = [];
    const faults: string[] = [];
    for (const { type, name } of all) {
      for (const { dimension, counts } of await partsOf(name)) {
        const definition = metric('types', { dimensions: [dimension], drillPath: [{ name: 'id', column: id }] });
        for (const [value, n] of counts) {
          const at = `${type} ${dimension.name} ${JSON.stringify(value)}`;
          const { conditions } = drill(definition, [{ columnName: dimension.name, value }]);
          const indicator = conditions[0]?.predicate;
          if (value !== null && indicator !== undefined) {
            const measure: Measure = { name: '', aggregate: 'SUM', column: dimension.column, indicator };
            clicks.push({ name: at, of: { measure, n } });
            continue;
          }
          // An indicator does not test for NULL.
          const found = await world
            .ask(metric('types', { measures: [count] }), conditions)
            .then(({ rows }) => rows[0]?.n);
          if (found !== n) faults.push(`${at}: ${found} rows of ${n}`);
        }
      }
    }
    const { rows } = await world.ask(measured(clicks.map(({ of }) => of.measure)));
    for (const [index, { name, of }] of clicks.entries()) {
      if (rows[0]?.[`m${index}`] !== of.n) faults.push(`${name}: ${rows[0]?.[`m${index}`]} rows of ${of.n}`);
    }
    expect(faults).toEqual([]);
  });

  it('what the write of an alert accepts of measures over each type, its check judges', async () => {
    const items = each<Measure>([...aggregates, 'MAX', 'AVG'], (aggregate, { name }) => ({
      ...{ name: '', aggregate: aggregate as Aggregate, column: columnRef(`types.${name}`) },
    }));
    const accepted: (typeof items)[number][] = [];
    for (const one of items) if ((await world.faultOf(measured([one.of]))) === undefined) accepted.push(one);
    const definition = measured(accepted.map(({ of }) => of));
    const { rows } = await world.ask(definition);
    const faults: string[] = [];
    for (const [index, { name }] of accepted.entries()) {
      for (const condition of alertConditions) {
        const alert: Alert = { metricId: 'm', measure: `m${index}`, condition, quietHours: null };
        const fault = refusalIn(() => assertHostAlert(alert, { definition }, world.mart, daily));
        if (fault !== undefined) {
          if (/^(SUM|AVG|COUNT)/.test(name)) faults.push(`${name}: ${fault}`);
          continue;
        }
        const seen = await observe(alert, single, { rows }, async (cells) => JSON.stringify(cells)).catch(String);
        if (typeof seen === 'string') faults.push(`${name} ${condition.is}: ${seen}`);
        else judge(alert, seen, { right: '', rule: '', last: null, now: daily.now });
      }
    }
    expect(faults).toEqual([]);
    expect(accepted.some(({ name }) => name.startsWith('SUM'))).toBe(true);
  });

  it.runIf(hasSql(kind))(
    'an answer of any type is as the catalog says, so an old catalog is not read again for it',
    async () => {
      const rows = await readable('c');
      const definitions = [
        metric('types', { underlying: [id, ...rows.map(({ name }) => columnRef(`types.${name}`))] }),
        selecting((await selectable()).map(({ name }) => name)),
      ];
      for (const definition of definitions) {
        now += 3_600_000;
        runs = 0;
        if (definition.kind === 'sql') await world.ask(definition);
        else await world.engine.underlying(asked(definition));
        expect(runs).toBe(1);
      }
    },
  );

  /** The metric's rows as a download reads them. */
  const download = async (definition: MetricDefinition): Promise<DownloadRows> => {
    const stream: MetricStream = await world.engine.stream(asked(definition));
    const columns = stream.columns.map((column) => ({ ...column, label: column.name }));
    return { columns, batches: stream.batches, limit: null, offset: 0 };
  };

  /** A table of every type that can be a group, and one of every type in SQL, with their answers. */
  const tables = async (): Promise<
    readonly { readonly definition: MetricDefinition; readonly answer: MetricAnswer }[]
  > => {
    const dimensions: Dimension[] = [{ name: 'id', column: id }];
    for (const { name } of all) {
      const dimension = { name, column: columnRef(`types.${name}`) };
      if ((await world.faultOf(metric('types', { dimensions: [dimension] }))) === undefined) dimensions.push(dimension);
    }
    const definitions = [
      metric('types', { dimensions, sort: [{ name: 'id', direction: 'ASC' }] }),
      selecting((await selectable()).map(({ name }) => name)),
    ];
    return Promise.all(definitions.map(async (definition) => ({ definition, answer: await world.ask(definition) })));
  };

  const typeOf = (name: string): string => samples[kind][Number(name.slice(1))]?.type ?? name;

  it.runIf(hasSql(kind))(
    'a CSV file has each value of each type, with numbers as they are and text that is no formula',
    async () => {
      for (const { definition, answer } of await tables()) {
        const pieces: string[] = [];
        for await (const piece of toCsv(await download(definition))) pieces.push(piece);
        const [names = [], ...lines] = readCsv(pieces.join(''));
        expect(names).toEqual(answer.columns.map(({ name }) => name));
        expect(lines.length).toBe(answer.rows.length);
        const faults = answer.columns.flatMap(({ name, dataType }, column) =>
          lines.flatMap((line, row) => {
            const cell = answer.rows[row]?.[name] ?? null;
            const isText = dataType === 'string' && typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell);
            const expected = cell === null ? '' : `${isText ? "'" : ''}${cell}`;
            return line[column] === expected ? [] : [`${typeOf(name)}: ${JSON.stringify(cell)} is ${line[column]}`];
          }),
        );
        expect(faults).toEqual([]);
      }
    },
  );

  it.runIf(hasSql(kind))(
    'a workbook has each value of each type: numbers, dates and booleans as such, and any other as text',
    async () => {
      for (const { definition, answer } of await tables()) {
        const rows = await download(definition);
        const sheet = { name: 'Types', filters: [], load: async () => rows };
        const workbook = {
          title: 'Types',
          madeAt: new Date(Date.UTC(2024, 0, 1)),
          timezone: null,
          filters: [],
          sheets: [sheet],
        };
        const pieces: Uint8Array[] = [];
        for await (const piece of toXlsx(workbook, reasonsOf)) pieces.push(piece);
        const file = unzipSync(new Uint8Array(Buffer.concat(pieces)));
        const xml = strFromU8(file['xl/worksheets/sheet2.xml'] ?? new Uint8Array());
        expect(xml).not.toContain('<f>');
        const lines = [...xml.matchAll(/<row r="\d+">(.*?)<\/row>/gs)].slice(1).map(([, line = '']) => readLine(line));
        const faults = answer.columns.flatMap((column, at) =>
          answer.rows.flatMap((row, index) => {
            const cell = row[column.name] ?? null;
            const found = lines[index]?.get(at) ?? null;
            const fault = JSON.stringify(found) === JSON.stringify(expectedCell(cell, column)) ? undefined : found;
            return fault === undefined
              ? []
              : [`${typeOf(column.name)}: ${JSON.stringify(cell)} is ${JSON.stringify(fault)}`];
          }),
        );
        expect(faults).toEqual([]);
      }
    },
  );
});

const reasonsOf = (error: unknown) => ({ message: reasonOf(error) });

/** The fields of RFC 4180, by line. */
const readCsv = (text: string): readonly (readonly string[])[] => {
  const lines: string[][] = [[]];
  for (const [, quotedText, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)?.push(quotedText?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') lines.push([]);
  }
  return lines.slice(0, -1);
};

/** The cells of a line by their number: text, a number, a date (`style`), or a boolean. */
const readLine = (line: string): ReadonlyMap<number, unknown> => {
  const found = new Map<number, unknown>();
  for (const [, at = '', attributes = '', inner = ''] of line.matchAll(/<c r="([A-Z]+)\d+"([^>]*)>(.*?)<\/c>/gs)) {
    const column = [...at].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
    const value = /<v>(.*)<\/v>/.exec(inner)?.[1];
    if (attributes.includes('t="b"')) found.set(column, value === '1');
    else if (value !== undefined) found.set(column, { number: value, isDate: /s="[1-9]/.test(attributes) });
    else found.set(column, unescaped(/<t [^>]*>(.*)<\/t>/s.exec(inner)?.[1] ?? ''));
  }
  return found;
};

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');

/** A number of more than 15 digits would be rounded by a spreadsheet, which also has no date before March of 1900. */
const expectedCell = (cell: Cell, { dataType }: AnswerColumn): unknown => {
  if (cell === null || typeof cell === 'boolean') return cell;
  const serial = dataType === 'date' ? serialOf(String(cell)) : undefined;
  if (serial !== undefined) return { number: String(serial), isDate: true };
  if (dataType !== 'number' || isNotFinite(cell) || !isNumberValue(cell)) return String(cell);
  const text = String(cell);
  const digits = text
    .replace(/^-?0*\.?0*/, '')
    .replace('.', '')
    .replace(/0+$/, '');
  return typeof cell === 'number' || digits.length <= 15 ? { number: text, isDate: false } : text;
};
