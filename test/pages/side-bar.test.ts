/** The side bar of a dashboard: what it lists, how a guest opens a dashboard by it, and what is left of it afterwards. */
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { mount, seenBy, setAttribute, until } from '../web/browser.js';
import type { Recorded } from '../web/fake-service.js';
import { refusal } from '../web/fake-service.js';
import { dashboards } from '../web/fixtures.js';
import { useElements } from './elements-page.js';

const hostile = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasChromium())('the side bar in a browser', { timeout: 60_000 }, () => {
  const on = useElements();
  const { requests, settled } = on;
  const nav = () => on.page.getByRole('navigation', { name: 'Dashboards' });
  const entry = (name: string) => nav().getByRole('button', { name, exact: true });
  const title = () => on.page.getByRole('heading', { level: 2 });
  const entries = async () => (await nav().locator('li').allInnerTexts()).map((name) => name.trim());
  const current = () => nav().locator('[aria-current=page]').allInnerTexts();
  const state: { opens: readonly string[]; isAway: boolean } = { opens: [], isAway: false };

  /** The service of tokens that show a side bar. `opens`: the names of what the token opens. */
  const withSideBar = (opens: readonly string[] = ['delays', 'routes'], isShowSideBar = true) => {
    state.opens = opens;
    state.isAway = false;
    on.bench.service.control.override = ({ path, authorization }: Recorded) => {
      const airport = /guest-([A-Z]{3})/.exec(authorization)?.[1] ?? '';
      const own = Object.entries(dashboards(airport));
      if (path === '/api/v2/guest/embeds') {
        if (state.isAway) return refusal('INTERNAL_SERVER_ERROR', 'No.', 500);
        const listed = state.opens.map((name) => ({
          dashboardId: `${name}--${airport}`,
          name: dashboards(airport)[`${name}--${airport}`]?.name ?? hostile,
          operations: [],
        }));
        return { body: { data: { dashboards: listed, metrics: [] }, error: null } };
      }
      const [, shown] = own.find(([id]) => path === `/api/v2/guest/dashboards/${id}`) ?? [];
      if (shown === undefined) return undefined;
      return { body: { data: { ...shown, permissions: { ...shown.permissions, isShowSideBar } }, error: null } };
    };
  };
  const show = (token = 'guest-LAX-1', more: Record<string, string> = {}) =>
    mount(on.page, 'guestlist-dashboard', { token, 'dashboard-id': 'delays--LAX', ...more });

  it('lists what the token opens, and opens another dashboard by the keyboard alone', async () => {
    withSideBar();
    await show();
    await settled();
    await entry('Routes').waitFor();
    expect(await entries()).toEqual(['Delays', 'Routes']);
    expect(await current()).toEqual(['Delays']);
    await on.shoot('side-bar');
    await entry('Delays').focus();
    await on.page.keyboard.press('Tab');
    await on.page.keyboard.press('Enter');
    await title().getByText('Routes', { exact: true }).waitFor();
    await until(current).toEqual(['Routes']);
    expect(await entry('Routes').evaluate((button) => button.matches(':focus'))).toBe(true);
    expect(await on.page.locator('guestlist-dashboard').getAttribute('dashboard-id')).toBe('delays--LAX');
    expect((await seenBy(on.page)).filter(({ name }) => name === 'guestlist-dashboard-change')).toEqual([
      { name: 'guestlist-dashboard-change', detail: { dashboardId: 'routes--LAX', name: 'Routes' } },
    ]);
    expect(requests('/guest/embeds')).toHaveLength(1);
    await setAttribute(on.page, 'guestlist-dashboard', 'dashboard-id', 'delays');
    await setAttribute(on.page, 'guestlist-dashboard', 'dashboard-id', 'delays--LAX');
    await title().getByText('Delays', { exact: true }).waitFor();
  });

  it('a page that names another dashboard shows that one', async () => {
    withSideBar(['routes', 'delays']);
    await show();
    await entry('Routes').click();
    await title().getByText('Routes', { exact: true }).waitFor();
    await entry('Delays').click();
    await title().getByText('Delays', { exact: true }).waitFor();
    await setAttribute(on.page, 'guestlist-dashboard', 'dashboard-id', 'routes--LAX');
    await title().getByText('Routes', { exact: true }).waitFor();
    expect(await current()).toEqual(['Routes']);
  });

  it('is absent without the permission, and asks for no list then', async () => {
    withSideBar(['delays', 'routes'], false);
    await show();
    await settled();
    expect(await on.page.getByRole('navigation').count()).toBe(0);
    expect(requests('/guest/embeds')).toEqual([]);
  });

  it('another token lists what that one opens, and a list that fails leaves no names of before', async () => {
    withSideBar(['delays', 'routes', 'other']);
    await show();
    await entry(hostile).waitFor();
    expect(await on.page.locator('img').count()).toBe(0);
    state.opens = ['delays'];
    await setAttribute(on.page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await until(entries).toEqual(['Delays']);
    state.isAway = true;
    await setAttribute(on.page, 'guestlist-dashboard', 'token', 'guest-LAX-3');
    await nav().getByRole('alert').waitFor();
    expect(await entries()).toEqual([]);
    state.isAway = false;
    await nav().getByRole('button', { name: 'Try again' }).click();
    await until(entries).toEqual(['Delays']);
    expect(await nav().getByRole('alert').count()).toBe(0);
  });

  it('stays beside a dashboard that fails, and ends with access', async () => {
    withSideBar(['delays', 'other']);
    await show();
    await entry(hostile).click();
    await on.page.getByText('There is no such dashboard.').waitFor();
    await entry('Delays').click();
    await settled();
    await entry(hostile).click();
    await setAttribute(on.page, 'guestlist-dashboard', 'token', null);
    await until(() => on.page.getByRole('navigation').count()).toBe(0);
    await setAttribute(on.page, 'guestlist-dashboard', 'token', 'guest-LAX-2');
    await title().getByText('Delays', { exact: true }).waitFor();
  });

  it('is a button on a narrow screen, with a list that Escape and a choice close', async () => {
    await on.page.setViewportSize({ width: 390, height: 844 });
    withSideBar();
    await show();
    await settled();
    const fold = nav().getByRole('button', { name: 'Dashboards Delays' });
    expect(await entry('Routes').isVisible()).toBe(false);
    await fold.focus();
    await on.page.keyboard.press('Enter');
    expect(await fold.getAttribute('aria-expanded')).toBe('true');
    await on.shoot('side-bar-narrow');
    await on.page.keyboard.press('Tab');
    await on.page.keyboard.press('Escape');
    expect(await entry('Routes').isVisible()).toBe(false);
    expect(await fold.evaluate((button) => button.matches(':focus'))).toBe(true);
    await fold.click();
    await on.page.mouse.click(195, 800);
    await until(() => entry('Routes').isVisible()).toBe(false);
    await fold.click();
    await entry('Routes').click();
    await title().getByText('Routes', { exact: true }).waitFor();
    expect(await nav().getByRole('button', { name: 'Dashboards Routes' }).getAttribute('aria-expanded')).toBe('false');
  });

  it('stands on the right in a language that runs from right to left', async () => {
    withSideBar();
    await show('guest-LAX-1', { language: 'ar' });
    await settled();
    const bar = await on.page.getByRole('navigation').boundingBox();
    const card = await on.page.locator('guestlist-card').first().boundingBox();
    expect(bar?.x).toBeGreaterThan((card?.x ?? Number.POSITIVE_INFINITY) + (card?.width ?? 0));
    await on.shoot('side-bar-arabic');
  });
});
