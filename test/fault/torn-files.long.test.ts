/**
 * The embedded database's files were cut, replaced by older ones, or removed: the start is refused with a clear
 * message, and a start that accepts the loss records it in the audit.
 */

import { cp, mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { lossEvents, type Metadata, openMetadata } from '../../src/compose/metadata.js';
import { appendEvents } from '../../src/gateway/audit/append.js';
import { verifyAudit } from '../../src/gateway/audit/read.js';
import { type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { bytesOf } from '../../src/platform/keys/high-water-mark.js';
import type { KeyRing } from '../../src/platform/keys/sealing.js';
import { systemClock } from '../../src/platform/work/time.js';
import { compileScript, startChild } from '../platform/child.js';

let home: string;
let folder: string;
const opened: Metadata[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'guestlist-torn-'));
  folder = join(home, 'metadata');
});
afterEach(async () => {
  for (const { database } of opened.splice(0)) await database.close();
  await rm(home, { recursive: true, force: true });
});

const markKey: KeyRing = [Buffer.alloc(32, 7)];
type Given = { readonly acceptsLoss?: boolean; readonly markKey?: KeyRing | null };

const open = async (given: Given = {}): Promise<Metadata> => {
  const log = pino({ level: 'silent' });
  const metadata = await openMetadata({
    clock: systemClock,
    databaseUrl: null,
    folder,
    isFlushed: false,
    acceptsLoss: false,
    markKey,
    log,
    ...given,
  });
  opened.push(metadata);
  return metadata;
};
const ledgerOf = ({ database }: Metadata) => openLedger(database.connect<LedgerTables>(), false);

/** Opens the database as the product does: records an accepted loss first, then updates the mark. */
const start = async (given: Given = {}) => {
  const metadata = await open(given);
  const ledger = await ledgerOf(metadata);
  const record = (events: Parameters<typeof appendEvents>[1][number]['event'][]) =>
    events.length === 0
      ? undefined
      : appendEvents(
          ledger,
          events.map((event) => ({ at: new Date(0), event })),
        );
  await record([...lossEvents(metadata.loss)]);
  metadata.startMarking();
  return {
    ...metadata,
    ledger,
    write: (count: number, code = 'OK') => record(Array.from({ length: count }, () => ({ kind: 'policy-load', code }))),
  };
};

/** Copies the folder as a killed process leaves it: with everything the database wrote so far. */
const copyOf = async (name: string): Promise<string> => {
  await cp(folder, join(home, name), { recursive: true });
  return join(home, name);
};
const replaceBy = async (copy: string): Promise<void> => {
  await rm(folder, { recursive: true });
  await cp(copy, folder, { recursive: true });
};

const refusal = async (given: Given = {}): Promise<string> => {
  const error = await open(given).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(Error);
  return String(error);
};

type LogEnd = { readonly lsn: string };
const markOf = async (): Promise<LogEnd & { readonly audit: { readonly seq: number } }> =>
  JSON.parse(await readFile(`${folder}.mark`, 'utf8')).mark;

const segmentBytes = 16n * 1024n * 1024n;

describe('the embedded database is behind its high-water mark', () => {
  it('an older folder was copied back: the start is refused, and --accept-loss continues with an entry in a complete audit', async () => {
    const first = await start();
    await first.write(5);
    const older = await copyOf('older');
    await first.write(7);
    await first.database.close();
    await replaceBy(older);

    const said = await refusal();
    expect(said).toContain(`${folder} is behind its high-water mark ${folder}.mark, which was written at 20`);
    expect(said).toContain('audit entries are missing (6 to 12)');
    expect(said).toContain('--accept-loss');
    // A refused start must not change the files so that the next start finds nothing missing.
    expect(await refusal()).toContain('audit entries are missing (6 to 12)');

    const again = await start({ acceptsLoss: true });
    expect(again.loss).toMatchObject({ firstEntry: 6, lastEntry: 12 });
    expect(await verifyAudit(again.ledger)).toMatchObject({ entries: 6, fault: null });
    const { content } = await again.ledger.db
      .selectFrom('audit_events')
      .select('content')
      .where('seq', '=', '6')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(content)).toMatchObject({
      kind: 'admin',
      code: 'LOSS_ACCEPTED',
      detail: { firstEntry: 6, lastEntry: 12 },
    });
    await again.database.close();
    expect((await open()).loss).toBeNull();
  });

  it('the write-ahead log was cut: the start is refused, even if no audit entry is missing', async () => {
    const first = await start();
    await first.write(3);
    const before = await copyOf('before');
    await first.database.close();
    // The copied log contains all audit entries, but the mark is behind them: only the last bytes of the shutdown are
    // missing.
    const { lsn } = await markOf();
    const cutAt = bytesOf(lsn) - 40n;
    await replaceBy(before);
    await truncate(join(folder, 'pg_wal/000000010000000000000001'), Number(cutAt % segmentBytes));
    const said = await refusal();
    expect(said).toMatch(/audit entries are missing|the end of the write-ahead log is missing/);
    // A start writes to the log itself, and so moves its end past the mark.
    for (const _ of [1, 2]) expect(await refusal()).toContain('is behind its high-water mark');
    expect((await start({ acceptsLoss: true })).loss).not.toBeNull();
  });

  it('the log was cut back to its last checkpoint: the start is refused, although the database would open almost empty', async () => {
    const first = await start();
    await first.write(3);
    const copy = await copyOf('copy');
    await first.database.close();
    await replaceBy(copy);
    const control = await readFile(join(folder, 'global/pg_control'));
    // ControlFileData.checkPoint is the position of the last checkpoint's record, which takes less than 200 bytes.
    const end = Number(control.readBigUInt64LE(32) % segmentBytes) + 200;
    const log = join(folder, 'pg_wal/000000010000000000000001');
    const bytes = await readFile(log);
    await writeFile(log, bytes.fill(0, end));
    expect(await refusal()).toContain('audit entries are missing (1 to 3)');
  });

  it('the folder is missing but its mark exists: the start is refused', async () => {
    const first = await start();
    await first.write(2);
    await first.database.close();
    await rm(folder, { recursive: true });
    expect(await refusal()).toContain('the database is gone (1 to 2)');
    const again = await start({ acceptsLoss: true });
    expect(await verifyAudit(again.ledger)).toMatchObject({ entries: 1, fault: null });
  });

  it("another installation's folder with an equally long audit is refused", async () => {
    const first = await start();
    await first.write(2);
    await first.database.close();
    const mine = `${folder}.mark`;
    folder = join(home, 'other');
    const other = await start();
    await other.write(50, 'OTHER');
    await other.database.close();
    await cp(mine, `${folder}.mark`);
    expect(await refusal()).toContain('the audit is not the recorded one');
  });

  it('a mark that was lowered, damaged or signed with another key does not count', async () => {
    const first = await start();
    await first.write(2);
    await first.database.close();
    const text = await readFile(`${folder}.mark`, 'utf8');
    const lowered = text.replace('"seq":2', '"seq":1');
    expect(lowered).not.toBe(text);
    await writeFile(`${folder}.mark`, lowered);
    expect(await refusal()).toMatch(/was changed, or sealed with another key .*--accept-loss/);
    await writeFile(`${folder}.mark`, text.slice(0, 40));
    expect(await refusal()).toMatch(/is damaged: .*--accept-loss/);
    await writeFile(`${folder}.mark`, text);
    const other = Buffer.alloc(32, 8);
    expect(await refusal({ markKey: [other] })).toContain('GUESTLIST_ENCRYPTION_KEY');
    const rotated = await open({ markKey: [other, ...markKey] });
    expect(rotated.loss).toBeNull();
    await rotated.database.close();
    expect((await open({ acceptsLoss: true, markKey: [other] })).loss).not.toBeNull();
  });
});

it('a start without loss succeeds, and --accept-loss then records nothing', async () => {
  for (const entries of [1, 2, 3]) {
    const metadata = await start({ acceptsLoss: entries === 3 });
    expect(metadata.loss).toBeNull();
    await metadata.write(1);
    await metadata.database.close();
    expect((await markOf()).audit.seq).toBe(entries);
    expect((await stat(`${folder}.mark`)).mode & 0o777).toBe(0o600);
  }
});

it('a kill at any moment loses nothing', { timeout: 240_000 }, async () => {
  const script = await compileScript(new URL('./mark-writer.ts', import.meta.url));
  onTestFinished(() => script.remove());
  let written = 0;
  for (const rows of [1, 200, 20]) {
    const writer = startChild(script, folder);
    await writer.said(rows);
    const lines = await writer.kill();
    expect(lines[0]).toBe(String(written + 1));
    const last = Number(lines.at(-1));
    const { loss, ledger, database } = await start({ markKey: null });
    expect(loss).toBeNull();
    const { entries, fault } = await verifyAudit(ledger);
    expect([entries >= last, fault]).toEqual([true, null]);
    written = entries;
    await database.close();
    expect((await markOf()).audit.seq).toBe(entries);
  }
});

it('a database of an earlier release has no mark, and gets one', async () => {
  const first = await start();
  await first.write(2);
  await first.database.close();
  await rm(`${folder}.mark`);
  const again = await start();
  expect(again.loss).toBeNull();
  await again.database.close();
  expect((await markOf()).audit.seq).toBe(2);
});

it('an empty folder that another process used before gets a new database', async () => {
  await mkdir(folder);
  expect((await open()).loss).toBeNull();
});
