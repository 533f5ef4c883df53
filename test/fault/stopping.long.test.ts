/** The built product gets SIGTERM: no request is lost, the process ends, and requests that are cut are logged. */
import { once } from 'node:events';
import { Agent, get as httpGet, type IncomingMessage, request as send } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { analyst, login, manager, openDashboard, session } from '../product/guest.js';
import { type Product, type StartOptions, startProduct } from '../product/product.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { startBalancer } from './balancer.js';
import { askOnce, faultsOf, startLoad } from './clients.js';

const started = async (options: StartOptions = {}): Promise<Product> => {
  const product = await startProduct({ isEmbedded: true, ...options });
  onTestFinished(async () => {
    await product.stop('SIGKILL');
    await product.remove();
  });
  return product;
};

const portOf = ({ url }: Product): number => Number(new URL(url).port);

/** Returns the status and the Connection header of the next answer on a kept connection. */
const askOn = async (agent: Agent, url: string) => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpGet(url, { agent }, resolve).once('error', reject);
  });
  await text(response);
  return { status: response.statusCode, connection: response.headers.connection };
};

describe('SIGTERM', () => {
  it('ends within the grace period despite incomplete, silent and slow connections, and names the requests that it cuts', async () => {
    const product = await started({ env: { GUESTLIST_SHUTDOWN_GRACE_SECONDS: '2' } });
    const { token } = await login(product, manager('LAX'));
    const sockets = await Promise.all(
      [
        '',
        'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: ',
        `POST /embed-token HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${session(product, analyst('LAX'))}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
        `POST /api/v2/guest/metrics/m/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
        'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
      ].map(async (sent) => {
        const socket = connect(portOf(product), '127.0.0.1');
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        socket.write(sent);
        return socket;
      }),
    );
    // When the last request is answered, the server has read what the other sockets sent.
    const [last] = sockets.slice(-1);
    if (last === undefined) throw new Error('no socket');
    await once(last, 'data');
    await login(product, analyst('LAX'));
    // Beyond the grace period, the process would end with 1.
    expect(await product.stop()).toBe(0);
    const cut = product
      .output()
      .split('\n')
      .filter((line) => /"shutdown\.(request|connection)_cut"/.test(line));
    expect(cut.map((line) => JSON.parse(line).path ?? JSON.parse(line).halfSent).toSorted()).toEqual(
      ['/api/v2/guest/metrics/m/query', '/embed-token', 1].toSorted(),
    );
    for (const socket of sockets) socket.destroy();
  });

  it('waits until the load balancer has seen that readiness failed, and meanwhile answers close their connections', async () => {
    const product = await started({
      env: { GUESTLIST_SHUTDOWN_NOTICE_SECONDS: '2', GUESTLIST_SHUTDOWN_GRACE_SECONDS: '8' },
    });
    const ready = `${product.url}/readyz`;
    expect([(await askOnce(ready)).status, (await askOnce(ready)).status]).toEqual([200, 200]);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await askOn(agent, `${product.url}/healthz`)).toEqual({ status: 200, connection: 'keep-alive' });
    const stopped = product.stop();
    await vi.waitFor(
      async () => expect(await askOnce(ready)).toMatchObject({ status: 503, body: '{"status":"stopping"}' }),
      {
        timeout: 1_000,
        interval: 20,
      },
    );
    expect(await askOn(agent, `${product.url}/healthz`)).toEqual({ status: 200, connection: 'close' });
    expect((await login(product, manager('LAX'))).token).toEqual(expect.any(String));
    expect(await stopped).toBe(0);
    expect((await askOnce(ready)).status).toBe(0);
    agent.destroy();
  });

  it('serves a busy kept connection once more, then closes it', async () => {
    const product = await started();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const url = `${product.url}/healthz`;
    await askOn(agent, url);
    const stopped = product.stop();
    const answers: (string | undefined)[] = [];
    for (;;) {
      const answer = await askOn(agent, url).catch(() => undefined);
      if (answer === undefined) break;
      answers.push(answer.connection);
    }
    expect(await stopped).toBe(0);
    expect(answers.filter((connection) => connection === 'close').length).toBeLessThanOrEqual(3);
    expect(answers.at(-1)).toBe('close');
  });
});

describe('SIGTERM while downloads run', () => {
  /**
   * Makes the template's first metric return every flight many times, so that the answer is larger than the buffers of
   * a socket.
   */
  const widen = async ({ url, credentials }: Product, copies: number): Promise<void> => {
    const target = { dashboardId: 'delays', workspaceName: 'flights' };
    const path = `${url}/api/v2/data-app/dashboards/content`;
    const headers = { authorization: `Bearer ${credentials.serviceToken}`, 'content-type': 'application/json' };
    const { body } = await askOnce(`${path}?${new URLSearchParams(target)}`, { headers });
    const { data: content, digest } = JSON.parse(body);
    const [{ definition }] = content.metrics;
    const { from } = definition;
    definition.dimensions = Array.from({ length: copies }, (_, copy) =>
      ['date', 'origin', 'destination', 'delay', 'distance'].map((columnName) => ({
        name: `${columnName} ${copy}`,
        column: { ...from, columnName },
      })),
    ).flat();
    definition.sort = [];
    const put = JSON.stringify({ ...target, content, expectedDigest: digest });
    const { status, body: answer } = await askOnce(path, { method: 'PUT', headers, body: put });
    expect([status, answer]).toEqual([200, expect.any(String)]);
  };
  /** Starts a download and reads nothing of it yet. */
  const beginDownload = (url: string, token: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const asked = send(url, { method: 'POST', headers, agent: false }, resolve);
      asked.once('error', reject).end(JSON.stringify({ dashboardId: 'delays--ORD' }));
    });

  const begin = async (graceSeconds: string, copies: number) => {
    const product = await started({ env: { GUESTLIST_SHUTDOWN_GRACE_SECONDS: graceSeconds } });
    await widen(product, copies);
    const { token } = await login(product, manager('ORD'));
    const { metrics } = await openDashboard(product, token, 'delays--ORD');
    const path = `/api/v2/guest/metrics/${metrics[0]?.metricId}/csv`;
    const download = () => beginDownload(product.url + path, token);
    const stop = async () => {
      const stopped = product.stop();
      const begun = () => expect(product.output()).toContain('"event":"shutdown.started"');
      await vi.waitFor(begun, { timeout: 10_000, interval: 20 });
      return { stopped };
    };
    const cut = () =>
      product
        .output()
        .split('\n')
        .filter((line) => line.includes('"shutdown.request_cut"'))
        .map((line) => JSON.parse(line).path);
    return { path, download, stop, cut };
  };

  it('a download that is read ends completely', { timeout: 240_000 }, async () => {
    const { download, stop, cut } = await begin('100', 3);
    const whole = await text(await download());
    expect(whole.length).toBeGreaterThan(6_000_000);
    const answer = await download();
    const { stopped } = await stop();
    expect((await text(answer)).length).toBe(whole.length);
    expect([await stopped, cut()]).toEqual([0, []]);
  });

  it('a download that nobody reads is cut at the end of the grace period, and its path is logged', {
    timeout: 240_000,
  }, async () => {
    const { path, download, stop, cut } = await begin('2', 8);
    const answer = await download();
    const { stopped } = await stop();
    expect([await stopped, cut()]).toEqual([0, [path]]);
    await expect(text(answer)).rejects.toThrow();
    expect([answer.statusCode, answer.complete]).toEqual([200, false]);
  });
});

describe.skipIf(!(await isPostgresThere()))('behind a load balancer', () => {
  it('no request is lost while replicas are replaced', async () => {
    const database = await createOwnDatabase();
    const env = { DATABASE_URL: database.url, GUESTLIST_SHUTDOWN_NOTICE_SECONDS: '2' };
    const first = await started({ env });
    // The second replica uses the first one's folder for its keys; nothing in it is locked.
    const second = await started({ env, dataDir: first.dataDir });
    const balancer = await startBalancer([first.url, second.url]);
    const ask = (count: number) => {
      const authorization = `Bearer ${session(first, { ...analyst('LAX'), sub: `user-${count % 40}` })}`;
      return askOnce(`${balancer.url}/embed-token`, { method: 'POST', headers: { authorization } });
    };
    const load = startLoad(6, ask);
    await load.ended(100);
    await vi.waitFor(() => expect(balancer.ready()).toBe(2), { timeout: 10_000 });
    expect(await first.stop()).toBe(0);
    await load.ended(100);
    await load.stop();
    balancer.close();
    await second.stop();
    await database.drop();
    expect(load.outcomes.length).toBeGreaterThan(200);
    expect(faultsOf(load.outcomes)).toEqual([]);
    expect(load.outcomes.filter(({ status }) => status !== 200)).toEqual([]);
  });
});
