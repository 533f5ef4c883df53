/**
 * The hundred questions, over the built product and the demo's data. A scripted model makes the expected definitions:
 * each must run, be answered as it was made, and have the rows that the guest's own token reads. `npm run evaluate:chat`
 * asks a real model instead, and counts the answers whose rows are the expected ones.
 */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Chatting, startChatting } from '../product/chatting.js';
import { post } from '../product/guest.js';
import { inOrder, type ModelServer, openModelServer } from '../suites/model-server.js';
import { questions } from './questions.js';

const {
  EVALUATE_URL: url,
  EVALUATE_MODEL: name,
  EVALUATE_KEY: key,
  EVALUATE_ROWS: rows,
  EVALUATE_REPORT: report,
} = process.env;
const setting = {
  ...{ url, model: name, allowRows: rows === '1', allowPrivateAddresses: true, allowHttp: true, timeoutSeconds: 300 },
  ...(key === undefined ? {} : { keyVariable: 'EVALUATE_KEY' }),
};

let scripted: ModelServer;
let chatting: Chatting;
let opened: { readonly token: string; readonly dashboardId: string };
beforeAll(async () => {
  scripted = await openModelServer();
  scripted.play((body) => {
    const asked = body.messages.findLast(({ role }) => role === 'user')?.content;
    const definition = questions.find(({ question }) => question === asked)?.definition;
    const make = { use: [{ name: 'make_metric', arguments: { name: 'Answer', definition } }] };
    return inOrder({ use: [{ name: 'list_fields', arguments: {} }] }, make, { say: 'Here it is.' })(body);
  });
  const own = { url: scripted.url, model: 'scripted', allowRows: true };
  chatting = await startChatting(url === undefined ? own : setting, key === undefined ? {} : { EVALUATE_KEY: key });
  const { token, embeds } = await chatting.logIn('eve');
  opened = { token, dashboardId: embeds[0]?.id ?? '' };
}, 120_000);
afterAll(async () => {
  await chatting?.close();
  await scripted?.close();
});

type Answered = {
  readonly data: { readonly text: string | null; readonly metric: { readonly definition: object } | null };
};
type Rows = { readonly data: readonly Readonly<Record<string, unknown>>[] };

const ask = (question: string) =>
  post<Answered>(`${chatting.url}/api/v2/guest/dashboards/${opened.dashboardId}/chat`, { question }, opened.token);
const rowsOf = async (definition: object): Promise<Rows['data']> => {
  const body = { dashboardId: opened.dashboardId, definition };
  const {
    status,
    body: answer,
    text,
  } = await post<Rows>(`${chatting.url}/api/v2/guest/metrics/preview`, body, opened.token);
  expect(status, text).toBe(200);
  return answer.data;
};

/** Rows without the names and the order of their columns, which a model may choose. */
const valuesOf = (all: Rows['data']): readonly string[] =>
  all
    .map((row) => {
      const values = Object.values(row).map((value) =>
        typeof value === 'number' ? Number(value.toPrecision(9)) : value,
      );
      return JSON.stringify(values.map((value) => JSON.stringify(value)).toSorted());
    })
    .toSorted();

test('there are a hundred questions, each another one', () => {
  expect(questions).toHaveLength(100);
  expect(new Set(questions.map(({ definition }) => JSON.stringify(definition))).size).toBe(100);
});

test.runIf(url === undefined)(
  'a scripted model answers each with the expected rows',
  { timeout: 600_000 },
  async () => {
    for (const { question, definition } of questions) {
      const { status, body, text } = await ask(question);
      expect([question, status], text).toEqual([question, 200]);
      expect(body.data).toMatchObject({ text: 'Here it is.', metric: { name: 'Answer', definition } });
      const all = await rowsOf(definition);
      // What the model saw is the beginning of what the guest reads.
      const seen = JSON.parse(scripted.sent.at(-1)?.body.messages.at(-1)?.content ?? '{}');
      expect([question, seen.rows]).toEqual([question, all.slice(0, seen.rows.length)]);
      expect([question, seen.totalRows]).toEqual([question, all.length]);
      scripted.sent.length = 0;
    }
  },
);

test.runIf(url !== undefined)('a real model is counted', { timeout: 36_000_000 }, async () => {
  const lines: string[] = [];
  let right = 0;
  for (const { question, definition } of questions) {
    const { status, body } = await ask(question);
    const made = status === 200 ? body.data.metric?.definition : undefined;
    const isRight =
      made !== undefined && valuesOf(await rowsOf(made)).join() === valuesOf(await rowsOf(definition)).join();
    right += isRight ? 1 : 0;
    const outcome = isRight
      ? 'right'
      : made !== undefined
        ? 'other rows'
        : status === 200
          ? 'no metric'
          : `status ${status}`;
    lines.push(`${outcome}\t${question}\t${made === undefined || isRight ? '' : JSON.stringify(made)}`);
    console.log(`${lines.length}/${questions.length} ${outcome}: ${question}`);
  }
  console.log(`${right} of ${questions.length} have the expected rows`);
  if (report !== undefined) writeFileSync(report, `${lines.join('\n')}\n`);
});
