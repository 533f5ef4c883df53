/** What a view as a user answers in Studio of the built product, compared with that user's own token. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ShownBoard, withoutOffers } from '../studio/view-offers.js';
import { type Answer, analyst, type EmbedToken, get, session as hostSession, login, post } from './guest.js';
import { type Product, startProduct } from './product.js';

import { codeIn, studioOf } from './studio-page.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
});

const { logIn, newLink, studio } = studioOf(() => product);

describe('a view as a user', () => {
  type User = { readonly id: string; readonly org_id: string; readonly roles: readonly string[] };
  const file = new URL('../../config/demo/users.yaml', import.meta.url);
  const { users } = parse(readFileSync(file, 'utf8')) as { readonly users: readonly User[] };

  test.each(users)('a view as a user of the demo’s $id equals the user’s own token, answer by answer', async (user) => {
    const { id: sub, name: _, title: __, description: ___, ...rest } = user as User & Record<string, unknown>;
    const claims = { sub, ...rest };
    const session = await logIn(codeIn(await newLink()));
    const own = await post<EmbedToken>(`${product.url}/embed-token`, {}, hostSession(product, claims));
    const view = await studio<{
      data: EmbedToken & { readonly because: readonly unknown[] };
      error: { code: string };
    }>(session, '/commands/view-open', { clientId: user.org_id, claims: { iss: 'guestlist-demo', ...claims } });
    expect(view.status).toBe(own.status);
    if (own.status !== 200) {
      expect(view.body.error.code).toBe((own.body as never as typeof view.body).error.code);
      return;
    }
    const { token, embeds, because } = view.body.data;
    expect(embeds).toEqual(own.body.embeds);
    expect(because.length).toBeGreaterThan(0);
    expect(token).not.toContain(own.body.token);
    let compared = 0;
    /** Asks the same as both, and returns the common answer. */
    const same = async (path: string, body?: object): Promise<Answer> => {
      const ask = (base: string, bearer: string) => {
        const url = `${product.url}${base}/api/v2/guest/${path}`;
        return body === undefined ? get(url, bearer) : post(url, body, bearer);
      };
      const [seen, theirs] = await Promise.all([ask('/studio/as', token), ask('', own.body.token)]);
      expect(seen.status, path).toBe(theirs.status);
      // Of a refusal, Studio is told the cause, which a user is not.
      const still = ({ text }: Answer) => text.replace(/"timeTaken":\d+/, '');
      // A view only reads, so it offers nothing else; all that it shows is equal.
      const offered = body === undefined && path.startsWith('dashboards/') && !path.includes('/', 11);
      if (offered && theirs.status === 200) expect(seen.body, path).toEqual(withoutOffers(theirs.body as ShownBoard));
      else if (theirs.status === 200) expect(still(seen), path).toBe(still(theirs));
      return theirs;
    };
    for (const { id } of own.body.embeds) {
      const opened = (await same(`dashboards/${id}`)).body as {
        data: { metrics: readonly { metricId: string }[]; filters: readonly { name: string }[] };
      };
      for (const { name } of opened.data.filters)
        await same(`dashboards/${id}/filters/${encodeURIComponent(name)}/options`);
      for (const { metricId } of opened.data.metrics) {
        const answer = await same(`metrics/${metricId}/query`, { dashboardId: id });
        compared += (answer.body as { data: readonly unknown[] }).data.length;
        await same(`metrics/${metricId}/underlying`, { dashboardId: id, limit: 50 });
        await same(`metrics/${metricId}/csv`, { dashboardId: id });
      }
    }
    expect(compared).toBeGreaterThan(100);
  });

  test('is refused where the policy grants nothing, and where the tenant is suspended', async () => {
    const session = await logIn(codeIn(await newLink()));
    const view = (clientId: string, roles: readonly string[]) =>
      studio<{ error: { code: string } }>(session, '/commands/view-open', {
        clientId,
        claims: { sub: 'nobody', org_id: clientId, roles },
      });
    expect((await view('LAX', [])).body.error.code).toBe('NO_POLICY');
    await studio(session, '/commands/tenant-suspend', { clientId: 'DEN' });
    expect((await view('DEN', ['analyst'])).body.error.code).toBe('TENANT_SUSPENDED');
    await studio(session, '/commands/tenant-resume', { clientId: 'DEN' });
    expect((await view('DEN', ['analyst'])).status).toBe(200);
  });

  test('offers the users who logged in, as their sessions were, and neither views, suspended tenants nor other dashboards', async () => {
    type Viewers = { data: { viewers: readonly { clientId: string; user: string; roles: readonly string[] }[] } };
    const session = await logIn(codeIn(await newLink()));
    const list = async (template?: string) => {
      const asked = template === undefined ? {} : { template };
      const { body } = await studio<Viewers>(session, '/commands/viewers-list', asked);
      return body.data.viewers.map(({ clientId, roles }) => [clientId, ...roles].join(' '));
    };
    for (const tenant of ['ATL', 'SEA']) expect((await login(product, analyst(tenant))).token).toBeTypeOf('string');
    const typed = { clientId: 'BOS', claims: { ...analyst('BOS'), sub: 'typed' } };
    expect((await studio(session, '/commands/view-open', typed)).status).toBe(200);
    expect(await list()).toEqual(expect.arrayContaining(['SEA analyst', 'ATL analyst']));
    expect(await list()).not.toContain('BOS analyst');
    expect(await list('delays')).toContain('ATL analyst');
    expect(await list('no-such-dashboard')).toEqual([]);
    await studio(session, '/commands/tenant-suspend', { clientId: 'SEA' });
    expect(await list()).not.toContain('SEA analyst');
    await studio(session, '/commands/tenant-resume', { clientId: 'SEA' });
    expect(await list()).toContain('SEA analyst');
  });

  test('lets an author try a metric with the rows of that user alone, though the user may make none', async () => {
    const session = await logIn(codeIn(await newLink()));
    const definition = {
      chart: { type: 'table' },
      from: { schemaName: 'main', tableName: 'flights' },
      dimensions: [{ name: 'Origin', column: { schemaName: 'main', tableName: 'flights', columnName: 'origin' } }],
      measures: [{ name: 'Flights', aggregate: 'COUNT' }],
    };
    const { body } = await studio<{ data: EmbedToken }>(session, '/commands/view-open', {
      clientId: 'ATL',
      claims: analyst('ATL'),
    });
    const asked = { dashboardId: 'delays--ATL', definition };
    const tried = { ...asked, view: body.data.token, definition: { kind: 'visual', ...definition } };
    type Rows = { data: { data: readonly { Origin: string }[] } };
    const answer = await studio<Rows>(session, '/commands/metric-preview', tried);
    expect(answer.body.data.data.map(({ Origin }) => Origin)).toEqual(['ATL']);
    const own = await login(product, analyst('ATL'));
    expect((await post(`${product.url}/api/v2/guest/metrics/preview`, asked, own.token)).status).toBe(403);
  });

  test('lets an author run SQL with the rows of that user’s tenant alone, which no token of a user may', async () => {
    const session = await logIn(codeIn(await newLink()));
    const sql = 'SELECT origin AS "Origin", count(*) AS n FROM flights WHERE origin = \'LAX\' OR true GROUP BY origin';
    const outputs = { dimensions: [{ name: 'Origin' }], measures: [{ name: 'n' }] };
    const definition = { kind: 'sql', chart: { type: 'table' }, sql, ...outputs };
    const { body } = await studio<{ data: EmbedToken }>(session, '/commands/view-open', {
      clientId: 'ATL',
      claims: analyst('ATL'),
    });
    const tried = { view: body.data.token, dashboardId: 'delays--ATL', definition };
    type Rows = { data: { data: readonly { Origin: string }[] } };
    const answer = await studio<Rows>(session, '/commands/metric-preview', tried);
    expect(answer.body.data.data.map(({ Origin }) => Origin)).toEqual(['ATL']);
    const elsewhere = await studio<{ error: { code: string } }>(session, '/commands/metric-preview', {
      ...tried,
      dashboardId: 'delays--LAX',
    });
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([403, 'UNAUTHORIZED']);
    const statement = await studio<{ data: { sql: string } }>(session, '/commands/metric-statement', tried);
    expect(statement.body.data.sql).toMatch(/"origin".* = .*\$1/);
    expect(statement.body.data.sql).not.toContain('ATL');
    const own = await login(product, analyst('ATL'));
    const asked = { dashboardId: 'delays--ATL', definition };
    for (const path of [
      '/api/v2/guest/metrics/preview',
      '/studio/commands/metric-preview',
      '/studio/as/api/v2/guest/metrics/preview',
    ])
      expect((await post(`${product.url}${path}`, asked, own.token)).status).toBeGreaterThanOrEqual(400);
  });
});
