/** Request bodies that several operations share. */
import { isJson, type Json } from './wire.js';

/** The required access settings, each with its most restrictive value. */
export const settingsFor = (datamartName: string): Json => ({
  datamartName,
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: false,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: false,
  metricCreationMode: 'DRAG_DROP',
});

const listNames = (rows: readonly unknown[] | undefined, member: (row: Json) => Json): readonly Json[] =>
  (rows ?? []).filter(isJson).map(member);

const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The tables of a listed datamart in the shape of an update. */
export const tablesOf = (listed: Json): readonly Json[] =>
  listNames(arrayOf(listed.datamartTables), (table) => ({
    name: table.tableName,
    ...(table.schemaName === '' || table.schemaName === null ? {} : { schemaName: table.schemaName }),
    ...(typeof table.clientColumn === 'string' ? { clientColumn: table.clientColumn } : {}),
    columns: listNames(
      arrayOf(table.datamartTableColumns).filter((column) => isJson(column) && column.isCustomColumn !== true),
      (column) => ({ name: column.columnName }),
    ),
  }));

/** The tenancy of a listed datamart in the shape of an update. */
export const tenancyOf = ({ datamartOrganization: listed }: Json): Json | undefined =>
  isJson(listed)
    ? {
        ...Object.fromEntries(Object.entries(listed).filter(([, value]) => typeof value === 'string')),
        tenancyLevel: listed.tenancyLevel === 'ROW' ? 'TABLE' : listed.tenancyLevel,
      }
    : undefined;
