/** The elements as React components, for React 18 and 19. They can be rendered on a server; they show data in the browser. */
import type { ForwardRefExoticComponent, HTMLAttributes, PropsWithoutRef, RefAttributes } from 'react';
import type {
  GuestlistDashboard as DashboardElement,
  GuestlistEditor as EditorElement,
  GuestlistDashboardEvents,
  GuestlistEditorEvents,
  GuestlistMetricEvents,
  GuestlistMetric as MetricElement,
} from './elements.js';

type Connection = 'token' | 'tokenUrl' | 'getToken' | 'tenant' | 'serviceUrl' | 'theme' | 'chartColors' | 'language';
type Common = Connection | 'options';
type Component<Element, Props> = ForwardRefExoticComponent<PropsWithoutRef<Props> & RefAttributes<Element>>;

type ConnectionEvents = {
  /** The token has ended, and the element gets no other by itself: set a new `token`, or log in. */
  onTokenExpired?: (event: GuestlistDashboardEvents['token-expired']) => void;
  /** The element shows an error. */
  onGuestlistError?: (event: GuestlistDashboardEvents['guestlist-error']) => void;
  /** The user has chosen a tenant. */
  onGuestlistTenantChange?: (event: GuestlistDashboardEvents['guestlist-tenant-change']) => void;
};
type Events = ConnectionEvents & {
  onGuestlistDrill?: (event: GuestlistDashboardEvents['guestlist-drill']) => void;
  onGuestlistPointClick?: (event: GuestlistDashboardEvents['guestlist-point-click']) => void;
};

export type GuestlistDashboardProps = Omit<HTMLAttributes<DashboardElement>, keyof Events> &
  Events &
  Partial<Pick<DashboardElement, Common | 'dashboardId' | 'urlFilters' | 'urlPrefix'>> & {
    /** The dashboard and its filters were read. */
    onGuestlistLoaded?: (event: GuestlistDashboardEvents['guestlist-loaded']) => void;
    /** The guest has opened another dashboard in the side bar. */
    onGuestlistDashboardChange?: (event: GuestlistDashboardEvents['guestlist-dashboard-change']) => void;
    /** The guest has changed a filter. */
    onGuestlistFilterChange?: (event: GuestlistDashboardEvents['guestlist-filter-change']) => void;
    /** Filter values of the page have no effect. */
    onGuestlistFiltersIgnored?: (event: GuestlistDashboardEvents['guestlist-filters-ignored']) => void;
  };
export type GuestlistMetricProps = Omit<HTMLAttributes<MetricElement>, keyof Events> &
  Events &
  Partial<Pick<MetricElement, Common | 'dashboardId' | 'metricId'>> & {
    onGuestlistLoaded?: (event: GuestlistMetricEvents['guestlist-loaded']) => void;
  };
export type GuestlistEditorProps = Omit<HTMLAttributes<EditorElement>, keyof ConnectionEvents> &
  ConnectionEvents &
  Partial<Pick<EditorElement, Connection | 'dashboardId'>> & {
    onGuestlistLoaded?: (event: GuestlistEditorEvents['guestlist-loaded']) => void;
    /** The guest has saved a metric. */
    onGuestlistSaved?: (event: GuestlistEditorEvents['guestlist-saved']) => void;
  };

/**
 * `<guestlist-dashboard>` as a React component.
 *
 * @example
 * ```tsx
 * import { GuestlistDashboard } from '@guestlist/elements/react';
 *
 * export const Numbers = () => <GuestlistDashboard tokenUrl="/analytics/embed-token" />;
 * ```
 */
export declare const GuestlistDashboard: Component<DashboardElement, GuestlistDashboardProps>;
/**
 * `<guestlist-metric>` as a React component.
 *
 * @example
 * ```tsx
 * import { GuestlistMetric } from '@guestlist/elements/react';
 *
 * export const Numbers = () => <GuestlistMetric tokenUrl="/analytics/embed-token" metricId="delay-by-day" />;
 * ```
 */
export declare const GuestlistMetric: Component<MetricElement, GuestlistMetricProps>;
/**
 * `<guestlist-editor>` as a React component.
 *
 * @example
 * ```tsx
 * import { GuestlistEditor } from '@guestlist/elements/react';
 *
 * export const Numbers = () => <GuestlistEditor tokenUrl="/analytics/embed-token" dashboardId="delays" />;
 * ```
 */
export declare const GuestlistEditor: Component<EditorElement, GuestlistEditorProps>;
