import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepPolicyText } from '../../src/gateway/audit/commands.js';
import { createAudit } from '../../src/gateway/audit/writer.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { createReachOf } from '../../src/gateway/policy/reach.js';
import { recordOf } from '../../src/gateway/policy/record.js';
import { evaluateCase } from '../../src/gateway/policy-tools/dry-run.js';
import { type Explanation, explainGrant } from '../../src/gateway/policy-tools/explain.js';
import { createPolicyExplainCommand, type LoggedRequest } from '../../src/gateway/policy-tools/explain-command.js';
import { writeExplanation } from '../../src/gateway/policy-tools/explain-text.js';
import { factsOf, viewOf } from '../../src/gateway/policy-tools/grant-facts.js';
import { createTenantStep } from '../../src/gateway/tenant/resolve.js';
import { createMetricLists, currentLists } from '../../src/gateway/token/metric-lists.js';
import { createUpstream } from '../../src/gateway/upstream/upstream.js';
import { Refusal } from '../../src/model/refusal.js';
import { fixedPolicies } from './fixed-policies.js';
import { captureLog, createMovableClock, gatewayToken, manager, regional, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { basePolicy, policyOf } from './policies.js';
import { bodyOf, claimsOf, documentOf, policyModel, user } from './policy-models.js';

const now = new Date('2026-03-04T05:06:07Z');
const ann = { sub: 'ann', org_id: 'LAX', roles: ['analyst'], region: 'CA' };
const rule = (name: string, grant: object, when = 'true') => ({
  name,
  when,
  grant: { templates: ['delays'], ...grant },
});
const restriction = (name: string, restrict: object, when = 'true') => ({ name, when, restrict });
const explain = (policy: object, claims: object = ann, body: object = {}) =>
  explainGrant({ policy: policyOf(policy), of: { claims: { ...claims }, body, now } });

const restricted = {
  rules: [
    rule('all', { templates: ['delays', 'routes'], permissions: ['isEnableDownloadMetrics'], timezone: '"UTC"' }),
  ],
  restrictions: [
    restriction('r1', { rls: { state: 'user.claims.region' }, appFilters: { Carrier: '["AA", "UA"]' } }),
    restriction('r2', { appFilters: { Carrier: '["UA", "DL"]' }, hideMetrics: { delays: ['Average delay', 'gone'] } }),
    restriction('r3', { dashboardFilters: { Date: '"2001"' }, isDisableMetricCreation: true }),
  ],
};

describe('the token request of an explanation', () => {
  it.each([
    ['a manager of the demo', undefined, manager, {}],
    ['a regional user of the demo', undefined, regional, {}],
    ['a restricted user', restricted, ann, {}],
    ['a restricted user who asks for one dashboard', restricted, ann, { embeds: ['routes--LAX'] }],
  ])('equals the one that the gateway sends for %s', async (_, overrides, claims, body) => {
    const policy = overrides === undefined ? {} : { policy: policyOf(overrides) };
    const gateway = await startGateway(policy);
    const issued = { iss: 'guestlist-demo', ...claims };
    await gateway.granted(issued, body);
    const { upstream, url } = gateway;
    const answer = await fetch(`${url}/gateway/admin/policy-explain`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayToken}` },
      body: JSON.stringify({ claims: issued, body }),
    });
    const { data } = (await answer.json()) as {
      data: { explanation: { request: unknown; metrics: string }; text: string };
    };
    expect(data.explanation.request).toEqual(upstream.lastMint());
    expect(data.explanation.metrics).toBe(overrides === undefined ? 'not needed' : 'listed');
    expect(data.text).toMatch(/^GRANTED: user /);
  });

  it('marks parts that only an upstream knows, if none is called or the dashboard does not exist yet', async () => {
    const offline = await explain(restricted);
    const { transport } = (await startGateway()).upstream;
    const upstream = createUpstream(transport, 'k');
    const listMetrics = currentLists(createMetricLists({ upstream, clock: createMovableClock() }));
    const online = await explainGrant({
      policy: policyOf(restricted),
      of: { claims: ann, body: {}, now },
      listMetrics,
    });
    for (const { request, metrics } of [offline, online]) {
      expect(metrics).toBe('placeholders');
      expect(request?.params?.rlsSettings).toEqual([
        { metricId: '<each metric of delays--LAX that is not hidden>', values: { state: 'CA' } },
        { metricId: '<each metric of routes--LAX that is not hidden>', values: { state: 'CA' } },
      ]);
      expect(request?.params?.hideDashboardMetrics).toEqual([
        { dashboardId: 'delays--LAX', metricIds: ['Average delay', 'gone'] },
      ]);
    }
    expect(writeExplanation(offline)).toContain('in <angle brackets> is one entry for each such metric');
  });
});

describe('each part of an explained grant', () => {
  it('names the rules with their lines, and the rules that had no effect', async () => {
    const { fields } = await explain({
      expiryMinutes: 60,
      rules: [
        rule('long', { expiryMinutes: 90, timezone: '"UTC"', permissions: ['isShowSideBar'] }),
        rule('short', { expiryMinutes: 30, timezone: '"Europe/Lisbon"', templates: ['routes'] }),
        rule('silent', {}),
        rule('never', { permissions: ['isEnableUnderlyingData'], expiryMinutes: 1 }, 'false'),
      ],
      restrictions: [
        restriction('r1', { rls: { state: '["CA", "NV"]' } }),
        restriction('r2', { rls: { state: 'user.claims.region' }, hideDashboardFilters: ['Date'] }),
      ],
    });
    const at = expect.stringMatching(/^test\.yaml:\d+:\d+$/);
    const from = (name: string, says: unknown, counts = true) => ({ name, at, says, counts });
    expect(fields).toEqual([
      { field: 'templates', value: 'delays', from: [from('long', 'delays'), from('silent', 'delays')] },
      { field: 'templates', value: 'routes', from: [from('short', 'routes')] },
      { field: 'permissions', value: 'isShowSideBar', from: [from('long', 'isShowSideBar')] },
      {
        field: 'expiryMinutes',
        value: 30,
        from: [from('long', 90, false), from('short', 30), { ...from('silent', 60, false), isFileDefault: true }],
      },
      {
        field: 'timezone',
        value: 'UTC',
        from: [
          { ...from('long', '"UTC"'), valueAt: at },
          { ...from('short', '"Europe/Lisbon"', false), valueAt: at },
        ],
      },
      {
        field: 'rls.state',
        value: 'CA',
        from: [
          { ...from('r1', ['CA', 'NV']), valueAt: at },
          { ...from('r2', 'CA'), valueAt: at },
        ],
      },
      { field: 'hideDashboardFilters', value: 'Date', from: [from('r2', 'Date')] },
    ]);
  });

  it('names the exact line', async () => {
    const text = [
      ...['version: 1', 'dataApp: d', 'workspace: w', 'datamart: m', 'session:', '  claims: {org_id: string}'],
      ...['  tenant: claims.org_id', '  roles: "[]"', 'templates: {delays: {name: D}}', 'rules:', '  - name: r'],
      ...['    when: "true"', '    grant: {templates: [delays]}', 'restrictions:', '  - name: x', '    when: "true"'],
      ...['    restrict:', '      rls:', '        v: tenant.id'],
    ].join('\n');
    const explanation = await explainGrant({
      policy: loadPolicy(text, 'p.yaml'),
      of: { claims: { sub: 'a', org_id: 'LAX' }, body: {}, now },
    });
    const written = writeExplanation(explanation);
    expect(written).toContain('tenant LAX (p.yaml:7:11: claims.org_id)');
    expect(written).toMatch(/templates: delays\n +from +r +p\.yaml:12:11\n/);
    expect(written).toMatch(/rls\.v: LAX\n +from +x +p\.yaml:19:12\n/);
    expect(explanation.restrictions).toMatchObject([{ name: 'x', at: 'p.yaml:16:11', result: 'matches' }]);
  });

  it('adds up to the grant, for any policy and user', async () => {
    let granted = 0;
    await fc.assert(
      fc.asyncProperty(policyModel, user, async (model, who) => {
        const policy = loadPolicy(JSON.stringify(documentOf(model)), 'p.yaml');
        const of = { claims: claimsOf(who), body: bodyOf(who), now };
        const explanation = await explainGrant({ policy, of });
        const dryRun = await evaluateCase(policy, of);
        expect(explanation.denial?.code).toBe(dryRun.isGranted ? undefined : dryRun.refusal.code);
        if (!dryRun.isGranted) return;
        granted += 1;
        const { because } = dryRun.grant;
        const matching = (all: typeof explanation.rules) =>
          all.filter(({ result }) => result === 'matches').map(({ at }) => at);
        expect(matching(explanation.rules)).toEqual(because.rules.map(({ when }) => when.at));
        expect(matching(explanation.restrictions)).toEqual(because.restrictions.map((one) => one.rule.when.at));
        const facts = factsOf(viewOf(dryRun));
        const all = recordOf(dryRun.decision);
        expect(explanation.fields).toEqual(all);
        for (const [field, { kind, value }] of facts) {
          if (field === 'embeds' || kind === 'whose') continue;
          const own = all.filter((one) => one.field === field);
          if (field === 'isDisableMetricCreation') {
            expect(own.length).toBe((value as readonly string[]).length);
          } else if (kind === 'granted' || kind === 'hidden') {
            expect(own.map((one) => one.value).toSorted()).toEqual(value);
          } else {
            expect(own.map((one) => one.value)).toEqual([value]);
          }
          // Every value has an origin, except a missing timezone.
          if (value !== null) for (const one of own) expect(one.from.some(({ counts }) => counts)).toBe(true);
        }
      }),
      { seed: 20_261_122, numRuns: 60 },
    );
    expect(granted).toBeGreaterThan(15);
  });
});

describe('an explained denial', () => {
  it('names the expression, and for rules that did not match, whether they were false or failed', async () => {
    const { denial, rules, request, restrictions, fields } = await explain({
      rules: [
        rule('no', {}, '"manager" in user.roles'),
        rule('lost', {}, 'user.claims.zoneinfo == "UTC"'),
        rule('yes', {}),
      ],
      restrictions: [restriction('r', { rls: { v: 'user.claims.zoneinfo' } })],
    });
    expect(denial).toMatchObject({
      code: 'POLICY_UNDECIDED',
      fault: { expression: 'user.claims.zoneinfo == "UTC"', code: expect.stringMatching(/^no_such/i) },
    });
    expect(rules.map(({ name, result }) => [name, result])).toEqual([
      ['no', 'does not match'],
      ['lost', 'undecided'],
      ['yes', 'matches'],
    ]);
    expect(restrictions).toMatchObject([{ result: 'undecided', fault: { expression: 'user.claims.zoneinfo' } }]);
    expect([request, fields]).toEqual([null, []]);
  });

  it('names the part of a condition that is false', async () => {
    const when = '"analyst" in user.roles && (tenant.id == "ATL" || (user.id) == ("x")) && !has(user.claims.zoneinfo)';
    const { rules } = await explain({
      rules: [rule('r', {}, when), rule('s', {}, 'tenant.id == "LAX" && user.claims.zoneinfo == "UTC"')],
    });
    const { rules: single } = await explain({ rules: [rule('r', {}, 'false')] });
    expect(rules.map(({ terms }) => terms.map(({ expression, result }) => `${result}: ${expression}`))).toEqual([
      expect.arrayContaining([
        'true: "analyst" in user.roles',
        'false: tenant.id == "ATL"',
        'true: !has(user.claims.zoneinfo)',
      ]),
      ['true: tenant.id == "LAX"', 'undecided: user.claims.zoneinfo == "UTC"'],
    ]);
    expect(single[0]?.terms).toEqual([]);
  });

  it('shows both restrictions that together leave nothing', async () => {
    const { denial, fields } = await explain({
      restrictions: [restriction('r1', { rls: { v: '"a"', w: '"c"' } }), restriction('r2', { rls: { v: '"b"' } })],
    });
    expect(denial?.reason).toBe('empty-intersection');
    expect(fields).toMatchObject([
      {
        field: 'rls.v',
        value: null,
        from: [
          { name: 'r1', says: 'a' },
          { name: 'r2', says: 'b' },
        ],
      },
    ]);
  });

  it('needs neither tenant nor user', async () => {
    expect(await explain({}, {})).toMatchObject({ denial: { code: 'SESSION_INVALID' }, user: null, rules: [] });
    expect(await explain({}, { sub: 'a' })).toMatchObject({ denial: { code: 'NO_TENANT' }, user: 'a', tenant: null });
    const roleless = { session: { ...basePolicy.session, roles: 'claims.roles' } };
    expect(await explain(roleless, { sub: 'a', org_id: 'LAX' })).toMatchObject({
      denial: { code: 'POLICY_UNDECIDED', fault: { expression: 'claims.roles' } },
      roles: null,
    });
  });

  it('is given for a tenant whose dashboards have no valid id', async () => {
    expect((await explain({}, { sub: 'a', org_id: 'x'.repeat(255) })).denial?.reason).toBe('tenant-too-long');
  });
});

it('names unusual claims and fields', async () => {
  const { notes } = await explain({}, { ...ann, region: 7, mail: 'x', exp: 1 }, { embeds: ['routes'] });
  expect(notes).toEqual([
    expect.stringContaining('Claim "region" is no string'),
    expect.stringContaining('declares no claim "mail"'),
    expect.stringContaining('"delays" is granted, and left out'),
  ]);
});

describe('an earlier request', () => {
  const then = JSON.stringify({ ...basePolicy, rules: [rule('of then', { timezone: 'request' })] }, null, 2);
  const logged = {
    claims: ann,
    body: { timezone: 'Europe/Lisbon' },
    now,
    code: 'OK',
    clientId: 'LAX',
    files: [{ file: 'then.yaml', text: then }],
  };

  const commandFor = (request: LoggedRequest, asked: string[] = []) =>
    createPolicyExplainCommand({
      policies: fixedPolicies(policyOf()),
      reachOf: createReachOf(null, ''),
      tenantOf: createTenantStep(() => expect.fail('no host is asked')),
      listMetrics: async () => [],
      findEmbeds: async () => [],
      checkCards: async () => undefined,
      clock: createMovableClock(),
      assertTenant: (clientId) => {
        if (clientId === 'ATL') throw new Refusal('TENANT_SUSPENDED', 'It is suspended.');
      },
      loadRequest: async (id) => {
        asked.push(id);
        return request;
      },
    });
  const explainLogged = async (request: LoggedRequest): Promise<Explanation> =>
    ((await commandFor(request).run({ request: 'id' })) as { explanation: Explanation }).explanation;

  it('is explained by the policy and tenant of that time', async () => {
    const explanation = await explainLogged({ ...logged, clientId: 'ATL' });
    expect(explanation).toMatchObject({
      policy: { file: 'then.yaml', digest: loadPolicy(then, 'x').digest },
      now: now.toISOString(),
      tenant: { clientId: 'ATL' },
      request: { clientId: 'ATL', params: { timezone: 'Europe/Lisbon', allowedEmbeds: ['delays--ATL'] } },
    });
  });

  it('an earlier request whose answer differs from its policy shows the real outcome first, with what to do', async () => {
    expect((await explainLogged(logged)).answer).toBeNull();
    const suspended = await explainLogged({ ...logged, code: 'TENANT_SUSPENDED' });
    expect(suspended).toMatchObject({ answer: { code: 'TENANT_SUSPENDED' }, denial: null });
    const [first, second, third] = writeExplanation(suspended).split('\n');
    expect(first).toMatch(/^DENIED with TENANT_SUSPENDED: user .*, tenant LAX /);
    expect(second).toContain('tenant-resumed');
    expect(third).toBe('  That was not the policy. The policy alone: GRANTED.');
  });

  it('is refused if its policy cannot be read any more', async () => {
    const files = [{ file: 'then.yaml', text: 'version: 0' }];
    await expect(explainLogged({ ...logged, files })).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    await expect(explainLogged({ ...logged, files: [] })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('needs either its id or claims, never both', async () => {
    const asked: string[] = [];
    const command = commandFor(logged, asked);
    expect(await command.run({ request: 'id-1' })).toMatchObject({
      explanation: { rules: [{ name: 'of then' }] },
      text: expect.stringContaining('of then'),
    });
    expect(asked).toEqual(['id-1']);
    expect(await command.run({ claims: ann, now: '2026-01-01T00:00:00Z' })).toMatchObject({
      explanation: { now: '2026-01-01T00:00:00.000Z', rules: [{ name: 'all' }] },
    });
    for (const input of [
      {},
      { claims: ann, request: 'x' },
      { request: 'x', body: {} },
      { claims: ann, body: { a: 1 } },
    ]) {
      await expect(command.run(input), JSON.stringify(input)).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY' });
    }
  });

  it('is explained from the audit, a mint and a denial, after the policy has changed', async () => {
    const ledger = await openTestLedger();
    const { log } = captureLog();
    const clock = createMovableClock();
    const audit = createAudit({ ledger, clock, log });
    let policy = policyOf(restricted);
    const policies = { ...fixedPolicies(policy), current: () => policy };
    await keepPolicyText(ledger, policy, clock.now());
    const gateway = await startGateway({ ledger, audit, policies, clock });
    const issued = { iss: 'guestlist-demo', ...ann };
    const idOf = async (claims: object) => (await gateway.ask(claims)).headers.get('x-request-id') ?? '';
    const minted = await idOf(issued);
    const cached = await idOf(issued);
    const denied = await idOf({ ...issued, region: 7 });
    await audit.close();
    policy = policyOf({ rules: [rule('later', {})] });
    clock.advance(1000);
    const explained = async (request: string) => {
      const answer = await fetch(`${gateway.url}/gateway/admin/policy-explain`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gatewayToken}` },
        body: JSON.stringify({ request }),
      });
      type Body = { data: { explanation: Explanation } | null; error: { code: string; message: string } | null };
      return (await answer.json()) as Body;
    };
    expect((await explained(minted)).data?.explanation).toMatchObject({
      request: gateway.upstream.lastMint(),
      rules: [{ name: 'all' }],
      now: new Date(clock.now().getTime() - 1000).toISOString(),
    });
    expect((await explained(denied)).data?.explanation).toMatchObject({
      denial: { code: 'POLICY_UNDECIDED', fault: { expression: 'user.claims.region' } },
      request: null,
    });
    for (const id of [cached, 'another']) {
      expect((await explained(id)).error).toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('the line of a cached token the request that minted it as mintedBy'),
      });
    }
    expect(gateway.lines.find(({ requestId }) => requestId === cached)?.mintedBy).toBe(minted);
  });
});
