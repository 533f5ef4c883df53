/** Names in a policy that the service does not have: found with their place, and never a reason to grant more. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { findUnknownNames, type UnknownName } from '../../src/gateway/policy/names.js';
import { startNameCheck } from '../../src/gateway/policy-names/name-check.js';
import { askedNames, readCatalogue } from '../../src/gateway/policy-names/read-catalogue.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import { unavailable } from '../../src/gateway/upstream/unavailable.js';
import { createUpstream } from '../../src/gateway/upstream/upstream.js';
import { analyst, captureLog, startGateway } from './harness.js';
import { createOwnService, type OwnService } from './own-service.js';
import { changeablePolicies } from './policies.js';

let service: OwnService;
beforeAll(async () => {
  service = await createOwnService();
});
afterAll(() => service.close());

type Parts = {
  readonly workspace?: string;
  readonly template?: string;
  readonly embeds?: readonly string[];
  readonly restrict?: string;
  readonly more?: string;
  /** Of a rule of its own. */
  readonly access?: string;
};

/** A policy as people write it, so that each name has a line and a column. */
const yaml = ({
  workspace = 'space',
  template = 'delays',
  embeds = [],
  restrict = '',
  more = '',
  access,
}: Parts): string => `
version: 1
dataApp: app
workspace: ${workspace}
datamart: sales
session: { claims: { org_id: string }, tenant: '"a"', roles: "[]" }
templates:
  ${template}: { name: Delays }
rules:
  - { name: all, when: "true", grant: { templates: [${template}], embeds: [${embeds.join(', ')}] } }${access === undefined ? '' : `\n  - { name: filters, when: "true", grant: { templates: [${template}], accessPermissions: { ${access} } } }`}
${restrict === '' ? '' : `restrictions:\n  - { name: narrow, when: "true", restrict: { ${restrict} } }`}
${more}`;

const policyWith = (parts: Parts) => loadPolicy(yaml(parts), 'p.yaml');
const direct = () => createUpstream(service.upstream.transport, service.upstream.apiKey);
const check = async (parts: Parts, capabilities = service.upstream.capabilities): Promise<readonly UnknownName[]> => {
  const policy = policyWith(parts);
  return findUnknownNames(policy.names, await readCatalogue({ upstream: direct(), capabilities }, askedNames(policy)));
};

describe('a name that the service does not have', () => {
  it('is not found where all names are there', async () => {
    const restrict =
      'dashboardFilters: { state: "\'CA\'" }, appFilters: { Shop: "\'s1\'" }, hideMetrics: { delays: [Sales] }';
    expect(await check({ embeds: [service.shared], restrict })).toEqual([]);
  });

  it.each<[string, Parts, string, string]>([
    [
      'of a template',
      { template: 'delais' },
      'p.yaml:8:3',
      '"delais" is no dashboard of the policy\'s workspace. Did you mean "delays"? There are: "delays", "routes".',
    ],
    [
      'of a workspace',
      { workspace: 'spase' },
      'p.yaml:4:12',
      '"spase" is no workspace of the service. Did you mean "space"? There are: "space".',
    ],
    ['of an embed', { embeds: ['nowhere'] }, 'p.yaml:10:71', '"nowhere" is no embed of the API key\'s data app.'],
    [
      'of a dashboard filter',
      { restrict: 'dashboardFilters: { Stat: "\'CA\'" }' },
      'p.yaml:12:67',
      '"Stat" is no filter of the policy\'s dashboards. Did you mean "State"? There are: "State".',
    ],
    [
      'of a hidden dashboard filter',
      { restrict: 'hideDashboardFilters: [Stato]' },
      'p.yaml:12:70',
      'Did you mean "State"?',
    ],
    ['of a metric filter', { restrict: 'appFilters: { shopp: "\'s1\'" }' }, 'p.yaml:12:61', 'Did you mean "shop"?'],
    [
      'of an RLS variable',
      { restrict: 'rls: { region: "\'x\'" }' },
      'p.yaml:12:54',
      '"region" is no RLS variable of a metric of the policy\'s dashboards. There are: none.',
    ],
    [
      'of a hidden metric',
      { restrict: 'hideMetrics: { delays: [Sale] }' },
      'p.yaml:12:71',
      '"Sale" is no metric of "delays". Did you mean "Sales"? There are: "Sales".',
    ],
  ])('%s is found with file, line and column, what was meant, and the names that exist', async (_, parts, at, said) => {
    const found = await check(parts);
    expect(found.map((one) => one.at)).toEqual([at]);
    expect(found[0]?.message).toContain(said);
  });

  const filters = (columns: string) =>
    `isAllowEndUserDashboardFilter: true, dashboardFilterColumns: ${columns}, isAllowEndUserMetricFilter: true, metricFilterColumns: ${columns}`;

  it('an unknown name of a column or table in accessPermissions is found, once for each place; known and bare names are not', async () => {
    expect(await check({ access: filters('[{ tableName: main.sales, columns: [id, shop] }]') })).toEqual([]);
    expect(await check({ access: filters('[{ tableName: sales, columns: [shop] }]') })).toEqual([]);
    const found = await check({ access: filters('[{ tableName: main.sales, columns: [id, shopp] }]') });
    const said = '"shopp" is no column of main.sales. Did you mean "shop"? There are: "client", "id", "shop".';
    expect(found.map(({ message }) => message)).toEqual([said, said]);
    expect(found.map(({ at }) => at.split(':').slice(0, 2).join(':'))).toEqual(['p.yaml:11', 'p.yaml:11']);
    expect(new Set(found.map(({ at }) => at)).size).toBe(2);
    const [table, ...others] = await check({
      access: 'isAllowEndUserMetricFilter: true, metricFilterColumns: [{ tableName: main.sails, columns: [id, x] }]',
    });
    expect(table?.message).toContain('"main.sails" is no table of the policy\'s datamart. Did you mean "main.sales"?');
    expect(others).toEqual([]);
  });

  it('an unknown name of a column is not looked for where the service cannot tell, or an embed may read another datamart', async () => {
    const access = filters('[{ tableName: main.sales, columns: [shopp] }]');
    expect(await check({ access }, fixedCapabilities([]))).toEqual([]);
    const policy = loadPolicy(
      yaml({ access }).replace(/(filters, .*templates: \[delays\])/, `$1, embeds: [${service.shared}]`),
      'p.yaml',
    );
    expect(policy.names.filter(({ kind }) => kind === 'column')).toEqual([]);
  });

  it("in a tenant's override is found too", async () => {
    const more =
      'tenants:\n  - { name: one, clientIds: [a], restrictions: [{ name: r, when: "true", restrict: { dashboardFilters: { Staet: "\'CA\'" } } }] }';
    expect((await check({ more }))[0]?.message).toContain('Did you mean "State"?');
  });

  it('is found for templates and metrics at a service that only speaks the interface; filters it cannot tell', async () => {
    const none = fixedCapabilities([]);
    expect((await check({ template: 'delais' }, none)).map(({ name }) => name)).toEqual(['delais']);
    const restrict = 'hideMetrics: { delays: [Sale] }, dashboardFilters: { Stat: "\'CA\'" }';
    expect((await check({ restrict }, none)).map(({ name }) => name)).toEqual(['Sale']);
  });
});

describe('a misspelt name never grants more', () => {
  it.each<[string, Parts]>([
    ['template', { template: 'delais' }],
    ['embed', { embeds: ['nowhere'] }],
    ['dashboard filter', { restrict: 'dashboardFilters: { Stat: "\'CA\'" }' }],
    ['hidden dashboard filter', { restrict: 'hideDashboardFilters: [Stato]' }],
    ['metric filter', { restrict: 'appFilters: { shopp: "\'s1\'" }' }],
    ['RLS variable', { restrict: 'rls: { region: "\'x\'" }' }],
    ['hidden metric', { restrict: 'hideMetrics: { delays: [Sale] }' }],
  ])('%s: whom it applies to is denied', async (_, parts) => {
    const { ledger, upstream } = service;
    const { ask } = await startGateway({ ledger, upstream, policy: policyWith(parts) });
    const answer = await ask({ ...analyst, org_id: 'a' });
    expect(answer.status).not.toBe(200);
    expect(await answer.text()).not.toContain('"token"');
  });
});

describe('in the background', () => {
  const start = (parts: Parts, isReachable: () => boolean = () => true) => {
    const { log, lines } = captureLog();
    const policies = changeablePolicies(policyWith(parts));
    const ticks: (() => void)[] = [];
    const keep = (run: () => void) => {
      ticks.push(run);
      return () => {};
    };
    const timing = { nowMs: () => 0, after: (_: number, run: () => void) => keep(run) };
    const upstream: ReturnType<typeof direct> = (operation, input, signal) =>
      isReachable() ? direct()(operation, input, signal) : Promise.reject(unavailable('upstream-unreachable', null));
    const check = startNameCheck({ upstream, capabilities: service.upstream.capabilities, policies, log, timing });
    onTestFinished(check.close);
    const events = () => lines.map(({ event }) => event);
    const tick = () => {
      for (const run of ticks.splice(0)) run();
    };
    return { policies, lines, events, tick };
  };

  it('an unknown name is logged once as an error with its place, and once more when the service has it', async () => {
    const { policies, lines, events, tick } = start({ template: 'delais' });
    await expect.poll(events).toEqual(['policy.name_unknown']);
    expect(lines[0]).toMatchObject({
      level: 50,
      at: 'p.yaml:8:3',
      name: 'delais',
      msg: expect.stringContaining('Did you mean'),
    });
    tick();
    await policies.change(policyWith({}));
    await expect.poll(events).toEqual(['policy.name_unknown', 'policy.names_known']);
  });

  it('is a warning where the service cannot be reached, and is checked again when it can', async () => {
    let isUp = false;
    const { events, tick } = start({ restrict: 'dashboardFilters: { Stat: "\'CA\'" }' }, () => isUp);
    await expect.poll(events).toEqual(['policy.names_unchecked']);
    isUp = true;
    tick();
    await expect.poll(events).toEqual(['policy.names_unchecked', 'policy.name_unknown']);
  });

  it('a policy is in force whatever its names are', () => {
    expect(policyWith({ template: 'delais' }).templates.has('delais')).toBe(true);
  });
});
