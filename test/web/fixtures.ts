/** The demo's users and dashboards in the shapes of the interface. */
import { effectiveAccess } from '../../src/model/guest/end-user-filters.js';
import type { GuestChart, GuestDashboard, GuestMetric } from '../../src/model/guest/view.js';

export type FakeUser = {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly airport: string;
  readonly roles: readonly string[];
  readonly region: string | null;
  readonly description: string;
  readonly embeds: readonly string[];
};

export const demoUsers: readonly FakeUser[] = [
  {
    id: 'lax-analyst',
    name: 'Ana Ruiz',
    title: 'Analyst',
    airport: 'LAX',
    roles: ['analyst'],
    region: null,
    description: 'Sees the delays of flights that leave Los Angeles.',
    embeds: ['delays'],
  },
  {
    id: 'lax-manager',
    name: 'Marcus Lee',
    title: 'Manager',
    airport: 'LAX',
    roles: ['manager'],
    region: null,
    description: 'Sees delays and routes, the rows behind them, and may download.',
    embeds: ['delays', 'routes'],
  },
  {
    id: 'atl-analyst',
    name: 'Grace Okafor',
    title: 'Analyst',
    airport: 'ATL',
    roles: ['analyst'],
    region: null,
    description: 'The same dashboard, for Atlanta.',
    embeds: ['delays'],
  },
  {
    id: 'sfo-regional',
    name: 'Kenji Mori',
    title: 'Regional analyst',
    airport: 'SFO',
    roles: ['analyst', 'regional'],
    region: 'CA',
    description: 'Sees flights from San Francisco to destinations in California only.',
    embeds: ['delays'],
  },
  {
    id: 'lax-guest',
    name: 'Paul Weber',
    title: 'Contractor',
    airport: 'LAX',
    roles: [],
    region: null,
    description: 'Has no role, and sees nothing.',
    embeds: [],
  },
];

const chart = (
  type: GuestChart['type'],
  dimensions: readonly string[],
  measures: readonly string[],
  more: Partial<GuestChart> = {},
): GuestChart => ({ type, dimensions, measures, isDrillable: false, ...more });
const metric = (metricId: string, name: string, drawn: GuestChart): GuestMetric => ({
  metricId,
  name,
  chart: drawn,
  filters: [],
});

/** The dashboards by id, for a guest of one airport. */
export const dashboards = (airport: string): Readonly<Record<string, GuestDashboard>> => {
  const isManager = airport === 'LAX';
  const permissions = {
    isEnableArchiveMetrics: false,
    isEnableManageMetrics: false,
    isEnableCreateDashboardView: false,
    isEnableMetricUpdation: false,
    isEnableCustomizeLayout: false,
    isEnableUnderlyingData: isManager,
    isEnableDownloadMetrics: isManager,
    isShowSideBar: false,
    isShowDashboardName: true,
    isDisableMetricCreation: true,
    isEnableCreateDashboard: false,
  };
  const filters = [
    { name: 'State', dataType: 'string', defaultValue: null },
    { name: 'Date', dataType: 'date', defaultValue: null },
  ] as const;
  const delays: GuestDashboard = {
    dashboardId: `delays--${airport}`,
    name: 'Delays',
    layout: [
      { metricId: 'flightsADay', x: 0, y: 0, w: 9, h: 4 },
      { metricId: 'shareDelayed', x: 9, y: 0, w: 3, h: 4 },
      { metricId: 'delayByHour', x: 0, y: 4, w: 6, h: 4 },
      { metricId: 'delayByDestination', x: 6, y: 4, w: 6, h: 4 },
    ],
    metrics: [
      metric('flightsADay', 'Flights a day', chart('line', ['day'], ['flights'])),
      metric(
        'delayByHour',
        'Average delay by hour of departure',
        chart('bar', ['hour'], ['averageDelay'], { unit: 'min' }),
      ),
      metric(
        'shareDelayed',
        'Delayed over 15 minutes',
        chart('singleValue', [], ['shareDelayed'], { format: 'percent' }),
      ),
      metric(
        'delayByDestination',
        'Average delay by destination',
        chart('bar', ['airport'], ['averageDelay'], { unit: 'min', isDrillable: true }),
      ),
    ],
    filters,
    permissions,
    accessPermissions: effectiveAccess({}, null, undefined),
    theme: null,
    defaultView: null,
  };
  const routes: GuestDashboard = {
    ...delays,
    dashboardId: `routes--${airport}`,
    name: 'Routes',
    layout: [
      { metricId: 'busiestRoutes', x: 0, y: 0, w: 6, h: 4 },
      { metricId: 'distances', x: 6, y: 0, w: 6, h: 4 },
      { metricId: 'topDestinations', x: 0, y: 4, w: 12, h: 5 },
    ],
    metrics: [
      metric('busiestRoutes', 'Busiest routes', chart('bar', ['destination'], ['flights'])),
      metric('distances', 'Flights by distance in miles', chart('bar', ['distance'], ['flights'])),
      metric(
        'topDestinations',
        'Top destinations',
        chart('table', ['airport', 'state'], ['flights', 'averageDelay'], { isDrillable: true }),
      ),
    ],
  };
  return { [delays.dashboardId]: delays, [routes.dashboardId]: routes };
};
