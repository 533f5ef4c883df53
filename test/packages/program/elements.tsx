// A program of a page, with and without React 19.

import type { GuestlistDashboard as DashboardElement } from '@guestlist/elements';
import { registerAs } from '@guestlist/elements';
import type {} from '@guestlist/elements/jsx';
import { GuestlistDashboard, GuestlistEditor, GuestlistMetric } from '@guestlist/elements/react';
import { createRef } from 'react';

const element: DashboardElement = document.createElement('guestlist-dashboard');
element.dashboardId = 'delays';
element.addEventListener('guestlist-loaded', ({ detail }) => detail.filters.map((name: string) => name));
element.addEventListener('guestlist-filter-change', ({ detail }) => element.setFilters(detail.filters));
element.getToken = async () => (await fetch('/embed-token', { method: 'POST' })).json();
element.refresh();
registerAs('dbn-dashboard', 'dbn-metric');
document
  .createElement('guestlist-editor')
  .addEventListener('guestlist-saved', ({ detail }) => detail.metricId.length + detail.name.length);
// @ts-expect-error: a filter has a name
element.setFilters([]);
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
    <GuestlistMetric tokenUrl="/embed-token" onGuestlistPointClick={({ detail }) => detail.columnName.length} />
    <GuestlistDashboard
      getToken={() => null}
      onGuestlistFilterChange={({ detail }) => Object.keys(detail.filters)}
      onGuestlistDrill={({ detail }) => detail.drill.length}
    />
    <GuestlistEditor
      tokenUrl="/embed-token"
      dashboardId="delays"
      onGuestlistLoaded={({ detail }) => detail.name.length}
      onGuestlistSaved={({ detail }) => detail.metricId.length}
    />
    <guestlist-dashboard token="t" dashboard-id="delays" />
    <guestlist-editor token="t" dashboard-id="delays" />
    <guestlist-metric token="t" metricId="m" />
  </>
);
// @ts-expect-error: a theme is text
export const wrong = <GuestlistDashboard theme={1} />;
