/** Everything that a view as a user may ask, and what of the answers is compared. */
import type { Answered, Ask } from './studio-world.js';
import type { ViewQuestion } from './view-cases.js';

export const bodyOf = <T>({ text }: Answered): T => JSON.parse(text) as T;
export const codeOf = (answer: Answered): string => bodyOf<{ error: { code: string } }>(answer).error.code;

/**
 * What is compared: an answer, without what differs between two answers to the same question. Of a refusal the code:
 * Studio is told the cause, which a user is not.
 */
export const comparable = (answer: Answered): unknown => {
  if (answer.status !== 200) return [answer.status, codeOf(answer)];
  // The cards of a dashboard answer in any order, one a line.
  const lines = answer.text.split('\n').toSorted().join('\n');
  return lines.replaceAll(/"timeTaken":\d+/g, '').replaceAll(/"message":"(?:[^"\\]|\\.)*"/g, '');
};

export type Asked = { readonly name: string; readonly ask: (as: Ask) => Promise<Answered> };

export type BoardView = {
  readonly data: {
    readonly metrics: readonly {
      readonly metricId: string;
      readonly name: string;
      readonly chart: { readonly dimensions: readonly string[] };
    }[];
    readonly filters: readonly { readonly name: string }[];
    readonly permissions: Readonly<Record<string, boolean>>;
  };
};

/** Everything that a view may ask of a metric, alone or on a dashboard. */
export const questionsOf = (
  metricId: string,
  dashboardId: string | undefined,
  question: ViewQuestion,
): readonly Asked[] => {
  const metric = `/metrics/${encodeURIComponent(metricId)}`;
  const { limit, dashboardFilter } = question;
  const query = { dashboardId, ...(dashboardId === undefined ? {} : { dashboardFilter }) };
  return [
    { name: 'getGuestMetric', ask: (as) => as('GET', metric) },
    { name: 'queryGuestMetric', ask: (as) => as('POST', `${metric}/query`, { ...query, limit }) },
    { name: 'listGuestUnderlying', ask: (as) => as('POST', `${metric}/underlying`, { ...query, limit }) },
    { name: 'downloadGuestCsv', ask: (as) => as('POST', `${metric}/csv`, query) },
    { name: 'downloadGuestXlsx', ask: (as) => as('POST', `${metric}/xlsx`, query) },
    { name: 'renderGuestMetricPdf', ask: (as) => as('POST', `${metric}/pdf`, query) },
    { name: 'renderGuestMetricPng', ask: (as) => as('POST', `${metric}/png`, query) },
  ];
};

/** Everything that a view may ask of a dashboard. */
export const questionsOfBoard = (id: string, { data }: BoardView, question: ViewQuestion): readonly Asked[] => {
  const dashboard = `/dashboards/${encodeURIComponent(id)}`;
  const { dashboardFilter, search } = question;
  const cards = data.metrics.map(({ metricId }) => ({ metricId }));
  const crossFilter = data.metrics.flatMap(({ metricId, chart: { dimensions } }) =>
    dimensions.slice(0, 1).map((columnName) => ({ metricId, columnName, value: 'x' })),
  );
  return [
    { name: 'listGuestFields', ask: (as) => as('GET', `${dashboard}/fields`) },
    {
      name: 'queryGuestDashboard',
      ask: (as) => as('POST', `${dashboard}/query`, { dashboardFilter, crossFilter, metrics: cards }),
    },
    { name: 'renderGuestDashboardPdf', ask: (as) => as('POST', `${dashboard}/pdf`, { dashboardFilter }) },
    { name: 'renderGuestDashboardPng', ask: (as) => as('POST', `${dashboard}/png`, { crossFilter }) },
    { name: 'downloadGuestDashboardXlsx', ask: (as) => as('POST', `${dashboard}/xlsx`, { metrics: cards }) },
    ...['Label', 'Code'].map(
      (filter): Asked => ({
        name: 'listGuestFilterOptions',
        ask: (as) => as('GET', `${dashboard}/filters/${filter}/options?search=${search}`),
      }),
    ),
    ...data.metrics.flatMap(({ metricId }, at) => {
      const ways = questionsOf(metricId, id, question);
      return at === question.card % data.metrics.length ? ways : ways.filter(({ name }) => name === 'queryGuestMetric');
    }),
  ];
};

/** What a person without access to data may read: definitions. */
export const withoutRows: ReadonlySet<string> = new Set([
  ...['getGuestDashboard', 'getGuestMetric', 'getGuestBoard', 'listGuestFields'],
]);
/** What the cards of an answer hold: rows were compared, and no empty answers alone. */
export const countRows = ({ text, status }: Answered): number =>
  status === 200 ? (JSON.parse(text) as { readonly data: readonly unknown[] }).data.length : 0;
