/** Webhooks over real HTTP: what is signed, what an answer means, and which addresses are never reached. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type PostedText, postingOf } from '../../src/delivery/posting.js';
import { createPost, type PostOptions } from '../../src/delivery/webhook.js';
import { isLoopbackAddress, isPublicAddress } from '../../src/platform/addresses/addresses.js';
import { type Channel, loadChannels } from '../../src/platform/config/channels.js';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const clock = { now: () => new Date() };

describe('a webhook', () => {
  let server: Server;
  let port: number;
  let answer: number | 'cut';
  const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece) => pieces.push(piece));
      request.on('end', () => {
        received.push({ headers: request.headers, body: Buffer.concat(pieces).toString() });
        if (answer === 'cut') return request.socket.destroy();
        response.writeHead(answer, { location: `http://127.0.0.1:${port}/elsewhere` }).end('x'.repeat(100_000));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  beforeEach(() => {
    received.length = 0;
    answer = 200;
  });
  const channelOf = (fields: Partial<Channel> = {}): Channel => ({
    ...{ name: 'ops', kind: 'webhook', url: `http://127.0.0.1:${port}/hook`, secrets: [secret], allowsPrivate: false },
    ...fields,
  });
  const post = (channel: Channel, options: Partial<PostOptions> = {}) =>
    createPost({ clock, timeoutMs: 2_000, ...options })(channel, { id: 'delivery-1', body: '{"ü":1}' });

  test('is signed so that the library of the standard verifies it, and nothing else does', async () => {
    expect(await post(channelOf())).toEqual({ kind: 'taken' });
    const [{ headers, body }] = received as [(typeof received)[0]];
    const given = headers as Record<string, string>;
    expect(new Webhook(secret).verify(body, given)).toEqual({ ü: 1 });
    expect(given['webhook-id']).toBe('delivery-1');
    expect(() => new Webhook(secret).verify(`${body} `, given)).toThrow();
    expect(() => new Webhook(`whsec_${Buffer.alloc(32, 6).toString('base64')}`).verify(body, given)).toThrow();
  });

  test('has a signature of each secret while one replaces another, so that a receiver of either verifies it', async () => {
    const next = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    expect(await post(channelOf({ secrets: [secret, next] }))).toEqual({ kind: 'taken' });
    const [{ headers, body }] = received as [(typeof received)[0]];
    const given = headers as Record<string, string>;
    for (const one of [secret, next]) expect(new Webhook(one).verify(body, given)).toEqual({ ü: 1 });
    expect(() => new Webhook(`whsec_${Buffer.alloc(32, 6).toString('base64')}`).verify(body, given)).toThrow();
  });

  test.each([
    [204, { kind: 'taken' }],
    [301, { kind: 'refused', isFinal: true, status: 301 }],
    [307, { kind: 'refused', isFinal: true, status: 307 }],
    [404, { kind: 'refused', isFinal: true, status: 404 }],
    [410, { kind: 'refused', isFinal: true, status: 410 }],
    [429, { kind: 'refused', isFinal: false, status: 429 }],
    [503, { kind: 'refused', isFinal: false, status: 503 }],
    ['cut', { kind: 'unanswered' }],
  ] as const)('answered by %s is %j, and no redirect is followed', async (given, outcome) => {
    answer = given;
    expect(await post(channelOf())).toEqual(outcome);
    expect(received).toHaveLength(1);
  });

  test('is unreachable where nobody listens', async () => {
    expect(await post(channelOf({ url: 'http://127.0.0.1:1/hook' }))).toEqual({ kind: 'unreachable' });
  });

  test.each([
    'https://127.0.0.1/hook',
    'https://10.0.0.1/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/hook',
    'https://[::ffff:127.0.0.1]/hook',
    'https://2130706433/hook',
    'https://0x7f.1/hook',
    'http://10.0.0.1/hook',
    'https://localhost/hook',
  ])('a webhook never reaches %s', async (url) => {
    expect(await post(channelOf({ url }))).toEqual({ kind: 'barred' });
  });

  test('connects to the address that was checked: the name is resolved once', async () => {
    let asked = 0;
    const answers = ['8.8.8.8', '127.0.0.1'];
    const lookup = ((_host: string, _options: object, done: (error: null, found: object[]) => void) => {
      const address = answers[asked] ?? '127.0.0.1';
      asked += 1;
      done(null, [{ address, family: 4 }]);
    }) as unknown as NonNullable<PostOptions['lookup']>;
    const url = `http://rebinding.example:${port}/hook`;
    const outcome = await post(channelOf({ url }), { lookup, timeoutMs: 300 });
    expect([asked, received.length]).toEqual([1, 0]);
    expect(outcome).toEqual({ kind: 'unreachable' });
  });

  test('bars a name with one private address among public ones, unless the operator allows them', async () => {
    const lookup = ((_host: string, _options: object, done: (error: null, found: object[]) => void) =>
      done(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '8.8.8.8', family: 4 },
      ])) as unknown as NonNullable<PostOptions['lookup']>;
    const url = `https://inside.example:${port}/hook`;
    expect(await post(channelOf({ url }), { lookup })).toEqual({ kind: 'barred' });
    const allowed = channelOf({ url: url.replace('https', 'http'), allowsPrivate: true });
    expect(await post(allowed, { lookup })).toEqual({ kind: 'taken' });
  });

  test('no address of a special range is public, whatever its text', () => {
    const octet = fc.nat(255);
    fc.assert(
      fc.property(fc.constantFrom('10', '127', '0', '224', '255'), octet, octet, octet, (first, b, c, d) => {
        expect(isPublicAddress(`${first}.${b}.${c}.${d}`)).toBe(false);
      }),
    );
    for (const address of ['::', 'fe80::1', 'fc00::1', '64:ff9b::7f00:1', '2002:7f00:1::', 'host', '']) {
      expect(isPublicAddress(address), address).toBe(false);
    }
    expect(['8.8.8.8', '2606:4700::1111'].map(isPublicAddress)).toEqual([true, true]);
    expect(['127.9.9.9', '::1', '8.8.8.8'].map(isLoopbackAddress)).toEqual([true, true, false]);
  });
});

describe('what a channel gets', () => {
  const evil = '<!channel> [x](https://evil.example) `@here`\n<https://evil.example|Login>';
  const text: PostedText = {
    ...{ scheduleId: 's', scheduleName: evil, clientId: 'LAX', dashboardId: 'delays--LAX', dashboardName: evil },
    ...{ dashboardUrl: 'https://app.example/d', format: 'alert', moment: new Date('2026-10-26T07:00:00Z') },
    alert: {
      ...{ metricId: 'm', metricName: evil, measure: 'Sales', condition: { is: 'newKey' } },
      ...{ isBreached: false, hasChanged: false, isAnew: false, value: 0.1, at: [], before: null, change: null },
      appeared: [[evil, 7, null]],
    },
  };

  test('the text for Slack has no mention, link or line of a name', () => {
    const { text: written } = JSON.parse(postingOf({ kind: 'slack' } as Channel, text)) as { text: string };
    expect(written).not.toContain('<');
    expect(written.split('\n')).toHaveLength(4);
    const outside = written.split('`').filter((_, index) => index % 2 === 0);
    expect(outside.join('')).not.toMatch(/evil|@here|channel/);
  });

  test('the text for Slack calls a tenant by its name, and the JSON by its id', () => {
    const named = { ...text, tenantName: 'Los Angeles `International`' };
    const written = (kind: string) => postingOf({ kind } as Channel, named);
    expect(JSON.parse(written('slack')).text).toContain("`Los Angeles 'International'`");
    expect(JSON.parse(written('webhook')).data.tenant).toBe('LAX');
    expect(written('webhook')).not.toContain('International');
  });

  test('the text for Slack has dates as the metric writes them, and the JSON has them as they are', () => {
    const at = ['2001-04-01T00:00:00'];
    const dates = [{ grain: 'month' }] as const;
    const alert = { ...text.alert, condition: { is: 'above', value: 0 }, appeared: [], at, dates };
    const written = (kind: string) => postingOf({ kind } as Channel, { ...text, alert } as PostedText);
    expect(written('slack')).toContain('(`April 2001`)');
    const { row, dates: none } = JSON.parse(written('webhook')).data.alert;
    expect([row, none]).toEqual([at, undefined]);
  });

  test('the JSON for a channel has exact values', () => {
    const body = JSON.parse(postingOf({ kind: 'webhook' } as Channel, text));
    expect(body).toMatchObject({
      type: 'alert.breached',
      data: { tenant: 'LAX', alert: { value: 0.1, metric: evil, appeared: [[evil, 7, null]], appearedTotal: 1 } },
    });
  });
});

describe('a configured channel', () => {
  const env = {
    HOOK_SECRET: secret,
    TWO_SECRETS: `${secret} ${other}`,
    ONE_OF_TWO: `${secret} whsec_short`,
    SLACK_URL: 'https://hooks.slack.example/T/B/x',
    HTTP_URL: 'http://hooks.example/x',
  };
  const load = (channel: object, isProduction = false) =>
    loadChannels(
      { channels: { ops: { allowPrivateAddresses: false, kind: 'webhook', ...channel } }, usage: { channel: null } },
      { env, isProduction },
    );
  const url = 'https://hooks.example/guestlist';

  test('has its address and its secret', () => {
    expect(load({ url, secretVariable: 'HOOK_SECRET' }).channels).toMatchObject([
      { name: 'ops', url, secrets: [secret] },
    ]);
    expect(load({ url, secretVariable: 'TWO_SECRETS' }).channels).toMatchObject([{ secrets: [secret, other] }]);
    const slack = load({ kind: 'slack', urlVariable: 'SLACK_URL' });
    expect(slack.channels).toMatchObject([{ kind: 'slack', url: env.SLACK_URL, secrets: [] }]);
    const local = { url: 'http://localhost:4000/hook', secretVariable: 'HOOK_SECRET' };
    expect([load(local).faults.length, load(local, true).faults.length > 0]).toEqual([0, true]);
  });

  test.each([
    [{ url }, 'needs url and secretVariable'],
    [{ url, secretVariable: 'UNSET' }, 'names the variable UNSET'],
    [{ url: 'http://hooks.example', secretVariable: 'HOOK_SECRET' }, 'must begin with https'],
    [{ url: 'https://a:b@hooks.example', secretVariable: 'HOOK_SECRET' }, 'user or password'],
    [{ url, secretVariable: 'SLACK_URL' }, 'secret of Standard Webhooks'],
    [{ url, secretVariable: 'ONE_OF_TWO' }, 'secret of Standard Webhooks'],
    [{ kind: 'slack', url }, 'needs urlVariable alone'],
    [{ kind: 'slack', urlVariable: 'HTTP_URL' }, 'must begin with https'],
  ])('%j is refused: %s', (channel, message) => {
    const { channels, faults } = load(channel);
    expect([channels, faults.map(({ mend }) => mend).join()]).toEqual([[], expect.stringContaining(message)]);
    expect(JSON.stringify(faults)).not.toContain('hooks.slack.example');
  });
});
