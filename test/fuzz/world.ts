/** The server that is fuzzed, what exists on it, and the credentials of the run. */
import { Agent, request } from 'node:http';
import { type House, settings } from '../spec/house.js';
import type { Answered } from './judge.js';
import { isSecretField, type Plan } from './plan.js';

type Json = Readonly<Record<string, unknown>>;

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly answer: Answered;
  readonly shown: string;
};

export type World = {
  readonly send: (plan: Plan) => Promise<Sent>;
  /** Credentials and passwords that no error may show. */
  readonly secrets: () => Iterable<string>;
  /** Mints a new guest token, so that the next guest requests pass authentication. */
  readonly refresh: () => Promise<void>;
  readonly close: () => void;
};

const tables = ['sales', 'clients', 'products', 'notes', 'main.sales'];
const columns = ['client', 'amount', 'region', 'product', 'paid', 'sold', 'id', 'name', 'label'];

/** What exists from the start, by the field that names it. */
export const firstNames: Readonly<Record<string, readonly string[]>> = {
  clientId: ['acme', 'globex', 'None', '1'],
  dataAppName: ['shop', 'shop', 'fuzz1'],
  datamartName: ['shop', 'orders', 'open', 'lost'],
  datasourceName: ['warehouse', 'lost'],
  workspaceName: ['shop', 'orders', 'all', 'long', 'far', 'empty'],
  dashboardId: ['seed', 'seed', 'board', 'defaults', 'derived', 'held', 'notebook'],
  templateDashboardId: ['board', 'defaults'],
  embedId: ['seed'],
  allowedEmbeds: ['seed'],
  metricId: ['revenue', 'by-region', 'guarded', 'spare', 'note-count'],
  metricIds: ['revenue', 'by-region'],
  filter: ['Region', 'Sold', 'Paid', 'Amount', 'Product', 'size', 'kind', 'region'],
  filterName: ['Region', 'Sold', 'Paid', 'Amount', 'Product', 'size', 'kind'],
  filterValue: ['north', 'Last 30 Days', '2024-3-31', '2024-03-01 - 2024-04-01', '50', 'true', 'select 1'],
  value: ['north', 'south'],
  hideDashboardFilters: ['Region', 'Sold'],
  tableName: tables,
  name: [...tables, ...columns, 'fuzz1', 'fuzz2', 'Region', 'shop'],
  columnName: columns,
  columns,
  clientColumn: ['client', 'owner'],
  schemaName: ['main', 'eu'],
  parentTableName: tables,
  childTableName: tables,
  parentColumnName: columns,
  childColumnName: columns,
  timezone: ['America/New_York', 'UTC', 'Nowhere/Land'],
  sql: ['select region from sales', 'amount * 2', 'select 1; select 2', '(((', 'amount + (select 1)'],
  startDate: ['2024-03-01', '2024-3-1', 'soon'],
  endDate: ['2024-04-30', 'later'],
  columnType: ['Identifier', 'ENUM', 'Number', 'String'],
  defaultAggregation: ['SUM', 'COUNT_DISTINCT'],
  host: ['127.0.0.1', '169.254.169.254', 'example.invalid'],
  path: ['/etc/passwd', '../x.duckdb', 'warehouse.duckdb'],
};

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

const toForm = (value: unknown, boundary: string): string => {
  const parts = Object.entries(typeof value === 'object' && value !== null ? value : {}).map(([name, inner]) => {
    const isFile = name === 'importDashboardData';
    const head = isFile
      ? 'name="importDashboardDataFile"; filename="a.json"\r\nContent-Type: application/json'
      : `name="${encodeURIComponent(name)}"`;
    const text = isFile ? JSON.stringify({ data: inner }) : typeof inner === 'string' ? inner : JSON.stringify(inner);
    return `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
  });
  return `${parts.join('')}--${boundary}--\r\n`;
};

type Raw = {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
};

const exchange = ({ method, url, headers, body }: Raw): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request(url, { method, headers, agent, timeout: 30_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: String(response.headers['content-type'] ?? ''),
          text: Buffer.concat(chunks).toString('utf8'),
          durationInMs: performance.now() - started,
        }),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${url.slice(0, 200)} in 30 s`)));
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });

/** Secret values of a body, by the names that hold them. */
const passwordsIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    isSecretField(name) && typeof inner === 'string' && inner.startsWith('pw-') ? [inner] : passwordsIn(inner),
  );
};

/** Redirects valid requests that would rename, replace or delete what the run itself needs. */
const spare = (operation: string, body: Json): Json => {
  const isShop = (field: string) => body[field] === 'shop';
  if (/^(delete|update)DataApp$/.test(operation) && isShop('name')) return { ...body, name: 'fuzz1' };
  if (/^(update|delete)Datamart$/.test(operation) && isShop('datamartName')) return { ...body, datamartName: 'fuzz2' };
  if (operation === 'updateWorkspace' && isShop('name')) return { ...body, name: 'fuzz3' };
  if (operation === 'updateDatasource')
    return { ...body, credentials: { ...(body.credentials as Json), name: 'fuzz4' } };
  if (operation === 'deleteApiKey' && isShop('dataAppName')) return { ...body, name: 'fuzz5' };
  if (operation === 'deleteServiceToken') return { ...body, name: 'fuzz6' };
  if (operation.startsWith('rotate') && typeof body.expireAt === 'number') return { ...body, expireAt: 86_400 };
  return body;
};

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const encodePath = (path: string): string =>
  path.replaceAll(/\{([^}]*)\}/g, (_, value: string) => encodeURIComponent(Buffer.from(value).toString()) || 'x');

export const createWorld = (house: House): World => {
  /** Things that the run has created. */
  const learned = new Map<string, string[]>();
  const secrets = [house.apiKey, house.otherKey, house.serviceToken];
  let guestToken = 'none-yet';

  const learn = (field: string, value: unknown): void => {
    if (typeof value !== 'string' || value === '') return;
    const known = learned.get(field) ?? [];
    learned.set(field, [...known.slice(-20), value]);
  };

  const resolve = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const [, field, pick] = /^§(\w+):(\d+)$/.exec(value) ?? [];
      if (field === undefined) return value;
      if (isSecretField(field)) return `pw-${pick}-not-to-be-shown`;
      const own = learned.get(field) ?? [];
      const first = firstNames[field] ?? ['fuzz7'];
      // Requests about things from the start get furthest.
      const list = Number(pick) % 3 === 0 && own.length > 0 ? own : first;
      return list[Math.floor(Number(pick) / 3) % list.length] ?? 'fuzz8';
    }
    if (Array.isArray(value)) return value.map(resolve);
    if (!isJson(value)) return value;
    const copy: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value)) {
      Object.defineProperty(copy, String(resolve(name)), {
        value: resolve(inner),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return copy;
  };

  const bearers: Readonly<Record<Plan['credential'], () => string | null>> = {
    apiKey: () => house.apiKey,
    serviceToken: () => house.serviceToken,
    guestToken: () => guestToken,
    none: () => null,
    wrong: () => 'not-a-credential',
    odd: () => 'a b',
  };

  const writeBody = (plan: Plan): { text: string | null; json: unknown; contentType: string | null } => {
    const { body, contentType } = plan;
    if (body === null) return { text: null, json: undefined, contentType };
    if ('raw' in body) return { text: body.raw, json: undefined, contentType };
    const given = resolve('form' in body ? body.form : body.json);
    const json = isJson(given) ? spare(plan.operation, given) : given;
    if ('json' in body) return { text: JSON.stringify(json) ?? '', json, contentType };
    return { text: toForm(json, 'fuzzboundary'), json, contentType: 'multipart/form-data; boundary=fuzzboundary' };
  };

  const learnFrom = (operation: string, answer: Answered, json: unknown): void => {
    if (answer.status !== 200 || !answer.contentType.startsWith('application/json')) return;
    const body: unknown = JSON.parse(answer.text);
    if (!isJson(body)) return;
    for (const key of ['token', 'key']) {
      if (typeof body[key] !== 'string') continue;
      secrets.push(body[key]);
      if (secrets.length > 300) secrets.splice(3, 1);
    }
    if (/Embed$/.test(operation)) for (const field of ['embedId', 'allowedEmbeds']) learn(field, body.id);
    if (operation === 'createDashboardEmbed' && isJson(json)) learn('dashboardId', json.dashboardId);
    if (operation === 'createDatamart') for (const field of ['datamartName', 'name']) learn(field, body.id);
    if (/DataApp$/.test(operation)) for (const field of ['dataAppName', 'name']) learn(field, body.name);
    if (operation === 'createWorkspace' && isJson(json))
      for (const field of ['workspaceName', 'name']) learn(field, json.name);
    if (operation === 'createDatasource') for (const field of ['datasourceName', 'name']) learn(field, body.name);
    if (operation === 'createGuestToken') learn('token', body.token);
    if (operation === 'listMetrics' || operation === 'listEmbedMetrics') {
      for (const item of (Array.isArray(body.data) ? body.data : []).slice(0, 5))
        learn('metricId', isJson(item) ? item.metricId : null);
    }
    if (operation === 'listGuestTokens' && Array.isArray(body.data))
      learn('id', isJson(body.data[0]) ? body.data[0].id : null);
  };

  const send = async (plan: Plan): Promise<Sent> => {
    const { text, json, contentType } = writeBody(plan);
    const pairs = plan.query.map(([name, value]) => [name, String(resolve(value))] as const);
    const safe: (readonly [string, string])[] = Object.entries(spare(plan.operation, Object.fromEntries(pairs))).map(
      ([name, value]) => [name, String(value)] as const,
    );
    const query = plan.way === 'query' || plan.way === 'query twice' ? pairs : safe;
    const path = encodePath(plan.path.replaceAll(/\{(§[^}]*)\}/g, (_, name: string) => `{${String(resolve(name))}}`));
    const search = query.length === 0 ? '' : `?${new URLSearchParams(query.map(([a, b]): [string, string] => [a, b]))}`;
    const bearer = bearers[plan.credential]();
    const headers: Record<string, string> = {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(contentType === null ? {} : { 'content-type': contentType }),
      ...(text === null ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
    };
    secrets.push(...passwordsIn(json));
    const answer = await exchange({ method: plan.method, url: `${house.url()}${path}${search}`, headers, body: text });
    learnFrom(plan.operation, answer, json);
    const shown = `${plan.operation} (${plan.way}, ${plan.credential}): ${plan.method} ${path}${search} ${contentType ?? ''} ${(text ?? '').slice(0, 1500)}`;
    return { method: plan.method, path: new URL(`${house.url()}${path}`).pathname, answer, shown };
  };

  const ask = async (path: string, bearer: string, body?: Json): Promise<Answered> =>
    exchange({
      method: body === undefined ? 'GET' : 'POST',
      url: `${house.url()}/api/v2${path}`,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });

  /** A request that was cut off may still erase or revoke: the service then asks for the mint again. */
  const mint = async (left = 3): Promise<Answered> => {
    const answer = await ask('/guest-token/create', house.apiKey, { clientId: 'acme', dataAppName: 'shop' });
    return answer.status !== 200 && left > 0 && answer.text.includes('Retry the request.') ? mint(left - 1) : answer;
  };

  const refresh = async (): Promise<void> => {
    const { status, text } = await mint();
    if (status !== 200) throw new Error(`the run lost its data app: ${text}`);
    guestToken = String((JSON.parse(text) as Json).token);
    secrets.push(guestToken);
  };

  /** A client's dashboard with all of its template's metrics, whether or not the run deleted it. */
  const plant = async (): Promise<void> => {
    const board = { dashboardId: 'seed', workspaceName: 'shop', clientId: 'acme', accessSettings: settings };
    await ask('/data-app/dashboard-embeds', house.apiKey, {
      ...board,
      templateDashboardId: 'board',
      isImportMetrics: true,
    });
    const { status, text } = await ask('/data-app/metrics?embedId=seed&clientId=acme', house.apiKey);
    if (status !== 200) return;
    const { data } = JSON.parse(text) as { data: readonly Json[] };
    for (const { metricId } of data) learn('metricId', metricId);
  };

  return {
    send: async (plan) => {
      const sent = await send(plan);
      // The run itself revokes tokens.
      if (sent.answer.status === 401 && plan.credential === 'guestToken') await refresh();
      return sent;
    },
    secrets: () => new Set(secrets),
    refresh: async () => {
      await plant();
      await refresh();
    },
    close: () => agent.destroy(),
  };
};
