/** What the engine does now, as an operator sees it: from its own memory, without asking a database. No tenant is named. */
import type { DatasourceType } from '../organization.js';

/** `open` counts idle ones too. `waiting`: callers that have none yet. */
export type LiveConnections = { readonly open: number; readonly busy: number; readonly waiting: number };
/** Queries that run at the database or wait for their turn. */
export type LiveQueue = { readonly running: number; readonly waiting: number };

/** A datasource that is open, or failed since the process started. */
export type LiveSource = {
  readonly id: string;
  readonly name: string;
  readonly type: DatasourceType;
  /** The databases of it that are open: its own, and those of clients. */
  readonly databases: number;
  /** Since when the first of them is open. Null: none is. */
  readonly openSince: string | null;
  readonly connections: LiveConnections;
  readonly queries: LiveQueue;
  readonly downloads: LiveQueue;
  /** The latest failure of the connection. `isOver`: something succeeded since. */
  readonly lastError: { readonly at: string; readonly reason: string; readonly isOver: boolean } | null;
};

export type LiveEngine = {
  readonly sources: readonly LiveSource[];
  /** Null: answers are not kept. */
  readonly cache: { readonly bytes: number; readonly maxBytes: number } | null;
};

export type ReadLive = () => LiveEngine;
