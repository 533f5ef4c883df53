import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { apiKey, createSample } from './sample.js';

const { app } = await createSample();
const http = supertest(app);
const mint = '/api/v2/guest-token/create';
const good = { clientId: 'LAX', dataAppName: 'flights' };

const post = (path: string, body: unknown) =>
  http
    .post(path)
    .set('Authorization', `Bearer ${apiKey}`)
    .send(body as object);
const raw = (path: string, body: string, token = apiKey) =>
  http.post(path).set('Authorization', `Bearer ${token}`).set('Content-Type', 'application/json').send(body);

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
