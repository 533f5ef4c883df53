/**
 * The command `policy-access`: the text of the policy in force with a dashboard that some roles see, and the rows that they
 * are restricted to. It writes nothing: the text is checked and put in force like every other draft.
 */
import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { z } from 'zod';
import { Refusal } from '../../model/refusal.js';
import { identifier } from '../../platform/http/interface/fields.js';
import { type AdminCommand, adminCommand, declareCommand, readBy } from '../common/admin-command.js';
import type { Policies } from '../policy/policies.js';
import type { Policy } from '../policy/policy.js';
import { templateName } from '../policy/schema.js';
import { claimNameFor } from './claim-name.js';

const restriction = z.strictObject({
  /** A filter of the dashboard. */
  filter: identifier,
  /** Names of metrics that the filter says nothing of. */
  hidden: z.array(identifier).max(200).default([]),
});

const viewer = z.strictObject({
  /** Null: every user of a tenant. */
  role: z
    .string()
    .regex(/^[^"\\\p{Cc}]{1,255}$/u, 'a role, without quotes and backslashes')
    .nullable(),
  /** Null: all rows of the tenant. */
  restriction: restriction.nullable(),
});

const accessInput = z.strictObject({
  template: templateName,
  name: identifier,
  workspace: identifier,
  datamart: identifier,
  viewers: z.array(viewer).min(1).max(50),
});
type Access = z.output<typeof accessInput>;
type Restricted = { readonly role: string | null; readonly restriction: z.output<typeof restriction> };

export const draftAccess = declareCommand(
  'policy-access',
  accessInput,
  z.object({
    text: z.string(),
    /** What `policy-save` needs to know of the policy that was changed. */
    digest: z.string(),
    /** The claim of sessions that each filter is compared with. */
    claims: z.array(z.object({ filter: z.string(), claim: z.string() })),
  }),
  readBy('author', 'publisher', 'policyAdmin'),
);

/** Lists and maps that are empty are written as `[]` and `{}`; their first item makes them a block. */
const asBlock = <Node extends YAMLMap | YAMLSeq>(node: Node): Node => {
  if (node.items.length === 0) node.flow = false;
  return node;
};

const mapIn = (document: Document, path: readonly string[]): YAMLMap => {
  const found = document.getIn(path);
  if (isMap(found)) return asBlock(found);
  const made = document.createNode({});
  document.setIn(path, made);
  return made as YAMLMap;
};

const listIn = (document: Document, key: string): YAMLSeq => {
  const found = document.get(key);
  if (isSeq(found)) return asBlock(found);
  const made = document.createNode([]);
  document.set(key, made);
  return made as YAMLSeq;
};

const isNamed = (item: unknown, name: string): item is YAMLMap => isMap(item) && item.get('name') === name;

/** Replaces the rule of that name, so that a second draft of the same access adds nothing. */
const putRule = (document: Document, rule: { readonly name: string }): void => {
  const { items } = listIn(document, 'rules');
  const at = items.findIndex((one) => isNamed(one, rule.name));
  const node = document.createNode(rule);
  if (at === -1) items.push(node);
  else items[at] = node;
};

type Drafted = {
  readonly name: string;
  readonly when: string;
  readonly restrict: {
    readonly dashboardFilters?: Readonly<Record<string, string>>;
    readonly hideDashboardFilters?: readonly string[];
    readonly hideMetrics?: Readonly<Record<string, readonly string[]>>;
  };
};

/** Whether the item restricts the same users to the same values. */
const isAlike = (item: unknown, { when, restrict: { dashboardFilters = {} } }: Drafted): boolean =>
  isMap(item) &&
  String(item.get('when')) === when &&
  Object.entries(dashboardFilters).every(
    ([filter, value]) => item.getIn(['restrict', 'dashboardFilters', filter]) === value,
  );

/**
 * Adds the restriction to the item that restricts the same users to the same values. That keeps what else it says, such as
 * the cards of other dashboards that it hides. An item that somebody made another restriction stays beside it.
 */
const putRestriction = (document: Document, template: string, drafted: Drafted): void => {
  const { items } = listIn(document, 'restrictions');
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? drafted.name : `${drafted.name} (${count})`;
    const at = items.findIndex((one) => isNamed(one, name));
    if (at === -1) return void items.push(document.createNode({ ...drafted, name }));
    if (!isAlike(items[at], drafted)) continue;
    const restrict = ['restrictions', at, 'restrict'];
    const { hideDashboardFilters = [], hideMetrics = {} } = drafted.restrict;
    const filters = document.getIn([...restrict, 'hideDashboardFilters']);
    const before: readonly unknown[] = isSeq(filters) ? filters.toJSON() : [];
    const added = hideDashboardFilters.filter((filter) => !before.includes(filter));
    const write = (path: readonly string[], value: unknown): void =>
      document.setIn([...restrict, ...path], document.createNode(value));
    if (added.length > 0) write(['hideDashboardFilters'], [...before, ...added]);
    const own = ['hideMetrics', template];
    if (hideMetrics[template] !== undefined) write(own, hideMetrics[template]);
    else if (document.hasIn([...restrict, ...own])) document.deleteIn([...restrict, ...own]);
    return;
  }
};

const holds = (role: string | null): string => (role === null ? 'true' : `"${role}" in user.roles`);

/** The claims that restrictions of the document compare a filter with, by the filter. */
const comparedIn = (document: Document): ReadonlyMap<string, string> => {
  const filters = listIn(document, 'restrictions').items.map((item) =>
    isMap(item) ? item.getIn(['restrict', 'dashboardFilters']) : undefined,
  );
  return new Map(
    filters
      .filter(isMap)
      .flatMap((map) => Object.entries(map.toJSON() as Readonly<Record<string, unknown>>))
      .flatMap(([filter, value]) => {
        const claim = /^user\.claims\.(\w+)$/.exec(String(value))?.[1];
        return claim === undefined ? [] : [[filter, claim] as const];
      }),
  );
};

/**
 * The claim of each filter, none of them of two: the one that it is compared with already, one of sessions that is called
 * like it, or a new one.
 */
const claimsFor = ({ claims, tenant, roles }: Policy, document: Document, filters: readonly string[]) => {
  const compared = comparedIn(document);
  const read = `${tenant.by === 'expression' ? tenant.key.source : ''} ${roles.source}`;
  const taken = new Set(compared.values());
  return filters.map((filter) => {
    const plain = claimNameFor(filter, []);
    // A name without a Latin letter is like no claim.
    const isCalledLike =
      /[a-z]/i.test(filter) && claims[plain] === 'string' && !new RegExp(`\\b${plain}\\b`).test(read);
    const own = isCalledLike && !taken.has(plain) ? plain : claimNameFor(filter, [...Object.keys(claims), ...taken]);
    const claim = compared.get(filter) ?? own;
    taken.add(claim);
    return { filter, claim };
  });
};

const restrictionsOf = (
  { template }: Access,
  { role, restriction: { filter, hidden } }: Restricted,
  claim: string,
): readonly Drafted[] => {
  const who = role === null ? 'users' : `${role} users`;
  const kind = filter.toLowerCase();
  const one = {
    name: `${who} see one ${kind} only`,
    when: holds(role),
    restrict: {
      dashboardFilters: { [filter]: `user.claims.${claim}` },
      ...(hidden.length === 0 ? {} : { hideMetrics: { [template]: [...hidden] } }),
    },
  };
  if (hidden.length === 0) return [one];
  // The filter does not narrow every chart, so nobody chooses by it.
  const name = `nobody chooses the ${kind}, which is not one of every chart`;
  return [one, { name, when: 'true', restrict: { hideDashboardFilters: [filter] } }];
};

/** Each role and filter once, with all that is hidden from it. */
const restrictedIn = ({ viewers }: Access): readonly Restricted[] => {
  const found = new Map<string, Restricted>();
  for (const { role, restriction: given } of viewers) {
    if (given === null) continue;
    const key = JSON.stringify([role, given.filter.toLowerCase()]);
    const { filter, hidden } = found.get(key)?.restriction ?? { ...given, hidden: [] };
    found.set(key, { role, restriction: { filter, hidden: [...new Set([...hidden, ...given.hidden])] } });
  }
  return [...found.values()];
};

const assertFits = ({ templates, workspace, datamart }: Policy, access: Access): void => {
  if (templates.size === 0 || (workspace === access.workspace && datamart === access.datamart)) return;
  throw new Refusal(
    'NOT_SUPPORTED',
    `The policy in force is for dashboards of the workspace ${JSON.stringify(workspace)} and the datamart ${JSON.stringify(datamart)}. Dashboards of others need a policy of their own.`,
  );
};

/** The text of the policy with the access. Comments and all that it does not change stay. */
const withAccess = (policy: Policy, access: Access) => {
  assertFits(policy, access);
  const [{ text } = { text: '' }] = policy.files;
  const document = parseDocument(text);
  document.set('workspace', access.workspace);
  document.set('datamart', access.datamart);
  const templates = mapIn(document, ['templates']);
  if (!templates.has(access.template)) templates.set(access.template, document.createNode({ name: access.name }));
  const restricted = restrictedIn(access);
  const filters = [...new Set(restricted.map((one) => one.restriction.filter))];
  const claims = claimsFor(policy, document, filters);
  for (const { claim } of claims) {
    const declared = mapIn(document, ['session', 'claims']);
    if (policy.claims[claim] === undefined && !declared.has(claim)) declared.set(claim, 'string');
  }
  const roles = access.viewers.map(({ role }) => role);
  putRule(document, {
    name: `who sees ${access.template}`,
    when: roles.includes(null) ? 'true' : roles.map(holds).join(' || '),
    grant: { templates: [access.template], permissions: ['isShowDashboardName'] },
  } as { readonly name: string });
  for (const one of restricted) {
    const claim = claims.find(({ filter }) => filter === one.restriction.filter)?.claim ?? '';
    for (const item of restrictionsOf(access, one, claim)) putRestriction(document, access.template, item);
  }
  return { text: document.toString({ lineWidth: 0 }), claims };
};

export const policyAccessCommand = (policies: Pick<Policies, 'current'>): AdminCommand =>
  adminCommand(draftAccess, async (access) => {
    const policy = policies.current();
    return { ...withAccess(policy, access), digest: policy.digest };
  });
