/**
 * The first hour with a database that `guestlist init` was not written with: ten charts, on a page of another origin behind
 * a session of Express, and each number as SQL by hand gives it. No file is edited.
 */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { fleet, helpdesk, inOrder, openHost, type Source, several } from './first-hour-worlds.js';
import { begin, loginAt, readMetrics, run, stop, urlOf } from './init-suite.js';

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

for (const { kind, isThere, open, flags, named, statements, head } of [helpdesk, fleet]) {
  describe.runIf(isThere)(`with ${kind}`, () => {
    let source: Source;
    let folder: string;
    let told: string;
    let serving: ReturnType<typeof begin>;
    let url: string;
    let host: Awaited<ReturnType<typeof openHost>>;

    beforeAll(async () => {
      [source, host] = await Promise.all([open(), openHost()]);
      folder = await mkdtemp(join(tmpdir(), 'guestlist-first-hour-'));
      const port = await freePort();
      const given = ['--database', source.url, '--origin', host.origin, '--port', String(port), ...flags];
      given.push('--claim-of-several', several);
      const { code, output } = await run(folder, 'init', '--yes', ...given);
      expect([code, output]).toEqual([0, expect.stringContaining('10 charts')]);
      told = output;
      serving = begin(folder, ['serve']);
      url = await urlOf(serving);
      const lines = output.slice(output.lastIndexOf('<script type="module" src='));
      host.state.lines = lines
        .slice(0, lines.lastIndexOf('</script>') + '</script>'.length)
        .replaceAll(`http://127.0.0.1:${port}`, url);
      host.state.secret =
        parseEnv(await readFile(join(folder, 'guestlist.env'), 'utf8')).GUESTLIST_HOST_JWT_SECRET ?? '';
    });
    afterAll(async () => {
      await stop(serving);
      host.close();
      await rm(folder, { recursive: true, force: true });
      await source.drop();
    });

    const expectRows = async (
      read: Awaited<ReturnType<typeof readMetrics>>,
      expected: Readonly<Record<string, string>>,
    ) => {
      const byHand = read.filter(([name]) => !name.startsWith('Latest'));
      expect(byHand.map(([name]) => name).toSorted()).toEqual(Object.keys(expected).toSorted());
      for (const [name, rows] of byHand) {
        const wanted = await source.ask(expected[name] ?? '');
        expect([name, inOrder(rows.map((row) => Object.values(row)))]).toEqual([name, inOrder(wanted)]);
      }
    };
    const read = (claims: object, asked: object = {}) => readMetrics(folder, url, claims, host.origin, asked);

    test.each([1, 2, 3])('each chart of tenant %i has the numbers that SQL by hand gives', async (tenant) => {
      await expectRows(await read({ tenant_id: String(tenant) }), statements(tenant));
    });

    const headOf = (tenant: number) => ({ tenant_id: String(tenant), roles: ['restricted'], ...head.claims });

    test.each([1, 2, 3])(
      'the head of a department of tenant %i sees its numbers, and no chart of others',
      async (tenant) => {
        const wanted = Object.entries(statements(tenant, head.where)).filter(([name]) => !head.hidden.includes(name));
        const metrics = await read(headOf(tenant));
        await expectRows(metrics, Object.fromEntries(wanted));
        expect(metrics).toHaveLength(10 - head.hidden.length);
      },
    );

    test('init says which charts a restricted user does not see, and why', () => {
      const [, said = ''] = told.split('Users with the role "restricted" see one ');
      expect(said).toContain(head.told);
      for (const name of head.hidden) expect(said).toContain(name);
    });

    test('a reseller sees the tenants of the session, one at a time, and no other', async () => {
      const reseller = { [several]: ['1', '2'] };
      const { status, body } = await loginAt(folder, url, reseller, host.origin);
      expect([status, body.error?.code, body.error?.tenants?.map(({ id }) => id)]).toEqual([
        403,
        'NO_TENANT',
        ['1', '2'],
      ]);
      for (const tenant of [1, 2])
        await expectRows(await read(reseller, { tenant: String(tenant) }), statements(tenant));
      expect((await loginAt(folder, url, reseller, host.origin, { tenant: '3' })).status).toBe(403);
      const restricted = { ...reseller, roles: ['restricted'], ...head.claims };
      expect(await read(restricted, { tenant: '2' })).toEqual(await read(headOf(2)));
    });

    const onPage = async (claims: object, work: (page: Page) => Promise<void>): Promise<void> => {
      const browser = await launchChromium();
      const context = await browser.newContext({ viewport: { width: 1200, height: 2400 } });
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('pageerror', ({ message }) => errors.push(message));
      try {
        expect((await page.goto(host.origin))?.status()).toBe(401);
        await page.goto(`${host.origin}/login?claims=${encodeURIComponent(JSON.stringify(claims))}`);
        await work(page);
        expect(await page.locator('guestlist-card [role="alert"]').count()).toBe(0);
        expect(errors).toEqual([]);
      } finally {
        await context.close();
      }
    };
    const expectCards = async (page: Page, count: number): Promise<void> => {
      const ready = page.locator('guestlist-card section[aria-busy="false"]');
      await expect.poll(() => ready.count(), { timeout: 60_000 }).toBe(count);
    };
    const picture = async (page: Page, of: string): Promise<void> => {
      const seen = process.env.SCREENSHOTS;
      if (seen !== undefined) await page.screenshot({ path: join(seen, `first-hour-${kind.split(' ')[1]}-${of}.png`) });
    };

    test('a person who is logged in to the host sees all ten charts on its page, and nobody else does', async () => {
      if (!hasChromium()) return;
      await onPage({ sub: 'ann', tenant_id: '1' }, async (page) => {
        await expectCards(page, 10);
        await picture(page, 'all');
      });
    });

    test('on the same page, the head of a department sees the charts that have one', async () => {
      if (!hasChromium()) return;
      await onPage({ sub: 'sam', ...headOf(1) }, async (page) => {
        await expectCards(page, 10 - head.hidden.length);
        await picture(page, 'head');
      });
    });

    test('on the same page, a reseller chooses between the tenants', async () => {
      if (!hasChromium()) return;
      await onPage({ sub: 'rita', [several]: ['1', '2'] }, async (page) => {
        const choice = page.locator('guestlist-dashboard label.tenants select');
        await choice.waitFor({ timeout: 60_000 });
        const values = await choice.locator('option').evaluateAll((all) => all.map((one) => one.getAttribute('value')));
        expect(values.filter(Boolean).toSorted()).toEqual(['1', '2']);
        await choice.selectOption('2');
        await expectCards(page, 10);
        await picture(page, 'reseller');
        await choice.selectOption('1');
        await expectCards(page, 10);
      });
    });

    test('the command line tells tenants by their names in the database, with the ids beside them', async () => {
      const { code, output } = await run(folder, 'tenants', 'provision', '1', '2', '--new', '--url', url);
      const [[first] = [], [second] = []] = [await source.ask(named(1)), await source.ask(named(2))];
      expect([code, output]).toEqual([0, expect.stringContaining(`complete  ${first} (1)\n`)]);
      expect(output).toContain(`complete  ${second} (2)\n`);
      expect((await run(folder, 'tenants', 'list', '--url', url)).output).toMatch(
        new RegExp(`^1 +${first} +active`, 'm'),
      );
    });

    test('the policy that init wrote passes its own tests', async () => {
      const { code, output } = await run(folder, 'policy', 'test', 'policy.test.yaml', '--cover');
      expect([code, output]).toEqual([0, expect.stringMatching(/\d tests/)]);
    });
  });
}
