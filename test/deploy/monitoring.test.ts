/** The rules and the board for Prometheus and Grafana: every metric that they name is there, and each rule fires as said. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  createCountDelivery,
  createCountWork,
  createEngineMeters,
  createGatewayMeters,
  showClockSkew,
} from '../../src/compose/meters.js';
import { createMeters } from '../../src/platform/logs/meters.js';
import { root } from './files.js';

type Alert = { alert: string; expr: string; annotations: { summary: string; mend: string } };

const folder = join(root, 'deploy/monitoring');
const rules = parse(readFileSync(join(folder, 'alerts.yaml'), 'utf8')) as {
  groups: { rules: (Alert | { record: string; expr: string })[] }[];
};
const everyRule = rules.groups.flatMap((group) => group.rules);
const alerts = everyRule.filter((rule): rule is Alert => 'alert' in rule);
const board = JSON.parse(readFileSync(join(folder, 'grafana.json'), 'utf8')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};

/** The names of all metrics, and what Prometheus makes of them. */
const known = async (): Promise<ReadonlySet<string>> => {
  const { registry } = createMeters();
  const gateway = createGatewayMeters(registry, createCountWork(registry));
  createCountDelivery(registry);
  showClockSkew(registry, () => 0);
  const engine = createEngineMeters(registry);
  gateway.watch('auditWaiting', () => 0);
  gateway.watch('epochsAgeMs', () => 0);
  engine.watch('cacheBytes', () => 0);
  engine.watch('waiting', () => 0);
  // Made beside the limits of credentials, of which no test needs more.
  const others = [
    'guestlist_proxy_not_trusted',
    'guestlist_failed_credentials_total',
    'guestlist_limited_credentials_total',
  ];
  const made = (registry satisfies Registry).getMetricsAsArray().map(({ name }) => name);
  return new Set([...made, ...others].flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]));
};

const namedIn = (expr: string): readonly string[] => expr.match(/\bguestlist_\w+/g) ?? [];

test('every metric that a rule or the board names is one of ours', async () => {
  const names = await known();
  const used = [...everyRule, ...board.panels.flatMap(({ targets }) => targets)].flatMap(({ expr }) => namedIn(expr));
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((name) => !names.has(name))).toEqual([]);
});

test('every metric that the reference lists for alerts has a rule', () => {
  const page = readFileSync(join(root, 'docs/reference/monitoring.md'), 'utf8');
  const table = page.slice(page.indexOf('| metric | alert if'), page.indexOf('Others of the gateway'));
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
  const withoutRule = ['answers_total'];
  const ruled = alerts.map(({ expr }) => expr).join(' ');
  expect(listed.length).toBeGreaterThan(8);
  expect(listed.filter((name) => !ruled.includes(name) && !withoutRule.includes(name))).toEqual([]);
});

test('every rule says what it is about and how to mend it', () => {
  for (const { alert, annotations } of alerts) {
    expect([alert, annotations.summary.length > 0, annotations.mend.length > 0]).toEqual([alert, true, true]);
  }
});

const promtool = (...args: readonly string[]) => spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
const isThere = promtool('--version').status === 0;
if (!isThere) console.warn('NO ALERT RULE IS TRIED: needs promtool (Debian: prometheus)');

test.skipIf(!isThere && process.env.CI === undefined)('each rule fires for what it is about, and not before', () => {
  const checked = promtool('check', 'rules', 'alerts.yaml');
  expect([checked.status, checked.stderr]).toEqual([0, '']);
  const tried = promtool('test', 'rules', 'alerts.test.yaml');
  expect([tried.status, tried.stderr]).toEqual([0, '']);
  const tests = readFileSync(join(folder, 'alerts.test.yaml'), 'utf8');
  expect(alerts.filter(({ alert }) => !tests.includes(`alertname: ${alert}\n`))).toEqual([]);
});
