/** What the use case of a chat needs of the rest of the process. */
import type { GuestCaller } from '../guest/caller.js';
import type { GuestGrant } from '../guest/grant.js';
import type { NewGuestDefinition } from '../guest/metric.js';
import type { GuestQuery } from '../guest/view.js';
import type { MetricAnswer } from '../query/engine.js';
import type { Model } from './model.js';
import type { DefinitionSchemas } from './prompt.js';

export type PreviewRequest = {
  readonly dashboardId: string;
  readonly dashboardFilter: GuestQuery['dashboardFilter'];
  /** As a model wrote it. */
  readonly definition: unknown;
};

/** `refused`: what the guest itself would read about this request. */
export type Previewed =
  | { readonly definition: NewGuestDefinition; readonly rows: MetricAnswer['rows']; readonly totalRecords: number }
  | { readonly refused: string };

/** One question, for the log. Holds no text of it. */
export type ChatRecord = {
  readonly tenant: string;
  readonly user: string | null;
  readonly llmName: string;
  readonly rounds: number;
  readonly tokens: number;
  readonly tried: number;
  readonly outcome: 'metric' | 'text' | 'limit' | 'failed';
  readonly durationInMs: number;
};

export type Assistant = {
  readonly models: readonly Model[];
  readonly schemas: () => DefinitionSchemas;
  readonly limits: { readonly rounds: number; readonly tokens: number; readonly timeoutMs: number };
  /** Counts a question of the guest's user and tenant. Throws RATE_LIMITED. */
  readonly assertFew: (grant: GuestGrant) => Promise<void>;
  /** What a model wrote as a definition; undefined: it is none. */
  readonly readDefinition: (written: unknown) => NewGuestDefinition | undefined;
  /** Runs a definition by the operation of the guest, as the guest. Throws what is no fault of the definition. */
  readonly preview: (caller: GuestCaller, asked: PreviewRequest, signal: AbortSignal) => Promise<Previewed>;
  readonly note: (record: ChatRecord) => void;
};
