/** The datamart that `model sync` compares: from its definition file if the folder has one, else from the service. */
import type { z } from 'zod';
import { usesOf } from '../../model/dashboard/content-uses.js';
import type { Use } from '../../model/datamart/change-breaks.js';
import { sourceKind } from '../../model/datamart/datatypes.js';
import { type Compared, type ModelParts, sourceTablesOf } from '../../model/datamart/source-changes.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { mergeTenancy } from '../../model/datamart/tenancy.js';
import { hintOf } from '../../model/nearest-name.js';
import type { DatasourceType } from '../../model/organization.js';
import { listDatamarts } from '../../service/datamarts/contract/datamarts.js';
import { updateDatamart } from '../../service/datamarts/contract/writes.js';
import { listDatasourceTables } from '../../service/datasources/contract/tables.js';
import { type DefinitionFile, nameOf, readFolder, writeFolder } from '../files/folder.js';
import { canonicalDatamart, type DatamartFile, datamartFile } from '../files/formats.js';
import { type Ends, readStored, type Stored } from '../files/service.js';
import { WrongCall } from '../kit/exit.js';
import { policyUses } from './policy-uses.js';

type Listed = z.output<(typeof listDatamarts)['output']>['data'][number];

export type Target = {
  readonly name: string;
  /** Null: no file of the folder describes the datamart, so the service is changed. */
  readonly file: string | null;
  readonly compared: Compared;
  readonly uses: readonly Use[];
  /** Writes the parts. Returns what is to say. */
  readonly save: (parts: ModelParts) => Promise<readonly string[]>;
  /** Takes the datatypes of the database, and changes nothing else. */
  readonly saveTypes: () => Promise<readonly string[]>;
};

const partsOf = ({ tableList, relationships, sharedTables, tenancySettings }: DatamartFile): ModelParts => ({
  ...{ tableList, relationships, sharedTables },
  tenancy: tenancySettings === undefined ? null : (mergeTenancy(null, tenancySettings) ?? null),
});

/** The file of the datamart with these parts. */
const withParts = (value: DatamartFile, { tenancy, ...parts }: ModelParts): DatamartFile => {
  const names =
    tenancy?.tenancyLevel === 'TABLE' && value.tenancySettings !== undefined
      ? { tenancySettings: { ...value.tenancySettings, ...tenancy } }
      : {};
  return canonicalDatamart(datamartFile.parse({ ...value, ...parts, ...names }), value);
};

/** The tables of a stored datamart, with the datatypes that it knows. Their keys are not stored. */
const storedTables = (listed: Listed | undefined, database: DatasourceType): readonly SourceTable[] =>
  (listed?.datamartTables ?? []).map(({ schemaName, tableName, datamartTableColumns }) => ({
    ...{ schemaName, tableName, primaryKey: [], uniqueKeys: [], foreignKeys: [] },
    columns: datamartTableColumns
      .filter(({ isCustomColumn }) => !isCustomColumn)
      .map(({ columnName, datatype }) => ({
        ...{ columnName, datatype, isNullable: true },
        kind: sourceKind(database, datatype),
      })),
  }));

const dashboardUses = (files: readonly DefinitionFile[], stored: Stored): readonly Use[] => {
  const ofFiles = files.flatMap((file) => (file.kind === 'dashboard' ? [file] : []));
  const others = stored.dashboards.filter(
    ({ value }) => !ofFiles.some((file) => nameOf(file) === nameOf({ kind: 'dashboard', value })),
  );
  return [
    ...ofFiles.flatMap(({ value, file }) => usesOf(value, file)),
    ...others.flatMap(({ value }) => usesOf(value, nameOf({ kind: 'dashboard', value }))),
  ];
};

const chosenName = (asked: string | undefined, names: readonly string[]): string => {
  const [only, second] = names;
  if (asked === undefined && only !== undefined && second === undefined) return only;
  if (asked === undefined && only !== undefined)
    throw new WrongCall(`name one of the datamarts by --datamart: ${names.join(', ')}`);
  if (asked !== undefined && names.includes(asked)) return asked;
  throw new WrongCall(
    asked === undefined
      ? 'There is no datamart yet.'
      : `There is no datamart "${asked}"; ${hintOf(asked, names, 'there are')}`,
  );
};

type Read = { readonly ends: Ends; readonly folder: string; readonly files: readonly DefinitionFile[] };

const saverOf = (
  { ends, folder, files }: Read,
  value: DatamartFile,
  listed: Listed | undefined,
  file: string | null,
) => {
  const update = async (next: DatamartFile): Promise<readonly string[]> => {
    const { tableList, relationships, sharedTables, tenancySettings } = next;
    const { warnings = [] } = await ends.service(updateDatamart, {
      datamartName: next.name,
      expectedUpdatedAt: listed?.updatedAt,
      ...{ tableList, relationships, sharedTables, tenancySettings },
    });
    return [`saved the datamart ${next.name} in the service`, ...warnings.map(({ message }) => `warning: ${message}`)];
  };
  const save = async (parts: ModelParts): Promise<readonly string[]> => {
    const next = withParts(value, parts);
    if (file === null) return update(next);
    await writeFolder(folder, files, [{ kind: 'datamart', value: next }]);
    return [`written: ${folder}/${file}. The service has it after: guestlist push ${folder}`];
  };
  return { save, update };
};

/** Throws WrongCall, and FileFaults for faults of the folder. */
export const readTarget = async (ends: Ends, folder: string, asked: string | undefined): Promise<Target> => {
  const files = await readFolder(folder);
  const stored = await readStored({ ...ends, dataApp: undefined }, () => true);
  const own = files.flatMap((file) => (file.kind === 'datamart' ? [file] : []));
  const names = [...new Set([...own.map(({ value }) => value.name), ...stored.datamarts.map((one) => one.name)])];
  const name = chosenName(asked, names);
  const listed = (await ends.service(listDatamarts, { expandDetails: true })).data.find((one) => one.name === name);
  const known = stored.datamarts.find((one) => one.name === name);
  const described = own.find(({ value }) => value.name === name);
  const value = described === undefined ? known : canonicalDatamart(described.value, known);
  if (value === undefined) throw new WrongCall(`The datamart "${name}" was deleted meanwhile.`);
  const { data } = await ends.service(listDatasourceTables, { name: value.datasourceName });
  const file = described?.file ?? null;
  const { save, update } = saverOf({ ends, folder, files }, value, listed, file);
  return {
    ...{ name, file, save },
    compared: {
      parts: partsOf(value),
      stored: storedTables(listed, data.datasourceType),
      tables: sourceTablesOf(data.tables),
    },
    uses: [...dashboardUses(files, stored), ...(stored.policy?.files ?? []).flatMap(policyUses)],
    saveTypes: () => (known === undefined ? Promise.resolve([]) : update(known)),
  };
};
