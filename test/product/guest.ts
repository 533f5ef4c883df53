/** What a host page does with the product over HTTP, and the same numbers computed from the parquet file. */
import { createSecretKey } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import jwt from 'jsonwebtoken';
import type { Product } from './product.js';

export type Answer<T = Record<string, unknown>> = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
  readonly text: string;
};

export const request = async <T = Record<string, unknown>>(url: string, init: RequestInit = {}): Promise<Answer<T>> => {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : {}) as T, text };
};

export const post = <T = Record<string, unknown>>(url: string, body: unknown, bearer?: string): Promise<Answer<T>> =>
  request<T>(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify(body),
  });

export const get = <T = Record<string, unknown>>(url: string, bearer?: string): Promise<Answer<T>> =>
  request<T>(url, bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } });

/** A session signed like the demo host's; `claims` replaces or adds claims. */
export const session = (
  { credentials }: Pick<Product, 'credentials'>,
  claims: Readonly<Record<string, unknown>>,
): string => {
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: 'guestlist-demo', sub: 'someone', iat: now, exp: now + 600, ...claims };
  return jwt.sign(JSON.parse(JSON.stringify(all)), createSecretKey(Buffer.from(credentials.demoJwtSecret)), {
    algorithm: 'HS256',
  });
};

export const analyst = (org_id: string) => ({ sub: `${org_id}-analyst`, org_id, roles: ['analyst'] });
export const manager = (org_id: string) => ({ sub: `${org_id}-manager`, org_id, roles: ['manager'] });
export const regional = { sub: 'sfo-regional', org_id: 'SFO', roles: ['analyst', 'regional'], region: 'CA' };

export type EmbedToken = {
  readonly token: string;
  readonly expiresAt: string;
  readonly refreshAfter: string;
  readonly embeds: readonly { readonly id: string; readonly name: string; readonly type: string }[];
  readonly serviceUrl: string;
};
export type Failure = { readonly error: { readonly code: string; readonly message: string; readonly status?: number } };

/** Logs in and returns the guest token. Throws if the login is refused. */
export const login = async (
  product: Product,
  claims: Readonly<Record<string, unknown>>,
  body: unknown = {},
): Promise<EmbedToken> => {
  const answer = await post<EmbedToken & Failure>(`${product.url}/embed-token`, body, session(product, claims));
  if (answer.status !== 200) throw new Error(`embed-token answered ${answer.status}: ${answer.text}`);
  return answer.body;
};

export type GuestDashboard = {
  readonly name: string;
  readonly metrics: readonly { readonly metricId: string; readonly name: string }[];
  readonly filters: readonly { readonly name: string }[];
  readonly permissions: Readonly<Record<string, boolean>>;
};
export type Reply = {
  readonly data: readonly Readonly<Record<string, string | number | null>>[];
  readonly totalRecords: number;
  readonly metaData: { readonly columns: readonly { readonly name: string; readonly dataType: string }[] };
};

export const openDashboard = async (product: Product, token: string, id: string): Promise<GuestDashboard> => {
  const answer = await get<{ data: GuestDashboard }>(
    `${product.url}/api/v2/guest/dashboards/${encodeURIComponent(id)}`,
    token,
  );
  if (answer.status !== 200) throw new Error(`the dashboard answered ${answer.status}: ${answer.text}`);
  return answer.body.data;
};

/** Queries a metric of a dashboard by its name, as the elements do. */
export const ask = async (
  product: Product,
  token: string,
  dashboardId: string,
  metricName: string,
  query: Readonly<Record<string, unknown>> = {},
  way: 'query' | 'underlying' = 'query',
): Promise<Reply> => {
  const { metrics } = await openDashboard(product, token, dashboardId);
  const metricId = metrics.find(({ name }) => name === metricName)?.metricId;
  if (metricId === undefined) throw new Error(`no metric ${metricName}`);
  const answer = await post<Reply>(
    `${product.url}/api/v2/guest/metrics/${metricId}/${way}`,
    { dashboardId, ...query },
    token,
  );
  if (answer.status !== 200) throw new Error(`${metricName} answered ${answer.status}: ${answer.text}`);
  return answer.body;
};

/** Runs queries over the parquet and CSV files, as `flights` and `airports`, without the product. */
export const openTruth = async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const source = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '../data');
  await connection.run(`CREATE VIEW flights AS SELECT * FROM read_parquet('${join(source, 'flights-3m.parquet')}')`);
  await connection.run(`CREATE VIEW airports AS SELECT * FROM read_csv('${join(source, 'airports.csv')}')`);
  const plain = (value: DuckDBValue): DuckDBValue => (typeof value === 'bigint' ? Number(value) : value);
  return {
    rows: async (sql: string): Promise<readonly (readonly DuckDBValue[])[]> =>
      (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(plain)),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
};
export type Truth = Awaited<ReturnType<typeof openTruth>>;
