import { expect, test } from 'vitest';
import { createClient, UpstreamRefusal, type WireRequest } from '../../../src/platform/http/interface/client.js';
import { operations } from '../../../src/service/operations.js';

const recording = (status: number, body: unknown) => {
  const sent: WireRequest[] = [];
  const call = createClient(async (request) => {
    sent.push(request);
    return { status, body };
  }, 'token');
  return { sent, call };
};

test('path parameters are encoded, queries are text, what is undefined is left out', async () => {
  const { sent, call } = recording(200, { data: [], error: null });
  await call(operations.listGuestFilterOptions, { dashboardId: 'a/b?c', filter: 'Zürich 50%', search: undefined });
  await call(operations.listEmbeds, { isPagination: true, pageNumber: 2 });
  expect(sent).toEqual([
    {
      method: 'POST',
      path: '/api/v2/guest/dashboards/a%2Fb%3Fc/filters/Z%C3%BCrich%2050%25/options',
      query: {},
      body: {},
      bearer: 'token',
    },
    {
      method: 'GET',
      path: '/api/v2/data-app/embeds',
      query: { isPagination: 'true', pageNumber: '2' },
      body: undefined,
      bearer: 'token',
    },
  ]);
});

test.each(['', '.', '..'])('the id %j would change the path and is not sent', async (dashboardId) => {
  const { sent, call } = recording(200, {});
  await expect(call(operations.getGuestDashboard, { dashboardId })).rejects.toThrow(TypeError);
  expect(sent).toEqual([]);
});

test('an error keeps its code and status; what is not of the interface is UNKNOWN', async () => {
  const input = { clientId: 'LAX', dataAppName: 'flights' };
  const refusal = recording(400, { error: { code: 'CLIENT_ID_ERROR', message: 'no such client' } });
  await expect(refusal.call(operations.createGuestToken, input)).rejects.toMatchObject({
    status: 400,
    code: 'CLIENT_ID_ERROR',
    message: 'no such client',
  });
  for (const { call } of [recording(502, '<html>'), recording(200, { tokken: 'x' })]) {
    await expect(call(operations.createGuestToken, input)).rejects.toMatchObject({ code: 'UNKNOWN' });
    await expect(call(operations.createGuestToken, input)).rejects.toThrow(UpstreamRefusal);
  }
});
