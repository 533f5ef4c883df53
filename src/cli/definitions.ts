/** `guestlist pull`, `plan` and `push`: a folder of YAML files and the service that they describe. */
import { dirname, join, resolve } from 'node:path';
import { configuredPolicies, readOperatorSettings } from '../main.js';
import { assertNoFileFaults, FileFaults, hintOf } from './files/faults.js';
import { type DefinitionFile, definitionsOf, readFolder, writeFolder } from './files/folder.js';
import { formats, kinds } from './files/formats.js';
import { changing, type PlanStep, planFaults, planSteps, planText, stepJson, stepLines } from './files/plan.js';
import { policyFaults, WriteFault } from './files/policies.js';
import { pushStep } from './files/push.js';
import { type Ends, readStored, type Stored } from './files/service.js';
import { parseOptions } from './kit/options.js';
import { tableText, withProgress } from './kit/terminal.js';
import { isThisMachine, OperatorError } from './operator.js';
import { assertGatewayReads, assertPolicyTaken } from './policy-in-force.js';
import { connectToService } from './service-client.js';
import { WrongCall } from './wrong-call.js';

const defaultFolder = 'definitions';

const ending = `  --json         print the answer as JSON
  --url URL      the service; left out: where the configuration says that it listens

FOLDER is ${defaultFolder} if it is left out. It holds datamarts, dashboards, embeds and policies, each a folder with
NAME.yaml. The command asks the running service with GUESTLIST_SERVICE_TOKEN, or the token in the data folder, and for
embeds with GUESTLIST_API_KEY. The policy is the one that the configuration names, on the gateway's machine. Exit codes: 0 for success, 1 if the
service refused or did not answer, 2 if a file has faults or the command was called wrongly.`;

const usages = {
  pull: `guestlist pull [FOLDER]: write datamarts, template dashboards, embeds and the policy into files

  --workspace W  only the dashboards and embeds of this workspace; may be given several times
${ending}

A file that describes an object already is written anew if it says something else. Other files stay as they are.`,
  plan: `guestlist plan [FOLDER]: say what push would do

  --delete       also what the service has and no file describes
${ending}`,
  push: `guestlist push [FOLDER]: create and change what the files describe; see plan

  --delete       also delete what plan --delete lists; needs --yes
  --yes          confirms what cannot be undone; without it, nothing is deleted
${ending}

It stops at the first failure and says what is done and what is not. It can be repeated.`,
} as const;
export type DefinitionsCommand = keyof typeof usages;

type Options = {
  readonly folder: string;
  readonly workspaces: readonly string[] | undefined;
  readonly isDeleting: boolean;
  readonly isConfirmed: boolean;
};
type Answer = { readonly json: unknown; readonly text: string; readonly notes?: readonly string[] };

/** What was left out, and why. */
const pullNotes = ({ embeds, policy }: Stored): readonly string[] => [
  ...(embeds === undefined ? ['embeds were left out: GUESTLIST_API_KEY is not set'] : []),
  ...(embeds?.repeated ?? []).map((name) => `the embeds "${name}" were left out: several have this name`),
  ...(policy === undefined || policy.outside.length === 0
    ? []
    : [`the policy was left out: it has files in other folders (${policy.outside.join(', ')})`]),
];

const pull = async (ends: Ends, { folder, workspaces }: Options): Promise<Answer> => {
  const files = await readFolder(folder);
  const stored = await readStored(ends, (name) => workspaces?.includes(name) ?? true);
  for (const name of workspaces ?? []) {
    if (stored.workspaces.includes(name)) continue;
    throw new OperatorError(`There is no workspace "${name}"; ${hintOf(name, stored.workspaces, 'there are')}`);
  }
  // A policy beside the folder is a file of the same project already.
  const isBeside = stored.policy !== undefined && dirname(stored.policy.path) === dirname(resolve(folder));
  const policy = isBeside && !files.some(({ kind }) => kind === 'policy') ? undefined : stored.policy;
  const pulled = await writeFolder(folder, files, definitionsOf({ ...stored, policy }));
  const rows = pulled.map(({ action, file, name }) => [action, file, name]);
  return {
    json: pulled,
    text: tableText(['ACTION', 'FILE', 'NAME'], rows, 'The service has none.'),
    notes: pullNotes(stored),
  };
};

/** Returns the plan. Throws WrongCall with every fault of the files, also those that only the service knows. */
const makePlan = async (ends: Ends, { folder, isDeleting }: Options): Promise<readonly PlanStep[]> => {
  const files: readonly DefinitionFile[] = await readFolder(folder);
  if (files.length === 0)
    throw new WrongCall(`${folder} has no ${kinds.map((kind) => `${formats[kind].folder}/*.yaml`).join(', ')}`);
  const named = new Set(files.flatMap((file) => (file.kind === 'dashboard' ? [file.value.workspaceName] : [])));
  // An embed of the same name may be in any workspace.
  const hasEmbeds = files.some(({ kind }) => kind === 'embed');
  const stored = await readStored(ends, (name) => hasEmbeds || named.has(name));
  const policies = files.flatMap((file) => (file.kind === 'policy' ? [file.value.file] : []));
  assertNoFileFaults([
    ...planFaults(files, stored),
    ...policyFaults(join(folder, formats.policy.folder), policies, stored.policy),
  ]);
  return planSteps(files, stored, isDeleting);
};

const plan = async (ends: Ends, options: Options): Promise<Answer> => {
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
      const said = `${cause.message}\nFailed: ${listNames([step])}.`;
      const rest = `Done: ${listNames(changes.slice(0, at))}. Not done: ${listNames(changes.slice(at + 1))}.`;
      throw new OperatorError(`${said}\n${rest} Mend it and push again.`, { cause });
    }
  }
  return lines;
};

const push = async (ends: Ends, options: Options): Promise<Answer> => {
  const steps = await makePlan(ends, options);
  const changes = changing(steps);
  if (changes.some(({ action }) => action === 'delete') && !options.isConfirmed)
    throw new WrongCall(
      `a deletion cannot be undone, and nothing was done. To do this, add --yes:\n${planText(steps)}`,
    );
  const path = changes.some(({ kind }) => kind === 'policy') ? ends.policyPath : undefined;
  if (path !== undefined) await assertGatewayReads(path, ends.url);
  const lines = await withProgress((say) => pushSteps(ends, changes, say));
  if (path !== undefined) await assertPolicyTaken(path, ends.url);
  const text = lines.length === 0 ? planText([]) : lines.join('\n');
  return { json: changes.map(stepJson), text };
};

const commands = { pull, plan, push } as const;

/** Throws WrongCall for faults of the files: the command was given what it cannot read. */
const run = async (name: DefinitionsCommand, ends: Ends, options: Options): Promise<Answer> => {
  try {
    return await commands[name](ends, options);
  } catch (cause) {
    throw cause instanceof FileFaults ? new WrongCall(cause.message, { cause }) : cause;
  }
};

/** The policy is the gateway's only where the command runs on the gateway's machine. */
const findEnds = async (url: string | undefined): Promise<Ends> => ({
  service: await connectToService('serviceToken', url),
  dataApp: readOperatorSettings().apiKey === null ? undefined : await connectToService('apiKey', url),
  policyPath: url === undefined || isThisMachine(new URL(url).hostname) ? configuredPolicies() : undefined,
  url,
});

const flags = {
  pull: { workspace: { type: 'string', multiple: true } },
  plan: { delete: { type: 'boolean' } },
  push: { delete: { type: 'boolean' }, yes: { type: 'boolean' } },
} as const;

/** Runs one of the three commands. Returns the exit code; throws WrongCall and OperatorError. */
export const runDefinitions = async (name: DefinitionsCommand, args: readonly string[]): Promise<number> => {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usages[name]);
    return 0;
  }
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: { ...flags[name], json: { type: 'boolean' }, url: { type: 'string' } },
  });
  const [folder = defaultFolder, ...tooMuch] = positionals;
  if (tooMuch.length > 0)
    throw new WrongCall(`"guestlist ${name}" takes one folder: "${tooMuch.join(' ')}" is too much`);
  const given: Readonly<Record<string, unknown>> = values;
  const {
    json,
    text,
    notes = [],
  } = await run(name, await findEnds(values.url), {
    folder,
    workspaces: Array.isArray(given.workspace) ? given.workspace : undefined,
    isDeleting: given.delete === true,
    isConfirmed: given.yes === true,
  });
  for (const note of notes) console.error(`guestlist: ${note}`);
  console.log(values.json === true ? JSON.stringify(json, null, 2) : text);
  return 0;
};
