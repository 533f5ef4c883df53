import { describe, expect, it } from 'vitest';
import { createGuestClient } from '../../src/web/base/client.js';
import { createLatest } from '../../src/web/base/latest.js';
import { cardsOf } from '../../src/web/elements/layout.js';
import { dashboards } from './fixtures.js';

const signal = new AbortController().signal;

const clientOf = (response: Response | Error) => {
  const calls: { url: string; init: RequestInit | undefined }[] = [];
  const client = createGuestClient({
    baseUrl: 'https://service.example//',
    token: 'secret',
    fetch: async (url, init) => {
      calls.push({ url: String(url), init });
      if (response instanceof Error) throw response;
      return response;
    },
  });
  return { client, calls };
};

describe('the guest client', () => {
  it('sends its token and no cookie, and escapes what it puts in a path', async () => {
    const { client, calls } = clientOf(Response.json({ data: [], error: null }));
    await client.options('a/b', 'State & more', 'x&y', signal);
    expect(calls[0]?.url).toBe(
      'https://service.example/api/v2/guest/dashboards/a%2Fb/filters/State%20%26%20more/options?search=x%26y',
    );
    expect(calls[0]?.init).toMatchObject({ credentials: 'omit', headers: { authorization: 'Bearer secret' } });
  });

  it('reports the service’s code and message', async () => {
    const { client } = clientOf(Response.json({ error: { code: 'TOKEN_EXPIRED', message: 'over' } }, { status: 401 }));
    await expect(client.metric('m', signal)).rejects.toMatchObject({
      code: 'TOKEN_EXPIRED',
      message: 'over',
      status: 401,
    });
  });

  it('reports a missing answer and an unreadable one', async () => {
    await expect(clientOf(new TypeError('offline')).client.metric('m', signal)).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
    });
    for (const answer of [new Response('<html>'), Response.json({ data: { metricId: 'm' } }), Response.json([])]) {
      await expect(clientOf(answer).client.metric('m', signal)).rejects.toMatchObject({ code: 'UNREADABLE_ANSWER' });
    }
  });
});

describe('the latest job', () => {
  it('reports only the newest job, even if an older one ends later', async () => {
    const latest = createLatest();
    const reported: string[] = [];
    const gates: ((value: string) => void)[] = [];
    const job = () => new Promise<string>((done) => void gates.push(done));
    const runs = [0, 1].map(() =>
      latest.run(
        job,
        (value) => void reported.push(value),
        () => void reported.push('failed'),
      ),
    );
    gates[1]?.('new');
    gates[0]?.('old');
    await Promise.all(runs);
    expect(reported).toEqual(['new']);
  });
});

describe('the layout', () => {
  it('is in reading order, within twelve columns, with unplaced metrics at the end', () => {
    const [dashboard] = Object.values(dashboards('LAX'));
    const metrics = dashboard?.metrics ?? [];
    const layout = [
      { metricId: 'shareDelayed', x: 9, y: 0, w: 30, h: 2 },
      { metricId: 'flightsADay', x: 0, y: 0, w: 9, h: 4 },
      { metricId: 'gone', x: 0, y: 9, w: 1, h: 1 },
    ];
    const cards = cardsOf({ metrics, layout });
    expect(cards.map(({ metric }) => metric.metricId)).toEqual([
      'flightsADay',
      'shareDelayed',
      'delayByHour',
      'delayByDestination',
    ]);
    expect(cards[1]?.place).toEqual({ x: 9, y: 0, w: 3, h: 2 });
    expect(cards.every(({ place }) => place.x + place.w <= 12)).toBe(true);
  });
});
