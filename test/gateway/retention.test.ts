/** Retention of the ledger: the audit is archived before it is deleted, and holds keep what is of a tenant. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../src/gateway/audit/audit.js';
import { type ChainHead, entryOfLine } from '../../src/gateway/audit/chain.js';
import { exportAudit, exportInput, verifyAudit } from '../../src/gateway/audit/read.js';
import { verifySegment } from '../../src/gateway/audit/segment.js';
import { createAudit } from '../../src/gateway/audit/writer.js';
import { attachLedger, type Ledger, type LedgerTables } from '../../src/gateway/ledger/ledger.js';
import { auditKind } from '../../src/gateway/retention/archive.js';
import { createHolds } from '../../src/gateway/retention/holds.js';
import { ledgerRetention, ledgerRows } from '../../src/gateway/retention/kinds.js';
import { Refusal } from '../../src/model/refusal.js';
import type { Retained, Retention } from '../../src/model/retention.js';
import { countKinds, findSweptAt, withTurn } from '../../src/platform/databases/aged-rows.js';
import { archiveKeysOf } from '../../src/platform/keys/archive-keys.js';
import { type Backing, openTestDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { sweepAll, sweepKind } from '../suites/sweep.js';
import { captureLog, createMovableClock } from './harness.js';

const dayMs = 86_400_000;
const silent = pino({ level: 'silent' });
const keys = archiveKeysOf([randomBytes(32)]);
const { verifier } = keys;
const backings: readonly Backing[] = (await isPostgresThere()) ? ['pglite', 'postgres'] : ['pglite'];

const session = { issuer: null, subject: 'ann', claims: {} };
const explanation = { policyDigest: 'd', session, asked: {}, now: '2026-01-01T00:00:00.000Z' };
const mint = (clientId: string, n: number): AuditEvent => ({
  ...{ kind: 'mint', code: 'OK', requestId: `${clientId}-${n}`, clientId, user: 'iss|ann', explanation },
});

/** A service that takes holds, as far as the gateway can tell. */
const tellNobody = {
  upstream: async () => Promise.reject(new Error('not called')),
  capabilities: {
    requireCapability: async () => {
      throw new Refusal('NOT_SUPPORTED', 'no holds here');
    },
  },
};

const open: (() => Promise<void>)[] = [];

/** Ends the earlier worlds, whose databases are used again. `beside`: another one whose folder it shares. */
const start = async (backing: Backing, beside?: { readonly folder: string }) => {
  const folderOf = beside?.folder;
  if (beside === undefined) for (const close of open.splice(0)) await close();
  const database = await openTestDatabase(backing);
  open.push(database.close);
  const ledger = await attachLedger(database.connect<LedgerTables>(), false);
  const clock = createMovableClock(Date.UTC(2026, 0, 10, 12));
  const folder = folderOf ?? join(await mkdtemp(join(tmpdir(), 'guestlist-archive-')), 'archive');
  const archive = { folder, days: 30, keys, entries: 10 };
  const audit = createAudit({ ledger, clock, log: silent });
  const holds = createHolds({ ledger, ...tellNobody, clock, log: silent });
  const retentionOf = (of: Ledger = ledger): Retention =>
    ledgerRetention(of, { archive, explanationsDays: 30, deliveriesDays: 30, sessionsDays: 30 });
  const record = async (clientIds: readonly string[]): Promise<void> => {
    for (const [n, clientId] of clientIds.entries()) await audit.record(mint(clientId, n));
  };
  const verify = (anchor?: ChainHead) => verifyAudit(ledger, anchor, { verifier });
  const sweep = () => sweepKind(retentionOf(), 'audit', clock.now());
  const here = async (): Promise<readonly number[]> => {
    const rows = await ledger.db.selectFrom('audit_events').select('seq').orderBy('seq').execute();
    return rows.map(({ seq }) => Number(seq));
  };
  const files = async () => {
    const names = (await readdir(folder)).toSorted();
    return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })));
  };
  /** Verifies all files in their order. Returns the head after them. */
  const verifyArchive = async (): Promise<ChainHead | undefined> => {
    let head: ChainHead | undefined;
    for (const file of await files()) head = verifySegment(file, verifier, head).head;
    return head;
  };
  return {
    database,
    ledger,
    clock,
    folder,
    archive,
    audit,
    holds,
    retentionOf,
    record,
    verify,
    sweep,
    here,
    files,
    verifyArchive,
  };
};
type World = Awaited<ReturnType<typeof start>>;

const many = (clientId: string, count: number): readonly string[] => Array.from({ length: count }, () => clientId);
const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);

const tamper = async ({ ledger: { db } }: World, statement: string): Promise<void> => {
  await sql`set session_replication_role = replica`.execute(db);
  await sql.raw(statement).execute(db);
  await sql`set session_replication_role = origin`.execute(db);
};

describe.each(backings)('the audit on %s', (backing) => {
  it('is archived in whole days, then deleted; what is left and each file alone verify', async () => {
    const world = await start(backing);
    const { clock, record, verify, sweep, here, files, verifyArchive, ledger } = world;
    await record(many('LAX', 25));
    clock.advance(5 * dayMs);
    await record(many('LAX', 5));
    expect(await sweep()).toBe(1);
    expect(await here()).toEqual(upTo(30));
    const before = await verify();
    clock.advance(26 * dayMs);
    await sweep();
    expect(await here()).toEqual(upTo(30, 26));
    expect((await files()).map(({ name }) => name)).toEqual([
      'audit-000000000001-000000000010.jsonl',
      'audit-000000000011-000000000020.jsonl',
      'audit-000000000021-000000000025.jsonl',
    ]);
    for (const file of await files()) expect(verifySegment(file, verifier).head.seq).toBeGreaterThan(0);
    expect((await verifyArchive())?.seq).toBe(25);
    expect(await verify(before.head)).toEqual({ ...before, entries: 5, archived: 25 });
    await record(['ATL']);
    clock.advance(40 * dayMs);
    await sweep();
    expect(await here()).toEqual([]);
    expect((await verifyArchive())?.seq).toBe(31);
    expect(await verify()).toMatchObject({ entries: 0, archived: 31, fault: null });
    // Only the archive tells of a head that is inside of a segment.
    expect((await verify(before.head)).fault).toMatchObject({ seq: 30, message: expect.stringMatching(/its segment/) });
    await record(['ATL']);
    expect(await verify()).toMatchObject({ entries: 1, archived: 31, fault: null });
    const page = await exportAudit(ledger, exportInput.parse({ after: 31 }));
    expect(page.lines).toHaveLength(1);
  });

  it('verifies while it is archived', async () => {
    const world = await start(backing);
    await Promise.all(Array.from({ length: 250 }, (_, n) => world.audit.record(mint('LAX', n))));
    world.clock.advance(40 * dayMs);
    await world.record(many('LAX', 3));
    const kinds = [auditKind(world.ledger, { ...world.archive, entries: 100 })];
    let turns = 0;
    const breathe = async (): Promise<void> => {
      turns += 1;
      if (turns === 1) await sweepKind({ kinds }, 'audit', world.clock.now());
    };
    const verified = await verifyAudit(world.ledger, undefined, { verifier, breathe });
    expect(verified).toMatchObject({ entries: 3, archived: 250, fault: null });
  });

  it('is deleted by nobody before it is archived, also once its segment is planned', async () => {
    const world = await start(backing);
    await world.record(many('LAX', 3));
    const remove = () => sql`delete from guestlist_gateway.audit_events`.execute(world.ledger.db);
    await expect(remove()).rejects.toThrow(/append-only/);
    await writeFile(world.folder, 'a file where the folder should be');
    world.clock.advance(40 * dayMs);
    await expect(world.sweep()).rejects.toThrow();
    await expect(remove()).rejects.toThrow(/append-only/);
    expect(await world.here()).toEqual([1, 2, 3]);
    expect(await world.verify()).toMatchObject({ entries: 3, archived: 0, fault: null });
  });

  it('is not archived if it is not whole', async () => {
    const world = await start(backing);
    await world.record(many('LAX', 8));
    world.clock.advance(40 * dayMs);
    await tamper(world, `update guestlist_gateway.audit_events set hash = repeat('a', 64) where seq = 4`);
    await expect(world.sweep()).rejects.toThrow(/entry 4 was changed/);
    expect(await world.here()).toHaveLength(8);
  });

  it('is not deleted while its folder has other entries under the same name', async () => {
    const world = await start(backing);
    await world.record(many('LAX', 3));
    world.clock.advance(40 * dayMs);
    await world.sweep();
    const again = await start(backing, world);
    await again.record(many('ATL', 3));
    again.clock.advance(40 * dayMs);
    await expect(again.sweep()).rejects.toThrow(/another installation writes into this folder/);
    expect(await again.here()).toHaveLength(3);
  });

  it.each([
    ['a record of archived entries that is gone', 'delete from guestlist_gateway.audit_segments where first_seq = 1'],
    [
      'two records that changed places',
      `update guestlist_gateway.audit_segments a set anchor = b.anchor, hash = b.hash
       from guestlist_gateway.audit_segments b where a.first_seq + b.first_seq = 12 and a.first_seq <> b.first_seq`,
    ],
    [
      'a changed record',
      `update guestlist_gateway.audit_segments set anchor = replace(anchor, '"last":10', '"last":11')`,
    ],
    ['a removed entry after them', 'delete from guestlist_gateway.audit_events where seq = 21'],
    [
      'an archived entry that is back',
      `insert into guestlist_gateway.audit_events select 4, at, kind, request_id, tenant, content, hash from guestlist_gateway.audit_events where seq = 21`,
    ],
  ])('a verification shows %s', async (_, statement) => {
    const world = await start(backing);
    await world.record(many('LAX', 20));
    world.clock.advance(40 * dayMs);
    await world.record(many('LAX', 2));
    await world.sweep();
    expect((await world.verify()).fault).toBeNull();
    await tamper(world, statement);
    expect((await world.verify()).fault).not.toBeNull();
  });

  it('does not verify without the key that signed, and is not archived any further', async () => {
    const world = await start(backing);
    await world.record(many('LAX', 12));
    world.clock.advance(40 * dayMs);
    await world.sweep();
    expect((await verifyAudit(world.ledger)).fault?.message).toMatch(/none of the given public keys/);
    const foreign = { ...world.archive, keys: archiveKeysOf([randomBytes(32)]) };
    const kinds = [auditKind(world.ledger, foreign)];
    await expect(sweepKind({ kinds }, 'audit', world.clock.now())).rejects.toThrow(/none of the given public keys/);
  });

  it('is signed anew by the first key of the ring, so that the earlier one can go', async () => {
    const world = await start(backing);
    const [old, fresh] = [randomBytes(32), randomBytes(32)];
    const kindOf = (...ring: [Buffer, ...Buffer[]]) => ({
      kinds: [auditKind(world.ledger, { ...world.archive, keys: archiveKeysOf(ring) })],
    });
    await world.record(many('LAX', 12));
    world.clock.advance(40 * dayMs);
    await sweepKind(kindOf(old), 'audit', world.clock.now());
    const alone = archiveKeysOf([fresh]).verifier;
    expect((await verifyAudit(world.ledger, undefined, { verifier: alone })).fault).not.toBeNull();
    await sweepKind(kindOf(fresh, old), 'audit', world.clock.now());
    expect((await verifyAudit(world.ledger, undefined, { verifier: alone })).fault).toBeNull();
  });

  it('goes on with a file that an earlier key of the ring signed before a crash', async () => {
    const world = await start(backing);
    const [old, fresh] = [randomBytes(32), randomBytes(32)];
    const kindOf = (ledger: Ledger, ...ring: [Buffer, ...Buffer[]]) => ({
      kinds: [auditKind(ledger, { ...world.archive, keys: archiveKeysOf(ring) })],
    });
    await world.record(many('LAX', 8));
    world.clock.advance(40 * dayMs);
    // The third transaction is the deletion.
    const crashed = sweepKind(kindOf(crashAt(world.ledger, 3, 'before'), old), 'audit', world.clock.now());
    await expect(crashed).rejects.toThrow(/killed/);
    const [written] = await world.files();
    await sweepKind(kindOf(world.ledger, fresh, old), 'audit', world.clock.now());
    expect([await world.here(), await world.files()]).toEqual([[], [written]]);
  });

  it('loses nothing, and has nothing twice, wherever a sweep crashes', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let nth = 1; ; nth += 1) {
        const world = await start(backing);
        await world.record(many('LAX', 12));
        world.clock.advance(40 * dayMs);
        const { head } = await world.verify();
        const crashing = crashAt(world.ledger, nth, moment);
        const isCrashed = await sweepKind(world.retentionOf(crashing), 'audit', world.clock.now()).then(
          () => false,
          () => true,
        );
        const archived = (await world.verify()).archived;
        expect(await world.here()).toEqual(upTo(12, archived + 1));
        await world.sweep();
        expect(await world.here()).toEqual([]);
        expect((await world.files()).map(({ name }) => name)).toHaveLength(2);
        expect(await world.verifyArchive()).toEqual(head);
        expect(await world.verify(head)).toMatchObject({ archived: 12, fault: null });
        if (!isCrashed) break;
      }
    }
  });

  it('two processes sweep at once: each entry is archived once', async () => {
    const world = await start(backing);
    const other = await attachLedger(world.database.connect<LedgerTables>(), false);
    await world.record(many('LAX', 60));
    world.clock.advance(40 * dayMs);
    const { head } = await world.verify();
    const parts = { clock: world.clock, log: silent };
    for (let round = 0; round < 2; round += 1)
      await Promise.all([world.ledger, other].map((ledger) => sweepAll({ ...world.retentionOf(ledger), ...parts })));
    expect(await world.here()).toEqual([]);
    expect(await world.verifyArchive()).toEqual(head);
    expect(await world.verify(head)).toMatchObject({ archived: 60, fault: null });
  });

  it('any history of mints, days, holds and sweeps keeps each entry once, and all of held tenants', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('mint' as const),
        whose: fc.constantFrom('A', 'B', 'C'),
        count: fc.integer({ min: 1, max: 7 }),
      }),
      fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ do: fc.constant('hold' as const), whose: fc.constantFrom('A', 'B', null) }),
      fc.record({ do: fc.constant('release' as const) }),
      fc.record({ do: fc.constant('sweep' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
        const world = await start(backing);
        const held: { readonly id: string; readonly whose: string | null }[] = [];
        for (const one of steps) {
          if (one.do === 'mint') await world.record(many(one.whose, one.count));
          if (one.do === 'wait') world.clock.advance(one.days * dayMs);
          if (one.do === 'hold') {
            const before = await entriesOf(world, one.whose);
            const { id } = await world.holds.add({ clientId: one.whose, reason: 'why' }, 'me');
            held.push({ id, whose: one.whose });
            expect(await entriesOf(world, one.whose)).toEqual(expect.arrayContaining([...before]));
          }
          if (one.do === 'release') {
            const last = held.pop();
            if (last !== undefined) await world.holds.remove({ id: last.id, reason: 'over' }, 'me');
          }
          if (one.do === 'sweep') {
            const before = await Promise.all(held.map(({ whose }) => entriesOf(world, whose)));
            await world.sweep();
            const after = await Promise.all(held.map(({ whose }) => entriesOf(world, whose)));
            expect(after).toEqual(before);
          }
          expect((await world.verify()).fault).toBeNull();
        }
        const { archived, head } = await world.verify();
        expect((await world.verifyArchive().catch(() => undefined))?.seq ?? 0).toBe(archived);
        expect((await world.here()).filter((seq) => seq > archived)).toEqual(upTo(head.seq, archived + 1));
      }),
      { numRuns: 12 },
    );
  });
});

/** The numbers of the entries of a tenant that are in the database; null: of all. */
const entriesOf = async ({ ledger, here }: World, clientId: string | null): Promise<readonly number[]> => {
  if (clientId === null) return here();
  const { lines } = await exportAudit(ledger, exportInput.parse({ tenant: clientId }));
  return lines.map((line) => JSON.parse(entryOfLine(line)?.content ?? '').seq);
};

/** A ledger whose nth transaction fails: it is not stored, or is stored and nobody hears of it. */
const crashAt = (ledger: Ledger, nth: number, moment: 'before' | 'after'): Ledger => {
  let count = 0;
  const crash = async <Result>(work: (db: never) => Promise<Result>): Promise<Result> => {
    count += 1;
    if (count !== nth) return ledger.db.transaction().execute(work as never);
    if (moment === 'after') await ledger.db.transaction().execute(work as never);
    throw new Error('the process was killed');
  };
  const db: Kysely<LedgerTables> = new Proxy(ledger.db, {
    get: (target, name) => {
      if (name === 'transaction') return () => ({ execute: crash });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...ledger, db };
};

describe.each(backings)('holds on %s', (backing) => {
  const leftIn = async ({ ledger: { db, refOf } }: World, clientId: string) => {
    const own = db.selectFrom('audit_explanations').select('request_id').where('tenant_ref', '=', refOf(clientId));
    return (await own.execute()).length;
  };
  const sweepEverything = async (world: World): Promise<void> => {
    await sweepAll({ ...world.retentionOf(), clock: world.clock, log: silent });
  };

  it('keep entries and explanations of their tenant, and those of others go', async () => {
    const world = await start(backing);
    await world.record(['LAX', 'ATL', 'LAX', 'ATL']);
    const { id } = await world.holds.add({ clientId: 'LAX', reason: 'a lawsuit' }, 'gateway-token ann');
    world.clock.advance(40 * dayMs);
    const rows = ledgerRows({ auditDays: 30, explanationsDays: 30, deliveriesDays: 30, sessionsDays: 30 });
    expect(await countKinds(world.ledger.db, rows, world.clock.now())).toEqual([
      // The entry of the hold itself is of LAX too.
      { kind: 'audit', due: 2, held: 3 },
      { kind: 'explanations', due: 2, held: 2 },
      { kind: 'hooks', due: 0, held: 0 },
      { kind: 'sessions', due: 0, held: 0 },
    ]);
    await sweepEverything(world);
    expect(await world.here()).toEqual([1, 3, 5]);
    expect([await leftIn(world, 'LAX'), await leftIn(world, 'ATL')]).toEqual([2, 0]);
    expect(await world.verify()).toMatchObject({ archived: 5, fault: null });
    await world.holds.remove({ id, reason: 'it is over' }, 'gateway-token ben');
    await sweepEverything(world);
    expect(await world.here()).toEqual([6]);
    expect(await leftIn(world, 'LAX')).toBe(0);
    expect(await world.verify()).toMatchObject({ archived: 5, entries: 1, fault: null });
  });

  it('shows a kept entry that was changed, also with a new hash', async () => {
    const world = await start(backing);
    await world.record(['LAX', 'ATL', 'LAX', 'ATL']);
    await world.holds.add({ clientId: 'LAX', reason: 'a lawsuit' }, null);
    world.clock.advance(40 * dayMs);
    await world.sweep();
    expect((await world.verify()).fault).toBeNull();
    await tamper(
      world,
      `update guestlist_gateway.audit_events set content = replace(content, '"OK"', '"NO"'),
        hash = encode(sha256(convert_to(replace(content, '"OK"', '"NO"'), 'UTF8')), 'hex') where seq = 3`,
    );
    expect((await world.verify()).fault).toMatchObject({ seq: 3 });
  });

  it('on all tenants keep everything', async () => {
    const world = await start(backing);
    await world.record(['LAX', 'ATL']);
    await world.audit.record({ kind: 'denial', code: 'NO_TENANT', requestId: 'r', explanation });
    const { id } = await world.holds.add({ clientId: null, reason: 'an inspection' }, null);
    world.clock.advance(40 * dayMs);
    await sweepEverything(world);
    expect(await world.here()).toEqual([1, 2, 3, 4]);
    expect([await leftIn(world, 'LAX'), await leftIn(world, 'ATL')]).toEqual([1, 1]);
    await world.holds.remove({ id, reason: 'over' }, null);
    await sweepEverything(world);
    expect(await world.here()).toEqual([5]);
  });

  it('are in the audit, with who and why, when they begin and when they end', async () => {
    const world = await start(backing);
    const { id } = await world.holds.add({ clientId: 'LAX', reason: 'a lawsuit' }, 'gateway-token ann');
    await world.holds.remove({ id, reason: 'it is over' }, 'gateway-token ben');
    const { lines } = await exportAudit(world.ledger, exportInput.parse({ tenant: 'LAX' }));
    expect(lines.map((line) => JSON.parse(entryOfLine(line)?.content ?? '').detail)).toEqual([
      { command: 'hold-add', hold: id, covers: 'tenant', reason: 'a lawsuit', operator: 'gateway-token ann' },
      { command: 'hold-remove', hold: id, covers: 'tenant', reason: 'it is over', operator: 'gateway-token ben' },
    ]);
    expect(await world.holds.list()).toMatchObject({ holds: [] });
    await expect(world.holds.remove({ id, reason: 'again' }, null)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('end with the erasure of their tenant, whose name they do not keep; an erased tenant cannot be held', async () => {
    const world = await start(backing);
    const { ledger, clock, holds } = world;
    await world.record(['LAX']);
    const [own, other] = [
      await holds.add({ clientId: 'LAX', reason: 'a lawsuit' }, null),
      await holds.add({ clientId: 'ATL', reason: 'a lawsuit' }, null),
    ];
    const subject = { clientId: 'LAX', tenantRef: ledger.refOf('LAX') };
    const lock = { write: (work: never) => ledger.db.transaction().execute(work), fence: 1 };
    expect(await holds.eraser.erase(subject, lock as never)).toEqual({ erased: { holds: 1 } });
    expect((await holds.list()).holds.map(({ id }) => id)).toEqual([other.id]);
    const { lines } = await exportAudit(ledger, exportInput.parse({ kind: 'erasure' }));
    expect(JSON.parse(lines[0] ?? '').detail).toEqual({ event: 'hold-ended', holds: own.id });
    const now = clock.now();
    const row = { tenant_ref: subject.tenantRef, client_id: null, state: 'deleted', created_at: now, updated_at: now };
    await ledger.db
      .insertInto('tenants')
      .values({ ...row, state: 'deleted', occurred_at: now })
      .execute();
    await expect(holds.add({ clientId: 'LAX', reason: 'late' }, null)).rejects.toMatchObject({
      code: 'INVALID_REQUEST_BODY',
    });
  });

  it('wait for a slice that runs, so that nothing is deleted once they are stored', async () => {
    if (backing === 'pglite') return;
    const world = await start(backing);
    let isHeld = false;
    let isSwept = false;
    const [begun, release] = [gate(), gate()];
    const slice = withTurn(world.ledger.db, 'guestlist_gateway', async () => {
      begun.open();
      await release.opened;
      expect(isHeld).toBe(false);
      isSwept = true;
    });
    await begun.opened;
    const adding = world.holds.add({ clientId: 'LAX', reason: 'a lawsuit' }, null).then(() => {
      isHeld = true;
      expect(isSwept).toBe(true);
    });
    await expect(world.sweep()).rejects.toThrow(/another sweep/);
    release.open();
    await Promise.all([slice, adding]);
  });
});

const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

describe('a sweep', () => {
  const world = async () => {
    const { log, lines } = captureLog();
    return { ...(await start('pglite')), log, lines };
  };

  it('goes on with the other kinds where one fails, says so, and does not count as whole', async () => {
    const { log, lines, clock, ledger, retentionOf } = await world();
    const before = await findSweptAt(ledger.db, 'guestlist_gateway');
    const swept: string[] = [];
    const kindOf = (kind: 'audit' | 'tokens' | 'usage', end: () => 'done' | 'busy'): Retained => ({
      kind,
      sweep: async () => {
        swept.push(kind);
        return end();
      },
    });
    const fail = (): never => {
      throw new Error('the disk is full');
    };
    const { noteSwept } = retentionOf();
    const kinds = [kindOf('audit', fail), kindOf('tokens', () => 'done'), kindOf('usage', () => 'done')];
    await sweepAll({ kinds, noteSwept, clock, log });
    expect(swept).toEqual(['audit', 'tokens', 'usage']);
    expect(lines).toMatchObject([{ event: 'retention.failed', kind: 'audit', err: { message: 'the disk is full' } }]);
    expect(await findSweptAt(ledger.db, 'guestlist_gateway')).toEqual(before);
    await sweepAll({ kinds: [kindOf('audit', () => 'busy'), kindOf('usage', () => 'done')], noteSwept, clock, log });
    // Another process is sweeping, and goes on with the others.
    expect(swept.slice(3)).toEqual(['audit']);
    expect(await findSweptAt(ledger.db, 'guestlist_gateway')).toEqual(before);
    await sweepAll({ kinds: kinds.slice(1), noteSwept, clock, log });
    expect(await findSweptAt(ledger.db, 'guestlist_gateway')).toEqual(clock.now());
  });
});

describe('a segment alone', () => {
  const archive = async () => {
    const world = await start('pglite');
    await world.record(many('LAX', 25));
    world.clock.advance(40 * dayMs);
    await world.sweep();
    return world.files();
  };
  let archived: ReturnType<typeof archive> | undefined;
  const archivedFiles = () => {
    archived ??= archive();
    return archived;
  };
  const fileAt = async (index: number) => {
    const file = (await archivedFiles())[index];
    if (file === undefined) throw new Error('no such segment');
    return file;
  };

  it('shows every changed character, with its place', async () => {
    const { name, text } = await fileAt(1);
    const starts = text.split('\n').map((_, line, all) => all.slice(0, line).join('\n').length + (line === 0 ? 0 : 1));
    await fc.assert(
      fc.property(
        fc.integer({ min: 0, max: text.length - 1 }),
        fc.constantFrom('x', '0', ' ', '\n', '"'),
        (at, letter) => {
          fc.pre(text[at] !== letter);
          const changed = `${text.slice(0, at)}${letter}${text.slice(at + 1)}`;
          const line = starts.filter((start) => start <= at).length;
          const entry = line === 1 ? null : 9 + line;
          const fault = faultOf(() => verifySegment({ name, text: changed }, verifier));
          expect(fault, `${at}: ${letter}`).toBeDefined();
          // A line end that is gone shows in this line or in the next one.
          if (entry !== null && text[at] !== '\n') expect(fault?.seq).toBe(entry);
        },
      ),
      { numRuns: 400 },
    );
  });

  it.each<[string, (lines: string[]) => readonly (string | undefined)[], RegExp]>([
    ['an entry left out', ([a, b, , ...rest]) => [a, b, ...rest], /entry 12 is missing/],
    ['two that changed places', ([a, b, c, ...rest]) => [a, c, b, ...rest], /entry 11 is missing/],
    ['an entry twice', ([a, b, ...rest]) => [a, b, b, ...rest], /entry 12 is missing/],
    ['no end', (lines) => lines.slice(0, -1), /entries 20 to 20 are missing/],
    ['more lines', (lines) => [...lines, lines.at(-1)], /line 12 is too much/],
    ['an empty line', ([a, b, ...rest]) => [a, b, '', ...rest], /line 3 is no entry/],
    [
      'another header',
      ([a = '', ...rest]) => [a.replace('"first":11', '"first":10'), ...rest],
      /signature does not match/,
    ],
    ['no header', ([, ...rest]) => rest, /the first line cannot be read/],
    ['nothing', () => [], /the first line cannot be read/],
  ])('the verification of a file shows %s', async (_, change, message) => {
    const { text } = await fileAt(1);
    const lines = change(text.split('\n').slice(0, -1)).map((line) => `${line}\n`);
    expect(faultOf(() => verifySegment({ name: 'any', text: lines.join('') }, verifier))?.message).toMatch(message);
  });

  it('shows a missing segment, files that changed places, and a segment of another installation', async () => {
    const [first, second, third] = [await fileAt(0), await fileAt(1), await fileAt(2)];
    const { head } = verifySegment(first, verifier);
    expect(faultOf(() => verifySegment(third, verifier, head))?.message).toMatch(/entries 11 to 20 are missing/);
    const after = verifySegment(second, verifier, head).head;
    expect(faultOf(() => verifySegment(first, verifier, after))?.message).toMatch(/changed places/);
    expect(faultOf(() => verifySegment({ name: first.name, text: second.text }, verifier))?.message).toMatch(
      /has the entries 11 to 20, and its name says 1 to 10/,
    );
    expect(faultOf(() => verifySegment(second, verifier, { seq: 10, hash: 'f'.repeat(64) }))?.message).toMatch(
      /does not follow the segment before it/,
    );
  });

  it('does not verify with another key', async () => {
    const stranger = archiveKeysOf([randomBytes(32)]).verifier;
    expect(faultOf(() => verifySegment({ name: randomUUID(), text: '' }, stranger))).toBeDefined();
    const file = await fileAt(0);
    expect(faultOf(() => verifySegment(file, stranger))?.message).toMatch(/none of the given public keys/);
    const [id = ''] = verifier.keys();
    const [key] = stranger.values();
    if (key === undefined) throw new Error('there is no key');
    expect(faultOf(() => verifySegment(file, new Map([[id, key]])))?.message).toMatch(/signature does not match/);
  });
});

const faultOf = (work: () => unknown): { readonly seq: number; readonly message: string } | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as { seq: number; message: string };
  }
};
