/** What guests asked lately, to be asked again before they do. */
import type { GuestCaller } from './caller.js';
import type { GuestQuery } from './view.js';

/** What a guest asked. */
export type Seen = {
  readonly caller: GuestCaller;
  readonly query: GuestQuery;
  readonly datamartId: string;
  /** The dashboard's own id, not that of an embed. */
  readonly dashboardId: string;
};

/** Which questions are asked again. All that is given must fit. */
export type Warmed = { readonly datamartId?: string | undefined; readonly dashboardId?: string | undefined };

/** `err`: the last failure. */
export type Ran = { readonly asked: number; readonly failed: number; readonly err?: unknown };

export type WarmUp = {
  /** Remembers a question that was answered. */
  readonly seen: (one: Seen) => void;
  /** The next run asks these again. */
  readonly want: (warmed: Warmed) => void;
  /** Forgets one client; all of the data app if `clientId` is null. */
  readonly forget: (dataAppId: string, clientId: string | null) => void;
  /** Asks what is wanted or due. Returns how many questions it asked, and how many of them failed. */
  readonly run: (signal: AbortSignal) => Promise<Ran>;
};

export type WarmUpSettings = {
  /** A time of each day as `HH:MM`; null: at none. */
  readonly at: string | null;
  readonly timezone: string;
  /** Questions that are asked at once for one reason; 0: none. */
  readonly questions: number;
  readonly questionsPerTenant: number;
};
