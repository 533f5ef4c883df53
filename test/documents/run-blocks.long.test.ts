/** The shell blocks of the documents are run, and their pages opened in Chromium, against the built product. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { analyst, ask, login, post, session } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { type Block, blocksOfKind, nameOf, root } from './blocks.js';

const hostSecret = randomBytes(48).toString('base64');
const pageHost = createServer();
let pageOrigin: string;
let product: Product;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-shell-'));
  await mkdir(join(folder, 'bin'));
  // What an installation of the package does.
  await symlink(join(root, 'bin/guestlist.mjs'), join(folder, 'bin/guestlist'));
  pageHost.listen(0, '127.0.0.1');
  await once(pageHost, 'listening');
  pageOrigin = `http://localhost:${(pageHost.address() as AddressInfo).port}`;
  product = await startProduct({
    env: { GUESTLIST_HOST_JWT_SECRET: hostSecret, GUESTLIST_ALLOWED_ORIGINS: pageOrigin },
  });
  // The demo's first answer says that its flights are there.
  const { token, embeds } = await login(product, analyst('LAX'));
  await ask(product, token, embeds[0]?.id ?? '', 'Flights a day');
});
afterAll(async () => {
  pageHost.close();
  await product.stop();
  await product.remove();
  await rm(folder, { recursive: true, force: true });
});

type Ran = { readonly code: number | null; readonly output: string };

/** Runs a block by bash as it is printed, but for the product's address. `until` ends a program that would go on. */
const runBlock = async (text: string, env: NodeJS.ProcessEnv, cwd = root, until?: RegExp): Promise<Ran> => {
  const script = text.replaceAll('http://127.0.0.1:3000', product.url);
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${folder}/bin:${process.env.PATH}`,
      HOME: process.env.HOME,
      GUESTLIST_URL: product.url,
      GUESTLIST_DATA_DIR: product.dataDir,
      ...env,
    },
  });
  let output = '';
  const hear = (chunk: Buffer): void => {
    output += String(chunk);
    if (until?.test(output) && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const [code] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : null, output };
};

const ended = ({ code, output }: Ran): void => expect([code, output]).toEqual([0, output]);
const credentials = async () => JSON.parse(await readFile(join(product.dataDir, 'credentials.json'), 'utf8'));

type Check = { readonly is: RegExp; readonly run: (block: Block) => Promise<void> };

const starts: Check = {
  is: /npm start\n$/,
  run: async ({ text }) => {
    // `npm ci` put the packages of this very run here; it is not repeated below the tests that use them.
    const data = await mkdtemp(join(folder, 'data-'));
    const env = { PORT: '0', GUESTLIST_DATA_DIR: data };
    const { output } = await runBlock(text.replace('npm ci && ', ''), env, root, /up at http/);
    expect(output).toMatch(/Guestlist is up at http:\/\/127\.0\.0\.1:\d+/);
  },
};

const checks: readonly Check[] = [
  starts,
  {
    is: /^bash docs\/tutorials\/own-data\.sh\n$/,
    run: async ({ text }) => {
      // Each run makes the same objects, so it needs a product of its own.
      const own = await startProduct();
      try {
        const { token, embeds } = await login(own, analyst('LAX'));
        await ask(own, token, embeds[0]?.id ?? '', 'Flights a day');
        const ran = await runBlock(text, { GUESTLIST_URL: own.url, GUESTLIST_DATA_DIR: own.dataDir });
        ended(ran);
        expect(ran.output).toMatch(/rows of LAX, and of nobody else\n\{"data":\[\{"State":"/);
      } finally {
        await own.stop();
        await own.remove();
      }
    },
  },
  {
    is: /^guestlist tenancy flights\n$/,
    run: async ({ text, page }) => {
      const { serviceToken } = await credentials();
      const ran = await runBlock(`${text.trim()} --url ${product.url}`, { GUESTLIST_SERVICE_TOKEN: serviceToken });
      ended(ran);
      const [shown] = blocksOfKind('picture').filter((block) => block.page === page);
      expect(ran.output).toBe(shown?.text);
    },
  },
  {
    is: /^guestlist pull\n/,
    run: async ({ text }) => {
      const { serviceToken } = await credentials();
      const home = await mkdtemp(join(folder, 'files-'));
      const script = text.replaceAll(/^(guestlist \w+)/gm, `$1 --url ${product.url}`);
      const ran = await runBlock(script, { GUESTLIST_SERVICE_TOKEN: serviceToken }, home);
      ended(ran);
      expect(ran.output).toMatch(
        /written +datamarts\/flights\.yaml[\s\S]*\nNothing to change\.\nNothing to change\.\n$/,
      );
    },
  },
  {
    is: /^guestlist studio-link\n$/,
    run: async ({ text }) => {
      const { gatewayToken } = await credentials();
      const ran = await runBlock(`${text.trim()} --url ${product.url}`, { GUESTLIST_GATEWAY_TOKEN: gatewayToken });
      ended(ran);
      expect(ran.output).toMatch(/^http:\S+\/studio#code=\S+\n$/);
    },
  },
  {
    is: /^guestlist operator-key create /,
    run: async ({ text }) => {
      const { gatewayToken } = await credentials();
      const ran = await runBlock(`${text.trim()} --url ${product.url}`, { GUESTLIST_GATEWAY_TOKEN: gatewayToken });
      ended(ran);
      expect(ran.output).toMatch(/^\S{36,}\n/);
    },
  },
  {
    is: /^guestlist conformance /,
    run: async ({ text }) => {
      const { serviceToken, demoApiKey } = await credentials();
      const ran = await runBlock(`${text.trim()} --only 4`, { SERVICE_TOKEN: serviceToken, API_KEY: demoApiKey });
      ended(ran);
      expect(ran.output).toMatch(/hold/);
    },
  },
  {
    is: /^guestlist policy explain --request ID\n$/,
    run: async ({ text }) => {
      const { gatewayToken } = await credentials();
      const minted = await post(`${product.url}/embed-token`, {}, session(product, analyst('SEA')));
      const id = String(minted.headers.get('x-request-id'));
      const ran = await runBlock(`${text.trim().replace('ID', id)} --url ${product.url}`, {
        GUESTLIST_GATEWAY_TOKEN: gatewayToken,
      });
      ended(ran);
      expect(ran.output).toContain('analysts see delays');
    },
  },
  {
    is: /^echo "whsec_/,
    run: async ({ text }) => {
      const ran = await runBlock(text, {});
      ended(ran);
      const own = await startProduct({ env: { GUESTLIST_HOOK_SECRETS: ran.output.trim() } });
      await own.stop();
      await own.remove();
    },
  },
  {
    is: /^umask 077\ncat > \.env /,
    run: async ({ text, page }) => {
      const home = await mkdtemp(join(folder, 'env-'));
      ended(await runBlock(text, {}, home));
      const env = Object.fromEntries(
        (await readFile(join(home, '.env'), 'utf8')).split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)),
      );
      // The service alone, as the page starts it, with these secrets; then the calls that make the key.
      const own = await startProduct({
        env: {
          GUESTLIST_SERVICE_TOKEN: env.GUESTLIST_SERVICE_TOKEN,
          GUESTLIST_ENCRYPTION_KEY: env.GUESTLIST_ENCRYPTION_KEY,
          NODE_ENV: 'production',
        },
        args: ['--only', 'service'],
      });
      try {
        const calls = blocksOfKind('shell').find((block) => block.page === page && block.text.startsWith('. ./.env'));
        const made = await runBlock((calls?.text ?? '').replaceAll('http://127.0.0.1:3000', own.url), {}, home);
        ended(made);
        expect(made.output).toMatch(/"key":"[^"]+"/);
      } finally {
        await own.stop();
        await own.remove();
      }
    },
  },
  // Run by the block above it, which writes the file that it reads.
  { is: /^\. \.\/\.env\n/, run: async ({ text }) => expect(text).toContain('call /data-app/api-tokens') },
];

/** The runs of blocks: one that two pages show is run once. */
const runs = new Map<string, Promise<void>>();

describe('shell blocks', () => {
  // A start under load takes its time.
  test.each(blocksOfKind('shell').map((block) => ({ name: nameOf(block), block })))(
    'the shell blocks of the documents run: $name',
    { timeout: 240_000 },
    async ({ block }) => {
      const check = checks.find(({ is }) => is.test(block.text));
      if (check === undefined)
        throw new Error(`no check is known for this block: add one, or say why it is not run\n${block.text}`);
      const run = runs.get(block.text) ?? check.run(block);
      runs.set(block.text, run);
      await run;
    },
  );
});

describe.runIf(hasChromium())('pages', () => {
  test.each(blocksOfKind('page').map((block) => ({ name: nameOf(block), block })))(
    '$name draws charts on another origin',
    async ({ block }) => {
      const browser = await launchChromium();
      try {
        const yourSessionJwt = session(
          { credentials: { ...product.credentials, demoJwtSecret: hostSecret } },
          { iss: undefined, ...analyst('LAX') },
        );
        const html = block.text.replaceAll('http://127.0.0.1:3000', product.url);
        pageHost.removeAllListeners('request').on('request', (_, response) => {
          response.setHeader('Content-Type', 'text/html');
          response.end(`<!doctype html><script>const yourSessionJwt = '${yourSessionJwt}';</script>\n${html}`);
        });
        const page = await browser.newPage();
        const faults: string[] = [];
        page.on('pageerror', (error) => faults.push(String(error)));
        await page.goto(pageOrigin);
        await page.locator('guestlist-chart canvas').first().waitFor({ timeout: 30_000 });
        expect(faults).toEqual([]);
      } finally {
        await browser.close();
      }
    },
  );
});
