/** The datamart that `model sync` compares: from its definition file if the folder has one, else from the service. */
import type { z } from 'zod';
import { isSameJson } from '../../model/canonical-json.js';
import { hintOf } from '../../model/nearest-name.js';
import type { AnswerOf } from '../../platform/http/interface/callable.js';
import { compareDatamart } from '../../service/dashboards/contract/compare-datamart.js';
import { listDatamarts } from '../../service/datamarts/contract/datamarts.js';
import { updateDatamart } from '../../service/datamarts/contract/writes.js';
import { type DefinitionFile, nameOf, readFolder, writeFolder } from '../files/folder.js';
import {
  canonicalDatamart,
  type DashboardFile,
  type DatamartFile,
  datamartFile,
  type StoredDashboard,
} from '../files/formats.js';
import { readKnown } from '../files/known.js';
import { type PlanStep, planSteps } from '../files/plan.js';
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

/** `newer`: what somebody changed in the service since the folder had it. */
type Read = {
  readonly ends: Ends;
  readonly folder: string;
  readonly files: readonly DefinitionFile[];
  readonly newer: readonly PlanStep[];
};

/** The metrics of the service that the file of their dashboard does not have, or has otherwise. */
const onlyStored = ({ value }: StoredDashboard, file: DashboardFile): DashboardFile => ({
  ...value,
  layout: [],
  filters: [],
  metrics: value.metrics.filter((metric) => !file.metrics.some((other) => isSameJson(metric, other))),
});

/** Those of the files, and what the service has beside them: what was made in Studio since may be in no file yet. */
const dashboardsOf = ({ files, newer }: Pick<Read, 'files' | 'newer'>, stored: Stored) => {
  const ofFiles = files.flatMap((file) => (file.kind === 'dashboard' ? [file] : []));
  const others = stored.dashboards.flatMap((dashboard) => {
    const name = nameOf({ kind: 'dashboard', value: dashboard.value });
    const file = ofFiles.find((each) => nameOf(each) === name);
    if (file === undefined) return [{ name, value: dashboard.value }];
    return newer.some((step) => step.name === name) ? [{ name, value: onlyStored(dashboard, file.value) }] : [];
  });
  const named = (name: string, value: DashboardFile) => ({ name, content: contentOf(value) });
  return [
    ...ofFiles.map(({ value, file }) => named(file, value)),
    ...others.map(({ name, value }) => named(name, value)),
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

const modelOf = ({ tableList, relationships, sharedTables, tenancySettings }: DatamartFile) => ({
  ...{ tableList, relationships, sharedTables },
  ...(tenancySettings === undefined ? {} : { tenancySettings }),
});

const pushCommands = (folder: string, newer: readonly PlanStep[]): string => {
  if (newer.length === 0) return `guestlist push ${folder}`;
  const names = newer.map(({ name }) => name).join(', ');
  return `guestlist pull ${folder}, since ${names} is newer in the service, and then guestlist push ${folder}`;
};

const saverOf = (
  { ends, folder, files, newer }: Read,
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
    if (newer.some((step) => step.file === file))
      throw new WrongCall(
        `nothing was saved: the service has a newer datamart than ${file}; run guestlist pull ${folder}`,
      );
    await writeFolder(folder, files, [{ kind: 'datamart', value: next }]);
    return [`written: ${folder}/${file}. The service has it after: ${pushCommands(folder, newer)}`];
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
  const newer = planSteps(files, stored, await readKnown(folder), false).filter(({ isNewer }) => isNewer);
  const { save, update } = saverOf({ ends, folder, files, newer }, value, listed, file);
  const dashboards = dashboardsOf({ files, newer }, stored);
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
