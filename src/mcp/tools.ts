/** The tools: each names one operation of guests, and has its input. What a tool may read, its operation decides. */
import { z } from 'zod';
import { createGuestView, deleteGuestView, listGuestViews, updateGuestView } from '../contract/guest-boards.js';
import { downloadGuestCsv, downloadGuestXlsx } from '../contract/guest-downloads.js';
import { listGuestEmbeds } from '../contract/guest-embeds.js';
import { listGuestFields } from '../contract/guest-fields.js';
import { createGuestMetric, previewGuestMetric, updateGuestMetric } from '../contract/guest-metrics.js';
import { getGuestMetricDefinition } from '../contract/guest-own-metrics.js';
import {
  getGuestDashboard,
  getGuestMetric,
  listGuestFilterOptions,
  listGuestUnderlying,
  queryGuestMetric,
} from '../contract/guest-reads.js';
import {
  createGuestSchedule,
  deleteGuestSchedule,
  listGuestDeliveries,
  listGuestSchedules,
  sendGuestSchedule,
  updateGuestSchedule,
} from '../contract/guest-schedules.js';
import type { Operation } from '../contract/operation.js';
import type { Described } from './described.js';

export type Tool = Described & {
  readonly operation: Operation;
  /** Whether every token that opens a dashboard or metric may call it. Otherwise `listGuestEmbeds` says who may. */
  readonly isForAll: boolean;
};

type Entry = readonly [
  name: string,
  operation: Operation,
  kind: 'all' | 'read' | 'write' | 'delete',
  description: string,
];

// A description names no other tool: the reader may not have it.
const entries: readonly Entry[] = [
  ['list_dashboards', listGuestEmbeds, 'all', 'Lists the dashboards and single metrics that you may open, by id.'],
  [
    'describe_dashboard',
    getGuestDashboard,
    'all',
    'Describes a dashboard: its metrics with their columns, and the filters that you may set.',
  ],
  ['describe_metric', getGuestMetric, 'all', 'Describes a single metric that is listed without a dashboard.'],
  [
    'query_metric',
    queryGuestMetric,
    'all',
    'Answers the rows of a metric. Name the dashboard that shows it, set filters, and ask for few rows with `limit`.',
  ],
  ['list_filter_values', listGuestFilterOptions, 'all', 'Lists the values that a filter of a dashboard can take.'],
  ['list_underlying_rows', listGuestUnderlying, 'read', 'Lists single rows behind a metric. Ask for few with `limit`.'],
  ['export_csv', downloadGuestCsv, 'read', 'Exports the rows of a metric as CSV.'],
  ['export_xlsx', downloadGuestXlsx, 'read', 'Exports the rows of a metric as an XLSX workbook.'],
  ['list_fields', listGuestFields, 'read', 'Lists the tables and columns on which a metric can be built.'],
  ['preview_metric', previewGuestMetric, 'read', 'Answers a definition of a metric without saving it.'],
  ['create_metric', createGuestMetric, 'write', 'Saves a new metric on a dashboard.'],
  ['read_metric_definition', getGuestMetricDefinition, 'read', 'Reads the definition of a metric that you may change.'],
  ['update_metric', updateGuestMetric, 'write', 'Changes the name or the definition of a metric.'],
  ['list_views', listGuestViews, 'read', 'Lists saved choices of filters of a dashboard: your own, and shared ones.'],
  ['create_view', createGuestView, 'write', 'Saves choices of filters of a dashboard under a name.'],
  ['update_view', updateGuestView, 'write', 'Changes a saved view.'],
  ['delete_view', deleteGuestView, 'delete', 'Deletes a saved view.'],
  ['list_schedules', listGuestSchedules, 'read', 'Lists your reports and alerts of a dashboard.'],
  [
    'create_schedule',
    createGuestSchedule,
    'write',
    'Schedules a report or an alert by e-mail. Ask your user first: it sends messages.',
  ],
  ['update_schedule', updateGuestSchedule, 'write', 'Changes, pauses or mutes a report or an alert.'],
  ['delete_schedule', deleteGuestSchedule, 'delete', 'Deletes a report or an alert with its history.'],
  ['send_schedule', sendGuestSchedule, 'write', 'Sends a report, or checks an alert, at once. Ask your user first.'],
  ['list_deliveries', listGuestDeliveries, 'read', 'Lists what became of the messages of a report or an alert.'],
];

/** The JSON Schema of what a tool takes. Parts that it cannot express take anything: the call checks them. */
export const inputSchemaOf = (input: z.ZodType): Described['inputSchema'] => {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
  });
  return { ...schema, type: 'object' };
};

/** Every tool, in the order in which they are listed. Written at the first call, to keep the start fast. */
const allTools = (() => {
  let written: readonly Tool[] | undefined;
  return (): readonly Tool[] => {
    written ??= entries.map(([name, operation, kind, description]) => ({
      name,
      operation,
      title: operation.summary,
      description,
      reads: kind === 'all' || kind === 'read',
      ...(kind === 'delete' ? { isDestructive: true } : {}),
      isForAll: kind === 'all',
      inputSchema: inputSchemaOf(operation.input),
    }));
    return written;
  };
})();

const listed = listGuestEmbeds.output.shape.data;

/** Returns the tools that a token may call, by the answer of `listGuestEmbeds` with this token. */
export const grantedTools = (opened: z.output<typeof listed>): readonly Tool[] => {
  const places = [...opened.dashboards, ...opened.metrics];
  const granted = new Set<string>(places.flatMap(({ operations }) => operations));
  return allTools().filter(({ operation, isForAll }) => isForAll || granted.has(operation.name));
};
