/** What people without access to data ask of Studio: everything that can be called, with inputs that are usually accepted. */
import fc from 'fast-check';
import { toolsOf } from '../../src/assistants/mcp/tools.js';
import { commandRules } from '../../src/compose/commands.js';
import type { Operation } from '../../src/platform/http/interface/operation.js';
import { authoredMetric } from '../../src/service/dashboards/contract/author-previews.js';
import { operations } from '../../src/service/operations.js';
import { type Plan, planFor, validFor } from '../fuzz/plan.js';
import { inlined } from '../service/contract/json-fields.js';
import { alertsAt, policyFor } from './blind-world.js';

export type Asked = {
  /** `guest`: a user of a tenant, whose answers are not compared. The others: a person of Studio. */
  readonly as: 'guest' | 'page' | 'view' | 'assistant';
  /** Which user, or which person. */
  readonly who: number;
  readonly what: string;
  readonly method: string;
  /** With placeholders, as in a plan. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly body: unknown;
};

type Parts = Pick<Asked, 'what' | 'method' | 'path'> & Partial<Pick<Asked, 'query' | 'body'>>;

const asked = (as: Asked['as'], parts: fc.Arbitrary<Parts>): fc.Arbitrary<Asked> =>
  // An owner may do what every role may.
  fc
    .tuple(
      fc.oneof(
        fc.nat(60),
        fc.nat(9).map((nth) => nth * 6),
      ),
      parts,
    )
    .map(([who, given]) => ({ as, who, query: [], body: undefined, ...given }));

const all: readonly Operation[] = Object.values(operations);

const jsonOf = ({ body }: Plan): unknown => {
  if (body === null || 'raw' in body) return undefined;
  return 'json' in body ? body.json : body.form;
};

const planned = (operation: Operation, prefix: string): fc.Arbitrary<Parts> =>
  fc
    .oneof(...operation.bindings.map((_, index) => planFor(operation, index)))
    .filter(({ way }) => way === 'valid' || way === 'missing')
    .map((plan) => ({
      ...{ what: operation.name, method: plan.method, path: `${prefix}${plan.path}`, query: plan.query },
      body: jsonOf(plan),
    }));

const anyOf = (chosen: readonly Operation[], prefix: string) =>
  fc.oneof(...chosen.map((operation) => planned(operation, prefix)));

const offered = all.filter(({ roles }) => roles !== undefined);
const ofGuests = all.filter(({ credentials }) => credentials.includes('guestToken'));
/** These take seconds each, and draw what the reads answer. */
const isDrawing = ({ name }: Operation): boolean => /^render/.test(name);

const name = (field: string): fc.Arbitrary<string> => fc.nat(40).map((pick) => `§${field}:${pick}`);
const client = name('clientId');
const template = fc.constantFrom('board', 'defaults', 'risky');
const claims = fc.record(
  {
    sub: fc.constantFrom('ann.0@customer.example', 'someone'),
    roles: fc.subarray(['boss', 'regional', 'short']),
    regions: fc.subarray(['north', '1', 'west']),
    secret: fc.constantFrom("ann's salary", 'x'),
  },
  { requiredKeys: ['sub', 'roles', 'regions', 'secret'] },
);
/** Erased tenants are none of those that users come from. */
const gone = fc.constantFrom('gone-1', 'gone-2');
const reason = fc.constant('a reason');
const maybe = { requiredKeys: [] };

/** Drafts that are valid, and differ in which users they choose; a few have a fault. */
const policyText = fc
  .constantFrom(
    ...['true', '"boss" in user.roles', 'user.claims.secret == "x"', 'user.claims.regions.exists(r, r == "north")'],
    ...['size(user.claims.secret) > 3', 'user.claims.unknown == "x"', '1 +'],
  )
  .map(policyFor);

const kinds = ['dashboard', 'metric', 'source', 'model', 'tenant', 'token', 'schedule', 'rollout', 'audit', 'page'];
// No word of hexadecimal digits alone: it would be found in ids, which differ.
const words = ['acme', 'ann', 'amy.', 'north', 'Hidden', 'board', 'customer', 'salary', 'Other'];
const search = fc
  .tuple(fc.constantFrom(...words), fc.option(fc.constantFrom(...kinds)))
  .map(([q, kind]) => ({ q, ...(kind === null ? {} : { kind }) }));
const viewOfUser = fc.record({
  clientId: client,
  claims: fc.tuple(claims, client).map(([own, org]) => ({ ...own, org })),
});
const authored = validFor(inlined(authoredMetric), 'input');
const previewedReport = fc.record({
  ...{ dashboardId: template, name: fc.constant('Daily'), format: fc.constantFrom('csv', 'link') },
  recurrence: fc.constant({ every: 'day', at: '08:00', timezone: 'UTC' }),
  ...{ recipients: fc.constant({ roles: ['boss'] }), clientId: client, user: fc.constant('ann.0@customer.example') },
});

/** Inputs of the commands. */
const commandInputs: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'audit-export': fc.constant({}),
  'audit-search': fc.record({ words: fc.constantFrom(['acme'], ['ann'], ['mint']) }),
  'audit-verify': fc.constant({}),
  'embed-facts': fc.constant({}),
  'erasure-report': fc.record({ clientId: fc.oneof(client, gone) }),
  'key-create': fc.constant({ dataApp: 'shop', name: 'another' }),
  'key-rotate': fc.constant({ dataApp: 'shop', name: 'host', graceSeconds: 60 }),
  'policy-access': fc.record({
    ...{ template, name: fc.constant('Board'), workspace: fc.constant('shop'), datamart: fc.constant('sales') },
    viewers: fc.constantFrom(
      [{ role: null, restriction: null }],
      [{ role: 'clerk', restriction: { filter: 'Region', hidden: ['Notes'] } }],
    ),
  }),
  'policy-check': fc.oneof(fc.constant({}), fc.record({ text: policyText })),
  'cards-check': fc.record({ template }),
  'policy-explain': fc.oneof(
    fc.record({ claims: fc.tuple(claims, client).map(([own, org]) => ({ ...own, org })) }),
    fc.record({ request: fc.constant('blind') }),
  ),
  'policy-names': fc.oneof(
    fc.constant({}),
    fc.record({ asked: fc.record({ workspace: name('workspaceName') }, maybe) }),
  ),
  'policy-read': fc.constant({}),
  'policy-reload': fc.constant({}),
  'policy-save': fc.record({ text: policyText, digest: fc.constant('0'.repeat(64)) }),
  'policy-words': fc.constant({}),
  'request-explanation': fc.constant({ requestId: 'blind' }),
  'signing-keys': fc.constant({}),
  'schedules-list': fc.oneof(fc.constant({}), fc.record({ tenant: client })),
  'schedule-pause': fc.record({ id: fc.constant('x') }),
  'schedule-resume': fc.record({ id: fc.constant('x') }),
  'read-plan': fc.record({ id: name('queryId') }),
  'read-system': fc.constant({}),
  'list-slow-queries': fc.record({ withTimes: fc.boolean() }, { requiredKeys: [] }),
  'answer-history': fc.constant({}),
  revoke: fc.oneof(
    fc.record({ by: fc.constant('tenant'), tenant: gone, reason }),
    fc.record({ by: fc.constant('user'), subject: fc.constant('nobody'), issuer: fc.constant('host'), reason }),
  ),
  'rollout-apply': fc.record({ template }),
  'rollout-list': fc.constant({}),
  'rollout-plan': fc.record({ template, showsValues: fc.boolean() }, { requiredKeys: ['template'] }),
  'rollout-resume': fc.record({ id: name('rolloutId') }),
  'rollout-rollback': fc.record({ id: name('rolloutId') }),
  'rollout-status': fc.record({ id: name('rolloutId') }),
  'template-check': fc.record(
    { template, clientIds: fc.array(client, { minLength: 1, maxLength: 2 }) },
    { requiredKeys: ['template'] },
  ),
  'template-history': fc.record({ template }),
  'template-record': fc.record({ template }),
  'template-version': fc.record({ template, version: fc.integer({ min: 1, max: 3 }) }),
  'tenant-delete': fc.record({ clientId: gone }),
  'tenant-resume': fc.record({ clientId: client }),
  'tenant-suspend': fc.record({ clientId: gone }),
  'tenants-names': fc.oneof(
    fc.record({ clientIds: fc.array(client, { minLength: 1, maxLength: 3 }) }),
    fc.record({ words: fc.constant(['a']) }),
  ),
  'tenants-list': fc.record({ clientId: client, state: fc.constantFrom('active', 'suspended') }, maybe),
  search,
  'viewers-list': fc.oneof(fc.constant({}), fc.record({ template })),
  'view-open': viewOfUser,
  'metric-preview': authored,
  'metric-statement': authored,
  'metric-to-sql': authored,
  'report-preview': previewedReport,
  'studio-sessions-list': fc.constant({}),
  'studio-sessions-end': fc.constant({ issuer: 'nowhere', subject: 'nobody' }),
  'uploads-list': fc.constant({}),
  'tenants-provision': fc.record({ clientIds: fc.array(client, { minLength: 1, maxLength: 2 }) }, maybe),
  unrevoke: fc.record({ by: fc.constant('tenant'), tenant: gone, reason }),
};

export const commandsWithoutInput = Object.keys(commandRules).filter(
  (command) => !Object.hasOwn(commandInputs, command),
);

const asCommand =
  (what: string) =>
  (body: unknown): Parts => ({ what, method: 'POST', path: `/studio/commands/${what}`, body });
const aCommand = fc
  .oneof(...Object.entries(commandInputs).map(([what, input]) => fc.tuple(fc.constant(what), input)))
  .map(([what, body]) => asCommand(what)(body));

const plainReads = ['session', 'logins'];

/** The paths of Studio's router that are asked here. */
const askedPaths: ReadonlySet<string> = new Set([
  ...plainReads.map((path) => `get /studio/${path}`),
  ...['post /studio/mcp', 'post /studio/commands/:command'],
  ...['all /studio/as/api/v2/guest/{*path}', 'all /studio/api/v2/{*path}'],
]);

/** Paths that read nothing of a tenant: logging in and out, and files that the person sends. */
const otherPaths: ReadonlySet<string> = new Set([
  ...['get /studio/login', 'post /studio/session', 'delete /studio/session', 'delete /studio/sessions'],
  ...['post /studio/uploads', 'put /studio/uploads'],
]);

export const pathsWithoutQuestion = (router: string): readonly string[] =>
  [...router.matchAll(/router\.(get|post|put|delete|all)\('([^']+)'/g)]
    .map(([, method, path]) => `${method} ${path}`)
    .filter((path) => !askedPaths.has(path) && !otherPaths.has(path));

const aRead = fc
  .constantFrom(...plainReads)
  .map((path): Parts => ({ what: path, method: 'GET', path: `/studio/${path}` }));

const aTool = fc
  .oneof(
    ...toolsOf(Object.values(operations).filter(({ roles }) => roles !== undefined)).map(
      ({ name: tool, inputSchema }) => fc.tuple(fc.constant(tool), validFor(inputSchema as never, 'input')),
    ),
    ...Object.entries(commandInputs).map(([command, input]) =>
      fc.tuple(fc.constant(command.replaceAll('-', '_')), input),
    ),
  )
  .map(([tool, given]): Parts => {
    const params = { name: tool, arguments: given };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    return { what: `tool ${tool}`, method: 'POST', path: '/studio/mcp', body };
  });
const tools: fc.Arbitrary<Parts> = fc.constant({
  ...{ what: 'list of tools', method: 'POST', path: '/studio/mcp' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
});

const sales = { schemaName: 'main', tableName: 'sales' };
const column = (columnName: string) => ({ ...sales, columnName });
const own = '/api/v2/guest/dashboards/{§dashboardId:1}';
const chosen = (pick: number): string => `§chosen:${pick}`;
const regionIs = { column: column('region'), predicate: { kind: 'compare', operator: '=', value: chosen(0) } };
const definition = {
  ...{ chart: { type: 'bar' }, from: sales, dimensions: [{ name: 'Region', column: column('region') }] },
  measures: [{ name: 'Revenue', aggregate: 'SUM', column: column('amount') }],
};
const withDefault = {
  ...{ name: 'own', label: 'Own', column: column('region'), dataType: 'string' },
  defaultValue: [chosen(1)],
};
/** A chart that shows a number of the rows that its maker saw. */
const withNumbers = {
  chart: { type: 'bar', lines: [{ kind: 'value', value: chosen(3) }] },
};
const daily = { every: 'day', at: '08:00', timezone: 'UTC' };
const soon = { ...daily, at: alertsAt };
const aName = fc.nat(300).map((nth) => `made ${nth}`);
const aTemplate = fc.constantFrom('board', 'defaults', 'risky');

/** A dashboard of the user's tenant, and one of its metrics. */
const aCard = fc.tuple(aTemplate, fc.nat(20)).map(([at, pick]) => ({
  dashboardId: `§${at}:1`,
  metricId: `§metricOf${at}:${pick * 2}`,
}));

const schedulesOf = (board: string): string => `/api/v2/guest/dashboards/{${board}}/schedules`;
/** The rows of one of the two are in breach. */
const anAlert = (made: string, board: string, metricId: string, isAbove: boolean): Parts => {
  const condition = isAbove ? { is: 'above', value: 1000 } : { is: 'below', value: 500 };
  return {
    ...{ what: 'make an alert', method: 'POST', path: schedulesOf(board) },
    body: { name: made, format: 'alert', recurrence: soon, alert: { metricId, measure: 'Revenue', condition } },
  };
};
const aReport = (made: string, board: string): Parts => ({
  ...{ what: 'make a report', method: 'POST', path: schedulesOf(board) },
  body: { name: made, format: 'csv', recurrence: daily },
});
const aPreview = (board: string): Parts => ({
  ...{ what: 'preview a report', method: 'POST', path: `${schedulesOf(board)}/preview` },
  body: { name: 'seen before', format: 'csv', recurrence: daily },
});
const aSending = (board: string, pick: number): Parts => ({
  ...{ what: 'send at once', method: 'POST', path: `${schedulesOf(board)}/send` },
  body: { scheduleId: `§scheduleId:${pick}` },
});

/** What each user has sent before anything else is asked. Of the schedules that are known, most are of others. */
export const firstMessages = (howMany: number, metrics: number): readonly Asked[] => {
  const own = '§board:1';
  const picks = Array.from({ length: metrics }, (_, nth) => nth * 2);
  const ofEach = (made: (nth: number) => readonly Parts[]): readonly Asked[] =>
    Array.from({ length: howMany }, (_, who) =>
      made(who).map((given): Asked => ({ as: 'guest', who, query: [], body: undefined, ...given })),
    ).flat();
  const board = { what: 'open', method: 'GET', path: `/api/v2/guest/dashboards/{${own}}` };
  // Reports of the board fail, since one of its metrics needs a variable that nobody has.
  const whole = '§defaults:1';
  const reports = ofEach((who) => [board, aReport(`first report ${who}`, whole)]);
  const sent = ofEach((who) => [aSending(whole, who * 2)]);
  // A file of a metric whose query fails depending on the rows.
  const risky = '§risky:1';
  const path = `/api/v2/guest/dashboards/{${risky}}`;
  const files = ofEach((who) => [
    { what: 'open', method: 'GET', path },
    {
      ...aReport(`first file ${who}`, risky),
      body: { name: `first file ${who}`, format: 'csv', recurrence: daily, metricIds: ['§metricOfrisky:0'] },
    },
  ]);
  const filesSent = ofEach((who) => [aSending(risky, (howMany + who) * 2)]);
  // Nobody asks for these alerts, so only what is in breach is told.
  const alerts = ofEach((who) =>
    picks.flatMap((pick) =>
      [true, false].map((isAbove) =>
        anAlert(`first ${who} ${pick} ${isAbove}`, own, `§metricOfboard:${pick}`, isAbove),
      ),
    ),
  );
  return [...reports, ...sent, ...files, ...filesSent, ...alerts];
};

/** What became of these messages, as each person of Studio is told. */
export const readMessages = (howMany: number): readonly Asked[] =>
  Array.from({ length: howMany }, (_, who): Asked => {
    const list = { as: 'page', method: 'POST', path: '/studio/commands/schedules-list', query: [], body: {} } as const;
    return { ...list, who, what: 'schedules-list' };
  });

/** What users do with their dashboards. They choose values that they see in their rows. */
const aDeed: fc.Arbitrary<Parts> = fc.oneof(
  aTemplate.map((at): Parts => ({ what: 'open', method: 'GET', path: `/api/v2/guest/dashboards/{§${at}:1}` })),
  fc.tuple(aCard, fc.constantFrom<object>({}, { dashboardFilter: { Region: [chosen(0)] } })).map(
    ([{ dashboardId, metricId }, more]): Parts => ({
      ...{ what: 'query', method: 'POST', path: `/api/v2/guest/metrics/{${metricId}}/query` },
      body: { dashboardId, ...more },
    }),
  ),
  fc
    .constantFrom('Region', 'Paid', 'Product')
    .map((one): Parts => ({ what: 'options', method: 'GET', path: `${own}/filters/${one}/options` })),
  fc.tuple(aName, fc.constantFrom<object>({ where: { all: [regionIs] } }, { filters: [withDefault] }, withNumbers)).map(
    ([made, more]): Parts => ({
      ...{ what: 'make a metric', method: 'POST', path: `${own}/metrics` },
      body: { name: made, definition: { ...definition, ...more }, card: { x: 0, y: 90, w: 6, h: 4 } },
    }),
  ),
  fc.tuple(aName, fc.boolean(), fc.boolean()).map(
    ([made, isShared, isDefault]): Parts => ({
      ...{ what: 'save a view', method: 'POST', path: `${own}/views` },
      body: { name: made, dashboardFilter: { Region: [chosen(0), chosen(1)] }, isShared, isDefault },
    }),
  ),
  fc
    .tuple(aName, aCard, fc.boolean())
    .map(([made, { dashboardId, metricId }, isAbove]): Parts => anAlert(made, dashboardId, metricId, isAbove)),
  fc.tuple(aName, aTemplate).map(([made, at]): Parts => aReport(made, `§${at}:1`)),
  aTemplate.map((at): Parts => aPreview(`§${at}:1`)),
  fc.tuple(aTemplate, fc.nat(30)).map(([at, pick]): Parts => aSending(`§${at}:1`, pick * 2)),
  fc.tuple(aName, aCard).map(
    ([made, { dashboardId, metricId }]): Parts => ({
      ...{ what: 'make a board', method: 'POST', path: `/api/v2/guest/dashboards/{${dashboardId}}/boards` },
      body: { name: made, layout: [{ metricId, x: 0, y: 0, w: 6, h: 4 }], isShared: true },
    }),
  ),
);

/** What a view may read of the dashboards of its user. */
const aLook: fc.Arbitrary<Parts> = fc.oneof(
  aTemplate.map(
    (at): Parts => ({ what: 'open as', method: 'GET', path: `/studio/as/api/v2/guest/dashboards/{§${at}:1}` }),
  ),
  aCard.map(
    ({ metricId }): Parts => ({
      what: 'metric as',
      method: 'GET',
      path: `/studio/as/api/v2/guest/metrics/{${metricId}}`,
    }),
  ),
  fc.constant<Parts>({ what: 'fields as', method: 'GET', path: `/studio/as${own}/fields` }),
);

const looked = all.filter((operation) => operation.viewedAs !== undefined && !isDrawing(operation));

/** One request after another. Users of tenants act between those who may not see what they do. */
export const anAsked: fc.Arbitrary<Asked> = fc.oneof(
  { weight: 8, arbitrary: asked('guest', aDeed) },
  { weight: 4, arbitrary: asked('view', aLook) },
  {
    weight: 2,
    arbitrary: asked(
      'guest',
      anyOf(
        ofGuests.filter((one) => !isDrawing(one)),
        '',
      ),
    ),
  },
  { weight: 10, arbitrary: asked('page', anyOf(offered, '/studio')) },
  { weight: 6, arbitrary: asked('page', aCommand) },
  { weight: 2, arbitrary: asked('page', search.map(asCommand('search'))) },
  { weight: 4, arbitrary: asked('page', aRead) },
  { weight: 1, arbitrary: asked('page', viewOfUser.map(asCommand('view-open'))) },
  {
    weight: 1,
    arbitrary: asked(
      'page',
      fc.oneof(
        ...['metric-preview', 'metric-statement', 'metric-to-sql'].map((one) => authored.map(asCommand(one))),
        previewedReport.map(asCommand('report-preview')),
      ),
    ),
  },
  { weight: 3, arbitrary: asked('view', anyOf(looked, '/studio/as')) },
  {
    weight: 4,
    arbitrary: asked('assistant', fc.oneof({ weight: 9, arbitrary: aTool }, { weight: 1, arbitrary: tools })),
  },
);
