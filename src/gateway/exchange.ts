/**
 * The guest token of a host session, for a door of this process that takes guest tokens: by the steps, limits, audit and
 * log of `POST /embed-token`, without choices of the caller.
 */
import type { IncomingMessage } from 'node:http';
import type { DecisionContext } from './audit/request-audit.js';
import type { EmbedTokenAnswer } from './common/wire.js';
import type { EmbedTokenPipeline } from './embed-token.js';
import { answerBrowser, type TextAnswer } from './http/answer.js';

/** Returns the token, or the refusal as `POST /embed-token` would answer it. */
export type Exchange = (
  request: IncomingMessage,
  requestId: string,
) => Promise<{ readonly token: string } | { readonly refused: TextAnswer }>;

type Handled = { readonly context: DecisionContext; readonly ms: number };

type Parts = {
  readonly answer: EmbedTokenPipeline;
  readonly report: {
    readonly granted: (handled: Handled, isMinted: boolean, mintedBy: string) => void;
    readonly failed: (handled: Handled, error: unknown, refused: ReturnType<typeof answerBrowser>) => void;
  };
  readonly msSince: (startedAt: number) => number;
};

export const createExchange =
  ({ answer, report, msSince }: Parts): Exchange =>
  async (request, requestId) => {
    const startedAt = performance.now();
    const outcome = await answer({ from: request, body: () => ({}) }, { requestId });
    const handled = { context: outcome.context, ms: msSince(startedAt) };
    if ('error' in outcome) {
      const refused = answerBrowser(outcome.error, requestId);
      report.failed(handled, outcome.error, refused);
      return { refused };
    }
    report.granted(handled, outcome.isMinted, outcome.mintedBy);
    const { token }: Pick<EmbedTokenAnswer, 'token'> = JSON.parse(outcome.body);
    return { token };
  };
