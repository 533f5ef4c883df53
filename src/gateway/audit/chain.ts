/**
 * The audit chain, without its database: the content of an entry, its link to the previous entry, and the check that a
 * list of entries is complete and unmodified. An exported line is an entry's content with its hash as the last member,
 * so anyone can verify a file.
 */
import { hash } from 'node:crypto';
import type { AuditKind } from './audit.js';

/** The previous hash of the first entry. */
export const genesisHash = '0'.repeat(64);

/** The number and hash of the chain's last entry. */
export type ChainHead = { readonly seq: number; readonly hash: string };

/** The content of an entry. Persons and tenants appear under pseudonyms. The members are in this order. */
export type AuditContent = {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly kind: AuditKind;
  readonly code: string;
  readonly requestId?: string | undefined;
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly policyAt?: readonly string[] | undefined;
  readonly requestDigest?: string | undefined;
  readonly upstreamId?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly detail?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** The names behind the pseudonyms, sealed with the tenant's key. */
  readonly names?: string | undefined;
  /** The hash of the previous entry. */
  readonly prev: string;
};

export type AuditEntry = { readonly content: string; readonly hash: string };

/** Returns the entry as it is stored. */
export const entryOf = (content: AuditContent): AuditEntry => {
  const text = JSON.stringify(content);
  return { content: text, hash: hash('sha256', text, 'hex') };
};

/** Returns the entry as one line of an export. */
export const lineOf = ({ content, hash: ownHash }: AuditEntry): string =>
  `${content.slice(0, -1)},"hash":${JSON.stringify(ownHash)}}`;

const lineEnd = /^(?<content>\{.*),"hash":"(?<hash>[0-9a-f]{64})"\}$/;

/** Returns undefined if the line is not an exported entry. */
export const entryOfLine = (line: string): AuditEntry | undefined => {
  const { content, hash: ownHash } = lineEnd.exec(line)?.groups ?? {};
  return content === undefined || ownHash === undefined ? undefined : { content: `${content}}`, hash: ownHash };
};

/** A fault in a chain, with the number of the entry. */
export class ChainFault extends Error {
  override readonly name = 'ChainFault';
  constructor(
    readonly seq: number,
    message: string,
  ) {
    super(message);
  }
}

const read = (content: string, seq: number): { readonly seq: unknown; readonly prev: unknown } => {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value === 'object' && value !== null && 'seq' in value && 'prev' in value) return value;
  } catch {
    // Text that is not JSON throws the ChainFault below, like JSON that is not an entry.
  }
  throw new ChainFault(seq, `entry ${seq} cannot be read`);
};

/**
 * Throws ChainFault if the chain does not contain `anchor`. `found` is the chain's hash at that number, or null if the
 * chain ends before it.
 */
export const assertAnchor = (anchor: ChainHead, found: string | null): void => {
  if (found === anchor.hash) return;
  throw new ChainFault(
    anchor.seq,
    found === null
      ? `the chain ends before entry ${anchor.seq}, which existed when the head was recorded`
      : `entry ${anchor.seq} is not the recorded one: the chain was rewritten`,
  );
};

/** Returns the head after `entry`. Throws ChainFault if `entry` does not follow `before`. */
export const follow = (before: ChainHead, entry: AuditEntry): ChainHead => {
  const seq = before.seq + 1;
  const said = read(entry.content, seq);
  if (said.seq !== seq) throw new ChainFault(seq, `entry ${seq} is missing: the next entry is ${String(said.seq)}`);
  if (hash('sha256', entry.content, 'hex') !== entry.hash) {
    throw new ChainFault(seq, `entry ${seq} was changed: its hash does not match its content`);
  }
  if (said.prev !== before.hash) throw new ChainFault(seq, `entry ${seq} does not follow the entry before it`);
  return { seq, hash: entry.hash };
};
