/** Draws the cases of guests.test.ts: a guest, a way of asking, and a question with marks, filters and a step down. */
import fc from 'fast-check';
import type { CrossFilter } from '../../src/model/guest/view.js';
import { ways } from './guest-ways.js';
import { clients, metricIds, restrictions } from './guest-world.js';

const shopNames = ['s1', 's2', 's3', 's4', 's5', 's6', 's7', 's99', null];
const stateNames = ['CA', 'NV', 'NY', 'WA', 'ZZ', null];
const months = ['2023-09-01', '2023-10-01', '2023-11-01', '2024-01-01', '2023-11-15'];

const marksOf = (metricId: string, columnName: string, values: readonly (string | number | null)[]) =>
  fc.constantFrom(...values).map((value): CrossFilter => ({ metricId, columnName, value }));
const aMark = fc.oneof(
  ...[
    marksOf('shops', 'Shop', shopNames),
    marksOf('both', 'Code', shopNames),
    marksOf('places', 'Place', shopNames),
    marksOf('states', 'State', stateNames),
    marksOf('both', 'State', stateNames),
    marksOf('drilled', 'State', stateNames),
    marksOf('months', 'Month', months),
    marksOf('days', 'Day', ['2023-11-15', '2023-10-02', '2024-01-12']),
    marksOf('ids', 'Ids', [0, 10, 100, 110, 215, 7]),
    marksOf('total', 'Count', [1]),
  ],
  fc
    .tuple(fc.constantFrom(...months), fc.constantFrom(...months))
    .map(([from, to]): CrossFilter => ({ metricId: 'months', columnName: 'Month', from, to })),
);
const aQuery = fc.record({
  metricId: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...metricIds) }, fc.constant('drilled')),
  crossFilter: fc.array(aMark, { maxLength: 3 }),
  dashboardFilter: fc.option(
    fc.subarray(['CA', 'NV', 'NY', 'WA'], { minLength: 1 }).map((states) => ({ State: states })),
    { nil: undefined },
  ),
  /** The state whose shops are asked, where the metric and the way can drill. */
  step: fc.option(fc.constantFrom(...stateNames), { nil: undefined }),
});

export const aGuestCase = fc.record({
  client: fc.constantFrom(...clients),
  states: fc.constantFrom(...restrictions),
  way: fc.constantFrom(...Object.keys(ways)),
  query: aQuery,
});
type GuestCase = typeof aGuestCase extends fc.Arbitrary<infer Case> ? Case : never;

const example = (client: GuestCase['client'], way: string, metricId: string, step?: string): [GuestCase] => [
  { client, states: restrictions[2], way, query: { metricId, crossFilter: [], dashboardFilter: undefined, step } },
];
/** Few random cases are of one way: a summary with restrictions, and a step down into each state, are in every run. */
export const guestExamples = [
  ...clients.map((client) => example(client, 'summary', 'states')),
  ...['query', 'rows', 'csv'].flatMap((way) =>
    ['CA', 'NV', 'NY', 'WA'].map((state) => example(clients[0], way, 'drilled', state)),
  ),
];
