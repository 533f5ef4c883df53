/** What was done lately, by whom, in one line each. */
import { personIn } from './editions.js';

type Edition = {
  readonly number: number;
  readonly by: string | null;
  readonly at: string;
  readonly changes: readonly string[];
};
type Rollout = {
  readonly id: string;
  readonly template: string;
  readonly state: string;
  readonly startedBy: string | null;
  readonly startedAt: string;
};
export type RecentTemplate = {
  readonly template: string;
  readonly name: string;
  readonly editions: readonly Edition[];
};

export type Work = {
  readonly at: string;
  readonly text: string;
  readonly path: string;
  readonly rest: readonly string[];
};

const most = 8;

const editionText = (name: string, { number, by, changes }: Edition): string => {
  const [first, ...others] = changes;
  const more = others.length === 0 ? '' : ` And ${others.length} more.`;
  const what = first === undefined ? (number === 1 ? 'first edition.' : 'another edition.') : `${first}${more}`;
  if (by === null) return number === 1 ? `${name}: ${what}` : `${name} changed outside Studio: ${what}`;
  return `${personIn(by)} changed ${name}: ${what}`;
};

const stateWords: Readonly<Record<string, string>> = {
  finished: 'every tenant has it',
  'rolled-back': 'it was taken back',
};

/** The latest first. */
export const recentWork = (templates: readonly RecentTemplate[], rollouts: readonly Rollout[]): readonly Work[] => {
  const nameOf = (template: string): string => templates.find((one) => one.template === template)?.name ?? template;
  const all: readonly Work[] = [
    ...templates.flatMap(({ template, name, editions }) =>
      editions.map((edition) => ({
        ...{ at: edition.at, text: editionText(name, edition) },
        ...{ path: 'dashboards', rest: [template, 'history'] },
      })),
    ),
    ...rollouts.map(({ id, template, state, startedBy, startedAt }) => ({
      ...{ at: startedAt, path: 'rollouts', rest: [id] },
      text: `${startedBy === null ? 'The command line' : personIn(startedBy)} rolled out ${nameOf(template)}: ${stateWords[state] ?? state}.`,
    })),
  ];
  return all.toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, most);
};
