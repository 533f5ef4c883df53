/**
 * Two installations that differ in the rows of customers and in the claims and choices of their users alone. All that
 * hosts and operators wrote is equal, and both get the same requests in the same order.
 */
import { randomInt, randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { expect, vi } from 'vitest';
import { studioRoles } from '../../src/model/person.js';
import { createToken, hashToken, isSameHash } from '../../src/platform/keys/keys.js';
import type { Store } from '../../src/service/store/store.js';
import { changeTokenOf, createStudioSessions, studioCookie } from '../../src/studio/sessions.js';
import { openMailbox } from '../delivery/mailbox.js';
import { type House, noon, openHouse, setNow } from '../spec/house.js';
import { boardFilters, insertBoard } from '../spec/organization.js';
import { personWith } from '../studio/studio-server.js';
import { countRandom } from '../suites/counted-random.js';

/** A value in each of the two installations. */
export type Pair<T = string> = readonly [left: T, right: T];
export type Answered = { readonly status: number; readonly text: string };

/** The rows of the second installation: other values, other counts, nothing where there was something, texts that are numbers. */
const otherRows: readonly string[] = [
  'UPDATE sales SET amount = amount * 3 + 7, paid = NOT paid, sold = sold + INTERVAL 40 DAY',
  "UPDATE sales SET region = CASE region WHEN 'north' THEN '1' WHEN 'south' THEN '22' ELSE '333' END WHERE client = 'acme'",
  "DELETE FROM sales WHERE client = 'globex' AND region = 'east'",
  "INSERT INTO sales SELECT 'acme', TIMESTAMP '2024-04-02', n, '4', 1, true FROM range(10500) many(n)",
  "DELETE FROM notes WHERE owner = 'globex'",
  "UPDATE products SET label = 'Hidden ' || id",
  "UPDATE clients SET name = 'Other ' || id",
  'DELETE FROM orders',
];

const settings = {
  ...{ isAllowUnderlyingData: true, isAllowMetricCreation: true, isAllowDashboardCreation: true },
  ...{ isAllowMetricLayoutChange: true, isAllowManageMetrics: true, isAllowMetricUpdate: true },
  ...{ isAllowMetricDeletion: true, isAllowCreateDashboardView: true, isAllowEmailReports: true },
};
const permissions = [
  ...['isEnableUnderlyingData', 'isEnableDownloadMetrics', 'isEnableCreateDashboard', 'isEnableCustomizeLayout'],
  ...['isEnableMetricUpdation', 'isEnableManageMetrics', 'isEnableArchiveMetrics', 'isEnableCreateDashboardView'],
];

/** The policy of both installations, with a rule for those that the expression chooses. */
export const policyFor = (when: string): string =>
  JSON.stringify({
    ...{ version: 1, dataApp: 'shop', workspace: 'shop', datamart: 'shop' },
    session: {
      claims: { org: 'string', roles: 'list<string>', regions: 'list<string>', secret: 'string', email: 'string' },
      ...{ tenant: 'claims.org', roles: 'claims.roles' },
    },
    templates: {
      board: { name: 'Board', accessSettings: settings },
      defaults: { name: 'Defaults', accessSettings: settings },
      risky: { name: 'Risky', accessSettings: settings },
    },
    rules: [
      { name: 'all', when, grant: { templates: ['board', 'defaults', 'risky'], permissions, timezone: '"UTC"' } },
    ],
    restrictions: [
      {
        name: 'regional',
        when: '"regional" in user.roles',
        restrict: { dashboardFilters: { Region: 'user.claims.regions' } },
      },
      { name: 'short', when: '"short" in user.roles', restrict: { hideDashboardFilters: ['Paid'] } },
    ],
  });
const policy = policyFor('true');

/** The same for both, since what is sealed names its key. */
const sealingKey = Buffer.alloc(32, 7).toString('base64');
const secret = 'a secret of a host that only this test knows';

/** Users of the two installations: the same tenants and roles, other names and claims. */
export const users: readonly { readonly org: string; readonly roles: readonly string[] }[] = [
  { org: 'acme', roles: ['boss'] },
  { org: 'acme', roles: ['regional'] },
  { org: 'globex', roles: ['short'] },
];
/** Masks leave the first letter. */
const namesOfSides: Pair = ['ann', 'amy'];
const regionsOfSides: Pair<readonly string[]> = [['north'], ['1', '22']];
/** Values that users find in their rows, and choose. */
export const chosen: Pair<readonly unknown[]> = [
  ['north', 'south', 'Anvil', 50, 30, true, '2024-03-30'],
  ['1', '22', 'Hidden 1', 157, 97, false, '2024-05-10'],
];

export type Person = { readonly name: string; readonly headers: Pair<Headers>; readonly key: Pair };
type Headers = Readonly<Record<string, string>>;

export type BlindWorld = {
  readonly people: readonly Person[];
  /** Headers of each user's token. */
  readonly guests: () => Promise<readonly Pair<Headers>[]>;
  readonly send: (side: 0 | 1, request: Sent) => Promise<Answered>;
  /**
   * Compares two texts without what differs between any two installations: addresses, folders, ids, times and secrets.
   * Answers both as they were compared; null if they are alike.
   */
  readonly differs: (texts: Pair) => Pair | null;
  /** Gives the ids in two texts, which are answers to the same request, the same names by their places. */
  readonly name: (texts: Pair) => void;
  /** Number of messages that the users of each installation have got. */
  readonly mails: () => Pair<number>;
  /** Waits until every message that was due has been sent, or left out. */
  readonly settle: () => Promise<void>;
  /** Goes on to the moment at which alerts are checked. */
  readonly goToAlerts: () => void;
  readonly close: () => Promise<void>;
};
type Watched = {
  readonly name: string;
  readonly nextAt: string;
  readonly last: { readonly state: string; readonly reason: string | null } | null;
};
/** What failed and is tried again later waits for a clock that stands still. */
const isOpen = ({ last }: Watched): boolean =>
  last?.state === 'sending' || (last?.state === 'due' && last.reason === null);

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | null;
};

const statement = (sql: string, measure: string) => ({
  ...{ kind: 'sql' as const, chart: { type: 'table' as const }, sql, dimensions: [], measures: [{ name: measure }] },
  ...{ filters: [], rlsVariables: [], sort: [], limit: null },
});

/** A template whose metrics fail, or find nothing, depending on the rows. */
const insertRisky = async (store: Store): Promise<void> => {
  const workspace = await store.workspaces.findByName('shop');
  if (workspace === undefined) throw new Error('no workspace');
  await insertBoard(store, {
    ...{ id: 'risky', workspaceId: workspace.id, filters: boardFilters },
    metrics: {
      fails: statement('SELECT sum(CAST(region AS INTEGER)) AS n FROM sales', 'n'),
      empty: statement("SELECT amount AS n FROM sales WHERE region = '333'", 'n'),
      notes: statement('SELECT count(*) AS n FROM notes', 'n'),
    },
  });
};

/** The time of day at which alerts are checked. */
export const alertsAt = '12:01';

const clock = { now: () => noon };
const parts = {
  clock,
  ids: { uuid: randomUUID },
  tokens: { create: createToken, hash: hashToken, isSame: isSameHash },
  times: { idleMinutes: 1e6, sessionHours: 1e4 },
};

/** Users of both get alerts and reports by e-mail. */
const configuration = JSON.stringify({
  gateway: { policies: 'policy.yaml', publicOrigin: 'https://numbers.example.com' },
  studio: { servesAssistants: true },
  // A picture that takes long on one side and not on the other would make their messages differ.
  renders: { chromiumPath: '/nowhere/chromium' },
  mail: {
    from: 'reports@host.example',
    allowedDomains: ['customer.example'],
    isTlsRequired: false,
    spreadMinutes: 0,
    // The clock of these tests stands still, so a limit for each minute would hold for all of them.
    perTenantPerMinute: 100_000,
  },
});

const openSide = async (side: 0 | 1) => {
  const people: { name: string; headers: Headers; key: string }[] = [];
  const mailbox = await openMailbox();
  let watcher: Headers = {};
  const house = await openHouse(configuration, {
    rows: side === 0 ? [] : otherRows,
    policy,
    env: {
      ...{ GUESTLIST_HOST_JWT_SECRET: secret, GUESTLIST_ENCRYPTION_KEY: sealingKey },
      GUESTLIST_SMTP_URL: mailbox.url,
    },
    prepare: async (store) => {
      await insertRisky(store);
      const sessions = createStudioSessions({ ...parts, store: store.studioSessions });
      for (const role of studioRoles) {
        const person = personWith([role], false, `${role} without data`);
        const { cookie } = await sessions.logIn(person);
        const { key } = await sessions.createKey(person, 30);
        const headers = { cookie: `${studioCookie}=${cookie}`, 'x-guestlist-change': changeTokenOf(cookie) };
        people.push({ name: role, headers, key });
      }
      const { cookie } = await sessions.logIn(personWith(['support'], true, 'support with data'));
      watcher = { cookie: `${studioCookie}=${cookie}`, 'x-guestlist-change': changeTokenOf(cookie) };
    },
  });
  const close = async (): Promise<void> => {
    await house.close();
    await mailbox.close();
  };
  return { house, people, watcher, mails: () => mailbox.received.length, close };
};

const anId = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const neutralOf = ({ url, folder }: House, first: number) => {
  const today = new Date().toISOString().slice(0, 10);
  return (text: string, seen: Map<string, string>): string => {
    const known = (kind: string) => (id: string) => {
      const name = seen.get(id) ?? `${kind}${seen.size}`;
      seen.set(id, name);
      return name;
    };
    return (
      text
        .replaceAll(url(), 'URL')
        .replaceAll(folder, 'FOLDER')
        .replaceAll(/guestlist_test_\w+/g, 'DATABASE')
        .replaceAll(new RegExp(`${today}T[0-9:.]+Z`, 'g'), 'NOW')
        // Written once a minute, in each installation at another moment.
        .replaceAll(/"lastUsedAt":(?:null|"[^"]*")/g, '"lastUsedAt":0')
        .replaceAll(/"(?:ms|durationMs|timeTakenInMs|tookMs|waitedMs)":[0-9.]+/g, '"ms":0')
        .replaceAll(/("name":"guestlist_(?:\w+_seconds|unfinished_work)","help":"[^"]*","value":)[0-9.e-]+/g, '$1 0')
        .replaceAll(/\b1[7-9]\d{8}(?:\.\d+)?\b/g, 'NOW')
        .replaceAll(anId, known('id'))
        .replaceAll(first.toString(16).padStart(8, '0'), 'FIRST')
        .replaceAll(/[A-Za-z0-9_-]{40,}/g, known('secret'))
    );
  };
};

export const openBlindWorld = async (): Promise<BlindWorld> => {
  const { runCounted, restore } = countRandom();
  const run = randomInt(2 ** 31);
  const sides = [await runCounted(run, () => openSide(0)), await runCounted(run + 1, () => openSide(1))] as const;
  const neutral = [neutralOf(sides[0].house, run), neutralOf(sides[1].house, run + 1)] as const;
  let seen: Pair<Map<string, string>> = [new Map(), new Map()];
  const send: BlindWorld['send'] = async (side, { method, path, headers, body }) => {
    const answer = await fetch(`${sides[side].house.url()}${path}`, {
      ...{ method, headers: { 'x-request-id': 'blind', ...headers } },
      ...(body === null ? {} : { body }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const logIn = async (side: 0 | 1, at: number): Promise<Headers> => {
    const { org = '', roles = [] } = users[at] ?? {};
    const seconds = Math.floor(noon.getTime() / 1000);
    const claims = {
      ...{ iss: 'host', sub: `${namesOfSides[side]}.${at}@customer.example`, iat: seconds, exp: seconds + 3600 },
      ...{ org, roles, regions: regionsOfSides[side], secret: `${namesOfSides[side]}'s salary` },
      email: `${namesOfSides[side]}.${at}@customer.example`,
    };
    const session = jwt.sign(claims, secret);
    const { status, text } = await send(side, {
      ...{ method: 'POST', path: '/embed-token', body: '{}' },
      headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    });
    if (status !== 200) throw new Error(`no token: ${text}`);
    return { authorization: `Bearer ${JSON.parse(text).token}` };
  };
  let now = noon;
  /** Names of schedules that still owe a message, as a person who sees data is told. */
  const openMessages = async (side: 0 | 1): Promise<readonly string[]> => {
    const headers = { 'content-type': 'application/json', ...sides[side].watcher };
    const { text } = await send(side, { method: 'POST', path: '/studio/commands/schedules-list', headers, body: '{}' });
    const { data } = JSON.parse(text) as { readonly data: { readonly schedules: readonly Watched[] } };
    return data.schedules.filter((one) => isOpen(one) || new Date(one.nextAt) <= now).map(({ name }) => name);
  };
  return {
    people: sides[0].people.map(({ name, headers, key }, at) => {
      const other = sides[1].people[at];
      if (other === undefined) throw new Error(`no ${name}`);
      return { name, headers: [headers, other.headers], key: [key, other.key] };
    }),
    guests: async () => {
      const all: Pair<Headers>[] = [];
      // One after another, so that both installations count their tokens alike.
      for (const at of users.keys()) all.push([await logIn(0, at), await logIn(1, at)]);
      return all;
    },
    send,
    differs: ([left, right]) => {
      // Ids are numbered as they are first seen, in texts that are alike.
      const next = [new Map(seen[0]), new Map(seen[1])] as const;
      const texts = [neutral[0](left, next[0]), neutral[1](right, next[1])] as const;
      if (texts[0] !== texts[1]) return texts;
      seen = next;
      return null;
    },
    name: ([left, right]) => {
      const prefix = run.toString(16).padStart(8, '0');
      const ids = [left.match(anId) ?? [], right.match(anId) ?? []] as const;
      if (ids[0].length !== ids[1].length) return;
      for (const [at, id] of ids[0].entries()) {
        const other = ids[1][at] ?? '';
        // Lists in the order of ids would come in two orders.
        if (!id.startsWith(prefix)) throw new Error(`${id} was not counted: who made it keeps a randomUUID of its own`);
        if (seen[0].has(id) || seen[1].has(other)) continue;
        const name = `id${seen[0].size}`;
        seen[0].set(id, name);
        seen[1].set(other, name);
      }
    },
    mails: () => [sides[0].mails(), sides[1].mails()],
    settle: async () => {
      for (const side of [0, 1] as const)
        await vi.waitFor(async () => expect(await openMessages(side)).toEqual([]), { timeout: 45_000, interval: 200 });
    },
    goToAlerts: () => {
      now = new Date(noon.getTime() + 90_000);
      setNow(now);
    },
    close: async () => {
      for (const { close } of sides) await close();
      restore();
    },
  };
};
