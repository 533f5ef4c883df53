/**
 * Reads and checks the demo's data from `config/demo/`. This folder is the complete server side of the demo: data,
 * organization and host page. Only `src/compose/` may import it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { identifier } from '../platform/http/interface/fields.js';
import type { ExportedDashboard } from '../service/dashboards/contract/export.js';
import { readExport } from '../service/dashboards/contract/versions.js';

const table = z.strictObject({
  name: identifier,
  schemaName: identifier,
  clientColumn: identifier.nullable().default(null),
  tenancyPath: identifier.nullable().default(null),
  label: z.string().default(''),
  columns: z.array(z.strictObject({ name: identifier, datatype: identifier, label: z.string().default('') })).min(1),
});

const relationship = z.strictObject({
  relationshipName: identifier,
  parentTableName: identifier,
  parentColumnName: identifier,
  childTableName: identifier,
  childColumnName: identifier,
  cardinality: z.enum(['ManyToMany', 'ManyToOne', 'OneToMany', 'OneToOne']),
  join: z.enum(['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']),
});

const organization = z.strictObject({
  dataApp: identifier,
  datasource: z.strictObject({ name: identifier, datasourceType: z.literal('DUCKDB'), path: z.string() }),
  workspace: z.strictObject({ name: identifier, connectionType: z.literal('DATAMART'), datamartName: identifier }),
  datamart: z.strictObject({
    name: identifier,
    datasourceName: identifier,
    tenancySettings: z.strictObject({
      tenancyLevel: z.literal('TABLE'),
      clientColumnType: z.enum(['NUMBER', 'STRING']),
      schemaName: identifier,
      tableName: identifier,
      tableClientNameColumn: identifier,
      tablePrimaryKeyColumn: identifier,
    }),
    sharedTables: z.array(identifier),
    tableList: z.array(table).min(1),
    relationships: z.array(relationship),
  }),
  templates: z.array(z.string()).min(1),
});

const demoUser = z.strictObject({
  id: identifier,
  name: identifier,
  title: identifier,
  org_id: identifier,
  roles: z.array(identifier),
  region: identifier.optional(),
  zoneinfo: identifier.optional(),
  description: z.string(),
});
export type DemoUser = z.output<typeof demoUser>;

export type DemoBundle = {
  readonly organization: z.output<typeof organization>;
  readonly templates: readonly ExportedDashboard[];
  readonly users: readonly DemoUser[];
};

const readYaml = async (folder: string, file: string): Promise<unknown> =>
  parse(await readFile(join(folder, file), 'utf8'));

const check = <T>(schema: z.ZodType<T>, value: unknown, file: string): T => {
  const checked = schema.safeParse(value);
  if (!checked.success) throw new Error(`${file}: ${z.prettifyError(checked.error)}`);
  return checked.data;
};

const readTemplate = (value: unknown, file: string): ExportedDashboard => {
  try {
    return readExport(value);
  } catch (error) {
    throw error instanceof z.ZodError ? new Error(`${file}: ${z.prettifyError(error)}`) : error;
  }
};

/** Reads the bundle in `folder`. Throws an error with the file's name and all its faults. */
export const readDemoBundle = async (folder: string): Promise<DemoBundle> => {
  const described = check(organization, await readYaml(folder, 'organization.yaml'), 'organization.yaml');
  const { users } = check(
    z.strictObject({ users: z.array(demoUser) }),
    await readYaml(folder, 'users.yaml'),
    'users.yaml',
  );
  const templates = await Promise.all(
    described.templates.map(async (file) => readTemplate(JSON.parse(await readFile(join(folder, file), 'utf8')), file)),
  );
  return { organization: described, templates, users };
};
