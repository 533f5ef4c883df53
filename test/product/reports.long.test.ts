/** The built product sends the demo's dashboard as a PDF, by its own configuration. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { get, post } from './guest.js';
import { type Mailing, startMailing } from './mailing.js';

const chromium = '/usr/bin/chromium';

describe.skipIf(!existsSync(chromium))('a report of the product', () => {
  let mailing: Mailing;
  beforeAll(async () => {
    mailing = await startMailing();
  }, 120_000);
  afterAll(() => mailing.close());

  test('arrives as a PDF with text, and ends with one click', async () => {
    const { product, mailbox } = mailing;
    const login = await mailing.logIn('max');
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
    // The cover says as of when, in which time zone.
    expect(text).toMatch(/As of \w+ \d+, \d{4} at \d+:\d\d [AP]M \([\w/]+\)/);
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

  test('a report of the product of chosen metrics has a PDF of each, with the filters that were set', async () => {
    const { product, mailbox } = mailing;
    const before = mailbox.received.length;
    const { token, embeds } = await mailing.logIn('chooser');
    const board = `${product.url}/api/v2/guest/dashboards/${embeds[0]?.id}`;
    type Board = { data: { metrics: { metricId: string; name: string }[] } };
    const metrics = (await get<Board>(board, token)).body.data.metrics.slice(0, 2);
    const recurrence = { every: 'day', at: '08:00', timezone: 'UTC' };
    const content = {
      metricIds: metrics.map(({ metricId }) => metricId),
      dashboardFilter: { 'Destination state': ['CA'] },
    };
    const plan = { name: 'Two', format: 'pdf', recurrence, ...content };
    const made = await post<{ data: { id: string } }>(`${board}/schedules`, plan, token);
    expect(made.status, made.text).toBe(200);
    await post(`${board}/schedules/send`, { scheduleId: made.body.data.id }, token);
    await vi.waitFor(() => expect(mailbox.received).toHaveLength(before + 1), { timeout: 60_000, interval: 200 });
    const files = mailbox.received.at(-1)?.mail.attachments ?? [];
    expect(files.map(({ filename }) => filename)).toEqual(metrics.map(({ name }) => `${name}.pdf`));
    for (const { content: input } of files) {
      expect(execFileSync('pdftotext', ['-', '-'], { input, encoding: 'utf8' })).toContain('CA');
    }
  }, 120_000);
});
