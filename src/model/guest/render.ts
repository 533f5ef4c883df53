/** Pictures and papers of dashboards and metrics, drawn on the server by a browser. */
import type { GuestCaller } from './caller.js';
import type { GuestQuery } from './view.js';

export type RenderFormat = 'pdf' | 'png';

/** What is drawn: a dashboard, one metric of it, or the metric of a metric embed, which takes no choices. */
export type RenderTarget =
  | ({ readonly dashboardId: string; readonly metricId?: string | undefined } & RenderChoices)
  | { readonly metricId: string; readonly dashboardId?: undefined };

/** What the guest chose. Each filter has its own name here, as the dashboard writes it. */
export type RenderChoices = Pick<GuestQuery, 'dashboardFilter' | 'crossFilter'>;

export type RenderRequest = {
  readonly caller: GuestCaller;
  readonly target: RenderTarget;
  readonly format: RenderFormat;
  /** The reader's language. Undefined: English, and all that an author wrote as it is written. */
  readonly language?: string | undefined;
  /** Throws if the caller's token has ended. Called before each read, and before the file is handed out. */
  readonly assertStillGood: () => Promise<void>;
};

/**
 * Draws what the caller may see, with the reads of its token and no others. Throws DependencyUnavailable if there is no
 * browser or it fails, and RATE_LIMITED if the caller's client has too many pictures under way.
 */
export type Renderer = {
  readonly render: (request: RenderRequest, signal: AbortSignal) => Promise<Uint8Array>;
};
