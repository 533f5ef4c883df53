/** Answers the elements of this page from a file in this script: no question leaves the page. */
import data from './gallery-data.json' with { type: 'json' };

const [board, ...answers] = data as unknown as readonly [
  { readonly dashboardId: string; readonly metrics: readonly { readonly metricId: string }[] },
  ...(readonly object[]),
];

export const dashboardId = board.dashboardId;
/** No server has this address, which is below the page's own. */
export const inlineUrl = new URL('/docs/inline', window.location.href).href;

const lineOf = ({ metricId }: { readonly metricId: string }): string => {
  const at = board.metrics.findIndex((metric) => metric.metricId === metricId);
  return `${JSON.stringify({ metricId, answer: answers[at] })}\n`;
};

const answer = async (path: string, body: () => Promise<string>): Promise<Response> => {
  if (!path.endsWith('/query')) return Response.json({ data: board, error: null });
  const { metrics } = JSON.parse(await body()) as Pick<typeof board, 'metrics'>;
  return new Response(metrics.map(lineOf).join(''), { headers: { 'content-type': 'application/x-ndjson' } });
};

/** Takes over what is asked of `inlineUrl`, and leaves all else to the browser. */
export const serveInline = (): void => {
  const ask = window.fetch.bind(window);
  window.fetch = (input, init) => {
    const asked = new Request(input, init);
    return asked.url.startsWith(inlineUrl) ? answer(new URL(asked.url).pathname, () => asked.text()) : ask(input, init);
  };
};
