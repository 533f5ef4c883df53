/** The elements in pages of every language, theme and style: texts, colours, pixels, and what axe-core finds. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blocksOfKind } from '../documents/blocks.js';
import { hasChromium } from '../suites/chromium.js';
import { mount, setAttribute, startBench, until, violationsOf } from '../web/browser.js';
import { refusal } from '../web/fake-service.js';
import { dashboards } from '../web/fixtures.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

describe.skipIf(!hasChromium())('the elements in a host page', { timeout: 120_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;
  let opened: Awaited<ReturnType<(typeof bench)['open']>>;
  let page: Page;

  beforeAll(async () => {
    bench = await startBench();
  }, 60_000);
  afterAll(() => bench.close());
  beforeEach(async () => {
    bench.service.control.override = () => undefined;
    opened = await bench.open('/bare');
    page = opened.page;
    await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'light' });
  });
  afterEach(async () => {
    const violations = await violationsOf(page);
    await opened.close();
    expect(violations).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  const settled = () =>
    until(() => page.locator('guestlist-card section[aria-busy="false"]').count()).toBeGreaterThanOrEqual(4);
  const show = async (attributes: Readonly<Record<string, string>> = {}) => {
    await mount(page, 'guestlist-dashboard', { token: 'guest-LAX-1', 'dashboard-id': 'delays--LAX', ...attributes });
    await settled();
  };
  const tableButton = (label: string) => page.getByRole('button', { name: new RegExp(`^${label}`) }).first();
  /** What axe finds in the elements: rule and place. */
  const found = async (part = "document.querySelector('main')"): Promise<readonly string[]> => {
    await page.evaluate(axe);
    const results = (await page.evaluate(
      `axe.run(${part}, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })`,
    )) as { violations: { id: string; nodes: { target: unknown; failureSummary: string }[] }[] };
    return results.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${JSON.stringify(target)} ${failureSummary}`),
    );
  };
  const isDark = () =>
    page.evaluate(
      "getComputedStyle(document.querySelector('guestlist-dashboard')).getPropertyValue('--gl-surface') === '#151b26'",
    );

  it('shows texts in the language of the page or the attribute, and changes them without a new query', async () => {
    await page.evaluate("document.documentElement.lang = 'de-AT'");
    await show();
    await tableButton('Als Tabelle anzeigen').waitFor();
    bench.service.control.requests.length = 0;
    for (const [tag, label] of [
      ['pt-BR', 'Mostrar como tabela'],
      ['ja', '表で表示'],
      ['zh-Hans', '以表格显示'],
      ['pl', 'Pokaż jako tabelę'],
    ] as const) {
      await setAttribute(page, 'guestlist-dashboard', 'language', tag);
      await tableButton(label).waitFor();
    }
    await setAttribute(page, 'guestlist-dashboard', 'language', null);
    await page.evaluate("document.documentElement.lang = 'fr'");
    await tableButton('Afficher en tableau').waitFor();
    await page.evaluate("document.documentElement.lang = 'en'");
    await tableButton('Show as table').waitFor();
    expect(bench.service.control.requests).toEqual([]);
  });

  it('gives two elements on a page two languages', async () => {
    await show({ language: 'es' });
    await mount(page, 'guestlist-dashboard', { token: 'guest-ATL-2', 'dashboard-id': 'delays--ATL', language: 'nl' });
    await tableButton('Mostrar como tabla').waitFor();
    await tableButton('Als tabel tonen').waitFor();
  });

  it('runs from right to left in Arabic', async () => {
    await show({ language: 'ar' });
    await tableButton('عرض كجدول').waitFor();
    const card = page.locator('guestlist-card').first();
    const [title, button] = await Promise.all([
      card.getByRole('heading').boundingBox(),
      card.getByRole('button').first().boundingBox(),
    ]);
    expect(button?.x).toBeLessThan(title?.x ?? 0);
    expect(await page.locator('guestlist-dashboard .root').getAttribute('dir')).toBe('rtl');
  });

  it('follows the theme of the page, and a page without one in what it draws behind the element', async () => {
    await show();
    expect(await isDark()).toBe(false);
    await page.emulateMedia({ colorScheme: 'dark' });
    const style = (of: string, value: string) => `document.querySelector('${of}').style.cssText = '${value}'`;
    const meta = 'document.head.insertAdjacentHTML(\'beforeend\', \'<meta name="color-scheme" content="dark">\')';
    for (const [script, dark] of [
      [style('html', 'color-scheme: light dark'), true],
      // A page that says nothing is white.
      [style('html', ''), false],
      [style('html', 'color-scheme: light dark'), true],
      [style('body', 'background: #fff'), false],
      [style('body', 'background: #16181d'), true],
      [style('main', 'background: rgb(255 255 255 / 90%)'), false],
      [style('main', 'background: rgb(255 255 255 / 10%)'), true],
      [style('main', 'background: oklch(0.97 0.01 250)'), false],
      [style('main', 'background: color(display-p3 0.1 0.1 0.2)'), true],
      [style('main', 'background: lab(90 0 0)'), false],
      [style('main', ''), true],
      [style('body', 'background: #fff; transition: background-color 0.2s'), false],
      [style('body', 'background: #16181d; transition: background-color 0.2s'), true],
      [style('body', 'background: #fff'), false],
      [style('body', ''), true],
      [style('html', ''), false],
      [`${meta}; ${style('html', 'margin: 0')}`, true],
      [`document.querySelector('meta[name=color-scheme]').remove(); ${style('html', '')}`, false],
      ["document.documentElement.dataset.theme = 'dark'", true],
      ["document.body.className = 'light'", false],
      ["document.querySelector('main').style.colorScheme = 'dark'", true],
      ["document.querySelector('main').style.colorScheme = 'light'", false],
    ] as const) {
      await page.evaluate(script);
      await until(isDark).toBe(dark);
    }
    await setAttribute(page, 'guestlist-dashboard', 'theme', 'dark');
    await until(isDark).toBe(true);
  });

  const restyle = (css: string) =>
    page.evaluate(`{
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(${JSON.stringify(css)});
      document.adoptedStyleSheets = [sheet];
    }`);
  const place = 'main { display: block; position: absolute; top: 10px; left: 10px; width: 1200px; }';

  const property = (name: string) =>
    page.evaluate(
      `getComputedStyle(document.querySelector('guestlist-dashboard')).getPropertyValue(${JSON.stringify(name)})`,
    );

  it('applies the theme of the service, or its own, below what the page’s style sheet sets', async () => {
    const theme = {
      name: 'brand',
      scheme: 'dark',
      light: { '--gl-radius': '2px' },
      dark: { '--gl-accent': '#ffcc00' },
    };
    bench.service.control.override = ({ path, method }) =>
      method === 'GET' && path.endsWith('/dashboards/delays--LAX')
        ? { body: { data: { ...dashboards('LAX')['delays--LAX'], theme }, error: null } }
        : undefined;
    await show();
    expect([await property('--gl-accent'), await property('--gl-radius'), await isDark()]).toEqual([
      '#ffcc00',
      '2px',
      true,
    ]);
    await setAttribute(page, 'guestlist-dashboard', 'theme', 'light');
    await until(() => isDark()).toBe(false);
    const own = { color: { accent: { $value: '#aa0000' } }, brand: { $value: '#fff' } };
    await setAttribute(page, 'guestlist-dashboard', 'theme', JSON.stringify(own));
    await until(() => property('--gl-accent')).toBe('#aa0000');
    expect(await property('--gl-radius')).toBe('12px');
    await adopt('guestlist-dashboard { --gl-accent: #00aa00 }');
    await until(() => property('--gl-accent')).toBe('#00aa00');
  });

  const adopt = (css: string) =>
    page.evaluate(
      `(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(css)}); document.adoptedStyleSheets = [sheet]; })()`,
    );

  it('takes the style sheet of the documents', async () => {
    const [block] = blocksOfKind('style sheet');
    await show();
    await adopt(block?.text ?? '');
    expect(await property('--gl-accent')).toBe('#0a58ca');
    const title = page.locator('guestlist-card h3').first();
    expect(await title.innerText()).toBe((await title.textContent())?.toUpperCase());
    await adopt('');
  });

  it('lets a page style each part', async () => {
    await show();
    const rules = ['heading', 'card', 'title', 'icon-button', 'value', 'filter', 'button', 'control'];
    await adopt(
      rules.map((part) => `guestlist-dashboard::part(${part}) { outline: 3px solid rgb(1, 2, 3) }`).join(' '),
    );
    const outlineOf = (part: string) => `(() => {
      const search = (root) => root.querySelector('[part~=${part}]') ?? [...root.querySelectorAll('*')]
        .map((each) => each.shadowRoot && search(each.shadowRoot)).find(Boolean);
      return getComputedStyle(search(document)).outlineColor;
    })()`;
    for (const part of rules) await until(() => page.evaluate(outlineOf(part))).toBe('rgb(1, 2, 3)');
    await adopt('');
  });

  it('looks the same in a page that styles everything', async () => {
    // Date inputs are apart: the browser smooths their corners anew each time.
    const look = async () => {
      const parts = [page.locator('guestlist-dashboard h2'), ...(await page.locator('guestlist-card').all())];
      const pixels: string[] = [];
      for (const part of parts) pixels.push((await part.screenshot()).toString('base64'));
      const controls = await page.locator('guestlist-filter-bar').locator('button, select, input, legend').all();
      return [...pixels, ...(await Promise.all(controls.map((control) => control.boundingBox())))];
    };
    await restyle(place);
    await show();
    await page.getByRole('img').first().waitFor();
    const clean = await look();
    for (const css of [
      '* { letter-spacing: 4px; word-spacing: 9px; text-transform: uppercase; line-height: 3; font: 900 30px/2 serif; }',
      '* { all: unset; }',
      '* { all: initial; box-sizing: content-box; font-size: 40px; color: red; text-indent: 40px; white-space: pre; }',
      'html { direction: rtl; font-size: 6px; text-align: center; font-style: italic; font-variant: small-caps; }',
      'span, div, button, h2, h3, section, table, svg { display: none; background: red; margin: 30px; }',
    ]) {
      await restyle(`${css} html, body, head { display: block; } head { display: none; } ${place}`);
      await until(look).toEqual(clean);
    }
  });

  it('leaves the page as it was', async () => {
    const styleOf = () =>
      page.evaluate("['body', 'main'].map((name) => [...getComputedStyle(document.querySelector(name))].join())");
    const before = await styleOf();
    await show();
    expect(await styleOf()).toEqual(before);
    expect(await page.evaluate('document.head.querySelectorAll("style").length')).toBe(0);
  });

  it('gives axe-core nothing to find, in languages, themes and widths', async () => {
    await show();
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const theme of ['light', 'dark']) {
        await setAttribute(page, 'guestlist-dashboard', 'theme', theme);
        await page.evaluate(`document.body.style.background = '${theme === 'dark' ? '#151b26' : '#fff'}'`);
        for (const language of ['en', 'ar', 'ja']) {
          await setAttribute(page, 'guestlist-dashboard', 'language', language);
          await page.locator(`guestlist-dashboard .root[lang=${language}]`).waitFor();
          expect(await found()).toEqual([]);
        }
      }
    }
  });

  /** Texts in the shadow trees that are cut: their box hides what does not fit, or the page does. */
  const cutTexts = () =>
    page.evaluate(`(() => {
      const cut = [];
      const visit = (root) => {
        for (const each of root.querySelectorAll('*')) {
          if (each.shadowRoot) visit(each.shadowRoot);
          const holdsText = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
          const { left, right, width, height } = each.getBoundingClientRect();
          if (!holdsText || width < 2 || height < 2 || each.closest('select, .scroll, .tip, [hidden]')) continue;
          const hides = getComputedStyle(each).overflowX !== 'visible' && each.scrollWidth > each.clientWidth + 1;
          if (hides || left < 0 || right > innerWidth) cut.push(each.localName + '.' + each.className + ': ' + each.textContent.trim());
        }
      };
      visit(document);
      return cut;
    })()`);

  it('is accessible and cuts no text in any language at 320 px', async () => {
    await page.setViewportSize({ width: 320, height: 900 });
    await show();
    for (const language of ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'tr', 'ja', 'zh', 'ar']) {
      await setAttribute(page, 'guestlist-dashboard', 'language', language);
      await page.locator(`guestlist-dashboard .root[lang=${language}]`).waitFor();
      expect([language, await found()]).toEqual([language, []]);
      expect([language, await cutTexts()]).toEqual([language, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    }
  });

  it('gives axe-core nothing to find in lists, tables, dialogs, empty cards and failures', async () => {
    await show();
    await page.getByRole('button', { name: /^State/ }).click();
    await page.getByRole('listbox').getByRole('option').first().waitFor();
    // The open list covers cards, whose buttons are then too small for axe.
    expect(await found("{ fromShadowDom: ['guestlist-dashboard', 'guestlist-filter-bar'] }")).toEqual([]);
    await page.keyboard.press('Escape');
    await tableButton('Show as table').click();
    await page.getByRole('table').first().waitFor();
    expect(await found()).toEqual([]);
    bench.service.control.override = ({ path }) =>
      path.includes('/query') ? refusal('DATASOURCE_ERROR', 'The data can’t be read.', 503) : undefined;
    await setAttribute(page, 'guestlist-dashboard', 'dashboard-id', 'delays--ATL');
    await setAttribute(page, 'guestlist-dashboard', 'token', 'guest-ATL-2');
    await page.getByRole('alert').first().waitFor();
    expect(await found()).toEqual([]);
  });
});
