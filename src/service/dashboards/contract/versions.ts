/**
 * Reads a dashboard's data of any version, with or without the envelope, and upgrades it to the newest version. Each
 * version has an upgrade to the next one.
 */

import { z } from 'zod';
import type { DashboardContent } from '../../../model/dashboard/dashboard.js';
import { isRecord } from '../../../model/is-record.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { dashboardData, dashboardDataV1, exportVersion } from './export.js';

type Newest = z.input<typeof dashboardData>;
type Parsed<T> = { readonly data: T } | { readonly issues: readonly z.core.$ZodIssue[] };

const parse = <T>(schema: z.ZodType<T>, value: unknown): Parsed<T> => {
  const parsed = schema.safeParse(value);
  return parsed.success ? { data: parsed.data } : { issues: parsed.error.issues };
};

/** Upgrades version 1, which had no lineage, and placed a metric only by its card. */
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

/**
 * Reads version 2 or 3. Version 3 added chart types, groups of conditions, calculations and custom SQL; data of version
 * 2 is valid in version 3 without changes.
 */
const readV3 = (value: unknown): Parsed<Newest> => {
  const parsed = parse(dashboardData, value);
  if ('issues' in parsed) return parsed;
  // The data is now of the newest version, which has no version field.
  const { version: _, ...data } = parsed.data;
  return { data };
};

const readers: readonly ((value: unknown) => Parsed<Newest>)[] = [readV1, readV3, readV3];

/** Unknown fields are one issue for each object, and a fault each. */
const faultCount = (one: Parsed<Newest>): number =>
  'issues' in one
    ? one.issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0)
    : 0;

/**
 * Reads data without a version as the oldest version that fits. If none fits, returns the faults of the version with
 * the fewest.
 */
const readUnversioned = (value: unknown): Parsed<Newest> => {
  const tried = readers.map((read) => read(value));
  const [best = readV3(value)] = tried.toSorted((a, b) => faultCount(a) - faultCount(b));
  return best;
};

type Wrapped = { readonly data: unknown; readonly version: unknown; readonly path: readonly string[] };

/** Removes the envelope. Of `_meta`, only the version is used; the rest describes where the file came from. */
const unwrap = (value: unknown): Wrapped => {
  const isEnvelope = isRecord(value) && Object.hasOwn(value, 'data') && !Object.hasOwn(value, 'layout');
  const data = isEnvelope ? value.data : value;
  const meta = isEnvelope && Object.hasOwn(value, '_meta') && isRecord(value._meta) ? value._meta : {};
  const own = isRecord(data) && Object.hasOwn(data, 'version') ? data.version : undefined;
  return { data, version: own ?? meta.version, path: isEnvelope ? ['data'] : [] };
};

const unreadable = (version: unknown): string =>
  typeof version === 'number' && version > exportVersion
    ? `a version from 1 to ${exportVersion}: version ${version} was written by a newer release`
    : `a version from 1 to ${exportVersion}`;

const withoutVersion = (value: unknown): unknown => {
  if (!isRecord(value)) return value;
  const { version: _, ...rest } = value;
  return rest;
};

/**
 * Reports the issues. Unknown fields alone would not stop zod: the schema behind this one would then find every field
 * missing. As the only form of a union, they do.
 */
const refuse = (context: z.RefinementCtx, issues: readonly object[]): void => {
  const isPassedOver = (issue: object): boolean => 'code' in issue && issue.code === 'unrecognized_keys';
  const reported = issues.every(isPassedOver) ? [{ code: 'invalid_union', errors: [issues], path: [] }] : issues;
  context.issues.push(...(reported as never[]));
};

const upgrade = (value: unknown, context: z.RefinementCtx): unknown => {
  const { data, version, path } = unwrap(value);
  const read = typeof version === 'number' ? readers[version - 1] : undefined;
  if (version !== undefined && read === undefined) {
    const isOwn = isRecord(data) && data.version === version;
    const place = isOwn ? [...path, 'version'] : ['_meta', 'version'];
    context.addIssue({ code: 'custom', path: place, message: unreadable(version) });
    return z.NEVER;
  }
  const extra =
    path.length > 0 && isRecord(value) ? Object.keys(value).filter((key) => !['_meta', 'data'].includes(key)) : [];
  if (extra.length > 0) {
    refuse(context, [{ code: 'unrecognized_keys', keys: extra, path: [], input: value, message: '' }]);
    return z.NEVER;
  }
  const parsed = read === undefined ? readUnversioned(data) : read(withoutVersion(data));
  if ('data' in parsed) return parsed.data;
  refuse(
    context,
    parsed.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })),
  );
  return z.NEVER;
};

/** Data that a request imports: the data object of an export, or the complete export, of any version. */
export const importedData: z.ZodType<DashboardContent> = z.preprocess(upgrade, dashboardData);

const envelope = z.looseObject({ _meta: z.looseObject({ dashboardId: identifier, name: identifier }) });

/** Reads a complete export, such as a template's file. Throws a `ZodError` with all faults. */
export const readExport = (value: unknown) => {
  const { _meta } = envelope.parse(value);
  return { dashboardId: _meta.dashboardId, name: _meta.name, content: importedData.parse(value) };
};
