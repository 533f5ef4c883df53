/**
 * Metrics that several dashboards of the service show: there is one stored metric, and each dashboard's file has it. So the
 * files must say the same of it, and a push of one file changes what the others' dashboards have. Pure.
 */
import { isSameJson } from '../../model/canonical-json.js';
import type { FileFault } from '../../platform/files/yaml-source.js';
import { compare } from './differences.js';
import { type DefinitionFile, nameOf } from './folder.js';
import { type DashboardFile, fileIdsOf, type StoredDashboard } from './formats.js';

type OfDashboard = Extract<DefinitionFile, { kind: 'dashboard' }>;
type FileMetric = DashboardFile['metrics'][number];
type Use = { readonly file: OfDashboard; readonly metric: FileMetric; readonly at: string };

/** The ids of the service by those of the files. */
export const ownIdsOf = (stored: StoredDashboard | undefined): ReadonlyMap<string, string> =>
  new Map([...fileIdsOf(stored?.content.data.metrics ?? [])].map(([ownId, fileId]) => [fileId, ownId]));

/** Where the files have each stored metric, by the service's id. */
const usesOf = (
  files: readonly DefinitionFile[],
  stored: readonly StoredDashboard[],
): ReadonlyMap<string, readonly Use[]> => {
  const uses = new Map<string, readonly Use[]>();
  for (const file of files) {
    if (file.kind !== 'dashboard') continue;
    const before = stored.find(({ value }) => nameOf({ kind: 'dashboard', value }) === nameOf(file));
    const own = ownIdsOf(before);
    file.value.metrics.forEach((metric, index) => {
      const ownId = own.get(metric.metricId);
      if (ownId === undefined) return;
      const at = file.source.at(file.source.offsetOf(['metrics', index]));
      uses.set(ownId, [...(uses.get(ownId) ?? []), { file, metric, at }]);
    });
  }
  return uses;
};

const shared = ({ name, definition }: FileMetric) => ({ name, definition });

/** Files that say different things of one metric: a push could never make the service equal to both. */
export const sharedMetricFaults = (
  files: readonly DefinitionFile[],
  stored: readonly StoredDashboard[],
): readonly FileFault[] =>
  [...usesOf(files, stored).values()].flatMap(([first, ...others]) =>
    others.flatMap(({ metric, at }) => {
      const [difference] = first === undefined ? [] : compare('', shared(first.metric), shared(metric));
      if (first === undefined || difference === undefined) return [];
      const where = `metrics[${metric.metricId}].${difference.path}`;
      return [{ at, message: `${where}: the metric is also at ${first.at}, which says otherwise; make both the same` }];
    }),
  );

/**
 * Whether `now` differs from `before` only in metrics that are already as `value` wants them: what the push of another file
 * with the same metric does.
 */
export const isOnlyShared = (before: DashboardFile, now: DashboardFile, value: DashboardFile): boolean => {
  const metrics = now.metrics.map((metric) => {
    const wanted = value.metrics.find(({ metricId }) => metricId === metric.metricId);
    const earlier = before.metrics.find(({ metricId }) => metricId === metric.metricId);
    const isWanted = wanted !== undefined && isSameJson(shared(wanted), shared(metric));
    return isWanted && earlier !== undefined ? { ...metric, ...shared(earlier) } : metric;
  });
  return compare('', before, { ...now, metrics }).length === 0;
};
