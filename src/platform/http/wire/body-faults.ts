/** Errors of reading a body. */

import type { IncomingMessage } from 'node:http';
import type { Reason } from '../../../model/reasons.js';
import { Refusal } from '../../../model/refusal.js';
import { findJsonExcess, valuesIn } from '../../work/json-excess.js';
import { limits } from '../interface/fields.js';
import { tooLarge } from './envelope.js';

/** The body is larger than its operation allows. The answer is 413, which operations need not declare. */
export class BodyTooLarge extends Refusal {
  constructor(
    maxBytes: number,
    /** Whether bytes of the body were read before it was refused. */
    readonly wasRead: boolean,
  ) {
    super('INVALID_REQUEST_BODY', tooLarge(maxBytes).error.message, { reason: 'body-too-large' });
  }
}

const invalid = (message: string, reason: Reason, cause?: unknown): Refusal =>
  new Refusal('INVALID_REQUEST_BODY', message, { reason, cause });

/** For a body that is not JSON. spec-gap: INVALID_REQUEST_BODY, since the interface does not define 415. */
export const otherType = ({ headers }: IncomingMessage): Refusal =>
  invalid(
    `The body's Content-Type is ${headers['content-type']?.slice(0, 100) ?? 'none'}; send application/json.`,
    'body-type',
  );

const jsonPosition = (error: unknown): string => {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (at position ${position})`;
};

type BodyFaultKind = { readonly reason: Reason; readonly describe: (cause: unknown) => string };

/** Reasons and messages for bodies that cannot be read. The parser's own text would repeat the body. */
const bodyFaults = {
  json: { reason: 'body-not-json', describe: (cause) => `The body is not valid JSON${jsonPosition(cause)}.` },
  encoding: {
    reason: 'body-unreadable',
    describe: () => 'The Content-Encoding is not supported; send gzip, deflate, br or none.',
  },
  packed: {
    reason: 'body-unreadable',
    describe: () => 'The body cannot be unpacked: it does not match its Content-Encoding, or it is incomplete.',
  },
  charset: { reason: 'body-unreadable', describe: () => 'The charset is not supported; send UTF-8.' },
  aborted: { reason: 'body-ended-early', describe: () => 'The request ended before its body did.' },
  readBefore: {
    reason: 'body-read-before',
    describe: () => 'Another parser read the body before Guestlist did. Mount Guestlist before body parsers.',
  },
} as const satisfies Readonly<Record<string, BodyFaultKind>>;

/** Returns INVALID_REQUEST_BODY for a body that could not be read. */
export const bodyFault = (kind: keyof typeof bodyFaults, cause?: unknown): Refusal => {
  const { reason, describe }: BodyFaultKind = bodyFaults[kind];
  return invalid(describe(cause), reason, cause);
};

/** Limits of a JSON text before it is parsed. `root` names the text in messages. */
export type JsonBounds = { readonly maxBytes: number; readonly levels?: number; readonly root?: string };

/** Throws INVALID_REQUEST_BODY if the text has too many values or levels to parse safely. */
export const assertFewJson = (text: string, { maxBytes, levels = limits.depth, root = 'body' }: JsonBounds): void => {
  const excess = findJsonExcess(text, { levels, values: valuesIn(maxBytes) });
  if (excess !== undefined) throw invalid(`${root}: ${excess}.`, 'json-excess');
};
