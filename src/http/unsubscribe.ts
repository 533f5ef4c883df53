/**
 * Ends a schedule from its messages: a page for people, and the single POST that mail programs send (RFC 8058). The
 * address holds an unguessable tag, which is the only credential. It can pause that schedule and nothing else.
 */
import express, { type RequestHandler, type Router } from 'express';
import { plainPagePolicy, renderPlainPage } from './home.js';
import { html } from './html.js';

export const unsubscribePath = '/reports/unsubscribe';

/** Returns the schedule's id if the tag is right. */
export type ReadUnsubscribe = (text: string) => Promise<string | undefined>;

type Options = {
  readonly read: ReadUnsubscribe;
  /** Returns false if the schedule does not exist. */
  readonly pause: (scheduleId: string) => Promise<boolean>;
};

const policy = plainPagePolicy.replace("form-action 'none'", "form-action 'self'");

const ask = renderPlainPage(html`<p>Stop these reports?</p><form method="post"><button>Stop them</button></form>`);
const done = renderPlainPage(html`<p>You will get no more of these reports.</p>`);
const unknown = renderPlainPage(html`<p>This link is not valid, or its schedule does not exist any more.</p>`);

const page =
  (answer: (text: string) => Promise<{ readonly status: number; readonly body: string }>): RequestHandler =>
  async ({ params }, response) => {
    const { status, body } = await answer(String(params.text));
    const headers = {
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    };
    response
      .status(status)
      .set({ 'Content-Type': 'text/html; charset=utf-8', ...headers })
      .send(body);
  };

export const createUnsubscribeRouter = ({ read, pause }: Options): Router => {
  const router = express.Router({ caseSensitive: true, strict: true });
  const missing = { status: 404, body: unknown };
  // A GET changes nothing: programs that look for viruses open every link.
  const show = page(async (text) => ((await read(text)) === undefined ? missing : { status: 200, body: ask }));
  const end = page(async (text) => {
    const scheduleId = await read(text);
    return scheduleId !== undefined && (await pause(scheduleId)) ? { status: 200, body: done } : missing;
  });
  router.get(`${unsubscribePath}/:text`, show);
  router.post(`${unsubscribePath}/:text`, end);
  return router;
};
