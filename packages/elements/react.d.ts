/** Both elements as React components, for React 18 and 19. They can be rendered on a server; they show data in the browser. */
import type { ForwardRefExoticComponent, HTMLAttributes, PropsWithoutRef, RefAttributes } from 'react';
import type {
  GuestlistDashboard as DashboardElement,
  GuestlistDashboardEvents,
  GuestlistMetricEvents,
  GuestlistMetric as MetricElement,
} from './elements.js';

type Common = 'token' | 'tokenUrl' | 'getToken' | 'serviceUrl' | 'theme' | 'chartColors' | 'language' | 'options';
type Component<Element, Props> = ForwardRefExoticComponent<PropsWithoutRef<Props> & RefAttributes<Element>>;

type Events = {
  /** The token has ended, and the element gets no other by itself: set a new `token`, or log in. */
  onTokenExpired?: (event: GuestlistDashboardEvents['token-expired']) => void;
  /** The element shows an error. */
  onGuestlistError?: (event: GuestlistDashboardEvents['guestlist-error']) => void;
  onGuestlistDrill?: (event: GuestlistDashboardEvents['guestlist-drill']) => void;
  onGuestlistPointClick?: (event: GuestlistDashboardEvents['guestlist-point-click']) => void;
};

export type GuestlistDashboardProps = Omit<HTMLAttributes<DashboardElement>, keyof Events> &
  Events &
  Partial<Pick<DashboardElement, Common | 'dashboardId' | 'urlFilters' | 'urlPrefix'>> & {
    /** The dashboard and its filters were read. */
    onGuestlistLoaded?: (event: GuestlistDashboardEvents['guestlist-loaded']) => void;
    /** The guest has changed a filter. */
    onGuestlistFilterChange?: (event: GuestlistDashboardEvents['guestlist-filter-change']) => void;
  };
export type GuestlistMetricProps = Omit<HTMLAttributes<MetricElement>, keyof Events> &
  Events &
  Partial<Pick<MetricElement, Common | 'dashboardId' | 'metricId'>> & {
    onGuestlistLoaded?: (event: GuestlistMetricEvents['guestlist-loaded']) => void;
  };

export declare const GuestlistDashboard: Component<DashboardElement, GuestlistDashboardProps>;
export declare const GuestlistMetric: Component<MetricElement, GuestlistMetricProps>;
