/** Lets TypeScript know the elements in React's JSX: `import type {} from '@guestlist/elements/jsx'`. React 19 sets the properties itself. */
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { GuestlistDashboard, GuestlistEditor, GuestlistMetric } from './elements.js';

type Own<Element, Names extends keyof Element> = Partial<Pick<Element, Names>>;
type Base<Element> = DetailedHTMLProps<HTMLAttributes<Element>, Element>;
type Connection = 'token' | 'tokenUrl' | 'getToken' | 'tenant' | 'serviceUrl' | 'theme' | 'chartColors' | 'language';
type Common = Connection | 'options';

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
export type GuestlistEditorAttributes = Base<GuestlistEditor> &
  Own<GuestlistEditor, Connection | 'dashboardId'> & {
    'dashboard-id'?: string;
    'token-url'?: string;
    'service-url'?: string;
    'chart-colors'?: string;
  };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'guestlist-dashboard': GuestlistDashboardAttributes;
      'guestlist-metric': GuestlistMetricAttributes;
      'guestlist-editor': GuestlistEditorAttributes;
    }
  }
}
