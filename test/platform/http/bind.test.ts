import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { RestrictionMisfit } from '../../../src/model/guest/restriction-misfit.js';
import type { Reason } from '../../../src/model/reasons.js';
import { Refusal } from '../../../src/model/refusal.js';
import { DependencyUnavailable } from '../../../src/model/unavailable.js';
import { errorBody } from '../../../src/platform/http/interface/operation.js';
import { createDispatch } from '../../../src/platform/http/wire/bind.js';
import { operations } from '../../../src/service/operations.js';
import { stays } from '../../engine/world.js';
import {
  apiKey,
  authenticate,
  createMemoryLog,
  createSample,
  guestToken,
  sampleHandlers,
  serviceToken,
} from './sample.js';

const { app, lines } = await createSample();
const http = supertest(app);
const mint = '/api/v2/guest-token/create';
const good = { clientId: 'LAX', dataAppName: 'flights' };

const post = (path: string, body: unknown, token = apiKey) =>
  http
    .post(path)
    .set('Authorization', `Bearer ${token}`)
    .send(body as object);

describe('authenticate', () => {
  test('a valid credential is served, and the answer may not be cached', async () => {
    const { status, body, headers } = await post(mint, good);
    expect([status, body]).toEqual([200, { token: 'token-of-LAX' }]);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.deprecation).toBeUndefined();
  });

  test.each([undefined, 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', `Bearer ${apiKey}x`, `Bearer ${guestToken}`])(
    'Authorization %j is answered as a wrong API key, with the message that clients match',
    async (authorization) => {
      const request = http.post(mint).send(good);
      const { status, body, headers } = await (authorization === undefined
        ? request
        : request.set('Authorization', authorization));
      expect(status).toBe(401);
      expect(body).toEqual({
        error: { code: 'AUTHENTICATION_ERROR', message: 'API key is invalid or expired', status: 401 },
      });
      expect(headers['www-authenticate']).toBe('Bearer');
    },
  );

  test('the scheme is read without regard to case', async () => {
    expect((await http.post(mint).set('Authorization', `bearer ${apiKey}`).send(good)).status).toBe(200);
  });

  test('a wrong service token has its own message', async () => {
    const { status, body } = await post('/api/v2/data-app', { name: 'x' }, apiKey);
    expect([status, body.error.code, body.error.message]).toEqual([
      401,
      'AUTHENTICATION_ERROR',
      'invalid service token',
    ]);
  });

  test('an operation may have its own code for a wrong credential', async () => {
    const { status, body } = await post('/api/v2/data-app/dashboard-embeds', {}, 'wrong');
    expect([status, body.error.code, body.error.message]).toEqual([
      401,
      'INVALID_DATA_APP_API_KEY',
      'API key is invalid or expired',
    ]);
  });

  test('an expired guest token has its own code', async () => {
    const { status, body } = await http.get('/api/v2/guest/dashboards/delays').set('Authorization', 'Bearer expired');
    expect([status, body.error.code]).toEqual([401, 'TOKEN_EXPIRED']);
  });

  test('workspace operations take an API key and a service token', async () => {
    for (const token of [apiKey, serviceToken]) {
      const { status, body } = await post('/api/v2/workspace/metrics', { workspaceName: 'w' }, token);
      expect([status, body]).toEqual([200, { data: [{ name: 'Flights a day', metricId: 'm1' }], error: null }]);
    }
  });

  test("an unauthenticated caller learns nothing about the body's faults", async () => {
    const { status, body } = await post(mint, { wrong: true }, 'wrong');
    expect([status, JSON.stringify(body)]).toEqual([401, expect.not.stringContaining('wrong')]);
  });

  test('a caller of a kind that the operation does not accept never reaches the use case', async () => {
    const { log, lines } = createMemoryLog();
    let calls = 0;
    const dispatch = createDispatch({
      operations,
      handlers: {
        ...sampleHandlers,
        createDataApp: async () => {
          calls += 1;
          throw new Error('reached');
        },
      },
      authenticate: (_, bearer) => authenticate(['apiKey'], bearer),
      log,
      newRequestId: () => 'r1',
    });
    const answer = await dispatch({
      signal: stays,
      method: 'POST',
      path: '/api/v2/data-app',
      query: {},
      authorization: `Bearer ${apiKey}`,
      body: { name: 'x' },
    });
    expect([answer?.status, calls]).toEqual([500, 0]);
    expect(lines.join()).toContain('createDataApp does not take');
  });
});

describe('a refusal that an end user cannot fix', () => {
  const developerText = 'Metric "Delays" names a column that its datamart does not have.';
  const usual = new Refusal('METRIC_QUERY_ERROR', developerText, { reason: 'sql-column-unknown' });
  const ask = async (bearer: string, operation: 'query' | 'embeds', refusal = usual) => {
    const refuse = async () => {
      throw refusal;
    };
    const dispatch = createDispatch({
      operations,
      handlers: { ...sampleHandlers, queryGuestMetric: refuse, queryMetric: refuse },
      authenticate,
      log: createMemoryLog().log,
      newRequestId: () => 'r1',
    });
    const path = operation === 'query' ? '/api/v2/guest/metrics/m1/query' : '/api/v2/data-app/query';
    const body = operation === 'query' ? {} : { embedId: 'e1', metricId: 'm1', clientId: 'LAX' };
    return dispatch({ signal: stays, method: 'POST', path, query: {}, authorization: `Bearer ${bearer}`, body });
  };

  test('has a neutral message for a guest, with the request id; the log has the full text', async () => {
    expect(await ask(guestToken, 'query')).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'METRIC_QUERY_ERROR',
          message: "This chart can't be shown. Ask your administrator. Reference: r1.",
          status: 400,
        },
      },
      refused: { code: 'METRIC_QUERY_ERROR', reason: 'sql-column-unknown', message: developerText },
    });
  });

  test('the cause of a restriction that does not fit goes to the log, and to no guest', async () => {
    const cause = new RestrictionMisfit('Metric "Delays" cannot be read under the restriction "Region".');
    const misfit = new Refusal('METRIC_QUERY_ERROR', 'It does not fit.', { reason: 'restriction-path-missing', cause });
    const answer = await ask(guestToken, 'query', misfit);
    expect(answer?.refused).toMatchObject({ reason: 'restriction-path-missing', cause: cause.message });
    expect(JSON.stringify(answer?.body)).not.toMatch(/Delays|Region|fit/);
    const other = new Refusal('METRIC_QUERY_ERROR', 'x', { cause: new Error('a driver wrote a value') });
    expect((await ask(guestToken, 'query', other))?.refused).not.toHaveProperty('cause');
  });

  test('INVALID_REQUEST_BODY is neutral too, unless its reason says that it describes the request alone', async () => {
    const messageFor = async (reason: Reason) => {
      const answer = await ask(guestToken, 'query', new Refusal('INVALID_REQUEST_BODY', developerText, { reason }));
      return errorBody.parse(answer?.body).error.message;
    };
    expect(await messageFor('filter-unknown')).toBe(developerText);
    for (const reason of [
      'tenancy-setting-unknown',
      'stored-definition',
      'custom-columns',
      'sql-column-unknown',
    ] as const)
      expect(await messageFor(reason)).toMatch(/^This chart can't be shown/);
  });

  test('is neutral on its line of a dashboard query, and the log gets the text', async () => {
    const { log, lines } = createMemoryLog();
    async function* parts() {
      yield { metricId: 'm1', failure: new Refusal('METRIC_QUERY_ERROR', developerText) };
    }
    const dispatch = createDispatch({
      operations,
      handlers: { ...sampleHandlers, queryGuestDashboard: async () => parts() },
      ...{ authenticate, log, newRequestId: () => 'r1' },
    });
    const answer = await dispatch({
      ...{ signal: stays, method: 'POST', path: '/api/v2/guest/dashboards/d/query', query: {} },
      authorization: `Bearer ${guestToken}`,
      body: { metrics: [] },
    });
    const pieces: string[] = [];
    for await (const piece of (answer ?? { body: [] }).body as AsyncIterable<string>) pieces.push(piece);
    const message = "This chart can't be shown. Ask your administrator. Reference: r1.";
    expect(pieces.map((piece) => JSON.parse(piece))).toEqual([
      { metricId: 'm1', error: { code: 'METRIC_QUERY_ERROR', message, status: 400 } },
    ]);
    expect(lines.join()).toContain(developerText.replaceAll('"', '\\"'));
  });

  test("has the full message for the host's backend", async () => {
    const answer = await ask(apiKey, 'embeds');
    expect(answer?.body).toEqual({ error: { code: 'METRIC_QUERY_ERROR', message: developerText, status: 400 } });
    expect(answer?.refused).toEqual({ code: 'METRIC_QUERY_ERROR', reason: 'sql-column-unknown' });
  });
});

describe('paths', () => {
  const guest = (path: string) => http.get(path).set('Authorization', `Bearer ${guestToken}`);

  test('parameters are percent-decoded exactly once', async () => {
    for (const id of ['delays--LAX', 'a/b', 'Zürich 50%', '%41', 'a+b', '{dashboardId}']) {
      const { status, body } = await guest(`/api/v2/guest/dashboards/${encodeURIComponent(id)}`);
      expect([status, body.data?.dashboardId]).toEqual([200, id]);
    }
  });

  test("broken percent-encoding gets 400 with the parameter's name", async () => {
    for (const id of ['%', '%zz', '%ff', '%E0%A4']) {
      const { status, body } = await guest(`/api/v2/guest/dashboards/${id}`);
      expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
      expect(body.error.message).toContain('dashboardId');
    }
  });

  test('a field of the path cannot be sent again elsewhere', async () => {
    const { status, body } = await post('/api/v2/guest/metrics/m1/query', { metricId: 'm2' }, guestToken);
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    expect(body.error.message).toContain('metricId: is given in the path');
  });

  test('a query without a body uses all defaults', async () => {
    const { status, body } = await http
      .post('/api/v2/guest/metrics/m9/query')
      .set('Authorization', `Bearer ${guestToken}`);
    expect([status, body.metricid]).toEqual([200, 'm9']);
  });

  test.each([
    '/api/v2/guest/dashboards/',
    '/api/v2/guest/dashboards/a/b',
    '/api/v2/data-app/datamarts/one',
    '/api/v2/nothing',
    '/api/v2',
    '/API/v2/guest/dashboards/a',
  ])('%s is not found', async (path) => {
    const { status, body } = await guest(path);
    expect([status, body.error.code, body.error.status]).toEqual([404, 'NOT_FOUND', 404]);
  });

  test('a wrong method gets the list of allowed methods', async () => {
    const { status, body, headers } = await http.delete(mint);
    expect([status, body.error.code, headers.allow]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST']);
  });
});

describe('legacy bindings', () => {
  const body = {
    dashboardId: 'd',
    workspaceName: 'w',
    clientId: 'LAX',
    accessSettings: operations.createDashboardEmbed.example?.input.accessSettings,
  };

  test('answer in their own shape, with a Deprecation date', async () => {
    const old = await post('/api/v2/dataApp/dashboard-embeds', body);
    expect([old.status, old.body]).toEqual([200, { id: 'e1', error: null }]);
    expect(old.headers.deprecation).toMatch(/^@\d{10}$/);
    const current = await post('/api/v2/data-app/dashboard-embeds', body);
    expect([current.status, current.body]).toEqual([200, { id: 'e1', error: null, name: 'd' }]);
    expect(current.headers.deprecation).toBeUndefined();
  });

  test('have the Deprecation date on errors too', async () => {
    for (const token of [apiKey, 'wrong']) {
      const { status, headers } = await post('/api/v2/dataApp/query', {}, token);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers.deprecation).toMatch(/^@\d{10}$/);
    }
  });

  test('include the older paths', async () => {
    const list = await http.get('/api/v2/dataApp/embed/list').set('Authorization', `Bearer ${apiKey}`);
    expect(list.body.data).toHaveLength(1);
    const created = await post('/api/v2/dataApp/embed/create', operations.createEmbed.example?.input);
    expect(created.body).toEqual({ id: 'e1', error: null });
  });
});

describe('encode and fail', () => {
  const failing = async (error: unknown) => {
    const sample = await createSample({
      handlers: {
        queryMetric: async () => {
          throw error;
        },
      },
    });
    const answer = await supertest(sample.app)
      .post('/api/v2/data-app/query')
      .set('Authorization', `Bearer ${apiKey}`)
      .send({ embedId: 'e', metricId: 'm', clientId: 'c' });
    return { ...sample, answer };
  };

  test('a declared refusal answers only its code, status and public message', async () => {
    const { answer, lines } = await failing(
      new Refusal('INVALID_EMBED_ID', 'No such embed.', {
        reason: 'embed-of-another-data-app',
        cause: new Error('of tenant ATL'),
      }),
    );
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: { code: 'INVALID_EMBED_ID', message: 'No such embed.', status: 400 } },
    ]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      refused: { code: 'INVALID_EMBED_ID', reason: 'embed-of-another-data-app' },
    });
  });

  test('a temporary refusal has Retry-After', async () => {
    const { answer } = await failing(new Refusal('METRIC_QUERY_ERROR', 'Too many wait.', { retryAfterSeconds: 1 }));
    expect([answer.status, answer.headers['retry-after']]).toEqual([400, '1']);
    const { answer: other } = await failing(new Refusal('METRIC_QUERY_ERROR', 'It failed.'));
    expect(other.headers['retry-after']).toBeUndefined();
  });

  test('an unavailable database gets 503 with Retry-After; a refusal caused by it keeps its message', async () => {
    const away = new DependencyUnavailable('database-away', 'secret detail');
    const { answer } = await failing(away);
    expect([answer.status, answer.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(answer.headers['retry-after']).toBe('2');
    expect(JSON.stringify(answer.body)).not.toContain('secret detail');
    const { answer: query } = await failing(new Refusal('METRIC_QUERY_ERROR', 'It failed.', { cause: away }));
    expect([query.status, query.headers['retry-after'], query.body.error]).toEqual([
      503,
      '2',
      { code: 'METRIC_QUERY_ERROR', message: 'It failed.', status: 503 },
    ]);
  });

  test.each([
    ['a code that is not declared', new Refusal('SESSION_INVALID', 'secret detail')],
    ['a driver error', new Error('column "secret detail" does not exist')],
    ['something that is no error', 'secret detail'],
  ])('%s gets 500 with a request id, and only the log has the cause', async (_, error) => {
    const { answer, lines } = await failing(error);
    expect([answer.status, answer.body.error.code]).toEqual([500, 'INTERNAL_SERVER_ERROR']);
    expect(JSON.stringify(answer.body)).not.toContain('secret detail');
    const id = answer.headers['x-request-id'];
    expect(answer.body.error.message).toContain(id);
    const logged = lines.map((line) => JSON.parse(line)).find(({ err }) => err !== undefined);
    expect(logged).toMatchObject({ requestId: id, operation: 'queryMetric' });
    if (error instanceof Error) expect(logged.err.message).toBe(error.message);
  });

  test('CSV is sent as an attachment', async () => {
    const { status, text, headers } = await post('/api/v2/guest/metrics/m1/csv', { dashboardId: 'd' }, guestToken);
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers['content-disposition']).toContain('attachment');
    expect(text).toContain('"Los Ángeles, ""LAX""",3\r\n"\'=HYPERLINK(""x"")",-1\r\n,90071992547409931\r\n');
  });

  test('a default that is SQL is not sent to the guest', async () => {
    const { text, body } = await http.get('/api/v2/guest/metrics/m1').set('Authorization', `Bearer ${guestToken}`);
    expect(text).not.toContain('SELECT');
    expect(body.data.filters.map(({ defaultValue }: { defaultValue: unknown }) => defaultValue)).toEqual([
      ['CA', 'NV'],
      null,
    ]);
  });
});

test('the log contains no credential of any request above', () => {
  const log = lines.join('');
  expect(lines.length).toBeGreaterThan(40);
  for (const secret of [apiKey, guestToken, serviceToken]) expect(log).not.toContain(secret);
});
