/**
 * The parts of a datamart after the changes that a person accepted: see `sourceChanges`. What a table is added with is the
 * proposal that a new datamart gets. Pure.
 */
import { type ColumnRef, qualifiedName, sameTable, type TableRef, tableKey } from './datamart.js';
import { whyHidden } from './model-draft.js';
import { amountsWithin } from './money.js';
import { type ProposedModel, proposeModel } from './proposed-model.js';
import type { RelationshipDraft } from './relationships.js';
import { type Compared, type ModelParts, refIn, type SourceChange } from './source-changes.js';
import { amountsFor, clientColumnOf } from './source-proposals.js';
import { offeredTables, type SourceTable } from './source-schema.js';
import type { ColumnDraft, TableDraft } from './tables.js';

type Ends = { readonly parent: ColumnRef; readonly child: ColumnRef };
type NameTable = (name: string) => TableRef | undefined;

/** Finds a table of the list by `schema.table`, or by its name alone. */
const namesIn = (parts: ModelParts, tables: readonly TableRef[]): NameTable => {
  const refs = parts.tableList.map(refIn(tables));
  return (name) => {
    const meant = refs.filter((ref) => ref.tableName === name || qualifiedName(ref) === name);
    return meant.length === 1 ? meant[0] : undefined;
  };
};

const endsOf = (draft: RelationshipDraft, named: NameTable): Ends | undefined => {
  const [parent, child] = [named(draft.parentTableName), named(draft.childTableName)];
  if (parent === undefined || child === undefined) return undefined;
  return {
    parent: { ...parent, columnName: draft.parentColumnName },
    child: { ...child, columnName: draft.childColumnName },
  };
};

/** Whether the table or column of the change is what the reference names. */
const isOf = ({ table, columnName }: SourceChange, ref: ColumnRef): boolean =>
  sameTable(table, ref) && (columnName === null || columnName === ref.columnName);

const withoutRelationships = (parts: ModelParts, removed: ReadonlySet<string>): ModelParts => ({
  ...parts,
  relationships: parts.relationships.filter(({ relationshipName }) => !removed.has(relationshipName)),
  tableList: parts.tableList.map((table) =>
    table.tenancyPath != null && removed.has(table.tenancyPath) ? { ...table, tenancyPath: null } : table,
  ),
});

/** Removes what is gone, and the relationships that need it. A table without its client column belongs to nobody by it. */
const withoutGone = (parts: ModelParts, change: SourceChange, tables: readonly TableRef[]): ModelParts => {
  const named = namesIn(parts, tables);
  const refOf = refIn(tables);
  const removed = parts.relationships.filter((draft) => {
    const ends = endsOf(draft, named);
    return ends !== undefined && (isOf(change, ends.parent) || isOf(change, ends.child));
  });
  const kept = withoutRelationships(parts, new Set(removed.map(({ relationshipName }) => relationshipName)));
  const { columnName } = change;
  const isMeant = (table: TableDraft): boolean => sameTable(refOf(table), change.table);
  if (columnName === null) {
    const isShared = (name: string): boolean => {
      const ref = named(name);
      return ref !== undefined && sameTable(ref, change.table);
    };
    return {
      ...kept,
      tableList: kept.tableList.filter((table) => !isMeant(table)),
      sharedTables: kept.sharedTables.filter((name) => !isShared(name)),
    };
  }
  const without = (table: TableDraft): TableDraft => ({
    ...table,
    ...(table.clientColumn === columnName ? { clientColumn: null } : {}),
    ...(table.through == null
      ? {}
      : { through: { ...table.through, columns: table.through.columns.filter((name) => name !== columnName) } }),
    columns: table.columns.filter(({ name, isCustomColumn }) => isCustomColumn === true || name !== columnName),
  });
  return { ...kept, tableList: kept.tableList.map((table) => (isMeant(table) ? without(table) : table)) };
};

/** The columns with the new name of the column by which amounts say their currency. */
const withNewCurrency = (
  columns: readonly ColumnDraft[],
  key: 'column' | 'tenantColumn',
  now: (name: string) => string,
): readonly ColumnDraft[] =>
  columns.map((column) => {
    const { numbers } = column;
    const currency = numbers?.currency;
    if (typeof currency !== 'object' || !(key in currency)) return column;
    const named =
      'column' in currency ? { column: now(currency.column) } : { tenantColumn: now(currency.tenantColumn) };
    return { ...column, numbers: { ...numbers, currency: named } };
  });

const renamedTenancy = ({ tenancy }: ModelParts, { table, columnName }: SourceChange, newName: string) => {
  if (tenancy?.tenancyLevel !== 'TABLE' || !sameTable(tenancy, table)) return tenancy;
  if (columnName === null) return { ...tenancy, tableName: newName };
  const now = (name: string): string => (name === columnName ? newName : name);
  return {
    ...tenancy,
    tablePrimaryKeyColumn: now(tenancy.tablePrimaryKeyColumn),
    tableClientNameColumn: now(tenancy.tableClientNameColumn),
  };
};

/** Gives the table or column its new name, also in relationships, tenancy and lists of shared tables. */
const withNewName = (
  parts: ModelParts,
  change: SourceChange,
  newName: string,
  tables: readonly TableRef[],
): ModelParts => {
  const named = namesIn(parts, tables);
  const refOf = refIn(tables);
  const { table: of, columnName } = change;
  const isMeant = (table: TableDraft): boolean => sameTable(refOf(table), of);
  const tableName = (name: string): string => {
    const ref = named(name);
    if (columnName !== null || ref === undefined || !sameTable(ref, of)) return name;
    return name === ref.tableName ? newName : `${ref.schemaName}.${newName}`;
  };
  const endColumn = (name: string, end: ColumnRef | undefined): string =>
    columnName !== null && end !== undefined && isOf(change, end) ? newName : name;
  const now = (name: string): string => (name === columnName ? newName : name);
  const renamed = (table: TableDraft): TableDraft => {
    if (columnName === null) return { ...table, name: newName };
    return {
      ...table,
      ...(table.clientColumn === columnName ? { clientColumn: newName } : {}),
      ...(table.through == null ? {} : { through: { ...table.through, columns: table.through.columns.map(now) } }),
      ...(table.baseFilters == null
        ? {}
        : { baseFilters: table.baseFilters.map((filter) => ({ ...filter, columnName: now(filter.columnName) })) }),
      columns: withNewCurrency(table.columns, 'column', now).map((column) =>
        column.isCustomColumn === true ? column : { ...column, name: now(column.name) },
      ),
    };
  };
  const { tenancy } = parts;
  const isOfTenants = columnName !== null && tenancy?.tenancyLevel === 'TABLE' && sameTable(tenancy, of);
  const ofTenants = (table: TableDraft): TableDraft =>
    isOfTenants ? { ...table, columns: withNewCurrency(table.columns, 'tenantColumn', now) } : table;
  return {
    ...parts,
    tenancy: renamedTenancy(parts, change, newName),
    tableList: parts.tableList.map((table) => ofTenants(isMeant(table) ? renamed(table) : table)),
    sharedTables: parts.sharedTables.map(tableName),
    relationships: parts.relationships.map((draft) => {
      const ends = endsOf(draft, named);
      return {
        ...draft,
        parentTableName: tableName(draft.parentTableName),
        parentColumnName: endColumn(draft.parentColumnName, ends?.parent),
        childTableName: tableName(draft.childTableName),
        childColumnName: endColumn(draft.childColumnName, ends?.child),
      };
    }),
  };
};

/** Whether relationships lead from one table to the other already, in any direction and over any tables. */
const areConnected = (edges: readonly Ends[], from: TableRef, to: TableRef): boolean => {
  const reached = new Set([tableKey(from)]);
  for (let before = 0; before < reached.size; ) {
    before = reached.size;
    for (const { parent, child } of edges) {
      const [one, other] = [tableKey(parent), tableKey(child)];
      if (reached.has(one)) reached.add(other);
      else if (reached.has(other)) reached.add(one);
    }
  }
  return reached.has(tableKey(to));
};

/** The first is the way to a tenant; then the ways from the table to others. */
const bestFirst = (
  { relationships, tenancyPaths }: ProposedModel,
  isMeant: (edge: Ends) => boolean,
  table: TableRef,
): ProposedModel['relationships'] => {
  const way = tenancyPaths.find((one) => sameTable(one, table))?.tenancyPath;
  const rank = ({ relationshipName, parent }: ProposedModel['relationships'][number]): number => {
    if (relationshipName === way) return 0;
    return sameTable(parent, table) ? 1 : 2;
  };
  return relationships.filter(isMeant).toSorted((one, other) => rank(one) - rank(other));
};

const freeName = (name: string, taken: readonly RelationshipDraft[]): string => {
  const isTaken = (text: string): boolean => taken.some(({ relationshipName }) => relationshipName === text);
  for (let count = 1; ; count += 1) {
    const text = count === 1 ? name : `${name} (${count})`;
    if (!isTaken(text)) return text;
  }
};

/**
 * Adds the proposed relationships of the table or column, without a second way between two tables: metrics over both
 * would be refused, and so might be what was readable until now.
 */
const withProposed = (parts: ModelParts, added: SourceChange, { tables }: Compared, proposals: ProposedModel) => {
  const isOfAdded = ({ parent, child }: Ends): boolean => isOf(added, parent) || isOf(added, child);
  const refOf = refIn(tables);
  const isListed = (end: ColumnRef): boolean =>
    parts.tableList.some(
      (table) => sameTable(refOf(table), end) && table.columns.some(({ name }) => name === end.columnName),
    );
  let relationships = parts.relationships;
  const named = namesIn(parts, tables);
  for (const { relationshipName, parent, child, cardinality } of bestFirst(proposals, isOfAdded, added.table)) {
    const edges = relationships.flatMap((draft) => endsOf(draft, named) ?? []);
    if (!isListed(parent) || !isListed(child) || areConnected(edges, parent, child)) continue;
    const draft: RelationshipDraft = {
      relationshipName: freeName(relationshipName, relationships),
      parentTableName: qualifiedName(parent),
      parentColumnName: parent.columnName,
      childTableName: qualifiedName(child),
      childColumnName: child.columnName,
      ...(cardinality === null ? {} : { cardinality }),
    };
    relationships = [...relationships, draft];
  }
  return { ...parts, relationships };
};

/** The client column of a new table: the usual name in this datamart, or what a key says. Null: none, or several. */
const proposedClientColumn = (
  { parts, tables }: Compared,
  table: SourceTable,
  { relationships }: ProposedModel,
): string | null => {
  const { tenancy } = parts;
  const tenantTable = tenancy?.tenancyLevel === 'TABLE' ? tables.find((one) => sameTable(one, tenancy)) : undefined;
  if (tenancy?.tenancyLevel !== 'TABLE' || tenantTable === undefined || sameTable(table, tenantTable)) return null;
  const names = parts.tableList.flatMap(({ clientColumn }) => clientColumn ?? []);
  const [usual] = names.toSorted((one, other) => countOf(names, other) - countOf(names, one));
  const found = clientColumnOf(
    table,
    { table: tenantTable, keyColumn: tenancy.tablePrimaryKeyColumn, clientColumn: usual },
    relationships,
  );
  return found === 'several' ? null : found;
};

const countOf = (names: readonly string[], name: string): number => names.filter((other) => other === name).length;

const neededBy = (table: SourceTable, { relationships }: ProposedModel): ReadonlySet<string> =>
  new Set(
    relationships.flatMap(({ parent, child }) =>
      [parent, child].filter((end) => sameTable(end, table)).map(({ columnName }) => columnName),
    ),
  );

/** By each list of tables, since the proposals for many tables take a while. */
const proposed = new WeakMap<readonly SourceTable[], ProposedModel>();

const proposalsFor = (tables: readonly SourceTable[]): ProposedModel => {
  const found = proposed.get(tables) ?? proposeModel(offeredTables(tables));
  proposed.set(tables, found);
  return found;
};

/** A table of people gets its bridge, if that is in the datamart and nothing else says whose the people are. */
const withBridge = (
  parts: ModelParts,
  table: TableRef,
  { bridges }: ProposedModel,
  tables: readonly TableRef[],
): ModelParts => {
  const found = bridges.find((one) => sameTable(one, table));
  const named = namesIn(parts, tables);
  const leads = (draft: RelationshipDraft): boolean => {
    const ends = endsOf(draft, named);
    return (
      ends !== undefined && found !== undefined && sameTable(ends.child, table) && sameTable(ends.parent, found.bridge)
    );
  };
  const [relationship, second] = parts.relationships.filter(leads);
  if (found === undefined || relationship === undefined || second !== undefined) return parts;
  const through = { ...found.through, relationship: relationship.relationshipName };
  const refOf = refIn(tables);
  const isMeant = (draft: TableDraft): boolean => sameTable(refOf(draft), table) && draft.clientColumn == null;
  return { ...parts, tableList: parts.tableList.map((draft) => (isMeant(draft) ? { ...draft, through } : draft)) };
};

/** The added columns, with what the amounts among them are. Columns that were there keep what a person said of them. */
const withAmounts = (
  { parts, tables }: Compared,
  table: SourceTable,
  added: readonly string[],
  { relationships }: ProposedModel,
): readonly ColumnDraft[] => {
  const { tenancy } = parts;
  const refOf = refIn(tables);
  const listed = (ref: TableRef) => parts.tableList.find((draft) => sameTable(refOf(draft), ref));
  const isThere = (ref: ColumnRef): boolean =>
    (sameTable(ref, table) && added.includes(ref.columnName)) ||
    listed(ref)?.columns.some(({ name }) => name === ref.columnName) === true;
  const master = tenancy?.tenancyLevel === 'TABLE' ? tenancy : undefined;
  const isOwned = (ref: TableRef): boolean => {
    const isShared = parts.sharedTables.some((name) => name === ref.tableName || name === qualifiedName(ref));
    return !isShared && listed(ref)?.through == null;
  };
  const within = { master, isOwned, isListed: isThere };
  const amounts = amountsWithin(amountsFor(tables, relationships, master), within);
  return added.map((name) => {
    const amount = amounts.find((one) => sameTable(one, table) && one.columnName === name);
    return {
      name,
      ...(amount?.label == null ? {} : { label: amount.label }),
      ...(amount === undefined ? {} : { numbers: amount.numbers }),
    };
  });
};

const newTable = (compared: Compared, table: SourceTable, proposals: ProposedModel): TableDraft => {
  const needed = neededBy(table, proposals);
  const clientColumn = proposedClientColumn(compared, table, proposals);
  const filters = proposals.baseFilters.filter((one) => one.isCertain && sameTable(one, table));
  const isTaken = (column: SourceTable['columns'][number]): boolean =>
    needed.has(column.columnName) || whyHidden(column) === null;
  const columns = table.columns.filter(isTaken);
  const leftOut = table.columns.filter((column) => !isTaken(column)).map(({ columnName }) => columnName);
  return {
    name: table.tableName,
    schemaName: table.schemaName,
    ...(clientColumn === null ? {} : { clientColumn }),
    ...(filters.length === 0 ? {} : { baseFilters: filters.map(({ filter }) => filter) }),
    ...(leftOut.length === 0 ? {} : { leftOut }),
    columns: withAmounts(
      compared,
      table,
      columns.map(({ columnName }) => columnName),
      proposals,
    ),
  };
};

const withAddition = (compared: Compared, change: SourceChange): ModelParts => {
  const { parts, tables } = compared;
  const { columnName } = change;
  const table = tables.find((one) => sameTable(one, change.table));
  if (table === undefined) return parts;
  const proposals = proposalsFor(tables);
  if (columnName === null) {
    const tableList = [...parts.tableList, newTable(compared, table, proposals)];
    return withBridge(withProposed({ ...parts, tableList }, change, compared, proposals), table, proposals, tables);
  }
  const refOf = refIn(tables);
  const order = table.columns.map((column) => column.columnName);
  const columns = withAmounts(compared, table, [columnName], proposals);
  const added = (draft: TableDraft): TableDraft =>
    sameTable(refOf(draft), table)
      ? { ...withLeftOut(draft, columnName, false), columns: inOrder([...draft.columns, ...columns], order) }
      : draft;
  return withProposed({ ...parts, tableList: parts.tableList.map(added) }, change, compared, proposals);
};

/** Notes that the column is left out on purpose, or that it is no longer. */
const withLeftOut = ({ leftOut: before, ...draft }: TableDraft, columnName: string, isLeftOut: boolean): TableDraft => {
  const others = (before ?? []).filter((name) => name !== columnName);
  const leftOut = isLeftOut ? [...others, columnName] : others;
  return leftOut.length === 0 ? draft : { ...draft, leftOut };
};

const leaveOut = ({ parts, tables }: Compared, { table, columnName }: SourceChange): ModelParts => {
  if (columnName === null) return parts;
  const refOf = refIn(tables);
  const left = (draft: TableDraft): TableDraft =>
    sameTable(refOf(draft), table) ? withLeftOut(draft, columnName, true) : draft;
  return { ...parts, tableList: parts.tableList.map(left) };
};

/** Puts the last column after the one that comes before it in the database. The others stay where they are. */
const inOrder = (columns: readonly ColumnDraft[], order: readonly string[]): readonly ColumnDraft[] => {
  const last = columns.at(-1);
  const others = columns.slice(0, -1);
  if (last === undefined) return columns;
  const before = new Set(order.slice(0, order.indexOf(last.name)));
  const at = others.findLastIndex(({ name }) => before.has(name)) + 1;
  return [...others.slice(0, at), last, ...others.slice(at)];
};

/** Tables first, since columns and relationships need them; what is gone last, so that renames find their tables. */
const order: Readonly<Record<SourceChange['kind'], number>> = { renamed: 0, new: 1, leftOut: 2, retyped: 2, gone: 3 };
const rankOf = ({ kind, columnName }: SourceChange): number => order[kind] * 2 + (columnName === null ? 1 : 0);

/** Returns the parts after the changes. A datatype is no part: each save takes it from the database. */
export const acceptChanges = (compared: Compared, changes: readonly SourceChange[]): ModelParts => {
  // Renamed columns are found by the old names of their tables, so tables are renamed after columns.
  let parts = compared.parts;
  for (const change of changes.toSorted((one, other) => rankOf(one) - rankOf(other))) {
    if (change.kind === 'new') parts = withAddition({ ...compared, parts }, change);
    if (change.kind === 'leftOut') parts = leaveOut({ ...compared, parts }, change);
    if (change.kind === 'gone') parts = withoutGone(parts, change, compared.tables);
    if (change.kind === 'renamed' && change.newName !== null)
      parts = withNewName(parts, change, change.newName, compared.tables);
  }
  return parts;
};

const lostOf =
  (changes: readonly SourceChange[]) =>
  (ref: ColumnRef): boolean =>
    changes.some((change) => change.kind === 'gone' && isOf(change, ref));

/** Removed columns without which rows or columns would be shown that are not shown now, or amounts added up that are not. */
const guardFaults = ({ parts, tables }: Compared, changes: readonly SourceChange[]): readonly string[] => {
  const isLost = lostOf(changes);
  const refOf = refIn(tables);
  const named = namesIn(parts, tables);
  const { tenancy } = parts;
  return parts.tableList.flatMap((table): readonly string[] => {
    const ref = refOf(table);
    if (changes.some((change) => change.kind === 'gone' && change.columnName === null && sameTable(change.table, ref)))
      return [];
    const filter = (table.baseFilters ?? []).find(({ columnName }) => isLost({ ...ref, columnName }));
    const amount = table.columns.find(({ name, numbers }) => {
      const currency = numbers?.currency;
      if (typeof currency !== 'object' || isLost({ ...ref, columnName: name })) return false;
      if ('column' in currency) return isLost({ ...ref, columnName: currency.column });
      return tenancy?.tenancyLevel === 'TABLE' && isLost({ ...tenancy, columnName: currency.tenantColumn });
    });
    const bridge = parts.relationships.find(({ relationshipName }) => relationshipName === table.through?.relationship);
    const ends = bridge && endsOf(bridge, named);
    return [
      ...(filter === undefined
        ? []
        : [`a base filter of ${qualifiedName(ref)} needs ${filter.columnName}: change its baseFilters first`]),
      ...(amount === undefined
        ? []
        : [`the column names the currency of ${qualifiedName(ref)}.${amount.name}: change its numbers first`]),
      ...(ends !== undefined && (isLost(ends.parent) || isLost(ends.child))
        ? [
            `${qualifiedName(ref)} is read through the relationship ${bridge?.relationshipName}: change its through first`,
          ]
        : []),
    ];
  });
};

/** Why the changes cannot be accepted: what keeps tenants apart, or rows hidden, would be lost. Null: they can. */
export const guardFault = (compared: Compared, changes: readonly SourceChange[]): string | null => {
  const { tenancy } = compared.parts;
  const master =
    tenancy?.tenancyLevel === 'TABLE' ? [tenancy.tablePrimaryKeyColumn, tenancy.tableClientNameColumn] : [];
  const refs = tenancy?.tenancyLevel === 'TABLE' ? master.map((columnName) => ({ ...tenancy, columnName })) : [];
  const lost = refs.find(lostOf(changes));
  if (lost === undefined) return guardFaults(compared, changes)[0] ?? null;
  const name = `${qualifiedName(lost)}.${lost.columnName}`;
  return `${name} says who the tenants are: accept it as renamed, or change tenancySettings of the datamart first`;
};
