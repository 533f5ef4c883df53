/** Large bodies at the whole product: they are taken or refused with a message, and others are answered meanwhile. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Operation } from '../../src/platform/http/interface/operation.js';
import { createToken, hashToken, isSameHash } from '../../src/platform/keys/keys.js';
import { operations } from '../../src/service/operations.js';
import { changeTokenOf, createStudioSessions, studioCookie } from '../../src/studio/sessions.js';
import { type House, mint, noon, openHouse } from '../spec/house.js';
import { personWith } from './studio-server.js';

const clock = { now: () => noon };
const policy = JSON.stringify({
  ...{ version: 1, dataApp: 'shop', workspace: 'shop', datamart: 'shop' },
  session: { claims: { org: 'string' }, tenant: 'claims.org', roles: '[]' },
  ...{ templates: {}, rules: [], restrictions: [] },
});

let house: House;
let headers: Readonly<Record<string, string>>;
beforeAll(async () => {
  house = await openHouse('{ gateway: { policies: policy.yaml }, studio: { uploadMegabytes: 100 } }', {
    policy,
    env: { GUESTLIST_HOST_JWT_SECRET: 'a secret of a host that only this test knows' },
    prepare: async (store) => {
      const tokens = { create: createToken, hash: hashToken, isSame: isSameHash };
      const times = { idleMinutes: 60, sessionHours: 12 };
      const parts = { store: store.studioSessions, clock, ids: { uuid: randomUUID }, tokens, times };
      const { cookie } = await createStudioSessions(parts).logIn(personWith(['author']));
      headers = { cookie: `${studioCookie}=${cookie}`, 'x-guestlist-change': changeTokenOf(cookie) };
    },
  });
}, 120_000);
afterAll(() => house.close());

const megabyte = 1024 * 1024;

/** Asks one request after another until the work ends. Returns the statuses of the answers. */
const besides = async (work: Promise<unknown>): Promise<readonly number[]> => {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  const statuses: number[] = [];
  while (!isOver) statuses.push((await fetch(`${house.url()}/healthz`)).status);
  await ended;
  return statuses;
};

test('a CSV of 50 MB becomes a source with every row, and others are answered meanwhile', async () => {
  const line = `${'x'.repeat(90)},12345\n`;
  const rows = Math.ceil((50 * megabyte) / line.length);
  const body = `name,amount\n${line.repeat(rows)}`;
  const upload = fetch(`${house.url()}/studio/uploads?source=large&file=large.csv`, {
    ...{ method: 'POST', headers: { ...headers, 'content-type': 'application/octet-stream' }, body },
  });
  const statuses = await besides(upload);
  const answer = await upload;
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  expect([statuses.length > 0, new Set(statuses)]).toEqual([true, new Set([200])]);
  const listed = await fetch(`${house.url()}/studio/api/v2/datasource/tables?name=large`, { headers });
  expect(await listed.text()).toContain(String(rows));
});

test('a file above the limit is refused, with the limit', async () => {
  const answer = await fetch(`${house.url()}/studio/uploads?source=larger&file=larger.csv`, {
    ...{ method: 'POST', headers: { ...headers, 'content-type': 'application/octet-stream' } },
    body: `name\n${'x'.repeat(101 * megabyte)}`,
  }).catch((error: unknown) => error);
  // The product may hang up before the whole body was sent.
  if (answer instanceof Response)
    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('104857600')]);
});

const withBodies: readonly [string, Operation][] = Object.entries<Operation>(operations).filter(([, { bindings }]) =>
  bindings.some(({ from }) => from === 'body'),
);

test.each(withBodies)('%s refuses a body that is nested a thousand deep', async (_, { bindings, credentials }) => {
  const binding = bindings.find(({ from }) => from === 'body');
  const deep = `${'{"all":['.repeat(500)}1${']}'.repeat(500)}`;
  const bearer = {
    apiKey: house.apiKey,
    serviceToken: house.serviceToken,
    guestToken: credentials[0] === 'guestToken' ? await mint(house, 'acme') : '',
  }[credentials[0] ?? 'apiKey'];
  const answer = await fetch(`${house.url()}${binding?.path.replaceAll(/\{\w+\}/g, 'x')}`, {
    method: binding?.method ?? 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: `{"dashboardFilter":${deep},"definition":{"where":${deep}},"where":${deep}}`,
  });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('INVALID_REQUEST_BODY')]);
});
