// From an empty folder with only the tarball and a PostgreSQL database to the first chart on a page of another origin, as a person does it: the
// questions of `guestlist init` are answered at a terminal, and nothing else is typed. `npm run bench -- first-hour`; needs the registry,
// PostgreSQL (TEST_DATABASE_URL), Chromium and `script` of util-linux. The database is the suite's help desk, an ordinary
// schema of a SaaS product; BENCH_SCHEMA=northwind takes the suite's Northwind, and BENCH_NORTHWIND=FILE another one: the SQL
// of the public sample database, say.
import { spawn, spawnSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv, stripVTControlCharacters } from 'node:util';
import pg from 'pg';
import { chromium } from 'playwright-core';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const serverUrl = process.env.TEST_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/test';
const folder = mkdtempSync(join(tmpdir(), 'guestlist-first-hour-'));
const home = join(folder, 'empty');
const children = [];
const steps = [];

const timed = async (what, work) => {
  const started = performance.now();
  const result = await work();
  steps.push([what, (performance.now() - started) / 1000]);
  return result;
};

const run = (command, args, cwd) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
};

const onDatabase = async (connectionString, statements) => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
};

const isNorthwind = process.env.BENCH_SCHEMA === 'northwind' || process.env.BENCH_NORTHWIND !== undefined;
const ownFile = `test/fixtures/${isNorthwind ? 'northwind' : 'helpdesk'}-database.ts`;

/** The suite's databases are TypeScript. */
const ownStatements = async () => {
  const bundled = await rolldown({ input: join(root, ownFile), platform: 'node' });
  const { output } = await bundled.generate({ format: 'esm' });
  await bundled.close();
  const { northwindStatements, helpdeskStatements } = await import(
    `data:text/javascript,${encodeURIComponent(output[0].code)}`
  );
  return isNorthwind ? northwindStatements : helpdeskStatements;
};

/** A setting that servers of today no longer know is left out. */
const readStatements = (file) => [readFileSync(file, 'utf8').replace(/^SET default_with_oids.*$/m, '')];

/**
 * Runs a program at a terminal and types each answer when its question is there, in the order of the questions. Resolves
 * with what the program printed.
 */
const atTerminal = (command, cwd, answers) =>
  new Promise((resolve, reject) => {
    const child = spawn('script', ['-qec', `stty cols 140 rows 50; ${command}`, '/dev/null'], {
      cwd,
      env: { ...process.env, TERM: 'xterm' },
    });
    children.push(child);
    let told = '';
    let seen = 0;
    const waiting = [...answers];
    const stuck = setTimeout(() => {
      child.kill();
      reject(new Error(`nothing answered ${JSON.stringify(waiting[0]?.[0])}:\n${told}`));
    }, 120_000);
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      told += chunk;
      const [next] = waiting
        .map(([question, keys]) => ({ question, keys, at: told.indexOf(question, seen) }))
        .filter(({ at }) => at !== -1)
        .toSorted((a, b) => a.at - b.at);
      if (next === undefined) return;
      const { question, keys, at } = next;
      seen = at + question.length;
      waiting.splice(
        waiting.findIndex(([asked]) => asked === question),
        1,
      );
      // Each key by itself, as from a keyboard.
      keys.forEach((key, index) => {
        setTimeout(() => child.stdin.write(key), 200 + index * 60);
      });
    });
    child.once('close', (code) => {
      clearTimeout(stuck);
      if (code === 0) resolve(told);
      else reject(new Error(`ended with ${code}:\n${told}`));
    });
  });

const plain = (text) => stripVTControlCharacters(text).replaceAll('\r', '');

const serve = () =>
  new Promise((resolve, reject) => {
    const child = spawn('npx', ['guestlist', 'serve'], { cwd: home, detached: true });
    children.push(child);
    let told = '';
    const hear = (chunk) => {
      told += chunk;
      if (told.includes('Guestlist is up at')) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('close', (code) => reject(new Error(`serve ended with ${code}: ${told}`)));
  });

const base64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const sign = (secret, claims) => {
  const text = `${base64({ alg: 'HS256', typ: 'JWT' })}.${base64({ ...claims, exp: Math.floor(Date.now() / 1000) + 600 })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};

/** The host's own page: the printed lines word for word, and the session that its backend signed. */
const openHost = async () => {
  const host = { lines: '', session: '', server: createServer() };
  host.server.on('request', (_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<!doctype html><script>const yourSessionJwt = ${JSON.stringify(host.session)};</script>\n${host.lines}`,
    );
  });
  await new Promise((resolve) => host.server.listen(0, 'localhost', resolve));
  host.origin = `http://localhost:${host.server.address().port}`;
  return host;
};

/** The numbers of the single values, once every card has its answer. */
const look = async (browser, url) => {
  const page = await browser.newPage();
  const errors = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await page.goto(url);
  await page.locator('guestlist-chart canvas').first().waitFor({ timeout: 60_000 });
  await page.waitForFunction(
    () => document.querySelector('guestlist-dashboard').shadowRoot.querySelectorAll('guestlist-card').length >= 8,
  );
  await page.waitForTimeout(1_000);
  const first = await page
    .locator('guestlist-card')
    .first()
    .evaluate((card) => {
      const textOf = (node) =>
        [...(node.shadowRoot ?? node).childNodes]
          .map((child) => (child.nodeType === Node.TEXT_NODE ? child.data : textOf(child)))
          .join(' ');
      return textOf(card);
    });
  if (errors.length > 0) throw new Error(`the page has errors: ${errors.join('; ')}`);
  await page.close();
  return { value: Number(/\d[\d,]*/.exec(first)?.[0].replaceAll(',', '')) };
};

const firstCategory = async (connectionString) => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query('select category_name from categories order by category_id limit 1');
  await client.end();
  return rows[0].category_name;
};

const lookRestricted = async (secret, tenant) => {
  const category = await firstCategory(url.href);
  host.session = sign(secret, { sub: 'sam', tenant_id: tenant, roles: ['restricted'], category });
  return look(browser, host.origin);
};

/** Words a minute of somebody who reads technical text with care. */
const readingSpeed = 200;

const report = ({ told, tested, tenant, free, narrow, file }) => {
  const seconds = steps.reduce((sum, [, took]) => sum + took, 0);
  // What a person reads: each line once, without what the terminal draws again at each key of an answer.
  const read = new Set(
    told
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => !/^│ .*:\/\//.test(line)),
  );
  const words = [...read].join(' ').match(/[\p{L}\p{N}][\p{L}\p{N}_'.-]*/gu).length;
  const reading = (words / readingSpeed) * 60;
  console.log(`Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model}); data: ${file ?? ownFile}\n`);
  console.log('| step | seconds |\n|---|---|');
  for (const [what, took] of steps) console.log(`| ${what} | ${took.toFixed(1)} |`);
  console.log(`| all steps | ${seconds.toFixed(1)} |`);
  console.log(`| reading the ${words} words that init prints, ${readingSpeed} a minute | ${reading.toFixed(0)} |`);
  console.log(`| together | ${(seconds + reading).toFixed(0)} |`);
  console.log(
    `\nTenant ${tenant} sees ${free.value} in the first chart${narrow === null ? '' : `; a restricted user of it sees ${narrow.value}`}. ${tested.trim().split('\n').at(-1)}.`,
  );
};

const name = `guestlist_bench_${randomUUID().replaceAll('-', '')}`;
const url = new URL(serverUrl);
url.pathname = `/${name}`;
const host = await openHost();
let browser;
try {
  const file = process.env.BENCH_NORTHWIND;
  await onDatabase(serverUrl, [`create database ${name}`]);
  await onDatabase(url.href, file === undefined ? await ownStatements() : readStatements(file));
  run(process.execPath, ['packages/build.mjs', 'guestlist'], root);
  const packed = run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], root).trim().split('\n').at(-1);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });

  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"private":true}');
  await timed('npm install of the tarball', () =>
    run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', join(folder, packed)],
      home,
    ),
  );
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const down = '\u001b[B';
  const told = plain(
    await timed('guestlist init, its questions answered at once', () =>
      atTerminal(`npx guestlist init --port ${port}`, home, [
        ['Where is your database?', [...url.href, '\r']],
        ['Password of', ['\r']],
        ['Which table lists your customers', ['\r']],
        ['Which column of the other tables', ['\r']],
        // Of Northwind, lookups come first: customer_demographics, employees, products, shippers; then categories.
        ['Which of them may ALL tenants read', isNorthwind ? [down, down, ' ', down, down, ' ', '\r'] : ['\r']],
        ['with what other tenants wrote there', ['\r']],
        ['Every chart would leave out', ['\r']],
        ['amounts of money. Deselect', ['\r']],
        ['These tables will be in the model', ['\r']],
        ['At which origin do your pages run?', [...host.origin, '\r']],
        ['These charts will be made', ['\r']],
      ]),
    ),
  );
  const lines = told.slice(told.lastIndexOf('<script type="module" src=')).trim();
  host.lines = lines.slice(0, lines.lastIndexOf('</script>') + '</script>'.length);
  const tested = await timed('guestlist policy test', () =>
    run('npx', ['guestlist', 'policy', 'test', 'policy.test.yaml', '--cover'], home),
  );
  await timed('guestlist serve, until it is up', serve);
  const { GUESTLIST_HOST_JWT_SECRET: secret } = parseEnv(readFileSync(join(home, 'guestlist.env'), 'utf8'));
  const tenant = /shows the dashboard of (\S+) at/.exec(told)?.[1];
  host.session = sign(secret, { sub: 'ann', tenant_id: tenant });
  const free = await timed('the page in Chromium, until all cards are there', () => look(browser, host.origin));
  const narrow = isNorthwind ? await lookRestricted(secret, tenant) : null;
  if (narrow !== null && !(narrow.value > 0 && narrow.value < free.value)) {
    throw new Error(`the restriction shows ${narrow.value} of ${free.value} orders`);
  }
  report({ told, tested, tenant, free, narrow, file });
} finally {
  host.server.close();
  await browser?.close();
  for (const child of children) {
    if (child.exitCode !== null) continue;
    const ended = new Promise((resolve) => child.once('close', resolve));
    // npx starts Guestlist as a child of its own: the group ends.
    process.kill(child.spawnargs[0] === 'npx' ? -child.pid : child.pid, 'SIGTERM');
    await ended;
  }
  await onDatabase(serverUrl, [`drop database if exists ${name} with (force)`]);
  rmSync(folder, { recursive: true, force: true });
}
