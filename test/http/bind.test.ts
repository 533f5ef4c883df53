import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { bound } from '../../src/contract/operations.js';
import { Refusal } from '../../src/domain/refusal.js';
import { createDispatch } from '../../src/http/bind.js';
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
const raw = (path: string, body: string, token = apiKey) =>
  http.post(path).set('Authorization', `Bearer ${token}`).set('Content-Type', 'application/json').send(body);

describe('authenticate', () => {
  test('a good credential is served, and nothing is cached', async () => {
    const { status, body, headers } = await post(mint, good);
    expect([status, body]).toEqual([200, { token: 'token-of-LAX' }]);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.deprecation).toBeUndefined();
  });

  test.each([undefined, 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', `Bearer ${apiKey}x`, `Bearer ${guestToken}`])(
    'Authorization %j is a wrong API key, in the known words',
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

  test('a service token problem has its own words', async () => {
    const { status, body } = await post('/api/v2/data-app', { name: 'x' }, apiKey);
    expect([status, body.error.code, body.error.message]).toEqual([
      401,
      'AUTHENTICATION_ERROR',
      'invalid service token',
    ]);
  });

  test('an operation with a code of its own answers that one', async () => {
    const { status, body } = await post('/api/v2/data-app/dashboard-embeds', {}, 'wrong');
    expect([status, body.error.code, body.error.message]).toEqual([
      401,
      'INVALID_DATA_APP_API_KEY',
      'API key is invalid or expired',
    ]);
  });

  test('an expired guest token is told apart', async () => {
    const { status, body } = await http.get('/api/v2/guest/dashboards/delays').set('Authorization', 'Bearer expired');
    expect([status, body.error.code]).toEqual([401, 'TOKEN_EXPIRED']);
  });

  test('workspace operations take an API key and a service token', async () => {
    for (const token of [apiKey, serviceToken]) {
      const { status, body } = await post('/api/v2/workspace/metrics', { workspaceName: 'w' }, token);
      expect([status, body]).toEqual([200, { data: [{ name: 'Flights a day', metricId: 'm1' }], error: null }]);
    }
  });

  test('who is not authenticated learns nothing about the body', async () => {
    const { status, body } = await post(mint, { wrong: true }, 'wrong');
    expect([status, JSON.stringify(body)]).toEqual([401, expect.not.stringContaining('wrong')]);
  });

  test('a caller of a kind that the operation does not take never reaches a use case', async () => {
    const { log, lines } = createMemoryLog();
    let calls = 0;
    const dispatch = createDispatch({
      operations: bound,
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

describe('decode', () => {
  const messageOf = async (body: unknown) => {
    const answer = await post(mint, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    return String(answer.body.error.message);
  };

  test('an unknown field is named with its path', async () => {
    expect(await messageOf({ ...good, client_id: 'x' })).toBe('client_id: not a field of this operation.');
    expect(await messageOf({ ...good, permissions: { dashboards: [] } })).toBe(
      'permissions.dashboards: not a field of this operation.',
    );
  });

  test('every fault is named: where, what came, what was expected', async () => {
    expect(
      await messageOf({ clientId: 7, params: { allowedEmbeds: 'e', hideDashboardFilters: [1] }, expiryTime: -5 }),
    ).toBe(
      [
        'clientId: number 7 came, expected a string',
        'dataAppName: nothing came, expected a string',
        'params.allowedEmbeds: string "e" came, expected an array',
        'params.hideDashboardFilters[0]: number 1 came, expected a string',
        'expiryTime: number -5 came, expected more than 0.',
      ].join('; '),
    );
  });

  test('after ten faults the rest is counted', async () => {
    const message = await messageOf({ ...good, params: { allowedEmbeds: Array.from({ length: 25 }, () => 1) } });
    expect(message.split(';')).toHaveLength(11);
    expect(message).toMatch(/; and 15 more\.$/);
  });

  test('long values are shortened, those of row-level security are not shown', async () => {
    const long = await messageOf({ ...good, clientId: 'é'.repeat(300) });
    expect(long).toBe(`clientId: string "${'é'.repeat(40)}…" (300 characters) came, expected at most 255 characters.`);
    const secret = await messageOf({
      ...good,
      params: { rlsSettings: [{ metricId: 'm', values: { region: 'very-secret'.repeat(500) } }] },
    });
    expect(secret).toContain('params.rlsSettings[0].values.region');
    expect(secret).not.toContain('very-secret');
  });

  test.each(['__proto__', 'constructor', 'toString'])('the key %s is refused as any unknown field', async (key) => {
    const text = (inner: string) => `{"clientId":"LAX","dataAppName":"flights",${inner}}`;
    const top = await raw(mint, text(`"${key}":{"isAdmin":true}`));
    expect([top.status, top.body.error.message]).toEqual([400, `${key}: not a field of this operation.`]);
    const nested = await raw(mint, text(`"params":{"${key}":{"timezone":"UTC"}}`));
    expect([nested.status, nested.body.error.message]).toEqual([400, `params.${key}: not a field of this operation.`]);
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });

  test('__proto__ as a name of a filter is refused, not dropped', async () => {
    const body =
      '{"clientId":"LAX","dataAppName":"f","params":{"rlsSettings":[{"metricId":"m","values":{"__proto__":1}}]}}';
    const answer = await raw(mint, body);
    expect([answer.status, answer.body.error.message]).toEqual([
      400,
      'params.rlsSettings[0].values.__proto__: not a field of this operation.',
    ]);
  });

  test('deep nesting is refused without exhausting the stack', async () => {
    const depth = 200_000;
    const answer = await raw(mint, `{"clientId":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect([answer.status, answer.body.error.message]).toEqual([400, 'body: nested deeper than 32 levels.']);
  });

  test.each([
    ['[]', 'body: an array of 0 items came, expected an object.'],
    ['"x"', 'body: string "x" came, expected an object.'],
    ['null', 'body: null came, expected an object.'],
  ])('the body %j is no object', async (text, message) => {
    const answer = await raw(mint, text);
    expect([answer.status, answer.body.error.message]).toEqual([400, message]);
  });

  test('no body at all, and an empty one', async () => {
    const none = await http.post(mint).set('Authorization', `Bearer ${apiKey}`);
    expect([none.status, none.body.error.message]).toEqual([400, 'body: nothing came, expected an object.']);
    expect((await raw(mint, '')).body.error.message).toContain('clientId: nothing came, expected a string');
  });

  test('unicode arrives as it was sent; control characters in names do not pass', async () => {
    expect((await post(mint, { ...good, clientId: 'Zürich-東京-🛫' })).body.token).toBe('token-of-Zürich-東京-🛫');
    expect(await messageOf({ ...good, clientId: 'a\u0000b' })).toContain('expected text without control characters');
  });

  test('a union says its types, or the faults of the form that was meant', async () => {
    const values = (value: unknown) =>
      messageOf({ ...good, params: { appFilters: [{ metricId: 'm', values: { State: value } }] } });
    expect(await values(null)).toContain(
      'values.State: null came, expected a boolean or a number or a string or an array or an object',
    );
    expect(await values(['CA', 5])).toContain('values.State[1]: a number came, expected a string');
    const embed = await post('/api/v2/data-app/embeds', { embedType: 'chart' });
    expect(embed.body.error.message).toBe('embedType: string "chart" came, expected one of "dashboard", "metric".');
  });

  test('a query is refused where a parameter comes twice or is unknown', async () => {
    const get = (query: string) =>
      http.get(`/api/v2/data-app/metrics?${query}`).set('Authorization', `Bearer ${apiKey}`);
    expect((await get('embedId=e&clientId=c')).status).toBe(200);
    expect((await get('embedId=e&clientId=c&clientId=d')).body.error.message).toBe(
      'clientId: an array of 2 items came, expected a string.',
    );
    expect((await get('embedId=e&clientId=c&x=1')).body.error.message).toBe('x: not a field of this operation.');
    expect((await get('embedId=e&clientId=c&__proto__=1')).status).toBe(400);
  });
});

describe('paths', () => {
  const guest = (path: string) => http.get(path).set('Authorization', `Bearer ${guestToken}`);

  test('parameters are percent-decoded, once', async () => {
    for (const id of ['delays--LAX', 'a/b', 'Zürich 50%', '%41', 'a+b', '{dashboardId}']) {
      const { status, body } = await guest(`/api/v2/guest/dashboards/${encodeURIComponent(id)}`);
      expect([status, body.data?.dashboardId]).toEqual([200, id]);
    }
  });

  test('broken percent-encoding is 400, and names the parameter', async () => {
    for (const id of ['%', '%zz', '%ff', '%E0%A4']) {
      const { status, body } = await guest(`/api/v2/guest/dashboards/${id}`);
      expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
      expect(body.error.message).toContain('dashboardId');
    }
  });

  test('a field that the path gives cannot be given again', async () => {
    const { status, body } = await post('/api/v2/guest/metrics/m1/query', { metricId: 'm2' }, guestToken);
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    expect(body.error.message).toContain('metricId: comes from the path');
  });

  test('a query without a body asks for everything', async () => {
    const { status, body } = await http
      .post('/api/v2/guest/metrics/m9/query')
      .set('Authorization', `Bearer ${guestToken}`);
    expect([status, body.metricid]).toEqual([200, 'm9']);
  });

  test.each([
    '/api/v2/guest/dashboards/',
    '/api/v2/guest/dashboards/a/b',
    '/api/v2/data-app/datamarts',
    '/api/v2/nothing',
    '/api/v2',
    '/API/v2/guest/dashboards/a',
  ])('%s is not found: unknown, or declared and not bound', async (path) => {
    const { status, body } = await guest(path);
    expect([status, body.error.code, body.error.status]).toEqual([404, 'NOT_FOUND', 404]);
  });

  test('a known path with another method names the methods that it has', async () => {
    const { status, body, headers } = await http.delete(mint);
    expect([status, body.error.code, headers.allow]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST']);
  });
});

describe('legacy bindings', () => {
  const body = {
    dashboardId: 'd',
    workspaceName: 'w',
    clientId: 'LAX',
    accessSettings: bound.createDashboardEmbed.example?.input.accessSettings,
  };

  test('they answer in their own shape, with a Deprecation date', async () => {
    const old = await post('/api/v2/dataApp/dashboard-embeds', body);
    expect([old.status, old.body]).toEqual([200, { id: 'e1', error: null }]);
    expect(old.headers.deprecation).toMatch(/^@\d{10}$/);
    const current = await post('/api/v2/data-app/dashboard-embeds', body);
    expect([current.status, current.body]).toEqual([200, { id: 'e1', error: null, name: 'd' }]);
    expect(current.headers.deprecation).toBeUndefined();
  });

  test('their errors carry it too', async () => {
    for (const token of [apiKey, 'wrong']) {
      const { status, headers } = await post('/api/v2/dataApp/query', {}, token);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers.deprecation).toMatch(/^@\d{10}$/);
    }
  });

  test('the older spellings are served', async () => {
    const list = await http.get('/api/v2/dataApp/embed/list').set('Authorization', `Bearer ${apiKey}`);
    expect(list.body.data).toHaveLength(1);
    const created = await post('/api/v2/dataApp/embed/create', bound.createEmbed.example?.input);
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

  test('a declared refusal answers its code, status and public message, and nothing else', async () => {
    const { answer, lines } = await failing(
      new Refusal('INVALID_EMBED_ID', 'No such embed.', { reason: 'foreign-embed', cause: new Error('of tenant ATL') }),
    );
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: { code: 'INVALID_EMBED_ID', message: 'No such embed.', status: 400 } },
    ]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      refused: { code: 'INVALID_EMBED_ID', reason: 'foreign-embed' },
    });
  });

  test.each([
    ['a code that is not declared', new Refusal('SESSION_INVALID', 'secret detail')],
    ['a driver error', new Error('column "secret detail" does not exist')],
    ['something that is no error', 'secret detail'],
  ])('%s is 500 with a request id, and its cause is in the log alone', async (_, error) => {
    const { answer, lines } = await failing(error);
    expect([answer.status, answer.body.error.code]).toEqual([500, 'INTERNAL_SERVER_ERROR']);
    expect(JSON.stringify(answer.body)).not.toContain('secret detail');
    const id = answer.headers['x-request-id'];
    expect(answer.body.error.message).toContain(id);
    const logged = lines.map((line) => JSON.parse(line)).find(({ err }) => err !== undefined);
    expect(logged).toMatchObject({ requestId: id, operation: 'queryMetric' });
    if (error instanceof Error) expect(logged.err.message).toBe(error.message);
  });

  test('CSV is text, as an attachment', async () => {
    const { status, text, headers } = await post('/api/v2/guest/metrics/m1/csv', { dashboardId: 'd' }, guestToken);
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers['content-disposition']).toContain('attachment');
    expect(text).toContain('"Los Ángeles, ""LAX""",3\r\n"\'=HYPERLINK(""x"")",-1\r\n,90071992547409931\r\n');
  });

  test('a default that is written in SQL does not reach the guest', async () => {
    const { text, body } = await http.get('/api/v2/guest/metrics/m1').set('Authorization', `Bearer ${guestToken}`);
    expect(text).not.toContain('SELECT');
    expect(body.data.filters.map(({ defaultValue }: { defaultValue: unknown }) => defaultValue)).toEqual([
      ['CA', 'NV'],
      null,
    ]);
  });
});

test('no credential of any request above is in the log', () => {
  const log = lines.join('');
  expect(lines.length).toBeGreaterThan(50);
  for (const secret of [apiKey, guestToken, serviceToken]) expect(log).not.toContain(secret);
});
