/** The tenants of a session in the elements: choosing, switching, and elements side by side. */
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { gate, mount, seenBy, until } from '../web/browser.js';
import type { Recorded } from '../web/fake-service.js';
import { useElements } from './elements-page.js';

const hostile = '<img src=x onerror=alert(1)>';
const tenants = [{ id: 'LAX', name: 'Los Angeles' }, { id: 'SFO', name: hostile }, { id: 'ATL' }];

describe.skipIf(!hasChromium())('a session of several tenants in a browser', { timeout: 60_000 }, () => {
  const on = useElements();
  const { requests, settled, pick } = on;
  const select = () => on.page.getByRole('combobox', { name: 'Organization' });
  const heldBack = new Map<string, Promise<void>>();

  /** Answers as the gateway does for a session of these tenants. */
  const asReseller = (own: readonly { id: string; name?: string }[] = tenants) => {
    let count = 0;
    on.bench.service.control.override = async ({ path, body, authorization }: Recorded) => {
      const airport = /guest-([A-Z]{3})/.exec(authorization)?.[1] ?? '';
      if (path !== '/embed-token') {
        await heldBack.get(airport);
        return undefined;
      }
      const isSeveral = own.length > 1;
      const asked = (body as { tenant?: string } | null)?.tenant ?? (isSeveral ? undefined : own[0]?.id);
      await heldBack.get(`token of ${asked}`);
      const choices = isSeveral ? { tenants: own } : {};
      const error = { code: 'NO_TENANT', reason: 'tenant-not-chosen', message: 'No.', status: 403, ...choices };
      if (!own.some(({ id }) => id === asked)) return { status: 403, body: { error } };
      count += 1;
      const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
      return {
        body: {
          ...{
            token: `guest-${asked}-${count}`,
            expiresAt: soon(900_000),
            refreshAfter: soon(600_000),
            serviceUrl: '',
          },
          embeds: [{ id: `delays--${asked}`, name: 'Delays', type: 'dashboard' }],
          ...(isSeveral ? { tenant: asked, tenants: own } : {}),
        },
      };
    };
  };
  const show = (more: Record<string, string> = {}) =>
    mount(on.page, 'guestlist-dashboard', { 'token-url': '/embed-token', 'dashboard-id': 'delays', ...more });
  const tokenBodies = () => requests('/embed-token').map(({ body }) => body);

  it('chooses first, by name and with the keyboard alone, and reads nothing before', async () => {
    asReseller();
    await show();
    await on.page.getByRole('status').getByText('Choose an organization', { exact: true }).waitFor();
    expect(requests('/guest/')).toEqual([]);
    expect(await select().locator('option').allInnerTexts()).toEqual([
      'Choose an organization',
      hostile,
      'ATL',
      'Los Angeles',
    ]);
    await on.shoot('tenants-choose');
    await select().focus();
    await on.page.keyboard.type('Los');
    await on.page.keyboard.press('Tab');
    await settled();
    expect(tokenBodies()).toEqual([null, { tenant: 'LAX' }]);
    expect(await select().inputValue()).toBe('LAX');
    expect((await seenBy(on.page)).filter(({ name }) => name === 'guestlist-tenant-change')).toMatchObject([
      { detail: { tenant: 'LAX', name: 'Los Angeles' } },
    ]);
    expect((await seenBy(on.page)).filter(({ name }) => name === 'guestlist-error')).toEqual([]);
    expect(await on.page.locator('img').count()).toBe(0);
    await on.shoot('tenants-chosen');
  });

  it('switches, and leaves nothing of the former tenant: filters, marks, the address, cached answers', async () => {
    asReseller();
    await show();
    await select().selectOption('LAX');
    await settled();
    await pick('CA');
    await until(() => new URL(on.page.url()).search).toContain('CA');
    await until(() => JSON.stringify(requests('/guest/').map(({ body }) => body ?? ''))).toContain('CA');
    await settled();
    on.bench.service.control.requests.length = 0;
    const held = gate();
    heldBack.set('ATL', held.opened);
    await select().selectOption('ATL');
    await until(() => on.page.locator('guestlist-card').count()).toBe(0);
    held.open();
    heldBack.clear();
    await settled();
    expect(new URL(on.page.url()).search).not.toContain('CA');
    for (const { authorization, path, body } of requests('/guest/')) {
      expect(authorization).toMatch(/^Bearer guest-ATL/);
      expect(path).not.toContain('LAX');
      expect(JSON.stringify(body ?? '')).not.toMatch(/CA|LAX/);
    }
    expect(await on.page.evaluate("document.querySelector('guestlist-dashboard').getFilters()")).toEqual({});
  });

  it('never draws a late answer of the former tenant, and cancels what it waited for', async () => {
    asReseller();
    const held = gate();
    heldBack.set('LAX', held.opened);
    await show();
    await select().selectOption('LAX');
    await until(() => requests('/dashboards/delays--LAX').length).toBe(1);
    await select().selectOption('ATL');
    await settled();
    held.open();
    heldBack.clear();
    await until(() => on.page.locator('guestlist-card section[aria-busy="false"]').count()).toBeGreaterThanOrEqual(4);
    expect(requests('--LAX').filter(({ path }) => path.includes('/query'))).toEqual([]);
    const loaded = (await seenBy(on.page)).filter(({ name }) => name === 'guestlist-loaded');
    expect(loaded.map(({ detail }) => detail.dashboardId)).toEqual(['delays--ATL']);
  });

  it('shows one tenant in each of two elements side by side, by one token each, and offers no switch there', async () => {
    asReseller();
    await show({ tenant: 'LAX' });
    await show({ tenant: 'ATL' });
    await show({ tenant: 'ATL' });
    await until(() => on.page.locator('guestlist-card .value').count()).toBe(3);
    expect(tokenBodies()).toEqual([{ tenant: 'LAX' }, { tenant: 'ATL' }]);
    expect(await select().count()).toBe(0);
    for (const { authorization, path, body } of requests('/query')) {
      const named = path + JSON.stringify(body);
      expect(authorization).toMatch(named.includes('LAX') ? /guest-LAX/ : /guest-ATL/);
    }
  });

  it('switches all elements of a page that ask the same address', async () => {
    asReseller();
    await show();
    await show();
    await until(() => select().count()).toBe(2);
    await select().first().selectOption('LAX');
    await until(() => on.page.locator('guestlist-card .value').count()).toBe(2);
    expect(await Promise.all([select().first().inputValue(), select().last().inputValue()])).toEqual(['LAX', 'LAX']);
    expect(tokenBodies().filter((body) => body !== null)).toEqual([{ tenant: 'LAX' }]);
  });

  it('never uses a late token of the former tenant', async () => {
    asReseller();
    const held = gate();
    heldBack.set('token of LAX', held.opened);
    await show();
    await select().selectOption('LAX');
    await until(() => requests('/embed-token').length).toBe(2);
    await select().selectOption('ATL');
    await settled();
    held.open();
    heldBack.clear();
    on.bench.service.control.requests.length = 0;
    await on.page.evaluate("document.querySelector('guestlist-dashboard').refresh()");
    await until(() => requests('/query').length).toBeGreaterThanOrEqual(4);
    await settled();
    expect(requests('/guest/').filter(({ authorization }) => !/guest-ATL/.test(authorization))).toEqual([]);
    expect(await select().inputValue()).toBe('ATL');
  });

  it('offers the tenants again where the chosen one is no longer among them', async () => {
    asReseller();
    await show();
    await select().selectOption('LAX');
    await settled();
    asReseller(tenants.slice(1));
    await on.page.evaluate("document.querySelector('guestlist-dashboard').remove()");
    await show();
    await on.page.getByRole('status').getByText('Choose an organization', { exact: true }).waitFor();
    expect(await select().locator('option').allInnerTexts()).toEqual(['Choose an organization', hostile, 'ATL']);
    await select().selectOption('ATL');
    await settled();
  });

  it('asks without the choice of an earlier session where the session now has one tenant', async () => {
    asReseller();
    await show();
    await select().selectOption('LAX');
    await settled();
    asReseller([{ id: 'ATL' }]);
    await on.page.evaluate("document.querySelector('guestlist-dashboard').remove()");
    await show();
    await settled();
    expect(tokenBodies()).toEqual([null, { tenant: 'LAX' }, { tenant: 'LAX' }, null]);
    expect(await select().count()).toBe(0);
    expect((await seenBy(on.page)).filter(({ name }) => name === 'guestlist-error')).toEqual([]);
  });

  it('is in the language of the reader, from right to left and in dark too', async () => {
    asReseller();
    await show({ language: 'ar', theme: 'dark' });
    const choice = on.page.getByRole('combobox', { name: 'المؤسسة' });
    await choice.waitFor();
    expect(await choice.evaluate((node) => node.matches(':dir(rtl)'))).toBe(true);
    await choice.selectOption('LAX');
    await settled();
    await on.shoot('tenants-dark-ar');
    await on.page.setViewportSize({ width: 360, height: 700 });
    await on.shoot('tenants-narrow');
  });
});
