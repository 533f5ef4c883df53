/**
 * Limits the bytes of refused bodies for each credential and minute. Above the limit, bodies of the credential are not
 * read.
 */
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { createLru } from '../work/lru.js';

export type RefusedBodies = {
  /** Throws RATE_LIMITED if the credential has reached the limit. */
  readonly assertFew: (credential: string) => void;
  readonly note: (credential: string, bytes: number) => void;
};

const windowMs = 60_000;
const maxKeys = 10_000;
const megabyte = 1024 * 1024;

/** Counts in this process only. No limit if `megabytesPerMinute` is null. */
export const createRefusedBodies = (megabytesPerMinute: number | null, clock: Clock): RefusedBodies => {
  if (megabytesPerMinute === null) return { assertFew: () => {}, note: () => {} };
  const used = createLru<string, { bytes: number; readonly untilMs: number }>(maxKeys);
  const find = (credential: string) => {
    const there = used.get(credential);
    const leftMs = (there?.untilMs ?? 0) - clock.now().getTime();
    return there !== undefined && leftMs > 0 && leftMs <= windowMs ? { there, leftMs } : undefined;
  };
  return {
    assertFew: (credential) => {
      const found = find(credential);
      if (found === undefined || found.there.bytes < megabytesPerMinute * megabyte) return;
      const retryAfterSeconds = Math.ceil(found.leftMs / 1000);
      throw new Refusal(
        'RATE_LIMITED',
        `Bodies of this credential were refused as invalid: more than ${megabytesPerMinute} MB in a minute. Try again in ${retryAfterSeconds} s, with a body that is valid.`,
        { reason: 'refused-bodies-limit', retryAfterSeconds },
      );
    },
    note: (credential, bytes) => {
      const found = find(credential);
      if (found === undefined) used.set(credential, { bytes, untilMs: clock.now().getTime() + windowMs });
      else found.there.bytes += bytes;
    },
  };
};
