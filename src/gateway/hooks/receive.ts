import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';
import { type Answer, answerError, explain, noHeaders } from '../http/answer.js';
import type { TenantEventKind } from '../tenant/state.js';
import type { AnswerHook, HookTrace } from './hooks.js';

export type ReceiveHook = (kind: TenantEventKind, request: IncomingMessage, response: ServerResponse) => Promise<void>;

export type SendAnswer = (request: IncomingMessage, response: ServerResponse, answer: Answer, id: string) => void;

/** Answers hooks as the interface does, `{data, error}`, and logs each by its outcome. */
export const createReceiver =
  (answerHook: AnswerHook, send: SendAnswer, log: Log): ReceiveHook =>
  async (kind, request, response) => {
    const trace: HookTrace = { requestId: randomUUID() };
    const line = { event: `tenant-${kind}` };
    try {
      if (request.method !== 'POST') throw new Refusal('METHOD_NOT_ALLOWED', 'Send POST.');
      const data = await answerHook(kind, request, trace);
      const body = JSON.stringify({ data, error: null });
      send(request, response, { status: 200, body, headers: noHeaders }, trace.requestId);
      log.info({ ...trace, ...line, code: 'OK', state: data.state }, 'hook');
    } catch (error) {
      const answer = answerError(error);
      send(request, response, answer, trace.requestId);
      log[answer.status >= 500 ? 'error' : 'warn']({ ...trace, ...line, code: answer.code, ...explain(error) }, 'hook');
    }
  };
