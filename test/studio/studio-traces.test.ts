/** The spans of Studio's requests: named by their route, and never by what a caller sent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathsOf, registerTraces, traceIdsOf, writtenOf } from '../platform/traces.js';
import { personWith, type StudioServer, startStudioServer } from './studio-server.js';

const exporter = registerTraces();
const traceId = '0af7651916cd43dd8448eb211c80319c';

let server: StudioServer;
beforeAll(async () => {
  server = await startStudioServer({ now: () => new Date('2026-01-01') });
});
afterAll(() => server.close());

test('a request of Studio is a span of the caller’s trace, with the command below it and nothing of the caller', async () => {
  const headers = { ...(await server.as(personWith(['owner']))), traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  exporter.reset();
  const post = (path: string) => fetch(`${server.url}${path}`, { method: 'POST', headers, body: '{}' });
  expect((await post('/studio/commands/read-system')).status).toBe(200);
  expect((await post('/studio/commands/planted-command')).status).toBe(403);
  expect((await fetch(`${server.url}/studio/api/v2/planted-path`, { headers })).status).toBe(404);
  const spans = exporter.getFinishedSpans();
  expect(traceIdsOf(spans)).toEqual([traceId]);
  expect(pathsOf(spans)).toEqual([
    '… > GET /studio/api/v2/{*path}',
    '… > POST /studio/commands/:command',
    '… > POST /studio/commands/:command',
    '… > POST /studio/commands/:command > command',
  ]);
  expect(writtenOf(spans)).toContain('read-system');
  for (const secret of ['planted', 'owner']) expect(writtenOf(spans)).not.toContain(secret);
});
