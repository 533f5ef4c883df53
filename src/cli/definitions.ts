/** `guestlist pull`, `plan` and `push`: a folder of YAML files and the service that they describe. */
import { dirname, join, resolve } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { configuredPolicies, readOperatorSettings } from '../main.js';
import { hintOf } from '../model/nearest-name.js';
import { assertNoFileFaults, FileFaults } from './files/faults.js';
import {
  type DefinitionFile,
  definitionsOf,
  namedContent,
  type Pulled,
  pullFolder,
  readFolder,
} from './files/folder.js';
import { formats, kinds } from './files/formats.js';
import { addKnown, readKnown } from './files/known.js';
import {
  changing,
  type PlanStep,
  planFaults,
  planSteps,
  planText,
  sameInBoth,
  stepJson,
  stepLines,
} from './files/plan.js';
import { policyFaults, WriteFault } from './files/policies.js';
import { inFileWords, pushStep } from './files/push.js';
import { type Ends, readStored, type Stored } from './files/service.js';
import { type Answer, collect, jsonOption, printAnswer, serviceUrl, yesOption } from './kit/declare.js';
import { WrongCall } from './kit/exit.js';
import { tableText, withProgress } from './kit/terminal.js';
import { isThisMachine, OperatorError } from './operator.js';
import { assertGatewayReads, assertPolicyTaken } from './policy-in-force.js';
import { connectToService } from './service-client.js';

type Options = {
  readonly folder: string;
  readonly workspaces?: readonly string[] | undefined;
  readonly isDeleting?: true | undefined;
  readonly isConfirmed?: true | undefined;
  readonly isOverwriting?: true | undefined;
};
type Noted = Answer & { readonly notes?: readonly string[] };

/** What was left out, and why. */
const pullNotes = ({ embeds, policy }: Stored): readonly string[] => [
  ...(embeds === undefined ? ['embeds were left out: GUESTLIST_API_KEY is not set'] : []),
  ...(embeds?.repeated ?? []).map((name) => `the embeds "${name}" were left out: several have this name`),
  ...(policy === undefined || policy.outside.length === 0
    ? []
    : [`the policy was left out: it has files in other folders (${policy.outside.join(', ')})`]),
];

/** Files that were edited here while the object was changed in the service: a person decides which of the two stays. */
const conflictNotes = (pulled: readonly Pulled[], folder: string): readonly string[] =>
  pulled
    .filter(({ isNewer }) => isNewer)
    .map(
      ({ name, file }) =>
        `${name} was changed here and in the service, and ${file} was kept: guestlist pull --overwrite ${folder} takes ` +
        `the service's, guestlist push --overwrite ${folder} the file's`,
    );

const pull = async (ends: Ends, { folder, workspaces, isOverwriting }: Options): Promise<Noted> => {
  const files = await readFolder(folder);
  const stored = await readStored(ends, (name) => workspaces?.includes(name) ?? true);
  for (const name of workspaces ?? []) {
    if (stored.workspaces.includes(name)) continue;
    throw new OperatorError(`There is no workspace "${name}"; ${hintOf(name, stored.workspaces, 'there are')}`);
  }
  // A policy beside the folder is a file of the same project already.
  const isBeside = stored.policy !== undefined && dirname(stored.policy.path) === dirname(resolve(folder));
  const policy = isBeside && !files.some(({ kind }) => kind === 'policy') ? undefined : stored.policy;
  const pulled = await pullFolder(folder, files, definitionsOf({ ...stored, policy }), isOverwriting === true);
  const rows = pulled.map(({ action, file, name }) => [action, file, name]);
  return {
    json: pulled,
    text: tableText(['ACTION', 'FILE', 'NAME'], rows, 'The service has none.'),
    notes: [...pullNotes(stored), ...conflictNotes(pulled, folder)],
  };
};

const readAll = async (ends: Ends, folder: string) => {
  const files: readonly DefinitionFile[] = await readFolder(folder);
  if (files.length === 0)
    throw new WrongCall(`${folder} has no ${kinds.map((kind) => `${formats[kind].folder}/*.yaml`).join(', ')}`);
  const named = new Set(files.flatMap((file) => (file.kind === 'dashboard' ? [file.value.workspaceName] : [])));
  // An embed of the same name may be in any workspace.
  const hasEmbeds = files.some(({ kind }) => kind === 'embed');
  return { files, stored: await readStored(ends, (name) => hasEmbeds || named.has(name)) };
};

/** Returns the plan. Throws WrongCall with every fault of the files, also those that only the service knows. */
const makePlan = async (ends: Ends, { folder, isDeleting }: Options): Promise<readonly PlanStep[]> => {
  const { files, stored } = await readAll(ends, folder);
  const policies = files.flatMap((file) => (file.kind === 'policy' ? [file.value.file] : []));
  assertNoFileFaults([
    ...planFaults(files, stored),
    ...policyFaults(join(folder, formats.policy.folder), policies, stored.policy),
  ]);
  return planSteps(files, stored, await readKnown(folder), isDeleting === true);
};

/** Notes what the service and the files have in common: a later push may overwrite it. */
const remember = async (ends: Ends, folder: string): Promise<void> => {
  const { files, stored } = await readAll(ends, folder);
  const steps = planSteps(files, stored, await readKnown(folder), false);
  await addKnown(folder, sameInBoth(steps).map(namedContent));
};

/** Throws WrongCall if a step would lose what somebody changed in the service. */
const assertNotNewer = (steps: readonly PlanStep[], folder: string): void => {
  const newer = steps.filter(({ isNewer }) => isNewer);
  if (newer.length === 0) return;
  throw new WrongCall(
    `the service has changes that the files never had, and nothing was done:\n${planText(newer)}\n` +
      `To keep them, run guestlist pull ${folder}, which leaves files alone that you edited. To lose them, add --overwrite.`,
  );
};

const plan = async (ends: Ends, options: Options): Promise<Noted> => {
  const steps = await makePlan(ends, options);
  return { json: steps.map(stepJson), text: planText(steps) };
};

const listNames = (steps: readonly PlanStep[]): string =>
  steps.map(({ action, name }) => `${action} ${name}`).join(', ') || 'nothing';

/** Does the steps in their order. Throws OperatorError, which says what is done and what is not. */
const pushSteps = async (
  ends: Ends,
  changes: readonly PlanStep[],
  say: (text: string) => void,
): Promise<readonly string[]> => {
  const lines: string[] = [];
  for (const [at, step] of changes.entries()) {
    say(`${at + 1} of ${changes.length}: ${step.action} ${step.name}`);
    try {
      const said = await pushStep(ends, step);
      lines.push(...stepLines(step), ...said.map((line) => `  ${line}`));
    } catch (cause) {
      if (!(cause instanceof OperatorError || cause instanceof WriteFault)) throw cause;
      const said = `Failed: ${listNames([step])}, because ${inFileWords(step, cause.message)}`;
      const rest = `Done: ${listNames(changes.slice(0, at))}. Not done: ${listNames(changes.slice(at))}.`;
      throw new OperatorError(`${said}\n${rest} Mend it and push again.`, { cause });
    }
  }
  return lines;
};

/** What was done before a failure is remembered too: the file may be edited again to mend it. */
const pushAll = async (ends: Ends, changes: readonly PlanStep[], folder: string): Promise<readonly string[]> => {
  try {
    const lines = await withProgress((say) => pushSteps(ends, changes, say));
    await remember(ends, folder);
    return lines;
  } catch (cause) {
    if (!(cause instanceof OperatorError)) throw cause;
    await remember(ends, folder).catch((error: unknown) => {
      console.error(`guestlist: what was done could not be noted in ${folder}, so pull before the next push: ${error}`);
    });
    throw cause;
  }
};

const push = async (ends: Ends, options: Options): Promise<Noted> => {
  const steps = await makePlan(ends, options);
  const changes = changing(steps);
  if (changes.some(({ action }) => action === 'delete') && !options.isConfirmed)
    throw new WrongCall(
      `a deletion cannot be undone, and nothing was done. To do this, add --yes:\n${planText(steps)}`,
    );
  if (!options.isOverwriting) assertNotNewer(changes, options.folder);
  const path = changes.some(({ kind }) => kind === 'policy') ? ends.policyPath : undefined;
  if (path !== undefined) await assertGatewayReads(path, ends.url);
  const lines = await pushAll(ends, changes, options.folder);
  if (path !== undefined) await assertPolicyTaken(path, ends.url);
  const text = lines.length === 0 ? planText([]) : lines.join('\n');
  return { json: changes.map(stepJson), text };
};

/** The policy is the gateway's only where the command runs on the gateway's machine. */
export const findEnds = async (url: string | undefined): Promise<Ends> => ({
  service: await connectToService('serviceToken', url),
  dataApp: readOperatorSettings().apiKey === null ? undefined : await connectToService('apiKey', url),
  policyPath: url === undefined || isThisMachine(new URL(url).hostname) ? configuredPolicies() : undefined,
  url,
});

type Given = { readonly json?: true; readonly url?: string };

/** Throws OperatorError, and WrongCall for faults of the files: the command was given what it cannot read. */
const tell = async (
  run: (ends: Ends, options: Options) => Promise<Noted>,
  options: Options,
  { json, url }: Given,
): Promise<void> => {
  try {
    const { notes = [], ...answer } = await run(await findEnds(url), options);
    for (const note of notes) console.error(`guestlist: ${note}`);
    printAnswer(json, answer);
  } catch (cause) {
    throw cause instanceof FileFaults ? new WrongCall(cause.message, { cause }) : cause;
  }
};

const folderCommand = () =>
  new Command()
    .argument('[folder]', 'datamarts, dashboards, embeds and policies, each a folder with NAME.yaml', 'definitions')
    .addOption(jsonOption)
    .addOption(serviceUrl)
    .addHelpText(
      'after',
      `
It asks the running service with GUESTLIST_SERVICE_TOKEN, or the token in the data folder, and for
embeds with GUESTLIST_API_KEY. The policy is the one that the configuration names, on the gateway's
machine. Ends with 2 if a file has faults.`,
    );

export const pullCommand = folderCommand()
  .description(
    `Writes datamarts, template dashboards, embeds and the policy into files. A file that describes an object already is written
anew if it says something else, unless it was edited here. Other files stay as they are.`,
  )
  .option('--overwrite', 'also write files anew that were edited here')
  .option('--workspace <name>', 'only the dashboards and embeds of this workspace; may be given several times', collect)
  .action((folder, { workspace: workspaces, overwrite: isOverwriting, ...given }) =>
    tell(pull, { folder, workspaces, isOverwriting }, given),
  );

export const planCommand = folderCommand()
  .description('Says what push would do.')
  .option('--delete', 'also what the service has and no file describes')
  .action((folder, { delete: isDeleting, ...given }) => tell(plan, { folder, isDeleting }, given));

export const pushCommand = folderCommand()
  .description(
    `Creates and changes what the files describe; see plan. What somebody changed in the service since is not overwritten. Stops at the first failure and says what is done and what is not. It
can be repeated.`,
  )
  .option('--delete', 'also delete what plan --delete lists; needs --yes')
  .option('--overwrite', 'also overwrite what somebody changed in the service since the files were pulled or pushed')
  .addOption(yesOption)
  .action((folder, { delete: isDeleting, yes: isConfirmed, overwrite: isOverwriting, ...given }) =>
    tell(push, { folder, isDeleting, isConfirmed, isOverwriting }, given),
  );
