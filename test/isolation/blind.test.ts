/**
 * Who may not see data learns nothing of it. Two installations differ in the rows of customers and in the claims and
 * choices of their users alone; every person without access to data gets the same answers from both, whatever they ask.
 * `npm run isolation -- --only blind` asks much more.
 */
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { studioRoles } from '../../src/model/person.js';
import { firstNames } from '../fuzz/world.js';
import {
  type Asked,
  anAsked,
  commandsWithoutInput,
  firstMessages,
  pathsWithoutQuestion,
  readMessages,
} from './blind-cases.js';
import { type Answered, type BlindWorld, chosen, openBlindWorld, type Pair, type Sent, users } from './blind-world.js';
import { countOfCases } from './count.js';

const count = countOfCases(300, 1500);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_128);
/** After so many requests both begin anew: what is deleted and added leaves little to ask for in the end. */
const perWorld = 1500;

const isJson = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Finding = {
  readonly isSafe: boolean;
  /** The tenant of the user; empty for people of Studio. */
  readonly tenant: string;
};

/** The field of answers whose values fit a field of requests. */
const keptAs = (field: string, tenant: string): string => {
  const [, template] = /^metricOf(\w+)$/.exec(field) ?? [];
  if (template !== undefined) return `metricId of ${template}--${tenant}`;
  if (field === 'view') return 'token';
  return field === 'queryId' || field === 'rolloutId' ? 'id' : field;
};

/** Names that exist from the start, and those learned from answers, in each of the two. */
const createNames = () => {
  const learned = new Map<string, Pair[]>();
  const own: Readonly<Record<string, readonly string[]>> = {
    ...firstNames,
    clientId: ['acme', 'acme', 'globex', 'umbrella'],
    dashboardId: ['board--acme', 'defaults--acme', 'board--globex', 'board', 'defaults'],
    templateDashboardId: ['board'],
    workspaceName: ['shop', 'shop', 'orders'],
    datamartName: ['shop'],
    sql: ['amount * 2', 'CAST(region AS INTEGER)', '1 / (amount - 50)', 'sum(amount)', 'length(region)'],
    definition: [],
  };
  const learn = (left: unknown, right: unknown, dashboard: string): void => {
    if (Array.isArray(left) && Array.isArray(right) && left.length === right.length)
      for (const [at, one] of left.entries()) learn(one, right[at], dashboard);
    if (!isJson(left) || !isJson(right)) return;
    for (const [field, value] of Object.entries(left)) {
      // A list by time has other entries in each of the two.
      if (field === 'slowest') continue;
      const other = right[field];
      if (typeof value === 'string' && typeof other === 'string' && /^(?:\w*[iI]d|token|digest)$/.test(field)) {
        const kept = field === 'metricId' ? `metricId of ${dashboard}` : field;
        const known = learned.get(kept) ?? [];
        if (!known.some(([one]) => one === value)) learned.set(kept, [...known.slice(-30), [value, other]]);
      } else learn(value, other, dashboard);
    }
  };
  const find = (field: string, pick: number, side: 0 | 1, { isSafe, tenant }: Finding): string => {
    if (tenant !== '' && /^(?:board|defaults|risky)$/.test(field)) return `${field}--${tenant}`;
    if (tenant !== '' && field === 'dashboardId') return `${['board', 'defaults', 'risky'][pick % 3]}--${tenant}`;
    const known = learned.get(keptAs(field, tenant)) ?? [];
    const first = own[field] ?? ['fuzz7'];
    if (known.length > 0 && pick % 2 === 0) return known[Math.floor(pick / 2) % known.length]?.[side] ?? 'none';
    return isSafe ? `fuzz${pick}` : (first[Math.floor(pick / 2) % first.length] ?? 'fuzz8');
  };
  return { learn, find };
};

type Names = ReturnType<typeof createNames>;

/** What would take away what the run itself asks for. */
const isTaking = (what: string): boolean =>
  /^(?:delete|update|move|rename)(?:DataApp|Datamart|Datasource|Workspace|Dashboard|Embed)/.test(what);

const people = studioRoles.length;

/** Which user asks, or is looked at. */
const userOf = ({ as, who }: Asked) => users[(as === 'view' ? Math.floor(who / people) : who) % users.length];
const tenantOf = (asked: Asked): string =>
  asked.as === 'guest' || asked.as === 'view' ? (userOf(asked)?.org ?? '') : '';

const filled = (names: Names, side: 0 | 1, asked: Asked) => {
  const { what, as } = asked;
  const text = (value: string): string => {
    const [, field = '', pick = ''] = /^§(\w+):(\d+)$/.exec(value) ?? [];
    if (field === '') return value;
    const own = chosen[side];
    // Users choose values of the rows that they see.
    if (as === 'guest' && /^(?:filterValue|value|values|min|max)$/.test(field))
      return String(own[Number(pick) % own.length]);
    return names.find(field, Number(pick), side, { isSafe: isTaking(what), tenant: tenantOf(asked) });
  };
  const fill = (value: unknown): unknown => {
    const [, pick] = typeof value === 'string' ? (/^§chosen:(\d+)$/.exec(value) ?? []) : [];
    if (pick !== undefined) return chosen[side][Number(pick)];
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(fill);
    if (!isJson(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), fill(inner)]));
  };
  return { fill, text };
};

const requestOf = (names: Names, asked: Asked, side: 0 | 1, headers: Sent['headers']): Sent => {
  const { fill, text } = filled(names, side, asked);
  const path = asked.path
    .replaceAll(/\{(§[^}]*)\}/g, (_, one: string) => `{${text(one)}}`)
    .replaceAll(/\{([^}]*)\}/g, (_, one: string) => encodeURIComponent(one) || 'x');
  const pairs = asked.query.map(([name, value]): [string, string] => [name, text(value)]);
  const isBodiless = asked.body === undefined;
  return {
    method: asked.method,
    path: pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`,
    headers: { ...headers, ...(isBodiless ? {} : { 'content-type': 'application/json' }) },
    body: isBodiless ? null : JSON.stringify(fill(asked.body)),
  };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const idOf = (answer: unknown): unknown => (isJson(answer) && isJson(answer.data) ? answer.data.id : undefined);

/** Ranks by time are no answer about rows: of the entries of such a list, only the fields stay. */
const withoutRanks = (text: string): string => {
  const walk = (value: unknown, field = ''): unknown => {
    if (/^(?:slowest|clients)$/.test(field) && Array.isArray(value))
      return [...new Set(value.map((entry) => Object.keys(Object(entry)).toSorted().join()))].toSorted();
    if (Array.isArray(value)) return value.map((entry) => walk(entry));
    // The results of tools are texts of JSON.
    if (typeof value === 'string' && value.startsWith('{')) return walk(parsed(value) ?? `text ${value}`);
    if (!isJson(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner, key)]));
  };
  const whole = parsed(text);
  return whole === null ? text : JSON.stringify(walk(whole));
};

/** Reads of what is written a moment after the answer: the audit, numbers of it, roll-outs that go on, and deliveries. */
const isLate = /^(?:tool )?(?:audit|erasure|rollout|schedule|search|template|read.system|list.slow|tenant)/;

const dashboardOf = (path: string): string => /dashboards\/([^/?]+)/.exec(path)?.[1] ?? '';

/** What is asked before anything else, so that views, boards and drafts exist. */
const first: readonly Asked[] = [
  ...['acme', 'globex'].map((clientId) => ({
    ...{ as: 'page' as const, who: 0, what: 'provision', method: 'POST', path: '/studio/commands/tenants-provision' },
    ...{ query: [], body: { clientIds: [clientId], isNew: true, templates: ['board', 'defaults', 'risky'] } },
  })),
];

const session = async (world: BlindWorld) => {
  const names = createNames();
  let guests = await world.guests();
  const views = new Map<number, Pair[]>();
  const tally = new Map<string, number>();

  const headersOf = ({ as, who }: Asked): Pair<Sent['headers']> => {
    const at = who % world.people.length;
    const person = world.people[at];
    if (person === undefined) throw new Error('nobody');
    if (as === 'guest') return guests[who % guests.length] ?? [{}, {}];
    if (as === 'page') return person.headers;
    if (as === 'assistant') {
      const accept = 'application/json, text/event-stream';
      return [
        { authorization: `Bearer ${person.key[0]}`, accept },
        { authorization: `Bearer ${person.key[1]}`, accept },
      ];
    }
    const [left, right] = views.get(at)?.[Math.floor(who / people) % users.length] ?? ['none', 'none'];
    return [{ authorization: `Bearer ${left}` }, { authorization: `Bearer ${right}` }];
  };
  const openView = async (at: number, org: string, roles: readonly string[]): Promise<void> => {
    const claims = { sub: 'ann.0@customer.example', roles, regions: ['north'], secret: 'x', org };
    const body = { clientId: org, claims };
    const asked: Asked = {
      as: 'page',
      who: at,
      what: 'view',
      method: 'POST',
      path: '/studio/commands/view-open',
      query: [],
      body,
    };
    const opened = await both(asked);
    learn(asked, opened);
    const [left, right] = opened.map(({ text }) => parsed(text)) as [unknown, unknown];
    const token = (answer: unknown) => (isJson(answer) && isJson(answer.data) ? String(answer.data.token) : 'none');
    views.set(at, [...(views.get(at) ?? []), [token(left), token(right)]]);
  };
  const both = async (asked: Asked): Promise<Pair<Answered>> => {
    const headers = headersOf(asked);
    const [left, right] = await Promise.all(
      ([0, 1] as const).map((side) => world.send(side, requestOf(names, asked, side, headers[side]))),
    );
    if (left === undefined || right === undefined) throw new Error('no answer');
    return [left, right];
  };
  /** Answers that are not alike, such as lists that lack a late entry, would make pairs of what does not belong together. */
  const learn = (asked: Asked, [left, right]: Pair<Answered>): void => {
    if (left.status !== right.status || left.status > 299) return;
    names.learn(parsed(left.text), parsed(right.text), dashboardOf(requestOf(names, asked, 0, {}).path));
  };
  const difference = ([left, right]: Pair<Answered>) =>
    left.status === right.status
      ? world.differs([withoutRanks(left.text), withoutRanks(right.text)])
      : [left.text, right.text];
  const ask = async (asked: Asked): Promise<void> => {
    const answers = await both(asked);
    const [left, right] = answers;
    const key = `${asked.as} ${asked.what} ${left.status}`;
    tally.set(key, (tally.get(key) ?? 0) + 1);
    if (asked.as === 'guest') {
      learn(asked, answers);
      if (/^make an? (?:alert|report)/.test(asked.what) && left.status === 200) {
        const [one, other] = [left, right].map(({ text }) => ({ scheduleId: idOf(parsed(text)) }));
        names.learn(one, other, '');
      }
      if (/^(?:make|save)/.test(asked.what)) {
        // One that is refused in one of the two would make the two differ from then on.
        expect({ asked, status: right.status }).toEqual({ asked, status: left.status });
        // What users make has the same name in both, wherever it is seen first.
        world.name([left.text, right.text]);
      }
      if (left.status === 401 || right.status === 401) guests = await world.guests();
      return;
    }
    // With a credential of the host, its holder can read rows. The token of a view is the person's own.
    if (!/view/.test(asked.what))
      expect([asked, left.text.match(/"(?:apiKey|key|token|secret)":"[\w.-]{24,}"/)?.[0]]).toEqual([asked, undefined]);
    const found = difference(answers);
    if (found === null) return learn(asked, answers);
    const person = world.people[asked.who % world.people.length]?.name;
    const [one = '', other = ''] = found;
    const at = [...one].findIndex((letter, index) => letter !== other[index]);
    const told = {
      asked: `${asked.as} ${asked.what} as ${person}`,
      request: requestOf(names, asked, 0, {}),
      statuses: [left.status, right.status],
      left: one.slice(Math.max(at - 300, 0), at + 300),
      right: other.slice(Math.max(at - 300, 0), at + 300),
    };
    // What is written a moment later may be in one answer and not yet in the other.
    if (!isLate.test(asked.what)) return expect(told).toBeNull();
    await vi.waitFor(async () => expect(difference(await both(asked)), JSON.stringify(told)).toBeNull(), {
      timeout: 45_000,
    });
  };
  for (const asked of [...first, ...firstMessages(users.length, count < 1000 ? 3 : 8)]) await ask(asked);
  await world.settle();
  // Without a message on each side, nothing about messages would be compared.
  expect(Math.min(...world.mails())).toBeGreaterThan(0);
  world.goToAlerts();
  await world.settle();
  for (const asked of readMessages(people)) await ask(asked);
  for (const at of world.people.keys()) for (const { org, roles } of users) await openView(at, org, roles);
  return { ask, tally };
};

let world: BlindWorld;
beforeAll(async () => {
  world = await openBlindWorld();
}, 120_000);
afterAll(() => world.close());

test('every command and every path of Studio is asked', async () => {
  expect(commandsWithoutInput).toEqual([]);
  const router = await readFile(new URL('../../src/studio/router.ts', import.meta.url), 'utf8');
  expect(router).toContain("router.post('/studio/commands/:command'");
  expect(pathsWithoutQuestion(router)).toEqual([]);
});

test(
  `two installations that differ in rows and claims answer ${count} requests of people without access to data alike`,
  async () => {
    const total = new Map<string, number>();
    for (let done = 0; done < count; done += perWorld) {
      if (done > 0) {
        await world.close();
        world = await openBlindWorld();
      }
      const { ask, tally } = await session(world);
      for (const asked of fc.sample(anAsked, { seed: seed + done, numRuns: Math.min(perWorld, count - done) }))
        await ask(asked);
      for (const [key, many] of tally) total.set(key, (total.get(key) ?? 0) + many);
    }
    if (process.env.BLIND_TALLY !== undefined)
      console.log(
        [...total]
          .toSorted()
          .map((one) => one.join(': '))
          .join('\n'),
      );
    const compared = [...total].filter(([key]) => !key.startsWith('guest'));
    const good = compared.filter(([key]) => key.endsWith(' 200')).reduce((sum, [, many]) => sum + many, 0);
    // What no user ever did changes nothing that could be seen.
    const deeds = [
      'make a metric',
      'save a view',
      'make a board',
      'make an alert',
      'make a report',
      'send at once',
      'open',
      ...(count < 1000 ? [] : ['query', 'options']),
    ];
    expect(deeds.filter((what) => !total.has(`guest ${what} 200`))).toEqual([]);
    // A run in which most requests are refused would prove little.
    expect(good / compared.reduce((sum, [, many]) => sum + many, 0)).toBeGreaterThan(0.2);
  },
  120_000 + count * 60,
);
