/** Rollups as a caller declares them, checked against the datamart's tables. Pure. */
import { faultOf, repeatedAt } from '../faults.js';
import type { Datamart, DatamartColumn, DatamartTable, Rollup, RollupMeasure } from './datamart.js';
import { qualifiedName, sameTable } from './datamart.js';
import { type DatatypeKind, storedKind } from './datatypes.js';
import { type NamedTables, shortName, tableFault } from './relationships.js';
import { isListedAsShared } from './tenancy-steps.js';

/** An item of the interface's `rollups`, where a table may go by its bare name. */
export type RollupDraft = Omit<Rollup, 'from'> & { readonly from: string };

type Whole = Pick<Datamart, 'tenancy' | 'tables' | 'relationships' | 'sharedTables'> & { readonly named: NamedTables };

/** Returns the rollups of drafts without faults. */
export const rollupsOf = (drafts: readonly RollupDraft[], tables: NamedTables): readonly Rollup[] =>
  drafts.flatMap((draft) =>
    (tables.get(draft.from) ?? []).map(({ schemaName, tableName }) => ({ ...draft, from: { schemaName, tableName } })),
  );

export const draftRollups = (rollups: readonly Rollup[], tables: NamedTables): readonly RollupDraft[] =>
  rollups.map((rollup) => ({ ...rollup, from: shortName(rollup.from, tables) }));

const quote = (name: string): string => JSON.stringify(name);

/**
 * Why a rollup cannot hold whose rows are whose; undefined if it can. Tables of bridges and derived owners are asked at
 * the source.
 */
const ownerFault = (whole: Whole, table: DatamartTable): string | undefined => {
  const { tenancy } = whole;
  if (tenancy === null) return undefined;
  if (tenancy.tenancyLevel !== 'TABLE')
    return `left out: with tenancyLevel ${tenancy.tenancyLevel}, each client has tables of its own`;
  const isMaster = sameTable(table, tenancy);
  if (table.clientColumn !== null || isMaster || isListedAsShared(table, whole)) return undefined;
  return 'a table with a clientColumn: a rollup holds the column that says whose a row is';
};

const summed: ReadonlySet<DatatypeKind | undefined> = new Set(['integer', 'number', undefined]);
const ordered: ReadonlySet<DatatypeKind | undefined> = new Set([...summed, 'date']);
const grouped: ReadonlySet<DatatypeKind | undefined> = new Set([...ordered, 'text', 'uuid', 'boolean']);
const counted: ReadonlySet<DatatypeKind | undefined> = new Set([...grouped, 'enum', 'json', 'other', 'opaque']);

const changing: ReadonlySet<DatatypeKind | undefined> = new Set(['integer', 'date', undefined]);

const measured: Readonly<Record<RollupMeasure['aggregate'], ReadonlySet<DatatypeKind | undefined>>> = {
  SUM: summed,
  AVG: summed,
  MIN: ordered,
  MAX: ordered,
  COUNT: counted,
};

/** The fault of a column that a rollup reads; undefined: there is none. */
const columnFault = (
  table: DatamartTable,
  name: string,
  kinds: ReadonlySet<DatatypeKind | undefined>,
  wanted: string,
): string | undefined => {
  const column: DatamartColumn | undefined = table.columns.find(({ columnName }) => columnName === name);
  if (column === undefined) return `a column that the datamart has of table ${quote(table.tableName)}`;
  if (column.isCustomColumn === true) return 'a column of the datasource: a rollup holds no expressions';
  if (column.numbers?.scale !== undefined) return 'a column without a scale: amounts in whole units are not kept';
  return kinds.has(storedKind(column)) ? undefined : wanted;
};

type Place = { readonly path: string; readonly value: string };

const ofColumns = (draft: RollupDraft, table: DatamartTable, path: string): readonly string[] => {
  const { dimensions, measures, partition, refresh } = draft;
  const { changeColumn } = refresh;
  const check = (place: Place, ...of: [ReadonlySet<DatatypeKind | undefined>, string]): readonly string[] => {
    const fault = columnFault(table, place.value, ...of);
    return fault === undefined ? [] : [faultOf(`${path}.${place.path}`, place.value, fault)];
  };
  const { column } = partition;
  const time = check({ path: 'partition.column', value: column }, new Set(['date', undefined]), 'a column of dates');
  const isDay = table.columns.some((one) => one.columnName === column && one.datatype.toLowerCase() === 'date');
  return [
    ...dimensions.flatMap((value, at) =>
      value === column
        ? [faultOf(`${path}.dimensions[${at}]`, value, 'left out: partition.column is grouped by grain')]
        : check({ path: `dimensions[${at}]`, value }, grouped, 'a column of texts, whole or exact numbers or dates'),
    ),
    ...measures.flatMap(({ aggregate, column: value }, at) =>
      check(
        { path: `measures[${at}].column`, value },
        measured[aggregate],
        aggregate === 'MIN' || aggregate === 'MAX' ? 'a column of numbers or dates' : 'a column of numbers',
      ),
    ),
    ...time,
    ...(changeColumn === undefined
      ? []
      : check({ path: 'refresh.changeColumn', value: changeColumn }, changing, 'a column of times or whole numbers')),
    ...(isDay && draft.grain === 'hour' ? [faultOf(`${path}.grain`, 'hour', 'day or month: the column has days')] : []),
  ];
};

const oneFaults = (draft: RollupDraft, path: string, whole: Whole): readonly string[] => {
  const { from, dimensions, measures, grain, partition } = draft;
  const meant = whole.named.get(from) ?? [];
  const [table] = meant;
  if (table === undefined || meant.length > 1) return tableFault(`${path}.from`, from, meant);
  const owner = ownerFault(whole, table);
  const isCoarser = grain === 'month' && partition.by === 'day';
  return [
    ...(owner === undefined ? [] : [faultOf(`${path}.from`, from, owner)]),
    ...ofColumns(draft, table, path),
    ...repeatedAt(dimensions).map((at) =>
      faultOf(`${path}.dimensions[${at}]`, dimensions[at] ?? '', 'a column that is not in the list yet'),
    ),
    ...repeatedAt(measures.map((one) => JSON.stringify([one.aggregate, one.column]))).map((at) =>
      faultOf(`${path}.measures[${at}].column`, measures[at]?.column ?? '', 'a measure that is not in the list yet'),
    ),
    ...(isCoarser ? [faultOf(`${path}.partition.by`, 'day', 'month or longer, since the grain is a month')] : []),
  ];
};

/** Returns all faults of the rollups over these tables. */
export const rollupFaults = (drafts: readonly RollupDraft[], whole: Whole): readonly string[] => [
  ...drafts.flatMap((draft, at) => oneFaults(draft, `rollups[${at}]`, whole)),
  ...repeatedAt(drafts.map(({ name }) => name)).map((at) =>
    faultOf(`rollups[${at}].name`, drafts[at]?.name ?? '', 'a name that no other rollup of the datamart has'),
  ),
];

/** Returns faults for kept rollups that no longer fit the other parts. */
export const keptRollupFaults = (rollups: readonly Rollup[], whole: Whole): readonly string[] =>
  rollups.flatMap((rollup) => {
    const [fault] = oneFaults({ ...rollup, from: qualifiedName(rollup.from) }, 'rollup', whole);
    if (fault === undefined) return [];
    return [
      `tableList: the kept rollup ${quote(rollup.name)} no longer fits (${fault}); mend it, or send rollups without it`,
    ];
  });
