/** What the metrics and filters of a dashboard read, for the comparison of a datamart with its database. Pure. */
import type { Use } from '../datamart/change-breaks.js';
import { definitionSqlParts } from './content-sql.js';
import type { DashboardContent } from './dashboard.js';
import { columnsOf } from './definition.js';
import type { MetricDefinition } from './metric.js';
import { dashboardFilterTypeFaults, definitionTypeFaults } from './type-faults.js';

type Content = Pick<DashboardContent, 'filters'> & {
  readonly metrics: readonly { readonly name: string; readonly definition: MetricDefinition }[];
};

/** `where`: what people call the dashboard. */
export const usesOf = ({ metrics, filters }: Content, where: string): readonly Use[] => [
  ...metrics.map(
    ({ name, definition }): Use => ({
      ...{ what: 'metric', name, where },
      tables: definition.kind === 'visual' ? [definition.from] : [],
      columns: columnsOf(definition),
      sql: definitionSqlParts(definition).map(({ text }) => text),
      typeFaults: (datamart) => definitionTypeFaults(definition, datamart),
    }),
  ),
  ...filters.map(
    (filter): Use => ({
      ...{ what: 'filter', name: filter.name, where },
      ...{ tables: [], columns: filter.applyOnTables, sql: [] },
      typeFaults: (datamart) => dashboardFilterTypeFaults(filter, [datamart]),
    }),
  ),
];
