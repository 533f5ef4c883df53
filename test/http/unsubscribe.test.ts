/** The links that end a schedule. */
import express from 'express';
import request from 'supertest';
import { beforeEach, expect, test } from 'vitest';
import { createUnsubscribeRouter } from '../../src/http/unsubscribe.js';

let paused: string[] = [];
beforeEach(() => {
  paused = [];
});
const app = express().use(
  createUnsubscribeRouter({
    read: async (text) => (text === 'mine.tag' ? 'mine' : text === 'gone.tag' ? 'gone' : undefined),
    pause: async (scheduleId) => scheduleId === 'mine' && paused.push(scheduleId) > 0,
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
