import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Config, ConfigError, type LoadOptions, loadConfig } from '../../src/platform/config/config.js';
import { type ConfigPart, readSecrets, secretVariables } from '../../src/platform/config/environment.js';
import { createSealingKey } from '../../src/platform/keys/sealing.js';

const shipped = fileURLToPath(new URL('../../config/guestlist.yaml', import.meta.url));
const service = { runsGateway: false, runsService: true };
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-config-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Env = Parameters<typeof loadConfig>[0];

const load = (env: Env, halves: LoadOptions = service): Config => loadConfig(env, shipped, halves);

const faultsOf = (env: Env, halves: LoadOptions = service): readonly string[] => {
  try {
    load(env, halves);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
};

const withFile = async (text: string): Promise<Env> => {
  const file = join(folder, 'guestlist.yaml');
  await writeFile(file, text);
  return { GUESTLIST_CONFIG: file };
};

describe('the URLs of databases', () => {
  it.each(['redis:/localhost', 'http://127.0.0.1:6379', 'redis://127.0.0.1:port', 'redis-sentinel://a,b'])(
    'a malformed REDIS_URL (%s) is a fault that says what it must be',
    (url) => {
      expect(faultsOf({ REDIS_URL: url })).toEqual([
        expect.stringMatching(/REDIS_URL: redisUrl: .*redis:\/\/host:port/),
      ]);
    },
  );

  it.each([
    'mysql://ana:geheim@db/x',
    'db:5432',
    'postgres://db:port/x',
    'postgres://ana:geheim@db-1,/x',
    'postgres://ana:geheim@db-1,db-2:port/x',
    'postgres://ana:geheim@db-1,db-2/x?target_session_attrs=standby',
  ])('a malformed DATABASE_URL (%s) is a fault, without the password', (url) => {
    const faults = faultsOf({ DATABASE_URL: url });
    expect(faults).toEqual([expect.stringMatching(/DATABASE_URL: databaseUrl: must be postgres:/)]);
    expect(faults.join()).not.toContain('geheim');
  });

  it.each([
    'postgres://u:p@db/meta',
    'postgresql://db:6432/meta?sslmode=require',
    'postgres:///meta?host=/run/postgresql',
    'postgres://u:p@db-1:5432,db-2,[::1]:5433/meta?target_session_attrs=read-write',
  ])('the DATABASE_URL %s is none', (url) => {
    expect(faultsOf({ DATABASE_URL: url })).toEqual([]);
  });

  it.each(['redis://db', 'rediss://:p@db:6380/2', 'redis-sentinel://a:1,b:2/main', 'redis-cluster://a:1,b:2'])(
    'the REDIS_URL %s is none',
    (url) => {
      expect(faultsOf({ REDIS_URL: url })).toEqual([]);
    },
  );
});

describe('datasources', () => {
  it('none is reachable by default', () => {
    expect(load({}).settings.datasources).toMatchObject({ allowedHosts: [], duckdbFolders: [], untested: false });
  });

  it('hosts, folders and numbers of connections are read from the file', async () => {
    const connections = 'maxConnections: 7, maxConnectionsPerDatasource: 5, maxConnectionsPerClient: 1';
    const text = `datasources: { allowedHosts: ["db:5432", "::1", "10.0.0.7"], duckdbFolders: ["../lake"], sqliteFolders: ["../app"], untested: true, ${connections} }`;
    expect(load(await withFile(text)).settings.datasources).toEqual({
      allowedHosts: ['db:5432', '::1', '10.0.0.7'],
      duckdbFolders: ['../lake'],
      sqliteFolders: ['../app'],
      untested: true,
      maxConnections: 7,
      maxConnectionsPerDatasource: 5,
      maxConnectionsPerClient: 1,
    });
  });

  it.each(['*', '*.example.com', '/var/run/postgresql', 'a,b', 'db:0', 'postgres://db', ''])(
    'the allowed host %j is a fault',
    async (entry) => {
      const faults = faultsOf(await withFile(`datasources: { allowedHosts: ["db", ${JSON.stringify(entry)}] }`));
      expect(faults).toEqual([expect.stringMatching(/datasources\.allowedHosts\.1: .*host/)]);
    },
  );
});

describe('the encryption key', () => {
  const production = { NODE_ENV: 'production', DATABASE_URL: 'postgres://u:p4ss@db/meta' };

  it('must be given in production with DATABASE_URL: each replica would make its own', () => {
    expect(faultsOf(production)).toEqual([expect.stringMatching(/GUESTLIST_ENCRYPTION_KEY.*openssl rand -base64 32/)]);
    expect(faultsOf(production).join()).not.toContain('p4ss');
    expect(faultsOf({ ...production, GUESTLIST_ENCRYPTION_KEY: createSealingKey() })).toEqual([]);
    const ring = `${createSealingKey()},${createSealingKey()}`;
    expect(faultsOf({ ...production, GUESTLIST_ENCRYPTION_KEY: ring })).toEqual([]);
  });

  it('is made elsewhere: without DATABASE_URL, outside of production, and where no service runs', () => {
    expect(faultsOf({ NODE_ENV: 'production' })).toEqual([]);
    expect(faultsOf({ DATABASE_URL: production.DATABASE_URL })).toEqual([]);
    const gateway = {
      ...production,
      GUESTLIST_HOST_JWT_SECRET: createSealingKey(),
      GUESTLIST_API_KEY: randomUUID(),
      GUESTLIST_SERVICE_URL: 'http://service',
    };
    expect(faultsOf(gateway, { runsGateway: true, runsService: false })).toEqual([]);
  });

  it.each(['short', 'x'.repeat(44), `${createSealingKey()}x`, `${createSealingKey()},short`])(
    '%j is none, and is not repeated',
    (key) => {
      const [fault = '', ...others] = faultsOf({ ...production, GUESTLIST_ENCRYPTION_KEY: key });
      expect([fault, others]).toEqual([expect.stringContaining('is not 32 bytes in base64'), []]);
      expect(fault).not.toContain(key);
    },
  );
});

describe('a fault of the file', () => {
  it.each([
    [
      'server: { host: 127.0.0.1, prt: 3000 }',
      /guestlist\.yaml:1:28: server\.prt: is not a field; did you mean "port"\?$/,
    ],
    ['logLevel: info\nsevrer:\n  port: 1', /guestlist\.yaml:2:1: sevrer: is not a field; did you mean "server"\?$/],
    [
      'mail:\n  isTlsRequird: true',
      /guestlist\.yaml:2:3: mail\.isTlsRequird: is not a field; did you mean "isTlsRequired"\?$/,
    ],
    ['logLevel: inf', /guestlist\.yaml:1:11: logLevel: .*; did you mean "info"\?$/],
    ['server:\n  port: high', /guestlist\.yaml:2:9: server\.port: expected number, received string$/],
    [
      'channels:\n  ops: { knd: slack }',
      /guestlist\.yaml:2:10: channels\.ops\.knd: is not a field; did you mean "kind"\?$/,
    ],
    ['models:\n  chat: { kynd: x }', /guestlist\.yaml:2:\d+: models\.chat/],
    ['server:\n  port: 80\nmanagement:\n  port: 80', /guestlist\.yaml:4:3: management\.port: is that of server\.port/],
    ['server: {', /guestlist\.yaml:1:\d+: \(file\): not valid YAML/],
  ])('has its line, and what was probably meant: %j', async (text, expected) => {
    expect(faultsOf(await withFile(text))).toContainEqual(expect.stringMatching(expected));
  });
});

describe('what a command does not use', () => {
  /** Everything that a process needs is missing or malformed, but for what no command reads. */
  const faulty = {
    GUESTLIST_SMTP_URL: 'mail.example',
    GUESTLIST_DKIM_KEY: 'no key',
    GUESTLIST_ENCRYPTION_KEY: 'short',
    GUESTLIST_HOOK_SECRETS: 'short',
    GUESTLIST_HOST_JWT_SECRET: 'short',
    GUESTLIST_METRICS_TOKEN: 'short',
    GUESTLIST_GATEWAY_TOKEN: 'short',
    GUESTLIST_API_KEY: 'Bearer key',
  };
  const text = `
mail: { from: reports@analytics.example, logo: gone.png, dkim: { domain: analytics.example, selector: one } }
channels: { ops: { kind: slack, urlVariable: OPS_URL } }
gateway: { session: { issuers: [{ issuer: a, algorithms: [HS256], secretVariable: GONE }] } }
`;
  const withoutLine = (faults: readonly string[]) =>
    faults.map((fault) => fault.replace(/^.*?: ([\w.]+): .*$/, '$1')).toSorted();
  const parts: readonly (readonly [ConfigPart, readonly string[]])[] = [
    ['operator', ['GUESTLIST_API_KEY', 'GUESTLIST_GATEWAY_TOKEN']],
    ['issuers', ['GUESTLIST_HOST_JWT_SECRET', 'gateway.session.issuers.0.secretVariable']],
    ['mail', ['GUESTLIST_SMTP_URL', 'gateway.publicOrigin', 'mail.dkim', 'mail.logo']],
    ['sealing', ['GUESTLIST_ENCRYPTION_KEY']],
    ['receivers', ['channels.ops.urlVariable', 'gateway.publicOrigin']],
  ];

  it.each(parts)('does not hinder it: %s has its own faults alone', async (part, expected) => {
    const env = { ...(await withFile(text)), ...faulty };
    expect(withoutLine(faultsOf(env, { uses: [part] }))).toEqual(expected);
  });

  it('does not hinder a command that reads the settings alone', async () => {
    expect(faultsOf({ ...(await withFile(text)), ...faulty }, { uses: [] })).toEqual([]);
  });

  it('is read by no command: each secret belongs to a part', () => {
    const env = Object.fromEntries(Object.values(secretVariables).map(({ variable }) => [variable, 'x']));
    const given = Object.values(readSecrets(env, new Set())).filter((value) => value !== null && value.length > 0);
    expect(given).toEqual([]);
  });
});

it('a fault of a setting that a variable overrides names the variable', () => {
  expect(faultsOf({ PORT: 'high', GUESTLIST_LOG_LEVEL: 'loud' })).toEqual([
    expect.stringMatching(/or PORT: server\.port/),
    expect.stringMatching(/or GUESTLIST_LOG_LEVEL: logLevel/),
  ]);
});

describe('the channel of use', () => {
  const env = { BILLING: `whsec_${Buffer.alloc(32, 7).toString('base64')}`, SLACK: 'https://hooks.slack.example/x' };
  const given = async (channel: string) => ({
    ...(await withFile(`
channels:
  billing: { kind: webhook, url: https://billing.example, secretVariable: BILLING }
  ops: { kind: slack, urlVariable: SLACK }
gateway: { publicOrigin: "https://analytics.example" }
usage: { channel: ${channel} }
`)),
    ...env,
  });

  it('is apart from the others, so that no policy can grant it', async () => {
    const { channels, usageChannel } = load(await given('billing'), { uses: ['receivers'] });
    expect([channels.map(({ name }) => name), usageChannel?.name]).toEqual([['ops'], 'billing']);
  });

  it.each(['ops', 'gone', 'constructor'])('must be a webhook that is there, and signed: %s', async (channel) => {
    expect(faultsOf(await given(channel), { uses: ['receivers'] })).toEqual([
      expect.stringContaining('usage.channel: must name an entry of channels with kind: webhook'),
    ]);
  });
});

describe('reports by e-mail', () => {
  const set = {
    GUESTLIST_SMTP_URL: 'smtps://user:geheim@mail.example.com',
    GUESTLIST_PUBLIC_ORIGIN: 'https://a.example',
  };

  it('need the mail server and the public origin, where a sender is named', async () => {
    const file = await withFile('mail: { from: reports@a.example }');
    expect(faultsOf(file)).toEqual([
      expect.stringMatching(/GUESTLIST_SMTP_URL: is not set/),
      expect.stringMatching(/gateway\.publicOrigin: is null/),
    ]);
    expect(faultsOf({ ...file, ...set })).toEqual([]);
  });

  it.each([
    'mail.example.com',
    'http://mail.example.com',
    'smtp://',
    'smtp://u:geheim@host/path',
    'smtp://u:geheim@host?tls=no',
  ])('a malformed mail server (%s) is a fault, without the password', (url) => {
    const faults = faultsOf({ ...set, GUESTLIST_SMTP_URL: url });
    expect(faults).toEqual([expect.stringMatching(/GUESTLIST_SMTP_URL: must be smtp:/)]);
    expect(faults.join()).not.toContain('geheim');
  });

  it.each([
    'from: "a@b.example, c@d.example"',
    'from: "a@b.example\\nBcc: x"',
    'allowedDomains: ["*"]',
    'allowedDomains: ["@a.example"]',
    'dashboardUrl: "javascript:x"',
  ])('reports by e-mail refuse %s', async (setting) => {
    expect(faultsOf({ ...set, ...(await withFile(`mail: { ${setting} }`)) })).toHaveLength(1);
  });
});
