import fc from 'fast-check';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eraseFromAudit } from '../../src/gateway/audit/append.js';
import type { AuditEvent } from '../../src/gateway/audit/audit.js';
import { type AuditContent, entryOfLine, follow, genesisHash } from '../../src/gateway/audit/chain.js';
import { auditEraser, keepPolicyText } from '../../src/gateway/audit/commands.js';
import { exportAudit, exportInput, loadExplanation, verifyAudit } from '../../src/gateway/audit/read.js';
import { auditSearchInput, findInAudit, type SearchBounds } from '../../src/gateway/audit/search.js';
import { createAudit } from '../../src/gateway/audit/writer.js';
import { type Ledger, type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { ledgerRetention } from '../../src/gateway/retention/kinds.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { sweepKind } from '../suites/sweep.js';
import { captureLog, createMovableClock } from './harness.js';
import { openTestLedger } from './ledgers.js';

const hasPostgres = await isPostgresThere();
const silent = pino({ level: 'silent' });
const clock = createMovableClock();

const mint = (n: number, clientId = 'unmistakable-tenant', user = 'iss|unmistakable-user'): AuditEvent => ({
  kind: 'mint',
  code: 'OK',
  requestId: `request-${n}`,
  clientId,
  user,
  policyAt: ['flights.yaml:3:5'],
  requestDigest: 'ab'.repeat(32),
  upstreamId: 'cd'.repeat(32),
  durationMs: n,
  detail: { dashboardId: `delays--${clientId}`, asked: user, n },
});

const start = async () => {
  const ledger = await openTestLedger();
  const audit = createAudit({ ledger, clock, log: silent });
  const exported = async (input: object = {}) => exportAudit(ledger, exportInput.parse(input));
  const contents = async (input: object = {}): Promise<AuditContent[]> =>
    (await exported(input)).lines.map((line) => JSON.parse(entryOfLine(line)?.content ?? ''));
  return { ledger, audit, exported, contents };
};

/** Changes the audit directly in the database, with its triggers disabled, as an attacker would. */
const tamper = async ({ db }: Ledger, statement: string): Promise<void> => {
  await sql`set session_replication_role = replica`.execute(db);
  await sql.raw(statement).execute(db);
  await sql`set session_replication_role = origin`.execute(db);
};

describe('the chain', () => {
  it('holds every event in order, each with the hash of the previous one', async () => {
    const { ledger, audit, contents } = await start();
    await Promise.all(Array.from({ length: 20 }, (_, n) => audit.record(mint(n))));
    const all = await contents();
    expect(all.map(({ seq, durationMs }) => [seq, durationMs])).toEqual(all.map((_, n) => [n + 1, n]));
    expect(all[0]?.prev).toBe(genesisHash);
    expect(await verifyAudit(ledger)).toMatchObject({ entries: 20, fault: null });
  });

  it('is verified and exported in slices, with the same result as at once', async () => {
    const { ledger, audit, exported } = await start();
    await Promise.all(Array.from({ length: 450 }, (_, n) => audit.record(mint(n))));
    let turns = 0;
    const breathe = async (): Promise<void> => {
      turns += 1;
    };
    expect(await verifyAudit(ledger, undefined, { breathe })).toMatchObject({ entries: 450, fault: null });
    expect(turns).toBe(3);
    const { lines, next } = await exported({ limit: 450 });
    const single: string[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page = await exported({ after, limit: 70 });
      single.push(...page.lines);
      after = page.next;
    }
    expect(lines).toEqual(single);
    expect([lines.length, next]).toEqual([450, null]);
    expect(await exported({ limit: 449 })).toEqual({ lines: lines.slice(0, 449), next: 449 });
  });

  it('cannot be changed, emptied or cut by an SQL statement', async () => {
    const { ledger, audit } = await start();
    await audit.record(mint(1));
    for (const statement of [
      'update guestlist_gateway.audit_events set content = content',
      'delete from guestlist_gateway.audit_events',
      'truncate guestlist_gateway.audit_events',
    ]) {
      await expect(sql.raw(statement).execute(ledger.db), statement).rejects.toThrow(/append-only/);
    }
  });

  it.each([
    [
      'a changed content',
      `update guestlist_gateway.audit_events set content = replace(content, '"OK"', '"NO"') where seq = 4`,
      4,
    ],
    [
      'a changed content with a new hash',
      `update guestlist_gateway.audit_events set content = replace(content, '"OK"', '"NO"'), hash = encode(sha256(convert_to(replace(content, '"OK"', '"NO"'), 'UTF8')), 'hex') where seq = 4`,
      5,
    ],
    ['a changed hash', `update guestlist_gateway.audit_events set hash = repeat('a', 64) where seq = 4`, 4],
    ['a removed entry', 'delete from guestlist_gateway.audit_events where seq = 4', 4],
    ['a removed beginning', 'delete from guestlist_gateway.audit_events where seq < 4', 1],
    ['a removed end', 'delete from guestlist_gateway.audit_events where seq > 6', 7],
    [
      'two that changed places',
      'update guestlist_gateway.audit_events set seq = case seq when 4 then 1005 else 1004 end where seq in (4, 5); update guestlist_gateway.audit_events set seq = seq - 1000 where seq > 1000',
      4,
    ],
    ['a content that is no JSON', `update guestlist_gateway.audit_events set content = 'x' where seq = 4`, 4],
    ['everything removed', 'delete from guestlist_gateway.audit_events', 1],
  ])('shows %s, and its place', async (_, statement, seq) => {
    const { ledger, audit } = await start();
    await Promise.all(Array.from({ length: 8 }, (_unused, n) => audit.record(mint(n))));
    for (const one of statement.split(';')) await tamper(ledger, one);
    expect((await verifyAudit(ledger)).fault).toMatchObject({ seq });
  });

  it('if rewritten, or cut together with its head, contradicts a head that was stored elsewhere', async () => {
    const { ledger, audit } = await start();
    await Promise.all(Array.from({ length: 8 }, (_unused, n) => audit.record(mint(n))));
    const { head } = await verifyAudit(ledger);
    expect((await verifyAudit(ledger, head)).fault).toBeNull();
    const { rows } = await sql<{ hash: string }>`select hash from guestlist_gateway.audit_events where seq = 6`.execute(
      ledger.db,
    );
    await tamper(ledger, 'delete from guestlist_gateway.audit_events where seq > 6');
    await tamper(ledger, `update guestlist_gateway.audit_head set seq = 6, hash = '${rows[0]?.hash}'`);
    expect((await verifyAudit(ledger)).fault).toBeNull();
    expect((await verifyAudit(ledger, head)).fault).toMatchObject({ seq: 8 });
    await audit.record(mint(100));
    await audit.record(mint(101));
    expect((await verifyAudit(ledger, head)).fault).toMatchObject({
      seq: 8,
      message: expect.stringContaining('rewritten'),
    });
  });

  it('reveals a change of any single character', async () => {
    const { audit, exported } = await start();
    await Promise.all(Array.from({ length: 4 }, (_unused, n) => audit.record(mint(n))));
    const { lines } = await exported();
    const check = (all: readonly string[]) => {
      let head = { seq: 0, hash: genesisHash };
      for (const line of all) {
        const entry = entryOfLine(line);
        if (entry === undefined) throw new Error('no entry');
        head = follow(head, entry);
      }
      return head.hash;
    };
    const whole = check(lines);
    fc.assert(
      fc.property(fc.nat(3), fc.nat(), fc.integer({ min: 32, max: 126 }), (at, offset, code) => {
        const line = lines[at] ?? '';
        const place = offset % line.length;
        const changed = `${line.slice(0, place)}${String.fromCharCode(code)}${line.slice(place + 1)}`;
        if (changed === line) return true;
        try {
          return check(lines.with(at, changed)) !== whole;
        } catch {
          return true;
        }
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it.skipIf(!hasPostgres)('is one chain for several gateways', async () => {
    const { url, drop } = await createOwnDatabase();
    const databases = await Promise.all([1, 2, 3].map(() => openDatabase({ databaseUrl: url, folder: null })));
    onTestFinished(async () => {
      for (const database of databases) await database.close();
      await drop();
    });
    const ledgers = await Promise.all(databases.map((database) => openLedger(database.connect<LedgerTables>())));
    const audits = ledgers.map((ledger) => createAudit({ ledger, clock, log: silent }));
    await Promise.all(
      audits.flatMap((audit, at) =>
        Array.from({ length: 40 }, (_, n) => audit.record(mint(n, `tenant-${n % 3}`, `u${at}`))),
      ),
    );
    for (const ledger of ledgers) {
      expect(await verifyAudit(ledger)).toMatchObject({ entries: 120, fault: null });
    }
    const keys = await ledgers[0]?.db.selectFrom('tenant_keys').selectAll().execute();
    expect(keys).toHaveLength(3);
  });
});

describe('names', () => {
  it('are pseudonyms, one for each person and tenant, and occur in no entry', async () => {
    const { audit, exported, contents } = await start();
    await audit.record(mint(1));
    await audit.record(mint(2));
    await audit.record(mint(3, 'another-tenant'));
    await audit.record({ kind: 'denial', code: 'SESSION_INVALID', requestId: 'r' });
    expect((await exported()).lines.join('\n')).not.toMatch(/unmistakable/);
    const [first, second, third] = await contents();
    expect(first?.tenant).toBe(second?.tenant);
    expect(first?.user).toBe(second?.user);
    expect(third?.tenant).not.toBe(first?.tenant);
    // The same subject in another tenant is another user.
    expect(third?.user).not.toBe(first?.user);
    expect(third?.requestDigest).not.toBe(first?.requestDigest);
  });

  it('names of persons without a tenant are not stored, since no erasure would remove them', async () => {
    const { audit, exported, contents } = await start();
    await audit.record({ kind: 'revocation', code: 'OK', user: 'iss|unmistakable-user' });
    const [content] = await contents();
    expect([content?.user, content?.names]).toEqual([expect.stringMatching(/^u_/), undefined]);
    expect((await exported({ names: true })).names).toEqual([null]);
  });

  it('are shown to operators on request, for each tenant', async () => {
    const { audit, exported } = await start();
    await audit.record(mint(1));
    await audit.record(mint(2, 'another-tenant'));
    const { lines, names } = await exported({ tenant: 'another-tenant', names: true });
    expect(lines).toHaveLength(1);
    expect(names).toEqual([{ tenant: 'another-tenant', user: 'iss|unmistakable-user' }]);
    expect(await exported({ tenant: 'nobody' })).toEqual({ lines: [], next: null });
  });

  it("are unreadable after the tenant's key is deleted, and the chain is still valid", async () => {
    const { ledger, audit, exported } = await start();
    await audit.record(mint(1));
    await audit.record(mint(2, 'another-tenant'));
    await ledger.db.transaction().execute((db) => eraseFromAudit(db, ledger.refOf('unmistakable-tenant')));
    expect(await verifyAudit(ledger)).toMatchObject({ entries: 2, fault: null });
    expect((await exported({ names: true })).names).toEqual([
      null,
      { tenant: 'another-tenant', user: 'iss|unmistakable-user' },
    ]);
    expect(await exported({ tenant: 'unmistakable-tenant' })).toEqual({ lines: [], next: null });
  });

  it('names of a deleted tenant are not stored again', async () => {
    const { ledger, audit, contents } = await start();
    const now = clock.now();
    await ledger.db
      .insertInto('tenants')
      .values({
        tenant_ref: ledger.refOf('unmistakable-tenant'),
        client_id: null,
        state: 'deleted',
        occurred_at: now,
        created_at: now,
        updated_at: now,
      })
      .execute();
    await audit.record({
      ...mint(1),
      explanation: {
        policyDigest: 'd',
        session: { issuer: null, subject: 's', claims: {} },
        asked: {},
        now: now.toISOString(),
      },
    });
    expect((await contents())[0]).toMatchObject({ tenant: 'erased', user: 'erased', code: 'OK' });
    expect(await ledger.db.selectFrom('tenant_keys').selectAll().execute()).toEqual([]);
    expect(await ledger.db.selectFrom('audit_explanations').selectAll().execute()).toEqual([]);
  });
});

describe('pages', () => {
  it('contain every entry once, in order', async () => {
    const { audit, exported } = await start();
    await Promise.all(Array.from({ length: 25 }, (_, n) => audit.record(mint(n, `tenant-${n % 2}`))));
    const seen: number[] = [];
    for (let next: number | null = 0; next !== null; ) {
      const page = await exported({ after: next, limit: 4, tenant: 'tenant-1' });
      seen.push(...page.lines.map((line) => JSON.parse(line).seq));
      next = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 12 }, (_, n) => 2 * n + 2));
    expect((await exported({ kind: 'hook' })).lines).toEqual([]);
  });
});

describe('a search', () => {
  const searching = async () => {
    const { ledger, audit } = await start();
    // Without an end in time, so that no answer depends on how fast this machine is.
    const whole = { block: 10_000, goesOn: () => true };
    const find = async (words: readonly string[], more: object = {}, bounds: SearchBounds = whole) =>
      findInAudit(ledger, { words: [...words], limit: 20, ...more }, bounds);
    const numbers = async (...words: string[]) => (await find(words)).entries.map(({ seq }) => seq);
    /** Signs the tenant up: the ledger then knows its id. */
    const signUp = async (clientId: string) => {
      const times = { created_at: clock.now(), updated_at: clock.now() };
      const row = { tenant_ref: ledger.refOf(clientId), client_id: clientId, state: 'active' as const, ...times };
      await ledger.db.insertInto('tenants').values(row).execute();
    };
    return { ledger, audit, find, numbers, signUp };
  };

  it('finds the newest entries by number, kind, request, details and names, in pages', async () => {
    const { ledger, audit, find, numbers } = await searching();
    for (let n = 1; n <= 5; n += 1) await audit.record(mint(n, `tenant-${n % 2}`));
    await audit.record({ kind: 'admin', code: 'OK', requestId: 'r', detail: { command: 'tenant-suspend' } });
    expect(await numbers('TENANT-1', 'mint')).toEqual([5, 3, 1]);
    expect(await numbers('tenant-suspend')).toEqual([6]);
    expect(await numbers('unmistakable-user', 'tenant-0')).toEqual([4, 2]);
    expect(await numbers('nowhere')).toEqual([]);
    const page = await find(['mint'], { limit: 2 });
    expect(page).toMatchObject({ entries: [{ seq: 5, tenant: 'tenant-1', code: 'OK' }, { seq: 4 }] });
    expect(auditSearchInput.parse({ words: ['mint'], after: page.next })).toMatchObject({ after: page.next });
    expect((await find(['mint'], { limit: 2, after: page.next })).entries.map(({ seq }) => seq)).toEqual([3, 2]);
    await ledger.db.deleteFrom('tenant_keys').execute();
    expect(await numbers('tenant-1')).toEqual([]);
    expect(JSON.stringify(await find(['mint']))).not.toMatch(/unmistakable|tenant-/);
  });

  it('finds what is older than the newest thousand, by contents, tenant and user, until the tenant is erased', async () => {
    const { ledger, audit, find, numbers, signUp } = await searching();
    await signUp('Ancient-Tenant');
    await audit.record(mint(1, 'Ancient-Tenant', 'iss|Ancient-User'));
    await audit.record(mint(2, 'never-signed-up'));
    await audit.record({
      kind: 'admin',
      code: 'OK',
      requestId: 'r',
      detail: { command: 'ancient 100%_\\ "of" it’s Ärger' },
    });
    await Promise.all(Array.from({ length: 1_300 }, (_, n) => audit.record(mint(n, 'usual', 'iss|usual'))));
    expect(await numbers('ancient-ten')).toEqual([1]);
    expect(await numbers('ANCIENT-user')).toEqual([1]);
    expect(await numbers('ancient-user', 'ANCIENT-tenant', 'mint')).toEqual([1]);
    expect(await numbers('never-signed-up')).toEqual([2]);
    expect(await numbers('ancient', '100%_', 'ärger')).toEqual([3]);
    // Contents and tenants first, and then what only a user's name tells.
    expect(await numbers('ancient')).toEqual([3, 1]);
    for (const word of ['%', '_', 'ancient_ten', 'a%t-user', 'usual%', '100_'])
      expect([word, await numbers('ancient', word)]).toEqual([word, word.length > 1 ? [] : [3]]);
    expect(await numbers('usual', 'ancient')).toEqual([]);
    await ledger.db.transaction().execute((db) => eraseFromAudit(db, ledger.refOf('Ancient-Tenant')));
    expect([await numbers('ancient-ten'), await numbers('ancient-user')]).toEqual([[], []]);
    expect(JSON.stringify(await find(['request-1', 'mint']))).not.toContain('Ancient');
  });

  it('ends in time, and goes on where it ended without leaving anything out', async () => {
    const { audit, find, signUp } = await searching();
    await signUp('rare');
    const events = Array.from({ length: 1_210 }, (_, n) =>
      n % 200 === 0 ? mint(n, 'rare') : mint(n, 'usual', n % 150 === 0 ? 'iss|rare-user' : 'iss|usual'),
    );
    await Promise.all(events.map((event) => audit.record(event)));
    const bounds = { block: 100, goesOn: () => false };
    const found: number[] = [];
    let calls = 0;
    for (let after: string | null | undefined; after !== null; calls += 1) {
      const page = await find(['rare'], after === undefined ? { limit: 2 } : { limit: 2, after }, bounds);
      found.push(...page.entries.map(({ seq }) => seq));
      after = page.next;
    }
    expect(calls).toBeGreaterThan(12);
    const expected = events.flatMap((_, n) => (n % 200 === 0 || n % 150 === 0 ? [n + 1] : []));
    expect(found.toSorted((a, b) => a - b)).toEqual(expected);
    expect((await find(['rare'])).entries).toHaveLength(expected.length);
    expect((await find(['rare'])).next).toBeNull();
  });

  it('refuses a place that no answer named, and words that no text holds', () => {
    for (const after of ['', '5', 'names:0:1', 'names:1', 'other:1:1', 'names:1:1:1', `names:1:${'9'.repeat(16)}`])
      expect(auditSearchInput.safeParse({ words: ['a'], after }).success).toBe(false);
    for (const word of ['', '\0', '\n', '\ud800'])
      expect(auditSearchInput.safeParse({ words: [word] }).success).toBe(false);
  });
});

describe('the decision of a request', () => {
  const session = { issuer: 'i', subject: 'ann', claims: { org_id: 'LAX', secret: 'unmistakable-claim' } };

  it('is stored encrypted, with the policy of that time, until it is too old or its tenant is erased', async () => {
    const { ledger, audit } = await start();
    const files = [{ file: 'flights.yaml', text: 'version: 1' }];
    await keepPolicyText(ledger, { digest: 'd1', files }, clock.now());
    const explanation = { policyDigest: 'd1', session, asked: { embeds: ['delays'] }, now: clock.now().toISOString() };
    await audit.record({ ...mint(1, 'LAX'), requestId: 'r1', explanation });
    await audit.record({ kind: 'denial', code: 'NO_TENANT', requestId: 'r2', explanation });
    expect(await loadExplanation(ledger, 'r1')).toEqual({ ...explanation, clientId: 'LAX', code: 'OK', policy: files });
    expect(await loadExplanation(ledger, 'r2')).toMatchObject({ clientId: null, code: 'NO_TENANT' });
    const { rows } = await sql<{ sealed: string }>`select sealed from guestlist_gateway.audit_explanations`.execute(
      ledger.db,
    );
    expect(JSON.stringify(rows)).not.toMatch(/unmistakable|LAX/);
    await ledger.db.transaction().execute((db) => eraseFromAudit(db, ledger.refOf('LAX')));
    await expect(loadExplanation(ledger, 'r1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const times = { archive: null, explanationsDays: 1, deliveriesDays: 1, sessionsDays: 1 };
    await sweepKind(ledgerRetention(ledger, times), 'explanations', new Date(clock.now().getTime() + 86_400_001));
    await expect(loadExplanation(ledger, 'r2')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('can be found for each of several requests with one id; the id alone is refused as ambiguous', async () => {
    const { ledger, audit } = await start();
    await keepPolicyText(ledger, { digest: 'd1', files: [] }, clock.now());
    const explanation = { policyDigest: 'd1', session, asked: {}, now: clock.now().toISOString() };
    await audit.record({ ...mint(1, 'LAX'), requestId: 'r1', explanation });
    await audit.record({ kind: 'hook', code: 'OK', requestId: 'r1' });
    expect(await loadExplanation(ledger, 'r1')).toMatchObject({ clientId: 'LAX' });
    // Both are recorded at the same time, so that one transaction stores both.
    await Promise.all([
      audit.record({ ...mint(2, 'ATL'), requestId: 'r1', explanation }),
      audit.record({ kind: 'denial', code: 'NO_POLICY', requestId: 'r1', clientId: 'SFO', explanation }),
    ]);
    await audit.record({ kind: 'denial', code: 'SESSION_INVALID', requestId: 'r1' });
    const at = clock.now().toISOString();
    await expect(loadExplanation(ledger, 'r1')).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining(`r1:5 (denial, ${at}); r1:4 (denial, ${at}); r1:3 (mint, ${at}); r1:1 (mint,`),
    });
    expect(await loadExplanation(ledger, 'r1:1')).toMatchObject({ clientId: 'LAX', code: 'OK' });
    expect(await loadExplanation(ledger, 'r1:3')).toMatchObject({ clientId: 'ATL', code: 'OK' });
    expect(await loadExplanation(ledger, 'r1:4')).toMatchObject({ clientId: 'SFO', code: 'NO_POLICY' });
    for (const id of ['r1:2', 'r1:5', 'r1:6', 'r']) {
      await expect(loadExplanation(ledger, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    // After the other explanations were erased, this request id must not be shown as if it belonged to the remaining
    // decision.
    await ledger.db.transaction().execute((db) => eraseFromAudit(db, ledger.refOf('LAX')));
    await ledger.db.transaction().execute((db) => eraseFromAudit(db, ledger.refOf('ATL')));
    await expect(loadExplanation(ledger, 'r1')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  });
});

describe('a policy with an override for an erased tenant', () => {
  it('is named in the report, since it also explains requests of other tenants', async () => {
    const { ledger } = await start();
    const text = JSON.stringify({ version: 1, tenants: [{ name: 'west', clientIds: ['LAX', 'SFO'] }] });
    await keepPolicyText(
      ledger,
      {
        digest: 'd',
        files: [
          { file: 'p.yaml', text: 'version: 1' },
          { file: 't.yaml', text },
        ],
      },
      clock.now(),
    );
    const leftOf = async (clientId: string) =>
      (
        await auditEraser(ledger).erase(
          { clientId, tenantRef: ledger.refOf(clientId) },
          { write: (work) => ledger.db.transaction().execute(work), fence: 1 },
        )
      ).left;
    expect(await leftOf('LAX')).toHaveLength(1);
    expect(await leftOf('LA')).toEqual([]);
    expect(await leftOf('west')).toEqual([]);
  });
});

describe('more events than can be stored', () => {
  it('denials are only counted; all other events are refused', async () => {
    const ledger = await openTestLedger();
    const { log, lines } = captureLog();
    const audit = createAudit({ ledger, clock, log, maxWaiting: 600 });
    const denials = Array.from({ length: 700 }, () => audit.record({ kind: 'denial', code: 'SESSION_INVALID' }));
    await Promise.all(denials);
    await audit.close();
    const { lines: entries } = await exportAudit(ledger, exportInput.parse({}));
    const last = JSON.parse(entries.at(-1) ?? '');
    expect([entries.length, last.code, last.detail]).toEqual([501, 'NOT_TOLD_APART', { count: 200 }]);
    const small = createAudit({ ledger, clock, log, maxWaiting: 2 });
    const settled = await Promise.allSettled([mint(1), mint(2), mint(3), mint(4)].map((event) => small.record(event)));
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    expect(lines).toEqual([]);
  });

  it('an unavailable ledger rejects the event, and later events are not lost', async () => {
    const ledger = await openTestLedger();
    const audit = createAudit({ ledger, clock, log: silent });
    await tamper(ledger, 'alter table guestlist_gateway.audit_head rename to away');
    await expect(audit.record(mint(1))).rejects.toThrow();
    await tamper(ledger, 'alter table guestlist_gateway.away rename to audit_head');
    await audit.record(mint(2));
    expect(await verifyAudit(ledger)).toMatchObject({ entries: 1, fault: null });
  });
});
