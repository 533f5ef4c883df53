/**
 * Tenants are spread over databases of three kinds. Under random policies that name sources, an answer is the rows of
 * that tenant in the one database that all agree on, or a denial. `npm run isolation -- --only sources` runs many more.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { Workspace } from '../../src/model/organization.js';
import { hashToken } from '../../src/platform/keys/keys.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { type Builder, createBuilder, findKinds, type Kind } from '../engine/test-databases.js';
import { byClients, datamart, metric, refusalOf, stays, table } from '../engine/world.js';
import { type AnswerBody, startGateway } from '../gateway/harness.js';
import { createOwnService, type OwnService } from '../gateway/own-service.js';
import { changeablePolicies, policyOf } from '../gateway/policies.js';
import { countOfCases } from './count.js';
import {
  clients,
  documentOf,
  expected,
  type Mart,
  type SourceUser,
  sourceCase,
  sourceOfMart,
  usualMart,
} from './source-cases.js';

const kinds = await findKinds();
const isComplete = (['DUCKDB', 'POSTGRES', 'MYSQL'] as const).every((kind) => kinds.includes(kind));
const asked = countOfCases(240, 400);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_129);

let service: OwnService;
const builders: Builder[] = [];
const kindOf = { ducks: 'DUCKDB', posts: 'POSTGRES', marias: 'MYSQL' } as const satisfies Record<string, Kind>;

/** The labels of a client's rows in one database. No two clients and no two databases have one in common. */
const labelsOf = (source: string, clientId: string): readonly string[] =>
  ['x', 'y', 'z'].slice(0, 1 + clients.indexOf(clientId as 'a')).map((one) => `${source} ${clientId} ${one}`);

const build = async (source: keyof typeof kindOf, schemaName: string | null) => {
  const kind = kindOf[source];
  const builder = await createBuilder(kind, { POSTGRES: { VARCHAR: 'VARCHAR COLLATE public.loose' } });
  builders.push(builder);
  const enter = kind === 'POSTGRES' ? `SET search_path = ${schemaName}, public` : `SET schema = '${schemaName}'`;
  const rows = clients.flatMap((clientId) => labelsOf(source, clientId).map((label) => [clientId, label]));
  return builder.build(source, [
    ...(schemaName === null ? [] : [`CREATE SCHEMA ${schemaName}`, enter]),
    { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: clients.map((one) => [one, one]) },
    { name: 'things', columns: { client: 'VARCHAR', label: 'VARCHAR' }, rows },
  ]);
};

const in_ = (schemaName: string, name: string, columns: Readonly<Record<string, string>>, client: string | null) => ({
  ...table(name, columns, client),
  schemaName,
});

/** Writes what DuckDB alone can read. */
const onDuckOnly: MetricDefinition = {
  ...{ kind: 'sql', chart: { type: 'table' }, dimensions: [{ name: 'n' }], measures: [], filters: [] },
  ...{ sql: 'SELECT label AS n FROM things QUALIFY row_number() OVER (ORDER BY label) = 1', rlsVariables: [] },
  ...{ sort: [], limit: null },
};

beforeAll(async () => {
  if (!isComplete) return;
  service = await createOwnService();
  const { store } = service;
  const marias = await build('marias', null);
  const { schemaName } = marias;
  const places = { marias, posts: await build('posts', schemaName), ducks: await build('ducks', schemaName) };
  for (const [name, { datasource }] of Object.entries(places))
    await store.datasources.insert({ ...datasource, id: `source ${name}`, name });
  const tables: Datamart['tables'] = [
    in_(schemaName, 'clients', { id: 'VARCHAR', name: 'VARCHAR' }, null),
    in_(schemaName, 'things', { client: 'VARCHAR', label: 'VARCHAR' }, 'client'),
  ];
  for (const [name, source] of Object.entries(sourceOfMart)) {
    const parts = { id: `mart ${name}`, name, datasourceId: `source ${source}`, tables };
    await store.datamarts.insert(datamart({ ...parts, tenancy: { ...byClients(), schemaName } }));
  }
  const column = { schemaName, tableName: 'things', columnName: 'label' };
  const labels = metric('things', {
    dimensions: [{ name: 'Label', column }],
    measures: [{ name: 'N', aggregate: 'COUNT' }],
  });
  const things = { ...labels, from: { schemaName, tableName: 'things' } } as MetricDefinition;
  for (const id of ['one', 'two']) await service.template(id, { filters: [] }, things);
  await service.template('ducks-sql', { filters: [] }, onDuckOnly);
}, 120_000);
afterAll(async () => {
  await service?.close();
  for (const builder of builders) await builder.remove();
});

const base = {
  ...{ dataApp: 'app', workspace: 'space', datamart: usualMart },
  session: {
    claims: { org_id: 'string', roles: 'list<string>', place: 'string' },
    ...{ tenant: 'claims.org_id', roles: 'claims.roles' },
  },
};
const claimsOf = ({ clientId, isBoss, place }: SourceUser) => ({
  ...{ iss: 'guestlist-demo', sub: `of ${clientId}`, org_id: clientId, roles: isBoss ? ['boss'] : [] },
  ...(place === null ? {} : { place }),
});

/** What the token reads of one of its dashboards. */
const readLabels = async (token: string, dashboardId: string) => {
  const grant = await service.store.guestTokens.findByHash(hashToken(token));
  if (grant === undefined) throw new Error('there is no such token');
  const board = await service.store.dashboards.findByExternalId(grant.dataAppId, dashboardId);
  const [placed] = await service.store.dashboards.listMetrics(board?.id ?? '');
  const guest = { kind: 'guest' as const, grant: { ...grant, revision: null } };
  const { answer } = await queryGuestMetric(service.deps)(
    guest,
    { metricId: placed?.metric.metricId ?? '', dashboardId },
    stays,
  );
  return answer.rows.map((row) => row.Label ?? row.n).toSorted();
};

const open = async () => {
  const policies = changeablePolicies(policyOf({ ...base, templates: { one: { name: 'One' } }, rules: [] }));
  const limits = { limits: undefined };
  return {
    policies,
    ...(await startGateway({ policies, ledger: service.ledger, upstream: service.upstream, ...limits })),
  };
};

const govern = async (isMulti: boolean): Promise<void> => {
  const workspace = (await service.store.workspaces.findById('w')) as Workspace;
  const one = { connectionType: 'DATAMART', datamartId: `mart ${usualMart}` } as const;
  const several = { connectionType: 'MULTI_DATAMART', datamartId: null } as const;
  await service.store.workspaces.update({ ...workspace, ...(isMulti ? several : one) });
};

const expectNothing = async ({ token, embeds }: AnswerBody): Promise<void> => {
  for (const { id } of embeds) expect((await refusalOf(() => readLabels(token, id))).code).toBe('UNAUTHORIZED');
};

test.skipIf(!isComplete)(
  'an answer is the rows of the tenant in the database that all agree on, or a denial',
  async () => {
    const { policies, ask } = await open();
    const tally = { denied: 0, read: new Map<Mart, number>() };
    await fc.assert(
      fc.asyncProperty(sourceCase, async (drawn) => {
        await govern(drawn.isMulti);
        await policies.change(policyOf({ ...base, ...documentOf(drawn) }));
        for (const user of drawn.users) {
          const wanted = expected(drawn, user);
          const answer = await ask(claimsOf(user), user.embeds === null ? undefined : { embeds: user.embeds });
          if (wanted === 'denied') {
            tally.denied += 1;
            // A token of a moment ago, when the workspace had several sources, is found again, and reads nothing.
            if (!drawn.isMulti && answer.status === 200) await expectNothing((await answer.json()) as AnswerBody);
            else expect(answer.status, await answer.text()).toBe(403);
            continue;
          }
          expect(answer.status, await answer.clone().text()).toBe(200);
          const { token, embeds } = (await answer.json()) as AnswerBody;
          expect(embeds.map(({ id }) => id).toSorted()).toEqual(
            wanted.opened.map((one) => `${one}--${user.clientId}`).toSorted(),
          );
          for (const { id } of embeds)
            expect(await readLabels(token, id)).toEqual(labelsOf(sourceOfMart[wanted.mart], user.clientId));
          tally.read.set(wanted.mart, (tally.read.get(wanted.mart) ?? 0) + 1);
        }
      }),
      { numRuns: Math.ceil(asked / 4), seed, endOnFailure: process.env.ISOLATION_SHRINK === '0' },
    );
    expect(tally.denied).toBeGreaterThan(asked / 10);
    for (const mart of Object.keys(sourceOfMart) as Mart[]) expect(tally.read.get(mart) ?? 0, mart).toBeGreaterThan(0);
  },
  3_600_000,
);

test.skipIf(!isComplete)(
  'SQL that is written for another kind of database is a METRIC_QUERY_ERROR there, and no other metric',
  async () => {
    const { policies, granted } = await open();
    await govern(true);
    const rules = [
      {
        name: 'all',
        when: 'true',
        grant: { templates: ['one', 'ducks-sql'], datamart: { expression: 'user.claims.place' } },
      },
    ];
    await policies.change(
      policyOf({ ...base, templates: { one: { name: 'One' }, 'ducks-sql': { name: 'SQL' } }, rules }),
    );
    for (const place of ['duck', 'post', 'maria'] as const) {
      const { token } = await granted(claimsOf({ clientId: 'b', isBoss: false, place, embeds: null }));
      const source = sourceOfMart[place];
      expect(await readLabels(token, 'one--b')).toEqual(labelsOf(source, 'b'));
      const read = () => readLabels(token, 'ducks-sql--b');
      if (place === 'duck') expect(await read()).toEqual(labelsOf(source, 'b').slice(0, 1));
      else expect(await refusalOf(read)).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
    }
  },
);
