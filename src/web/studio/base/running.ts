/** What runs now in all processes, as rows of tables. */
import type { OperationAnswer } from './api.js';

export type Running = OperationAnswer<'readRunning'>['data'];
export type RunningProcess = Running['processes'][number];
export type Work = Running['works'][number];

/** Screens that show what runs read it anew after this time. */
export const pollMs = 5_000;

/** A process as people tell it from others: by its machine, and by its start where several share one. */
export const processName = ({ name, instance }: RunningProcess, all: readonly RunningProcess[]): string =>
  all.filter((one) => one.name === name).length > 1 ? `${name} (${instance.slice(0, 4)})` : name;

/** Seconds as a person reads them: in minutes, where they are many. */
export const duration = (seconds: number): string =>
  seconds < 120
    ? `${seconds.toLocaleString(undefined, { maximumFractionDigits: 1 })}\u00a0s`
    : `${Math.round(seconds / 60).toLocaleString()}\u00a0min`;

export const workWords: Readonly<Record<Work['kind'], string>> = {
  query: 'query',
  download: 'download',
  build: 'build of a rollup',
  delivery: 'delivery',
  rollout: 'roll-out',
  login: 'login',
  provisioning: 'making of dashboards',
  hook: 'event of a tenant',
};

export const outcomeWords = {
  ended: 'It was ended.',
  over: 'It was over already.',
  unanswered: 'The process that runs it did not answer within five seconds. Read again.',
} as const;
