/** The built product sends the demo's dashboard as a PDF, by its own configuration. */
import { execFileSync } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ensureFlightsData } from '../../src/demo/flights-data.js';
import { loadConfig } from '../../src/platform/config.js';
import { type Mailbox, openMailbox } from '../deliver/mailbox.js';
import { type EmbedToken, get, post } from './guest.js';

type Main = Pick<typeof import('../../src/main.js'), 'start'>;

const configuration = fileURLToPath(new URL('../../config', import.meta.url));
const built = new URL('../../dist/main.js', import.meta.url).href;
const origin = 'https://numbers.example.com';
const chromium = '/usr/bin/chromium';

const replaceIn = async (file: string, from: string, to: string): Promise<void> => {
  const text = await readFile(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} must hold ${JSON.stringify(from)}`);
  await writeFile(file, text.replace(from, to));
};

describe.skipIf(!existsSync(chromium))('a report of the product', () => {
  let folder: string;
  let mailbox: Mailbox;
  let product: Awaited<ReturnType<Main['start']>>;
  let secret: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guestlist-reports-'));
    mailbox = await openMailbox();
    await cp(configuration, join(folder, 'config'), { recursive: true });
    const file = join(folder, 'config/guestlist.yaml');
    await replaceIn(file, 'allowedDomains: []', 'allowedDomains: [customer.example]');
    await replaceIn(file, 'isTlsRequired: true', 'isTlsRequired: false');
    await replaceIn(file, '  from: null', '  from: reports@numbers.example.com');
    const allows = 'isAllowEmailReports: true\n      isAllowUnderlyingData: true';
    await replaceIn(join(folder, 'config/policies/flights.yaml'), 'isAllowUnderlyingData: true', allows);
    const flights = process.env.GUESTLIST_TEST_FLIGHTS;
    if (flights === undefined) throw new Error('test/flights-cache.ts was not set up');
    await ensureFlightsData(flights);
    await mkdir(join(folder, 'data/demo'), { recursive: true });
    await copyFile(flights, join(folder, 'data/demo/flights.duckdb'));
    const env = {
      ...{ GUESTLIST_DATA_DIR: join(folder, 'data'), GUESTLIST_LOG_LEVEL: 'silent', PORT: '0' },
      ...{ GUESTLIST_SMTP_URL: mailbox.url, GUESTLIST_PUBLIC_ORIGIN: origin },
    };
    const { start }: Main = await import(built);
    product = await start(loadConfig(env, file, { runsGateway: true, runsService: true }), {
      ...{ gateway: true, service: true },
    });
    secret = JSON.parse(await readFile(join(folder, 'data/credentials.json'), 'utf8')).demoJwtSecret;
  }, 120_000);
  afterAll(async () => {
    await product.close();
    await mailbox.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('arrives as a PDF with text, and ends with one click', async () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: 'guestlist-demo', sub: 'max', org_id: 'LAX', roles: ['manager'], iat: now, exp: now + 600 };
    const session = jwt.sign({ ...claims, email: 'max@customer.example' }, createSecretKey(Buffer.from(secret)));
    const { body: login } = await post<EmbedToken>(`${product.url}/embed-token`, {}, session);
    const { id, name } = login.embeds[0] ?? { id: '', name: '' };
    const schedules = `${product.url}/api/v2/guest/dashboards/${id}/schedules`;
    const recurrence = { every: 'workday', at: '08:00', timezone: 'Europe/Berlin' };
    const plan = { name: 'Each morning', format: 'pdf', recurrence };
    const made = await post<{ data: { id: string } }>(schedules, plan, login.token);
    expect(made.status, made.text).toBe(200);
    const sent = await post(`${schedules}/send`, { scheduleId: made.body.data.id }, login.token);
    expect(sent.status, sent.text).toBe(200);
    await vi.waitFor(() => expect(mailbox.received).toHaveLength(1), { timeout: 60_000, interval: 200 });
    const [{ mail, raw, recipients }] = mailbox.received as [(typeof mailbox.received)[0]];
    expect([recipients, mail.subject]).toEqual([['max@customer.example'], `Each morning: ${name}`]);
    const [file] = mail.attachments;
    expect([file?.contentType, file?.content.subarray(0, 5).toString()]).toEqual(['application/pdf', '%PDF-']);
    const text = execFileSync('pdftotext', ['-', '-'], { input: file?.content, encoding: 'utf8' });
    expect(text).toContain(name);
    const unsubscribe = /List-Unsubscribe:\s+<https:\/\/numbers\.example\.com([^>]+)>/.exec(raw)?.[1] ?? '';
    expect((await get(`${product.url}${unsubscribe}`)).status).toBe(200);
    const form = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) };
    expect((await fetch(`${product.url}${unsubscribe}`, form)).status).toBe(200);
    const { body } = await get<{ data: { isPaused: boolean }[] }>(schedules, login.token);
    expect(body.data.map(({ isPaused }) => isPaused)).toEqual([true]);
    const history = `${schedules}/deliveries?scheduleId=${made.body.data.id}`;
    const { body: ended } = await get<{ data: { state: string }[] }>(history, login.token);
    expect(ended.data.map(({ state }) => state)).toEqual(['sent']);
  }, 120_000);
});
