/** `guestlist tenants apply`, `rollback` and `rollouts`: the gateway does the work, and goes on with it when this is ended. */
import { setTimeout as wait } from 'node:timers/promises';
import type { AnswerOf } from '../gateway/common/admin-command.js';
import { applyRollout, listRollouts, readRollout, resumeRollout, rollBack } from '../gateway/rollout/commands.js';
import { parseOptions } from './kit/options.js';
import { tableText, withProgress } from './kit/terminal.js';
import { callGateway } from './operator.js';
import { writeConflicts } from './tenants-plan.js';
import { readCount, WrongCall } from './wrong-call.js';

export const rolloutUsage = `  guestlist tenants plan TEMPLATE            how far the content of each tenant's copy is from the template, and what a
                                             roll-out would do. Access settings are not compared: see docs/how-to/dashboards.md
  guestlist tenants apply TEMPLATE [--canary A,B] [--steps 10,50,100] [--max-failures N] [--version V]
                         [--on-conflict leave|keep-tenant] [--adopt] [--label NAME] [--pause]
                                             bring the template to the tenants, cohort by cohort. --version: only what
                                             was planned. --adopt: copies of unknown origin that equal a known version.
                                             --pause: wait after each step until it is resumed. Before anything is
                                             written, changed metrics are run for the canary tenants
  guestlist tenants apply --resume ID        go on with one that was paused, stopped or interrupted
  guestlist tenants rollback ID              give back exactly what was there before, but for what was edited since
  guestlist tenants rollouts [ID]            which there were; how one stands`;

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

const write = (last: Status, isJson: boolean): number => {
  const isInterrupted = last.state === 'running' || last.state === 'rolling-back';
  if (isJson) console.log(JSON.stringify(last, null, 2));
  else {
    const rows = last.tenants.map((one) => [
      one.state,
      one.clientId,
      one.cohort,
      [one.fault, writeConflicts(one.conflicts)].filter(Boolean).join(': '),
    ]);
    if (rows.length > 0) console.log(tableText(['STATE', 'TENANT', 'COHORT', 'WHY'], rows));
    console.log(`${last.id} ${isInterrupted ? 'was interrupted; ' : ''}${progress(last)}`);
    if (isInterrupted || last.state === 'paused' || last.state.endsWith('stopped')) {
      const again = last.state.startsWith('roll') ? 'rollback' : 'apply --resume';
      console.log(`To go on: guestlist tenants ${again} ${last.id}`);
    }
  }
  return ['finished', 'paused', 'rolled-back'].includes(last.state) ? 0 : 1;
};

const pollMs = 500;

/** Tells how far it is until it ends. */
const follow = async (
  command: typeof applyRollout | typeof resumeRollout | typeof rollBack,
  input: object,
  url: string | undefined,
  isJson: boolean,
): Promise<number> => {
  const { id } = await callGateway(command, input, url);
  const last = await withProgress(async (say) => {
    for (;;) {
      const now = await callGateway(readRollout, { id }, url);
      if (isAtEnd(now)) return now;
      say(progress(now));
      await wait(pollMs);
    }
  });
  return write(last, isJson);
};

const common = { url: { type: 'string' }, json: { type: 'boolean', default: false } } as const;

const listOf = (text: string): readonly string[] => text.split(',').filter((part) => part !== '');

export const tenantsApply = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: {
      ...common,
      canary: { type: 'string', default: '' },
      steps: { type: 'string', default: '100' },
      'max-failures': { type: 'string', default: '0' },
      'on-conflict': { type: 'string', default: 'leave' },
      adopt: { type: 'boolean', default: false },
      pause: { type: 'boolean', default: false },
      version: { type: 'string' },
      label: { type: 'string' },
      resume: { type: 'string' },
    },
  });
  const { url, json, resume, version, label } = values;
  const [template, ...rest] = positionals;
  if (rest.length > 0 || (template === undefined) === (resume === undefined))
    throw new WrongCall('tenants apply takes the name of one template, or --resume with the id of a roll-out');
  if (resume !== undefined) return follow(resumeRollout, { id: resume }, url, json);
  const input = {
    template,
    canary: listOf(values.canary),
    steps: listOf(values.steps).map((step) => readCount('--steps', step)),
    maxFailures: readCount('--max-failures', values['max-failures']),
    onConflict: values['on-conflict'],
    isAdopting: values.adopt,
    isPausing: values.pause,
    ...(version === undefined ? {} : { version }),
    ...(label === undefined ? {} : { label }),
  };
  return follow(applyRollout, input, url, json);
};

export const tenantsRollback = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options: common });
  const [id, ...rest] = positionals;
  if (id === undefined || rest.length > 0) throw new WrongCall('tenants rollback takes the id of one roll-out');
  return follow(rollBack, { id }, values.url, values.json);
};

export const tenantsRollouts = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options: common });
  const [id] = positionals;
  if (id !== undefined) return write(await callGateway(readRollout, { id }, values.url), values.json);
  const { rollouts } = await callGateway(listRollouts, {}, values.url);
  if (values.json) console.log(JSON.stringify(rollouts, null, 2));
  else {
    const rows = rollouts.map((one) => [one.id, one.template, one.version.slice(0, 12), one.state]);
    console.log(tableText(['ID', 'TEMPLATE', 'VERSION', 'STATE'], rows));
  }
  return 0;
};
