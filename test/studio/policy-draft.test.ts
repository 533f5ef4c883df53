/** The commands `policy-check` and `policy-save`: what a changed policy would do, and putting it in force. */
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepPolicyText } from '../../src/gateway/audit/commands.js';
import { createAudit } from '../../src/gateway/audit/writer.js';
import type { Ledger } from '../../src/gateway/ledger/ledger.js';
import { loadPolicyFile } from '../../src/gateway/policy/load.js';
import type { Policies } from '../../src/gateway/policy/policies.js';
import { createReachOf, type PolicyMayRead } from '../../src/gateway/policy/reach.js';
import { policyDraftCommands } from '../../src/gateway/policy-tools/draft-commands.js';
import { createDraftThread } from '../../src/gateway/policy-tools/draft-thread.js';
import { openTestLedger } from '../gateway/ledgers.js';

const text = `version: 1
dataApp: shop
workspace: shop
datamart: shop
session:
  claims: { org: string, roles: list<string> }
  tenant: claims.org
  roles: claims.roles
templates:
  sales: { name: Sales }
  costs: { name: Costs }
rules:
  - name: analysts see sales
    when: '"analyst" in user.roles'
    grant: { templates: [sales], timezone: '"UTC"' }
`;
const tests = `policy: policy.yaml
tests:
  - name: an analyst sees sales
    user: { sub: ann, org: acme, roles: [analyst] }
    expect: { tenant: acme, templates: [sales], timezone: UTC }
`;
const wider = text.replace('[sales], timezone', '[sales, costs], timezone');

let folder: string;
let ledger: Ledger;
const file = () => join(folder, 'policy.yaml');
const clock = { now: () => new Date(Date.UTC(2026, 0, 1)) };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-draft-'));
  await writeFile(file(), text);
  await writeFile(join(folder, 'policy.test.yaml'), tests);
  ledger = await openTestLedger();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const commands = (isSaving = true, mayRead: PolicyMayRead = { tables: [], lookups: [] }) => {
  let current = loadPolicyFile(file());
  const policies: Policies = {
    current: () => current,
    reload: async () => {
      current = loadPolicyFile(file());
      return { outcome: 'changed', digest: current.digest };
    },
    subscribe: () => {},
    close: async () => {},
  };
  const [check, save] = policyDraftCommands({
    ...{ ledger, policies, clock, isSaving },
    reachOf: createReachOf(mayRead, file()),
  });
  return {
    check: (draft: string, signal?: AbortSignal) => check?.run({ text: draft }, undefined, signal),
    checkBlind: (draft: string) =>
      check?.run({ text: draft }, { name: 'link bob', seesData: false, roles: [], studio: null }),
    save: (draft: string, digest = current.digest) => save?.run({ text: draft, digest }),
    policies,
  };
};

const logIn = async (users: readonly (readonly [string, string])[]) => {
  const policy = loadPolicyFile(file());
  await keepPolicyText(ledger, policy, clock.now());
  const audit = createAudit({ ledger, clock, log: pino({ level: 'silent' }) });
  for (const [index, [subject, org]] of users.entries()) {
    const session = { issuer: null, subject, claims: { org, roles: ['analyst'] } };
    const explanation = { policyDigest: policy.digest, session, asked: {}, now: clock.now().toISOString() };
    await audit.record({
      kind: 'mint',
      code: 'OK',
      requestId: `request-${index}`,
      clientId: org,
      user: subject,
      explanation,
    });
  }
  await audit.close();
};

test('a draft with faults is answered with each fault and its line, without the folders of the server', async () => {
  const broken = text.replace('user.roles', 'user.rolls').replace('[sales]', '[sale]');
  const answer = (await commands().check(broken)) as { faults: readonly { at: string }[] };
  expect(answer).toMatchObject({ tests: null, plan: null });
  expect(answer.faults.map(({ at }) => at.split(':').slice(0, 2).join(':'))).toEqual([
    'policy.yaml:14',
    'policy.yaml:15',
  ]);
  expect(JSON.stringify(answer)).not.toContain(folder);
});

test('no fault and no failed test of a draft names a folder of the server', async () => {
  const costly = Array.from(
    { length: 300 },
    (_, nth) => `  - name: r${nth}
    when: 'user.roles.exists(a, user.roles.exists(b, a == b))'
    grant: { templates: [sales], timezone: '"UTC"' }
`,
  ).join('');
  type Checked = {
    faults: readonly { message: string }[];
    tests: { failed: readonly unknown[] } | null;
  };
  const faulty = (await commands().check(`${text}${costly}`)) as Checked;
  expect(faulty.faults[0]?.message).toMatch(/steps together.*policy\.yaml:\d+:\d+ takes/);
  expect(JSON.stringify(faulty)).not.toContain(folder);
  const failing = (await commands().check(text.replace('"analyst" in', '"nobody" in'))) as Checked;
  expect(failing.tests?.failed).toHaveLength(1);
  expect(JSON.stringify(failing)).not.toContain(folder);
});

test('a draft is compared for no user where the asking person may not see data', async () => {
  await logIn([['ann', 'acme']]);
  expect(await commands().checkBlind(wider)).toMatchObject({ faults: [], plan: null, tests: { count: 1 } });
});

test('a draft without faults is tested, and compared for each user who logged in lately, once', async () => {
  await logIn([
    ['ann', 'acme'],
    ['bo', 'best'],
    ['ann', 'acme'],
  ]);
  expect(await commands().check(text)).toMatchObject({
    faults: [],
    tests: { count: 1, failed: [] },
    plan: { counts: { users: 2, unchanged: 2 }, changed: [] },
  });
  expect(await commands().check(wider)).toMatchObject({
    tests: { count: 1, failed: [{ name: 'an analyst sees sales' }] },
    plan: { counts: { users: 2, unchanged: 0, gain: 2 }, changed: [{ effect: 'gain' }, { effect: 'gain' }] },
  });
});

test('a saved policy is in force, in a file with the same rights and nothing left beside it', async () => {
  await chmod(file(), 0o640);
  const { save, policies } = commands();
  expect(await save(wider)).toMatchObject({ outcome: 'changed' });
  expect(await readFile(file(), 'utf8')).toBe(wider);
  expect(policies.current().digest).toBe(loadPolicyFile(file()).digest);
  expect((await stat(file())).mode & 0o777).toBe(0o640);
  expect((await readdir(folder)).toSorted()).toEqual(['policy.test.yaml', 'policy.yaml']);
});

test('nothing is saved over a policy that changed meanwhile, with faults, or where the operator keeps it elsewhere', async () => {
  const { save } = commands();
  await expect(save(wider, 'ab'.repeat(32))).rejects.toMatchObject({ code: 'POLICY_CHANGED' });
  await expect(save(text.replace('[sales]', '[sale]'))).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY' });
  await expect(commands(false).save(wider)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  expect(await readFile(file(), 'utf8')).toBe(text);
});

const withTable = (table: string): string =>
  text.replace('tenant: claims.org', `tenant: { key: claims.org, table: ${JSON.stringify(table)} }`);
const faultsOf = async (draft: string, mayRead: PolicyMayRead) => {
  const answer = (await commands(true, mayRead).check(draft)) as { faults: readonly { message: string }[] };
  return answer.faults.map(({ message }) => message);
};

test('a draft reads no file that the configuration does not list, whatever it names', async () => {
  const none = { tables: [], lookups: [] };
  await writeFile(join(folder, 'tenants.csv'), 'key,tenant\nacme,acme\n');
  for (const table of ['tenants.csv', '/etc/shadow', '/dev/zero', '../tenants.csv', '/proc/self/environ']) {
    const [fault, ...others] = await faultsOf(withTable(table), none);
    expect([fault, others]).toEqual([expect.stringContaining('gateway.policyMayRead.tables'), []]);
    await expect(commands(true, none).save(withTable(table))).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY' });
  }
});

test('a listed table is read where it is a regular file in the folder of the policy, and nothing else is', async () => {
  await writeFile(join(folder, 'tenants.csv'), 'key,tenant\nacme,acme\n');
  await symlink('/etc/hostname', join(folder, 'outside.csv'));
  const tables = ['tenants.csv', 'outside.csv', '/dev/zero', 'missing.csv', '.'];
  const listed = { tables, lookups: [] };
  expect(await faultsOf(withTable('tenants.csv'), listed)).toEqual([]);
  expect(await faultsOf(withTable('outside.csv'), listed)).toEqual([expect.stringContaining('not in the folder')]);
  expect(await faultsOf(withTable('/dev/zero'), listed)).toEqual([expect.stringContaining('not in the folder')]);
  expect(await faultsOf(withTable('missing.csv'), listed)).toEqual([expect.stringContaining('ENOENT')]);
  expect(await faultsOf(withTable('.'), listed)).toEqual([expect.stringContaining('no')]);
});

test('a draft names a host and a secret only as a pair that the configuration lists', async () => {
  const http = (url: string, secretVariable: string): string =>
    text.replace(
      'tenant: claims.org',
      `tenant: { key: claims.org, http: { url: ${JSON.stringify(url)}, secretVariable: ${secretVariable} } }`,
    );
  const lookup = { url: 'https://host.example/tenants', secretVariable: 'HOST_SECRET', allowPrivateAddresses: false };
  const listed = {
    tables: [],
    lookups: [lookup, { ...lookup, url: 'https://other.example/', secretVariable: 'OTHER' }],
  };
  // Nobody asks the host for a draft: the tests beside the policy would have to say its answer.
  expect(await faultsOf(http(lookup.url, 'HOST_SECRET'), listed)).toEqual([expect.stringContaining('a dry run')]);
  for (const [url, secret] of [
    [lookup.url, 'OTHER'],
    ['https://attacker.example/', 'HOST_SECRET'],
    ['https://host.example/tenants?x=1', 'HOST_SECRET'],
  ] as const)
    expect(await faultsOf(http(url, secret), listed)).toEqual([
      expect.stringContaining('gateway.policyMayRead.lookups'),
    ]);
});

/** Answers at once, from this process. */
const startServer = async () => {
  const server = createServer((_, response) => response.end()).listen(0);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const { port } = server.address() as AddressInfo;
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      get({ port, agent: false }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
    });
  return { ask, port, countConnections: () => connections, close: () => server.close() };
};

test('a draft reaches no other port or path of a private host that the configuration lists, nor the listed one', async () => {
  const [listed, other] = [await startServer(), await startServer()];
  const lookup = { url: `http://127.0.0.1:${listed.port}/tenants`, secretVariable: 'S', allowPrivateAddresses: true };
  const mayRead = { tables: [], lookups: [lookup] };
  const asking = (url: string) =>
    text.replace('tenant: claims.org', `tenant: { key: claims.org, http: { url: "${url}", secretVariable: S } }`);
  await logIn([['ann', 'acme']]);
  for (const url of [
    `http://127.0.0.1:${other.port}/tenants`,
    `http://127.0.0.1:${listed.port}/keys`,
    `http://localhost:${listed.port}/tenants`,
  ]) {
    expect(await faultsOf(asking(url), mayRead)).toEqual([expect.stringContaining('gateway.policyMayRead.lookups')]);
    await expect(commands(true, mayRead).save(asking(url))).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY' });
  }
  expect(await faultsOf(asking(lookup.url), mayRead)).toEqual([expect.stringContaining('a dry run')]);
  expect([listed, other].map(({ countConnections }) => countConnections())).toEqual([0, 0]);
  listed.close();
  other.close();
});

test('a draft that names a listed table is compared with the tenants of that table', async () => {
  await writeFile(join(folder, 'tenants.csv'), 'key,tenant\nacme,acme\nbest,other\n');
  await logIn([
    ['ann', 'acme'],
    ['bo', 'best'],
    ['cy', 'none'],
  ]);
  const answer = await commands(true, { tables: ['tenants.csv'], lookups: [] }).check(withTable('tenants.csv'));
  expect(answer).toMatchObject({
    faults: [],
    plan: {
      counts: { users: 3, unchanged: 1 },
      changed: expect.arrayContaining([
        expect.objectContaining({ user: 'bo', tenant: 'other' }),
        expect.objectContaining({ user: 'cy', effect: 'loss' }),
      ]),
    },
  });
});

const many = (count: number, write: (nth: number) => string): string =>
  Array.from({ length: count }, (_, nth) => write(nth)).join('');
/** The slowest texts that were found, each near the greatest length. */
const heavy = {
  rules:
    text +
    many(2000, (nth) => `  - { name: r${nth}, when: '"r${nth}" in user.roles', grant: { templates: [sales] } }\n`),
  'unknown keys': text + many(40_000, (nth) => `k${nth}: 1\n`),
  values: `${text}restrictions:\n  - { name: r, when: "true", restrict: { rls: { ${many(20_000, (nth) => `a${nth}: "'1'", `)} } } }\n`,
  'faults of syntax': text + '] '.repeat(200_000),
};

test.each(Object.entries(heavy))(
  'a draft with many %s holds up no other request',
  async (_, draft) => {
    expect(draft.length).toBeLessThan(500_000);
    const { ask, close } = await startServer();
    let isChecked = false;
    const checked = commands()
      .check(draft)
      ?.finally(() => {
        isChecked = true;
      });
    for (let nth = 0; nth < 20; nth += 1) await ask();
    expect(isChecked).toBe(false);
    close();
    expect(await checked).toMatchObject({ faults: expect.any(Array) });
  },
  120_000,
);

test('a check ends when its caller leaves, and the next one has its turn', async () => {
  const { check } = commands();
  const leaving = new AbortController();
  const left = check(heavy['faults of syntax'], leaving.signal);
  const next = check(text);
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  expect(await next).toMatchObject({ faults: [] });
});

test('a draft that takes more than its time or memory is refused', async () => {
  const work = { text: heavy['faults of syntax'], files: [{ file: file(), text }], tells: 'faults' } as const;
  const unasked = () => Promise.reject(new Error('nothing is asked'));
  const reads = { openTable: unasked, findLookup: unasked, users: unasked };
  for (const limits of [
    { seconds: 0.001, megabytes: 512 },
    { seconds: 60, megabytes: 40 },
  ])
    await expect(createDraftThread(limits)(work, reads, new AbortController().signal)).rejects.toMatchObject({
      code: 'INVALID_REQUEST_BODY',
      message: expect.stringContaining(`${limits.megabytes} MB`),
    });
}, 120_000);

test('of many drafts at once, those that find no place to wait are refused', async () => {
  const { check } = commands();
  const leaving = new AbortController();
  const drafts = Array.from({ length: 60 }, () => check(text, leaving.signal)?.catch((error: unknown) => error));
  leaving.abort();
  const codes = (await Promise.all(drafts)).map((answer) => (answer as { code?: unknown }).code);
  expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(9);
});
