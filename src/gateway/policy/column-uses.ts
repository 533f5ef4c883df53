/** The columns that a policy names, with what names them: rules, restrictions, and access settings of templates. Pure. */
import { basename } from 'node:path';
import type { FilterColumns } from '../../model/dashboard/embed.js';
import type { ColumnRef } from '../../model/datamart/datamart.js';
import type { Policy } from './policy.js';

export type ColumnUse = { readonly name: string; readonly columns: readonly ColumnRef[] };

const refOf = (path: string): readonly ColumnRef[] => {
  const [, schemaName, tableName, columnName] = /^([^.]+)\.([^.]+)\.(.+)$/s.exec(path) ?? [];
  return schemaName === undefined || tableName === undefined || columnName === undefined
    ? []
    : [{ schemaName, tableName, columnName }];
};

type Given = {
  readonly dashboardFilterColumns?: readonly FilterColumns[] | undefined;
  readonly metricFilterColumns?: readonly FilterColumns[] | undefined;
};
type NamedRule = { readonly name: string; readonly grant: { readonly accessPermissions?: Given | undefined } };
type NamedRestriction = {
  readonly name: string;
  readonly restrict: {
    readonly hideColumns: readonly string[];
    readonly maskColumns: Readonly<Record<string, string>>;
  };
};

export const usesOfRule = ({ name, grant: { accessPermissions: given = {} } }: NamedRule): ColumnUse => {
  const lists = [...(given.dashboardFilterColumns ?? []), ...(given.metricFilterColumns ?? [])];
  const paths = lists.flatMap(({ tableName, columns }) => columns.map((column) => `${tableName}.${column}`));
  return { name: `rule ${JSON.stringify(name)}`, columns: paths.flatMap(refOf) };
};

export const usesOfRestriction = ({ name, restrict: { hideColumns, maskColumns } }: NamedRestriction): ColumnUse => ({
  name: `restriction ${JSON.stringify(name)}`,
  columns: [...hideColumns, ...Object.keys(maskColumns)].flatMap(refOf),
});

type Settings = {
  readonly tableTenancySettings?: readonly { readonly name: string; readonly clientColumn: string }[] | undefined;
};

export const usesOfTemplate = (name: string, { tableTenancySettings = [] }: Settings): ColumnUse => ({
  name: `template ${JSON.stringify(name)}`,
  columns: tableTenancySettings.flatMap((table) => refOf(`${table.name}.${table.clientColumn}`)),
});

/** `where`: the file and line. Those of overrides are among them. */
export type PlacedUse = ColumnUse & { readonly where: string };

/** Returns what names columns, of the overrides of tenants too. */
export const columnUses = (policy: Policy): readonly PlacedUse[] => {
  const all = [policy, ...policy.overrides.values()];
  const rules = new Set(all.flatMap((one) => one.rules));
  const restrictions = new Set(all.flatMap((one) => one.restrictions));
  const where = (at: string): string => basename(at).replace(/:\d+$/, '');
  return [
    ...[...policy.templates.values()].map(({ template, accessSettings }) => ({
      ...usesOfTemplate(template, accessSettings),
      where: basename(policy.file),
    })),
    ...[...rules].map((one) => ({ ...usesOfRule(one), where: where(one.when.at) })),
    ...[...restrictions].map((one) => ({ ...usesOfRestriction(one), where: where(one.when.at) })),
  ].filter(({ columns }) => columns.length > 0);
};
