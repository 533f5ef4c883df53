/** Importing this package in a browser registers the elements. On a server it registers nothing. */

/** An error that an element shows in its place. */
export type GuestlistFailure = {
  /** Code of the interface, such as `INVALID_METRIC_ID`. */
  readonly code: string;
  readonly message: string;
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  /** Id of the element that tells it: a dashboard id, or a metric id of a `<guestlist-metric>`. */
  readonly dashboardId: string | null;
  readonly metricId: string | null;
};

export type Scalar = string | number | boolean;
/** A value or several, numbers from `min` to `max`, or dates (`YYYY-MM-DD`) from `startDate` to `endDate`. */
export type FilterValue =
  | Scalar
  | readonly string[]
  | { readonly min?: number; readonly max?: number }
  | { readonly startDate: string; readonly endDate: string };
/** Values by filter name. */
export type FilterValues = Readonly<Record<string, FilterValue>>;

export type GuestlistFilterChange = { readonly dashboardId: string | null; readonly filters: FilterValues };

/** Values of the page that have no effect. */
export type GuestlistFiltersIgnored = {
  readonly dashboardId: string | null;
  readonly ignored: readonly {
    readonly name: string;
    /** `locked`: the token sets the value. `unknown`: the dashboard shows no such filter. */
    readonly reason: 'unknown' | 'locked';
  }[];
};

type OfMetric = { readonly dashboardId: string | null; readonly metricId: string };
export type GuestlistDrill = OfMetric & {
  /** All steps from the start; empty: the guest is back at the start. */
  readonly drill: readonly { readonly columnName: string; readonly value: Scalar | null }[];
};
export type GuestlistPoint = OfMetric & { readonly columnName: string; readonly value: Scalar | null };
export type GuestlistMetricLoaded = OfMetric & { readonly name: string };

export type GuestlistEditorLoaded = {
  readonly dashboardId: string;
  readonly metricId: null;
  /** Name of the dashboard. */
  readonly name: string;
};
export type GuestlistSaved = OfMetric & { readonly name: string };

export type GuestlistLoaded = {
  readonly dashboardId: string;
  readonly name: string;
  /** What the token allows on this dashboard. */
  readonly permissions: Readonly<Record<string, boolean>>;
  /** Names of the filters that the guest can use. */
  readonly filters: readonly string[];
};

/** `name` is null where it is not known. */
export type GuestlistTenantChange = { readonly tenant: string; readonly name: string | null };

/** A guest token, or the answer of the gateway's `POST /embed-token`; null: nobody is logged in. */
export type TokenAnswer =
  | string
  | null
  | {
      readonly token: string;
      /** ISO 8601, or milliseconds since 1970. */
      readonly refreshAfter?: string | number;
      readonly expiresAt?: string | number;
      readonly serviceUrl?: string;
      readonly embeds?: readonly { readonly id: string; readonly name: string; readonly type: string }[];
      /** The tenant of the token, and those that the session may choose from. */
      readonly tenant?: string;
      readonly tenants?: readonly { readonly id: string; readonly name?: string }[];
    }
  | { readonly error: { readonly code: string; readonly message: string; readonly status?: number } };

/** Events bubble, and cross the border of a shadow tree. */
export interface GuestlistEvents {
  /**
   * The token has expired or was revoked, and the element gets no other by itself: set a new `token`, or log in. The element
   * keeps the filters that the guest has set until `token` is null or its source says that nobody is logged in.
   */
  'token-expired': CustomEvent<{ readonly dashboardId: string | null }>;
  'guestlist-error': CustomEvent<GuestlistFailure>;
  /** The user has chosen a tenant of a session that has several. Everything that was shown is cleared. */
  'guestlist-tenant-change': CustomEvent<GuestlistTenantChange>;
  'guestlist-drill': CustomEvent<GuestlistDrill>;
  'guestlist-point-click': CustomEvent<GuestlistPoint>;
}

export interface GuestlistDashboardEvents extends GuestlistEvents {
  /** The guest has opened another dashboard in the side bar. The attribute `dashboard-id` stays as the page set it. */
  'guestlist-dashboard-change': CustomEvent<{ readonly dashboardId: string; readonly name: string }>;
  'guestlist-loaded': CustomEvent<GuestlistLoaded>;
  'guestlist-filter-change': CustomEvent<GuestlistFilterChange>;
  'guestlist-filters-ignored': CustomEvent<GuestlistFiltersIgnored>;
}

export interface GuestlistMetricEvents extends GuestlistEvents {
  'guestlist-loaded': CustomEvent<GuestlistMetricLoaded>;
}

export interface GuestlistEditorEvents
  extends Pick<GuestlistEvents, 'token-expired' | 'guestlist-error' | 'guestlist-tenant-change'> {
  'guestlist-loaded': CustomEvent<GuestlistEditorLoaded>;
  'guestlist-saved': CustomEvent<GuestlistSaved>;
}

interface GuestlistElement extends HTMLElement {
  /** A guest token. Without one, and without `tokenUrl` or `getToken`, the element shows no data. */
  token: string | null;
  /** Attribute `token-url`: a URL that answers as the gateway's `POST /embed-token`. It is asked with the page's cookies. */
  tokenUrl: string | null;
  /**
   * Function instead of `tokenUrl`. The element calls it ahead of the end of each token, and with `replaces`, the SHA-256 of
   * the token, if the service has refused it, and with the `tenant` that the user chose: send both in the body of
   * `POST /embed-token`.
   */
  getToken:
    | ((asked: { readonly replaces?: string; readonly tenant?: string }) => TokenAnswer | Promise<TokenAnswer>)
    | null;
  /** The one tenant that this element shows, of a session that has several. Left out: the user chooses. */
  tenant: string | null;
  /**
   * Attribute `service-url`. Base URL of the service. Default: the `serviceUrl` of the answer that brought the token, then
   * `window.dbn.baseUrl`, otherwise the origin of the module.
   */
  serviceUrl: string | null;
  theme: string | null;
  /** Attribute `chart-colors`: CSS colours between commas. */
  chartColors: string | null;
  /** BCP 47 language tag for numbers and dates. Default: the page's language. */
  language: string | null;
  /** Reads all data again. What the guest has set, and the scroll position, stay. */
  refresh(): void;
}

interface GuestlistChartElement extends GuestlistElement {
  /** Attribute `options`, as JSON: `filters` holds the initial filter values by filter name. */
  options: Readonly<Record<string, unknown>>;
  /** Prints the element alone, on A4: light, with filters and moment. Resolves when the browser's dialog is closed. */
  print(): Promise<void>;
  /** Draws a card as a picture file. Without `metricId`, the first card. Rejects if the token permits no downloads. */
  exportImage(request?: { readonly metricId?: string; readonly type?: 'png' | 'svg' }): Promise<Blob>;
}

/** `<guestlist-dashboard>`: the metrics of one dashboard below its filters. */
export interface GuestlistDashboard extends GuestlistChartElement {
  /**
   * Attribute `dashboard-id` or `dashboardid`: id of the dashboard, or name of the template that it is a copy of. Default: the
   * first dashboard that the token opens, where `tokenUrl` or `getToken` says which.
   */
  dashboardId: string | null;
  /** Whether filters are written to the page's URL. The attribute `url-filters="off"` turns this off. */
  urlFilters: boolean;
  /** Attribute `url-prefix`. Prefix of each filter in the page's URL. */
  urlPrefix: string | null;
  getFilters(): FilterValues;
  /**
   * Replaces the values of all filters, by filter name. They only narrow what the token allows. Throws
   * TypeError for a name that the dashboard does not have, and for a locked filter. Before the dashboard is loaded, such
   * values are taken; `guestlist-filters-ignored` then tells of them.
   */
  setFilters(values: FilterValues): void;
  addEventListener<Name extends keyof GuestlistDashboardEvents>(
    type: Name,
    listener: (event: GuestlistDashboardEvents[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** `<guestlist-metric>`: one metric, of a metric embed or, with `dashboardId`, of a dashboard. */
export interface GuestlistMetric extends GuestlistChartElement {
  /** Attribute `metric-id` or `metricid`. */
  metricId: string | null;
  /** Attribute `dashboard-id` or `dashboardid`. */
  dashboardId: string | null;
  addEventListener<Name extends keyof GuestlistMetricEvents>(
    type: Name,
    listener: (event: GuestlistMetricEvents[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** `<guestlist-editor>`: a guest makes a metric of a dashboard. Without the permission to create metrics, it takes no place. */
export interface GuestlistEditor extends GuestlistElement {
  /** Attribute `dashboard-id` or `dashboardid`: id of the dashboard, or name of the template that it is a copy of. */
  dashboardId: string | null;
  addEventListener<Name extends keyof GuestlistEditorEvents>(
    type: Name,
    listener: (event: GuestlistEditorEvents[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/**
 * Registers the dashboard and the metric under these tags as well, for pages that move over from another client of the interface.
 * On a server it does nothing.
 *
 * @example
 * ```ts
 * import { registerAs } from '@guestlist/elements';
 *
 * registerAs('dbn-dashboard', 'dbn-metric');
 * ```
 */
export declare const registerAs: (dashboardTag: string, metricTag: string) => void;

type ElementClass<Element> = {
  new (): Element;
  readonly prototype: Element;
  /** Loads what charts are drawn with, before the element is in the page. On a server it does nothing. */
  prepare(): void;
};

/**
 * Made by the page: `document.createElement('guestlist-dashboard')`. On a server the class has no behaviour.
 *
 * @example
 * ```ts
 * import '@guestlist/elements';
 *
 * const dashboard = document.createElement('guestlist-dashboard');
 * dashboard.tokenUrl = '/analytics/embed-token';
 * dashboard.addEventListener('guestlist-loaded', ({ detail }) => console.log(detail.name));
 * document.body.append(dashboard);
 * ```
 */
export declare const GuestlistDashboard: ElementClass<GuestlistDashboard>;
/**
 * Made by the page: `document.createElement('guestlist-metric')`. On a server the class has no behaviour.
 *
 * @example
 * ```ts
 * import '@guestlist/elements';
 *
 * const metric = document.createElement('guestlist-metric');
 * metric.tokenUrl = '/analytics/embed-token';
 * metric.metricId = 'delay-by-day';
 * document.body.append(metric);
 * ```
 */
export declare const GuestlistMetric: ElementClass<GuestlistMetric>;
/**
 * Made by the page: `document.createElement('guestlist-editor')`. On a server the class has no behaviour.
 *
 * @example
 * ```ts
 * import '@guestlist/elements';
 *
 * const editor = document.createElement('guestlist-editor');
 * editor.tokenUrl = '/analytics/embed-token';
 * editor.dashboardId = 'delays';
 * editor.addEventListener('guestlist-saved', ({ detail }) => console.log(detail.metricId));
 * document.body.append(editor);
 * ```
 */
export declare const GuestlistEditor: ElementClass<GuestlistEditor>;

declare global {
  interface HTMLElementTagNameMap {
    'guestlist-dashboard': GuestlistDashboard;
    'guestlist-metric': GuestlistMetric;
    'guestlist-editor': GuestlistEditor;
  }
}
