/** A policy sends each tenant to its own datasource or datamart, and nobody anywhere where it is not sure of one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPolicyStep } from '../../src/gateway/policy/decide.js';
import { isGrantSubset } from '../../src/gateway/policy/grant-subset.js';
import { findUnknownNames } from '../../src/gateway/policy/names.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { datamartsOf, tenantSourceOf } from '../../src/gateway/policy/tenant-source.js';
import { readsTime } from '../../src/gateway/policy/validity.js';
import { askedNames, readCatalogue } from '../../src/gateway/policy-names/read-catalogue.js';
import { explainGrant } from '../../src/gateway/policy-tools/explain.js';
import { runPolicyTests } from '../../src/gateway/policy-tools/test.js';
import { createCopies } from '../../src/gateway/rollout/copies.js';
import { tryMetrics } from '../../src/gateway/rollout/try-metrics.js';
import { createUpstream } from '../../src/gateway/upstream/upstream.js';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Workspace } from '../../src/model/organization.js';
import { hashToken } from '../../src/platform/keys/keys.js';
import { byClients, createFolder, datasourceAt } from '../engine/world.js';
import { startGateway } from './harness.js';
import { createOwnService, type OwnService } from './own-service.js';
import { changeablePolicies, policyOf } from './policies.js';

let service: OwnService;
let folder: Awaited<ReturnType<typeof createFolder>>;
beforeAll(async () => {
  service = await createOwnService();
  folder = await createFolder();
  // Of the tenants `a` and `b`, the database of `sales` has five sales and one, this one has two and three.
  const path = await folder.build('sales2', [
    'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
    "INSERT INTO clients VALUES ('a', 'A'), ('b', 'B')",
    'CREATE TABLE sales (id BIGINT, client VARCHAR, shop VARCHAR)',
    "INSERT INTO sales VALUES (1,'a','s1'), (2,'a','s1'), (3,'b','s2'), (4,'b','s3'), (5,'b','s1')",
  ]);
  const held = await service.store.datasources.findByName('warehouse-sales2');
  if (held === undefined) throw new Error('there is no datasource');
  await service.store.datasources.update({ ...held, ...datasourceAt(path), id: held.id, name: held.name });
});
afterAll(async () => {
  await service.close();
  await folder.remove();
});

const base = {
  ...{ dataApp: 'app', workspace: 'space', datamart: 'sales' },
  templates: { delays: { name: 'Delays' }, routes: { name: 'Routes' } },
};
type Parts = {
  readonly grant?: object;
  readonly restrict?: object;
  readonly template?: object;
  readonly override?: object;
  readonly more?: object;
};
const documentOf = ({ grant = {}, restrict, template = {}, override, more = {} }: Parts) => ({
  ...base,
  templates: { delays: { name: 'Delays', ...template }, routes: { name: 'Routes' } },
  rules: [{ name: 'all', when: 'true', grant: { templates: ['delays'], ...grant } }],
  ...(restrict === undefined ? {} : { restrictions: [{ name: 'narrow', when: 'true', restrict }] }),
  ...(override === undefined ? {} : { tenants: [{ name: 'a alone', clientIds: ['a'], ...override }] }),
  ...more,
});
const user = (org_id: string, more: object = {}) => ({ iss: 'guestlist-demo', sub: 'ann', org_id, ...more });

const start = async (parts: Parts) => {
  const policies = changeablePolicies(policyOf(documentOf(parts)));
  const gateway = await startGateway({ policies, ledger: service.ledger, upstream: service.upstream });
  /** The number of sales that the user reads with a new token, and the token. */
  const read = async (claims: object, body?: unknown) => {
    const { token, embeds } = await gateway.granted(claims, body);
    const grant = await service.store.guestTokens.findByHash(hashToken(token));
    const [embed] = embeds;
    if (grant === undefined || embed === undefined) throw new Error('the token opens nothing');
    const copy = await service.store.dashboards.findByExternalId(grant.dataAppId, embed.id);
    const [placed] = await service.store.dashboards.listMetrics(copy?.id ?? '');
    const guest = { kind: 'guest' as const, grant: { ...grant, revision: null } };
    return { token, count: await service.count(guest, placed?.metric.metricId ?? '', embed.id) };
  };
  const reason = async (claims: object, body?: unknown) => (await gateway.refused(claims, body)).reason;
  return { ...gateway, policies, read, reason };
};

const byTenant = { expression: "tenant.id == 'b' ? 'sales2' : 'sales'" };
const byRegion = { expression: "'sales' + user.claims.region" };

describe('a source that the policy names', () => {
  it.each<[string, Parts]>([
    ['a rule', { grant: { datamart: 'sales2' } }],
    ['a restriction', { restrict: { datamart: 'sales2' } }],
    ['a template', { template: { datamart: 'sales2' } }],
    ['an override', { override: { datamart: 'sales2' } }],
    ['a datasource', { grant: { datasource: 'warehouse-sales2' } }],
    ['both', { grant: { datasource: 'warehouse-sales2' }, override: { datamart: 'sales2' } }],
    [
      'several that agree',
      { grant: { datamart: 'sales2' }, restrict: { datamart: byRegion }, override: { datamart: 'sales2' } },
    ],
  ])('the source that it names is the one that is read: %s', async (_, parts) => {
    expect((await (await start(parts)).read(user('a', { region: '2' }))).count).toBe(2);
  });

  it('is the embed’s own where nothing names one', async () => {
    const { read } = await start({ override: { datamart: 'sales2' } });
    expect((await read(user('b'))).count).toBe(1);
  });

  it('follows the tenant, and the user’s claims', async () => {
    const ofTenant = await start({ grant: { datamart: byTenant } });
    expect([(await ofTenant.read(user('a'))).count, (await ofTenant.read(user('b'))).count]).toEqual([5, 3]);
    const ofUser = await start({ grant: { datamart: byRegion } });
    const [one, other] = [await ofUser.read(user('a', { region: '' })), await ofUser.read(user('a', { region: '2' }))];
    expect([one.count, other.count]).toEqual([5, 2]);
    expect(one.token).not.toBe(other.token);
    expect((await ofUser.read(user('a', { region: '2' }))).token).toBe(other.token);
  });

  it('has a token of its own, also where all else is the same', async () => {
    const { read, policies } = await start({});
    const before = await read(user('b'));
    await policies.change(policyOf(documentOf({ grant: { datamart: 'sales2' } })));
    const after = await read(user('b'));
    expect([before.count, after.count]).toEqual([1, 3]);
    expect(after.token).not.toBe(before.token);
  });
});

describe('denied, with the reason', () => {
  it.each<[string, Parts]>([
    [
      'two rules',
      {
        more: {
          rules: ['sales', 'sales2'].map((datamart) => ({
            name: datamart,
            when: 'true',
            grant: { templates: ['delays'], datamart },
          })),
        },
      },
    ],
    ['rule and restriction', { grant: { datamart: 'sales' }, restrict: { datamart: 'sales2' } }],
    ['rule and template', { grant: { datamart: 'sales' }, template: { datamart: 'sales2' } }],
    ['rule and override', { grant: { datamart: 'sales' }, override: { datamart: 'sales2' } }],
    ['restriction and template', { restrict: { datamart: 'sales' }, template: { datamart: 'sales2' } }],
    ['datasources', { grant: { datasource: 'warehouse-sales' }, restrict: { datasource: 'warehouse-sales2' } }],
    [
      'a template beside one that names none',
      { grant: { templates: ['delays', 'routes'] }, template: { datamart: 'sales2' } },
    ],
  ])('those who name it disagree: %s', async (_, parts) => {
    const { reason, lines } = await start(parts);
    expect(await reason(user('a'))).toBe('sources-disagree');
    expect(JSON.stringify(lines)).toContain('there is no one');
  });

  it('of two templates with their own sources, each may be asked for alone', async () => {
    const templates = { delays: { name: 'D', datamart: 'sales2' }, routes: { name: 'R', datamart: 'sales' } };
    const { read, reason } = await start({ grant: { templates: ['delays', 'routes'] }, more: { templates } });
    expect(await reason(user('a'))).toBe('sources-disagree');
    expect((await read(user('a'), { embeds: ['delays'] })).count).toBe(2);
    expect((await read(user('a'), { embeds: ['routes'] })).count).toBe(5);
  });

  it.each<[string, Parts, string]>([
    ['an unknown datamart', { grant: { datamart: 'nowhere' } }, 'mint-field-refused'],
    ['an unknown datasource', { grant: { datasource: 'nowhere' } }, 'mint-field-refused'],
    ['an unknown datamart of a user', { grant: { datamart: byRegion } }, 'mint-field-refused'],
    [
      'a datamart of another datasource',
      { grant: { datasource: 'warehouse-sales', datamart: 'sales2' } },
      'mint-field-refused',
    ],
    [
      'a name that is no text',
      { grant: { datamart: { expression: "user.claims.region == '' ? '' : ''" } } },
      'expression-failed',
    ],
  ])('the service cannot read what is named: %s', async (_, parts, expected) => {
    const { refused } = await start({ ...parts, more: { dataApp: 'app' } });
    // A tenant of its own: the copy does not exist yet.
    expect(await refused(user(`new-${expected}-${_}`.slice(0, 40), { region: 'X' }))).toMatchObject({
      ...{ status: 403, code: 'POLICY_UNDECIDED', reason: expected },
    });
  });

  it('a workspace that reads one source alone', async () => {
    const workspace = (await service.store.workspaces.findById('w')) as Workspace;
    await service.store.workspaces.update({ ...workspace, connectionType: 'DATAMART', datamartId: 'mart-sales' });
    try {
      const { reason } = await start({ grant: { datamart: 'sales2' } });
      expect(await reason(user('a'))).toBe('mint-field-refused');
      expect(await reason(user('new-tenant'))).toBe('mint-field-refused');
      const own = await start({ grant: { datamart: 'sales' } });
      expect((await own.read(user('a'))).count).toBe(5);
    } finally {
      await service.store.workspaces.update(workspace);
    }
  });
});

const decide = (policy: Policy, clientId = 'a', claims: object = { region: '2' }) =>
  createPolicyStep({ now: () => new Date(0) })(
    policy,
    { issuer: 'i', subject: 's', userIdentifier: 'i|s', issuedAtMs: 0, claims: { ...claims } },
    clientId,
    {},
  );

describe('the policy', () => {
  it('says where an expression is wrong, and takes a plain text as a name', () => {
    expect(decide(policyOf(documentOf({ grant: { datamart: 'tenant.id' } }))).source).toEqual({
      datamart: 'tenant.id',
    });
    const load = (datamart: object) => () => policyOf(documentOf({ override: { datamart } }));
    expect(load({ expression: 'tenant.name' })).toThrow(/test\.yaml:\d+:\d+.*datamart/s);
    expect(load({ expression: 'user.roles' })).toThrow(PolicyFaults);
  });

  it('revokes the tokens of an earlier source', () => {
    const [none, one, other] = [{}, { datamart: 'sales' }, { datamart: 'sales2' }].map((grant) =>
      decide(policyOf(documentOf({ grant }))),
    );
    if (none === undefined || one === undefined || other === undefined) throw new Error('not decided');
    expect(isGrantSubset(one, one)).toBe(true);
    for (const [before, now] of [
      [one, other],
      [none, one],
      [one, none],
    ] as const)
      expect(isGrantSubset(before, now)).toBe(false);
  });

  it('lets no token outlive a source that changes with the time', () => {
    const policy = policyOf(
      documentOf({ template: { datamart: { expression: "now < timestamp('2030-01-01T00:00:00Z') ? 'a' : 'b'" } } }),
    );
    expect(readsTime(policy)).toBe(true);
  });

  it('explains which rule, restriction, template or override named it', async () => {
    const policy = policyOf(
      documentOf({ grant: { datamart: 'sales2' }, template: { datamart: 'sales2' }, override: { datamart: 'sales2' } }),
    );
    const of = { claims: { sub: 's', iss: 'i', org_id: 'a' }, body: {}, now: new Date(0) };
    const { fields, request } = await explainGrant({ policy, of });
    const [record] = fields.filter(({ field }) => field === 'datamart');
    expect(record?.value).toBe('sales2');
    expect(record?.from.map(({ name }) => name)).toEqual(['all', 'delays', 'a alone']);
    expect(request?.datamartName).toBe('sales2');
    const disagreeing = policyOf(documentOf({ grant: { datamart: 'sales' }, template: { datamart: 'sales2' } }));
    const { denial } = await explainGrant({ policy: disagreeing, of });
    expect(denial).toMatchObject({ code: 'POLICY_UNDECIDED', reason: 'sources-disagree' });
    expect(denial?.message).toMatch(/rule "all" \(test\.yaml:\d+:\d+\), template "delays"/);
  });

  it('is tested for the source, and for none where a test names none', async () => {
    const policy = policyOf(documentOf({ grant: { datamart: byTenant } }));
    const differencesFor = async (expect: object) => {
      const test = { name: 't', at: 't:1:1', claims: { sub: 's', iss: 'i', org_id: 'b' }, body: {}, now: new Date(0) };
      const whole = { ...test, expect: { tenant: 'b', templates: ['delays'], ...expect } };
      const report = await runPolicyTests([{ file: 't', policy: 'p', tests: [whole] }], () => policy);
      return report.files.flatMap(({ results }) => results.flatMap(({ differences }) => differences));
    };
    expect(await differencesFor({ datamart: 'sales2' })).toEqual([]);
    for (const wrong of [{}, { datamart: 'sales' }])
      expect(await differencesFor(wrong)).toEqual([expect.objectContaining({ field: 'datamart', actual: 'sales2' })]);
  });

  it('reports plain names that the service lacks, and a workspace that reads one source', async () => {
    const check = async (parts: Parts) => {
      const policy = policyOf(documentOf(parts));
      const { capabilities, transport, apiKey } = service.upstream;
      const deps = { upstream: createUpstream(transport, apiKey), capabilities };
      return findUnknownNames(policy.names, await readCatalogue(deps, askedNames(policy)));
    };
    expect(await check({ grant: { datamart: 'sales2' }, override: { datamart: byTenant } })).toEqual([]);
    for (const parts of [
      { grant: { datamart: 'nowhere' } },
      { restrict: { datamart: 'nowhere' } },
      { template: { datamart: 'nowhere' } },
      { override: { datamart: 'nowhere' } },
    ])
      expect(await check(parts)).toEqual([
        {
          at: expect.stringMatching(/^test\.yaml:\d+:\d+$/),
          name: 'nowhere',
          message: expect.stringContaining('no datamart of the service'),
        },
      ]);
    const workspace = (await service.store.workspaces.findById('w')) as Workspace;
    await service.store.workspaces.update({ ...workspace, connectionType: 'DATAMART', datamartId: 'mart-sales' });
    expect(await check({ grant: { datasource: 'warehouse-sales2' } })).toEqual([
      expect.objectContaining({ message: expect.stringContaining('of type DATAMART') }),
    ]);
    await service.store.workspaces.update(workspace);
  });
});

const definitionOf = (sql: string): MetricDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [{ name: 'n' }], measures: [], filters: [] },
  ...{ rlsVariables: [], sort: [], limit: null },
});

describe('what runs without a user', () => {
  const sourceIn = (parts: Parts, clientId = 'a') => tenantSourceOf(policyOf(documentOf(parts)), clientId, 'delays');

  it('reads the source of the tenant as far as no user decides it', () => {
    expect(sourceIn({})).toEqual({ names: {} });
    expect(sourceIn({ override: { datamart: 'sales2' } })).toEqual({ names: { datamart: 'sales2' } });
    expect(sourceIn({ override: { datamart: 'sales2' } }, 'b')).toEqual({ names: {} });
    expect(sourceIn({ grant: { datamart: byTenant } }, 'b')).toEqual({ names: { datamart: 'sales2' } });
    const rules = (when: string) => ({
      rules: [{ name: 'all', when, grant: { templates: ['delays'], datamart: 'sales2' } }],
    });
    expect(sourceIn({ more: rules("tenant.id == 'b'") })).toEqual({ names: {} });
    expect(sourceIn({ more: rules("'x' in user.roles"), override: { datamart: 'sales2' } })).toEqual({
      names: { datamart: 'sales2' },
    });
  });

  it.each<[string, Parts]>([
    ['a claim', { grant: { datamart: byRegion } }],
    [
      'a role',
      {
        more: {
          rules: [{ name: 'all', when: "'x' in user.roles", grant: { templates: ['delays'], datamart: 'sales2' } }],
        },
      },
    ],
    ['rules that disagree', { grant: { datamart: 'sales' }, restrict: { datamart: 'sales2' } }],
    ['an expression that fails', { override: { datamart: { expression: "tenant.id == 'a' ? '' : 'x'" } } }],
  ])('reads nothing where that is unsure: %s', (_, parts) => {
    expect(sourceIn(parts)).toEqual({ why: expect.any(String) });
  });

  it('tries metrics of a roll-out on that source, and none where it is unsure', async () => {
    const { granted } = await start({});
    await granted(user('a'));
    const sql = "SELECT CAST(CASE WHEN shop = 's2' THEN 'x' ELSE '1' END AS INTEGER) AS n FROM sales";
    const definition = definitionOf(sql);
    const metric = { metricId: 'm', name: 'M', lineage: [], placement: 'METRIC' as const, definition };
    const content = { layout: [], filters: [], gridMargin: [], metrics: [metric] };
    const copies = createCopies(createUpstream(service.upstream.transport, service.upstream.apiKey), 'space');
    const outcomeWith = async (parts: Parts) => {
      const copy = { dashboardId: 'delays--a', clientId: 'a', template: 'delays' };
      const [tried] = await tryMetrics({ copies, policy: policyOf(documentOf(parts)) }, copy, content);
      return tried?.outcome;
    };
    // Of this tenant, the shop s2 is in the database of `sales` alone.
    expect(await outcomeWith({})).toBe('failed');
    expect(await outcomeWith({ override: { datamart: 'sales2' } })).toBe('answered');
    expect(await outcomeWith({ override: { datasource: 'warehouse-sales2' } })).toBe('answered');
    expect(await outcomeWith({ grant: { datamart: byRegion } })).toBe('untried');
    await expect(outcomeWith({ override: { datamart: 'nowhere' } })).rejects.toThrow('no datamart named');
  });

  it('checks a template on each datamart that a policy names for it', () => {
    const policy = policyOf(
      documentOf({ override: { datamart: 'sales2' }, grant: { datamart: byRegion }, restrict: { datamart: 'third' } }),
    );
    expect(datamartsOf(policy, 'delays')).toEqual(['sales', 'third', 'sales2']);
    const other = policyOf({
      ...documentOf({}),
      templates: { delays: { name: 'D' }, routes: { name: 'R', datamart: 'x' } },
    });
    expect(datamartsOf(other, 'delays')).toEqual(['sales']);
  });

  it('makes a copy on the policy’s datamart, and for a client that it does not have on the tenant’s own', async () => {
    const { granted, reason } = await start({ override: { clientIds: ['x', 'y'], datamart: 'sales2' } });
    const datamartOf = async (clientId: string) => {
      await granted(user(clientId));
      const embed = await service.store.embeds.findById('id-app', `delays--${clientId}`);
      return embed?.accessSettings?.datamartName;
    };
    expect(await datamartOf('x')).toBe('sales');
    const sales = await service.store.datamarts.findByName('sales');
    if (sales === undefined) throw new Error('there is no datamart');
    await service.store.datamarts.update({ ...sales, tenancy: byClients('NUMBER') });
    expect(await datamartOf('y')).toBe('sales2');
    expect(await reason(user('z'))).toBe('tenant-unknown-upstream');
    await service.store.datamarts.update(sales);
  });
});
