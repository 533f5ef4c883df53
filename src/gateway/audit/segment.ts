/**
 * Archived segments of the audit, without a database. A segment is a text of JSON lines: a signed header, then the entries
 * as an export has them. Who has the public key can verify one file alone, or several in their order.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { type ArchiveKeys, type ArchiveVerifier, isArchiveSignature } from '../../platform/keys/archive-keys.js';
import { type AuditEntry, ChainFault, type ChainHead, entryOfLine, follow, lineOf } from './chain.js';

const seq = z.number().int().min(1);
const hex = z.string().regex(/^[0-9a-f]{64}$/);

const range = { installation: z.string(), first: seq, last: seq, prev: hex, hash: hex };

/** The header of a file. `sha256`: of all bytes after the header's line. `key`: the thumbprint of the key that signed. */
const header = z.strictObject({ guestlistAudit: z.literal('segment'), ...range, sha256: hex, key: z.string() });

/** What the database keeps of a segment. `kept`: the entries that a hold kept in the database, with their hashes. */
const anchor = z.strictObject({
  guestlistAudit: z.literal('anchor'),
  ...range,
  kept: z.array(z.tuple([seq, hex])),
  key: z.string(),
});

export type SegmentHeader = z.output<typeof header>;
export type SegmentAnchor = z.output<typeof anchor>;
export type SegmentRange = Pick<SegmentHeader, 'installation' | 'first' | 'last' | 'prev' | 'hash'>;

/** Returns the content as a line with its signature as the last member. */
const signed = (content: object, keys: ArchiveKeys): string => {
  const text = JSON.stringify({ ...content, key: keys.id });
  return `${text.slice(0, -1)},"signature":"${keys.sign(text)}"}`;
};

const signedLine = /^(?<start>\{.*),"signature":"(?<signature>[\w-]{86})"\}$/;

/** Returns the content of a signed line. Throws ChainFault. `what` begins the message. */
const openLine = <Content>(
  schema: z.ZodType<Content & { readonly key: string; readonly first: number }>,
  line: string,
  verifier: ArchiveVerifier,
  what: string,
): Content => {
  const { start, signature } = signedLine.exec(line)?.groups ?? {};
  const text = start === undefined ? '' : `${start}}`;
  const content = schema.safeParse(readJson(text));
  if (signature === undefined || !content.success) throw new ChainFault(0, `${what} cannot be read`);
  const { key, first } = content.data;
  if (!verifier.has(key))
    throw new ChainFault(first, `${what} was signed by the key ${key}, which is none of the given public keys`);
  if (!isArchiveSignature(verifier, key, text, signature))
    throw new ChainFault(first, `${what} was changed: its signature does not match`);
  return content.data;
};

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Text that is not JSON has no content, like JSON of another form.
    return undefined;
  }
};

/** The same entries always make the same text. */
export const segmentText = (of: SegmentRange, entries: readonly AuditEntry[], keys: ArchiveKeys): string => {
  const body = entries.map((entry) => `${lineOf(entry)}\n`).join('');
  const { installation, first, last, prev } = of;
  const content = { guestlistAudit: 'segment', installation, first, last, prev, hash: of.hash };
  return `${signed({ ...content, sha256: hash('sha256', body, 'hex') }, keys)}\n${body}`;
};

export const anchorText = (of: SegmentRange, kept: SegmentAnchor['kept'], keys: ArchiveKeys): string => {
  const { installation, first, last, prev } = of;
  return signed({ guestlistAudit: 'anchor', installation, first, last, prev, hash: of.hash, kept }, keys);
};

/** Throws ChainFault unless one of these keys signed it. */
export const openAnchor = (text: string, verifier: ArchiveVerifier): SegmentAnchor =>
  openLine<SegmentAnchor>(anchor, text, verifier, 'the record of archived entries');

/** Returns an anchor without verifying it, for a copy of a database whose keys are elsewhere. */
export const readAnchor = (text: string): SegmentAnchor => {
  const { start } = signedLine.exec(text)?.groups ?? {};
  const content = anchor.safeParse(readJson(start === undefined ? '' : `${start}}`));
  if (!content.success) throw new ChainFault(0, 'the record of archived entries cannot be read');
  return content.data;
};

/** Whether a text is a segment, and no export. */
export const isSegment = (text: string): boolean => text.startsWith('{"guestlistAudit":');

const digits = 12;
const numbered = (at: number): string => String(at).padStart(digits, '0');
export const segmentName = ({ first, last }: Pick<SegmentRange, 'first' | 'last'>): string =>
  `audit-${numbered(first)}-${numbered(last)}.jsonl`;
/** The name of every segment. */
export const segmentPattern = /^audit-(\d{12,})-(\d{12,})\.jsonl$/;

/** Throws ChainFault if the name says that the file has other entries. A file under a name of another form has any. */
const assertName = (name: string, { first, last }: SegmentHeader): void => {
  const [, from, to] = segmentPattern.exec(name) ?? [];
  if (from === undefined || (Number(from) === first && Number(to) === last)) return;
  throw new ChainFault(
    first,
    `it has the entries ${first} to ${last}, and its name says ${Number(from)} to ${Number(to)}: files have changed places`,
  );
};

const assertFollows = (before: ChainHead | undefined, { first, prev }: SegmentHeader): void => {
  if (before === undefined || (before.seq + 1 === first && before.hash === prev)) return;
  if (before.seq + 1 < first)
    throw new ChainFault(
      before.seq + 1,
      `the entries ${before.seq + 1} to ${first - 1} are missing: a segment is missing before it, or files have changed places`,
    );
  throw new ChainFault(
    first,
    before.seq + 1 === first
      ? `entry ${first} does not follow the segment before it`
      : `it begins with entry ${first}, but the file before it ended with entry ${before.seq}: files have changed places`,
  );
};

/**
 * Verifies one segment, and returns the head after it. `before` is the head after the segment before it; left out: it is
 * verified alone. `seen` is called with each head. Throws ChainFault, with the place of the first change.
 */
export const verifySegment = (
  { name, text }: { readonly name: string; readonly text: string },
  verifier: ArchiveVerifier,
  before?: ChainHead,
  seen: (head: ChainHead) => void = () => {},
): { readonly header: SegmentHeader; readonly head: ChainHead } => {
  const end = text.indexOf('\n');
  const opened = openLine<SegmentHeader>(header, text.slice(0, end), verifier, 'the first line');
  assertName(name, opened);
  assertFollows(before, opened);
  const body = text.slice(end + 1);
  let head: ChainHead = { seq: opened.first - 1, hash: opened.prev };
  for (const line of body.split('\n').slice(0, -1)) {
    const at = head.seq + 1;
    if (at > opened.last)
      throw new ChainFault(at, `line ${at - opened.first + 2} is too much: entry ${opened.last} is the last one`);
    const entry = entryOfLine(line);
    if (entry === undefined)
      throw new ChainFault(at, `line ${at - opened.first + 2} is no entry: entry ${at} was changed`);
    head = follow(head, entry);
    seen(head);
  }
  if (head.seq < opened.last)
    throw new ChainFault(head.seq + 1, `the entries ${head.seq + 1} to ${opened.last} are missing`);
  if (head.hash !== opened.hash) throw new ChainFault(head.seq, 'the last entry is not the one that was signed');
  if (hash('sha256', body, 'hex') !== opened.sha256)
    throw new ChainFault(opened.first, 'its bytes are not those that were signed, though its entries are');
  return { header: opened, head };
};
