/** The datamart that `model sync` compares: from its definition file if the folder has one, else from the service. */
import type { z } from 'zod';
import { hintOf } from '../../model/nearest-name.js';
import type { AnswerOf } from '../../platform/http/interface/callable.js';
import { compareDatamart } from '../../service/dashboards/contract/compare-datamart.js';
import { listDatamarts } from '../../service/datamarts/contract/datamarts.js';
import { updateDatamart } from '../../service/datamarts/contract/writes.js';
import { type DefinitionFile, nameOf, readFolder, writeFolder } from '../files/folder.js';
import { canonicalDatamart, type DashboardFile, type DatamartFile, datamartFile } from '../files/formats.js';
import { type Ends, readStored, type Stored } from '../files/service.js';
import { WrongCall } from '../kit/exit.js';
import { policyUses } from './policy-uses.js';

type Answer = AnswerOf<typeof compareDatamart>;
export type Offer = Answer['data'][number];
export type Change = Offer['change'];
export type Break = Offer['breaks'][number];
export type Accepted = NonNullable<Answer['accepted']>;

export type Target = {
  readonly name: string;
  /** Null: no file of the folder describes the datamart, so the service is changed. */
  readonly file: string | null;
  /** Compares the datamart with its database, and says what comes of the changes. */
  readonly compare: (accept: readonly Change[]) => Promise<Answer>;
  /** Writes the model of accepted changes. Returns what is to say. */
  readonly save: (model: Accepted['model']) => Promise<readonly string[]>;
  /** Takes the datatypes of the database, and changes nothing else. */
  readonly saveTypes: () => Promise<readonly string[]>;
};

type Listed = { readonly updatedAt: string };

const dashboardsOf = (files: readonly DefinitionFile[], stored: Stored) => {
  const ofFiles = files.flatMap((file) => (file.kind === 'dashboard' ? [file] : []));
  const others = stored.dashboards.filter(
    ({ value }) => !ofFiles.some((file) => nameOf(file) === nameOf({ kind: 'dashboard', value })),
  );
  const named = (name: string, value: DashboardFile) => ({ name, content: contentOf(value) });
  return [
    ...ofFiles.map(({ value, file }) => named(file, value)),
    ...others.map(({ value }) => named(nameOf({ kind: 'dashboard', value }), value)),
  ];
};

/** As an import takes it: a file has no lineage. */
const contentOf = ({ workspaceName: _, dashboardId: __, dashboardName: ___, ...content }: DashboardFile) => ({
  ...content,
  metrics: content.metrics.map((metric) => ({ ...metric, lineage: [] })),
});

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

const modelOf = ({ tableList, relationships, sharedTables, tenancySettings }: DatamartFile) => ({
  ...{ tableList, relationships, sharedTables },
  ...(tenancySettings === undefined ? {} : { tenancySettings }),
});

const saverOf = (
  { ends, folder, files }: Read,
  value: DatamartFile,
  listed: Listed | undefined,
  file: string | null,
) => {
  const update = async (next: DatamartFile): Promise<readonly string[]> => {
    const { warnings = [] } = await ends.service(updateDatamart, {
      ...{ datamartName: next.name, expectedUpdatedAt: listed?.updatedAt },
      ...modelOf(next),
    });
    return [`saved the datamart ${next.name} in the service`, ...warnings.map(({ message }) => `warning: ${message}`)];
  };
  const save = async (model: Accepted['model']): Promise<readonly string[]> => {
    const next = canonicalDatamart(datamartFile.parse({ ...value, ...model }), value);
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
  const listed = (await ends.service(listDatamarts, {})).data.find((one) => one.name === name);
  const known = stored.datamarts.find((one) => one.name === name);
  const described = own.find(({ value }) => value.name === name);
  const value = described === undefined ? known : canonicalDatamart(described.value, known);
  if (value === undefined) throw new WrongCall(`The datamart "${name}" was deleted meanwhile.`);
  const file = described?.file ?? null;
  const { save, update } = saverOf({ ends, folder, files }, value, listed, file);
  const dashboards = dashboardsOf(files, stored);
  const uses = (stored.policy?.files ?? []).flatMap(policyUses);
  return {
    ...{ name, file, save },
    compare: (accept) => {
      const compared = { datamartName: name, model: modelOf(value), dashboards, uses, accept };
      return ends.service(compareDatamart, compared as z.input<(typeof compareDatamart)['input']>);
    },
    saveTypes: () => (known === undefined ? Promise.resolve([]) : update(known)),
  };
};
