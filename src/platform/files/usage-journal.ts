/**
 * Counts that no kill of the process may lose, until the store has them: a file for each batch, with a line of JSON for
 * each count. A line outlives the process as soon as it is written. It is not flushed to the disk, so a machine that loses
 * power may lose the last second. Files name tenants, and no users.
 *
 * Processes may share the folder, also on several machines. A process touches its files, so one that stays as it is was
 * left by a process that was killed. A process that was held up writes nothing more into its earlier files: another one
 * may have taken them. The store takes each batch once, however many processes hand it over.
 */
import { closeSync, existsSync, mkdirSync, openSync, unlinkSync, utimesSync, writeSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import type { Clock } from '../../model/ports.js';
import { type BatchId, oldestLoginDays, type UsageJournal, type UsageLine, usageNames } from '../../model/usage.js';
import { repeat, systemTiming, type Timing } from '../work/time.js';
import { isMissing, orMissing } from './missing.js';

const secondMs = 1_000;
const dayMs = 86_400_000;

const touchEveryMs = 10 * secondMs;
/** A process that could not touch its files for so long does not write to them again. */
const heldUpMs = 30 * secondMs;
/** Longer than `heldUpMs` and the minute for which a file server's clients keep what they know of a file. */
const silentMs = 120 * secondMs;
/** Of one file. A pod of the chart has 64 MB in its folder. */
const mostBytes = 8 * 2 ** 20;

const line = z
  .strictObject({
    since: z.iso.datetime(),
    ...{ dataAppId: z.string().min(1), clientId: z.string(), person: z.string() },
    ...{ dashboardId: z.string(), metricId: z.string() },
    counts: z.partialRecord(z.enum(usageNames), z.number().nonnegative()),
  })
  .transform(({ since, ...rest }) => ({ since: new Date(since), ...rest }) as UsageLine);

/** What follows the last line feed is no line: its process was killed in the write, before the answer left. */
const readLines = (text: string): { readonly lines: readonly UsageLine[]; readonly damaged: number } => {
  const texts = text.split('\n').slice(0, -1);
  const lines = texts.flatMap((one) => {
    try {
      return [line.parse(JSON.parse(one))];
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof z.ZodError) return [];
      throw error;
    }
  });
  return { lines, damaged: texts.length - lines.length };
};

const asideOf = (path: string): string => `${path}.aside`;

type Options = {
  /** Made if it is not there. */
  readonly folder: string;
  /** Of the installation: another one's files are left alone. */
  readonly mark: string;
  /** Whether no other process writes to the store of this installation, so that all files of others are of killed ones. */
  readonly isAlone: boolean;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
  readonly timing?: Timing;
  /** Writes at the end of a file. Returns how many bytes it wrote. */
  readonly write?: (fd: number, bytes: Buffer) => number;
};

/** Stores what was left of a batch. */
type Take = (batch: BatchId, lines: readonly UsageLine[]) => Promise<void>;

export type UsageJournalFiles = UsageJournal & {
  /** Hands over what killed processes have left, once. Never rejects. */
  readonly sweep: (take: Take) => Promise<void>;
  /** Sweeps now and regularly, and touches its files, until `close`. */
  readonly start: (take: Take) => { readonly close: () => Promise<void> };
  /** Touches the files of this process. */
  readonly touch: () => void;
};

type Parts = Required<Options>;

const createNames = (mark: string) => {
  const pattern = new RegExp(`^${mark}\\.([0-9a-f-]{36})\\.(\\d+)\\.jsonl$`);
  return {
    of: ({ writer, number }: BatchId): string => `${mark}.${writer}.${number}.jsonl`,
    batchOf: (name: string): BatchId | undefined => {
      const [, writer, number] = pattern.exec(name) ?? [];
      return writer === undefined ? undefined : { writer, number: Number(number) };
    },
  };
};

type Own = { readonly path: string; readonly fd: number; bytes: number; touchedMs: number; isBroken: boolean };

/** Says once that files cannot be written, until one can. */
const createFailures = ({ folder, log }: Pick<Parts, 'folder' | 'log'>) => {
  let isFailing = false;
  return {
    failed: (err: unknown): 'failed' => {
      if (!isFailing)
        log.warn(
          { event: 'usage.journal_failed', folder, err },
          'failed to keep what was used in the data folder; answers wait for the metadata database meanwhile',
        );
      isFailing = true;
      return 'failed';
    },
    worked: (): 'kept' => {
      isFailing = false;
      return 'kept';
    },
  };
};

const openFile = ({ folder, timing }: Pick<Parts, 'folder' | 'timing'>, name: string): Own => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  return { path, fd: openSync(path, 'ax', 0o600), bytes: 0, touchedMs: timing.nowMs(), isBroken: false };
};

/** Throws if the file does not take the whole line. It may then end in a part of it, so no other line may follow. */
const writeLine = (file: Own, bytes: Buffer, write: Parts['write']): void => {
  file.isBroken = true;
  const written = write(file.fd, bytes);
  if (written < bytes.length) throw new Error(`${file.path} took ${written} of ${bytes.length} bytes`);
  file.bytes += written;
  file.isBroken = false;
};

/** The files of this process. */
const createOwn = (parts: Parts) => {
  const { mark, clock, timing, write } = parts;
  const nameOf = createNames(mark).of;
  const files = new Map<string, Own>();
  const { failed, worked } = createFailures(parts);
  const isOutdated = ({ touchedMs }: Own): boolean => timing.nowMs() - touchedMs > heldUpMs;
  const append: UsageJournal['append'] = (batch, kept) => {
    const name = nameOf(batch);
    try {
      const file = files.get(name) ?? openFile(parts, name);
      files.set(name, file);
      if (isOutdated(file)) return 'outdated';
      const bytes = Buffer.from(`${JSON.stringify(kept)}\n`);
      if (file.isBroken || file.bytes + bytes.length > mostBytes) return 'failed';
      writeLine(file, bytes, write);
      file.touchedMs = timing.nowMs();
      return worked();
    } catch (err) {
      return failed(err);
    }
  };
  const forget: UsageJournal['forget'] = async (batch) => {
    const file = files.get(nameOf(batch));
    if (file === undefined) return;
    files.delete(nameOf(batch));
    try {
      closeSync(file.fd);
      unlinkSync(file.path);
    } catch (err) {
      // A file that stays is taken for one that was left, and the store knows its batch.
      if (!isMissing(err)) failed(err);
    }
  };
  const touch = (): void => {
    const now = clock.now();
    for (const file of files.values()) {
      if (isOutdated(file)) continue;
      try {
        utimesSync(file.path, now, now);
        file.touchedMs = timing.nowMs();
      } catch (err) {
        file.touchedMs = Number.NEGATIVE_INFINITY;
        if (!isMissing(err)) failed(err);
      }
    }
  };
  return { append, forget, touch, isOwn: (name: string) => files.has(name) };
};

/** Files of one writer, the first batch first, and what tells whether any of them was touched. */
type Left = { readonly batches: readonly BatchId[]; readonly look: string };

const listLeft = async (
  { folder, mark }: Parts,
  isOwn: (name: string) => boolean,
): Promise<ReadonlyMap<string, Left>> => {
  const names = createNames(mark);
  const found = (await readdir(folder)).toSorted().flatMap((name) => {
    const batch = names.batchOf(name);
    return batch === undefined || isOwn(name) ? [] : [{ name, batch }];
  });
  const left = new Map<string, Left>();
  for (const { name, batch } of found) {
    const state = await orMissing(stat(join(folder, name)));
    if (state === undefined) continue;
    const { batches, look } = left.get(batch.writer) ?? { batches: [], look: '' };
    left.set(batch.writer, {
      batches: [...batches, batch].toSorted((a, b) => a.number - b.number),
      look: `${look} ${name} ${state.mtimeMs} ${state.size}`,
    });
  }
  return left;
};

const isTooOld = (lines: readonly UsageLine[], now: Date): boolean =>
  lines.some(({ since }) => now.getTime() - since.getTime() > oldestLoginDays * dayMs);

/** Hands one file over. What cannot be counted is kept aside. */
const takeFile = async ({ folder, mark, clock, log }: Parts, batch: BatchId, take: Take): Promise<void> => {
  const path = join(folder, createNames(mark).of(batch));
  const text = await orMissing(readFile(path, 'utf8'));
  if (text === undefined) return;
  const { lines, damaged } = readLines(text);
  const isOld = isTooOld(lines, clock.now());
  const counted = isOld ? [] : lines;
  if (counted.length > 0) {
    await take(batch, counted);
    log.info({ event: 'usage.recovered', lines: counted.length }, 'stored what a killed process had counted');
  }
  if (!isOld && damaged === 0) return rm(path, { force: true });
  await orMissing(rename(path, asideOf(path)));
  const reason = isOld ? 'old' : 'damaged';
  log.warn(
    { event: 'usage.file_set_aside', file: asideOf(path), lines: isOld ? lines.length : damaged, reason },
    'a file has counts that cannot be stored any more; it is kept aside',
  );
};

/** What was set aside names tenants, so it is not kept longer than this. */
const removeAside = async ({ folder, mark, clock }: Parts): Promise<void> => {
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${mark}.`) && name.endsWith(asideOf('')));
  for (const name of names) {
    const state = await orMissing(stat(join(folder, name)));
    if (state !== undefined && clock.now().getTime() - state.mtimeMs > oldestLoginDays * dayMs)
      await rm(join(folder, name), { force: true });
  }
};

const createSweep = (parts: Parts, isOwn: (name: string) => boolean) => {
  const { isAlone, timing, log } = parts;
  /** Since when the files of a writer look like this. */
  let seen = new Map<string, { readonly look: string; readonly sinceMs: number }>();
  const failed = (err: unknown): void => {
    log.warn(
      { event: 'usage.recovery_failed', err },
      'failed to store what a killed process had counted; trying again',
    );
  };
  /** In order: the store takes no batch after a later one of the same writer. */
  const takeAll = async (batches: readonly BatchId[], take: Take): Promise<void> => {
    try {
      for (const batch of batches) await takeFile(parts, batch, take);
    } catch (err) {
      failed(err);
    }
  };
  return async (take: Take): Promise<void> => {
    try {
      // Nothing was counted here yet.
      if (!existsSync(parts.folder)) return;
      const left = await listLeft(parts, isOwn);
      const nowMs = timing.nowMs();
      seen = new Map(
        [...left].map(([writer, { look }]) => {
          const before = seen.get(writer);
          return [writer, before?.look === look ? before : { look, sinceMs: nowMs }];
        }),
      );
      for (const [writer, { batches }] of left) {
        const isSilent = nowMs - (seen.get(writer)?.sinceMs ?? nowMs) >= silentMs;
        if (isAlone || isSilent) await takeAll(batches, take);
      }
      await removeAside(parts);
    } catch (err) {
      failed(err);
    }
  };
};

/** Opens no file before the first line. */
export const createUsageJournal = (options: Options): UsageJournalFiles => {
  const parts = { timing: systemTiming, write: (fd: number, bytes: Buffer) => writeSync(fd, bytes), ...options };
  const { append, forget, touch, isOwn } = createOwn(parts);
  const sweep = createSweep(parts, isOwn);
  return {
    append,
    forget,
    touch,
    sweep,
    start: (take) => {
      const first = handled(sweep(take));
      const stopTouching = repeat(parts.timing, touchEveryMs, async () => touch());
      const stopSweeping = repeat(parts.timing, touchEveryMs, () => sweep(take));
      return {
        close: async () => {
          await Promise.all([first, stopTouching(), stopSweeping()]);
        },
      };
    },
  };
};
