/** The links of messages: they end reports, or confirm an address. */
import express from 'express';
import request from 'supertest';
import { beforeEach, expect, test } from 'vitest';
import { createMailLinksRouter } from '../../../src/platform/http/pages/mail-links.js';

let paused: string[] = [];
let confirmed: string[] = [];
beforeEach(() => {
  paused = [];
  confirmed = [];
});
const app = express().use(
  createMailLinksRouter({
    read: async (text) =>
      text === 'mine.tag' || text === 'gone.tag' ? { scheduleId: text.slice(0, 4), recipient: null } : undefined,
    stop: async ({ scheduleId }) => scheduleId === 'mine' && paused.push(scheduleId) > 0,
    readConfirm: async (text) => (text.startsWith('address.') ? 'address' : undefined),
    confirm: async (id) => confirmed.push(id) === 1,
  }),
);

test('a mail program ends the schedule with one POST, as often as it likes', async () => {
  const post = () => request(app).post('/reports/unsubscribe/mine.tag').type('form').send('List-Unsubscribe=One-Click');
  expect([(await post()).status, (await post()).status]).toEqual([200, 200]);
  expect(paused).toEqual(['mine', 'mine']);
});

test('opening the link changes nothing: it shows a button, without a script', async () => {
  const { status, text, headers } = await request(app).get('/reports/unsubscribe/mine.tag');
  expect([status, paused]).toEqual([200, []]);
  expect(text).toContain('<form method="post">');
  expect(headers['content-security-policy']).toMatch(/default-src 'none'.*form-action 'self'/);
  expect(headers['referrer-policy']).toBe('no-referrer');
  expect(headers['cache-control']).toBe('no-store');
});

test.each(['mine', 'mine.wrong', 'gone.tag', '%3Cb%3E.tag'])(
  '%s ends nothing, and says nothing about it',
  async (text) => {
    const answer = await request(app).post(`/reports/unsubscribe/${text}`);
    expect([answer.status, paused]).toEqual([404, []]);
    expect(answer.text).not.toContain('<b>');
  },
);

test('an address is confirmed once, by a button, and not by opening the link', async () => {
  const path = '/reports/confirm/address.tag';
  const { status, text } = await request(app).get(path);
  expect([status, confirmed]).toEqual([200, []]);
  expect(text).toContain('<form method="post">');
  expect([(await request(app).post(path)).status, (await request(app).post(path)).status]).toEqual([200, 404]);
  expect((await request(app).post('/reports/confirm/mine.tag')).status).toBe(404);
  expect((await request(app).post('/reports/unsubscribe/address.tag')).status).toBe(404);
});
