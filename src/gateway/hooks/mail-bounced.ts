/** Takes word of a mail server that a message came back, signed as every hook. It can end what it names, and reads nothing. */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Handle } from '../../platform/http/wire/in-turn.js';
import { json, send } from '../../platform/http/wire/sending.js';
import type { Log } from '../../platform/logs/log.js';
import { createReceiver, decodeSigned, type SignedOptions, signedReader } from './receive.js';

export const mailBouncedPath = '/hooks/mail-bounced';

/** `isHard`: the address will not take mail later either. */
export type Bounce = { readonly deliveryId: string; readonly isHard: boolean };
/** Returns false if no such message was sent, or its return is known. */
export type RecordBounce = (bounce: Bounce) => Promise<boolean>;

/** A message id is the id of its delivery, and the domain of the sender. */
const messageId = z
  .string()
  .max(300)
  .regex(/^<?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}@[^@<>\s]+>?$/, 'must be the Message-ID of a report');
const body = z.object({ messageId, kind: z.enum(['hard', 'soft'], 'must be hard or soft') });

const decode = (text: string): Bounce => {
  const { messageId: id, kind } = decodeSigned(body, '{"messageId": string, "kind": "hard" | "soft"}', text);
  return { deliveryId: id.replace(/^<|@.*$/g, ''), isHard: kind === 'hard' };
};

/** Answers `{data: {isApplied}, error: null}`, or an error in the format of the interface. */
export const createMailBounced = ({
  record,
  log,
  ...options
}: SignedOptions & { readonly record: RecordBounce; readonly log: Log }): Handle => {
  const readSigned = signedReader(options);
  const receive = createReceiver(
    (_, response, answer) => send(response, { ...answer, headers: [...json, ...answer.headers] }),
    log,
  );
  const answer = async (request: IncomingMessage) => ({
    isApplied: await record(decode((await readSigned(request)).text)),
  });
  return (request, response) => receive('mail-bounced', answer, request, response);
};
