import type { Clock } from '../../model/ports.js';

/** The machine's clock. Only what starts a process passes it on; everything else is given a clock. */
export const systemClock: Clock = { now: () => new Date() };
