/**
 * `guestlist init --yes` on a public schema, as a newcomer would run it. TEST_CHINOOK_SQL names the file Chinook_PostgreSql.sql
 * of lerocha/chinook-database (MIT), which is not kept here.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { begin, origin, readMetrics, run, stop, urlOf } from './init-suite.js';

const file = process.env.TEST_CHINOOK_SQL;

const numbersOf = (rows: readonly object[]): readonly number[] =>
  rows.map((row) => Math.round(Number(Object.values(row).at(-1)) * 100) / 100).toSorted((a, b) => a - b);

test.runIf(file !== undefined && (await isPostgresThere()))('Chinook: the charts of a customer', async () => {
  const own = await createOwnDatabase();
  onTestFinished(own.drop);
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  const text = (await readFile(file ?? '', 'utf8')).replaceAll(/^(DROP DATABASE|CREATE DATABASE|\\c) .*$/gm, '');
  await client.query(text);
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-chinook-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { code, output } = await run(folder, 'init', '--yes', '--database', own.url, '--origin', origin);
  expect([code, output]).toEqual([0, expect.stringContaining('6 charts')]);
  const serving = begin(folder, ['serve']);
  onTestFinished(() => stop(serving));
  const metrics = new Map(await readMetrics(folder, await urlOf(serving), { tenant_id: '5' }));
  const ofTenant = 'FROM invoice WHERE customer_id = 5';
  const byHand = {
    Invoice: `SELECT count(*) AS n ${ofTenant}`,
    Revenue: `SELECT sum(total) AS n ${ofTenant}`,
    'Average total': `SELECT avg(total) AS n ${ofTenant}`,
    'Invoice by month': `SELECT count(*) AS n ${ofTenant} GROUP BY date_trunc('month', invoice_date)`,
    'Revenue by month': `SELECT sum(total) AS n ${ofTenant} GROUP BY date_trunc('month', invoice_date)`,
  };
  for (const [name, sql] of Object.entries(byHand)) {
    const wanted = (await client.query<{ n: string }>(sql)).rows;
    expect([name, numbersOf(metrics.get(name) ?? [])]).toEqual([name, numbersOf(wanted)]);
  }
  await client.end();
});
