/** Reads a dashboard's data of any version, in its envelope or bare, as the newest: each version has an upgrade to the next. */
import { z } from 'zod';
import type { DashboardContent } from '../domain/dashboard/dashboard.js';
import { dashboardData, dashboardDataV1, exportVersion } from './dashboard-export.js';
import { identifier } from './fields.js';

type Newest = z.input<typeof dashboardData>;
type Parsed<T> = { readonly data: T } | { readonly issues: readonly z.core.$ZodIssue[] };

const parse = <T>(schema: z.ZodType<T>, value: unknown): Parsed<T> => {
  const parsed = schema.safeParse(value);
  return parsed.success ? { data: parsed.data } : { issues: parsed.error.issues };
};

/** Version 1 knew neither where a metric came from nor, but by its card, where it was placed. */
const fromV1 = ({ metrics, layout, ...rest }: z.output<typeof dashboardDataV1>): Newest => {
  const shown = new Set(layout.map(({ metricId }) => metricId));
  return {
    ...rest,
    layout,
    metrics: metrics.map((metric) => ({
      ...metric,
      lineage: [],
      placement: shown.has(metric.metricId) ? 'METRIC' : 'GALLERY',
    })),
  };
};

const readV1 = (value: unknown): Parsed<Newest> => {
  const parsed = parse(dashboardDataV1, value);
  return 'issues' in parsed ? parsed : { data: fromV1(parsed.data) };
};

/** Version 3 added kinds of charts, groups of conditions, calculations and custom SQL: what version 2 says means the same in it. */
const readV3 = (value: unknown): Parsed<Newest> => {
  const parsed = parse(dashboardData, value);
  if ('issues' in parsed) return parsed;
  // What was read has no version any more: it is of this one.
  const { version: _, ...data } = parsed.data;
  return { data };
};

const readers: readonly ((value: unknown) => Parsed<Newest>)[] = [readV1, readV3, readV3];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without a version: the oldest that fits, or the faults of the one that it misses least. */
const readUnversioned = (value: unknown): Parsed<Newest> => {
  const tried = readers.map((read) => read(value));
  const issueCount = (one: Parsed<Newest>): number => ('issues' in one ? one.issues.length : 0);
  const [best = readV3(value)] = tried.toSorted((a, b) => issueCount(a) - issueCount(b));
  return best;
};

type Wrapped = { readonly data: unknown; readonly version: unknown; readonly path: readonly string[] };

/** Of the envelope's `_meta` only the version matters here: the rest says what the file was made from. */
const unwrap = (value: unknown): Wrapped => {
  const isEnvelope = isObject(value) && Object.hasOwn(value, 'data') && !Object.hasOwn(value, 'layout');
  const data = isEnvelope ? value.data : value;
  const meta = isEnvelope && Object.hasOwn(value, '_meta') && isObject(value._meta) ? value._meta : {};
  const own = isObject(data) && Object.hasOwn(data, 'version') ? data.version : undefined;
  return { data, version: own ?? meta.version, path: isEnvelope ? ['data'] : [] };
};

const unreadable = (version: unknown): string =>
  typeof version === 'number' && version > exportVersion
    ? `a version from 1 to ${exportVersion}: version ${version} was written by a newer release`
    : `a version from 1 to ${exportVersion}`;

const withoutVersion = (value: unknown): unknown => {
  if (!isObject(value)) return value;
  const { version: _, ...rest } = value;
  return rest;
};

const upgrade = (value: unknown, context: z.RefinementCtx): unknown => {
  const { data, version, path } = unwrap(value);
  const read = typeof version === 'number' ? readers[version - 1] : undefined;
  if (version !== undefined && read === undefined) {
    const isOwn = isObject(data) && data.version === version;
    const place = isOwn ? [...path, 'version'] : ['_meta', 'version'];
    context.addIssue({ code: 'custom', path: place, message: unreadable(version) });
    return z.NEVER;
  }
  const extra =
    path.length > 0 && isObject(value) ? Object.keys(value).filter((key) => !['_meta', 'data'].includes(key)) : [];
  if (extra.length > 0) {
    context.addIssue({ code: 'unrecognized_keys', keys: extra, path: [], input: value as Record<string, unknown> });
    return z.NEVER;
  }
  const parsed = read === undefined ? readUnversioned(data) : read(withoutVersion(data));
  if ('data' in parsed) return parsed.data;
  for (const issue of parsed.issues) context.issues.push({ ...issue, path: [...path, ...issue.path] } as never);
  return z.NEVER;
};

/** What a request imports: the data object of an export, or the whole export, of this version or an older one. */
export const importedData: z.ZodType<DashboardContent> = z.preprocess(upgrade, dashboardData);

const envelope = z.looseObject({ _meta: z.looseObject({ dashboardId: identifier, name: identifier }) });

/** A whole export, as a file of templates holds it. Throws a `ZodError` that names every fault. */
export const readExport = (value: unknown) => {
  const { _meta } = envelope.parse(value);
  return { dashboardId: _meta.dashboardId, name: _meta.name, content: importedData.parse(value) };
};
