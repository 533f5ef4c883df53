/** `guestlist audit`: is the record whole, and what is in it. */

import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { assertAnchor, ChainFault, type ChainHead, entryOfLine, follow, genesisHash } from '../gateway/audit/chain.js';
import { exportAuditCommand, verifyAuditCommand } from '../gateway/audit/commands.js';
import type { Verification } from '../gateway/audit/read.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import { gatewayUrl, readCount } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { callGateway } from './operator.js';

const headOf = (text: string): ChainHead => {
  const { seq, hash } = /^(?<seq>\d+):(?<hash>[0-9a-f]{64})$/.exec(text)?.groups ?? {};
  if (seq === undefined || hash === undefined) throw new InvalidArgumentError('Give SEQ:HASH.');
  return { seq: Number(seq), hash };
};

/** Throws Exit if the audit is not whole. */
const say = ({ entries, head, fault }: Verification): void => {
  if (fault !== null) {
    console.error(`The audit is NOT whole: ${fault.message}. The first ${entries} entries hold together.`);
    throw new Exit();
  }
  console.log(`The audit is whole: ${entries} entries. Keep its head elsewhere, and verify against it next time:`);
  console.log(`  --head ${head.seq}:${head.hash}`);
};

const linesOf = (file: string): readonly string[] => {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch (cause) {
    throw new WrongCall(`${file} cannot be read: ${cause instanceof Error ? cause.message : 'unknown fault'}`);
  }
};

const readFile = (file: string, anchor: ChainHead | undefined): Verification => {
  let head: ChainHead = { seq: 0, hash: genesisHash };
  let anchorHash: string | null = null;
  const lines = linesOf(file);
  if (lines.length === 0) throw new WrongCall(`${file} holds no entry: there is nothing to check`);
  try {
    for (const line of lines) {
      const entry = entryOfLine(line);
      if (entry === undefined) throw new ChainFault(head.seq + 1, `line ${head.seq + 1} of ${file} is no entry`);
      head = follow(head, entry);
      if (head.seq === anchor?.seq) anchorHash = head.hash;
    }
    if (anchor !== undefined) assertAnchor(anchor, anchorHash);
    return { entries: head.seq, head, fault: null };
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error;
    return { entries: head.seq, head, fault: { seq: error.seq, message: error.message } };
  }
};

const verify = new Command('verify')
  .summary('check the whole chain')
  .description(
    `Checks the whole audit chain of the gateway, or a file that was exported whole, without --names. Ends with 1 if the audit
is not whole.`,
  )
  .option('--head <seq:hash>', 'a head of the chain that you kept elsewhere', headOf)
  .addOption(new Option('--file <file>', 'check an exported file without a gateway').conflicts('url'))
  .addOption(gatewayUrl)
  .action(async ({ head, file, url }) =>
    say(file === undefined ? await callGateway(verifyAuditCommand, { head }, url) : readFile(file, head)),
  );

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
  .description('The audit of what the gateway did: verifies or exports it.')
  .addCommand(verify)
  .addCommand(exportEntries);
