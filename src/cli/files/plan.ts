/** Compares the files with the service: what has to be created, changed and deleted, in the order that works. Pure. */
import { isRecord } from '../../model/is-record.js';
import { hintOf } from '../../model/nearest-name.js';
import type { FileFault } from '../../platform/files/yaml-source.js';
import { paint, printable } from '../kit/terminal.js';
import { compare, type Difference, shortValue } from './differences.js';
import { canonicalEmbed, type StoredEmbed } from './embeds.js';
import { type Definition, type DefinitionFile, namedContent, nameOf } from './folder.js';
import {
  canonicalDatamart,
  type DashboardFile,
  type DatamartFile,
  type EmbedFile,
  type StoredDashboard,
} from './formats.js';
import { isKnown, type Known } from './known.js';
import type { PolicyText } from './policies.js';
import type { Stored } from './service.js';
import { sharedMetricFaults } from './shared-metrics.js';

/** `file` is null for what only the service has. */
type Step<Value, Before> = {
  readonly name: string;
  readonly file: string | null;
  readonly fields: readonly Difference[];
  /** The service has what the folder never had: somebody changed the object elsewhere. */
  readonly isNewer?: true;
} & (
  | { readonly action: 'create'; readonly value: Value }
  | { readonly action: 'change' | 'unchanged'; readonly value: Value; readonly before: Before }
  | { readonly action: 'delete'; readonly before: Before }
);
export type DatamartStep = { readonly kind: 'datamart' } & Step<DatamartFile, DatamartFile>;
export type DashboardStep = { readonly kind: 'dashboard' } & Step<DashboardFile, StoredDashboard>;
export type EmbedStep = { readonly kind: 'embed' } & Step<EmbedFile, StoredEmbed>;
export type PolicyStep = { readonly kind: 'policy' } & Step<PolicyText, PolicyText>;
export type PlanStep = DatamartStep | DashboardStep | EmbedStep | PolicyStep;

type OfDatamart = Extract<DefinitionFile, { kind: 'datamart' }>;
type OfDashboard = Extract<DefinitionFile, { kind: 'dashboard' }>;
type OfEmbed = Extract<DefinitionFile, { kind: 'embed' }>;
type OfPolicy = Extract<DefinitionFile, { kind: 'policy' }>;

const planDatamart = (definition: OfDatamart, stored: Stored): DatamartStep => {
  const { kind, file } = definition;
  const before = stored.datamarts.find(({ name }) => name === definition.value.name);
  const value = canonicalDatamart(definition.value, before);
  const named = { kind, name: nameOf(definition), file } as const;
  if (before === undefined) return { ...named, action: 'create', fields: [], value };
  const fields = compare('', before, value);
  return { ...named, action: fields.length === 0 ? 'unchanged' : 'change', fields, value, before };
};

const planDashboard = (definition: OfDashboard, stored: Stored): DashboardStep => {
  const { kind, value, file } = definition;
  const name = nameOf(definition);
  const before = stored.dashboards.find((one) => nameOf({ kind, value: one.value }) === name);
  if (before === undefined) return { kind, name, file, action: 'create', fields: [], value };
  const fields = compare('', before.value, value);
  return { kind, name, file, action: fields.length === 0 ? 'unchanged' : 'change', fields, value, before };
};

const findEmbed = (name: string, { embeds }: Stored): StoredEmbed | undefined =>
  embeds?.own.find(({ value }) => value.name === name);

const planEmbed = (definition: OfEmbed, stored: Stored): EmbedStep => {
  const { kind, file } = definition;
  const before = findEmbed(definition.value.name, stored);
  const value = canonicalEmbed(definition.value, before?.value);
  const named = { kind, name: nameOf(definition), file } as const;
  if (before === undefined) return { ...named, action: 'create', fields: [], value };
  const fields = compare('', before.value, value);
  return { ...named, action: fields.length === 0 ? 'unchanged' : 'change', fields, value, before };
};

const planPolicy = ({ kind, value, file }: OfPolicy, { policy }: Stored): PolicyStep => {
  const before = policy?.files.find((one) => one.file === value.file);
  const named = { kind, name: nameOf({ kind, value }), file } as const;
  if (before === undefined) return { ...named, action: 'create', fields: [], value };
  const fields = compare('', before.content, value.content);
  return { ...named, action: fields.length === 0 ? 'unchanged' : 'change', fields, value, before };
};

/** What the service has in excess of the files: of the kinds that the folder has, and of the workspaces that files name. */
const planDeletions = (files: readonly DefinitionFile[], stored: Stored): readonly PlanStep[] => {
  const names = new Set(files.map(nameOf));
  const isExcess = (definition: Definition): boolean => !names.has(nameOf(definition));
  const rest = { file: null, action: 'delete', fields: [] } as const;
  const workspaces = files.flatMap((file) => (file.kind === 'dashboard' ? [file.value.workspaceName] : []));
  const inNamed = stored.dashboards.filter(({ value }) => workspaces.includes(value.workspaceName));
  const dashboards = inNamed.flatMap((before): readonly PlanStep[] => {
    const definition = { kind: 'dashboard', value: before.value } as const;
    return isExcess(definition) ? [{ ...rest, kind: 'dashboard', name: nameOf(definition), before }] : [];
  });
  const hasDatamarts = files.some(({ kind }) => kind === 'datamart');
  const datamarts = (hasDatamarts ? stored.datamarts : []).flatMap((before): readonly PlanStep[] => {
    const definition = { kind: 'datamart', value: before } as const;
    return isExcess(definition) ? [{ ...rest, kind: 'datamart', name: nameOf(definition), before }] : [];
  });
  const hasEmbeds = files.some(({ kind }) => kind === 'embed');
  const embeds = (hasEmbeds ? (stored.embeds?.own ?? []) : []).flatMap((before): readonly PlanStep[] => {
    const definition = { kind: 'embed', value: before.value } as const;
    return isExcess(definition) ? [{ ...rest, kind: 'embed', name: nameOf(definition), before }] : [];
  });
  return [...embeds, ...dashboards, ...datamarts];
};

/** What the service has of the object now; undefined if it has none. */
const storedOf = (step: PlanStep): Definition | undefined => {
  if (step.action === 'create') return undefined;
  if (step.kind === 'dashboard' || step.kind === 'embed')
    return { kind: step.kind, value: step.before.value } as Definition;
  return { kind: step.kind, value: step.before } as Definition;
};

/** What the service has and the files say too. */
export const sameInBoth = (steps: readonly PlanStep[]): readonly Definition[] =>
  steps.flatMap((step) => (step.action === 'unchanged' ? (storedOf(step) ?? []) : []));

const withAge = (step: PlanStep, known: Known): PlanStep => {
  const stored = step.action === 'change' ? storedOf(step) : undefined;
  return stored === undefined || isKnown(known, namedContent(stored)) ? step : { ...step, isNewer: true };
};

/** `stored` has the dashboards of the workspaces that the files name. `known`: what the folder has had. */
export const planSteps = (
  files: readonly DefinitionFile[],
  stored: Stored,
  known: Known,
  isDeleting: boolean,
): readonly PlanStep[] => allSteps(files, stored, isDeleting).map((step) => withAge(step, known));

const allSteps = (files: readonly DefinitionFile[], stored: Stored, isDeleting: boolean): readonly PlanStep[] => [
  ...files.flatMap((file) => (file.kind === 'datamart' ? [planDatamart(file, stored)] : [])),
  ...files.flatMap((file) => (file.kind === 'dashboard' ? [planDashboard(file, stored)] : [])),
  ...files.flatMap((file) => (file.kind === 'embed' ? [planEmbed(file, stored)] : [])),
  ...files.flatMap((file) => (file.kind === 'policy' ? [planPolicy(file, stored)] : [])),
  ...(isDeleting ? planDeletions(files, stored) : []),
];

const faultAt = ({ source }: DefinitionFile, field: string, message: string): FileFault => ({
  at: source.at(source.offsetOf([field])),
  message: `${field}: ${message}`,
});

const datamartFaults = (file: OfDatamart, stored: Stored): readonly FileFault[] => {
  const { name, datasourceName, tenancySettings } = file.value;
  const before = stored.datamarts.find((one) => one.name === name);
  if (before === undefined) {
    if (stored.datasources.includes(datasourceName)) return [];
    const hint = hintOf(datasourceName, stored.datasources, 'there are');
    return [
      faultAt(
        file,
        'datasourceName',
        `the service has no datasource "${datasourceName}"; create it, or name another (${hint})`,
      ),
    ];
  }
  const isMoved = before.datasourceName !== datasourceName;
  const losesTenancy = before.tenancySettings !== undefined && tenancySettings === undefined;
  return [
    ...(isMoved
      ? [faultAt(file, 'datasourceName', `it stays "${before.datasourceName}"; give the other datamart another name`)]
      : []),
    ...(losesTenancy
      ? [faultAt(file, 'tenancySettings', 'is missing: the tenancy of a datamart can be changed, but not removed')]
      : []),
  ];
};

const dashboardFaults = (file: OfDashboard, stored: Stored): readonly FileFault[] => {
  const { workspaceName, dashboardName } = file.value;
  if (!stored.workspaces.includes(workspaceName)) {
    const hint = hintOf(workspaceName, stored.workspaces, 'there are');
    return [
      faultAt(
        file,
        'workspaceName',
        `the service has no workspace "${workspaceName}"; create it, or name another (${hint})`,
      ),
    ];
  }
  const before = stored.dashboards.find(({ value }) => nameOf({ kind: 'dashboard', value }) === nameOf(file));
  if (before === undefined || before.value.dashboardName === dashboardName) return [];
  return [faultAt(file, 'dashboardName', `it stays "${before.value.dashboardName}": a dashboard cannot be renamed`)];
};

/** What the embed shows must be there already, or in the files. */
const targetFaults = (file: OfEmbed, files: readonly DefinitionFile[], stored: Stored): readonly FileFault[] => {
  const { workspaceName, dashboardId } = file.value;
  const inFiles = files.flatMap((each) => (each.kind === 'dashboard' ? [each.value] : []));
  const all = [...inFiles, ...stored.dashboards.map(({ value }) => value)].filter(
    (each) => each.workspaceName === workspaceName,
  );
  const shown = all.find((each) => each.dashboardId === dashboardId);
  if (shown === undefined) {
    const known = [...new Set(all.map((each) => each.dashboardId))];
    const hint = hintOf(dashboardId, known, 'there are');
    return [
      faultAt(file, 'dashboardId', `the workspace "${workspaceName}" has no dashboard "${dashboardId}"; ${hint}`),
    ];
  }
  if (file.value.embedType === 'dashboard') return [];
  const { metricId } = file.value;
  const known = shown.metrics.map((each) => each.metricId);
  if (known.includes(metricId)) return [];
  const hint = hintOf(metricId, known, 'there are');
  return [faultAt(file, 'metricId', `the dashboard "${dashboardId}" has no metric "${metricId}"; ${hint}`)];
};

const embedTarget = ['embedType', 'workspaceName', 'dashboardId', 'metricId'] as const;

const embedFaults = (file: OfEmbed, files: readonly DefinitionFile[], stored: Stored): readonly FileFault[] => {
  if (stored.embeds === undefined) {
    return [faultAt(file, 'name', 'an embed belongs to a data app: set GUESTLIST_API_KEY to an API key of it')];
  }
  if (stored.embeds.repeated.includes(file.value.name)) {
    return [faultAt(file, 'name', 'several embeds of the data app have this name; take another name')];
  }
  const before: Readonly<Record<string, unknown>> | undefined = findEmbed(file.value.name, stored)?.value;
  const value: Readonly<Record<string, unknown>> = file.value;
  const moved = before === undefined ? [] : embedTarget.filter((field) => before[field] !== value[field]);
  if (moved.length === 0) return targetFaults(file, files, stored);
  return moved.map((field) =>
    faultAt(file, field, `it stays ${JSON.stringify(before?.[field] ?? null)}; give the other embed another name`),
  );
};

/** What the service cannot do, with the lines of the files. The policy is checked apart. */
export const planFaults = (files: readonly DefinitionFile[], stored: Stored): readonly FileFault[] => [
  ...files.flatMap((file) => {
    if (file.kind === 'datamart') return datamartFaults(file, stored);
    if (file.kind === 'dashboard') return dashboardFaults(file, stored);
    return file.kind === 'embed' ? embedFaults(file, files, stored) : [];
  }),
  ...sharedMetricFaults(files, stored.dashboards),
];

export const changing = (steps: readonly PlanStep[]): readonly PlanStep[] =>
  steps.filter(({ action }) => action !== 'unchanged');

const styles = { create: 'green', change: 'yellow', delete: 'red', unchanged: 'bold' } as const;

const newerLine = '  changed in the service since the files were pulled or pushed';

/** The names of the metrics that a step takes away. */
const lostMetrics = (fields: readonly Difference[]): readonly string[] =>
  fields.flatMap(({ path, before, after }) =>
    /^metrics\[/.test(path) && after === undefined && isRecord(before) && typeof before.name === 'string'
      ? [before.name]
      : [],
  );

/** A step in words: its fields are indented below it. */
export const stepLines = ({ action, name, file, fields, isNewer }: PlanStep): readonly string[] => [
  paint(styles[action], action) + printable(`  ${name}${file === null ? '' : ` (${file})`}`),
  ...(isNewer ? [newerLine] : []),
  ...lostMetrics(fields).map((lost) => printable(`  removes the metric ${JSON.stringify(lost)}`)),
  ...fields.map(({ path, before, after }) => printable(`  ${path}: ${shortValue(before)} → ${shortValue(after)}`)),
];

export const planText = (steps: readonly PlanStep[]): string => {
  const changes = changing(steps);
  if (changes.length === 0) return 'Nothing to change.';
  const rest = steps.length - changes.length;
  return [...changes.flatMap(stepLines), ...(rest === 0 ? [] : [`unchanged: ${rest}`])].join('\n');
};

export const stepJson = ({ kind, action, name, file, fields, isNewer }: PlanStep) => ({
  ...{ kind, action, name, file, fields, isNewer: isNewer === true },
});
