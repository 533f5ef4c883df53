import { describe, expect, it } from 'vitest';
import { callForToken, requestToken } from '../../src/web/token/request.js';

const date = 'Mon, 01 Jan 2024 10:00:00 GMT';
const atOnce = (body: unknown, init: ResponseInit = {}) => {
  const calls: { url: string; init: RequestInit | undefined }[] = [];
  const fetch: typeof globalThis.fetch = async (url, given) => {
    calls.push({ url: String(url), init: given });
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), init);
  };
  return { fetch, calls };
};
const ask = (body: unknown, init?: ResponseInit) => requestToken('https://host/embed-token', atOnce(body, init).fetch);
const refusal = (code: string, status: number) => ({ error: { code, message: 'm', status } });

const deadDigest = '28a3a5e81d1e89f0efc70b63bf717b921373fc7fac70bc1b7e4d466799c0c6b0';
const withReplaces = {
  ...{ method: 'POST', credentials: 'include', cache: 'no-store' },
  ...{ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ replaces: deadDigest }) },
};

describe('the request for another token than a dead one', () => {
  it('names the digest of the dead one, and not the token', async () => {
    const { fetch, calls } = atOnce({ token: 't' });
    const outcome = await requestToken('https://host/embed-token', fetch, { dead: 'dead' });
    expect(outcome).toMatchObject({ kind: 'minted', minted: { token: 't' } });
    expect(calls.map(({ init }) => init)).toEqual([withReplaces]);
  });

  it.each([400, 404, 405, 413, 415, 422, 0])('asks without a body a source that takes none: %i', async (status) => {
    const calls: (RequestInit | undefined)[] = [];
    const fetch: typeof globalThis.fetch = async (_, given) => {
      calls.push(given);
      if (given?.body === undefined) return new Response('{"token":"t"}');
      if (status === 0) throw new TypeError('the preflight was refused');
      return new Response('{}', { status });
    };
    const outcome = await requestToken('https://host/embed-token', fetch, { dead: 'dead' });
    expect([outcome.kind, calls.map((init) => init?.body === undefined)]).toEqual(['minted', [false, true]]);
  });

  it.each([401, 403, 429, 503])('takes %i as the answer', async (status) => {
    const { fetch, calls } = atOnce({}, { status });
    await requestToken('https://host/embed-token', fetch, { dead: 'dead' });
    expect(calls.length).toBe(1);
  });

  it('gives the digest to a function of the page', async () => {
    const asked: unknown[] = [];
    const getToken = (given: unknown) => {
      asked.push(given);
      return 't';
    };
    await callForToken(getToken);
    await callForToken(getToken, { dead: 'dead' });
    expect(asked).toEqual([{}, { replaces: deadDigest }]);
  });
});

describe('the request for the token of a tenant', () => {
  const tenants = [{ id: 'LAX', name: 'Los Angeles' }, { id: 'SFO' }];

  it('names the tenant, and reads those of the session', async () => {
    const { fetch, calls } = atOnce({ token: 't', tenant: 'LAX', tenants: [...tenants, 5, { name: 'without an id' }] });
    const outcome = await requestToken('https://host/embed-token', fetch, { tenant: 'LAX' });
    expect(calls.map(({ init }) => init?.body)).toEqual(['{"tenant":"LAX"}']);
    expect(outcome).toMatchObject({ kind: 'minted', minted: { tenant: 'LAX', tenants } });
  });

  it('reads from a refusal what the session may choose from', async () => {
    const error = { code: 'NO_TENANT', message: 'm', status: 403, tenants };
    expect(await ask({ error }, { status: 403 })).toEqual({ kind: 'refused', refused: error });
  });

  it.each([400, 404, 413, 0])(
    'is never repeated without the tenant, whatever the source answers: %i',
    async (status) => {
      const bodies: unknown[] = [];
      const fetch: typeof globalThis.fetch = async (_, given) => {
        bodies.push(JSON.parse(String(given?.body ?? '{}')));
        if (status === 0) throw new TypeError('the preflight was refused');
        return new Response('{}', { status });
      };
      for (const dead of [undefined, 'dead'])
        await requestToken('https://host/embed-token', fetch, { dead, tenant: 'LAX' });
      expect(bodies).toEqual([{ tenant: 'LAX' }, { tenant: 'LAX', replaces: deadDigest }, { tenant: 'LAX' }]);
    },
  );

  it('gives the tenant to a function of the page', async () => {
    const asked: unknown[] = [];
    await callForToken((given) => asked.push(given), { tenant: 'LAX', dead: 'dead' });
    expect(asked).toEqual([{ tenant: 'LAX', replaces: deadDigest }]);
  });
});

describe('the request for a token', () => {
  it('is a POST with the cookies of the page, and without a body', async () => {
    const { fetch, calls } = atOnce({ token: 't' });
    await requestToken('https://host/embed-token', fetch);
    expect(calls).toEqual([
      { url: 'https://host/embed-token', init: { method: 'POST', credentials: 'include', cache: 'no-store' } },
    ]);
  });

  // superset#25153: the browser's clock decided when a token had expired.
  it('measures the life of a token by the clock of the server that answered', async () => {
    const body = { token: 't', refreshAfter: '2024-01-01T10:10:00Z', embeds: [{ id: 'a', type: 'dashboard' }, 1] };
    expect(await ask(body, { headers: { date } })).toEqual({
      kind: 'minted',
      minted: {
        ...{ token: 't', refreshInMs: 600_000, embeds: [{ id: 'a', type: 'dashboard' }], serviceUrl: '' },
        ...{ tenant: null, tenants: [] },
      },
    });
    const short = { token: 't', expiresAt: Date.parse('2024-01-01T10:15:00Z') };
    expect(await ask(short, { headers: { date } })).toMatchObject({ minted: { refreshInMs: 600_000 } });
    expect(await ask({ token: 't' })).toMatchObject({ minted: { refreshInMs: null } });
  });

  it('tells a session without a token from a server that is busy or away', async () => {
    const kindOf = async (body: unknown, init: ResponseInit) => (await ask(body, init)).kind;
    expect(await kindOf(refusal('SESSION_INVALID', 401), { status: 401 })).toBe('refused');
    expect(await kindOf(refusal('NO_POLICY', 403), { status: 403 })).toBe('refused');
    expect(await kindOf(refusal('RATE_LIMITED', 429), { status: 429 })).toBe('retry');
    expect(await kindOf('oops', { status: 500 })).toBe('retry');
    expect(await kindOf('<html>', { status: 502 })).toBe('away');
    expect(await kindOf('<html>', { status: 200 })).toBe('retry');
    expect(await kindOf({ token: '' }, { status: 200 })).toBe('retry');
    expect(await ask(refusal('A', 503), { status: 503, headers: { 'retry-after': '7' } })).toEqual({
      kind: 'away',
      retryAfterMs: 7_000,
      reason: 'A: m',
    });
  });

  it('takes a redirect to a login page for a session that has ended', async () => {
    const fetch = async () => Object.defineProperty(new Response('<html>'), 'redirected', { value: true });
    expect(await requestToken('https://host/embed-token', fetch)).toMatchObject({
      kind: 'refused',
      refused: { status: 401 },
    });
  });

  it('takes a failure of the network for a server that is away', async () => {
    const fetch = () => Promise.reject(new TypeError('Failed to fetch'));
    expect(await requestToken('https://host/embed-token', fetch)).toMatchObject({ kind: 'away' });
  });
});

describe('a function of the page that gives tokens', () => {
  it('may return a token, an answer of the gateway, or a promise of either', async () => {
    expect(await callForToken(() => 't')).toMatchObject({ kind: 'minted', minted: { token: 't', refreshInMs: null } });
    expect(await callForToken(async () => ({ token: 't', serviceUrl: 'https://s' }))).toMatchObject({
      minted: { token: 't', serviceUrl: 'https://s' },
    });
  });

  it('is measured by the clock of the page only where that gives it some life (LangAlpha#387, supabase/auth-js#926)', async () => {
    const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
    const refreshOf = async (answer: unknown) => {
      const outcomes = [await callForToken(() => answer), await ask(answer)];
      return outcomes.map((outcome) => (outcome.kind === 'minted' ? outcome.minted.refreshInMs : undefined));
    };
    // A clock that is ahead by more than the life of the token: each new token seems to be due.
    for (const times of [{ refreshAfter: inMs(-1) }, { expiresAt: inMs(-3_600_000) }]) {
      expect(await refreshOf({ token: 't', ...times })).toEqual([null, null]);
    }
    const [own = 0] = (await refreshOf({ token: 't', refreshAfter: inMs(600_000) })) as number[];
    expect(own).toBeGreaterThan(0);
  });

  it('says that nobody is logged in by nothing, and that it failed by an error', async () => {
    for (const nothing of [null, undefined, '']) {
      expect(await callForToken(() => nothing)).toMatchObject({ kind: 'refused', refused: { status: 401 } });
    }
    expect(await callForToken(() => Promise.reject(new Error('down')))).toMatchObject({ kind: 'away', reason: 'down' });
    expect(await callForToken(() => refusal('NO_POLICY', 403))).toMatchObject({ kind: 'refused' });
    expect(await callForToken(() => refusal('RATE_LIMITED', 429))).toMatchObject({ kind: 'retry' });
    expect(await callForToken(() => 5)).toMatchObject({ kind: 'retry' });
  });
});
