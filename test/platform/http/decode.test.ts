import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { findFaults } from '../../../src/platform/http/wire/faults.js';
import { createGuestSchedule } from '../../../src/service/schedules/contract/guest-schedules.js';
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

  test('every fault is named with its place, the value and what was expected', async () => {
    expect(
      await messageOf({ clientId: 7, params: { allowedEmbeds: 'e', hideDashboardFilters: [1] }, expiryTime: -5 }),
    ).toBe(
      [
        'clientId: got number 7, expected a string',
        'dataAppName: missing, expected a string',
        'params.allowedEmbeds: got string "e", expected an array',
        'params.hideDashboardFilters[0]: got number 1, expected a string',
        'expiryTime: got number -5, expected more than 0.',
      ].join('; '),
    );
  });

  test('after ten faults, only the number of the others is named', async () => {
    const message = await messageOf({ ...good, params: { allowedEmbeds: Array.from({ length: 25 }, () => 1) } });
    expect(message.split(';')).toHaveLength(11);
    expect(message).toMatch(/; and 15 more\.$/);
  });

  test('long values are shortened, and RLS values are not shown', async () => {
    const long = await messageOf({ ...good, clientId: 'é'.repeat(300) });
    expect(long).toBe(`clientId: got string "${'é'.repeat(40)}…" (300 characters), expected at most 255 characters.`);
    const secret = await messageOf({
      ...good,
      params: { rlsSettings: [{ metricId: 'm', values: { region: 'very-secret'.repeat(500) } }] },
    });
    expect(secret).toContain('params.rlsSettings[0].values.region');
    expect(secret).not.toContain('very-secret');
  });

  test.each(['__proto__', 'constructor', 'toString'])('the key %s is refused like any unknown field', async (key) => {
    const text = (inner: string) => `{"clientId":"LAX","dataAppName":"flights",${inner}}`;
    const top = await raw(mint, text(`"${key}":{"isAdmin":true}`));
    expect([top.status, top.body.error.message]).toEqual([400, `${key}: not a field of this operation.`]);
    const nested = await raw(mint, text(`"params":{"${key}":{"timezone":"UTC"}}`));
    expect([nested.status, nested.body.error.message]).toEqual([400, `params.${key}: not a field of this operation.`]);
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });

  test('__proto__ as the name of a filter is refused, not dropped', async () => {
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
    ['[]', 'body: got an array of 0 items, expected an object.'],
    ['"x"', 'body: got string "x", expected an object.'],
    ['null', 'body: got null, expected an object.'],
  ])('the body %j is not an object', async (text, message) => {
    const answer = await raw(mint, text);
    expect([answer.status, answer.body.error.message]).toEqual([400, message]);
  });

  test('a missing body and an empty body are treated alike', async () => {
    const none = await http.post(mint).set('Authorization', `Bearer ${apiKey}`);
    expect([none.status, none.body.error.message]).toEqual([400, 'body: missing, expected an object.']);
    expect((await raw(mint, '')).body.error.message).toContain('clientId: missing, expected a string');
  });

  test('Unicode text arrives unchanged; control characters in names are refused', async () => {
    expect((await post(mint, { ...good, clientId: 'Zürich-東京-🛫' })).body.token).toBe('token-of-Zürich-東京-🛫');
    expect(await messageOf({ ...good, clientId: 'a\u0000b' })).toContain('expected text without control characters');
  });

  test('a union reports its types, or the faults of the alternative that fits best', async () => {
    const values = (value: unknown) =>
      messageOf({ ...good, params: { appFilters: [{ metricId: 'm', values: { State: value } }] } });
    expect(await values(null)).toContain(
      'values.State: got null, expected a boolean or a number or a string or an array or an object',
    );
    expect(await values(['CA', 5])).toContain('values.State[1]: got a number, expected a string');
    const embed = await post('/api/v2/data-app/embeds', { embedType: 'chart' });
    expect(embed.body.error.message).toBe('embedType: got string "chart", expected one of "dashboard", "metric".');
  });

  test.each([
    [{ every: 'month', at: '08:00' }, 'recurrence.day: missing, expected a number or "last"'],
    [{ every: 'month', day: 40, at: '08:00' }, 'recurrence.day: got number 40, expected 31 or less'],
    [{ every: 'week', at: '08:00' }, 'recurrence.on: missing, expected an array'],
    [{ every: 'day' }, 'recurrence.at: missing, expected a string'],
    [
      { every: 'year', at: '08:00' },
      'recurrence.every: got string "year", expected one of "day", "workday", "week", "month"',
    ],
  ])('of alternatives that are named, the one that the caller named is meant: %o', (given, fault) => {
    const asked = { dashboardId: 'd', name: 'n', format: 'pdf', recurrence: { timezone: 'UTC', ...given } };
    expect(findFaults(createGuestSchedule.input, asked, { root: 'body', values: 0 })).toEqual({ faults: [fault] });
  });

  test('a query with a repeated or unknown parameter is refused', async () => {
    const get = (query: string) =>
      http.get(`/api/v2/data-app/metrics?${query}`).set('Authorization', `Bearer ${apiKey}`);
    expect((await get('embedId=e&clientId=c')).status).toBe(200);
    expect((await get('embedId=e&clientId=c&clientId=d')).body.error.message).toBe(
      'clientId: got an array of 2 items, expected a string.',
    );
    expect((await get('embedId=e&clientId=c&x=1')).body.error.message).toBe('x: not a field of this operation.');
    expect((await get('embedId=e&clientId=c&__proto__=1')).status).toBe(400);
  });
});
