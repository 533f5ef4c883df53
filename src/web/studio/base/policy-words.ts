/** Why a user sees what it sees, in sentences for people who do not read policies. Pure. */
import type { Answer } from './api.js';
import { whyClosed, withoutFolders } from './card-words.js';

export type Explanation = Answer<'policy-explain'>['explanation'];
type Field = Explanation['fields'][number];
/** The user of whom the sentences speak. `tenant`: what people call the tenant. */
export type Spoken = {
  readonly name: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly tenant: string;
};

const listed = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
const quoted = (text: string): string => `“${text}”`;

/** `config/policies/flights.yaml:36:11` as `flights.yaml, line 36`. */
const lineOf = (at: string): string => {
  const [, file = at, line] = /([^/]*):(\d+):\d+$/.exec(withoutFolders(at)) ?? [];
  return line === undefined ? withoutFolders(at) : `${file}, line ${line}`;
};

/** The claim in which the value stands. Undefined: the policy computes it. */
const claimWith = (claims: Spoken['claims'], value: string): string | undefined =>
  Object.entries(claims).find(([, given]) => given === value || (Array.isArray(given) && given.includes(value)))?.[0];

const tenantSentence = ({ tenant }: Explanation, { name, claims, tenant: called }: Spoken): readonly string[] => {
  if (tenant === null) return [];
  const claim = /^claims\.(\w+)$/.exec(tenant.expression)?.[1];
  const why =
    claim === undefined || claims[claim] !== tenant.clientId
      ? `by the policy’s rule for tenants`
      : `because the claim ${quoted(claim)} is ${quoted(tenant.clientId)}`;
  return [`${name} belongs to ${called} ${why} (${lineOf(tenant.at)}).`];
};

const roleSentences = ({ roles, rolesFrom }: Explanation, { name, claims }: Spoken): readonly string[] => {
  if (roles === null) return [];
  if (roles.length === 0) return [`${name} has no role (${lineOf(rolesFrom.at)}).`];
  return roles.map((role) => {
    const claim = claimWith(claims, role);
    const why =
      claim === undefined
        ? 'as the policy reads roles'
        : `because the claim ${quoted(claim)} ${Array.isArray(claims[claim]) ? 'has' : 'is'} ${quoted(role)}`;
    return `${name} has the role ${quoted(role)} ${why} (${lineOf(rolesFrom.at)}).`;
  });
};

const valuesOf = ({ value }: Field): readonly string[] =>
  value === null ? [] : (Array.isArray(value) ? value : [value]).map(String);

/** The fields that a rule or restriction decided. */
const decidedBy = ({ fields }: Explanation, name: string): readonly Field[] =>
  fields.filter(({ from }) => from.some((one) => one.name === name && one.counts));

const opened = (fields: readonly Field[]): string => {
  const of = (wanted: string) =>
    fields
      .filter(({ field }) => field === wanted)
      .flatMap(valuesOf)
      .map(quoted);
  const [boards, embeds] = [of('templates'), of('embeds')];
  const parts = [
    ...(boards.length === 0 ? [] : [`opens ${listed(boards)}`]),
    ...(embeds.length === 0 ? [] : [`opens the embeds ${listed(embeds)}`]),
  ];
  return listed(parts) || 'adds permissions';
};

const quotaWords: Readonly<Record<string, string>> = {
  queriesPerDay: 'questions of the tenant a day',
  exportsPerDay: 'files of the tenant a day',
  seats: 'users of the tenant a month',
};

const narrowed = (fields: readonly Field[]): string => {
  const parts = fields.flatMap((one) => {
    const [kind = '', ...rest] = one.field.split('.');
    const what = rest.join('.');
    const values = valuesOf(one).map(quoted);
    if (['dashboardFilters', 'rls', 'appFilters'].includes(kind))
      return [
        values.length === 0
          ? `leaves no value of ${quoted(what)}`
          : `shows only rows whose ${quoted(what)} is ${listed(values)}`,
      ];
    if (/^hide/.test(kind)) return [`hides ${listed(values)}`];
    if (kind === 'quota') return [`allows ${quotaWords[what] ?? quoted(what)}: at most ${one.value}`];
    return kind === 'maskColumns' ? [`masks ${quoted(what)}`] : [];
  });
  return listed(parts) || 'applies';
};

const ruleSentences = (explanation: Explanation): readonly string[] =>
  [
    ...explanation.rules.map((rule) => ({ rule, says: opened })),
    ...explanation.restrictions.map((rule) => ({ rule, says: narrowed })),
  ].flatMap(({ rule: { name, at, result }, says }) => {
    if (result === 'undecided')
      return [`${quoted(name)} cannot be decided for this user (${lineOf(at)}), so nothing is shown.`];
    return result === 'matches' ? [`${quoted(name)} ${says(decidedBy(explanation, name))} (${lineOf(at)}).`] : [];
  });

const cardSentences = ({ cards }: Explanation): readonly string[] =>
  (cards ?? []).flatMap(({ source, refused, refusal }) => [
    ...(refusal === null ? [] : [`No card of ${quoted(source)} is shown: ${refusal}`]),
    ...refused.map((card) => `The card ${quoted(card.name)} of ${quoted(source)} is closed. ${whyClosed(card)}`),
  ]);

/** What comes of it. */
const outcome = ({ answer, denial, fields }: Explanation, { name }: Spoken): string => {
  if (answer !== null && answer.code !== 'OK') return `${name} sees nothing. ${answer.meaning} ${answer.fix}`.trim();
  if (denial !== null) return `${name} sees nothing. ${denial.message}`;
  const boards = fields
    .filter(({ field }) => field === 'templates')
    .flatMap(valuesOf)
    .map(quoted);
  return `${name} sees ${listed(boards) || 'no dashboard'}.`;
};

/** The outcome first, then why: tenant, roles, the rules and restrictions that apply, and closed cards. */
export const policySentences = (explanation: Explanation, spoken: Spoken): readonly string[] => [
  outcome(explanation, spoken),
  ...tenantSentence(explanation, spoken),
  ...roleSentences(explanation, spoken),
  ...ruleSentences(explanation),
  ...cardSentences(explanation),
];
