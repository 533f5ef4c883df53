import type { Store } from '../../src/service/store/store.js';

export type Sent = { readonly scheduleId: string; readonly clientId: string; readonly second: number };

export const insertSchedules: (
  store: Pick<Store, 'transaction'>,
  given: {
    readonly dashboardId: string;
    readonly dataAppId: string;
    readonly clientId: string;
    readonly count: number;
    readonly moment: Date;
  },
) => Promise<readonly string[]>;

export const sendMorning: (
  store: Pick<Store, 'deliveries'>,
  given: {
    readonly moment: Date;
    readonly seconds: number;
    readonly perSecond: number;
    readonly perMinute: number;
  },
) => Promise<{ readonly sent: readonly Sent[]; readonly claimMs: readonly number[] }>;

export const mostInAMinute: (sent: readonly Sent[], clientId: string) => number;
