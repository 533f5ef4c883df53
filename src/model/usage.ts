/** What is counted of the use of an installation, and for whom. Counts say nothing of a row. */
import type { Clock } from './ports.js';
import type { Quota } from './quota.js';

/**
 * What is counted. `ms`: the time of databases. `rows`: of answers, kept ones too. `warmUp`: what no user asked for, so
 * that the next one finds a kept answer.
 */
export const usageNames = [
  'logins',
  'mints',
  'sourceQueries',
  'keptAnswers',
  'failedAnswers',
  'rows',
  'ms',
  'exports',
  'mails',
  'modelTokens',
  'warmUpQueries',
  'warmUpMs',
] as const;

export type UsageName = (typeof usageNames)[number];

/** What no kill may lose: it is kept before its answer leaves. */
export const exactNames = [
  'mints',
  'sourceQueries',
  'exports',
  'mails',
  'warmUpQueries',
] as const satisfies readonly UsageName[];

export type UsageCounts = Readonly<Record<UsageName, number>>;

/** Where something was used. Null: on none. */
export type UsedOn = { readonly dashboardId: string | null; readonly metricId: string | null };

export type UsedBy = {
  readonly dataAppId: string;
  /** Null: a data app without tenants. */
  readonly clientId: string | null;
  /** Null: nobody that is known by a name. */
  readonly userIdentifier: string | null;
};

export type CountUse = {
  /** Counts in memory. It is stored within a second. */
  readonly add: (of: UsedBy & UsedOn, counts: Partial<UsageCounts>) => void;
  /**
   * Resolves when a kill of the process loses nothing of `exactNames` that was added before, or when neither data folder
   * nor store could take it: it is then in memory, and stored later. Never rejects.
   */
  readonly stored: () => Promise<void>;
  /**
   * Holds one of what the quota limits until it is counted. Call the result after that, or if nothing comes of it. Throws
   * QUOTA_REACHED.
   */
  readonly hold: (by: UsedBy, name: HeldName, quota: Quota) => Promise<() => void>;
  /** Throws QUOTA_REACHED if all seats of this month are taken, and the user has none. */
  readonly seat: (by: UsedBy, quota: Quota) => Promise<void>;
};

/** Holds what is used against the quota of its tenant. `note` must get all that this process counts. */
export type KeepQuota = (parts: {
  /** What all replicas have stored of one tenant. */
  readonly usage: {
    readonly spent: (of: {
      readonly dataAppId: string;
      readonly clientId: string | null;
      readonly from: Date;
      readonly to: Date;
    }) => Promise<Readonly<Record<HeldName, number>>>;
    /** Whether the user has seen answers since then, and how many users have, but for those of `without`. */
    readonly seats: (of: {
      readonly dataAppId: string;
      readonly clientId: string | null;
      readonly from: Date;
      readonly person: string;
      readonly without: readonly string[];
    }) => Promise<{ readonly hasSeat: boolean; readonly taken: number }>;
  };
  readonly clock: Clock;
  /** Stores what was counted. */
  readonly flush: () => Promise<void>;
  readonly personOf: (by: UsedBy) => string;
}) => Pick<CountUse, 'hold' | 'seat'> & {
  /** Returns whether the other processes must know it before its answer leaves: little is left of the quota. */
  readonly note: (by: UsedBy, counts: Partial<UsageCounts>) => boolean;
};

/** What a quota limits by the day. */
export type HeldName = 'sourceQueries' | 'exports';

/** Counts what one request costs, for the caller of that request. */
export type RequestUse = {
  readonly add: (on: UsedOn, counts: Partial<UsageCounts>) => void;
  readonly stored: CountUse['stored'];
  readonly hold: (name: HeldName) => Promise<() => void>;
  readonly seat: () => Promise<void>;
};

/** The batch of one writer. `number` rises with each one of the process. */
export type BatchId = { readonly writer: string; readonly number: number };

/** One count, as it is kept until the store has it. `person`: the pseudonym of a user. An empty text stands for none. */
export type UsageLine = {
  /** When it was counted. */
  readonly since: Date;
  readonly dataAppId: string;
  readonly clientId: string;
  readonly person: string;
  readonly dashboardId: string;
  readonly metricId: string;
  readonly counts: Partial<UsageCounts>;
};

/** What a process has counted and the store does not have yet, where a kill does not reach it. */
export type UsageJournal = {
  /**
   * Keeps a line of the batch. `failed`: it is not kept. `outdated`: this process was held up for so long that another one
   * may have taken the batch, so it must count in a batch of another writer.
   */
  readonly append: (batch: BatchId, line: UsageLine) => 'kept' | 'failed' | 'outdated';
  /** Removes the lines of a batch that the store has. */
  readonly forget: (batch: BatchId) => Promise<void>;
};

/** Counts nothing. */
export const noUse: CountUse = {
  add: () => {},
  stored: async () => {},
  hold: async () => () => {},
  seat: async () => {},
};

/** The steps of time by which use can be told. All are of UTC. */
export const usageSteps = ['hour', 'day', 'month'] as const;
export type UsageStep = (typeof usageSteps)[number];

/** What use can be told apart by. A user appears under a pseudonym. */
export const usageGroups = ['dataApp', 'tenant', 'user', 'dashboard', 'metric'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export type UsageQuestion = {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  /** Null: the whole time in one. */
  readonly step: UsageStep | null;
  readonly by: readonly UsageGroup[];
  readonly dataAppId?: string | undefined;
  readonly clientId?: string | undefined;
  /** The most rows. */
  readonly limit: number;
};

/** A field of a group that was not asked for is left out. Null: none, as for a data app without tenants. */
export type UsageRow = UsageCounts & {
  readonly at: Date | null;
  readonly dataAppId?: string;
  readonly clientId?: string | null;
  readonly user?: string | null;
  readonly dashboardId?: string | null;
  readonly metricId?: string | null;
  /** Users who had a token in this time. */
  readonly users: number;
};

/** The most rows of one answer. */
export const mostUsageRows = 10_000;

/** A gateway keeps logins while it cannot reach the service. Older ones would be of months that were billed. */
export const oldestLoginDays = 31;

/** As it is told, with names of data apps in place of their ids. Null: the data app was deleted. */
export type ToldUsage = {
  readonly rows: readonly (Omit<UsageRow, 'dataAppId'> & { readonly dataAppName?: string | null })[];
  /** Whether rows are missing. */
  readonly isTruncated: boolean;
  /** All hours before it were taken by the billing system. Null: nothing is sent. */
  readonly sentUntil: Date | null;
};

/** Why a message to the billing system was not taken. */
export type UsageFault = 'refused' | 'unreachable' | 'unanswered' | 'barred';

/** What tenants used in one hour, to be added to what was told of it before. */
export type UsageMessage = {
  /** The same for each attempt. */
  readonly id: string;
  /** When the hour begins. */
  readonly at: Date;
  /** Whether it was counted after the hour was closed. */
  readonly isLate: boolean;
  readonly tenants: readonly {
    readonly dataAppId: string;
    /** Null: a data app without tenants. */
    readonly clientId: string | null;
    readonly counts: UsageCounts;
  }[];
};

/** How far it was sent. `until`: all hours before it were taken. `fault`: of the last attempt, if it failed. */
export type UsageSent = { readonly until: Date; readonly waiting: number; readonly fault: UsageFault | null };
