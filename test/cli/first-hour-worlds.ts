/** Databases of a first hour with Guestlist, the numbers of their charts by hand, and the app of a customer. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { fleetStatements } from '../fixtures/fleet-database.js';
import { helpdeskStatements } from '../fixtures/helpdesk-database.js';
import { createOwnMysqlDatabase, isMysqlThere, mysqlServer, onMysql } from '../suites/mysql.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';

export type Row = readonly unknown[];
export type Source = {
  readonly url: string;
  readonly drop: () => Promise<void>;
  readonly ask: (sql: string) => Promise<readonly Row[]>;
};

const openHelpdesk = async (): Promise<Source> => {
  const own = await createOwnDatabase();
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  await client.query("SET timezone = 'UTC'");
  for (const statement of helpdeskStatements) await client.query(statement);
  const drop = async (): Promise<void> => {
    await client.end();
    await own.drop();
  };
  const ask = async (sql: string) => (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows;
  return { url: own.url, drop, ask };
};

const openFleet = async (): Promise<Source> => {
  const { name, drop } = await createOwnMysqlDatabase();
  const on = <T>(sql: string): Promise<T> =>
    onMysql(async (connection) => (await connection.query({ sql, rowsAsArray: true, timezone: 'Z' }))[0] as T, name);
  await onMysql(async (connection) => {
    for (const statement of fleetStatements) await connection.query(statement);
  }, name);
  const { host, port, username, password } = mysqlServer;
  return {
    url: `mysql://${username}:${password}@${host}:${port}/${name}`,
    drop,
    ask: (sql) => on<readonly Row[]>(sql),
  };
};

/** The app of the customer: a login, a session, and a page with the lines that `init` prints. */
export const openHost = async () => {
  const state = { lines: '', secret: '' };
  const app = express();
  // As a host stores sessions: an opaque id in a cookie, everything else on the server.
  const sessions = new Map<string, object>();
  app.get('/login', ({ query }, response) => {
    const id = randomUUID();
    sessions.set(id, JSON.parse(String(query.claims)));
    response.cookie('sid', id, { httpOnly: true }).redirect('/');
  });
  app.get('/', ({ headers }, response) => {
    const claims = sessions.get(/(?:^|; )sid=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? '');
    if (claims === undefined) return response.sendStatus(401);
    const own = jwt.sign(claims, state.secret, { algorithm: 'HS256', expiresIn: 600 });
    return response
      .type('html')
      .send(
        `<!doctype html><script>const yourSessionJwt = ${JSON.stringify(own)}; const yourSession = () => yourSessionJwt;</script>\n${state.lines}`,
      );
  });
  const server = createServer(app).listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { state, origin: `http://localhost:${port}`, close: () => server.close() };
};

const cellOf = (value: unknown): unknown => {
  if (value === null || value === undefined || value === '') return null;
  if (value instanceof Date) return value.toISOString().slice(0, 10);
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)) return value.slice(0, 10);
  return Number.isFinite(Number(value)) ? Math.round(Number(value) * 100) / 100 : value;
};
export const inOrder = (rows: readonly Row[]): readonly string[] =>
  rows.map((row) => JSON.stringify(row.map(cellOf))).toSorted();

export type World = {
  readonly kind: string;
  readonly isThere: boolean;
  readonly open: () => Promise<Source>;
  readonly flags: readonly string[];
  /** The statement for a tenant's name. */
  readonly named: (tenant: number) => string;
  /** The rows of each chart by hand, for a tenant; for the head of a department, of the one that `where` keeps. */
  readonly statements: (tenant: number, where?: string) => Readonly<Record<string, string>>;
  readonly head: {
    readonly claims: Readonly<Record<string, string>>;
    readonly where: string;
    /** Charts whose rows have no department, and what init says of them. */
    readonly hidden: readonly string[];
    readonly told: string;
  };
};

export const several = 'tenant_ids';

export const helpdesk: World = {
  kind: 'a help desk on PostgreSQL',
  isThere: await isPostgresThere(),
  open: openHelpdesk,
  // The statements count every row, deleted ones and tests too.
  flags: ['--without-base-filter', 'tickets'],
  named: (tenant) => `SELECT company_name FROM core.accounts WHERE id = ${tenant}`,
  head: {
    claims: { department: 'Billing' },
    where: "department = 'Billing'",
    hidden: ['Revenue', 'Monthly fee', 'Revenue by month', 'Revenue by method', 'Monthly fee by tier'],
    told: 'rows of finance.payments and support.tickets have only core.accounts in common',
  },
  statements: (tenant, where = 'true') => {
    const tickets = `(SELECT * FROM support.tickets WHERE account_id = ${tenant} AND ${where})`;
    const logs = `support."WorkLogs" l JOIN ${tickets} t ON t.id = l."ticketId"`;
    const contracts = `(SELECT * FROM finance.contracts WHERE account_id = ${tenant})`;
    const payments = `finance.payments p JOIN ${contracts} c ON c.id = p.contract_id`;
    const month = (column: string) => `date_trunc('month', ${column})`;
    return {
      'Minutes spent': `SELECT sum("minutesSpent") FROM ${logs}`,
      Revenue: `SELECT p.currency, sum(amount_cents) / 100.0 FROM ${payments} GROUP BY 1`,
      'Monthly fee': `SELECT currency, sum(monthly_fee_cents) / 100.0 FROM ${contracts} c GROUP BY 1`,
      'Minutes spent by month': `SELECT ${month('"loggedAt"')}, sum("minutesSpent") FROM ${logs} GROUP BY 1`,
      'Revenue by month': `SELECT ${month('paid_at')}, p.currency, sum(amount_cents) / 100.0 FROM ${payments} GROUP BY 1, 2`,
      'Tickets by state': `SELECT state, count(*) FROM ${tickets} t GROUP BY 1`,
      'Minutes spent by channel': `SELECT channel, sum("minutesSpent") FROM ${logs} GROUP BY 1`,
      'Revenue by method': `SELECT method, p.currency, sum(amount_cents) / 100.0 FROM ${payments} GROUP BY 1, 2`,
      'Monthly fee by tier': `SELECT tier, currency, sum(monthly_fee_cents) / 100.0 FROM ${contracts} c GROUP BY 1, 2`,
    };
  },
};

export const fleet: World = {
  kind: 'a fleet on MariaDB',
  isThere: await isMysqlThere(),
  open: openFleet,
  // The statements count every row, deleted ones and tests too.
  flags: ['--without-base-filter', 'vehicles,trips', '--restrict-by', 'region'],
  named: (tenant) => `SELECT name FROM companies WHERE id = ${tenant}`,
  head: { claims: { region: 'North' }, where: "d.region = 'North'", hidden: [], told: 'depots.region' },
  statements: (tenant, where = 'true') => {
    const vehicles = `(SELECT v.*, d.region FROM vehicles v JOIN depots d ON d.id = v.depot_id WHERE d.company_id = ${tenant} AND ${where})`;
    const trips = `trips t JOIN ${vehicles} v ON v.id = t.vehicle_id`;
    const fuel = `fuel_purchases f JOIN ${vehicles} v ON v.id = f.vehicle_id`;
    const incidents = `incidents i JOIN trips t ON t.id = i.trip_id JOIN ${vehicles} v ON v.id = t.vehicle_id`;
    const month = (column: string) => `date_format(${column}, '%Y-%m-01')`;
    return {
      'Duration hours': `SELECT sum(duration_minutes) / 60 FROM ${trips}`,
      Cost: `SELECT currency, sum(cost_cents) / 100 FROM ${fuel} GROUP BY 1`,
      Incidents: `SELECT count(*) FROM ${incidents}`,
      'Duration hours by month': `SELECT ${month('started_at')}, sum(duration_minutes) / 60 FROM ${trips} GROUP BY 1`,
      'Cost by month': `SELECT ${month('bought_at')}, currency, sum(cost_cents) / 100 FROM ${fuel} GROUP BY 1, 2`,
      'Trips by status': `SELECT status, count(*) FROM ${trips} GROUP BY 1`,
      'Duration hours by vehicle kind': `SELECT kind, sum(duration_minutes) / 60 FROM ${trips} GROUP BY 1`,
      'Cost by region': `SELECT region, currency, sum(cost_cents) / 100 FROM ${fuel} GROUP BY 1, 2`,
      'Incidents by category': `SELECT category, count(*) FROM ${incidents} GROUP BY 1`,
    };
  },
};
