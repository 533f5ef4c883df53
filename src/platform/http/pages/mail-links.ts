/**
 * The links of messages: one ends reports, one confirms an address. Each is a page for people, and a POST, which mail
 * programs send to end reports (RFC 8058). The address holds an unguessable tag, which is the only credential. It can end
 * what that one recipient gets of that schedule, or confirm that one address, and nothing else.
 */
import express, { type RequestHandler, type Router } from 'express';
import { html } from '../wire/html.js';
import { flat, send } from '../wire/sending.js';
import { plainPagePolicy, renderPlainPage } from './home.js';

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

const stopping: Pages = {
  ask: renderPlainPage(html`<p>Stop these reports?</p><form method="post"><button>Stop them</button></form>`),
  done: renderPlainPage(html`<p>You will get no more of these reports.</p>`),
  unknown: renderPlainPage(html`<p>This link is not valid, or its schedule does not exist any more.</p>`),
};
const confirming: Pages = {
  ask: renderPlainPage(
    html`<p>Receive reports at your address?</p><form method="post"><button>Confirm</button></form>`,
  ),
  done: renderPlainPage(html`<p>Your address is confirmed. You will get the next report.</p>`),
  unknown: renderPlainPage(html`<p>This link is not valid, was used before, or is too old.</p>`),
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
