/** The trace of a page, which the requests of its elements continue. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createGuestClient } from '../../src/web/base/client.js';
import { requestToken } from '../../src/web/token/request.js';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const named = (content: string | undefined) => ({
  querySelector: (selector: string) =>
    selector === 'meta[name="traceparent"]' && content !== undefined ? { content } : null,
});

/** The headers of what is sent, by what is called. */
const sent = async (tokenUrl = 'https://shop.example.com/embed-token') => {
  const headers: (string | undefined)[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    headers.push((init?.headers as Record<string, string> | undefined)?.traceparent);
    return new Response('{}', { status: 400 });
  };
  await requestToken(tokenUrl, fetch as typeof globalThis.fetch);
  const client = createGuestClient({ token: 't', baseUrl: 'https://data.example.com', fetch: fetch as never });
  await client.metric('m', new AbortController().signal).catch(() => {});
  return headers;
};

describe('pages and their traces', () => {
  beforeEach(() => {
    vi.stubGlobal('location', new URL('https://shop.example.com/page'));
  });
  afterEach(() => vi.unstubAllGlobals());

  test('a page that names its trace has it sent with the request for a token and with each read', async () => {
    vi.stubGlobal('document', named(traceparent));
    expect(await sent()).toEqual([traceparent, traceparent]);
  });

  test('a token source of another origin gets no trace, since it may forbid the header', async () => {
    vi.stubGlobal('document', named(traceparent));
    expect(await sent('https://gateway.example.com/embed-token')).toEqual([undefined, traceparent]);
  });

  test.each([undefined, '', 'nonsense', `${traceparent}, more`, traceparent.toUpperCase()])(
    'a page that names no trace, or a broken one (%j), has none sent',
    async (content) => {
      vi.stubGlobal('document', named(content));
      expect(await sent()).toEqual([undefined, undefined]);
    },
  );
});
