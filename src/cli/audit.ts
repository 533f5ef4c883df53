/** `guestlist audit`: is the record whole, and what is in it. */
import { readFileSync } from 'node:fs';
import { assertAnchor, ChainFault, type ChainHead, entryOfLine, follow, genesisHash } from '../gateway/audit/chain.js';
import { exportAuditCommand, verifyAuditCommand } from '../gateway/audit/commands.js';
import type { Verification } from '../gateway/audit/read.js';
import type { AnswerOf } from '../gateway/common/admin-command.js';
import { parseOptions } from './kit/options.js';
import { callGateway } from './operator.js';
import { readCount, unknownSubcommand, WrongCall } from './wrong-call.js';

export const auditUsage = `guestlist audit: what the gateway did

  guestlist audit verify [--head SEQ:HASH]   check the whole chain; the head is one that you kept elsewhere
  guestlist audit verify --file F [--head SEQ:HASH]
                                             check an exported file without a gateway: a whole one, without --names
  guestlist audit export [--after SEQ] [--tenant ID] [--kind KIND] [--names]
                                             entries as JSON lines; names are those behind the pseudonyms
Both take --url, where the gateway is. Ends with 0; with 1 where the audit is not whole; with 2 where it was called wrongly.`;

const headOf = (text: string): ChainHead => {
  const { seq, hash } = /^(?<seq>\d+):(?<hash>[0-9a-f]{64})$/.exec(text)?.groups ?? {};
  if (seq === undefined || hash === undefined) throw new WrongCall(`--head takes SEQ:HASH, not "${text}"`);
  return { seq: Number(seq), hash };
};

const say = ({ entries, head, fault }: Verification): number => {
  if (fault !== null) {
    console.error(`The audit is NOT whole: ${fault.message}. The first ${entries} entries hold together.`);
    return 1;
  }
  console.log(`The audit is whole: ${entries} entries. Keep its head elsewhere, and verify against it next time:`);
  console.log(`  --head ${head.seq}:${head.hash}`);
  return 0;
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

const verifyFile = (file: string, anchor: ChainHead | undefined): number => {
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
    return say({ entries: head.seq, head, fault: null });
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error;
    return say({ entries: head.seq, head, fault: { seq: error.seq, message: error.message } });
  }
};

type ExportOptions = { readonly tenant?: string; readonly kind?: string; readonly names: boolean };

const exportAll = async (after: number, options: ExportOptions, url: string | undefined): Promise<number> => {
  for (let next: number | null = after; next !== null; ) {
    const page: AnswerOf<typeof exportAuditCommand> = await callGateway(
      exportAuditCommand,
      { after: next, ...options },
      url,
    );
    page.lines.forEach((line, index) => {
      console.log(options.names ? JSON.stringify({ ...page.names?.[index], entry: JSON.parse(line) }) : line);
    });
    next = page.next;
  }
  return 0;
};

const flags = {
  head: { type: 'string' },
  file: { type: 'string' },
  after: { type: 'string' },
  tenant: { type: 'string' },
  kind: { type: 'string' },
  names: { type: 'boolean' },
  url: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const flagsOf = { verify: ['head', 'file', 'url'], export: ['after', 'tenant', 'kind', 'names', 'url'] } as const;

/** Runs it, and answers the exit code: 0 whole, 1 not whole. Throws WrongCall. */
export const runAudit = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: flags,
  });
  if (values.help === true) {
    console.log(auditUsage);
    return 0;
  }
  const [command = '', ...rest] = positionals;
  if (command !== 'verify' && command !== 'export') {
    throw unknownSubcommand('audit', command, Object.keys(flagsOf), auditUsage);
  }
  if (rest.length > 0) throw new WrongCall(`"audit ${command}" takes no words: "${rest.join(' ')}" is too much`);
  const known: readonly string[] = flagsOf[command];
  const other = Object.keys(values).find((name) => !known.includes(name));
  if (other !== undefined) throw new WrongCall(`--${other} has no place in "audit ${command}"`);
  if (command === 'export') {
    const { tenant, kind, names = false } = values;
    const filter = { ...(tenant === undefined ? {} : { tenant }), ...(kind === undefined ? {} : { kind }), names };
    return exportAll(readCount('--after', values.after ?? '0'), filter, values.url);
  }
  const head = values.head === undefined ? undefined : headOf(values.head);
  if (values.file !== undefined) {
    if (values.url !== undefined) throw new WrongCall('--url has no place beside --file, which asks no gateway');
    return verifyFile(values.file, head);
  }
  const input = head === undefined ? {} : { head };
  return say(await callGateway(verifyAuditCommand, input, values.url));
};
