/** What a person should look at first: parts that fail, roll-outs under way, messages and queries that failed. */

type Part = { readonly name: string; readonly isGood: boolean };
type Source = { readonly name: string; readonly lastError: { readonly isOver: boolean } | null };
type Rollout = { readonly id: string; readonly template: string; readonly state: string };
type Schedule = { readonly isPaused: boolean; readonly last: { readonly state: string } | null };

/** What was read. Left out: the person may not read it. */
export type Watched = {
  readonly system?: { readonly checks: readonly Part[]; readonly live: { readonly sources: readonly Source[] } };
  readonly rollouts?: readonly Rollout[];
  readonly schedules?: readonly Schedule[];
  readonly failedQueries?: readonly unknown[];
};

/** `path`, `rest` and `query`: the page that tells more. */
export type Concern = {
  readonly text: string;
  readonly kind: 'bad' | 'warn' | 'plain';
  readonly path: string;
  readonly rest?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
};

const rolloutWords: Readonly<Record<string, readonly [kind: Concern['kind'], words: string]>> = {
  running: ['plain', 'is under way'],
  'rolling-back': ['plain', 'is being taken back'],
  paused: ['warn', 'is paused'],
  stopped: ['bad', 'stopped'],
  'rollback-stopped': ['bad', 'stopped while it was taken back'],
};

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;

/** An earlier roll-out of a template no longer matters once a later one has begun. `rollouts`: newest first. */
const ofRollouts = (rollouts: readonly Rollout[]): readonly Concern[] =>
  rollouts
    .filter(({ template }, at) => rollouts.findIndex((each) => each.template === template) === at)
    .flatMap(({ id, template, state }) => {
      const known = rolloutWords[state];
      if (known === undefined) return [];
      const [kind, words] = known;
      return [{ text: `The roll-out of ${template} ${words}`, kind, path: 'rollouts', rest: [id] }];
    });

/** Worst first. */
export const concernsOf = ({
  system,
  rollouts = [],
  schedules = [],
  failedQueries = [],
}: Watched): readonly Concern[] => {
  const parts = system?.checks.filter(({ isGood }) => !isGood) ?? [];
  const sources = system?.live.sources.filter(({ lastError }) => lastError?.isOver === false) ?? [];
  const failed = schedules.filter(({ isPaused, last }) => !isPaused && last?.state === 'failed').length;
  const all: readonly Concern[] = [
    ...parts.map(({ name }): Concern => ({ text: `The part ${name} does not work`, kind: 'bad', path: 'health' })),
    ...sources.map(
      ({ name }): Concern => ({ text: `The source ${name} does not answer`, kind: 'bad', path: 'health' }),
    ),
    ...ofRollouts(rollouts),
    ...(failed === 0
      ? []
      : [
          {
            text: `${counted(failed, 'report or alert', 'reports or alerts')} could not be delivered the last time`,
            kind: 'bad' as const,
            path: 'deliveries',
            query: { state: 'failed' },
          },
        ]),
    ...(failedQueries.length === 0
      ? []
      : [
          {
            text: `${counted(failedQueries.length, 'query', 'queries')} failed within a day`,
            kind: 'warn' as const,
            path: 'queries',
            rest: ['failed'],
          },
        ]),
  ];
  const order = ['bad', 'warn', 'plain'];
  return all.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
};
