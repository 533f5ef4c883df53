/** The tables and columns that a policy names: what restrictions hide and mask, and what rules and templates give. Pure. */
import { policySchema, tenantFileSchema } from '../../gateway/policy/schema.js';
import type { Use } from '../../model/datamart/change-breaks.js';
import type { ColumnRef } from '../../model/datamart/datamart.js';
import type { PolicyText } from '../files/policies.js';
import { WrongCall } from '../kit/exit.js';

const refOf = (path: string): readonly ColumnRef[] => {
  const [, schemaName, tableName, columnName] = /^([^.]+)\.([^.]+)\.(.+)$/s.exec(path) ?? [];
  return schemaName === undefined || tableName === undefined || columnName === undefined
    ? []
    : [{ schemaName, tableName, columnName }];
};

type Part = { readonly name: string; readonly paths: readonly string[] };
type Rules = NonNullable<ReturnType<typeof policySchema.safeParse>['data']>;

const ruleParts = ({ rules, restrictions }: Pick<Rules, 'rules' | 'restrictions'>): readonly Part[] => [
  ...rules.map(({ name, grant: { accessPermissions: given = {} } }) => {
    const lists = [...(given.dashboardFilterColumns ?? []), ...(given.metricFilterColumns ?? [])];
    const paths = lists.flatMap(({ tableName, columns }) => columns.map((column) => `${tableName}.${column}`));
    return { name: `rule ${JSON.stringify(name)}`, paths };
  }),
  ...restrictions.map(({ name, restrict: { hideColumns, maskColumns } }) => ({
    name: `restriction ${JSON.stringify(name)}`,
    paths: [...hideColumns, ...Object.keys(maskColumns)],
  })),
];

/** Throws WrongCall for a file of a policy that no gateway would read. */
const partsOf = ({ file, content }: PolicyText): readonly Part[] => {
  const ofTenants = tenantFileSchema.safeParse(content).data;
  if (ofTenants !== undefined) return ofTenants.tenants.flatMap(ruleParts);
  const policy = policySchema.safeParse(content).data;
  if (policy === undefined)
    throw new WrongCall(`${file} is no policy that a gateway reads, so what it restricts is not known: mend it first`);
  const templates = Object.entries(policy.templates).map(([name, { accessSettings }]) => ({
    name: `template ${JSON.stringify(name)}`,
    paths: (accessSettings.tableTenancySettings ?? []).map((table) => `${table.name}.${table.clientColumn}`),
  }));
  return [...templates, ...ruleParts(policy), ...policy.tenants.flatMap(ruleParts)];
};

export const policyUses = (text: PolicyText): readonly Use[] =>
  partsOf(text).map(({ name, paths }) => ({
    ...{ what: 'policy', name, where: text.file },
    ...{ tables: [], columns: paths.flatMap(refOf), sql: [] },
    typeFaults: () => [],
  }));
