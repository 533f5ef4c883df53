/** What a person has to do now: what fails, what waits, and the page that mends each. */
import { counted } from '../../../model/texts/counted.js';

type Part = { readonly name: string; readonly isGood: boolean };
type Source = { readonly name: string; readonly lastError: { readonly isOver: boolean } | null };
type Rollout = { readonly id: string; readonly template: string; readonly state: string };
type Schedule = { readonly isPaused: boolean; readonly last: { readonly state: string } | null };
type Query = { readonly clientId: string | null };
type KeySet = { readonly of: string; readonly isFailing: boolean };

/** `changes`: what no tenant sees yet. `unreadable`: cards whose rows belong to nobody. */
export type WaitingTemplate = {
  readonly template: string;
  readonly name: string;
  readonly changes: number;
  readonly unreadable: readonly { readonly name: string }[];
};

/** What was read. Left out: the person may not read it. */
export type Watched = {
  readonly system?: { readonly checks: readonly Part[] };
  /** The sources of each process. */
  readonly processes?: readonly { readonly sources: readonly Source[] }[];
  readonly rollouts?: readonly Rollout[];
  readonly schedules?: readonly Schedule[];
  readonly failedQueries?: readonly Query[];
  readonly templates?: readonly WaitingTemplate[];
  readonly keySets?: readonly KeySet[];
  /** What the policy names and the service does not have. */
  readonly unknownNames?: number;
};

/** `path`, `rest` and `query`: the page that mends it. `mend`: what is done there. */
export type Concern = {
  readonly text: string;
  readonly kind: 'bad' | 'warn' | 'plain';
  readonly mend: string;
  readonly path: string;
  readonly rest?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
};

const rolloutWords: Readonly<Record<string, readonly [kind: Concern['kind'], words: string, mend: string]>> = {
  running: ['plain', 'is under way', 'Watch it'],
  'rolling-back': ['plain', 'is being taken back', 'Watch it'],
  paused: ['warn', 'waits for you', 'Continue or take it back'],
  stopped: ['bad', 'stopped', 'See why'],
  'rollback-stopped': ['bad', 'stopped while it was taken back', 'See why'],
};

/** An earlier roll-out of a template no longer matters once a later one has begun. `rollouts`: newest first. */
const ofRollouts = (rollouts: readonly Rollout[]): readonly Concern[] =>
  rollouts
    .filter(({ template }, at) => rollouts.findIndex((each) => each.template === template) === at)
    .flatMap(({ id, template, state }) => {
      const known = rolloutWords[state];
      if (known === undefined) return [];
      const [kind, words, mend] = known;
      return [{ text: `The roll-out of ${template} ${words}`, kind, mend, path: 'rollouts', rest: [id] }];
    });

const ofSystem = ({ checks }: NonNullable<Watched['system']>): readonly Concern[] =>
  checks
    .filter(({ isGood }) => !isGood)
    .map(
      ({ name }): Concern => ({
        ...{ text: `The part ${name} does not work`, kind: 'bad' },
        ...{ mend: 'See how to mend it', path: 'health' },
      }),
    );

/** A source that fails in several processes is one concern. */
const ofSources = (processes: NonNullable<Watched['processes']>): readonly Concern[] => {
  const failing = processes.flatMap(({ sources }) => sources.filter(({ lastError }) => lastError?.isOver === false));
  return [...new Set(failing.map(({ name }) => name))].map(
    (name): Concern => ({
      ...{ text: `The source ${name} does not answer`, kind: 'bad' },
      ...{ mend: 'Check its connection', path: 'sources', rest: [name] },
    }),
  );
};

const ofSchedules = (schedules: readonly Schedule[]): readonly Concern[] => {
  const failed = schedules.filter(({ isPaused, last }) => !isPaused && last?.state === 'failed').length;
  if (failed === 0) return [];
  const text = `${counted(failed, 'report or alert', 'reports or alerts')} could not be delivered the last time`;
  return [{ text, kind: 'bad', mend: 'See the reasons', path: 'deliveries', query: { state: 'failed' } }];
};

/** One line for each tenant, the one with the most first; the rest in one line. */
const mostTenants = 3;
const ofQueries = (failed: readonly Query[], tenantText: (id: string) => string): readonly Concern[] => {
  const counts = new Map<string | null, number>();
  for (const { clientId } of failed) counts.set(clientId, (counts.get(clientId) ?? 0) + 1);
  const all = [...counts].toSorted(([, one], [, other]) => other - one);
  const page = { kind: 'warn', mend: 'See the queries', path: 'queries', rest: ['failed'] } as const;
  const own = all.slice(0, mostTenants).map(([id, count]): Concern => {
    const of = id === null ? '' : ` of ${tenantText(id)}`;
    const text = `${counted(count, 'query', 'queries')}${of} failed within a day`;
    return { ...page, text, ...(id === null ? {} : { query: { tenant: id } }) };
  });
  const others = all.slice(mostTenants);
  if (others.length === 0) return own;
  return [
    ...own,
    { ...page, text: `Queries of ${counted(others.length, 'more tenant', 'more tenants')} failed within a day` },
  ];
};

const ofTemplates = (templates: readonly WaitingTemplate[]): readonly Concern[] =>
  templates.flatMap(({ template, name, changes, unreadable }): readonly Concern[] => [
    ...(unreadable.length === 0
      ? []
      : [
          {
            text: `${name} has ${counted(unreadable.length, 'card', 'cards')} whose rows belong to nobody`,
            ...({ kind: 'bad', mend: 'Say whose they are', path: 'models' } as const),
          },
        ]),
    ...(changes === 0
      ? []
      : [
          {
            text: `${name} has ${counted(changes, 'change', 'changes')} that no tenant sees yet`,
            ...({ kind: 'plain', mend: 'Roll out', path: 'rollouts', query: { template } } as const),
          },
        ]),
  ]);

const ofKeys = (sets: readonly KeySet[]): readonly Concern[] =>
  sets
    .filter(({ isFailing }) => isFailing)
    .map(
      ({ of }): Concern => ({
        ...{ text: `The keys of ${of} cannot be read: soon its users cannot log in`, kind: 'bad' },
        ...{ mend: 'See the keys', path: 'keys' },
      }),
    );

const ofNames = (unknown: number): readonly Concern[] =>
  unknown === 0
    ? []
    : [
        {
          text: `The policy names ${counted(unknown, 'thing that does', 'things that do')} not exist`,
          ...({ kind: 'warn', mend: 'Open the policy', path: 'policy' } as const),
        },
      ];

/** Worst first. `tenantText`: what a tenant is called. */
export const concernsOf = (
  {
    system,
    processes = [],
    rollouts = [],
    schedules = [],
    failedQueries = [],
    templates = [],
    keySets = [],
    unknownNames = 0,
  }: Watched,
  tenantText: (id: string) => string = (id) => id,
): readonly Concern[] => {
  const all: readonly Concern[] = [
    ...(system === undefined ? [] : ofSystem(system)),
    ...ofSources(processes),
    ...ofKeys(keySets),
    ...ofRollouts(rollouts),
    ...ofSchedules(schedules),
    ...ofNames(unknownNames),
    ...ofQueries(failedQueries, tenantText),
    ...ofTemplates(templates),
  ];
  const order = ['bad', 'warn', 'plain'];
  return all.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
};
