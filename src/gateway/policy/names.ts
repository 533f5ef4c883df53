/** The names in a policy that only the service can know, and those among them that it does not have. Pure. */

import { z } from 'zod';
import type { DatatypeKind } from '../../model/datamart/datatypes.js';
import { readMask, suitsKind } from '../../model/datamart/masks.js';
import { nearestName } from '../../model/nearest-name.js';
import type { Unchanging } from '../../platform/http/interface/callable.js';
import { eachInSteps, type Sliced } from '../../platform/work/breathe.js';
import type { Part, Parts } from './checks.js';
import type { RestrictDocument, SourceNamesDocument } from './schema.js';
import { type SourceField, sourceFields } from './source-names.js';

/**
 * A name at its place, `file:line:column`. A metric's `of` is the template or embed that it is hidden on.
 */
export type PolicyName =
  | {
      readonly kind:
        | ('workspace' | 'template' | 'embed' | 'dashboardFilter' | 'rlsVariable' | 'metricFilter')
        /** Of a source that a rule, a restriction, a template or an override names. An expression has no name to check. */
        | SourceField;
      readonly name: string;
      readonly at: string;
    }
  | { readonly kind: 'metric'; readonly name: string; readonly at: string; readonly of: string }
  /** A column that a restriction hides (`mask` null) or masks. Only templates read the policy's datamart. */
  | { readonly kind: 'ruledColumn'; readonly name: string; readonly at: string; readonly mask: string | null }
  /** A column that end users may filter by, or its table if `of` is null. Only templates read the policy's datamart. */
  | { readonly kind: 'column'; readonly name: string; readonly at: string; readonly of: string | null };

const restrictNames = (
  { source }: Part,
  path: readonly (string | number)[],
  restrict: RestrictDocument,
): readonly PolicyName[] => {
  const keys = (
    field: 'dashboardFilters' | 'rls' | 'appFilters',
    kind: 'dashboardFilter' | 'rlsVariable' | 'metricFilter',
  ) =>
    Object.keys(restrict[field]).map((name) => ({
      kind,
      name,
      at: source.at(source.offsetOfKey([...path, field], name)),
    }));
  const hidden = restrict.hideDashboardFilters.map((name, index) => ({
    kind: 'dashboardFilter' as const,
    name,
    at: source.at(source.offsetOf([...path, 'hideDashboardFilters', index])),
  }));
  const metrics = Object.entries(restrict.hideMetrics).flatMap(([of, names]) =>
    names.map((name, index) => ({
      kind: 'metric' as const,
      name,
      of,
      at: source.at(source.offsetOf([...path, 'hideMetrics', of, index])),
    })),
  );
  return [
    ...keys('dashboardFilters', 'dashboardFilter'),
    ...keys('rls', 'rlsVariable'),
    ...keys('appFilters', 'metricFilter'),
    ...hidden,
    ...metrics,
  ];
};

const columnNames = (part: Part): Sliced<readonly (readonly PolicyName[])[]> =>
  eachInSteps(part.rules, ({ grant }, rule) =>
    (['dashboardFilterColumns', 'metricFilterColumns'] as const).flatMap((field) => {
      const tables = grant.embeds.length > 0 ? [] : (grant.accessPermissions?.[field] ?? []);
      return tables.flatMap(({ tableName, columns }, index) => {
        const path = [...part.path, 'rules', rule, 'grant', 'accessPermissions', field, index];
        const at = (more: readonly (string | number)[]) => part.source.at(part.source.offsetOf([...path, ...more]));
        const kind = 'column' as const;
        return [
          { kind, name: tableName, of: null, at: at(['tableName']) },
          ...columns.map((name, column) => ({ kind, name, of: tableName, at: at(['columns', column]) })),
        ];
      });
    }),
  );

/** Existing embeds may read another datamart, whose columns a restriction may name. */
const ruledNames = (part: Part): Sliced<readonly (readonly PolicyName[])[]> =>
  eachInSteps(part.restrictions, ({ restrict }, index) => {
    const path = [...part.path, 'restrictions', index, 'restrict'];
    const kind = 'ruledColumn' as const;
    return [
      ...restrict.hideColumns.map((name, item) => ({
        ...{ kind, name, mask: null },
        at: part.source.at(part.source.offsetOf([...path, 'hideColumns', item])),
      })),
      ...Object.entries(restrict.maskColumns).map(([name, mask]) => ({
        ...{ kind, name, mask },
        at: part.source.at(part.source.offsetOfKey([...path, 'maskColumns'], name)),
      })),
    ];
  });

const embedNames = (part: Part): Sliced<readonly (readonly PolicyName[])[]> =>
  eachInSteps(part.rules, ({ grant }, rule) =>
    grant.embeds.map((name, index) => ({
      kind: 'embed' as const,
      name,
      at: part.source.at(part.source.offsetOf([...part.path, 'rules', rule, 'grant', 'embeds', index])),
    })),
  );

const restrictionNames = (part: Part): Sliced<readonly (readonly PolicyName[])[]> =>
  eachInSteps(part.restrictions, ({ restrict }, index) =>
    restrictNames(part, [...part.path, 'restrictions', index, 'restrict'], restrict),
  );

const namesOfSource = (
  { source }: Part,
  path: readonly (string | number)[],
  document: SourceNamesDocument,
): readonly PolicyName[] =>
  sourceFields.flatMap((kind) => {
    const name = document[kind];
    return typeof name === 'string' ? [{ kind, name, at: source.at(source.offsetOf([...path, kind])) }] : [];
  });

function* sourceNames({ document, own, overrides }: Parts): Sliced<readonly PolicyName[]> {
  const names: (readonly PolicyName[])[] = Object.entries(document.templates).map(([name, template]) =>
    namesOfSource(own, ['templates', name], template),
  );
  for (const { override, ...part } of overrides) names.push(namesOfSource(part, part.path, override));
  for (const part of [own, ...overrides]) {
    const { path, rules, restrictions } = part;
    names.push(
      ...(yield* eachInSteps(rules, ({ grant }, at) => namesOfSource(part, [...path, 'rules', at, 'grant'], grant))),
      ...(yield* eachInSteps(restrictions, ({ restrict }, at) =>
        namesOfSource(part, [...path, 'restrictions', at, 'restrict'], restrict),
      )),
    );
  }
  return names.flat();
}

/** Returns every such name of the policy and of its overrides. */
export function* collectNames(parts: Parts): Sliced<readonly PolicyName[]> {
  const { document, own, overrides } = parts;
  const names: (readonly PolicyName[])[] = [
    [{ kind: 'workspace', name: document.workspace, at: own.source.at(own.source.offsetOf(['workspace'])) }],
    Object.keys(document.templates).map((name) => ({
      kind: 'template' as const,
      name,
      at: own.source.at(own.source.offsetOfKey(['templates'], name)),
    })),
  ];
  for (const part of [own, ...overrides]) {
    names.push((yield* embedNames(part)).flat(), (yield* restrictionNames(part)).flat());
  }
  const hasEmbeds = [own, ...overrides].some(({ rules }) => rules.some(({ grant }) => grant.embeds.length > 0));
  for (const part of [own, ...overrides]) names.push((yield* columnNames(part)).flat());
  for (const part of hasEmbeds ? [] : [own, ...overrides]) names.push((yield* ruledNames(part)).flat());
  names.push(yield* sourceNames(parts));
  return names.flat();
}

/** What the service has behind one template or embed. Null: the service cannot tell. */
const names = z.array(z.string());
const catalogueBoard = z.object({
  source: z.string(),
  filters: names.nullable(),
  metrics: z.array(z.object({ metricId: z.string(), name: z.string() })).nullable(),
  metricFilters: names.nullable(),
  rlsVariables: names.nullable(),
});
export type CatalogueBoard = Unchanging<z.output<typeof catalogueBoard>>;

/** What the service has of a policy's names. The lists of names that exist are empty where nothing is missing. */
export const nameCatalogue = z.object({
  /** The names of the workspaces, if the policy's is not among them; else null. */
  otherWorkspaces: names.nullable(),
  boards: z.array(catalogueBoard),
  /** The templates and embeds that the service does not have. */
  missing: names,
  dashboardsThere: names,
  embedsThere: names,
  /**
   * The tables of the policy's datamart, as `schema.table`. Null: the service cannot tell, or has no such datamart. An
   * earlier gateway leaves them out.
   */
  tables: z
    .array(z.object({ tableName: z.string(), columns: names }))
    .nullable()
    .default(null),
  /** The columns of the policy's datamart as `schema.table.column`. Null: as for `tables`. */
  allColumns: z
    .array(z.object({ column: z.string(), kind: z.string().nullable(), isComputed: z.boolean() }))
    .nullable()
    .default(null),
  /** The named datamarts that the service does not have. */
  missingDatamarts: names.default([]),
  /** The type of the workspace, if the policy names sources and the service tells the type. */
  connectionType: z.string().nullable().default(null),
});
export type NameCatalogue = Unchanging<z.output<typeof nameCatalogue>>;

/** A name that the service does not have. `message` says what it is, what was meant, and which names there are. */
export const unknownName = z.object({ at: z.string(), name: z.string(), message: z.string() });
export type UnknownName = Readonly<z.output<typeof unknownName>>;

const maxListed = 20;

const listed = (names: readonly string[]): string => {
  const rest = names.length - maxListed;
  const shown = names.slice(0, maxListed).map((name) => JSON.stringify(name));
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ') || 'none';
};

const unknown = ({ name, at }: PolicyName, isNot: string, known: readonly string[]): UnknownName => {
  const there = [...new Set(known)].toSorted();
  const near = nearestName(name, there);
  const meant = near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
  return { at, name, message: `${JSON.stringify(name)} is ${isNot}.${meant} There are: ${listed(there)}.` };
};

/** Filters and variables are found without regard to case, as the service finds them. */
const hasName = (known: readonly string[], name: string): boolean =>
  known.some((one) => one.toLowerCase() === name.toLowerCase());

type BoardField = 'filters' | 'metricFilters' | 'rlsVariables';

const onBoards = (
  name: PolicyName,
  { boards, missing }: NameCatalogue,
  field: BoardField,
  isNot: string,
): readonly UnknownName[] => {
  const lists = boards.map((board) => board[field]);
  // A board that cannot be read may have the name.
  if (missing.length > 0 || lists.includes(null)) return [];
  const known = lists.flatMap((list) => list ?? []);
  return hasName(known, name.name) ? [] : [unknown(name, isNot, known)];
};

/** A table may be named without its schema if no other has its name; the service decides. */
const onDatamart = (
  name: Extract<PolicyName, { kind: 'column' }>,
  { tables }: NameCatalogue,
): readonly UnknownName[] => {
  if (tables === null) return [];
  const tableOf = (named: string) =>
    tables.find(({ tableName }) => tableName === named || tableName.slice(tableName.indexOf('.') + 1) === named);
  if (name.of === null) {
    const known = tables.map(({ tableName }) => tableName);
    return tableOf(name.name) === undefined ? [unknown(name, "no table of the policy's datamart", known)] : [];
  }
  const columns = tableOf(name.of)?.columns;
  // An unknown table is one fault, and not one for each of its columns.
  if (columns === undefined || columns.includes(name.name)) return [];
  return [unknown(name, `no column of ${name.of}`, columns)];
};

/** A column that is not there would stay shown, and so would one that its mask does not suit: the service refuses both. */
const ofRule = (
  { name, at, mask }: Extract<PolicyName, { kind: 'ruledColumn' }>,
  { allColumns }: NameCatalogue,
): readonly UnknownName[] => {
  if (allColumns === null) return [];
  const found = allColumns.find(({ column }) => column === name);
  if (found === undefined) {
    const known = allColumns.map(({ column }) => column);
    return [unknown({ kind: 'ruledColumn', name, at, mask }, "no column of the policy's datamart", known)];
  }
  const read = mask === null ? undefined : readMask(mask);
  const kind = (found.kind ?? undefined) as DatatypeKind | undefined;
  if (read === undefined || (!found.isComputed && suitsKind(read, kind))) return [];
  const what = found.isComputed ? 'is computed: mask the columns that it reads, or hide it' : `holds ${kind} values`;
  return [{ at, name, message: `${mask} does not suit ${JSON.stringify(name)}, which ${what}.` }];
};

const onSource = (
  { at, name, kind }: PolicyName,
  { missingDatamarts, connectionType }: NameCatalogue,
): readonly UnknownName[] => {
  const said = JSON.stringify(name);
  if (kind === 'datamart' && missingDatamarts.includes(name)) {
    return [{ at, name, message: `${said} is no datamart of the service. Users for whom it applies are denied.` }];
  }
  if (connectionType === null || connectionType.startsWith('MULTI_')) return [];
  const mend =
    'Make it one of type MULTI_DATASOURCE or MULTI_DATAMART; until then, users for whom it applies are denied';
  const message = `${kind} ${said} is not read: the policy's workspace is of type ${connectionType} and reads its own source alone. ${mend} unless it is that source.`;
  return [{ at, name, message }];
};

const check = (name: PolicyName, catalogue: NameCatalogue): readonly UnknownName[] => {
  const { otherWorkspaces, boards, missing, dashboardsThere, embedsThere } = catalogue;
  switch (name.kind) {
    case 'workspace':
      return otherWorkspaces === null ? [] : [unknown(name, 'no workspace of the service', otherWorkspaces)];
    case 'template':
      return missing.includes(name.name) && otherWorkspaces === null
        ? [unknown(name, "no dashboard of the policy's workspace", dashboardsThere)]
        : [];
    case 'embed':
      return missing.includes(name.name) ? [unknown(name, "no embed of the API key's data app", embedsThere)] : [];
    case 'dashboardFilter':
      return onBoards(name, catalogue, 'filters', "no filter of the policy's dashboards");
    case 'metricFilter':
      return onBoards(name, catalogue, 'metricFilters', "no filter of a metric of the policy's dashboards");
    case 'rlsVariable':
      return onBoards(name, catalogue, 'rlsVariables', "no RLS variable of a metric of the policy's dashboards");
    case 'column':
      return onDatamart(name, catalogue);
    case 'ruledColumn':
      return ofRule(name, catalogue);
    case 'datasource':
    case 'datamart':
      return onSource(name, catalogue);
    case 'metric': {
      const metrics = boards.find(({ source }) => source === name.of)?.metrics;
      if (metrics === undefined || metrics === null) return [];
      const isThere = metrics.some((metric) => metric.metricId === name.name || metric.name === name.name);
      const known = metrics.map((metric) => metric.name);
      return isThere ? [] : [unknown(name, `no metric of ${JSON.stringify(name.of)}`, known)];
    }
  }
};

/** Returns the names that the service does not have, in the policy's order, each with its place. */
export const findUnknownNames = (names: readonly PolicyName[], catalogue: NameCatalogue): readonly UnknownName[] =>
  names.flatMap((name) => check(name, catalogue));
