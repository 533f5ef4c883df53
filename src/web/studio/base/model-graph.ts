/** The diagram of a model as data: tables with the columns that are shown, and lines between columns. Pure functions. */
import { type End, type Ends, endsOf } from './cardinality.js';
import { keyOf, type StoredModel, type StoredTable } from './model-edit.js';
import { type Keys, stateOf, type TableTenancy, type TenancyState, whose } from './model-tenancy.js';

export type GraphColumn = {
  readonly name: string;
  /** Its label where it has one that differs. */
  readonly title: string;
  readonly isKey: boolean;
  readonly isClient: boolean;
  readonly isCalculated: boolean;
  readonly isMeasure: boolean;
  readonly isHide: boolean;
};
export type GraphTable = {
  /** `schema.table`. */
  readonly key: string;
  readonly title: string;
  readonly isHide: boolean;
  readonly state: TenancyState;
  readonly whose: string;
  readonly columns: readonly GraphColumn[];
  /** How many columns are not shown until the table is opened. */
  readonly folded: number;
};
/** `many`: several rows at this end for one at the other. Null: not declared. */
export type GraphLine = Ends & {
  readonly name: string;
  readonly isFromMany: boolean | null;
  readonly isToMany: boolean | null;
  /** Whether the rows of a table have their tenant along this line. */
  readonly isTenancy: boolean;
};
export type Graph = { readonly tables: readonly GraphTable[]; readonly lines: readonly GraphLine[] };

/** So many columns a table shows before it is opened. All that lines lead to are shown, whatever their number. */
const shownColumns = { usual: 8, inLargeModels: 2 } as const;
const largeModel = 25;

/** The whole name of a table that a relationship may name without its schema. */
export const wholeNames = ({ datamartTables }: Pick<StoredModel, 'datamartTables'>): ((name: string) => string) => {
  const byName = new Map(
    datamartTables.flatMap((table) => [table.tableName, keyOf(table)].map((name) => [name, keyOf(table)])),
  );
  return (name) => byName.get(name) ?? name;
};

const linesOf = (model: StoredModel, tenancies: readonly TableTenancy[]): readonly GraphLine[] => {
  const whole = wholeNames(model);
  const led = new Set(tenancies.flatMap(({ path }) => path.map(({ relationshipName }) => relationshipName)));
  return model.datamartRelationships.map((relationship) => {
    const { cardinality, relationshipName: name } = relationship;
    const many = (...of: readonly string[]): boolean | null => (cardinality === null ? null : of.includes(cardinality));
    return {
      ...endsOf(relationship, whole),
      name,
      isFromMany: many('ManyToOne', 'ManyToMany'),
      isToMany: many('OneToMany', 'ManyToMany'),
      isTenancy: led.has(name),
    };
  });
};

const columnsOf = (table: StoredTable, keys: Keys): readonly GraphColumn[] => {
  const key = new Set((keys.get(keyOf(table)) ?? []).flatMap((one) => (one.length === 1 ? one : [])));
  return table.datamartTableColumns.map(({ columnName, label, isHide, isCustomColumn, isAggregate }) => ({
    name: columnName,
    title: label === '' || label === columnName ? '' : label,
    isKey: key.has(columnName),
    isClient: table.clientColumn === columnName,
    isCalculated: isCustomColumn,
    isMeasure: isCustomColumn && isAggregate,
    isHide,
  }));
};

/** The columns that a folded table shows: those with a meaning for others first to be kept, in the table's own order. */
const folded = (columns: readonly GraphColumn[], linked: ReadonlySet<string>, most: number): readonly GraphColumn[] => {
  if (columns.length <= most + 1) return columns;
  const isKept = ({ name, isKey, isClient }: GraphColumn): boolean => linked.has(name) || isKey || isClient;
  let free = Math.max(0, most - columns.filter(isKept).length);
  return columns.filter((column) => {
    if (isKept(column)) return true;
    free -= 1;
    return free >= 0;
  });
};

/** `opened`: the tables of which all columns are shown. */
export const graphOf = (
  model: StoredModel,
  tenancies: readonly TableTenancy[],
  keys: Keys,
  opened: ReadonlySet<string>,
): Graph => {
  const lines = linesOf(model, tenancies);
  const most = model.datamartTables.length > largeModel ? shownColumns.inLargeModels : shownColumns.usual;
  const byTable = new Map(tenancies.map((tenancy) => [tenancy.table, tenancy]));
  const linkedTo = (key: string): ReadonlySet<string> =>
    new Set(
      lines.flatMap(({ from, to }) => [from, to].filter(({ table }) => table === key).map(({ column }) => column)),
    );
  const tables = model.datamartTables.map((table): GraphTable => {
    const key = keyOf(table);
    const tenancy = byTable.get(key);
    const all = columnsOf(table, keys);
    const columns = opened.has(key) ? all : folded(all, linkedTo(key), most);
    return {
      ...{ key, title: table.label || table.tableName, isHide: table.isHide, columns },
      state: tenancy === undefined ? 'nobody’s' : stateOf(tenancy),
      whose: tenancy === undefined ? 'not known' : whose(tenancy),
      folded: all.length - columns.length,
    };
  });
  return { tables, lines };
};

/** A column as it is said: `main.flights.origin`. */
export const endText = ({ table, column }: End): string => `${table}.${column}`;
