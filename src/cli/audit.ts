/** `guestlist audit`: is the record whole, and what is in it. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { ChainFault, type ChainHead, entryOfLine, follow, genesisHash } from '../gateway/audit-chain.js';
import { callGateway } from './operator.js';

export const auditUsage = `guestlist audit: what the gateway did

  guestlist audit verify [--head SEQ:HASH]   check the whole chain; the head is one that you kept elsewhere
  guestlist audit verify --file F            check an exported file from its first entry, without a gateway
  guestlist audit export [--after SEQ] [--tenant ID] [--kind KIND] [--names]
                                             entries as JSON lines; names are those behind the pseudonyms
Both take --url, where the gateway is.`;

const headOf = (text: string): ChainHead => {
  const { seq, hash } = /^(?<seq>\d+):(?<hash>[0-9a-f]{64})$/.exec(text)?.groups ?? {};
  if (seq === undefined || hash === undefined) throw new TypeError(`--head takes SEQ:HASH, not "${text}"`);
  return { seq: Number(seq), hash };
};

const verification = z.object({
  entries: z.number(),
  head: z.object({ seq: z.number(), hash: z.string() }),
  fault: z.object({ seq: z.number(), message: z.string() }).nullable(),
});

const say = ({ entries, head, fault }: z.output<typeof verification>): number => {
  if (fault !== null) {
    console.error(`The audit is NOT whole: ${fault.message}. ${entries} entries before it hold together.`);
    return 1;
  }
  console.log(`The audit is whole: ${entries} entries. Keep its head elsewhere, and verify against it next time:`);
  console.log(`  --head ${head.seq}:${head.hash}`);
  return 0;
};

const verifyFile = (file: string): number => {
  let head: ChainHead = { seq: 0, hash: genesisHash };
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  try {
    for (const line of lines) {
      const entry = entryOfLine(line);
      if (entry === undefined) throw new ChainFault(head.seq + 1, `line ${head.seq + 1} of ${file} is no entry`);
      head = follow(head, entry);
    }
    return say({ entries: head.seq, head, fault: null });
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error;
    return say({ entries: head.seq, head, fault: { seq: error.seq, message: error.message } });
  }
};

const exportPage = z.object({
  lines: z.array(z.string()),
  names: z.array(z.record(z.string(), z.string()).nullable()).optional(),
  next: z.number().nullable(),
});

type ExportOptions = { readonly tenant?: string; readonly kind?: string; readonly names: boolean };

const exportAll = async (after: number, options: ExportOptions, url: string | undefined): Promise<number> => {
  for (let next: number | null = after; next !== null; ) {
    const page: z.output<typeof exportPage> = exportPage.parse(
      await callGateway('audit-export', { after: next, ...options }, url),
    );
    page.lines.forEach((line, index) => {
      console.log(options.names ? JSON.stringify({ ...page.names?.[index], entry: JSON.parse(line) }) : line);
    });
    next = page.next;
  }
  return 0;
};

/** Runs it, and answers the exit code: 0 whole, 1 not whole, 2 a fault in the command. */
export const runAudit = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      head: { type: 'string' },
      file: { type: 'string' },
      after: { type: 'string', default: '0' },
      tenant: { type: 'string' },
      kind: { type: 'string' },
      names: { type: 'boolean', default: false },
      url: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [command, ...rest] = positionals;
  if (values.help === true || rest.length > 0 || (command !== 'verify' && command !== 'export')) {
    console.log(auditUsage);
    return values.help === true ? 0 : 2;
  }
  if (command === 'export') {
    const { tenant, kind, names } = values;
    const filter = { ...(tenant === undefined ? {} : { tenant }), ...(kind === undefined ? {} : { kind }), names };
    return exportAll(Number(values.after), filter, values.url);
  }
  if (values.file !== undefined) return verifyFile(values.file);
  const input = values.head === undefined ? {} : { head: headOf(values.head) };
  return say(verification.parse(await callGateway('audit-verify', input, values.url)));
};
