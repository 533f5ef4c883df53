/** Clients that send requests continuously during a fault and record each outcome. */
import { request as send } from 'node:http';
import { text } from 'node:stream/consumers';

export type Outcome = {
  /** 0: no answer arrived. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly startedMs: number;
  readonly tookMs: number;
  readonly body: string;
  /** The network error; undefined if an answer arrived. */
  readonly error: string | undefined;
};

export type Asked = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Sends one request on its own connection. Never rejects. */
export const askOnce = (url: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const startedMs = performance.now();
    const done = (given: Partial<Outcome>): void =>
      resolve({
        status: 0,
        retryAfter: undefined,
        body: '',
        error: undefined,
        startedMs,
        tookMs: performance.now() - startedMs,
        ...given,
      });
    const failed = (error: Error): void => done({ error: error.message });
    const outgoing = send(url, { method, headers, agent: false }, (response) => {
      text(response).then((answer) => {
        const { statusCode = 0, headers: given } = response;
        done({ status: statusCode, retryAfter: given['retry-after'], body: answer });
      }, failed);
    });
    outgoing.once('error', failed);
    outgoing.end(body);
  });

export type Load = {
  readonly outcomes: readonly Outcome[];
  /** Resolves after that many more requests have ended. */
  readonly ended: (more: number) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/**
 * Starts clients that each send the next request after the previous answer. `ask` gets a number that is different for
 * each request.
 */
export const startLoad = (clients: number, ask: (count: number) => Promise<Outcome>): Load => {
  const outcomes: Outcome[] = [];
  const waiting = new Set<{ readonly at: number; readonly resolve: () => void }>();
  let isStopped = false;
  let count = 0;
  const client = async (): Promise<void> => {
    while (!isStopped) {
      count += 1;
      outcomes.push(await ask(count));
      for (const one of waiting) {
        if (outcomes.length < one.at) continue;
        waiting.delete(one);
        one.resolve();
      }
    }
  };
  const running = Array.from({ length: clients }, client);
  return {
    outcomes,
    ended: (more) => new Promise((resolve) => waiting.add({ at: outcomes.length + more, resolve })),
    stop: async () => {
      isStopped = true;
      await Promise.all(running);
    },
  };
};

/**
 * Returns the outcomes that users must not see during a fault: everything except the right answer, or 503 with
 * Retry-After.
 */
export const faultsOf = (outcomes: readonly Outcome[]): readonly string[] =>
  outcomes.flatMap(({ status, retryAfter, error, body }) => {
    if (status === 200 || (status === 503 && retryAfter !== undefined)) return [];
    return [`${status} ${error ?? body.slice(0, 300)}${status === 503 ? ' (no Retry-After)' : ''}`];
  });
