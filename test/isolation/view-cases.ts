/** Draws the cases of view-as.test.ts: dashboards of random cards, and policies, users and questions about them. */
import fc from 'fast-check';
import type { DashboardFilter } from '../../src/model/dashboard/dashboard.js';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import { columnRef } from '../engine/world.js';
import { type ACase, aCase } from './cases.js';
import { labels, tenants } from './dataset.js';
import { pose } from './question.js';
import type { Stage } from './stage.js';
import type { Board, Claims, PolicyParts } from './studio-world.js';

/** All cards are of one datamart, whose tables hang together. */
const whole: Partial<ACase> = {
  ...{ isNumber: false, derived: ['lines'], flaw: 'none', isWorksheet: false, isSortAsked: false },
  tables: ['orders', 'lines', 'visits', 'places', 'kinds'],
  edges: [
    { to: 0, pair: 0, join: 'LEFT JOIN', isFlipped: false, cardinality: 0 },
    { to: 0, pair: 0, join: 'LEFT JOIN', isFlipped: false, cardinality: 0 },
    { to: 0, pair: 2, join: 'LEFT JOIN', isFlipped: false, cardinality: 0 },
    { to: 0, pair: 4, join: 'INNER JOIN', isFlipped: false, cardinality: 0 },
    { to: 0, pair: 0, join: null, isFlipped: false, cardinality: 0 },
  ],
};

const label = columnRef('orders.label');
const code = columnRef('orders.code');
const filters: readonly DashboardFilter[] = [
  { name: 'Label', dataType: 'string', applyOnTables: [{ ...label, dataType: 'string' }] },
  { name: 'Code', dataType: 'string', applyOnTables: [{ ...code, dataType: 'string' }], defaultValue: 'x' },
];
const ownFilters: Pick<VisualDefinition, 'filters' | 'rlsVariables'> = {
  filters: [{ name: 'own', label: 'Own', column: label, dataType: 'string' }],
  rlsVariables: [{ name: 'code', column: code, isOptional: true }],
};

/** Stands in a policy for the embed of a dashboard's first metric, whose id is known once the world is there. */
const embedOf = (boardId: string): string => `embed of ${boardId}`;

/** Puts the ids of the embeds, in the order of the dashboards, into the policy. */
export const withEmbeds = (policy: PolicyParts, boards: readonly Board[], embedIds: readonly string[]): PolicyParts =>
  JSON.parse(
    boards.reduce(
      (text, { id }, at) => text.replaceAll(`"${embedOf(id)}"`, `"${embedIds[at]}"`),
      JSON.stringify(policy),
    ),
  ) as PolicyParts;

/** The datamart of all cards. */
export const drawMart = ({ dataset }: Stage, seed: number): Datamart => {
  const [first] = fc.sample(aCase, { seed, numRuns: 1 });
  return pose(dataset, { ...first, ...whole } as ACase, true).shared;
};

/** Dashboards of drawn cards. Each has its own filters; some cards take what a policy binds by name. */
export const drawBoards = ({ dataset }: Stage, seed: number, count: number): readonly Board[] => {
  const cards = fc.sample(aCase, { seed, numRuns: count * 3 });
  const definitions = cards.map((card) => pose(dataset, { ...card, ...whole } as ACase, true).asked.definition);
  return Array.from({ length: count }, (_, at) => ({
    id: `t${at}`,
    filters: filters.filter((_, nth) => (at + nth) % 3 !== 2),
    metrics: definitions.slice(at * 3, at * 3 + 1 + (at % 3)).map((definition, nth) => ({
      name: `Card ${nth}`,
      definition: { ...(definition as VisualDefinition), ...((at + nth) % 2 === 0 ? ownFilters : {}) },
    })),
  }));
};

const settings = {
  ...{ isAllowUnderlyingData: true, isAllowMetricCreation: true, isAllowDashboardCreation: true },
  ...{ isAllowMetricLayoutChange: true, isAllowManageMetrics: true },
};
const roles = ['clerk', 'boss', 'regional'] as const;
const aWhen = fc.constantFrom('true', ...roles.map((role) => `"${role}" in user.roles`));
const aRuleOn = (boardIds: readonly string[]) =>
  fc.record({
    when: aWhen,
    grant: fc.record({
      templates: fc.subarray([...boardIds], { minLength: 1, maxLength: 2 }),
      embeds: fc.oneof(
        fc.constant<string[]>([]),
        fc.constantFrom(...boardIds.map(embedOf)).map((id) => [id]),
      ),
      permissions: fc.subarray([
        ...(['isEnableUnderlyingData', 'isEnableDownloadMetrics', 'isShowDashboardName'] as const),
        ...(['isEnableCreateDashboard', 'isEnableCustomizeLayout'] as const),
      ]),
      timezone: fc.constantFrom('"UTC"', '"Asia/Kolkata"'),
    }),
  });
const aText = fc.constantFrom('user.claims.label', '"red"', '"nowhere"');
const aList = fc.constantFrom('user.claims.codes', '["x", "01"]', '["é"]');
const aRestrictionOn = (boardIds: readonly string[]) =>
  fc.record({
    when: aWhen,
    restrict: fc.oneof(
      { weight: 3, arbitrary: fc.record({ dashboardFilters: fc.record({ Label: aText }), show: fc.constant(true) }) },
      { weight: 3, arbitrary: fc.record({ dashboardFilters: fc.record({ Code: aList, Label: aText }) }) },
      { weight: 1, arbitrary: fc.record({ rls: fc.record({ code: aList }) }) },
      { weight: 1, arbitrary: fc.record({ appFilters: fc.record({ own: aText }) }) },
      { weight: 1, arbitrary: fc.constant({ hideDashboardFilters: ['Code'] }) },
      { weight: 1, arbitrary: fc.constantFrom(...boardIds).map((id) => ({ hideMetrics: { [id]: ['Card 0'] } })) },
      { weight: 1, arbitrary: fc.constant({ isDisableMetricCreation: true }) },
    ),
  });
const named = <T extends object>(items: readonly T[]) => items.map((item, at) => ({ name: `no. ${at}`, ...item }));
const aPolicyOn = (boardIds: readonly string[]): fc.Arbitrary<PolicyParts> =>
  fc
    .record({
      rules: fc.array(aRuleOn(boardIds), { minLength: 1, maxLength: 2 }),
      restrictions: fc.array(aRestrictionOn(boardIds), { maxLength: 2 }),
    })
    .map((drawn) => ({
      templates: Object.fromEntries(boardIds.map((id) => [id, { name: id, accessSettings: settings }])),
      rules: named(drawn.rules),
      restrictions: named(drawn.restrictions),
    }));
export type User = Claims & { readonly org: string };
const aUser: fc.Arbitrary<User> = fc.record({
  sub: fc.constantFrom('ann', 'ben'),
  org: fc.constantFrom(...tenants),
  roles: fc.subarray([...roles]),
  label: fc.constantFrom(...labels.filter((text) => text !== '')),
  codes: fc.constantFrom(['x'], ['x', 'X'], ['01', 'é']),
});
const aQuestion = fc.record({
  dashboardFilter: fc.option(fc.constantFrom({ Label: 'red' }, { Label: ['red', 'blue'] }, { Code: 'x' }), {
    nil: undefined,
  }),
  limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  search: fc.constantFrom('', 'e'),
  /** Which card is asked in every way. The others are only queried. */
  card: fc.nat(5),
});
export type ViewQuestion = typeof aQuestion extends fc.Arbitrary<infer Value> ? Value : never;

/** A policy on these dashboards, a user, and what the user asks. */
export const aViewCase = (boards: readonly Board[]) =>
  fc.record({ policy: aPolicyOn(boards.map(({ id }) => id)), user: aUser, question: aQuestion });
