/** A service and a demo host on one port, for tests of the elements: answers over HTTP, and a test may override each answer. */

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { rolldown } from 'rolldown';
import { sheetTexts } from '../../web-bundle.mjs';
import { dashboards, demoUsers, type FakeUser } from './fixtures.js';
import { type Flights, metricSql, type Question } from './flights.js';

export type Recorded = {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly language: string;
  readonly body: unknown;
};
type Reply = { readonly status?: number; readonly body: unknown; readonly headers?: Record<string, string> };
/** May answer instead of the service; undefined lets the service answer. */
export type Override = (request: Recorded) => Promise<Reply | undefined> | Reply | undefined;

const web = new URL('../../src/web/', import.meta.url);
/** The content security policy of the product's own pages: no inline script or style; `data:` images are allowed. */
const policy =
  "default-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const bundle = async (entry: string): Promise<string> => {
  const build = await rolldown({
    input: new URL(entry, web).pathname,
    platform: 'browser',
    plugins: [sheetTexts],
    logLevel: 'warn',
  });
  const { output } = await build.generate({ format: 'esm', minify: true, codeSplitting: false });
  await build.close();
  return output[0].code;
};

export const startFakeService = async (flights: Flights) => {
  const assets = new Map([
    ['/elements.js', { type: 'text/javascript', text: await bundle('elements/elements.ts') }],
    ['/demo.js', { type: 'text/javascript', text: await bundle('demo/demo.ts') }],
    ['/demo', { type: 'text/html', text: await readFile(new URL('demo/demo.html', web), 'utf8') }],
    ['/demo.css', { type: 'text/css', text: await readFile(new URL('demo/demo.css', web), 'utf8') }],
    ['/bare', { type: 'text/html', text: await readFile(new URL('bare.html', import.meta.url), 'utf8') }],
    ['/bare.js', { type: 'text/javascript', text: await readFile(new URL('bare.js', import.meta.url), 'utf8') }],
    ['/bare.css', { type: 'text/css', text: 'body { margin: 24px; }' }],
  ]);
  const control = { requests: [] as Recorded[], override: (() => undefined) as Override, users: demoUsers };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://service');
    response.setHeader('content-security-policy', policy);
    if (url.pathname === '/favicon.ico') {
      response.writeHead(204).end();
      return;
    }
    const asset = assets.get(url.pathname);
    if (asset !== undefined) {
      response.setHeader('content-type', `${asset.type}; charset=utf-8`);
      response.end(asset.text);
      return;
    }
    const text = Buffer.concat(await request.toArray()).toString();
    const recorded: Recorded = {
      method: request.method ?? 'GET',
      path: url.pathname + url.search,
      authorization: request.headers.authorization ?? '',
      language: request.headers['accept-language'] ?? '',
      body: text === '' ? null : JSON.parse(text),
    };
    const replyTo = async (each: Recorded): Promise<Reply> => {
      control.requests.push(each);
      return (await control.override(each)) ?? (await answer(each, request, flights));
    };
    const parts = partsOf(recorded);
    if (parts.length > 0) {
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
      await Promise.all(parts.map(async (part) => response.write(lineOf(part, await replyTo(part)))));
      response.end();
      return;
    }
    const reply = await replyTo(recorded);
    response.writeHead(reply.status ?? 200, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...reply.headers,
    });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(JSON.stringify(refusal('INTERNAL_SERVER_ERROR', String(error)).body));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    control,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
};

export type FakeService = Awaited<ReturnType<typeof startFakeService>>;

export const refusal = (code: string, message: string, status = 400): Reply => ({
  status,
  body: { error: { code, message, status } },
});

/** The metrics of a dashboard query, each as the query of its own that it stands for. They are recorded as such. */
const partsOf = ({ method, path, authorization, language, body }: Recorded): readonly Recorded[] => {
  const id = /^\/api\/v2\/guest\/dashboards\/([^/]+)\/query$/.exec(path)?.[1];
  const { metrics, ...common } = record(body);
  if (id === undefined || !Array.isArray(metrics)) return [];
  return metrics.map(record).map(({ metricId, ...rest }) => ({
    ...{ method, authorization, language, path: `/api/v2/guest/metrics/${metricId}/query` },
    body: { dashboardId: decodeURIComponent(id), ...common, ...rest },
  }));
};

const lineOf = ({ path }: Recorded, { status = 200, body }: Reply): string => {
  const metricId = path.split('/').at(-2);
  const part = status === 200 ? { metricId, digest: '', answer: body } : { metricId, error: record(body).error };
  return `${JSON.stringify(part)}\n`;
};

const notFound = refusal('NOT_FOUND', 'There is nothing here.', 404);

const answer = async (request: Recorded, raw: IncomingMessage, flights: Flights): Promise<Reply> => {
  const path = new URL(request.path, 'http://service').pathname;
  if (path.startsWith('/demo/') || path === '/embed-token') return host(path, request, raw);
  return guest(path, request, flights);
};

/** Tokens are `guest-<airport>-<anything>`: the airport says which rows the token opens. */
const guest = async (path: string, request: Recorded, flights: Flights): Promise<Reply> => {
  const airport = /^Bearer guest-([A-Z]{3})(?:-|$)/.exec(request.authorization)?.[1];
  if (airport === undefined) return refusal('AUTHENTICATION_ERROR', 'The guest token is invalid.', 401);
  const [, kind, id = '', verb, filter] =
    /^\/api\/v2\/guest\/(dashboards|metrics)\/([^/]+)(?:\/(\w+))?(?:\/([^/]+)\/options)?$/.exec(path) ?? [];
  const region = demoUsers.find((user) => user.airport === airport)?.region ?? null;
  const question = questionOf(airport, region, request.body);
  if (kind === 'dashboards' && verb === undefined) {
    const dashboard = dashboards(airport)[decodeURIComponent(id)];
    return dashboard === undefined
      ? refusal('INVALID_DASHBOARD_ID', 'There is no such dashboard.', 404)
      : { body: { data: dashboard, error: null } };
  }
  if (kind === 'dashboards' && filter !== undefined) {
    const { search = new URL(request.path, 'http://service').searchParams.get('search') ?? '' } = record(request.body);
    const states = await flights.states(question, String(search));
    return { body: { data: states.map((state) => ({ label: state, value: state })), error: null } };
  }
  const metric = Object.values(dashboards(airport))
    .flatMap((each) => each.metrics)
    .find((each) => each.metricId === id);
  if (kind !== 'metrics' || metric === undefined || metricSql[id] === undefined) return notFound;
  if (verb === undefined) return { body: { data: metric, error: null } };
  if (verb === 'query') return { body: { ...(await flights.query(id, question)), metricid: id } };
  if (verb === 'underlying') return { body: { ...(await flights.underlying(question)), metricid: id } };
  if (verb === 'xlsx') return { body: 'PK', headers: { 'content-type': 'application/octet-stream' } };
  if (verb === 'csv') return { body: 'day,flights\r\n2001-01-01,1\r\n', headers: { 'content-type': 'text/csv' } };
  return notFound;
};

const questionOf = (airport: string, region: string | null, body: unknown): Question => {
  const { dashboardFilter, sort, limit, offset } = record(body);
  const { State: states, Date: dates } = record(dashboardFilter);
  const { startDate, endDate } = record(dates);
  const chosen = Array.isArray(states) ? states.map(String) : [];
  const order = Array.isArray(sort) ? record(sort[0]) : {};
  return {
    airport,
    states: region === null ? chosen : [region],
    from: typeof startDate === 'string' ? startDate : null,
    to: typeof endDate === 'string' ? endDate : null,
    sort:
      typeof order.name === 'string'
        ? { name: order.name, direction: order.direction === 'ASC' ? 'ASC' : 'DESC' }
        : null,
    limit: typeof limit === 'number' ? limit : null,
    offset: typeof offset === 'number' ? offset : 0,
  };
};

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

let minted = 0;

const sessionOf = (user: FakeUser | undefined) => ({
  users: demoUsers.map(({ embeds: _, ...each }) => each),
  current: user === undefined ? null : currentOf(user),
});

const host = (path: string, request: Recorded, raw: IncomingMessage): Reply => {
  const user = demoUsers.find(({ id }) => (raw.headers.cookie ?? '').includes(`user=${id}`));
  if (path === '/demo/session') return { body: sessionOf(user) };
  if (path === '/demo/login') {
    const wanted = demoUsers.find(({ id }) => id === record(request.body).user);
    if (wanted === undefined) return refusal('INVALID_REQUEST_BODY', 'There is no such demo user.');
    return { body: sessionOf(wanted), headers: { 'set-cookie': `user=${wanted.id}; HttpOnly; Path=/; SameSite=Lax` } };
  }
  if (path === '/demo/logout')
    return { body: sessionOf(undefined), headers: { 'set-cookie': 'user=; Max-Age=0; Path=/' } };
  if (user === undefined) return refusal('SESSION_INVALID', 'There is no session.', 401);
  if (user.embeds.length === 0) {
    return refusal(
      'NO_POLICY',
      "You can't see these analytics. Ask your administrator. Reference: 00000000-0000-4000-8000-000000000000",
      403,
    );
  }
  minted += 1;
  return {
    body: {
      token: `guest-${user.airport}-${minted}`,
      expiresAt: new Date(Date.now() + 900_000).toISOString(),
      refreshAfter: new Date(Date.now() + 600_000).toISOString(),
      embeds: user.embeds.map((name) => ({
        id: `${name}--${user.airport}`,
        name: `${name}--${user.airport}`,
        type: 'dashboard',
      })),
      serviceUrl: '',
    },
  };
};

const currentOf = ({ embeds: _, description: __, ...user }: FakeUser) => ({
  ...user,
  claims: {
    iss: 'guestlist-demo',
    sub: user.id,
    org_id: user.airport,
    roles: user.roles,
    ...(user.region === null ? {} : { region: user.region }),
  },
});
