// What `page.mjs` measures. Each scenario opens pages by `visit` and returns its figures.

/** Runs in the page. `isDrawn(count)`: that many cards are there, none of them waits, and each chart has its canvas. */
export const drawnScript = `{
  const embeds = () => document.querySelectorAll('guestlist-dashboard, guestlist-metric');
  const cards = () => [...embeds()].flatMap((embed) => [...(embed.shadowRoot?.querySelectorAll('guestlist-card') ?? [])]);
  const isReady = (card) => {
    const section = card.shadowRoot?.querySelector('section');
    if (section === null || section === undefined || section.getAttribute('aria-busy') !== 'false') return false;
    const chart = card.shadowRoot.querySelector('guestlist-chart');
    return chart === null || chart.shadowRoot?.querySelector('canvas') != null;
  };
  const isInView = (card) => card.getBoundingClientRect().top < innerHeight;
  window.isDrawn = (count) => {
    const found = cards();
    return found.length >= count && found.filter(isInView).every(isReady);
  };
  window.cardOf = (at) => cards()[at];
  const nodesIn = (root) => [...root.querySelectorAll('*')].reduce((sum, node) => sum + 1 + (node.shadowRoot ? nodesIn(node.shadowRoot) : 0), 0);
  window.countNodes = () => cards().reduce((sum, card) => sum + nodesIn(card.shadowRoot), 0);
  const hasChart = (card) => card.shadowRoot?.querySelector('guestlist-chart')?.shadowRoot?.querySelector('canvas') != null;
  window.whenFirstChart = () => new Promise((done) => {
    const look = () => cards().some((card) => isReady(card) && hasChart(card)) ? done(performance.now()) : requestAnimationFrame(look);
    look();
  });
  window.whenDrawn = (count) => new Promise((done) => {
    const look = () => window.isDrawn(count) ? done(performance.now()) : requestAnimationFrame(look);
    look();
  });
}`;

/** Runs in the page: adds up layout shifts and keeps the lengths of long tasks. */
export const recordShifts = `{
  window.shift = 0;
  window.tasks = [];
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.tasks.push(entry.duration); }).observe({ type: 'longtask', buffered: true });
}`;

/** Runs in the page: keeps each answer by method, URL and body, to be given again without a server. */
const recordAnswers = `{
  const real = window.fetch;
  window.recorded = [];
  window.fetch = async (input, init = {}) => {
    const answer = await real(input, init);
    const url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url, location.href).href;
    const key = (init.method ?? 'GET') + ' ' + url + ' ' + (init.body ?? '');
    const copy = answer.clone();
    window.recorded.push(copy.text().then((text) => [key, { text, status: copy.status, headers: [...copy.headers] }]));
    return answer;
  };
}`;

const answerInline = (answers) => `{
  const answers = ${JSON.stringify(answers)};
  const real = window.fetch;
  window.missed = [];
  window.fetch = async (input, init = {}) => {
    const url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url, location.href).href;
    const key = (init.method ?? 'GET') + ' ' + url + ' ' + (init.body ?? '');
    const found = answers[key];
    if (found === undefined) { window.missed.push(key); return real(input, init); }
    const { text, status, headers } = found;
    return new Response(text, { status, headers });
  };
}`;

const demoCards = 4;

/** The last visible chart of the demo, from the start of the navigation; the second visit of a context is warm. */
const demo = {
  name: 'demo',
  marks: { 'ratio to inline data': 'at most 1.5' },
  run: async ({ product }, visit) =>
    visit(async (page) => {
      const url = `${product.url}/demo?user=lax-analyst`;
      const open = async () => {
        await page.goto(url);
        return page.evaluate((count) => window.whenDrawn(count), demoCards);
      };
      await open();
      const warm = await open();
      await page.addInitScript(recordAnswers);
      await open();
      const answers = await page.evaluate(() => Promise.all(window.recorded));
      await page.addInitScript(answerInline(Object.fromEntries(answers)));
      const inline = await open();
      const missed = await page.evaluate(() => window.missed);
      if (missed.length > 0) throw new Error(`not answered inline: ${missed.join(', ')}`);
      return { 'warm, ms': warm, 'inline data, ms': inline, 'ratio to inline data': warm / inline };
    }),
};

/** A phone's way to the service: 4G, and a processor a quarter as fast. */
const slow = async (session) => {
  await session.send('Network.enable');
  const bytesPerSecond = (1.6 * 1024 * 1024) / 8;
  await session.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 150, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond / 2 },
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
};

/** Counts what goes over the line: what the browser's own cache answers is not counted. */
const countTransfers = (session) => {
  const counts = { requests: 0, bytes: 0 };
  const cached = new Set();
  session.on('Network.requestServedFromCache', ({ requestId }) => cached.add(requestId));
  session.on('Network.requestWillBeSent', ({ request }) => {
    if (request.url.startsWith('http')) counts.requests += 1;
  });
  session.on('Network.responseReceived', ({ response, requestId }) => {
    if (response.fromDiskCache || cached.has(requestId)) counts.requests -= 1;
  });
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    counts.bytes += encodedDataLength;
  });
  return counts;
};

/** The demo over 4G by a processor slowed four times: the first visit of a browser, and the next page of the same one. */
const slowDemo = {
  name: 'demo over 4G, processor slowed 4 times',
  rounds: 3,
  marks: {
    ...{ 'cold: first chart, ms': 'at most 2,500', 'warm: first chart, ms': 'at most 1,200' },
    ...{ 'cold: requests': 'at most 12', 'warm: requests': 'at most 6' },
    ...{ 'cold: blocked, ms': 'at most 200', 'warm: blocked, ms': 'at most 200' },
    ...{ 'cold: layout shift': 'at most 0.02', 'warm: layout shift': 'at most 0.02' },
  },
  run: ({ product }, visit) =>
    visit(async (page, session) => {
      await slow(session);
      const counts = countTransfers(session);
      const figures = {};
      for (const name of ['cold', 'warm']) {
        Object.assign(counts, { requests: 0, bytes: 0 });
        await page.goto(`${product.url}/demo?user=lax-analyst`, { waitUntil: 'commit' });
        const first = await page.evaluate(() => window.whenFirstChart());
        const last = await page.evaluate((count) => window.whenDrawn(count), demoCards);
        await page.waitForLoadState('networkidle');
        const { shift, blocked } = await page.evaluate(() => ({
          shift: window.shift,
          blocked: window.tasks.reduce((sum, ms) => sum + Math.max(0, ms - 50), 0),
        }));
        Object.assign(figures, {
          ...{ [`${name}: first chart, ms`]: first, [`${name}: last chart, ms`]: last },
          ...{ [`${name}: requests`]: counts.requests, [`${name}: KiB`]: counts.bytes / 1024 },
          ...{ [`${name}: blocked, ms`]: blocked, [`${name}: layout shift`]: shift },
        });
      }
      return figures;
    }),
};

const countRequests = async (session, service) => {
  const counts = { requests: 0, preflights: 0 };
  await session.send('Network.enable');
  session.on('Network.requestWillBeSent', ({ request, type }) => {
    if (!request.url.startsWith(`${service}/api/`)) return;
    if (type === 'Preflight') counts.preflights += 1;
    else counts.requests += 1;
  });
  return counts;
};

const cards = {
  name: '21 cards',
  marks: { 'requests and preflights': 'at most 5' },
  run: ({ host, product }, visit) =>
    visit(async (page, session) => {
      const counts = await countRequests(session, product.url);
      await page.goto(`${host.url}/charts`);
      const drawn = await page.evaluate(() => window.whenDrawn(21));
      return { 'cards in view drawn, ms': drawn, 'requests and preflights': counts.requests + counts.preflights };
    }),
};

/** The cards below the fold come when they are scrolled to. */
const scrolled = {
  name: '21 cards, scrolled to the end',
  run: ({ host, product }, visit) =>
    visit(async (page, session) => {
      const counts = await countRequests(session, product.url);
      await page.goto(`${host.url}/charts`);
      await page.evaluate(() => window.whenDrawn(21));
      for (let at = 0; at < 21; at += 1) {
        await page.evaluate((index) => window.cardOf(index).scrollIntoView(), at);
        await page.evaluate(() => window.whenDrawn(21));
      }
      return { 'requests and preflights': counts.requests + counts.preflights };
    }),
};

const rows = {
  name: '10,000 rows',
  marks: { nodes: 'at most 1,500', 'longest task, ms': 'at most 100', 'sort, ms': 'at most 300' },
  run: ({ host }, visit) =>
    visit(async (page) => {
      await page.goto(`${host.url}/rows`);
      const drawn = await page.evaluate(() => window.whenDrawn(1));
      const nodes = await page.evaluate(() => window.countNodes());
      const tasks = await page.evaluate(() => Math.max(0, ...window.tasks));
      const header = page.locator('guestlist-card thead button').nth(2);
      const first = page.locator('guestlist-card tbody tr td').first();
      const before = await first.textContent();
      await header.focus();
      const sorted = await page.evaluate(async (was) => {
        const card = window.cardOf(0).shadowRoot;
        const root = card.querySelector('guestlist-table')?.shadowRoot ?? card;
        const started = performance.now();
        root.activeElement.click();
        for (;;) {
          await new Promise(requestAnimationFrame);
          const now = root.querySelector('tbody tr td')?.textContent;
          const isBusy = card.querySelector('section').getAttribute('aria-busy') === 'true';
          if (now !== was && !isBusy) return performance.now() - started;
          if (performance.now() - started > 20_000) throw new Error('the table was not sorted');
        }
      }, before);
      return { 'drawn, ms': drawn, nodes, 'longest task, ms': tasks, 'sort, ms': sorted };
    }),
};

/** The pointer moves over the chart, 60 times a second. */
const points = {
  name: '50,000 points',
  run: ({ host }, visit) =>
    visit(async (page) => {
      await page.goto(`${host.url}/points`);
      const drawn = await page.evaluate(() => window.whenDrawn(1));
      const tasks = await page.evaluate(() => Math.max(0, ...window.tasks));
      const box = await page.locator('guestlist-chart').boundingBox();
      await page.evaluate(() => {
        window.frames16 = [];
        let last = performance.now();
        const next = (now) => {
          window.frames16.push(now - last);
          last = now;
          requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
      });
      for (let at = 0; at < 120; at += 1) {
        await page.mouse.move(box.x + 60 + ((box.width - 120) * at) / 120, box.y + box.height / 2);
      }
      const frames = await page.evaluate(() => window.frames16.toSorted((left, right) => left - right));
      return {
        'drawn, ms': drawn,
        'longest task, ms': tasks,
        'frame at the 95th percentile, ms': frames[Math.floor(frames.length * 0.95)],
      };
    }),
};

const phone = {
  name: 'phone',
  viewport: { width: 390, height: 844 },
  marks: { 'layout shift': 'at most 0.02' },
  run: ({ host }, visit) =>
    visit(async (page) => {
      await page.goto(`${host.url}/charts`);
      await page.evaluate(() => window.whenDrawn(21));
      return { 'layout shift': await page.evaluate(() => window.shift) };
    }),
};

const heapOf = async (session) => {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize / 1024 / 1024;
};

const heap = {
  name: '500 changes of a filter',
  rounds: 1,
  marks: { 'heap, last to 50th': 'about 1' },
  run: ({ host }, visit) =>
    visit(async (page, session) => {
      await page.goto(`${host.url}/charts`);
      await page.evaluate(() => window.whenDrawn(21));
      const change = (count) =>
        page.evaluate(async (times) => {
          const element = document.querySelector('guestlist-dashboard');
          for (let at = 0; at < times; at += 1) {
            element.filters = { State: [['CA', 'NV', 'TX', 'NY'][at % 4]] };
            await element.updateComplete;
            await window.whenDrawn(21);
          }
        }, count);
      await change(50);
      const early = await heapOf(session);
      await change(450);
      const late = await heapOf(session);
      return { 'heap after 50, MiB': early, 'heap after 500, MiB': late, 'heap, last to 50th': late / early };
    }),
};

export const scenarios = [demo, slowDemo, cards, scrolled, rows, points, phone, heap];
