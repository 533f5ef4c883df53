/** `guestlist audit`: is the record whole, and what is in it. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { assertAnchor, ChainFault, type ChainHead, entryOfLine, follow, genesisHash } from '../gateway/audit/chain.js';
import { exportAuditCommand, listArchiveKeys, verifyAuditCommand } from '../gateway/audit/commands.js';
import type { Verification } from '../gateway/audit/read.js';
import { isSegment, segmentPattern, verifySegment } from '../gateway/audit/segment.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import { type ArchiveVerifier, readArchiveKeys } from '../platform/keys/archive-keys.js';
import { collect, gatewayUrl, readCount } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { callGateway, OperatorError } from './operator.js';

const headOf = (text: string): ChainHead => {
  const { seq, hash } = /^(?<seq>\d+):(?<hash>[0-9a-f]{64})$/.exec(text)?.groups ?? {};
  if (seq === undefined || hash === undefined) throw new InvalidArgumentError('Give SEQ:HASH.');
  return { seq: Number(seq), hash };
};

/** Throws Exit if the audit is not whole. */
const say = ({ entries, archived, head, fault }: Verification): void => {
  const after = archived === 0 ? '' : `, after ${archived} that were archived`;
  if (fault !== null) {
    console.error(`The audit is NOT whole: ${fault.message}. The first ${entries} entries${after} hold together.`);
    throw new Exit();
  }
  console.log(
    `The audit is whole: ${entries} entries${after}. Keep its head elsewhere, and verify against it next time:`,
  );
  console.log(`  --head ${head.seq}:${head.hash}`);
};

const unreadable = (file: string, cause: unknown): WrongCall =>
  new WrongCall(`${file} cannot be read: ${cause instanceof Error ? cause.message : 'unknown fault'}`);

/** Throws WrongCall. Bytes that are no text are not replaced: they would hide a change. */
const readText = (file: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (cause) {
    if (cause instanceof TypeError) throw new ChainFault(0, `${file} was changed: its bytes are no text in UTF-8`);
    throw unreadable(file, cause);
  }
};

/** The segments of a folder by their names, which is their order. Throws WrongCall. */
const filesIn = (path: string): readonly string[] => {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => segmentPattern.test(name));
    if (names.length === 0) throw new WrongCall(`${path} has no file audit-*.jsonl: there is nothing to check`);
    return names.toSorted().map((name) => join(path, name));
  } catch (cause) {
    throw cause instanceof WrongCall ? cause : unreadable(path, cause);
  }
};

const readKeys = (file: string | undefined): ArchiveVerifier => {
  if (file === undefined)
    throw new WrongCall('archived segments need --key FILE, with the public key that "guestlist audit key" prints');
  try {
    return readArchiveKeys(readText(file));
  } catch (cause) {
    throw unreadable(file, cause);
  }
};

type Seen = (head: ChainHead) => void;

/** Verifies an export, which begins with entry 1, or after the head that the file before it ended with. */
const verifyExport = (file: string, text: string, before: ChainHead | undefined, seen: Seen): ChainHead => {
  let head: ChainHead = before ?? { seq: 0, hash: genesisHash };
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length === 0) throw new WrongCall(`${file} holds no entry: there is nothing to check`);
  for (const [index, line] of lines.entries()) {
    const entry = entryOfLine(line);
    if (entry === undefined) throw new ChainFault(head.seq + 1, `line ${index + 1} of ${file} is no entry`);
    head = follow(head, entry);
    seen(head);
  }
  return head;
};

/** `in FILE: ` before the words of a fault, if there are several files. */
const inFile = (file: string, files: readonly string[], { seq, message }: ChainFault) => ({
  seq,
  message: files.length === 1 ? message : `in ${file}: ${message}`,
});

/** Verifies files in their order. The first may begin anywhere if it is a segment. */
const verifyFiles = (paths: readonly string[], keyFile: string | undefined, anchor?: ChainHead): Verification => {
  const files = paths.flatMap(filesIn);
  let head: ChainHead | undefined;
  let current = files[0] ?? '';
  let entries = 0;
  let anchorHash: string | null = null;
  const seen: Seen = (next) => {
    entries += 1;
    if (next.seq === anchor?.seq) anchorHash = next.hash;
  };
  const state = (fault: Verification['fault']): Verification => ({
    ...{ entries, archived: 0, head: head ?? { seq: 0, hash: genesisHash }, fault },
  });
  try {
    for (const file of files) {
      current = file;
      const text = readText(file);
      head = isSegment(text)
        ? verifySegment({ name: basename(file), text }, readKeys(keyFile), head, seen).head
        : verifyExport(file, text, head, seen);
    }
    if (anchor !== undefined) assertAnchor(anchor, anchorHash);
    return state(null);
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error;
    return state(inFile(current, files, error));
  }
};

const verify = new Command('verify')
  .summary('check the whole chain')
  .description(
    `Checks the whole audit chain of the gateway, or files without a gateway: one that was exported whole, without --names;
segments of the archive, each alone or several in their order; or a folder of segments. Ends with 1 if the audit is not whole.`,
  )
  .option('--head <seq:hash>', 'a head of the chain that you kept elsewhere', headOf)
  .addOption(
    new Option('--file <file>', 'check a file or a folder without a gateway; may be given several times')
      .argParser<readonly string[]>(collect)
      .conflicts('url'),
  )
  .option('--key <file>', 'the public keys of the archive in PEM, as "audit key" prints them')
  .addOption(gatewayUrl)
  .action(async ({ head, file, key, url }) =>
    say(file === undefined ? await callGateway(verifyAuditCommand, { head }, url) : verifyFiles(file, key, head)),
  );

const printKeys = new Command('key')
  .summary('print the public keys of the archive')
  .description(
    `Prints the public keys that verify archived segments, in PEM, the one that signs first. Keep them outside of the
installation: who has them needs nothing else to verify a segment.`,
  )
  .addOption(gatewayUrl)
  .action(async ({ url }) => {
    const { keys } = await callGateway(listArchiveKeys, {}, url);
    if (keys.length === 0) throw new OperatorError('This gateway has no key for an archive: it is mounted in an app.');
    for (const { pem } of keys.toSorted((a, b) => Number(b.signs) - Number(a.signs))) console.log(pem.trimEnd());
  });

const exportEntries = new Command('export')
  .summary('print entries as JSON lines')
  .option('--after <seq>', 'only the entries after this one', readCount, 0)
  .option('--tenant <id>', 'only the entries of a tenant')
  .option('--kind <kind>', 'only the entries of a kind')
  .option('--names', 'also the names behind the pseudonyms')
  .addOption(gatewayUrl)
  .action(async ({ after, tenant, kind, names = false, url }) => {
    for (let next: number | null = after; next !== null; ) {
      const page: AnswerOf<typeof exportAuditCommand> = await callGateway(
        exportAuditCommand,
        { after: next, tenant, kind, names },
        url,
      );
      page.lines.forEach((line, index) => {
        console.log(names ? JSON.stringify({ ...page.names?.[index], entry: JSON.parse(line) }) : line);
      });
      next = page.next;
    }
  });

export const auditCommand = new Command()
  .description('The audit of what the gateway did: verifies or exports it, and prints the keys of its archive.')
  .addCommand(verify)
  .addCommand(printKeys)
  .addCommand(exportEntries);
