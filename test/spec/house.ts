/** The built product in this process, reached over HTTP, with its own organization and a clock that tests move. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { z } from 'zod';
import type { Code } from '../../src/model/refusal.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { type Database, openDatabase } from '../../src/platform/databases/database.js';
import type { Binding, Credential, Operation } from '../../src/platform/http/interface/operation.js';
import { operations } from '../../src/service/operations.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { type Answer, request } from '../product/guest.js';
import { migrateAll, openTestDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { testSealer } from '../suites/sealer.js';
import { insertOrganization, type Keys } from './organization.js';

const shipped = fileURLToPath(new URL('../../config/guestlist.yaml', import.meta.url));
const built = new URL('../../dist/main.js', import.meta.url).href;

type Main = Pick<typeof import('../../src/main.js'), 'start'>;

/** The time at which every test starts, unless it sets another one. */
export const noon = new Date('2024-04-20T12:00:00.000Z');

let currentTime = noon;
/** The clock of every house. It stands still between calls of `setNow`. */
const clock = { now: () => new Date(currentTime) };

/** Sets the product's current time. */
export const setNow = (now: Date): void => {
  currentTime = now;
};

export type House = Keys & {
  readonly url: () => string;
  readonly serviceToken: string;
  /** The folder of its DuckDB files. The organization's file is `warehouse.duckdb`. */
  readonly sources: string;
  readonly folder: string;
  /** Stops the product, runs `work` on its store, and starts it again. */
  readonly stored: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
};

/**
 * The metadata of a house, which its product opens by itself: on PostgreSQL if a server is available, since that is much
 * faster, otherwise in the product's folder. test/product tests the complete product on PGlite, and the suite of the
 * store runs on both.
 */
const openMetadata = async (folder: string) => {
  if (await isPostgresThere()) {
    const database = await openTestDatabase('postgres');
    return { open: async () => ({ ...database, close: async () => {} }), url: database.url, close: database.close };
  }
  const open = async (): Promise<Database> => {
    const database = await openDatabase({ databaseUrl: null, folder: join(folder, 'metadata'), isFlushed: false });
    await migrateAll(database);
    return database;
  };
  return { open, url: null, close: async () => {} };
};

export type HouseParts = {
  /** Statements that change the rows of the warehouse. */
  readonly rows?: readonly string[];
  /** The text of a policy. With it, the gateway runs too, and Studio where it is built. */
  readonly policy?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Further work on the store before the first start. */
  readonly prepare?: (store: Store) => Promise<void>;
};

/**
 * Starts the product without demo, and without gateway unless there is a policy. `settings` is the text of its
 * configuration file. `close` stops it and removes its folder.
 */
export const openHouse = async (settings: string | null = null, parts: HouseParts = {}): Promise<House> => {
  const { rows, policy, prepare = async () => {} } = parts;
  setNow(noon);
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-spec-'));
  const keys: Keys = { apiKey: randomUUID(), otherKey: randomUUID(), endedKey: randomUUID() };
  const serviceToken = randomUUID();
  const sources = join(folder, 'sources');
  await mkdir(sources);
  const metadata = await openMetadata(folder);
  const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    const database = await metadata.open();
    return work(createStore(database.connect<Tables>(), testSealer)).finally(database.close);
  };
  await withStore(async (store) => {
    await insertOrganization(store, join(sources, 'warehouse.duckdb'), keys, rows);
    await prepare(store);
  });
  if (policy !== undefined) await writeFile(join(folder, 'policy.yaml'), policy);
  const file = join(folder, 'guestlist.yaml');
  if (settings !== null) await writeFile(file, settings);
  const env = {
    ...(settings === null ? {} : { GUESTLIST_CONFIG: file }),
    GUESTLIST_DATA_DIR: folder,
    ...(metadata.url === null ? {} : { DATABASE_URL: metadata.url }),
    GUESTLIST_DEMO: '0',
    GUESTLIST_LOG_LEVEL: 'silent',
    // Suites send hundreds of wrong credentials and thousands of reads, so the limits are raised.
    GUESTLIST_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
    GUESTLIST_GUEST_TOKEN_PER_MINUTE: '1000000',
    GUESTLIST_GUEST_ADDRESS_PER_MINUTE: '1000000',
    GUESTLIST_SERVICE_TOKEN: serviceToken,
    PORT: '0',
    ...parts.env,
  };
  const halves = { gateway: policy !== undefined, service: true };
  const config = loadConfig(env, shipped, { runsGateway: halves.gateway, runsService: true });
  const { start }: Main = await import(built);
  const begin = () => start(config, halves, clock);
  let running = await begin();
  return {
    ...keys,
    serviceToken,
    sources,
    folder,
    url: () => running.url,
    stored: async (work) => {
      await running.close();
      const result = await withStore(work);
      running = await begin();
      return result;
    },
    close: async () => {
      await running.close();
      await metadata.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

type Name = keyof typeof operations;
export type Input = Readonly<Record<string, unknown>>;
export type Output<N extends Name> = z.output<(typeof operations)[N]['output']>;

export type Sent = {
  /** Default: the data app's key or the service token, whichever the operation accepts. Null: none. */
  readonly bearer?: string | null;
  /** Path of the operation's binding to use. Default: the first binding. */
  readonly path?: string;
};

const ownBearer = (house: House, [credential]: readonly Credential[]): string | null =>
  ({ apiKey: house.apiKey, serviceToken: house.serviceToken, guestToken: null })[credential ?? 'guestToken'];

const bindingOf = (operation: Operation, path: string | undefined): Binding<unknown, unknown> => {
  const found = operation.bindings.find((binding) => path === undefined || binding.path === path);
  if (found === undefined) throw new Error(`${operation.name} has no binding ${path}`);
  return found;
};

const spread = ({ path, from }: Binding<unknown, unknown>, input: Input) => {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const address = inPath.reduce(
    (text, name) => text.replace(`{${name}}`, encodeURIComponent(String(input[name]))),
    path,
  );
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined);
  const query =
    from === 'query'
      ? `?${new URLSearchParams(Object.fromEntries(rest.map(([name, value]) => [name, String(value)])))}`
      : '';
  return { address: `${address}${query}`, body: from === 'body' ? Object.fromEntries(rest) : undefined };
};

/** Sends the operation's request through its binding. `input` may be invalid. */
export const call = (house: House, name: Name, input: Input, { bearer, path }: Sent = {}): Promise<Answer> => {
  const operation: Operation = operations[name];
  const binding = bindingOf(operation, path);
  const { address, body } = spread(binding, input);
  const credential = bearer === undefined ? ownBearer(house, operation.credentials) : bearer;
  return request(`${house.url()}${address}`, {
    method: binding.method,
    headers: {
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
};

/** Returns the answer's body, after checking that it has the operation's declared shape. */
export const ok = async <N extends Name>(house: House, name: N, input: Input, sent: Sent = {}): Promise<Output<N>> => {
  const answer = await call(house, name, input, sent);
  if (answer.status !== 200) throw new Error(`${name} answered ${answer.status}: ${answer.text}`);
  const operation: Operation = operations[name];
  const body = operation.contentType === 'application/json' ? answer.body : answer.text;
  expect(bindingOf(operation, sent.path).output ?? operation.output).toSatisfy(
    (schema: z.ZodType) => schema.safeParse(body).success,
    `${name} answered another shape: ${answer.text.slice(0, 500)}`,
  );
  return body as Output<N>;
};

/**
 * `<operation> <code>`. `test/conventions.test.ts` searches for one of these for each code that an operation declares.
 */
export type Pair = `${Name} ${Code}`;

const isName = (text: string | undefined): text is Name => text !== undefined && Object.hasOwn(operations, text);

/**
 * Sends the request, expects this refusal with the status that the operation declares, and returns its message. The
 * reference is removed from a neutral message, since it differs for each request.
 * In newline-delimited JSON, the only line has the refusal.
 */
export const refused = async (pair: Pair, house: House, input: Input, sent: Sent = {}): Promise<string> => {
  const [name, code] = pair.split(' ');
  if (!isName(name) || code === undefined) throw new Error(`${pair} is no pair of operation and code`);
  const errors: Readonly<Record<string, number>> = operations[name].errors;
  const answer = await call(house, name, input, sent);
  const message = expect.any(String);
  const isLine = operations[name].contentType === 'application/x-ndjson' && answer.status === 200;
  const { error } = (isLine ? JSON.parse(answer.text) : answer.body) as { error: { message: string } };
  expect([isLine ? errors[code] : answer.status, { error }], pair).toEqual([
    errors[code],
    { error: { code, message, status: errors[code] } },
  ]);
  return error.message.replace(/ Reference: [0-9a-f-]{36}\.$/, '');
};

/** Access settings with the required fields, for the datamart `shop`. */
export const settings = {
  datamartName: 'shop',
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: false,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: true,
  metricCreationMode: 'DRAG_DROP',
} as const;

/** Creates a client's dashboard from the template `board` with all its metrics; `parts` replaces or adds fields. */
export const cloneBoard = (house: House, dashboardId: string, clientId: string, parts: Input = {}, sent: Sent = {}) =>
  ok(
    house,
    'createDashboardEmbed',
    {
      dashboardId,
      clientId,
      workspaceName: 'shop',
      accessSettings: settings,
      templateDashboardId: 'board',
      isImportMetrics: true,
      ...parts,
    },
    sent,
  );

/** Returns the id of the dashboard's metric that was cloned from this metric of the template; clones keep the name. */
export const metricOf = async (
  house: House,
  embedId: string,
  clientId: string,
  templateId: string,
  sent: Sent = {},
): Promise<string> => {
  const { data } = await ok(house, 'listEmbedMetrics', { embedId, clientId }, sent);
  const found = data.find(({ name }) => name === `Metric ${templateId}`);
  if (found === undefined) throw new Error(`${embedId} has no metric ${templateId}`);
  return found.metricId;
};

/** Returns a guest token of data app `shop`. */
export const mint = async (house: House, clientId: string, params: Input = {}, parts: Input = {}): Promise<string> =>
  (await ok(house, 'createGuestToken', { clientId, dataAppName: 'shop', params, ...parts })).token;

/** The known message of a refused credential, without the sentence that names a credential of another kind. */
export const firstSentence = (message: string): string => message.split('. ', 1)[0] ?? '';
