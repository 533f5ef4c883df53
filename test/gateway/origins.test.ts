import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTrustedOrigin } from '../../src/gateway/authenticate/credential.js';
import { isOrigin } from '../../src/platform/addresses/origin.js';
import { analyst, captureLog, sign, startGateway } from './harness.js';

const publicOrigin = 'https://numbers.example.com';

/** Sends a request with the session cookie and returns its status. */
const withCookie = async (headers: Record<string, string>, options: Parameters<typeof startGateway>[0] = {}) => {
  const { url } = await startGateway(options);
  const cookie = `host_session=${sign(analyst)}`;
  const own = headers.origin === 'OWN' ? { origin: url } : {};
  return (await fetch(`${url}/embed-token`, { method: 'POST', headers: { cookie, ...headers, ...own } })).status;
};

describe('a gateway that knows its own origin', () => {
  it.each<[string, Record<string, string>, number]>([
    ['its own', { origin: publicOrigin }, 200],
    ['its own, said twice', { origin: publicOrigin, 'sec-fetch-site': 'same-origin' }, 200],
    ['an allowed one', { origin: 'https://app.example.com' }, 200],
    ['none, but same-origin by Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin' }, 200],
    ['none', {}, 401],
    ['none, by a link or a bookmark', { 'sec-fetch-site': 'none' }, 401],
    ['null', { origin: 'null' }, 401],
    ['null that says same-origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 401],
    ['that of the host behind the proxy', { origin: 'OWN' }, 401],
    ['its own host without TLS', { origin: 'http://numbers.example.com' }, 401],
    ['its own host at another port', { origin: 'https://numbers.example.com:8443' }, 401],
    ['its own, from a cross-site frame', { origin: publicOrigin, 'sec-fetch-site': 'cross-site' }, 401],
    ['one below its own', { origin: 'https://x.numbers.example.com' }, 401],
    ['a forwarded host', { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }, 401],
  ])('with the origin %s', async (_, headers, status) => {
    expect(await withCookie(headers, { publicOrigin })).toBe(status);
  });
});

describe('the origins of the options', () => {
  it.each([
    '*',
    'null',
    '',
    'app.example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'https://a.example:443',
    'file://',
  ])('refuse %j, which no browser sends, or which every sandboxed page sends', async (origin) => {
    await expect(startGateway({ allowedOrigins: [origin] })).rejects.toThrow(/must be an origin/);
    await expect(startGateway({ publicOrigin: origin })).rejects.toThrow(/must be an origin/);
  });
});

describe('cross-origin answers', () => {
  it('name the one origin, with credentials, only if it is listed', async () => {
    const { ask } = await startGateway({ allowedOrigins: ['https://app.example.com', 'https://two.example.com'] });
    const headersFor = async (origin: string) => (await ask(analyst, undefined, { origin })).headers;
    for (const origin of ['https://app.example.com', 'https://two.example.com']) {
      const headers = await headersFor(origin);
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('access-control-allow-credentials')).toBe('true');
      expect(headers.get('vary')).toBe('Origin');
    }
    for (const origin of ['https://evil.example', 'null', 'https://app.example.com/']) {
      const headers = await headersFor(origin);
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(headers.get('vary')).toBe('Origin');
    }
  });

  it('are given to any origin for a Bearer session, since no page can send one without script', async () => {
    const { ask } = await startGateway();
    const { status, headers } = await ask(analyst, undefined, { origin: 'https://evil.example' });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('accept a preflight only from a listed origin, whatever it asks for', async () => {
    const { url } = await startGateway();
    const preflight = (origin: string, method: string) =>
      fetch(`${url}/embed-token`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method } });
    expect((await preflight('https://app.example.com', 'DELETE')).headers.get('access-control-allow-methods')).toBe(
      'POST',
    );
    const { headers } = await preflight('https://evil.example', 'POST');
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers.get('vary')).toBe('Origin');
  });
});

describe('pages of this machine', () => {
  const local = 'http://localhost:8080';
  const preflight = (url: string, origin: string) =>
    fetch(`${url}/embed-token`, { method: 'OPTIONS', headers: { origin } });

  it('may ask with a Bearer session in development, never with a cookie', async () => {
    const { url, ask } = await startGateway({ allowsLocalPages: true });
    const { headers } = await preflight(url, local);
    expect(headers.get('access-control-allow-origin')).toBe(local);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect((await ask(analyst, undefined, { origin: local })).headers.get('access-control-allow-origin')).toBe(local);
    expect(await withCookie({ origin: local }, { allowsLocalPages: true })).toBe(401);
    for (const origin of [
      'http://localhost.evil.example',
      'http://evil.example',
      'null',
      'http://127.0.0.1.evil.example:80',
    ]) {
      expect((await preflight(url, origin)).headers.get('access-control-allow-origin'), origin).toBeNull();
    }
  });

  it('may not ask where that is not said', async () => {
    const { url } = await startGateway();
    expect((await preflight(url, local)).headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a refused preflight', () => {
  it('is one line a minute for each origin, ten for all, that names the origin and the setting', async () => {
    const { log, lines } = captureLog();
    const { url } = await startGateway({ log });
    const refuse = (origin: string) => fetch(`${url}/embed-token`, { method: 'OPTIONS', headers: { origin } });
    const told = () => lines.filter(({ event }) => event === 'origin.refused');
    await refuse('https://page.example');
    await refuse('https://page.example');
    await refuse('https://app.example.com');
    expect(told()).toEqual([
      expect.objectContaining({ origin: 'https://page.example', setting: 'GUESTLIST_ALLOWED_ORIGINS' }),
    ]);
    for (const at of Array.from({ length: 30 }, (_, index) => index)) await refuse(`https://${at}.example`);
    expect(told()).toHaveLength(10);
  });
});

describe('any origin', () => {
  const allowedOrigins = ['https://app.example.com'];

  it("is trusted with a cookie only if it is listed or the gateway's own", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webUrl(),
          fc.string(),
          fc.constantFrom('null', 'https://app.example.com.', ' https://app.example.com'),
        ),
        fc.constantFrom(undefined, 'same-origin', 'same-site', 'cross-site', 'none', 'nonsense'),
        (origin, site) => {
          const headers = { host: 'inner:3000', origin, ...(site === undefined ? {} : { 'sec-fetch-site': site }) };
          const isListed = origin === 'https://app.example.com';
          expect(isTrustedOrigin(headers, { allowedOrigins, publicOrigin })).toBe(
            isListed || (origin === publicOrigin && (site ?? 'same-origin') === 'same-origin'),
          );
        },
      ),
    );
  });

  it('is the origin that a browser would send for the page', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
        expect(isOrigin(new URL(url).origin)).toBe(true);
        expect(isOrigin(`${new URL(url).origin}/`)).toBe(false);
      }),
    );
  });
});
