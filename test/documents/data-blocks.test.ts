/** The YAML and JSON that the documents show: policies load, their tests pass, configurations are read, bodies fit the contract. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { runWith } from '../../src/cli/kit/run-with.js';
import { policyCommand } from '../../src/cli/policy.js';
import { compileProvider } from '../../src/gateway/hooks/providers/compile.js';
import { loadPolicyFile } from '../../src/gateway/policy/load.js';
import { decodeTheme } from '../../src/model/theme/design-tokens.js';
import { usageNames } from '../../src/model/usage.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { chart } from '../../src/service/common/contract/metric-parts.js';
import { relationship, rollups, sharedTables, table } from '../../src/service/datamarts/contract/fields.js';
import { createDatasource } from '../../src/service/datasources/contract/datasources.js';
import { createTemplateSchedule } from '../../src/service/schedules/contract/template-schedules.js';
import { asProcess } from '../cli/in-process.js';
import { type Block, blocksOfKind, nameOf, root } from './blocks.js';

const folder = mkdtempSync(join(tmpdir(), 'guestlist-blocks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const named = (kind: Parameters<typeof blocksOfKind>[0]) =>
  blocksOfKind(kind).map((block) => ({ name: nameOf(block), ...block }));

const flights = readFileSync(join(root, 'config/policies/flights.yaml'), 'utf8');
// What the blocks name beside themselves.
write('tenants.csv', 'key,tenant\norg_7,acme\n');
mkdirSync(join(folder, 'tenants'));
write('tenants/east.tenants.yaml', 'version: 1\ntenants: [{ name: east, clientIds: [BOS], expiryMinutes: 30 }]\n');
mkdirSync(join(folder, 'logos'));
writeFileSync(join(folder, 'logos/lax.png'), PNG.sync.write(new PNG({ width: 2, height: 2 })));
write('special.tenants.yaml', 'version: 1\ntenants: [{ name: special, clientIds: [ANC], expiryMinutes: 5 }]\n');

/** A block has the keys that it is about; all others are those of the demo's policy. */
/** Whether the block is a policy as it stands, and no part of one. */
const isWhole = (shown: Readonly<Record<string, unknown>>): boolean => 'version' in shown;

const completed = ({ text }: Block): string => {
  const shown = parse(text) as Readonly<Record<string, unknown>>;
  if (isWhole(shown)) return text;
  const whole = parse(flights) as Readonly<Record<string, unknown>>;
  // Rules read claims: a block that declares its own claims, and no rules, is shown without any.
  const rules =
    'session' in shown && !('rules' in shown)
      ? [{ name: 'all', when: 'true', grant: { templates: ['delays'] } }]
      : whole.rules;
  return stringify({ ...whole, ...('session' in shown ? { rules, restrictions: [] } : {}), ...shown });
};

describe('policies', () => {
  test.each(named('policy'))('the policy of the documents loads: $name', (block) => {
    const { rules } = loadPolicyFile(write('policy.yaml', completed(block)));
    expect(rules.length > 0 || isWhole(parse(block.text))).toBe(true);
  });

  test('a misspelt claim in a block would be found', () => {
    const [block] = blocksOfKind('policy');
    const text = (block?.text ?? '').replace('user.claims.region', 'user.claims.regoin');
    expect(text).not.toBe(block?.text);
    const misspelt = write('misspelt.yaml', completed({ ...(block as Block), text }));
    expect(() => loadPolicyFile(misspelt)).toThrow();
  });

  test.each(named('policy test'))('$name passes against the demo', async ({ text }) => {
    write('flights.yaml', flights);
    const command = policyCommand({
      configuredPolicies: () => join(folder, 'flights.yaml'),
      callGateway: () => Promise.reject(new Error('the command asks no gateway')),
      now: () => new Date(),
    });
    const args = ['test', write('flights.test.yaml', text)];
    const { code, out } = await asProcess(() => runWith(command.name('policy'), args, ''));
    expect(out).toMatch(/^\d+ tests?, all hold$/m);
    expect(code).toBe(0);
  });
});

test.each(named('configuration'))('$name is a configuration that starts', ({ text }) => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  write('backend.pem', String(publicKey.export({ type: 'spki', format: 'pem' })));
  const env = {
    GUESTLIST_CONFIG: write('guestlist.yaml', text),
    GUESTLIST_API_KEY: randomBytes(32).toString('hex'),
    GUESTLIST_SMTP_URL: 'smtps://user:password@mail.example.com',
    ...(text.includes('issuers:') ? {} : { GUESTLIST_HOST_JWT_SECRET: randomBytes(48).toString('base64') }),
    OLD_BACKEND_SECRET: randomBytes(48).toString('base64'),
    ANALYTICS_SESSION_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    BILLING_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    OPS_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    TEAM_SLACK_URL: 'https://hooks.example.com/services/team',
    MODEL_KEY: randomBytes(32).toString('hex'),
    ...providerSecrets(text),
    ...(text.includes('dkim:') ? { GUESTLIST_DKIM_KEY: rsaKey() } : {}),
  };
  const options = { runsGateway: true, runsService: true };
  const { settings, hookProviders } = loadConfig(env, join(root, 'config/guestlist.yaml'), options);
  expect(settings).toMatchObject(withoutIssuers(text));
  for (const provider of hookProviders) expect(compileProvider(provider).name).toBe(provider.name);
});

/** The variables of `gateway.hooks.providers`: those of Svix have another form. */
const providerSecrets = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/kind: (\w+),?\s+secretVariable: (\w+)/g)].map(([, kind = '', name = '']) => {
      const secret = randomBytes(24).toString('base64');
      return [name, ['clerk', 'propelauth'].includes(kind) ? `whsec_${secret}` : secret];
    }),
  );

const rsaKey = (): string =>
  String(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }));

/** Issuers are read apart, with their keys. */
const withoutIssuers = (text: string): object =>
  JSON.parse(JSON.stringify(parse(text), (key, value) => (key === 'issuers' ? undefined : value)));

test.each(named('installation'))(
  '$name names packages that there are, in the versions of this repository',
  ({ text }) => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const versions = { ...manifest.dependencies, ...manifest.devDependencies };
    const own = ['gateway', 'elements', 'client'].map((name) => `@guestlist/${name}`);
    for (const wanted of text.trim().split(' ').slice(2)) {
      const [, name = '', version] = /^(@?[^@]+)(?:@(.+))?$/.exec(wanted) ?? [];
      expect([...own, ...Object.keys(versions)]).toContain(name);
      if (version !== undefined) expect(version).toBe(versions[name]);
    }
  },
);

const counts = Object.fromEntries(usageNames.map((name) => [name, z.number().optional()]));
const instant = z.iso.datetime();
const usageMessage = z.strictObject({
  type: z.literal('usage.counted'),
  timestamp: instant,
  data: z.strictObject({
    ...{ from: instant, to: instant, isLate: z.boolean() },
    tenants: z.array(z.strictObject({ dataAppName: z.string(), clientId: z.string(), ...counts })),
  }),
});

/** The schema of a body, or of a part of one, by a field that no other has. */
const schemas = {
  datasourceType: createDatasource.input,
  relationshipName: relationship,
  columns: table,
  sharedTables: z.strictObject({ sharedTables }),
  rollups: z.strictObject({ rollups }),
  numbers: chart.partial(),
  dates: chart.partial(),
  colours: chart.partial(),
  lines: chart.partial(),
  rules: chart.partial(),
  recurrence: createTemplateSchedule.input,
  type: usageMessage,
  brand: z.unknown().refine((given) => decodeTheme(given).faults.length === 0),
};

test.each(named('body of the interface'))('$name fits the contract', ({ text }) => {
  const body = JSON.parse(text);
  const [, schema] = Object.entries(schemas).find(([field]) => field in body) ?? [];
  if (schema === undefined) throw new Error('no schema is known for this body: add it to `schemas`');
  expect(schema.safeParse(body).error).toBeUndefined();
});
