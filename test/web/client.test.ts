import { describe, expect, it } from 'vitest';
import { type ClientSettings, createGuestClient } from '../../src/web/base/client.js';
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

  it('asks for options under other filters, and an earlier service for all', async () => {
    const calls: { method: string; body: unknown }[] = [];
    const asking = (status: number) =>
      createGuestClient({
        ...{ baseUrl: 'https://s', token: 't' },
        fetch: async (_, init) => {
          calls.push({
            method: init?.method ?? 'GET',
            body: init?.body === undefined ? null : JSON.parse(`${init.body}`),
          });
          return init?.method === 'POST' && status !== 200
            ? Response.json({ error: { code: 'NOT_FOUND', message: 'no', status } }, { status })
            : Response.json({ data: [], hasMore: false, error: null });
        },
      });
    await asking(200).options('a', 'City', 'x', signal, { State: ['CA'] });
    await asking(405).options('a', 'City', 'x', signal, { State: ['CA'] });
    await asking(200).options('a', 'City', 'x', signal);
    const narrowed = { method: 'POST', body: { search: 'x', dashboardFilter: { State: ['CA'] } } };
    const all = { method: 'GET', body: null };
    expect(calls).toEqual([narrowed, narrowed, all, all]);
    await expect(asking(400).options('a', 'City', '', signal, {})).rejects.toMatchObject({ status: 400 });
  });

  describe('when the service is busy', () => {
    const busy = (retryAfter: string | null) =>
      Response.json(
        { error: { code: 'RATE_LIMITED', message: 'later', status: 429 } },
        { status: 429, headers: retryAfter === null ? {} : { 'retry-after': retryAfter } },
      );
    const options = () => Response.json({ data: [], error: null });
    const asking = (answers: readonly (() => Response)[]) => {
      const waits: number[] = [];
      let asked = 0;
      const client = createGuestClient({
        ...{ baseUrl: 'https://s', token: 't' },
        fetch: async () => (answers[asked++] ?? answers.at(-1) ?? options)(),
        pause: async (ms) => void waits.push(ms),
      });
      return { client, waits, count: () => asked };
    };
    it('waits as long as the service says, and asks again', async () => {
      const { client, waits, count } = asking([() => busy('7'), () => busy(null), options]);
      await client.options('a', 'State', '', signal);
      expect([count(), waits.length]).toEqual([3, 2]);
      expect(waits[0]).toBeGreaterThanOrEqual(7000);
      expect(waits[1]).toBeGreaterThanOrEqual(1000);
    });

    it('reports it after five waits, none longer than a minute', async () => {
      const { client, waits, count } = asking([() => busy('3600')]);
      await expect(client.options('a', 'State', '', signal)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
      expect([count(), waits]).toEqual([6, Array(5).fill(60_000)]);
    });

    it('stops waiting when nobody wants the answer any more', async () => {
      const gone = new AbortController();
      const client = createGuestClient({ baseUrl: 'https://s', token: 't', fetch: async () => busy('60') });
      const asked = client.options('a', 'State', '', gone.signal);
      gone.abort(new Error('gone'));
      await expect(asked).rejects.toThrow('gone');
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

describe('the queries of a dashboard', () => {
  type Call = { readonly url: string; readonly body: unknown; readonly signal: AbortSignal | null | undefined };
  const answerOf = (metricId: string) => ({
    ...{ data: [{ n: metricId }], totalRecords: 1, metricid: metricId, error: null },
    metaData: { columns: [{ name: 'n', dataType: 'string' }], groupbyColumnList: [] },
  });
  const line = (value: unknown) => `${JSON.stringify(value)}\n`;
  const serving = (respond: (call: Call) => Response | Promise<Response>, answers?: ClientSettings['answers']) => {
    const calls: Call[] = [];
    const client = createGuestClient({
      ...{ baseUrl: 'https://service.example', token: 'secret', answers },
      fetch: async (url, init) => {
        const call = { url: String(url), body: JSON.parse(String(init?.body)), signal: init?.signal };
        calls.push(call);
        return respond(call);
      },
    });
    return { client, calls };
  };
  const ask = (client: ReturnType<typeof serving>['client'], metricId: string, parts: object = {}, given = signal) =>
    client.query(metricId, { dashboardId: 'd', ...parts }, given);
  const rowsOf = async (answer: ReturnType<typeof ask>) => (await answer).rows;

  it('go in one request, and each gets its answer when its line arrives', async () => {
    let send: (text: string) => void = () => undefined;
    let end: () => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        send = (text) => controller.enqueue(new TextEncoder().encode(text));
        end = () => controller.close();
      },
    });
    const { client, calls } = serving(() => new Response(body));
    const filter = { dashboardFilter: { State: 'CA' } };
    const [first, second] = [ask(client, 'a', filter), ask(client, 'b', { ...filter, limit: 5 })];
    const text = line({ metricId: 'b', digest: 'x', answer: answerOf('b') });
    send(text.slice(0, 30));
    send(text.slice(30));
    expect(await rowsOf(second)).toEqual([{ n: 'b' }]);
    send(line({ metricId: 'a', digest: 'y', answer: answerOf('a') }));
    end();
    expect(await rowsOf(first)).toEqual([{ n: 'a' }]);
    expect(calls.map(({ url, body: sent }) => [url, sent])).toEqual([
      [
        'https://service.example/api/v2/guest/dashboards/d/query',
        { ...filter, metrics: [{ metricId: 'a' }, { metricId: 'b', limit: 5 }] },
      ],
    ]);
  });

  it('fail alone by their own line, and all together with the request', async () => {
    const refused = { code: 'METRIC_QUERY_ERROR', message: 'no', status: 400 };
    const text = line({ metricId: 'a', error: refused }) + line({ metricId: 'b', digest: 'x', answer: answerOf('b') });
    const { client } = serving(() => new Response(text));
    const [first, second, third] = [ask(client, 'a'), ask(client, 'b'), ask(client, 'c')];
    await expect(first).rejects.toMatchObject(refused);
    expect(await rowsOf(second)).toEqual([{ n: 'b' }]);
    await expect(third).rejects.toMatchObject({ code: 'UNREADABLE_ANSWER' });
    const expired = serving(() =>
      Response.json({ error: { code: 'TOKEN_EXPIRED', message: 'over' } }, { status: 401 }),
    );
    for (const answer of await Promise.allSettled([ask(expired.client, 'a'), ask(expired.client, 'b')])) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'TOKEN_EXPIRED' } });
    }
    expect(expired.calls).toHaveLength(1);
  });

  it('go one by one to a service that does not know the request', async () => {
    const { client, calls } = serving(({ url }) =>
      url.includes('/metrics/')
        ? Response.json(answerOf(url.split('/').at(-2) ?? ''))
        : Response.json({ error: { code: 'NOT_FOUND', message: 'nothing' } }, { status: 404 }),
    );
    expect(await Promise.all(['a', 'b'].map((id) => rowsOf(ask(client, id))))).toEqual([[{ n: 'a' }], [{ n: 'b' }]]);
    expect(await Promise.all(['c', 'd'].map((id) => rowsOf(ask(client, id))))).toEqual([[{ n: 'c' }], [{ n: 'd' }]]);
    expect(calls.filter(({ url }) => url.includes('/dashboards/'))).toHaveLength(1);
  });

  it('the queries of a dashboard with other filters go in a request of their own, and a metric asked twice is answered twice', async () => {
    const { client, calls } = serving(({ url, body: sent }) => {
      if (url.includes('/metrics/')) return Response.json(answerOf(url.split('/').at(-2) ?? ''));
      const { metrics } = sent as { metrics: readonly { metricId: string }[] };
      return new Response(metrics.map(({ metricId }) => line({ metricId, answer: answerOf(metricId) })).join(''));
    });
    const other = { dashboardFilter: { State: 'NV' } };
    const asked = [
      ask(client, 'a'),
      ask(client, 'b'),
      ask(client, 'a'),
      ask(client, 'a', other),
      ask(client, 'b', other),
    ];
    expect(await Promise.all(asked.map(rowsOf))).toEqual(['a', 'b', 'a', 'a', 'b'].map((n) => [{ n }]));
    expect(calls).toHaveLength(3);
  });

  it('name the answers that are there: an unchanged one comes without rows, and is not drawn from another question', async () => {
    const answers: ClientSettings['answers'] = new Map();
    const serve = serving(({ body }) => {
      const { metrics } = body as { metrics: readonly { metricId: string; digest?: string }[] };
      return new Response(
        metrics
          .map(({ metricId, digest }) =>
            line(
              digest === `of-${metricId}`
                ? { metricId, digest, isUnchanged: true }
                : { metricId, digest: `of-${metricId}`, answer: answerOf(metricId) },
            ),
          )
          .join(''),
      );
    }, answers);
    const first = await Promise.all([ask(serve.client, 'a'), ask(serve.client, 'b')]);
    // Another token of the same guest keeps the answers; one metric alone is asked in the same way.
    expect(await ask(serve.client, 'a')).toBe(first[0]);
    const other = await Promise.all([ask(serve.client, 'a', { limit: 5 }), ask(serve.client, 'b')]);
    expect([other[0] === first[0], other[1] === first[1]]).toEqual([false, true]);
    const sent = serve.calls.map(({ body }) => (body as { metrics: readonly object[] }).metrics);
    expect(sent).toEqual([
      [{ metricId: 'a' }, { metricId: 'b' }],
      [{ metricId: 'a', digest: 'of-a' }],
      [
        { metricId: 'a', limit: 5 },
        { metricId: 'b', digest: 'of-b' },
      ],
    ]);
  });

  it('an unchanged line for a question without an answer is an unreadable answer', async () => {
    const { client } = serving(
      () => new Response(['a', 'b'].map((metricId) => line({ metricId, digest: 'x', isUnchanged: true })).join('')),
    );
    await expect(Promise.all([ask(client, 'a'), ask(client, 'b')])).rejects.toMatchObject({
      code: 'UNREADABLE_ANSWER',
    });
  });

  it('are ended when nobody waits for any of them', async () => {
    const { client, calls } = serving(() => new Promise(() => undefined));
    const [one, two] = [new AbortController(), new AbortController()];
    const asked = [ask(client, 'a', {}, one.signal), ask(client, 'b', {}, two.signal)];
    const outcomes = Promise.allSettled(asked);
    await new Promise((resolve) => setTimeout(resolve));
    one.abort();
    expect(calls[0]?.signal?.aborted).toBe(false);
    two.abort();
    expect(calls[0]?.signal?.aborted).toBe(true);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
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
