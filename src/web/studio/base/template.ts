/** The content of a template, as Studio reads and writes it. */
import type { MetricDefinition } from '../../../domain/dashboard/metric.js';
import type { Tile } from '../../../domain/dashboard/tile.js';

export type Card = {
  readonly metricId: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
};
export type TemplateMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly definition: MetricDefinition;
  readonly lineage: readonly string[];
  readonly placement: 'METRIC' | 'GALLERY';
};
export type TemplateFilter = {
  readonly name: string;
  readonly dataType: string;
  readonly applyOnTables: readonly {
    readonly schemaName: string;
    readonly tableName: string;
    readonly columnName: string;
    readonly dataType: string;
  }[];
  readonly isSingleChoice?: true | undefined;
};
/** The `data` of a dashboard export. Fields that Studio does not know are kept as they are. */
export type TemplateData = {
  readonly layout: readonly Card[];
  readonly filters: readonly TemplateFilter[];
  readonly metrics: readonly TemplateMetric[];
  readonly tiles?: readonly Tile[] | undefined;
};
