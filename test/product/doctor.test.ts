/** `guestlist doctor`: each fault is named with its mend, and the file for support holds nothing of customers. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/doctor.js';
import type { Finding } from '../../src/compose/doctor/finding.js';
import { examineAddresses, examineNode, examineProcess } from '../../src/compose/doctor/machine.js';
import { examineMail, type ReadTexts } from '../../src/compose/doctor/mail.js';
import { sealedColumns } from '../../src/compose/reseal.js';
import type { Variant } from '../../src/model/organization.js';
import type { Config } from '../../src/platform/config/config.js';
import { createSealer, type KeyRing } from '../../src/platform/keys/sealing.js';
import { openCanary } from '../../src/service/store/key-canary.js';
import { createStore } from '../../src/service/store/store.js';
import { runCli } from '../cli/in-process.js';
import { createMigratedDatabase, migrateAll } from '../suites/metadata.js';
import { createOwnDatabase, isPostgresThere, onServer } from '../suites/postgres.js';
import { addTenants } from './metadata-world.js';
import { on } from './moving.js';

const hasServer = await isPostgresThere();
const encryptionKey = Buffer.alloc(32, 5);
const ring: KeyRing = [encryptionKey];

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-doctor-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

const makeServer = async (): Promise<string> => {
  const { url, drop } = await createMigratedDatabase();
  onTestFinished(drop);
  await on(url, (database) =>
    openCanary(database.connect(), { ring, keySource: 'the test', columns: sealedColumns, acceptsLoss: false }),
  );
  return url;
};

const doctor = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
  const ran = await runCli(['doctor', '--json', ...args], {
    env: { GUESTLIST_FLUSH: '0', GUESTLIST_ENCRYPTION_KEY: encryptionKey.toString('base64'), PORT: '1', ...env },
  });
  return { ...ran, findings: JSON.parse(ran.out) as readonly Finding[] };
};

const ofArea = (findings: readonly Finding[], area: string): readonly string[] =>
  findings.filter((one) => one.area === area).map(({ level, text }) => `${level}: ${text}`);

type Login = { readonly username: string; readonly password: string };

/** Stores a datasource of the database `at` in the metadata. */
const addSource = async (
  url: string,
  at: string,
  name: string,
  { username, password }: Login,
  datasourceType: 'POSTGRES' | Variant = 'POSTGRES',
): Promise<void> => {
  const { hostname, port, pathname } = new URL(at);
  await on(url, async (database) => {
    const store = createStore(database.connect(), createSealer(...ring));
    await store.datasources.insert({
      ...{ id: name, name, syncedAt: null, datasourceType, host: hostname },
      ...{ port: Number(port === '' ? 5432 : port), username, password, database: pathname.slice(1) },
      ...{ schema: null, isSsl: false },
    });
  });
};

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe.skipIf(!hasServer)('the doctor', () => {
  it('names too many rights of each database user, with the mend, and passes those that only read', async () => {
    const [folder, server] = [await makeFolder(), await makeServer()];
    const { url: customers, drop } = await createOwnDatabase();
    onTestFinished(drop);
    const reader = `reader_${randomBytes(4).toString('hex')}`;
    const owner = `owner_${randomBytes(4).toString('hex')}`;
    await onServer(async (client) => {
      await client.query(`create role ${reader} login password 'secret'`);
      await client.query(`create role ${owner} login bypassrls password 'secret'`);
    });
    onTestFinished(() => onServer(async (client) => void (await client.query(`drop role ${reader}, ${owner}`))));
    await on(customers, async (database) => {
      const db = database.connect();
      await sql`revoke create on schema public from public`.execute(db);
      await sql`create table public.orders (id integer)`.execute(db);
      await sql`grant select on public.orders to ${sql.id(reader)}, ${sql.id(owner)}`.execute(db);
      await sql`grant insert on public.orders to ${sql.id(owner)}`.execute(db);
    });
    onTestFinished(() =>
      on(customers, (database) =>
        sql`drop owned by ${sql.id(reader)}, ${sql.id(owner)}`.execute(database.connect()),
      ).then(() => undefined),
    );
    await addSource(server, customers, 'reads', { username: reader, password: 'secret' });
    await addSource(server, customers, 'writes', { username: owner, password: 'secret' });
    await addSource(server, customers, 'gone', { username: 'nobody_of_this_name', password: 'secret' });
    const config = join(folder, 'guestlist.yaml');
    await writeFile(config, JSON.stringify({ demo: true, datasources: { allowedHosts: [new URL(server).hostname] } }));
    const { findings, code } = await doctor([], {
      ...{ DATABASE_URL: server, GUESTLIST_DATA_DIR: folder, GUESTLIST_CONFIG: config },
      GUESTLIST_HOST_JWT_SECRET: 'x'.repeat(40),
    });
    expect(code).toBe(1);
    const sources = findings.filter(({ area }) => area === 'datasources');
    expect(sources.map(({ level, subject = '' }) => [level, subject.split(':')[0]])).toEqual(
      expect.arrayContaining([
        ['good', 'reads'],
        ['fault', 'writes'],
        ['fault', 'gone'],
      ]),
    );
    const writes = sources.find(({ subject = '' }) => subject.startsWith('writes'));
    expect(writes?.text).toMatch(/BYPASSRLS.*may write to tables/);
    expect(writes?.mend).toContain('NOBYPASSRLS');
    expect(ofArea(findings, 'metadata database').join()).toMatch(/PostgreSQL \d+\.\d+ answers/);
    expect(JSON.stringify(findings)).not.toContain("'secret'");
  });

  it('names each source of a type on which nothing was run, whether it may be connected to or not', async () => {
    const [folder, server] = [await makeFolder(), await makeServer()];
    const { url: customers, drop } = await createOwnDatabase();
    onTestFinished(drop);
    const { username, password } = new URL(customers);
    await addSource(server, customers, 'plain', { username, password });
    await addSource(server, customers, 'hyper', { username, password }, 'TIMESCALE');
    const config = join(folder, 'guestlist.yaml');
    const found = async (untested: boolean) => {
      const datasources = { allowedHosts: [new URL(server).hostname], untested };
      await writeFile(config, JSON.stringify({ demo: true, datasources }));
      const { findings } = await doctor([], {
        ...{ DATABASE_URL: server, GUESTLIST_DATA_DIR: folder, GUESTLIST_CONFIG: config },
        GUESTLIST_HOST_JWT_SECRET: 'x'.repeat(40),
      });
      return findings.filter(({ area }) => area === 'datasources');
    };
    for (const untested of [true, false]) {
      const named = (await found(untested)).filter(({ text }) => text.includes('never run on TimescaleDB'));
      expect(named).toMatchObject([{ level: 'warning', subject: 'hyper' }]);
    }
    expect(JSON.stringify(await found(false))).toContain('datasources.untested: true');
    expect(JSON.stringify(await found(true))).not.toContain('datasources.untested: true');
  });

  it('tells how far the billing system is behind, and why, where use is sent', async () => {
    const [folder, server] = [await makeFolder(), await makeServer()];
    await on(server, async (database) => {
      const db = database.connect();
      await sql`insert into guestlist.usage_sending (closed_until, attempt_at, fault)
        values (now(), now(), 'barred')`.execute(db);
      await sql`insert into guestlist.usage_messages (id, at, is_late, tenants)
        values (gen_random_uuid(), now() - interval '10 hours', false, '[]')`.execute(db);
    });
    const config = join(folder, 'guestlist.yaml');
    const examined = async (settings: object) => {
      await writeFile(config, JSON.stringify(settings));
      const env = { DATABASE_URL: server, GUESTLIST_DATA_DIR: folder, GUESTLIST_CONFIG: config };
      const { findings } = await doctor([], {
        ...env,
        GUESTLIST_HOST_JWT_SECRET: 'x'.repeat(40),
        BILLING_SECRET: secret,
      });
      return findings.filter(({ text }) => text.includes('billing system'));
    };
    const channels = { ops: { kind: 'webhook', url: 'https://billing.example', secretVariable: 'BILLING_SECRET' } };
    const gateway = { publicOrigin: 'https://analytics.example' };
    expect(await examined({ channels, gateway })).toEqual([]);
    expect(await examined({ channels, gateway, usage: { channel: 'ops' } })).toMatchObject([
      {
        ...{ level: 'fault', text: 'the billing system lacks the use of 9 hours; 1 message waits' },
        mend: expect.stringContaining('allowPrivateAddresses'),
      },
    ]);
  });

  it('tells pending migrations, old keys, stuck work and a wrong encryption key', async () => {
    const [folder, server] = [await makeFolder(), await makeServer()];
    await on(server, async (database) => {
      const db = database.connect();
      await sql`insert into guestlist.service_tokens (id, name, hash, created_at)
        values ('old', 'of-long-ago', encode(sha256('x'), 'hex'), now() - interval '2 years')`.execute(db);
      await sql`insert into guestlist_gateway.tenants (tenant_ref, client_id, state, created_at, updated_at, deleted_at, is_erasure_owed)
        values ('ref', null, 'deleted', now(), now(), now() - interval '1 day', true)`.execute(db);
    });
    const env = { DATABASE_URL: server, GUESTLIST_DATA_DIR: folder };
    const { findings } = await doctor([], env);
    expect(ofArea(findings, 'keys')).toContain('warning: 1 service tokens are older than 365 days');
    expect(findings.find(({ subject }) => subject === 'of-long-ago')?.mend).toContain(
      'guestlist service-tokens create',
    );
    expect(ofArea(findings, 'work')).toContainEqual(
      expect.stringMatching(/^fault: 1 of erasure wait, the oldest for 14\d\d minutes/),
    );
    expect(ofArea(findings, 'retention')).toEqual(['good: what is old enough is deleted']);
    await on(server, (database) =>
      sql`update guestlist_gateway.retention set swept_at = now() - interval '3 days'`.execute(database.connect()),
    );
    expect(ofArea((await doctor([], env)).findings, 'retention')).toEqual([
      "warning: for 2 days, no sweep of the gateway's ledger went through everything",
    ]);
    await on(server, (database) =>
      sql`delete from guestlist.kysely_migration where name = (select max(name) from guestlist.kysely_migration)`.execute(
        database.connect(),
      ),
    );
    const other = Buffer.alloc(32, 6).toString('base64');
    const again = await doctor([], { ...env, GUESTLIST_ENCRYPTION_KEY: other });
    expect(ofArea(again.findings, 'versions')).toContainEqual(
      expect.stringMatching(/^warning: the metadata has pending migrations: \d{4}-/),
    );
    expect(ofArea(again.findings, 'keys')).toContain('fault: the encryption key does not open the stored secrets');
    expect(again.code).toBe(1);
  });

  it('looks at an embedded database that is in use or not there yet, and at a server that is gone', async () => {
    const folder = await makeFolder();
    const none = await doctor([], { GUESTLIST_DATA_DIR: folder });
    expect(ofArea(none.findings, 'metadata database')).toEqual(['note: there is none yet: the first start makes it']);
    expect(ofArea(none.findings, 'process')).toEqual(['note: no Guestlist runs at the configured address']);
    await on(folder, migrateAll);
    const there = await doctor([], { GUESTLIST_DATA_DIR: folder });
    expect(ofArea(there.findings, 'metadata database')).toContain('good: the embedded database opens');
    const gone = await doctor([], {
      GUESTLIST_DATA_DIR: folder,
      DATABASE_URL: 'postgres://user:geheim@127.0.0.1:1/db',
    });
    expect(gone).toMatchObject({ code: 1 });
    expect(ofArea(gone.findings, 'metadata database')).toEqual(['fault: could not be looked at']);
    expect(gone.out).not.toContain('geheim');
  });

  it('lists every fault of the configuration, and looks at nothing else then', async () => {
    const folder = await makeFolder();
    const config = join(folder, 'guestlist.yaml');
    await writeFile(config, 'server: { port: no }\nlogLevel: loud\n');
    const { findings, code } = await doctor([], { GUESTLIST_DATA_DIR: folder, GUESTLIST_CONFIG: config });
    expect(code).toBe(1);
    expect(findings.filter(({ area, level }) => area === 'configuration' && level === 'fault').length).toBeGreaterThan(
      1,
    );
    expect(ofArea(findings, 'metadata database')).toEqual([]);
  });

  it('writes a file for support without any secret, name or value that was planted', async () => {
    const [folder, server] = [await makeFolder(), await makeServer()];
    const planted = {
      gatewayToken: 'planted-gateway-token-0123456789abcdef',
      smtp: 'planted-smtp-pass',
      redis: 'planted-redis-pass',
      own: 'planted-secret-of-a-lookup-0123456789',
    };
    const stored = {
      serviceToken: 'planted-stored-service',
      demoApiKey: 'planted-demo-key',
      demoJwtSecret: 'planted-demo-jwt',
    };
    await writeFile(
      join(folder, 'credentials.json'),
      JSON.stringify({
        ...stored,
        encryptionKey: encryptionKey.toString('base64'),
        gatewayToken: 'planted-stored-gateway',
      }),
      { mode: 0o600 },
    );
    await on(server, async (database) => {
      await addTenants(database, 3);
      await sql`insert into guestlist.service_tokens (id, name, hash, created_at)
        values ('old', 'planted-key-name', encode(sha256('y'), 'hex'), now() - interval '2 years')`.execute(
        database.connect(),
      );
    });
    await addSource(server, server, 'planted-source-name', {
      username: 'planted_user',
      password: 'planted-source-password',
    });
    const config = join(folder, 'guestlist.yaml');
    const mail = { from: 'reports@planted-domain.example', tenants: { 'planted-tenant': { senderName: 'Planted' } } };
    await writeFile(
      config,
      JSON.stringify({ gateway: { publicOrigin: 'https://a.example' }, mail: { ...mail, from: null } }),
    );
    const file = join(folder, 'support.json');
    await doctor(['--bundle', file], {
      ...{ DATABASE_URL: server, GUESTLIST_DATA_DIR: folder, GUESTLIST_CONFIG: config },
      GUESTLIST_HOST_JWT_SECRET: planted.own,
      GUESTLIST_GATEWAY_TOKEN: planted.gatewayToken,
      GUESTLIST_SMTP_URL: `smtp://user:${planted.smtp}@127.0.0.1:1`,
      REDIS_URL: `redis://:${planted.redis}@127.0.0.1:1`,
    });
    const text = await readFile(file, 'utf8');
    expect(text).not.toMatch(/planted/i);
    expect(text).not.toContain(encryptionKey.toString('base64'));
    expect(text).not.toContain('bulk-1');
    const bundle = JSON.parse(text);
    expect(bundle.tables['guestlist_gateway.tenants']).toBe(3);
    expect(bundle.variables).toContain('GUESTLIST_GATEWAY_TOKEN');
    expect(bundle.findings).toContainEqual(expect.objectContaining({ area: 'Redis', level: 'fault' }));
  });
});

describe('the records of the sender of mails', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const published = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const config = {
    settings: {
      mail: { from: 'reports@mail.example', tenants: {}, isTlsRequired: true },
      gateway: { publicOrigin: 'https://a.example', hooks: {} },
    },
    ...{ secrets: { smtpUrl: 'smtp://mail.example', hookSecrets: [] }, channels: [], brandOf: () => undefined },
    dkim: { domainName: 'mail.example', keySelector: 'one', privateKey: pem, headerFieldNames: '' },
  } as unknown as Config;

  const records =
    (texts: Readonly<Record<string, readonly string[]>>): ReadTexts =>
    async (name) => {
      const found = texts[name];
      if (found === undefined) throw Object.assign(new Error(`queryTxt ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
      return found.map((text) => text.match(/.{1,100}/g) ?? []);
    };
  const right = {
    'mail.example': ['other', 'v=spf1 ip4:192.0.2.1 -all'],
    '_dmarc.mail.example': ['v=DMARC1; p=reject'],
    'one._domainkey.mail.example': [`v=DKIM1; k=rsa; p=${published}`],
  };
  const taking = async () => null;
  const faulty = async (texts: Readonly<Record<string, readonly string[]>>): Promise<readonly string[]> =>
    (await examineMail(config, records(texts), taking))
      .filter(({ level }) => level === 'fault' || level === 'warning')
      .map(({ level, text }) => `${level}: ${text}`);

  it.each([
    ['are as they should be', right, []],
    ['lack SPF', { ...right, 'mail.example': ['other'] }, ['warning: the domain of the sender has no SPF record']],
    [
      'have two of SPF',
      { ...right, 'mail.example': ['v=spf1 -all', 'v=spf1 ~all'] },
      ['fault: the domain of the sender has several SPF records, so none counts'],
    ],
    [
      'let everybody send',
      { ...right, 'mail.example': ['v=spf1 +all'] },
      ['fault: the SPF record lets everybody send for the domain of the sender'],
    ],
    [
      'have a DMARC that asks for nothing',
      { ...right, '_dmarc.mail.example': ['v=DMARC1; p=none'] },
      ['warning: the DMARC record of the sender asks for nothing (p=none)'],
    ],
    [
      'have another key',
      { ...right, 'one._domainkey.mail.example': ['v=DKIM1; p=AAAA'] },
      ['fault: DNS has another key of the signature (DKIM)'],
    ],
    [
      'are not there',
      {},
      [
        'warning: the domain of the sender has no SPF record',
        'warning: the domain of the sender has no DMARC record',
        'fault: the key of the signature (DKIM) is not in DNS',
      ],
    ],
  ])('are judged when they %s', async (_, texts, expected) => {
    expect(await faulty(texts)).toEqual(expected);
  });

  it('stand beside what the mail server says, with its mend', async () => {
    const found = await examineMail(config, records(right), async () => 'mail-login-refused');
    expect(found.filter(({ level }) => level === 'fault')).toEqual([
      expect.objectContaining({
        text: 'the mail server refused the login, or requires one',
        subject: 'GUESTLIST_SMTP_URL',
        mend: expect.stringMatching(/^Check user and password/),
      }),
    ]);
  });

  it('cannot be judged while DNS does not answer', async () => {
    const silent: ReadTexts = () => Promise.reject(Object.assign(new Error('timeout'), { code: 'ETIMEOUT' }));
    await expect(examineMail(config, silent, taking)).rejects.toThrow('timeout');
  });
});

describe('the machine', () => {
  it('is judged by its Node.js, its public address and what its process says', async () => {
    expect(examineNode('v20.18.0').map(({ level }) => level)).toEqual(['fault']);
    expect(examineNode('v22.1.0').map(({ level }) => level)).toEqual(['good']);
    const at = (publicOrigin: string | null) =>
      examineAddresses({
        settings: { gateway: { publicOrigin } },
        isProduction: true,
        isDemo: false,
      } as unknown as Config);
    expect(at('http://a.example')[0]).toMatchObject({ level: 'fault', text: expect.stringContaining('without TLS') });
    expect(at('https://a.example')[0]).toMatchObject({ level: 'good' });
    expect(at(null)[0]).toMatchObject({ level: 'warning' });
    const fix = { metadata: 'start the server' };
    const found = await examineProcess(async () => ({ status: 'not ready', failed: ['metadata'], fix }));
    expect(found).toEqual([
      expect.objectContaining({
        level: 'fault',
        text: 'the running process fails its check metadata',
        mend: fix.metadata,
      }),
    ]);
  });
});
