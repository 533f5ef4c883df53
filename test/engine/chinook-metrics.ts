/** Metrics over Chinook, each with hand-written SQL for one customer's answer. */

import type { Measure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Condition, Predicate } from '../../src/model/filter/filter.js';
import type { Words } from './by-hand.js';
import { by } from './chinook-mart.js';
import { columnRef, condition, metric } from './world.js';

export type Item = {
  readonly name: string;
  readonly definition: VisualDefinition;
  readonly conditions?: readonly Condition[];
  /** Whether the order of the rows must be equal too. */
  readonly isOrdered?: boolean;
  /**
   * Returns the SQL for every row of the answer, its cells in the order of the metric's columns. `own`: the rows of the
   * customer's invoices.
   */
  readonly sql: (own: string, words: Words) => string;
};

const of = (aggregate: NonNullable<Measure['aggregate']>, path: string, rest: object = {}): Measure => ({
  ...{ name: `${aggregate} ${path}`, aggregate, column: columnRef(path) },
  ...rest,
});
const rows: Measure = { name: 'rows', aggregate: 'COUNT' };
const revenue = of('SUM', 'invoices.total');
const sold = of('SUM', 'invoice_lines.amount');
const monthly = by('invoices.invoice_date', { grain: 'month' });
const compare = (operator: '=' | '>' | '>=', value: number): Predicate => ({ kind: 'compare', operator, value });

const lines = (own: string): string => `invoice_lines l join ${own} i on l.invoice_id = i.invoice_id`;
const linesOfTracks = (own: string): string => `${lines(own)} join tracks t on l.track_id = t.track_id`;
const amount = 'sum(l.unit_price * l.quantity)';
const perMonth = (own: string, { month }: Words): string =>
  `select ${month('i.invoice_date')} as m, sum(i.total) as r,
   min(extract(year from i.invoice_date) * 12 + extract(month from i.invoice_date)) as k from ${own} i group by m`;
const perGenre = (own: string): string =>
  `select g.name as genre, ${amount} as r from ${linesOfTracks(own)} join genres g on t.genre_id = g.genre_id
   group by g.name`;
const perInvoice = (own: string): string =>
  `select i.invoice_id as invoice_id, i.billing_country as billing_country, i.total as total, count(*) as n,
   sum(l.quantity) as q from ${lines(own)}
   group by i.invoice_id, i.billing_country, i.total`;
const hasLine = (test: string): string =>
  `i.invoice_id in (select l.invoice_id from invoice_lines l join tracks t on l.track_id = t.track_id
   join genres g on t.genre_id = g.genre_id where ${test})`;

export const items: readonly Item[] = [
  {
    name: '1. revenue by month',
    definition: metric('invoices', { dimensions: [monthly], measures: [revenue, rows] }),
    isOrdered: true,
    sql: (own, { month }) =>
      `select ${month('i.invoice_date')} as m, sum(i.total), count(*) from ${own} i group by m order by m`,
  },
  {
    name: '2. revenue by year and quarter',
    definition: metric('invoices', {
      dimensions: [
        { ...by('invoices.invoice_date', { grain: 'year' }), name: 'year' },
        { ...by('invoices.invoice_date', { grain: 'quarter' }), name: 'quarter' },
      ],
      measures: [revenue],
    }),
    sql: (own, { year, quarter }) =>
      `select ${year('i.invoice_date')} as y, ${quarter('i.invoice_date')} as q, sum(i.total) from ${own} i group by y, q`,
  },
  {
    name: '3. revenue by genre, over two joins',
    definition: metric('invoice_lines', { dimensions: [by('genres.name')], measures: [sold] }),
    sql: perGenre,
  },
  {
    name: '4. the ten artists that sold most',
    definition: metric('invoice_lines', {
      dimensions: [by('artists.name')],
      measures: [sold],
      sort: [
        { name: sold.name, direction: 'DESC' },
        { name: 'artists.name', direction: 'ASC' },
      ],
      limit: 10,
    }),
    isOrdered: true,
    sql: (own) =>
      `select r.name, ${amount} as s from ${linesOfTracks(own)} join albums a on t.album_id = a.album_id
       join artists r on a.artist_id = r.artist_id group by r.name order by s desc, r.name limit 10`,
  },
  {
    name: '5. revenue by media type',
    definition: metric('invoice_lines', { dimensions: [by('media_types.name')], measures: [sold, rows] }),
    sql: (own) =>
      `select m.name, ${amount}, count(*) from ${linesOfTracks(own)}
       join media_types m on t.media_type_id = m.media_type_id group by m.name`,
  },
  {
    name: '6. tracks sold, and how many different ones',
    definition: metric('invoice_lines', {
      measures: [
        rows,
        of('SUM', 'invoice_lines.quantity'),
        of('COUNT_DISTINCT', 'invoice_lines.track_id'),
        of('COUNT', 'tracks.composer'),
      ],
    }),
    sql: (own) =>
      `select count(*), sum(l.quantity), count(distinct l.track_id),
       count(distinct case when t.composer is not null then t.track_id end) from ${linesOfTracks(own)}`,
  },
  {
    name: '7. the average invoice, the least, and the greatest',
    definition: metric('invoices', {
      measures: [of('AVG', 'invoices.total'), of('MIN', 'invoices.total'), of('MAX', 'invoices.total')],
    }),
    sql: (own, { real }) => `select avg(${real('i.total')}), min(i.total), max(i.total) from ${own} i`,
  },
  {
    name: '8. the median line, and percentiles of invoices beside it',
    definition: metric('invoice_lines', {
      measures: [
        of('MEDIAN', 'invoice_lines.amount'),
        of('PERCENTILE', 'invoices.total', { percentile: 0.9 }),
        { ...of('PERCENTILE', 'invoices.total', { percentile: 0.25 }), name: 'lower quartile' },
      ],
    }),
    sql: (own, { percentile }) =>
      `select ${percentile(0.5, 'l.unit_price * l.quantity', `from ${lines(own)}`)},
       ${percentile(0.9, 'i.total', `from ${own} i`)}, ${percentile(0.25, 'i.total', `from ${own} i`)}`,
  },
  {
    name: '9. the first and the last invoice of a customer',
    definition: metric('customers', {
      dimensions: [by('customers.last_name')],
      measures: [of('MIN', 'invoices.invoice_date'), of('MAX', 'invoices.invoice_date')],
    }),
    sql: (own, { moment }) =>
      `select c.last_name, ${moment('min(i.invoice_date)')}, ${moment('max(i.invoice_date)')}
       from ${own} i join customers c on i.customer_id = c.customer_id group by c.last_name`,
  },
  {
    name: '10. revenue by billing country',
    definition: metric('invoices', { dimensions: [by('invoices.billing_country')], measures: [revenue, rows] }),
    sql: (own) => `select i.billing_country, sum(i.total), count(*) from ${own} i group by i.billing_country`,
  },
  {
    name: '11. the running total by month',
    definition: metric('invoices', {
      dimensions: [monthly],
      measures: [revenue],
      calculations: [{ kind: 'runningTotal', name: 'so far', of: revenue.name }],
    }),
    isOrdered: true,
    sql: (own, words) =>
      `select a.m, a.r, (select sum(b.r) from (${perMonth(own, words)}) b where b.k <= a.k)
       from (${perMonth(own, words)}) a order by a.m`,
  },
  {
    name: '12. the share of each genre',
    definition: metric('invoice_lines', {
      dimensions: [by('genres.name')],
      measures: [sold],
      calculations: [{ kind: 'shareOfTotal', name: 'share', of: sold.name }],
    }),
    sql: (own, { real }) =>
      `select a.genre, a.r, ${real('a.r')} / (select ${real('sum(b.r)')} from (${perGenre(own)}) b)
       from (${perGenre(own)}) a`,
  },
  {
    name: '13. the change to the month before',
    definition: metric('invoices', {
      dimensions: [monthly],
      measures: [revenue],
      calculations: [
        { kind: 'previousPeriod', name: 'before', of: revenue.name },
        { kind: 'previousPeriod', name: 'change', of: revenue.name, result: 'change' },
        { kind: 'previousPeriod', name: 'relative', of: revenue.name, result: 'relativeChange' },
      ],
    }),
    isOrdered: true,
    sql: (own, words) =>
      `select a.m, a.r, b.r, a.r - b.r, ${words.real('a.r - b.r')} / ${words.real('b.r')}
       from (${perMonth(own, words)}) a left join (${perMonth(own, words)}) b on b.k + 1 = a.k order by a.m`,
  },
  {
    name: '14. invoices in buckets of 5',
    definition: metric('invoices', {
      dimensions: [by('invoices.total', { bucketWidth: 5 })],
      measures: [rows, revenue],
    }),
    sql: (own) => `select floor(i.total / 5) * 5 as bucket, count(*), sum(i.total) from ${own} i group by bucket`,
  },
  {
    name: '15a. an invoice beside its lines is not multiplied',
    definition: metric('invoices', {
      dimensions: [by('invoices.invoice_id')],
      measures: [revenue, of('COUNT', 'invoice_lines.invoice_line_id'), of('SUM', 'invoice_lines.quantity'), sold],
    }),
    sql: (own) => `select p.invoice_id, p.total, p.n, p.q, p.total from (${perInvoice(own)}) p`,
  },
  {
    name: '15b. nor are invoices of a country beside all their lines',
    definition: metric('invoices', {
      dimensions: [by('invoices.billing_country')],
      measures: [revenue, of('AVG', 'invoices.total'), rows, of('COUNT', 'invoice_lines.invoice_line_id')],
    }),
    sql: (own, { real }) =>
      `select p.billing_country, sum(p.total), avg(${real('p.total')}), count(*), sum(p.n) from (${perInvoice(own)}) p
       group by p.billing_country`,
  },
  {
    name: '15c. from the lines, an invoice is counted once in each genre that it has',
    definition: metric('invoice_lines', {
      dimensions: [by('genres.name')],
      measures: [of('COUNT', 'invoices.invoice_id'), revenue, rows],
    }),
    sql: (own) =>
      `select p.name, count(*), sum(p.total), sum(p.n) from (
         select g.name as name, i.invoice_id as invoice_id, i.total as total, count(*) as n from ${linesOfTracks(own)}
         join genres g on t.genre_id = g.genre_id group by g.name, i.invoice_id, i.total) p group by p.name`,
  },
  {
    name: '16a. lines sold of each playlist, through playlist_track',
    definition: metric('invoice_lines', {
      dimensions: [by('playlists.name')],
      measures: [of('COUNT', 'invoice_lines.invoice_line_id'), sold],
    }),
    sql: (own) =>
      `select p.name, count(l.invoice_line_id), ${amount} from playlist_track pt
       join playlists p on pt.playlist_id = p.playlist_id
       left join (select l.* from ${lines(own)}) l on l.track_id = pt.track_id group by p.name`,
  },
  {
    name: '16b. the tracks of each playlist are everybody’s',
    definition: metric('playlist_track', { dimensions: [by('playlists.name')], measures: [rows] }),
    sql: () =>
      `select p.name, count(*) from playlist_track pt join playlists p on pt.playlist_id = p.playlist_id group by p.name`,
  },
  {
    name: '17. customers of each employee, and what they paid',
    definition: metric('customers', {
      dimensions: [by('employees.last_name')],
      measures: [rows, of('COUNT', 'customers.company'), revenue],
    }),
    sql: (own) =>
      `select e.last_name, count(distinct c.customer_id), count(distinct case when c.company is not null then c.customer_id end),
       sum(i.total) from ${own} i join customers c on i.customer_id = c.customer_id
       join employees e on c.support_rep_id = e.employee_id group by e.last_name`,
  },
  {
    name: '18a. near filters',
    definition: metric('invoices', { measures: [rows, revenue] }),
    conditions: [
      condition('invoices.total', compare('>=', 5)),
      condition('invoices.billing_state', { kind: 'isNotNull' }),
    ],
    sql: (own) => `select count(*), sum(i.total) from ${own} i where i.total >= 5 and i.billing_state is not null`,
  },
  {
    name: '18b. a far filter: invoices that have a line of the genre',
    definition: metric('invoices', { measures: [rows, revenue] }),
    conditions: [condition('genres.name', { kind: 'oneOf', values: ['Genre A', 'Genre F'] })],
    sql: (own) => `select count(*), sum(i.total) from ${own} i where ${hasLine("g.name in ('Genre A', 'Genre F')")}`,
  },
  {
    name: '18c. two far filters of one table are met by one row',
    definition: metric('invoices', { measures: [rows, revenue] }),
    conditions: [
      condition('invoice_lines.quantity', compare('=', 2)),
      condition('invoice_lines.unit_price', compare('>', 1)),
    ],
    sql: (own) => `select count(*), sum(i.total) from ${own} i where ${hasLine('l.quantity = 2 and l.unit_price > 1')}`,
  },
  {
    name: '18d. any of a near and a far filter, all with another',
    definition: metric('invoices', {
      measures: [rows, revenue],
      where: {
        all: [
          condition('invoices.billing_state', { kind: 'isNotNull' }),
          {
            any: [
              condition('genres.name', { kind: 'oneOf', values: ['Genre B'] }),
              condition('invoices.total', compare('>', 10)),
            ],
          },
        ],
      },
    }),
    sql: (own) =>
      `select count(*), sum(i.total) from ${own} i
       where i.billing_state is not null and (i.total > 10 or ${hasLine("g.name = 'Genre B'")})`,
  },
  {
    name: '18e. a filter of a joined table takes lines away',
    definition: metric('invoice_lines', { dimensions: [by('genres.name')], measures: [sold] }),
    conditions: [condition('genres.name', { kind: 'noneOf', values: ['Genre A', 'Genre B', 'Genre C'] })],
    sql: (own) =>
      `select a.genre, a.r from (${perGenre(own)}) a where a.genre not in ('Genre A', 'Genre B', 'Genre C')`,
  },
  {
    name: '18f. having',
    definition: metric('invoices', {
      dimensions: [by('invoices.billing_country')],
      measures: [revenue, rows],
      having: {
        any: [
          { measure: 'rows', predicate: compare('>=', 5) },
          { measure: revenue.name, predicate: { kind: 'range', from: 6, to: 12, toIsExclusive: false } },
        ],
      },
    }),
    sql: (own) =>
      `select i.billing_country, sum(i.total), count(*) from ${own} i group by i.billing_country
       having count(*) >= 5 or sum(i.total) between 6 and 12`,
  },
];
