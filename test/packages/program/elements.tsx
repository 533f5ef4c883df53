// A program of a page, with and without React 19.
import '@guestlist/elements';
import type { GuestlistDashboard as DashboardElement } from '@guestlist/elements';
import type {} from '@guestlist/elements/jsx';
import { GuestlistDashboard, GuestlistMetric } from '@guestlist/elements/react';
import { createRef } from 'react';

const element: DashboardElement = document.createElement('guestlist-dashboard');
element.dashboardId = 'delays';
element.addEventListener('guestlist-loaded', ({ detail }) => detail.filters.map((name: string) => name));
// @ts-expect-error: the id is text
element.dashboardId = 1;

const ref = createRef<DashboardElement>();
export const page = (
  <>
    <GuestlistDashboard
      ref={ref}
      token="t"
      dashboardId="delays"
      theme="dark"
      onTokenExpired={({ detail }) => detail.dashboardId}
    />
    <GuestlistMetric token="t" metricId="m" className="wide" onGuestlistError={({ detail }) => detail.code.length} />
    <guestlist-dashboard token="t" dashboard-id="delays" />
    <guestlist-metric token="t" metricId="m" />
  </>
);
// @ts-expect-error: there is no such theme
export const wrong = <GuestlistDashboard theme="pink" />;
