/**
 * The links of messages: one ends reports, one confirms an address. Each is a page for people, and a POST, which mail
 * programs send to end reports (RFC 8058). The address holds an unguessable tag, which is the only credential. It can end
 * what that one recipient gets of that schedule, or confirm that one address, and nothing else.
 */
import express, { type RequestHandler, type Router } from 'express';
import { html } from '../../../model/html.js';
import { plainPagePolicy, renderPlainPage } from '../wire/plain-page.js';
import { flat, send } from '../wire/sending.js';

export const unsubscribePath = '/reports/unsubscribe';
export const confirmPath = '/reports/confirm';

/** `recipient` is null for the owner of a schedule without recipients. */
export type Unsubscribed = { readonly scheduleId: string; readonly recipient: string | null };

/** Returns what the address is about if the tag is right. */
export type ReadUnsubscribe = (text: string) => Promise<Unsubscribed | undefined>;

/** Returns false if there is nothing to act on any more. */
type Act<About> = (about: About) => Promise<boolean>;

const headers = flat({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': plainPagePolicy.replace("form-action 'none'", "form-action 'self'"),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
});

type Pages = { readonly ask: string; readonly done: string; readonly unknown: string };

const asking = (title: string, text: string, button: string): string =>
  renderPlainPage({ title, content: html`<p>${text}</p><form method="post"><button>${button}</button></form>` });
const saying = (title: string, text: string): string => renderPlainPage({ title, content: html`<p>${text}</p>` });

const stopping: Pages = {
  ask: asking('Stop these reports?', 'You then get no more messages of this schedule.', 'Stop them'),
  done: saying('Reports are stopped', 'You will get no more of these reports.'),
  unknown: saying('Nothing to stop', 'This link is not valid, or its schedule does not exist any more.'),
};
const confirming: Pages = {
  ask: asking('Receive reports?', 'Confirm that reports may be sent to your address.', 'Confirm'),
  done: saying('Your address is confirmed', 'You will get the next report.'),
  unknown: saying('Nothing to confirm', 'This link is not valid, was used before, or is too old.'),
};

/** A GET changes nothing: programs that look for viruses open every link. */
const answerLink =
  <About>(
    { ask, done, unknown }: Pages,
    { read, act }: { readonly read: (text: string) => Promise<About | undefined>; readonly act: Act<About> },
  ): RequestHandler =>
  async ({ method, params }, response) => {
    const isPost = method === 'POST';
    const found = await read(String(params.text));
    const isGood = found !== undefined && (!isPost || (await act(found)));
    const page = isPost ? done : ask;
    return send(response, { status: isGood ? 200 : 404, headers, body: isGood ? page : unknown });
  };

export const createMailLinksRouter = ({
  read,
  stop,
  readConfirm,
  confirm,
}: {
  readonly read: ReadUnsubscribe;
  readonly stop: Act<Unsubscribed>;
  /** Returns the id of the address that a link confirms, if its tag is right. */
  readonly readConfirm: (text: string) => Promise<string | undefined>;
  readonly confirm: Act<string>;
}): Router => {
  const router = express.Router({ caseSensitive: true, strict: true });
  const links = [
    [unsubscribePath, answerLink(stopping, { read, act: stop })],
    [confirmPath, answerLink(confirming, { read: readConfirm, act: confirm })],
  ] as const;
  for (const [path, answer] of links) router.route(`${path}/:text`).get(answer).post(answer);
  return router;
};
