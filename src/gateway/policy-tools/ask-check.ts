/** Asks a host's endpoint for opaque sessions as the gateway does, and in ways that the host must refuse. */
import { askFrom } from '../../platform/calls/outgoing.js';
import type { JwtClaims } from '../../platform/keys/jwt.js';
import { readAnswer } from '../authenticate/asked-session.js';
import { signQuestion } from '../host/questions.js';

export type AskCheckOptions = {
  readonly url: string;
  /** The secret in the format of Standard Webhooks. */
  readonly secret: string;
  /** What the gateway would forward of one logged-in user. */
  readonly headers: Readonly<Record<string, string>>;
  readonly now: Date;
};

/** One question. `fault` says what the host did wrong. Null: nothing. */
export type AskedQuestion = { readonly question: string; readonly must: string; readonly fault: string | null };

export type AskCheck = { readonly questions: readonly AskedQuestion[]; readonly claims: JwtClaims | null };

const timeoutMs = 10_000;
const maxBytes = 128 * 1024;
const hourMs = 3_600_000;
/** A secret that the host does not have. */
const otherSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

type Sent = { readonly signedWith: string | null; readonly at: Date; readonly headers: AskCheckOptions['headers'] };

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason');

/** Returns what the host says, or the fault of its answer. */
const ask = async (url: string, { signedWith, at, headers }: Sent) => {
  const signed = signedWith === null ? {} : await signQuestion(signedWith, at);
  const asking = { headers: { accept: 'application/json', ...headers, ...signed } };
  try {
    const answer = await askFrom(
      { url, allowsPrivate: true },
      { ...asking, signal: AbortSignal.timeout(timeoutMs) },
      { maxBytes },
    );
    const said = readAnswer('checked')(answer.status, await answer.text());
    const claims: JwtClaims | null = said === null ? null : JSON.parse(said.text);
    return { status: answer.status, claims, fault: null };
  } catch (error) {
    return { status: null, claims: null, fault: messageOf(error) };
  }
};

/** Asks five questions, one after the other. Never rejects because of what the host answers. */
export const checkAsk = async ({ url, secret, headers, now }: AskCheckOptions): Promise<AskCheck> => {
  const valid = { signedWith: secret, at: now, headers };
  const loggedIn = await ask(url, valid);
  const stranger = await ask(url, { ...valid, headers: {} });
  const mustRefuse = async (question: string, sent: Sent): Promise<AskedQuestion> => {
    const { claims } = await ask(url, sent);
    const fault = claims === null ? null : 'the host named the user: check the signature and its time first';
    return { question, must: 'another status than 200', fault };
  };
  return {
    claims: loggedIn.claims,
    questions: [
      {
        question: 'who is logged in with this session',
        must: '200 with claims',
        fault:
          loggedIn.fault ?? (loggedIn.claims === null ? 'the host answered 401: is the session still valid?' : null),
      },
      {
        question: 'who is logged in without a session',
        must: '401',
        fault: stranger.fault ?? (stranger.claims === null ? null : 'the host named a user'),
      },
      await mustRefuse('the first question without a signature', { ...valid, signedWith: null }),
      await mustRefuse('the first question with the signature of another secret', {
        ...valid,
        signedWith: otherSecret,
      }),
      await mustRefuse('the first question, signed an hour ago', { ...valid, at: new Date(now.getTime() - hourMs) }),
    ],
  };
};

/** Returns the text, without a final newline. */
export const writeAskCheck = ({ questions, claims }: AskCheck): string =>
  [
    ...questions.map(({ question, must, fault }) =>
      fault === null ? `ok      ${question}: ${must}` : `FAULT   ${question}: must be ${must}; ${fault}`,
    ),
    ...(claims === null ? [] : ['', 'Claims', JSON.stringify({ ...claims, iss: undefined }, null, 2)]),
  ].join('\n');
