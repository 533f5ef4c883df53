/** `guestlist tenants apply`, `rollback` and `rollouts`: the gateway does the work, and goes on with it when this is ended. */

import { setTimeout as wait } from 'node:timers/promises';
import { Option } from '@commander-js/extra-typings';
import { applyRollout, listRollouts, readRollout, resumeRollout, rollBack } from '../gateway/rollout/commands.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import { gatewayCommand, printJson, readCount, readNames } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { tableText, withProgress } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { nameColumn, readTenantNames, withName } from './tenant-names.js';
import { writeConflicts } from './tenants-plan.js';

type Status = AnswerOf<typeof readRollout>;

const progress = ({ state, cohorts }: Status): string =>
  [
    `${state}:`,
    ...cohorts.map(
      ({ name, states }) =>
        `[${name}] ${Object.entries(states)
          .map(([of, count]) => `${count} ${of}`)
          .join(', ')}`,
    ),
  ].join(' ');

const isAtEnd = ({ isAtWork }: Status): boolean => !isAtWork;

/** Throws Exit if the roll-out did not come to a good end. */
const write = async (last: Status, isJson: boolean, url: string | undefined): Promise<void> => {
  const ids = last.tenants.map(({ clientId }) => clientId);
  const names = await readTenantNames(ids, url);
  const isInterrupted = last.state === 'running' || last.state === 'rolling-back';
  if (isJson) printJson({ ...last, tenants: last.tenants.map((one) => withName(names, one)) });
  else {
    const { title, of } = nameColumn(names);
    const rows = last.tenants.map((one) => [
      one.state,
      one.clientId,
      ...of(one.clientId),
      one.cohort,
      [one.fault, writeConflicts(one.conflicts)].filter(Boolean).join(': '),
    ]);
    if (rows.length > 0) console.log(tableText(['STATE', 'TENANT', ...title, 'COHORT', 'WHY'], rows));
    console.log(`${last.id} ${isInterrupted ? 'was interrupted; ' : ''}${progress(last)}`);
    if (isInterrupted || last.state === 'paused' || last.state.endsWith('stopped')) {
      const again = last.state.startsWith('roll') ? 'rollback' : 'apply --resume';
      console.log(`To go on: guestlist tenants ${again} ${last.id}`);
    }
  }
  if (!['finished', 'paused', 'rolled-back'].includes(last.state)) throw new Exit();
};

const pollMs = 500;

/** Tells how far it is until it ends. */
const follow = async (
  command: typeof applyRollout | typeof resumeRollout | typeof rollBack,
  input: object,
  url: string | undefined,
  isJson: boolean,
): Promise<void> => {
  const { id } = await callGateway(command, input, url);
  const last = await withProgress(async (say) => {
    for (;;) {
      const now = await callGateway(readRollout, { id }, url);
      if (isAtEnd(now)) return now;
      say(progress(now));
      await wait(pollMs);
    }
  });
  await write(last, isJson, url);
};

const { onConflict } = applyRollout.input.shape;

export const tenantsApply = gatewayCommand('apply')
  .summary('bring a template to the tenants, cohort by cohort')
  .description(
    'Brings a template to the tenants, cohort by cohort. Before anything is written, changed metrics are run for the canary tenants.',
  )
  .argument('[template]', 'left out with --resume alone')
  .option('--canary <ids>', 'the tenants of the first cohort, with commas between them', readNames)
  .option('--steps <percentages>', 'how far each step goes, such as 10,50,100; 100 if left out', (text) =>
    readNames(text).map(readCount),
  )
  .option('--max-failures <n>', 'the failures after which it stops; 0 if left out', readCount)
  .option('--version <version>', 'only what was planned')
  .addOption(
    new Option('--on-conflict <choice>', 'what happens to a copy with conflicts; leave if left out').choices(
      onConflict.unwrap().options,
    ),
  )
  .option(
    '--adopt',
    'also copies of unknown origin that equal a known version, and settings whose earlier value is not known',
  )
  .option('--label <name>', 'a name for the version')
  .option('--pause', 'wait after each step until it is resumed')
  .option('--resume <id>', 'go on with a roll-out that was paused, stopped or interrupted')
  .action(async (template, { resume, adopt, pause, json = false, url, ...input }) => {
    if ((template === undefined) === (resume === undefined))
      throw new WrongCall('tenants apply takes the name of one template, or --resume with the id of a roll-out');
    if (resume !== undefined) await follow(resumeRollout, { id: resume }, url, json);
    else await follow(applyRollout, { ...input, template, isAdopting: adopt, isPausing: pause }, url, json);
  });

export const tenantsRollback = gatewayCommand('rollback')
  .summary('give back exactly what was there before a roll-out, but for what was edited since')
  .argument('<id>')
  .action((id, { json = false, url }) => follow(rollBack, { id }, url, json));

export const tenantsRollouts = gatewayCommand('rollouts')
  .summary('which roll-outs there were; how one stands')
  .argument('[id]')
  .action(async (id, { json = false, url }) => {
    if (id !== undefined) return write(await callGateway(readRollout, { id }, url), json, url);
    const { rollouts } = await callGateway(listRollouts, {}, url);
    if (json) return printJson(rollouts);
    const rows = rollouts.map((one) => [one.id, one.template, one.version.slice(0, 12), one.state]);
    console.log(tableText(['ID', 'TEMPLATE', 'VERSION', 'STATE'], rows));
  });
