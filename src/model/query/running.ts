/**
 * What runs now in the processes of an installation, as operators see it. Nothing here holds a row or a value of a filter.
 * Moments are ISO 8601 texts by the common clock of all processes, since one process reads what another one has written.
 */
import type { LiveEngine, LiveSource } from './live.js';

/**
 * `download`: the rows of a file. `build`: a rollup. `delivery`: a report or an alert. `login`: a request for a token.
 * `provisioning`: the copies of dashboards for one tenant. `hook`: an event of a tenant's life.
 */
export const workKinds = [
  ...(['query', 'download', 'build', 'delivery', 'rollout'] as const),
  ...(['login', 'provisioning', 'hook'] as const),
] as const;
export type WorkKind = (typeof workKinds)[number];

/** Whose it is, and where its answer is shown. Null: of none, or not known. */
type Told = {
  readonly dataAppId: string | null;
  readonly clientId: string | null;
  readonly dashboardId: string | null;
  readonly metricId: string | null;
  /** As in the log. */
  readonly requestId: string | null;
};

type Named = {
  readonly kind: WorkKind;
  /**
   * What it is at: the data source, the rollup with its datamart, the template, the id of the schedule, the data app of a
   * login, or the event of a hook.
   */
  readonly subject: string;
  /** Whether somebody can end it. A message that leaves cannot be taken back. */
  readonly canEnd: boolean;
};

export type NewWork = Named & Partial<Told>;

export type Work = Named &
  Told & {
    /** A number in its process. */
    readonly number: number;
    /** When it came. */
    readonly since: string;
    /** When it began. Null: it waits for its turn. */
    readonly runsSince: string | null;
  };

/** One process of the installation. */
export type RunningProcess = LiveEngine & {
  /** Another one after each start. */
  readonly instance: string;
  /** The name of its machine or container. */
  readonly name: string;
  readonly version: string;
  readonly startedAt: string;
  /** The oldest ones. */
  readonly works: readonly Work[];
  /** How many there are besides those. */
  readonly others: number;
};

/** Names one work of one process. The kind is part of it, since who may end a work depends on its kind. */
export type WorkRef = Pick<Work, 'kind' | 'number'> & Pick<RunningProcess, 'instance'>;

/** `over`: it does not run any more. `unanswered`: its process did not answer in time. */
export const endOutcomes = ['ended', 'over', 'unanswered'] as const;
export type EndOutcome = (typeof endOutcomes)[number];

type Running = {
  /** Aborts with the given signal, and when an operator ends the work. */
  readonly signal: AbortSignal | undefined;
  /** Called when the work stops waiting. */
  readonly begins: () => void;
  /** Tells for which tenant it is, where that is known only during the work. */
  readonly isFor: (clientId: string) => void;
};

/** The works of this process. */
export type RunningWork = {
  /**
   * Lists the work while it runs. It waits until it calls `begins`. If an operator ends it, its signal aborts, and what it
   * rejects with is replaced by a refusal that says so.
   */
  readonly during: <R>(
    of: NewWork,
    work: (running: Running) => Promise<R>,
    signal?: AbortSignal | undefined,
  ) => Promise<R>;
  /** The oldest first. */
  readonly list: () => readonly Work[];
  /** Ends the work. False: it is over, or cannot be ended. */
  readonly end: (ref: Pick<WorkRef, 'kind' | 'number'>) => boolean;
};

/** The name by which a work is ended. */
export const workIdOf = ({ kind, instance, number }: WorkRef): string => `${kind}.${instance}.${number}`;

/** Reads what `workIdOf` wrote. */
export const workRefOf = (id: string): WorkRef => {
  const [kind = '', instance = '', number = ''] = id.split('.');
  return { kind: workKinds.find((one) => one === kind) ?? 'query', instance, number: Number(number) };
};

/** What operators read. `bytes` null: this reader may not know. */
export type ToldProcess = Omit<RunningProcess, 'works' | 'sources' | 'cache'> & {
  /** Whether this is the process that answers. */
  readonly isAnswering: boolean;
  readonly sources: readonly LiveSource[];
  readonly cache: { readonly bytes: number | null; readonly maxBytes: number } | null;
};

export type ToldWork = Pick<
  Work,
  'kind' | 'subject' | 'since' | 'clientId' | 'dashboardId' | 'metricId' | 'requestId'
> & {
  /** Null: it cannot be ended. */
  readonly id: string | null;
  readonly state: 'waiting' | 'running';
  /** How long it is in its state. */
  readonly seconds: number;
  /** The instance that runs it. */
  readonly process: string;
  readonly dataAppName: string | null;
};

export type ToldRunning = {
  readonly processes: readonly ToldProcess[];
  readonly works: readonly ToldWork[];
  /** Messages that are due, and for how long the oldest has waited. */
  readonly waitingDeliveries: { readonly count: number; readonly seconds: number };
};
