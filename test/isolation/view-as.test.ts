/**
 * Studio's view as a user equals the user's own token, answer by answer: for random policies, users and dashboards, all
 * that a view may ask is asked through both. A person without access to data gets the same definitions and no row.
 * `npm run isolation -- --only view-as` runs many more cases.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DashboardFilter } from '../../src/domain/dashboard/dashboard.js';
import type { VisualDefinition } from '../../src/domain/dashboard/metric.js';
import type { StudioRole } from '../../src/domain/studio/person.js';
import { viewOperations } from '../../src/studio/views.js';
import { columnRef } from '../engine/world.js';
import { type ShownBoard, withoutOffers } from '../studio/view-offers.js';
import { type ACase, aCase } from './cases.js';
import { countOfCases } from './count.js';
import { labels, tenants } from './dataset.js';
import { pose } from './question.js';
import { createStage, type Stage } from './stage.js';
import {
  type Answered,
  type Ask,
  type Board,
  type Claims,
  type PolicyParts,
  startStudioWorld,
} from './studio-world.js';

const asked = countOfCases(800, 2000);
const numRuns = Math.ceil(asked / 200);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_126);
const endOnFailure = process.env.ISOLATION_SHRINK === '0';

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

const isLong = asked > 2000;
const boardIds = Array.from({ length: isLong ? 24 : 8 }, (_, index) => `t${index}`);
/** Stands in a policy for the embed of a dashboard's first metric, whose id is known once the world is there. */
const embedOf = (id: string): string => `embed of ${id}`;

/** Dashboards of drawn cards. Each has its own filters; some cards take what a policy binds by name. */
const drawBoards = ({ dataset }: Stage): readonly Board[] => {
  const cards = fc.sample(aCase, { seed, numRuns: boardIds.length * 3 });
  const definitions = cards.map((card) => pose(dataset, { ...card, ...whole } as ACase, true).asked.definition);
  return boardIds.map((id, at) => ({
    id,
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
const someBoards = fc.subarray(boardIds, { minLength: 1, maxLength: 2 });
const aRule = fc.record({
  when: aWhen,
  grant: fc.record({
    templates: someBoards,
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
const aRestriction = fc.record({
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
const aPolicy: fc.Arbitrary<PolicyParts> = fc
  .record({
    rules: fc.array(aRule, { minLength: 1, maxLength: 2 }),
    restrictions: fc.array(aRestriction, { maxLength: 2 }),
  })
  .map((drawn) => ({
    templates: Object.fromEntries(boardIds.map((id) => [id, { name: id, accessSettings: settings }])),
    rules: named(drawn.rules),
    restrictions: named(drawn.restrictions),
  }));
const aUser: fc.Arbitrary<Claims & { readonly org: string }> = fc.record({
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
type Question = typeof aQuestion extends fc.Arbitrary<infer Value> ? Value : never;
const theCase = fc.record({ policy: aPolicy, user: aUser, question: aQuestion });

let stage: Stage;
let world: Awaited<ReturnType<typeof startStudioWorld>>;
/** An author who sees data, and one who does not. */
let author: Ask;
let blind: Ask;
beforeAll(async () => {
  stage = await createStage('DUCKDB', seed);
  const [first] = fc.sample(aCase, { seed, numRuns: 1 });
  const { shared: mart } = pose(stage.dataset, { ...first, ...whole } as ACase, true);
  const { datasource } = stage.places.shared;
  world = await startStudioWorld(stage.engine, { datasource, mart, boards: drawBoards(stage) });
  const person = (subject: string, seesData: boolean) =>
    world.enter({ issuer: 'people', subject, name: subject, roles: ['author'] satisfies StudioRole[], seesData });
  [author, blind] = await Promise.all([person('ada', true), person('bob', false)]);
}, 120_000);
afterAll(async () => {
  await world?.close();
  await stage?.remove();
});

type Embed = { readonly id: string; readonly type: string };
type Opened = { readonly token: string; readonly embeds: readonly Embed[] };
const bodyOf = <T>({ text }: Answered): T => JSON.parse(text) as T;
const codeOf = (answer: Answered): string => bodyOf<{ error: { code: string } }>(answer).error.code;

/**
 * What is compared: an answer, without what differs between two answers to the same question. Of a refusal the code:
 * Studio is told the cause, which a user is not.
 */
const comparable = (answer: Answered): unknown => {
  if (answer.status !== 200) return [answer.status, codeOf(answer)];
  // The cards of a dashboard answer in any order, one a line.
  const lines = answer.text.split('\n').toSorted().join('\n');
  return lines.replaceAll(/"timeTaken":\d+/g, '').replaceAll(/"message":"(?:[^"\\]|\\.)*"/g, '');
};

type Operation = keyof typeof viewOperations;
type Asked = { readonly name: Operation; readonly ask: (as: Ask) => Promise<Answered> };

type BoardView = {
  readonly data: {
    readonly metrics: readonly {
      readonly metricId: string;
      readonly name: string;
      readonly chart: { readonly dimensions: readonly string[] };
    }[];
    readonly filters: readonly { readonly name: string }[];
    readonly permissions: Readonly<Record<string, boolean>>;
  };
};

/** Everything that a view may ask of a metric, alone or on a dashboard. */
const questionsOf = (metricId: string, dashboardId: string | undefined, question: Question): readonly Asked[] => {
  const metric = `/metrics/${encodeURIComponent(metricId)}`;
  const { limit, dashboardFilter } = question;
  const query = { dashboardId, ...(dashboardId === undefined ? {} : { dashboardFilter }) };
  return [
    { name: 'getGuestMetric', ask: (as) => as('GET', metric) },
    { name: 'queryGuestMetric', ask: (as) => as('POST', `${metric}/query`, { ...query, limit }) },
    { name: 'listGuestUnderlying', ask: (as) => as('POST', `${metric}/underlying`, { ...query, limit }) },
    { name: 'downloadGuestCsv', ask: (as) => as('POST', `${metric}/csv`, query) },
    { name: 'downloadGuestXlsx', ask: (as) => as('POST', `${metric}/xlsx`, query) },
    { name: 'renderGuestMetricPdf', ask: (as) => as('POST', `${metric}/pdf`, query) },
    { name: 'renderGuestMetricPng', ask: (as) => as('POST', `${metric}/png`, query) },
  ];
};

/** Everything that a view may ask of a dashboard. */
const questionsOfBoard = (id: string, { data }: BoardView, question: Question): readonly Asked[] => {
  const dashboard = `/dashboards/${encodeURIComponent(id)}`;
  const { dashboardFilter, search } = question;
  const cards = data.metrics.map(({ metricId }) => ({ metricId }));
  const crossFilter = data.metrics.flatMap(({ metricId, chart: { dimensions } }) =>
    dimensions.slice(0, 1).map((columnName) => ({ metricId, columnName, value: 'x' })),
  );
  return [
    { name: 'listGuestFields', ask: (as) => as('GET', `${dashboard}/fields`) },
    {
      name: 'queryGuestDashboard',
      ask: (as) => as('POST', `${dashboard}/query`, { dashboardFilter, crossFilter, metrics: cards }),
    },
    { name: 'renderGuestDashboardPdf', ask: (as) => as('POST', `${dashboard}/pdf`, { dashboardFilter }) },
    { name: 'renderGuestDashboardPng', ask: (as) => as('POST', `${dashboard}/png`, { crossFilter }) },
    { name: 'downloadGuestDashboardXlsx', ask: (as) => as('POST', `${dashboard}/xlsx`, { metrics: cards }) },
    ...['Label', 'Code'].map(
      (filter): Asked => ({
        name: 'listGuestFilterOptions',
        ask: (as) => as('GET', `${dashboard}/filters/${filter}/options?search=${search}`),
      }),
    ),
    ...data.metrics.flatMap(({ metricId }, at) => {
      const ways = questionsOf(metricId, id, question);
      return at === question.card % data.metrics.length ? ways : ways.filter(({ name }) => name === 'queryGuestMetric');
    }),
  ];
};

/** What a person without access to data may read: definitions. */
const withoutRows: ReadonlySet<Operation> = new Set<Operation>([
  ...['getGuestDashboard', 'getGuestMetric', 'getGuestBoard', 'listGuestFields'],
]);
const tally = { cases: 0, granted: 0, asked: 0, answered: 0, rows: 0, previews: 0, boards: 0 };
const seenOperations = new Set<string>();

/** Opens a view of the user, as this person. */
const viewOf = async (as: Ask, { sub, org, ...claims }: Claims & { readonly org: string }): Promise<Answered> =>
  as('POST', '/views', { clientId: org, claims: { sub, org, ...claims, iss: world.issuer } });

/** The two views against the user's own token. */
const compare = async (
  { name, ask }: Asked,
  own: Ask,
  [seeing, blindly]: readonly [Ask, Ask],
  where: string,
): Promise<void> => {
  const [theirs, seen, without] = await Promise.all([own, seeing, blindly].map(ask));
  if (theirs === undefined || seen === undefined || without === undefined) throw new Error('no answer');
  const isOpen = theirs.status === 200;
  tally.asked += 1;
  tally.answered += isOpen ? 1 : 0;
  if (isOpen) seenOperations.add(name);
  if (name === 'queryGuestMetric') tally.rows += countRows(theirs);
  // An author builds on the user's fields, whether or not the user may build.
  const isBuilt = name === 'listGuestFields' && !isOpen;
  if (name === 'getGuestDashboard' && theirs.status === 200)
    expect(bodyOf(seen), `${name} ${where}`).toEqual(withoutOffers(bodyOf<ShownBoard>(theirs)));
  else if (!isBuilt) expect(comparable(seen), `${name} ${where}`).toEqual(comparable(theirs));
  if (withoutRows.has(name)) {
    expect(comparable(without), `${name} without data, ${where}`).toEqual(comparable(seen));
    return;
  }
  expect([without.status, codeOf(without)], `${name} without data, ${where}`).toEqual([403, 'UNAUTHORIZED']);
};

/** A metric that is not saved: as the user's own editor would try it, and the very card as an author would. */
const comparePreviews = async (
  id: string,
  view: { readonly seeing: string; readonly blindly: string },
  own: Ask,
  { data }: BoardView,
  { dashboardFilter }: Question,
): Promise<void> => {
  const board = boards.get(id.slice(0, id.indexOf('--')));
  for (const { name, definition } of board?.metrics ?? []) {
    const { kind: _, ...parts } = definition as VisualDefinition;
    const bare = { ...parts, filters: undefined, rlsVariables: undefined };
    const plain = { ...definition, filters: [], rlsVariables: [] };
    const shared = { dashboardId: id, dashboardFilter };
    const preview = (as: Ask, of: string, tried: object) =>
      as('POST', '/metric-preview', { ...shared, view: of, definition: tried });
    const [theirs, seen, without] = await Promise.all([
      own('POST', '/metrics/preview', { ...shared, definition: bare }),
      preview(author, view.seeing, plain),
      preview(blind, view.blindly, plain),
    ]);
    expect([without.status, codeOf(without)], name).toEqual([403, 'UNAUTHORIZED']);
    const rowsOf = (answer: Answered): unknown =>
      answer.status === 200
        ? ((bodyOf<{ data: unknown }>(answer).data as { data?: unknown }).data ??
          bodyOf<{ data: unknown }>(answer).data)
        : [answer.status, codeOf(answer)];
    if (theirs.status === 200) {
      tally.previews += 1;
      expect(rowsOf(seen), `preview of ${name} on ${id}`).toEqual(rowsOf(theirs));
    }
    const card = data.metrics.find((metric) => metric.name === name);
    if (card === undefined || seen.status !== 200) continue;
    const asked = await own('POST', `/metrics/${encodeURIComponent(card.metricId)}/query`, shared);
    expect(rowsOf(await preview(author, view.seeing, definition)), `${name} on ${id}`).toEqual(rowsOf(asked));
    tally.previews += 1;
  }
};

/** The user's own dashboard, of cards of this one, as a view reads it. */
const compareOwnBoard = async (
  id: string,
  own: Ask,
  views: readonly [Ask, Ask],
  { data }: BoardView,
): Promise<void> => {
  const path = `/dashboards/${encodeURIComponent(id)}/boards`;
  const layout = data.metrics.map(({ metricId }, y) => ({ metricId, x: 0, y, w: 6, h: 1 }));
  tally.boards += 1;
  const made = await own('POST', path, { name: `own ${tally.boards}`, layout });
  if (made.status !== 200) return;
  const { data: board } = bodyOf<{ data: { id: string } }>(made);
  await compare({ name: 'getGuestBoard', ask: (as) => as('GET', `${path}/${board.id}`) }, own, views, id);
};

let boards: ReadonlyMap<string, Board>;

const withEmbeds = (policy: PolicyParts): PolicyParts =>
  JSON.parse(
    boardIds.reduce(
      (text, id, at) => text.replaceAll(`"${embedOf(id)}"`, `"${world.embeds[at]}"`),
      JSON.stringify(policy),
    ),
  ) as PolicyParts;

/** What the cards of an answer hold: rows were compared, and no empty answers alone. */
const countRows = ({ text, status }: Answered): number =>
  status === 200 ? (JSON.parse(text) as { readonly data: readonly unknown[] }).data.length : 0;

test('a view as a user answers what the user’s own token answers, and without access to data no row', async () => {
  boards = new Map(drawBoards(stage).map((board) => [board.id, board]));
  await fc.assert(
    fc.asyncProperty(theCase, async ({ policy, user, question }) => {
      await world.govern(withEmbeds(policy));
      const [login, seeing, blindly] = await Promise.all([
        world.logIn(user),
        viewOf(author, user),
        viewOf(blind, user),
      ]);
      tally.cases += 1;
      if (login.status !== 200) {
        for (const view of [seeing, blindly])
          expect([view.status, codeOf(view)]).toEqual([login.status, codeOf(login)]);
        return;
      }
      tally.granted += 1;
      const own = bodyOf<Opened>(login);
      const [view, dark] = [seeing, blindly].map((answer) => bodyOf<{ data: Opened }>(answer).data);
      if (view === undefined || dark === undefined) throw new Error('no view');
      expect(view.embeds).toEqual(own.embeds);
      expect(dark.embeds).toEqual(own.embeds);
      const guest = world.asGuest(own.token);
      const views = [world.asView(view.token), world.asView(dark.token)] as const;
      for (const { id, type } of own.embeds) {
        if (type === 'metric') {
          for (const one of questionsOf(id, undefined, question)) await compare(one, guest, views, id);
          continue;
        }
        const opening: Asked = {
          name: 'getGuestDashboard',
          ask: (as) => as('GET', `/dashboards/${encodeURIComponent(id)}`),
        };
        await compare(opening, guest, views, id);
        const board = bodyOf<BoardView>(await opening.ask(guest));
        for (const one of questionsOfBoard(id, board, question)) await compare(one, guest, views, id);
        await comparePreviews(id, { seeing: view.token, blindly: dark.token }, guest, board, question);
        await compareOwnBoard(id, guest, views, board);
      }
    }),
    { seed, numRuns, endOnFailure },
  );
  // With too few answers the cases would test too little.
  if (numRuns < 10) return;
  expect([...seenOperations].toSorted()).toEqual(Object.keys(viewOperations).toSorted());
  expect(tally.granted / tally.cases).toBeGreaterThan(0.3);
  expect(tally.answered / tally.asked).toBeGreaterThan(0.4);
  // How many a seed has varies: about half of the runs.
  expect(Math.min(tally.rows, tally.previews)).toBeGreaterThan(numRuns / 4);
}, 36_000_000);
