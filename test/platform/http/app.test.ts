import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import supertest from 'supertest';
import { afterAll, describe, expect, test } from 'vitest';
import { loadAssets, serveAssets } from '../../../src/platform/http/pages/assets.js';
import type { Step } from '../../../src/platform/http/wire/in-turn.js';
import { apiKey, createSample, document, guestToken } from './sample.js';

const folder = await mkdtemp(join(tmpdir(), 'guestlist-assets-'));
const script = `export const words = ${JSON.stringify('flights '.repeat(500))};`;
await writeFile(join(folder, 'elements.js'), script);
await writeFile(join(folder, 'page.html'), '<!doctype html><title>x</title>');
afterAll(() => rm(folder, { recursive: true }));

const { app, lines } = await createSample({
  assets: {
    '/elements.js': {
      file: join(folder, 'elements.js'),
      contentType: 'text/javascript; charset=utf-8',
      isPublic: true,
    },
    '/page': {
      file: join(folder, 'page.html'),
      contentType: 'text/html; charset=utf-8',
      contentSecurityPolicy: "default-src 'none'; script-src 'self'",
    },
  },
});
const http = supertest(app);
const mint = '/api/v2/guest-token/create';
const good = JSON.stringify({ clientId: 'LAX', dataAppName: 'flights' });
const post = (contentType: string) =>
  http.post(mint).set('Authorization', `Bearer ${apiKey}`).set('Content-Type', contentType);

describe('bodies', () => {
  test('malformed JSON gets 400 with the position, and the message does not repeat the body', async () => {
    const { status, body } = await post('application/json').send('{"clientId": "top-secret" "x"}');
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    expect(body.error.message).toMatch(/^The body is not valid JSON \(at position \d+\)\.$/);
  });

  test('more than 2 MB gets 413, also if only the unpacked size is larger', async () => {
    const large = `"${'x'.repeat(2 * 1024 * 1024)}"`;
    const plain = await post('application/json').send(large);
    expect([plain.status, plain.body.error.code, plain.body.error.status]).toEqual([413, 'INVALID_REQUEST_BODY', 413]);
    const packed = post('application/json').set('Content-Encoding', 'gzip');
    packed.write(gzipSync(large));
    expect((await packed).status).toBe(413);
  });

  test("a guest's body has a smaller limit", async () => {
    const query = http.post('/api/v2/guest/metrics/m/query').set('Authorization', `Bearer ${guestToken}`);
    const answer = await query.send({ dashboardFilter: { State: Array(140_000).fill(1) } });
    expect([answer.status, answer.body.error.code]).toEqual([413, 'INVALID_REQUEST_BODY']);
    expect(answer.body.error.message).toMatch(/larger than 262144 bytes/);
    expect((await post('application/json').send(JSON.stringify({ clientId: 'x'.repeat(300_000) }))).status).toBe(400);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'])(
    'a body of type %s gets 400 with what to send',
    async (type) => {
      const { status, body } = await post(type).send(good);
      expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
      expect(body.error.message).toContain('application/json');
    },
  );

  test('JSON with a charset is read; an unknown charset or encoding gets 400', async () => {
    expect((await post('application/json; charset=utf-8').send(good)).status).toBe(200);
    expect((await post('application/json; charset=klingon').send(good)).status).toBe(400);
    const encoded = await post('application/json').set('Content-Encoding', 'zip').send(good);
    expect([encoded.status, encoded.body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
  });
});

describe('headers', () => {
  test.each(['/docs', '/openapi.json', '/healthz', '/nowhere', '/api/v2/nothing'])(
    '%s has strict security headers',
    async (path) => {
      const { headers } = await http.get(path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|script-src|\*/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-powered-by']).toBeUndefined();
      expect(headers.etag).toBeUndefined();
      expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
    },
  );

  test('a valid request id is kept, and an invalid one is replaced', async () => {
    expect((await http.get('/healthz').set('X-Request-Id', 'trace-12345678')).headers['x-request-id']).toBe(
      'trace-12345678',
    );
    const odd = await http.get('/healthz').set('X-Request-Id', 'a b"><script>');
    expect(odd.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  });

  test('guest reads, including errors, allow any origin without credentials', async () => {
    const path = '/api/v2/guest/dashboards/delays';
    const preflight = await http
      .options(path)
      .set('Origin', 'https://host.example')
      .set('Access-Control-Request-Method', 'GET')
      .set('Access-Control-Request-Headers', 'authorization');
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-origin']).toBe('*');
    expect(preflight.headers['access-control-allow-headers']).toContain('Authorization');
    const answers = await Promise.all([
      http.get(path).set('Authorization', `Bearer ${guestToken}`),
      http.get(path),
      http.post('/api/v2/guest/metrics/m/query').set('Content-Type', 'application/json').send('{'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 401]);
    for (const { headers } of answers) {
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  test.each([mint, '/api/v2/data-app/embeds', '/openapi.json', '/metrics', '/api/v2/guestlist'])(
    '%s allows no other origin',
    async (path) => {
      for (const answer of [await http.options(path).set('Origin', 'https://evil.example'), await http.get(path)]) {
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
    },
  );
});

describe('pages', () => {
  test('/openapi.json is the OpenAPI document', async () => {
    const { body, headers } = await http.get('/openapi.json');
    expect(headers['content-type']).toContain('application/json');
    expect(body).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('/healthz is 200 while the process runs, and /readyz while it can serve', async () => {
    expect((await http.get('/healthz')).status).toBe(200);
    expect((await http.get('/readyz')).status).toBe(200);
    const states = [() => false, () => Promise.reject(new Error('no database'))];
    for (const ready of states) {
      const { app: waiting } = await createSample({ ready });
      const { status, text } = await supertest(waiting).get('/readyz');
      expect([status, text]).toEqual([503, '{"status":"not ready"}']);
    }
  });

  test('/metrics counts by operation and status, and never contains a path that a caller invented', async () => {
    const { app: own } = await createSample();
    const fresh = supertest(own);
    await fresh.get('/api/v2/guest/dashboards/LAX-secret').set('Authorization', `Bearer ${guestToken}`);
    await fresh.get('/api/v2/invented');
    const { text, headers } = await fresh.get('/metrics');
    expect(headers['content-type']).toContain('text/plain');
    expect(text).toContain('guestlist_request_duration_seconds_count{operation="getGuestDashboard",status="200"} 1');
    expect(text).toContain('guestlist_request_duration_seconds_count{operation="unmatched",status="404"} 1');
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).not.toMatch(/LAX|invented/);
  });
});

describe('assets', () => {
  test('a public script may be loaded by any page, compressed or not', async () => {
    const packed = await http.get('/elements.js').set('Accept-Encoding', 'gzip, br');
    expect(packed.headers['content-encoding']).toBe('gzip');
    const plain = await http.get('/elements.js').set('Accept-Encoding', 'identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(Number(packed.headers['content-length'])).toBeLessThan(script.length / 5);
    for (const { headers, text } of [packed, plain]) {
      expect(text).toBe(script);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['cross-origin-resource-policy']).toBe('cross-origin');
      expect(headers['cache-control']).toBe('public, max-age=300');
      expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    }
    expect(
      (await http.get('/elements.js').set('Accept-Encoding', 'gzip;q=0')).headers['content-encoding'],
    ).toBeUndefined();
  });

  test('an asset is not sent again if the browser has it', async () => {
    const { headers } = await http.get('/elements.js');
    const again = await http.get('/elements.js').set('If-None-Match', String(headers.etag));
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await http.get('/elements.js').set('If-None-Match', '"other"')).status).toBe(200);
  });

  test('the build’s Brotli is served to who takes it, unless it is of another build', async () => {
    const text = 'export const chart = 1;\n'.repeat(50);
    const [own, stale] = [join(folder, 'own-12345678.js'), join(folder, 'stale.js')];
    for (const file of [own, stale]) await writeFile(file, text);
    await writeFile(`${own}.br`, brotliCompressSync(text));
    await writeFile(`${stale}.br`, brotliCompressSync('another build'));
    const of = (file: string) => ({ file, contentType: 'text/javascript', isPublic: true });
    const files = { '/own.js': { ...of(own), isImmutable: true }, '/stale.js': { ...of(stale), isRevalidated: true } };
    const served = createServer((request, response) => serve(request, response, () => response.end()));
    const serve = serveAssets(await loadAssets(files));
    const got = async (path: string, coding: string) => {
      const { headers, text: body } = await supertest(served).get(path).set('Accept-Encoding', coding).buffer();
      return [headers['content-encoding'], body === text];
    };
    expect(await got('/own.js', 'gzip, deflate, br')).toEqual(['br', true]);
    expect(await got('/own.js', 'gzip, br;q=0')).toEqual(['gzip', true]);
    expect(await got('/own.js', 'identity')).toEqual([undefined, true]);
    expect(await got('/stale.js', 'br, gzip')).toEqual(['gzip', true]);
    const caching = async (path: string) => (await supertest(served).get(path)).headers['cache-control'];
    expect(await caching('/own.js')).toBe('public, max-age=31536000, immutable');
    expect(await caching('/stale.js')).toBe('public, no-cache');
  });

  test('a script that is named by its version is kept for ever, and by another one is asked for again', async () => {
    const { headers } = await http.get('/elements.js');
    const version = String(headers.etag).slice(3, 19);
    const caching = async (query: string) => (await http.get(`/elements.js${query}`)).headers['cache-control'];
    expect(await caching(`?v=${version}`)).toBe('public, max-age=31536000, immutable');
    for (const query of ['', '?v=', `?v=${version.slice(1)}x`, `?v=${version}x`, `?w=${version}`])
      expect(await caching(query)).toBe('public, max-age=300');
  });

  test('a page may have its own content security policy, and may not be loaded by other origins', async () => {
    const { headers } = await http.get('/page');
    expect(headers['content-security-policy']).toBe("default-src 'none'; script-src 'self'");
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  test('only listed files are served, and only for reading', async () => {
    for (const path of ['/elements.js/', '/../package.json', '/%2e%2e/package.json', '/constructor']) {
      expect((await http.get(path)).status).toBe(404);
    }
    expect((await http.post('/elements.js')).status).toBe(404);
    const head = await http.head('/elements.js');
    expect([head.status, head.text]).toEqual([200, undefined]);
  });

  test('a missing file fails the start', async () => {
    const files = { '/x.js': { file: join(folder, 'missing.js'), contentType: 'text/javascript' } };
    await expect(loadAssets(files)).rejects.toThrow(/\/x\.js cannot be read: .*missing\.js/);
  });
});

test('each request is logged in one line without headers, query or body', async () => {
  const before = lines.length;
  await http
    .post(`${mint}?token=query-secret`)
    .set('Authorization', `Bearer ${apiKey}`)
    .set('Cookie', 'session=cookie-secret')
    .send({
      clientId: 'LAX',
      dataAppName: 'flights',
      params: { rlsSettings: [{ metricId: 'm', values: { region: 'rls-secret' } }] },
    });
  const added = lines.slice(before);
  expect(added).toHaveLength(1);
  const [line = ''] = added;
  expect(JSON.parse(line)).toMatchObject({
    level: 'info',
    method: 'POST',
    path: mint,
    status: 200,
    operation: 'createGuestToken',
    requestId: expect.any(String),
    durationInMs: expect.any(Number),
  });
  for (const secret of [apiKey, 'query-secret', 'cookie-secret', 'rls-secret', 'token-of-LAX']) {
    expect(line).not.toContain(secret);
  }
});

describe('the gateway before the pages', () => {
  const failingAs = (fail: Step) => createSample({ gateway: fail });
  const cause = new Error('the secret inside');

  test.each([
    [
      'throws',
      () => {
        throw cause;
      },
    ],
    [
      'rejects',
      async () => {
        throw cause;
      },
    ],
  ] as [string, Step][])(
    'a gateway that %s gets 500 with the id of the request, and the log has the cause',
    async (_, fail) => {
      const sample = await failingAs(fail);
      const { status, headers, body } = await supertest(sample.app)
        .post('/embed-token')
        .set('X-Request-Id', 'request-1');
      expect([status, headers['x-request-id'], body.error.code]).toEqual([500, 'request-1', 'INTERNAL_SERVER_ERROR']);
      expect(body.error.message).not.toContain('secret');
      expect(sample.lines.join()).toContain('the secret inside');
    },
  );

  test('an answer that the gateway began and did not end is cut off, and the log has the cause', async () => {
    const sample = await failingAs(async (_, response) => {
      response.writeHead(200).write('half');
      throw cause;
    });
    await expect(supertest(sample.app).post('/embed-token')).rejects.toThrow();
    expect(sample.lines.map((line) => JSON.parse(line).event)).toEqual(['response.failed']);
  });
});

test('a path that is no percent-encoded text is not found, also below the documents', async () => {
  for (const path of ['/docs/%E0', '/%E0']) expect((await http.get(path)).status, path).toBe(404);
});
