/** A user schedules a report and an alert in the dashboard of the built product. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { until } from '../web/browser.js';
import { type EmbedToken, get, post } from './guest.js';
import { startHostPage } from './host-page.js';
import { type Mailing, startMailing } from './mailing.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;

const violationsIn = async (page: Page): Promise<unknown> => {
  await page.evaluate(axe);
  return page.evaluate(
    "axe.run({ include: [{ fromShadowDom: ['guestlist-dashboard', 'guestlist-tools', 'guestlist-schedules'] }] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
  );
};
const isTooWide = (dialog: Locator): Promise<boolean> =>
  dialog.evaluate((element) => element.scrollWidth > element.clientWidth);

describe.skipIf(!hasChromium())('reports and alerts of a user', { timeout: 120_000 }, () => {
  let mailing: Mailing;
  let browser: Browser;
  beforeAll(async () => {
    [mailing, browser] = await Promise.all([startMailing({ isOwnOrigin: true }), launchChromium()]);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await mailing?.close();
  });

  type Shown = BrowserContextOptions & { readonly language?: string };
  const show = async (
    { token, embeds: [embed] }: Pick<EmbedToken, 'token' | 'embeds'>,
    look: (page: Page) => Promise<void>,
    { language = 'en', ...options }: Shown = {},
  ): Promise<void> => {
    const { url } = mailing.product;
    const host = await startHostPage(
      url,
      () =>
        `<guestlist-dashboard token="${token}" service-url="${url}" dashboard-id="${embed?.id}" language="${language}"></guestlist-dashboard>`,
    );
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US', ...options });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await page.goto(host.url);
      await page.locator('guestlist-card section[aria-busy="false"]').nth(2).waitFor();
      await look(page);
      expect(await page.evaluate('violations')).toEqual([]);
    } finally {
      await context.close();
      host.close();
    }
  };
  const shoot = async (page: Page, name: string): Promise<void> => {
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/schedules-${name}.png` });
  };
  const open = async (page: Page): Promise<Locator> => {
    await page.getByRole('button', { name: 'Reports and alerts' }).click();
    return page.locator('guestlist-schedules dialog');
  };
  /** The link logs in once, so the cookies of the first login serve the next test. */
  let cookies: Awaited<ReturnType<BrowserContext['cookies']>> | undefined;
  const enterStudio = async (page: Page): Promise<void> => {
    const { url, studioLink } = mailing.product;
    if (cookies !== undefined) await page.context().addCookies(cookies);
    await page.goto(cookies === undefined ? (studioLink ?? '') : `${url}/studio`);
    await page.getByRole('navigation').getByRole('link', { name: 'Tenants' }).waitFor();
    cookies ??= await page.context().cookies();
  };
  const press = (dialog: Locator, name: string) => dialog.getByRole('button', { name, exact: true }).click();

  test('a report is made, paused, sent, seen in the history, changed and deleted', async () => {
    const login = await mailing.logIn('mia');
    await show(login, async (page) => {
      const filters = { 'Destination state': ['CA'] };
      await page.evaluate(`document.querySelector('guestlist-dashboard').setFilters(${JSON.stringify(filters)})`);
      const dialog = await open(page);
      await dialog.getByText('There are no reports or alerts yet').waitFor();
      await shoot(page, 'empty');
      await press(dialog, 'New report');
      await dialog.getByLabel('Name').fill('Each morning');
      await dialog.getByLabel('Format').selectOption('csv');
      await dialog.getByText(/^Destination state: (?:CA|California)$/).waitFor();
      await dialog.getByLabel('Only some cards').check();
      await dialog.getByLabel('Flights a day').check();
      await dialog.getByLabel('Time zone').fill('Mars/Base');
      await press(dialog, 'Save');
      await dialog.getByText('Check this: expected a name of the IANA time zones').waitFor();
      const zone = dialog.getByLabel('Time zone');
      expect(await zone.getAttribute('aria-invalid')).toBe('true');
      await until(() => zone.evaluate((element) => element.matches(':focus'))).toBe(true);
      await shoot(page, 'refused');
      expect(await violationsIn(page)).toEqual([]);
      await zone.fill('Europe/Berlin');
      await press(dialog, 'Save');
      await dialog.getByText(/^CSV · Destination state: .* · Each workday, 8:00 AM/).waitFor();
      await dialog.getByText('Next time: ').waitFor();
      await press(dialog, 'Pause Each morning');
      await dialog.getByText('Paused', { exact: true }).waitFor();
      await press(dialog, 'Send now Each morning');
      await dialog.getByText('It is on its way.').waitFor();
      await shoot(page, 'list');
      expect(await violationsIn(page)).toEqual([]);
      await vi.waitFor(() => expect(mailing.mailbox.received).toHaveLength(1), { timeout: 60_000, interval: 200 });
      const [sent] = mailing.mailbox.received;
      expect(sent?.mail.attachments.map(({ filename }) => filename)).toEqual(['Flights a day.csv']);
      await press(dialog, 'History Each morning');
      await until(async () => {
        await press(dialog, 'Read again');
        return dialog.getByText('Sent · Asked for').count();
      }).toBe(1);
      await shoot(page, 'history');
      expect(await violationsIn(page)).toEqual([]);
      await press(dialog, 'Back');
      await press(dialog, 'Change Each morning');
      await dialog.getByLabel('Send', { exact: true }).selectOption('week');
      await dialog.getByLabel('Fri').check();
      await press(dialog, 'Save');
      await dialog.getByText('Each week, Mon & Fri, 8:00 AM').waitFor();
      await press(dialog, 'Delete Each morning');
      await dialog.getByText('Delete it with its history?').waitFor();
      await press(dialog, 'Delete Each morning');
      await dialog.getByText('There are no reports or alerts yet').waitFor();
      await press(dialog, 'Close');
      await until(() => dialog.count()).toBe(0);
    });
  });

  const looks: readonly [string, Shown][] = [
    ['dark', { colorScheme: 'dark' }],
    ['phone', { viewport: { width: 390, height: 844 } }],
    ['narrow-dark', { viewport: { width: 320, height: 700 }, colorScheme: 'dark' }],
  ];
  test.each(looks)('an alert is made, checked and deleted (%s)', async (name, options) => {
    const login = await mailing.logIn(`nina-${name}`);
    await show(
      login,
      async (page) => {
        const before = mailing.mailbox.received.length;
        const dialog = await open(page);
        await press(dialog, 'New alert');
        await dialog.getByLabel('Name').fill('Few flights');
        await dialog.getByLabel('Value', { exact: true }).fill('100000000');
        await dialog.getByLabel('Quiet hours').check();
        await dialog.getByLabel('To', { exact: true }).fill('22:00');
        await press(dialog, 'Save');
        await dialog.getByText('Check this: expected two different times.').waitFor();
        await shoot(page, `alert-${name}`);
        expect(await violationsIn(page)).toEqual([]);
        expect(await isTooWide(dialog)).toBe(false);
        await dialog.getByLabel('To', { exact: true }).fill('07:00');
        await press(dialog, 'Save');
        await dialog.getByText('Is below 100,000,000').waitFor();
        await press(dialog, 'Check now Few flights');
        await vi.waitFor(() => expect(mailing.mailbox.received.length).toBe(before + 1), {
          timeout: 60_000,
          interval: 200,
        });
        await press(dialog, 'History Few flights');
        await until(async () => {
          await press(dialog, 'Read again');
          return dialog.getByText('Sent · Asked for').count();
        }).toBe(1);
        await press(dialog, 'Back');
        await dialog.getByText('The alert holds since').waitFor();
        await shoot(page, `list-${name}`);
        expect(await violationsIn(page)).toEqual([]);
        expect(await isTooWide(dialog)).toBe(false);
        await press(dialog, 'Delete Few flights');
        await press(dialog, 'Delete Few flights');
        await dialog.getByText('There are no reports or alerts yet').waitFor();
      },
      options,
    );
  });

  test('the reports of a user are shown from right to left, and while the service does not answer', async () => {
    const login = await mailing.logIn('rana');
    await show(
      login,
      async (page) => {
        await page.route('**/schedules', (route) => route.abort());
        await page.getByRole('button', { name: 'التقارير والتنبيهات' }).click();
        const dialog = page.locator('guestlist-schedules dialog');
        await dialog.getByRole('alert').getByText('تعذر عرض القائمة').waitFor();
        await shoot(page, 'failing');
        await page.unroute('**/schedules');
        await dialog.getByRole('alert').getByRole('button').click();
        await press(dialog, 'تنبيه جديد');
        await dialog.getByLabel('المنطقة الزمنية').waitFor();
        await shoot(page, 'arabic');
        expect(await violationsIn(page)).toEqual([]);
        await page.keyboard.press('Escape');
        await until(() => dialog.count()).toBe(0);
      },
      { language: 'ar', viewport: { width: 390, height: 844 } },
    );
  });

  test('a report goes to others, and the history tells each one’s', async () => {
    const [reader, boss] = ['ria', 'boss'];
    await mailing.logIn(reader);
    const login = await mailing.logIn(boss, { roles: ['manager', 'admin'] });
    const before = mailing.mailbox.received.length;
    await show(login, async (page) => {
      const dialog = await open(page);
      const looks = async (name: string): Promise<void> => {
        for (const [colorScheme, width] of [
          ['dark', 1280] as const,
          ['dark', 390] as const,
          ['light', 1280] as const,
        ]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 900 });
          expect(await violationsIn(page)).toEqual([]);
          expect(await isTooWide(dialog)).toBe(false);
          await shoot(page, `${name}-${colorScheme}-${width}`);
        }
      };
      await press(dialog, 'New report');
      await dialog.getByLabel('Name').fill('For all');
      await dialog.getByLabel('Format').selectOption('csv');
      await dialog.getByLabel('Send to').selectOption('Others, by e-mail');
      await press(dialog, 'Save');
      await dialog.getByText('Check this: expected a user, a role or an address').waitFor();
      await dialog.getByLabel(`${reader}@customer.example`).check();
      expect(await dialog.getByLabel(`${boss}@customer.example`).isChecked()).toBe(false);
      const address = dialog.getByLabel('Addresses without an account');
      await address.fill('pat@evil.example');
      await address.press('Enter');
      await dialog.getByText('Only addresses of partner.example may get it').waitFor();
      await looks('recipients-refused');
      await address.fill('pat@partner.example');
      await press(dialog, 'Add');
      await dialog.getByLabel('Only some cards').check();
      await dialog.getByLabel('Flights a day').check();
      await looks('recipients');
      await press(dialog, 'Save');
      const who = `Send to: ${reader}@customer.example, pat@partner.example (Waiting for confirmation)`;
      await dialog.getByText(who).waitFor();
      const arrive = (count: number) =>
        vi.waitFor(() => expect(mailing.mailbox.received).toHaveLength(before + count), {
          ...{ timeout: 60_000, interval: 200 },
        });
      await arrive(1);
      const waiting = `pat@partner.example: Left out · The address is not confirmed · Asked for`;
      const history = async (...told: readonly string[]) => {
        await press(dialog, 'History For all');
        for (const each of told) {
          await until(async () => {
            await press(dialog, 'Read again');
            return dialog.getByText(each).count();
          }).toBeGreaterThan(0);
        }
      };
      await history(waiting);
      await press(dialog, 'Back');
      await press(dialog, 'Send now For all');
      await dialog.getByText('It is on its way.').waitFor();
      await arrive(2);
      await history(`${reader}@customer.example: Sent · Asked for`);
      expect(await dialog.getByText(waiting).count()).toBe(2);
      await looks('recipients-history');
      await press(dialog, 'Back');
      await press(dialog, 'Change For all');
      await dialog.getByText('Waiting for confirmation').waitFor();
      await press(dialog, `Remove pat@partner.example`);
      await press(dialog, 'Save');
      await dialog.getByText(`Send to: ${reader}@customer.example`, { exact: true }).waitFor();
      await press(dialog, 'Delete For all');
      await press(dialog, 'Delete For all');
      await dialog.getByText('There are no reports or alerts yet').waitFor();
    });
  });

  test('a user who may not send to others is offered no others, and refused', async () => {
    const login = await mailing.logIn('mia');
    await show(login, async (page) => {
      const dialog = await open(page);
      await press(dialog, 'New report');
      await dialog.getByLabel('Name').waitFor();
      expect(await dialog.getByLabel('Send to').count()).toBe(0);
      expect(await dialog.getByText('Others, by e-mail').count()).toBe(0);
    });
    const schedules = `${mailing.product.url}/api/v2/guest/dashboards/${login.embeds[0]?.id}/schedules`;
    const recurrence = { every: 'day', at: '08:00', timezone: 'UTC' };
    const plan = { name: 'To others', format: 'csv', recurrence, recipients: { roles: ['manager'] } };
    expect((await post(schedules, plan, login.token)).status).toBe(403);
  });

  test('an operator finds a report of a tenant in Studio, and pauses it', async () => {
    const { token, embeds } = await mailing.logIn('oscar');
    const { url } = mailing.product;
    const schedules = `${url}/api/v2/guest/dashboards/${embeds[0]?.id}/schedules`;
    const recurrence = { every: 'day', at: '08:00', timezone: 'UTC' };
    const made = await post(schedules, { name: 'Of Oscar', format: 'csv', recurrence }, token);
    expect(made.status, made.text).toBe(200);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await enterStudio(page);
      await page.getByRole('navigation').getByRole('link', { name: 'Tenants' }).click();
      await page.getByRole('link', { name: 'LAX', exact: true }).click();
      await page.getByRole('link', { name: 'Reports and alerts of its users' }).click();
      await page.getByRole('row', { name: /Of Oscar/ }).waitFor();
      expect(await page.locator('select[name="tenant"]').inputValue()).toBe('LAX');
      await page.getByRole('button', { name: 'Pause Of Oscar of LAX' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByText('“Of Oscar” of LAX is paused.').waitFor();
      await page.locator('select[name="state"]').selectOption('paused');
      await page.getByRole('row', { name: /Of Oscar.*paused/ }).waitFor();
      await shoot(page, 'studio');
      await page.evaluate(axe);
      expect(await page.evaluate("axe.run('main').then(({ violations }) => violations.map(({ id }) => id))")).toEqual(
        [],
      );
      await page.locator('select[name="state"]').selectOption('failed');
      await page.getByText('None of the 1 is like this.').waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole('button', { name: 'Resume Of Oscar of LAX' }).waitFor();
      await shoot(page, 'studio-phone-dark');
    } finally {
      await context.close();
    }
    const listed = await get<{ data: { isPaused: boolean }[] }>(schedules, token);
    expect(listed.body.data.map(({ isPaused }) => isPaused)).toEqual([true]);
  });

  test('a publisher schedules a report to all tenants in Studio, sends it, and sees what became of it', async () => {
    await mailing.logIn('hana', { roles: ['manager'] });
    await mailing.logIn('hana', { org_id: 'ATL', email: 'hana.atl@elsewhere.example' });
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await enterStudio(page);
      await page.getByRole('link', { name: 'Tenant reports' }).click();
      await page.getByRole('heading', { name: 'No report goes to all tenants' }).waitFor();
      await shoot(page, 'hosts-empty');
      await page.getByRole('button', { name: 'New report' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Each Monday');
      await dialog.getByLabel('Template').selectOption('delays');
      await dialog.getByLabel('Format').selectOption('csv');
      await dialog.getByLabel('Send').selectOption('week');
      await dialog.getByLabel('Time zone').fill('Europe/Berlin');
      await dialog.getByRole('button', { name: 'Schedule' }).click();
      await dialog.getByRole('alert').getByText('expected at least one user or role').waitFor();
      await shoot(page, 'hosts-form');
      await dialog.getByLabel(/^Users/).fill('guestlist-demo|hana');
      await dialog.getByRole('button', { name: 'Schedule' }).click();
      await page.getByRole('row', { name: /Each Monday.*Each week, Mon, 8:00 AM, Europe\/Berlin.*none yet/ }).waitFor();
      await page.getByRole('link', { name: 'Each Monday' }).click();
      await page.getByRole('button', { name: 'Send now' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send now' }).click();
      await page.getByText('It is being sent.').waitFor();
      await until(async () => {
        await page.getByRole('button', { name: 'Read again' }).click();
        return [
          await page.getByRole('row', { name: /LAX.*sent/ }).count(),
          await page.getByRole('row', { name: /ATL.*the login names no/ }).count(),
        ];
      }).toEqual([1, 1]);
      expect(mailing.mailbox.received.at(-1)?.recipients).toEqual(['hana@customer.example']);
      await shoot(page, 'hosts-history');
      await page.locator('select[name="tenant"]').selectOption('ATL');
      await page.getByRole('row', { name: /ATL.*the login names no/ }).waitFor();
      expect(await page.getByRole('row', { name: /LAX/ }).count()).toBe(0);
      await page.locator('select[name="state"]').selectOption('sent');
      await page.getByText(/None of the \d+ is like this/).waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Each week');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Each week' }).waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('“Each week” is paused.').waitFor();
      await page.evaluate(axe);
      const faults =
        "axe.run('main').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))";
      expect(await page.evaluate(faults)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 390, height: 844 });
      await shoot(page, 'hosts-phone-dark');
      await page.getByRole('link', { name: 'All tenant reports' }).click();
      await page.getByRole('row', { name: /Each week.*paused/ }).waitFor();
      await shoot(page, 'hosts-list-phone-dark');
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.getByRole('link', { name: 'Each week' }).click();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { name: 'No report goes to all tenants' }).waitFor();
    } finally {
      await context.close();
    }
  });

  test('a token without a user is offered none', async () => {
    const { embeds } = await mailing.logIn('mia');
    const { body } = await post<{ token: string }>(
      `${mailing.product.url}/api/v2/guest-token/create`,
      {
        clientId: 'LAX',
        dataAppName: 'flights',
        params: { allowedEmbeds: embeds.map(({ id }) => id) },
        permissions: {},
      },
      mailing.credentials.demoApiKey,
    );
    await show({ token: body.token, embeds }, async (page) => {
      expect(await page.getByRole('button', { name: 'Reports and alerts' }).count()).toBe(0);
      expect(await page.locator('guestlist-schedules').count()).toBe(0);
    });
  });
});
