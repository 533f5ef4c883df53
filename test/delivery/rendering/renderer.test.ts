/** The browser of the renderer reaches nothing, reads only as its caller, writes nothing, and is bounded. */
import { createSocket } from 'node:dgram';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRenderer, type RendererOptions } from '../../../src/delivery/rendering/renderer.js';
import type { GuestCaller } from '../../../src/model/guest/caller.js';
import type { RenderRequest } from '../../../src/model/guest/render.js';
import { Refusal } from '../../../src/model/refusal.js';
import { DependencyUnavailable } from '../../../src/model/unavailable.js';
import { chromiumPath, hasChromium, rendererPath } from '../../suites/chromium.js';

const caller = { kind: 'guest', grant: { dataAppId: 'app', clientId: 'a', timezone: null } } as unknown as GuestCaller;
const never = new AbortController().signal;

/** Elements that draw at once, and run `work` first. */
const elements = (work: string) => `
customElements.define('guestlist-dashboard', class extends HTMLElement {
  isLoading = true; isBusy = false;
  async connectedCallback() {
    const box = document.createElement('p');
    box.textContent = 'drawn';
    this.append(box);
    try { await (async (token) => { ${work} })(this.token); } catch (error) { this.error = { code: String(error) }; }
    this.isLoading = false;
  }
});`;

type Reads = { readonly method: string; readonly path: string; readonly body: unknown; readonly caller: GuestCaller };

const seen: Reads[] = [];
const lines: string[] = [];
const optionsWith = (work: string, more: Partial<RendererOptions> = {}): RendererOptions => ({
  executablePath: chromiumPath ?? null,
  atOnce: 1,
  waiting: 5,
  perClient: 2,
  timeoutMs: 30_000,
  niceness: 0,
  pagesPerBrowser: 50,
  start: {
    giveWay: fileURLToPath(new URL('../../../bin/give-way.sh', import.meta.url)),
    environment: { PATH: process.env.PATH, HOME: process.env.HOME },
  },
  read: async (request) => {
    seen.push(request);
    return { status: 200, contentType: 'application/json', body: '{}' };
  },
  file: (path) =>
    path === '/elements.js' ? { contentType: 'text/javascript', body: Buffer.from(elements(work)) } : undefined,
  log: { warn: (fields: object) => void lines.push(JSON.stringify(fields)) } as RendererOptions['log'],
  ...more,
});

const requestOf = (parts: Partial<RenderRequest> = {}): RenderRequest => ({
  caller,
  target: { dashboardId: 'd' },
  format: 'pdf',
  assertStillGood: async () => undefined,
  ...parts,
});

/**
 * The processes that a process started. Looks at every process: the kernel's own list of a process's children may leave
 * some out while others end.
 */
const childrenOf = async (pid: number) => {
  const found: { readonly pid: number; readonly command: string; readonly niceness: number }[] = [];
  for (const child of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = await readFile(`/proc/${child}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[1]) !== pid) continue;
      const command = await readFile(`/proc/${child}/cmdline`, 'latin1');
      found.push({ pid: Number(child), command, niceness: Number(fields[16]) });
    } catch (error) {
      // It has ended meanwhile.
      if (!/ENOENT|ESRCH/.test(String(error))) throw error;
    }
  }
  return found;
};

const allBelow = async (pid: number): ReturnType<typeof childrenOf> => {
  const children = await childrenOf(pid);
  return [...children, ...(await Promise.all(children.map(({ pid: child }) => allBelow(child)))).flat()];
};

const renderWith = async (work: string, parts: Partial<RenderRequest> = {}, more: Partial<RendererOptions> = {}) => {
  const renderer = createRenderer(optionsWith(work, more));
  try {
    return Buffer.from(await renderer.render(requestOf(parts), never));
  } finally {
    await renderer.close();
  }
};

describe.skipIf(!hasChromium())('the renderer', { timeout: 120_000 }, () => {
  const reached: string[] = [];
  const listener = createServer((socket) => {
    reached.push('tcp');
    socket.once('data', (data) => reached.push(data.toString().slice(0, 60)));
    socket.once('error', () => undefined);
  });
  const datagrams = createSocket('udp4');
  let port = 0;

  beforeAll(async () => {
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    port = (listener.address() as { port: number }).port;
    datagrams.on('message', () => reached.push('udp'));
    await new Promise<void>((done) => datagrams.bind(port, '127.0.0.1', done));
  });
  afterAll(() => {
    listener.close();
    datagrams.close();
  });

  test('draws PDF and PNG', async () => {
    expect((await renderWith('')).subarray(0, 5).toString()).toBe('%PDF-');
    expect((await renderWith('', { format: 'png' })).subarray(1, 4).toString()).toBe('PNG');
  });

  test.each([
    ['A4', undefined, '595.91998 842.88'],
    ['A4', 'de-DE', '595.91998 842.88'],
    ['A4', 'en', '595.91998 842.88'],
    ['Letter', 'en-US', '612 792'],
    ['A4', 'i-nothing', '595.91998 842.88'],
  ])('prints on %s for readers of %s', async (_, language, box) => {
    const file = (await renderWith('', language === undefined ? {} : { language })).toString('latin1');
    expect(/MediaBox \[0 0 ([\d. ]+)\]/.exec(file)?.[1]).toBe(box);
  });

  test('the browser gives way, and whatever it starts later too', async () => {
    const renderer = createRenderer(
      optionsWith('', { executablePath: rendererPath ?? null, niceness: 10, timeoutMs: 100_000 }),
    );
    try {
      // Files of one process may have browsers of their own.
      const others = (await childrenOf(process.pid)).map(({ pid }) => pid);
      await renderer.render(requestOf(), never);
      const browser = (await childrenOf(process.pid)).find(
        ({ pid, command }) => !others.includes(pid) && command.includes('--remote-debugging-pipe'),
      );
      const below = await allBelow(browser?.pid ?? 0);
      expect(below.some(({ command }) => command.includes('--type=zygote'))).toBe(true);
      expect([browser, ...below].filter((process) => (process?.niceness ?? 0) < 10)).toEqual([]);
      const group = await readFile(`/proc/${browser?.pid}/autogroup`, 'latin1').catch(() => 'none nice 10');
      expect(group).toContain('nice 10');
    } finally {
      await renderer.close();
    }
  });

  test('the browser knows no variable but those that it is given', async () => {
    const renderer = createRenderer(optionsWith(''));
    try {
      const others = (await childrenOf(process.pid)).map(({ pid }) => pid);
      await renderer.render(requestOf(), never);
      const browser = (await childrenOf(process.pid)).find(({ pid }) => !others.includes(pid));
      const environment = await readFile(`/proc/${browser?.pid}/environ`, 'latin1');
      expect(environment).toContain('PATH=');
      expect(environment).not.toContain('VITEST');
    } finally {
      await renderer.close();
    }
  });

  test('whatever a page tries, a listening server sees nothing', async () => {
    const there = `'127.0.0.1:${port}'`;
    const work = `
      const quiet = (work) => { try { return Promise.resolve(work()).catch(() => {}); } catch { return Promise.resolve(); } };
      for (const name of [${there}, 'localhost:${port}', '[::1]:${port}', '0.0.0.0:${port}', 'a.127.0.0.1.nip.io:${port}']) {
        await quiet(() => fetch('http://' + name + '/fetch', { mode: 'no-cors' }));
        await quiet(() => navigator.sendBeacon('http://' + name + '/beacon', 'x'));
        const image = new Image(); image.src = 'http://' + name + '/image'; document.body.append(image);
        for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'stylesheet', 'icon']) {
          const link = document.createElement('link'); link.rel = rel; link.href = 'http://' + name + '/' + rel; document.head.append(link);
        }
        const frame = document.createElement('iframe'); frame.src = 'http://' + name + '/frame'; document.body.append(frame);
        await quiet(() => new WebSocket('ws://' + name + '/socket'));
        await quiet(() => new EventSource('http://' + name + '/events'));
        await quiet(() => open('http://' + name + '/window'));
        await quiet(async () => {
          const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + name }] });
          peer.createDataChannel('x');
          await peer.setLocalDescription(await peer.createOffer());
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 500));`;
    expect((await renderWith(work)).subarray(0, 5).toString()).toBe('%PDF-');
    expect(reached).toEqual([]);
  });

  test('a page that goes elsewhere is no file, and reaches nothing', async () => {
    const work = `location.href = 'http://127.0.0.1:${port}/gone'; await new Promise((resolve) => setTimeout(resolve, 300));`;
    await renderWith(work).catch((error: unknown) => expect(error).toBeInstanceOf(DependencyUnavailable));
    expect(reached).toEqual([]);
  });

  test('reads as its caller, by the bearer of this drawing, and nothing else', async () => {
    seen.length = 0;
    const work = `
      const ask = (path, init, bearer = token) => fetch(path, { ...init, headers: { authorization: 'Bearer ' + bearer } }).then(() => 0, () => 0);
      await ask('/api/v2/guest/dashboards/d', {});
      await ask('/api/v2/guest/metrics/m/query', { method: 'POST', body: '{"a":1}' });
      await ask('/api/v2/guest/dashboards/d', {}, 'another');
      await ask('/api/v2/guest/metrics/m', { method: 'DELETE' });
      await ask('/api/v2/guest/metrics/m', { method: 'PUT', body: '{}' });
      await ask('/api/v2/guest/dashboards/d/metrics', { method: 'POST', body: '{}' });
      await ask('/api/v2/guest/dashboards/d/pdf', { method: 'POST', body: '{}' });
      await ask('/api/v2/guest/metrics/m/csv', { method: 'POST', body: '{}' });
      await ask('/api/v2/guest/dashboards/d/../../../data-app', {});
      await ask('/api/v2/data-app', {});
      await ask('/admin/tenants', {});`;
    await renderWith(work);
    expect(seen).toEqual([
      { method: 'GET', path: '/api/v2/guest/dashboards/d', body: undefined, caller },
      { method: 'POST', path: '/api/v2/guest/metrics/m/query', body: { a: 1 }, caller },
    ]);
  });

  test('drawings under way at once read each as its own caller', async () => {
    seen.length = 0;
    const work = `
      const id = document.querySelector('guestlist-dashboard').getAttribute('dashboard-id');
      for (let times = 0; times < 3; times += 1)
        await fetch('/api/v2/guest/dashboards/' + id, { headers: { authorization: 'Bearer ' + token } });`;
    const renderer = createRenderer(optionsWith(work, { atOnce: 3 }));
    try {
      const clients = ['a', 'b', 'c'];
      const callers = clients.map(
        (clientId) => ({ ...caller, grant: { ...caller.grant, clientId } }) as unknown as GuestCaller,
      );
      await Promise.all(
        callers.map((own, index) =>
          renderer.render(requestOf({ caller: own, target: { dashboardId: clients[index] ?? '' } }), never),
        ),
      );
      expect(seen).toHaveLength(9);
      for (const { path, caller: reader } of seen) expect(path.endsWith(`/${reader.grant.clientId}`)).toBe(true);
    } finally {
      await renderer.close();
    }
  });

  test('a token that ends meanwhile gives no file, and is read no more', async () => {
    seen.length = 0;
    const ended = new Refusal('TOKEN_EXPIRED', 'The guest token has expired.');
    const assertStillGood = () => Promise.reject(ended);
    await expect(renderWith('', { assertStillGood })).rejects.toBe(ended);
    const work = `await fetch('/api/v2/guest/dashboards/d', { headers: { authorization: 'Bearer ' + token } });`;
    await expect(renderWith(work, { assertStillGood })).rejects.toBe(ended);
    expect(seen).toEqual([]);
  });

  test('a page that never ends is stopped, and so is one whose caller is gone', async () => {
    const stuck = 'await new Promise(() => {});';
    const late = await renderWith(stuck, {}, { timeoutMs: 3_000 }).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(DependencyUnavailable);
    const renderer = createRenderer(optionsWith(stuck));
    const gone = new AbortController();
    const waiting = renderer.render(requestOf(), gone.signal).catch((error: unknown) => error);
    gone.abort(new Error('gone'));
    expect(await waiting).toBeInstanceOf(DependencyUnavailable);
    await renderer.close();
  });

  test('a caller who goes at any moment leaves no error that nobody catches, and the next drawing is good', async () => {
    const renderer = createRenderer(optionsWith('', { perClient: 50, waiting: 50, atOnce: 2 }));
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) await new Promise((next) => setImmediate(next));
    };
    try {
      await renderer.render(requestOf(), never);
      const drawings = Array.from({ length: 24 }, async (_, index) => {
        const gone = new AbortController();
        const drawing = renderer.render(requestOf(), gone.signal).catch((error: unknown) => error);
        await turns(index * 12);
        gone.abort(new Error('gone'));
        return drawing;
      });
      for (const ended of await Promise.all(drawings))
        expect(ended instanceof DependencyUnavailable || ended instanceof Uint8Array).toBe(true);
      expect(
        Buffer.from(await renderer.render(requestOf(), never))
          .subarray(0, 4)
          .toString(),
      ).toBe('%PDF');
    } finally {
      await renderer.close();
    }
  });

  test('a renderer that is closed at any moment leaves no error that nobody catches', async () => {
    for (const turns of [0, 20, 60, 120, 300]) {
      const renderer = createRenderer(optionsWith('', { perClient: 50, atOnce: 3 }));
      await renderer.render(requestOf(), never);
      const drawings = [1, 2, 3].map(() => renderer.render(requestOf(), never).catch((error: unknown) => error));
      for (let turn = 0; turn < turns; turn += 1) await new Promise((next) => setImmediate(next));
      await renderer.close();
      for (const ended of await Promise.all(drawings))
        expect(ended instanceof DependencyUnavailable || ended instanceof Uint8Array).toBe(true);
    }
  });

  test('a browser that was replaced ends with its last page', async () => {
    const others = (await childrenOf(process.pid)).map(({ pid }) => pid);
    const renderer = createRenderer(optionsWith('', { pagesPerBrowser: 2 }));
    try {
      for (let page = 0; page < 5; page += 1) await renderer.render(requestOf(), never);
      const running = (await childrenOf(process.pid)).filter(
        ({ pid, command }) => !others.includes(pid) && command.includes('--remote-debugging-pipe'),
      );
      expect(running).toHaveLength(1);
    } finally {
      await renderer.close();
    }
  });

  test('a client has only so many pages under way, and others are not kept waiting for it', async () => {
    const renderer = createRenderer(optionsWith('', { atOnce: 2 }));
    try {
      const other = { ...caller, grant: { ...caller.grant, clientId: 'b' } };
      const asked = [caller, caller, caller, other].map((each) => renderer.render(requestOf({ caller: each }), never));
      const ended = await Promise.allSettled(asked);
      expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
      expect(ended[2]).toMatchObject({ reason: { code: 'RATE_LIMITED', retryAfterSeconds: 5 } });
    } finally {
      await renderer.close();
    }
  });

  test('beyond its queue, a drawing is refused at once, and those that wait are drawn', async () => {
    const renderer = createRenderer(optionsWith('', { atOnce: 1, waiting: 1 }));
    try {
      const of = (clientId: string) => ({ ...caller, grant: { ...caller.grant, clientId } }) as GuestCaller;
      const asked = ['a', 'b', 'c'].map((each) => renderer.render(requestOf({ caller: of(each) }), never));
      const refused = await asked[2]?.catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(DependencyUnavailable);
      expect(refused).toMatchObject({ reason: 'renderer-busy' });
      const drawn = await Promise.all(asked.slice(0, 2));
      expect(drawn.map((file) => Buffer.from(file).subarray(0, 4).toString())).toEqual(['%PDF', '%PDF']);
    } finally {
      await renderer.close();
    }
  });

  test('a view too long for a picture is refused', async () => {
    const work = `this; document.body.style; const tall = document.querySelector('guestlist-dashboard'); tall.style.display = 'block'; tall.style.height = '9000px';`;
    const refusal = await renderWith(work, { format: 'png' }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'picture-too-tall' });
  });
});

test('without a browser, the start and each drawing say so', async () => {
  lines.length = 0;
  const renderer = createRenderer(optionsWith('', { executablePath: null }));
  expect(lines.join()).toContain('renderer.absent');
  await expect(renderer.render(requestOf(), never)).rejects.toMatchObject({ reason: 'renderer-absent' });
  const wrong = createRenderer(optionsWith('', { executablePath: '/nowhere/chromium' }));
  await expect(wrong.render(requestOf(), never)).rejects.toMatchObject({ reason: 'renderer-absent' });
});
