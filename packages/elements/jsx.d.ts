/** Lets TypeScript know both elements in React's JSX: `import type {} from '@guestlist/elements/jsx'`. React 19 sets the properties itself. */
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { GuestlistDashboard, GuestlistMetric } from './elements.js';

type Own<Element, Names extends keyof Element> = Partial<Pick<Element, Names>>;
type Base<Element> = DetailedHTMLProps<HTMLAttributes<Element>, Element>;
type Common = 'token' | 'tokenUrl' | 'getToken' | 'serviceUrl' | 'theme' | 'chartColors' | 'language' | 'options';

export type GuestlistDashboardAttributes = Base<GuestlistDashboard> &
  Own<GuestlistDashboard, Common | 'dashboardId' | 'urlFilters' | 'urlPrefix'> & {
    'dashboard-id'?: string;
    'token-url'?: string;
    'service-url'?: string;
    'chart-colors'?: string;
    'url-filters'?: 'on' | 'off';
    'url-prefix'?: string;
  };
export type GuestlistMetricAttributes = Base<GuestlistMetric> &
  Own<GuestlistMetric, Common | 'dashboardId' | 'metricId'> & {
    'dashboard-id'?: string;
    'metric-id'?: string;
    'token-url'?: string;
    'service-url'?: string;
    'chart-colors'?: string;
  };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'guestlist-dashboard': GuestlistDashboardAttributes;
      'guestlist-metric': GuestlistMetricAttributes;
    }
  }
}
