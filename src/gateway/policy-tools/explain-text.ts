/** Writes an explanation as text for the terminal. */
import type { Bound } from '../policy/combine.js';
import type { Contributor, FieldRecord } from '../policy/record.js';
import type { RefusedCard } from './cards.js';
import type { Examined } from './examine.js';
import type { Explanation } from './explain.js';
import { writeTable } from './text-table.js';

const write = (value: Bound | null): string => {
  if (value === null) return 'none';
  return typeof value === 'object' ? value.join(', ') : String(value);
};

const writeExamined = (title: string, all: readonly Examined[]): readonly string[] => {
  if (all.length === 0) return [];
  const rows = all.flatMap(({ name, at, when, result, fault, terms }) => {
    const code = fault === null ? result : `${result}: ${fault.code}`;
    const elsewhere = fault === null || fault.at === at ? [] : [['', '', fault.at, fault.expression]];
    return [
      [code, name, at, when],
      ...elsewhere,
      ...terms.map(({ expression, result: is }) => ['', '', '', `  ${is}: ${expression}`]),
    ];
  });
  return ['', title, writeTable(rows, '  ')];
};

const writeSaid = ({ says, counts, isFileDefault }: Contributor, value: Bound | null): string => {
  const word = isFileDefault ? `${write(says)}, the file's, since it names none` : write(says);
  if (!counts) return `said ${word}`;
  return !isFileDefault && JSON.stringify(says) === JSON.stringify(value) ? '' : `says ${word}`;
};

const writeContributor =
  (value: Bound | null) =>
  (contributor: Contributor): readonly string[] => {
    const { name, at, valueAt, counts } = contributor;
    return [counts ? 'from' : 'not ', name, valueAt ?? at, writeSaid(contributor, value)];
  };

const writeField = ({ field, value, from }: FieldRecord): readonly string[] => [
  `  ${field}: ${value === null && from.length > 0 && field !== 'timezone' ? 'nothing is left' : write(value)}`,
  ...(from.length === 0 ? [] : [writeTable(from.map(writeContributor(value)), '    ')]),
];

const writeFields = (fields: readonly FieldRecord[]): readonly string[] =>
  fields.length === 0 ? [] : ['', 'What it comes to', ...fields.flatMap(writeField)];

/** The real outcome comes first: the decision of the policy alone would mislead where another step decided. */
const writeOutcome = ({ answer, denial, tenant, user, roles }: Explanation): readonly string[] => {
  const who = `user ${user ?? '(none)'}`;
  const where = tenant === null ? '' : `, tenant ${tenant.clientId} (${tenant.at}: ${tenant.expression})`;
  const having = roles === null ? '' : `, roles: ${roles.join(', ') || 'none'}`;
  const byPolicy = denial === null ? 'GRANTED' : `DENIED with ${denial.code}`;
  if (answer === null) return [`${byPolicy}: ${who}${where}${having}`];
  const { code, meaning, fix } = answer;
  return [
    `${code === 'OK' ? 'ANSWERED with a token' : `DENIED with ${code}`}: ${who}${where}${having}`,
    `  ${[meaning, fix].filter((text) => text !== '').join(' ')}`,
    `  That was not the policy. The policy alone: ${byPolicy}.`,
  ];
};

const writeDenial = ({ denial }: Explanation): readonly string[] => {
  if (denial === null) return [];
  const { fault } = denial;
  const at = fault === null ? [] : [`  ${fault.at}: ${fault.code} in ${fault.expression}`];
  return ['', 'Why it is denied', `  ${denial.message}`, ...at];
};

const writeBy = ({ field, name, from }: RefusedCard['by'][number]): readonly string[] => {
  const lines = from.map((one) => ['by', `${field}.${name}`, one.name, one.at]);
  return lines.length === 0 ? [`      by ${field}.${name}`] : [writeTable(lines, '      ')];
};

const writeCard = ({ name, refuses, by, message }: RefusedCard): readonly string[] => [
  `    ${JSON.stringify(name)}${refuses === 'token' ? ' (and so no token is made)' : ''}: ${message}`,
  ...by.flatMap(writeBy),
];

/** Which cards the user cannot see, by restriction and place. */
const writeCards = ({ cards, denial }: Explanation): readonly string[] => {
  if (denial !== null) return [];
  if (cards === null) return ['', 'Cards that the user cannot see: the service was not asked; --url asks it'];
  const closed = cards.filter(({ refused, refusal }) => refused.length > 0 || refusal !== null);
  if (closed.length === 0) return ['', 'Cards that the user cannot see: none'];
  return [
    '',
    'Cards that the user cannot see',
    ...closed.flatMap(({ source, cards: all, refused, refusal }) => [
      `  ${source}: ${refused.length} of ${all}`,
      ...(refusal === null ? [] : [`    no token is made: ${refusal}`]),
      ...refused.flatMap(writeCard),
    ]),
  ];
};

const metricsNote: Readonly<Record<Explanation['metrics'], string>> = {
  listed: ' (its metrics as the upstream lists them now)',
  placeholders:
    ' (what stands in <angle brackets> is one entry for each such metric: no upstream was asked, or it has not made the dashboard yet)',
  'not needed': '',
};

const writeRequest = ({ request, metrics }: Explanation): readonly string[] =>
  request === null
    ? []
    : ['', `The token request that the gateway sends${metricsNote[metrics]}`, JSON.stringify(request, null, 2)];

/** Returns the text, without a final newline. */
export const writeExplanation = (explanation: Explanation): string =>
  [
    ...writeOutcome(explanation),
    `by ${explanation.policy.file} (sha256 ${explanation.policy.digest.slice(0, 12)}) at ${explanation.now}`,
    ...explanation.notes.map((note) => `note: ${note}`),
    ...writeDenial(explanation),
    ...writeExamined('Rules', explanation.rules),
    ...writeExamined('Restrictions', explanation.restrictions),
    ...writeFields(explanation.fields),
    ...writeCards(explanation),
    ...writeRequest(explanation),
  ].join('\n');
