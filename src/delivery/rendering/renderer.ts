/**
 * Draws dashboards and metrics by headless Chromium: a pool of its own, with bounded memory and time. The browser has no
 * network. May not decide what a caller sees: it draws what the service answers to that caller.
 */
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import type { Renderer, RenderRequest } from '../../model/guest/render.js';
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import { DependencyUnavailable } from '../../model/unavailable.js';
import { BulkheadFull, createBulkhead } from '../../platform/work/bulkhead.js';
import { systemTiming } from '../../platform/work/time.js';
import { drawOn, openPage, type Read, type ReadFile } from './page.js';
import { printPage } from './paper.js';

export type BrowserStart = {
  /** `bin/give-way.sh`, which starts the browser with a lower priority. */
  readonly giveWay: string;
  /** The variables that the browser knows. No secret of the product is among them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export type RendererOptions = {
  /** The browser's executable; null: there is none. */
  readonly executablePath: string | null;
  readonly atOnce: number;
  readonly waiting: number;
  /** Pictures of one client under way, waiting ones included. */
  readonly perClient: number;
  readonly timeoutMs: number;
  /** How far the browser gives way to other work of the machine: 0 not at all, 19 the most. */
  readonly niceness: number;
  /** Pages before the browser is started anew, so that its memory cannot grow for ever. */
  readonly pagesPerBrowser: number;
  readonly start: BrowserStart;
  readonly read: Read;
  readonly file: ReadFile;
  readonly log: Pick<Log, 'warn'>;
};

const memoryMegabytes = 512;

type Executable = Pick<RendererOptions, 'executablePath' | 'niceness' | 'start' | 'pagesPerBrowser'>;

/** The browser reaches nothing: no name resolves, and the proxy of every address, loopback too, does not exist. */
const launchOptions = ({
  executablePath,
  niceness,
  start,
}: Pick<Executable, 'niceness' | 'start'> & { readonly executablePath: string }) => ({
  // A browser that is lowered after its start has started other processes meanwhile, which keep the usual priority.
  executablePath: niceness === 0 || process.platform === 'win32' ? executablePath : start.giveWay,
  env: { ...start.environment, GUESTLIST_BROWSER: executablePath, GUESTLIST_NICENESS: String(niceness) },
  headless: true,
  chromiumSandbox: process.getuid?.() !== 0,
  proxy: { server: 'http://0.0.0.0:9', bypass: '<-loopback>' },
  args: [
    '--disable-gpu',
    '--disable-quic',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    '--no-pings',
    '--dns-prefetch-disable',
    '--host-resolver-rules=MAP * ~NOTFOUND',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    `--js-flags=--max-old-space-size=${memoryMegabytes}`,
  ],
});

const absent = (): DependencyUnavailable =>
  new DependencyUnavailable('renderer-absent', 'There is no Chromium on this machine to draw with.');

const isRunning = ({ browser }: Running): Promise<boolean> =>
  browser.then(
    (running) => running.isConnected(),
    () => false,
  );

type Running = { readonly browser: Promise<Browser>; pages: number; open: number };

/** Starts the browser when it is first needed, and anew after some pages or a crash. The old one ends with its last page. */
const createBrowsers = ({ executablePath, pagesPerBrowser, ...executable }: Executable) => {
  let current: Running | null = null;
  const launch = async (): Promise<Browser> => {
    if (executablePath === null) throw absent();
    try {
      const { chromium } = await import('playwright-core');
      return await chromium.launch(launchOptions({ ...executable, executablePath }));
    } catch (cause) {
      throw new DependencyUnavailable('renderer-absent', 'Chromium could not be started.', cause);
    }
  };
  const end = ({ browser }: Running): Promise<void> =>
    browser.then(
      (running) => running.close(),
      () => undefined,
    );
  const leave = async (running: Running): Promise<void> => {
    running.open -= 1;
    if (running !== current && running.open === 0) await end(running);
  };
  return {
    close: async (): Promise<void> => {
      const closing = current;
      current = null;
      if (closing !== null) await end(closing);
    },
    /** Works with a browser that stays open at least until the work has ended. */
    use: async <T>(work: (browser: Browser) => Promise<T>): Promise<T> => {
      const taken = current ?? { browser: handled(launch()), pages: 0, open: 0 };
      current = taken;
      taken.pages += 1;
      taken.open += 1;
      try {
        const browser = await taken.browser;
        if (current === taken && (taken.pages >= pagesPerBrowser || !browser.isConnected())) current = null;
        return await work(browser);
      } catch (error) {
        if (current === taken && !(await isRunning(taken))) current = null;
        throw error;
      } finally {
        await leave(taken);
      }
    },
  };
};

/** Counts what each client has under way. Throws RATE_LIMITED beyond `most`. */
const createCounts = (most: number) => {
  const counts = new Map<string, number>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const count = counts.get(key) ?? 0;
    if (count >= most) {
      throw new Refusal('RATE_LIMITED', `At most ${most} pictures are drawn at once for one client. Try again later.`, {
        retryAfterSeconds: 5,
      });
    }
    counts.set(key, count + 1);
    try {
      return await work();
    } finally {
      const left = (counts.get(key) ?? 1) - 1;
      if (left === 0) counts.delete(key);
      else counts.set(key, left);
    }
  };
};

/** The tallest picture, in CSS pixels. */
const tallest = 8_000;

const contextOptions = ({ caller, format }: RenderRequest) => ({
  viewport: { width: format === 'png' ? 760 : 1000, height: 1000 },
  deviceScaleFactor: 2,
  locale: 'en-US',
  timezoneId: caller.grant.timezone ?? 'UTC',
  serviceWorkers: 'block' as const,
  acceptDownloads: false,
  reducedMotion: 'reduce' as const,
});

const fileOf = async (page: Page, { format, language }: RenderRequest, height: number): Promise<Uint8Array> => {
  if (format === 'pdf') return printPage(page, language);
  if (height > tallest) {
    throw new Refusal('INVALID_REQUEST_BODY', 'This is too long for one picture. Choose PDF.', {
      reason: 'picture-too-tall',
    });
  }
  return page.locator('guestlist-dashboard, guestlist-metric').screenshot({ animations: 'disabled' });
};

/** How long a drawing that is over waits for its browser, which may hang. */
const closingMs = 10_000;

/** Resolves once the work has ended, well or not, and after that time at the latest. */
const atMost = (ms: number, work: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const cancel = systemTiming.after(ms, resolve);
    const end = (): void => {
      cancel();
      resolve();
    };
    work.then(end, end);
  });

const drawIn = async (browser: Browser, request: RenderRequest, options: RendererOptions, signal: AbortSignal) => {
  const context = await browser.newContext(contextOptions(request));
  let fail: (error: unknown) => void = () => undefined;
  const failed = handled(
    new Promise<never>((_, reject) => {
      fail = reject;
    }),
  );
  const nonce = randomUUID();
  const opening = handled(openPage(context, { request, nonce, signal, ...options }, fail));
  const stop = (): void => fail(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    const work = async (): Promise<Uint8Array> => {
      const page = await opening;
      return fileOf(page, request, await drawOn(page, request, nonce));
    };
    const file = await Promise.race([work(), failed]);
    await request.assertStillGood();
    return file;
  } finally {
    signal.removeEventListener('abort', stop);
    // The steps that open a page are short; a context that is closed between them can fail where nobody catches it.
    await atMost(closingMs, opening);
    await atMost(closingMs, context.close());
  }
};

/** Refusals and unavailable dependencies keep their meaning. Every other fault is one of the browser. */
const asUnavailable = (error: unknown): unknown => {
  if (error instanceof Refusal || error instanceof DependencyUnavailable) return error;
  if (error instanceof BulkheadFull)
    return new DependencyUnavailable('renderer-busy', 'Too many pictures wait.', error);
  return new DependencyUnavailable('renderer-failed', 'The browser could not draw the page.', error);
};

export const createRenderer = (options: RendererOptions): Renderer & { readonly close: () => Promise<void> } => {
  const { executablePath, atOnce, waiting, perClient, timeoutMs, log } = options;
  if (executablePath === null) {
    log.warn({ event: 'renderer.absent' }, 'no Chromium was found: PNG and PDF are answered with 503');
  }
  const browsers = createBrowsers(options);
  const inTurn = createBulkhead({ maxConcurrent: atOnce, maxQueued: waiting });
  const counted = createCounts(perClient);
  return {
    close: browsers.close,
    render: async (request, gone) => {
      if (executablePath === null) throw absent();
      const { dataAppId, clientId } = request.caller.grant;
      const signal = anyOf(gone, AbortSignal.timeout(timeoutMs));
      try {
        return await counted(JSON.stringify([dataAppId, clientId]), () =>
          inTurn(() => browsers.use((browser) => drawIn(browser, request, options, signal)), signal),
        );
      } catch (error) {
        throw asUnavailable(error);
      }
    },
  };
};
