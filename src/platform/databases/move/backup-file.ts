/**
 * The content of a backup, as a stream of records: what is in it, its files, then the rows of each table with their
 * digest, the sequences, and the end. It is written and read once, from the beginning to the end, in bounded memory.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Digest, RowSource, SequenceState, TextRow } from './rows.js';

const named = z.string().min(1);

/** What the rows of a tenant name and the file does not hold: it is found by its name where they are imported. */
const need = z.strictObject({
  kind: z.enum(['data app', 'workspace', 'template', 'metric']),
  id: named,
  name: named,
  /** The workspace of a metric. */
  of: named.nullable(),
});

export type Need = z.output<typeof need>;

/** A user of the tenant who ended what they get of a schedule of the host. */
const end = z.strictObject({
  dataAppId: named,
  schedule: named,
  template: named,
  user: named,
});

export type EndedReport = z.output<typeof end>;

const manifest = z.strictObject({
  format: z.literal(1),
  /** The version of Guestlist that made it. */
  madeBy: named,
  /** When its rows were read, in ISO 8601. */
  at: z.iso.datetime(),
  /** Whether it holds what a process with the service has; otherwise that of a gateway alone. */
  service: z.boolean(),
  parts: z.array(z.strictObject({ schema: named, done: z.array(named) })),
  contents: z.strictObject({
    tables: z.array(z.strictObject({ name: named, columns: z.array(z.strictObject({ name: named, type: named })) })),
    sequences: z.array(named),
  }),
  /** Of the file of one tenant, which holds its rows alone. */
  tenant: z
    .strictObject({
      clientId: named,
      state: z.enum(['active', 'suspended']),
      needs: z.array(need),
      ends: z.array(end).default([]),
    })
    .optional(),
});

export type Manifest = z.output<typeof manifest>;

/** A file beside the rows. */
const fileHead = z.strictObject({
  /** Where it belongs in a data folder, with `/`. */
  path: z.string().regex(/^(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*$/),
  /** Where it was. */
  was: named,
});

export type FileHead = z.output<typeof fileHead>;
export type BackedFile = FileHead & { readonly read: () => AsyncIterable<Buffer> };

const shapes = {
  manifest,
  file: fileHead,
  fileEnd: z.strictObject({ bytes: z.number(), hash: named }),
  table: z.strictObject({ name: named }),
  rows: z.array(z.array(z.string().nullable())),
  digest: z.strictObject({ rows: z.number(), hash: named }),
  sequence: z.strictObject({ name: named, value: named, isCalled: z.boolean() }),
  end: z.strictObject({ files: z.number(), tables: z.number(), rows: z.number() }),
};

type Kind = keyof typeof shapes;
/** The first byte of each record. `bytes` is a piece of a file, every other record JSON. */
const codes = {
  ...{
    manifest: 'M',
    file: 'F',
    bytes: 'B',
    fileEnd: 'f',
    table: 'T',
    rows: 'R',
    digest: 't',
    sequence: 'S',
    end: 'E',
  },
} as const satisfies Record<Kind | 'bytes', string>;

export type Totals = z.output<(typeof shapes)['end']>;

const frame = (kind: Kind | 'bytes', payload: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(codes[kind], 'latin1');
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
};

const record = <K extends Kind>(kind: K, value: z.input<(typeof shapes)[K]>): Buffer =>
  frame(kind, Buffer.from(JSON.stringify(value), 'utf8'));

async function* writeFile({ path, was, read }: BackedFile): AsyncGenerator<Buffer> {
  yield record('file', { path, was });
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const part of read()) {
    hash.update(part);
    bytes += part.length;
    yield frame('bytes', part);
  }
  yield record('fileEnd', { bytes, hash: hash.digest('hex') });
}

/** Writes all records. `note` is told how far it is, and the totals at the end. */
export async function* writeBackup(
  given: Manifest,
  files: readonly BackedFile[],
  source: RowSource,
  note: { readonly say: (text: string) => void; readonly table: (name: string, digest: Digest) => void },
): AsyncGenerator<Buffer> {
  yield record('manifest', given);
  for (const file of files) {
    note.say(`reading ${file.path}`);
    yield* writeFile(file);
  }
  let total = 0;
  for (const table of source.contents.tables) {
    yield record('table', { name: table.name });
    let count = 0;
    for await (const rows of source.rows(table)) {
      count += rows.length;
      note.say(`reading ${table.name}: ${count} rows`);
      yield record('rows', rows as z.input<typeof shapes.rows>);
    }
    const digest = await source.digest(table);
    if (digest.rows !== count) throw new Error(`${table.name} was read with ${count} of ${digest.rows} rows`);
    note.table(table.name, digest);
    yield record('digest', digest);
    total += count;
  }
  for (const name of source.contents.sequences) yield record('sequence', { name, ...(await source.sequence(name)) });
  yield record('end', { files: files.length, tables: source.contents.tables.length, rows: total });
}

type Read = { readonly kind: Kind | 'bytes'; readonly payload: Buffer };

/** The content is authentic, so this is an error of the program that wrote it, or a file of another kind. */
const unreadable = (what: string): Error =>
  new Error(`The content of the file cannot be read: ${what}. Use the version of Guestlist that made it.`);

const kindOf = new Map(Object.entries(codes).map(([kind, code]) => [code as string, kind as Kind | 'bytes']));

/** Cuts the stream into records. */
async function* readRecords(stream: AsyncIterable<Buffer>): AsyncGenerator<Read> {
  const headBytes = 5;
  let held: Buffer[] = [];
  let bytes = 0;
  let needed = headBytes;
  for await (const part of stream) {
    held.push(part);
    bytes += part.length;
    if (bytes < needed) continue;
    let rest = Buffer.concat(held);
    for (;;) {
      needed = rest.length < headBytes ? headBytes : headBytes + rest.readUInt32BE(1);
      if (rest.length < needed) break;
      const kind = kindOf.get(rest.toString('latin1', 0, 1));
      if (kind === undefined) throw unreadable('it has a record of an unknown kind');
      yield { kind, payload: rest.subarray(headBytes, needed) };
      rest = rest.subarray(needed);
    }
    held = [rest];
    bytes = rest.length;
  }
  if (bytes > 0) throw unreadable('its last record is not whole');
}

const parse = <K extends Kind>(kind: K, { kind: given, payload }: Read): z.output<(typeof shapes)[K]> => {
  if (given !== kind) throw unreadable(`${given} is where ${kind} belongs`);
  const { data } = shapes[kind].safeParse(JSON.parse(payload.toString('utf8')));
  if (data === undefined) throw unreadable(`its ${kind} has another form`);
  return data as z.output<(typeof shapes)[K]>;
};

/** A backup that is read: first `files`, then `source`, then `end`. */
export type OpenedBackup = {
  readonly manifest: Manifest;
  /** Calls `take` for each file, which must read it to its end. Throws if a file is not what was written. */
  readonly files: (take: (file: FileHead, content: AsyncIterable<Buffer>) => Promise<void>) => Promise<void>;
  readonly source: RowSource;
  /** Throws if the backup has another end than its content. */
  readonly end: () => Promise<Totals>;
};

const createReader = (stream: AsyncIterable<Buffer>) => {
  const records = readRecords(stream);
  let ahead: Read | undefined;
  const peek = async (): Promise<Read> => {
    if (ahead === undefined) {
      const { done, value } = await records.next();
      if (done === true) throw unreadable('it ends too early');
      ahead = value;
    }
    return ahead;
  };
  const next = async (): Promise<Read> => {
    const read = await peek();
    ahead = undefined;
    return read;
  };
  return {
    peek,
    next,
    assertEnded: async () => {
      if ((await records.next()).done !== true) throw unreadable('something follows its end');
    },
  };
};

type Reader = ReturnType<typeof createReader>;

async function* fileContent({ peek, next }: Reader): AsyncGenerator<Buffer> {
  while ((await peek()).kind === 'bytes') yield (await next()).payload;
}

const readFiles =
  (reader: Reader, count: () => void): OpenedBackup['files'] =>
  async (take) => {
    while ((await reader.peek()).kind === 'file') {
      const head = parse('file', await reader.next());
      const hash = createHash('sha256');
      let bytes = 0;
      async function* hashed(): AsyncGenerator<Buffer> {
        for await (const part of fileContent(reader)) {
          hash.update(part);
          bytes += part.length;
          yield part;
        }
      }
      await take(head, hashed());
      const end = parse('fileEnd', await reader.next());
      if (end.bytes !== bytes || end.hash !== hash.digest('hex')) throw unreadable(`${head.path} is not what was read`);
      count();
    }
  };

const fileRows = ({ contents }: Manifest, { peek, next }: Reader, count: (rows: number) => void): RowSource => {
  const digests = new Map<string, Digest>();
  async function* rows({ name }: { readonly name: string }): AsyncGenerator<readonly TextRow[]> {
    const table = parse('table', await next());
    if (table.name !== name) throw unreadable(`${table.name} is where ${name} belongs`);
    let read = 0;
    while ((await peek()).kind === 'rows') {
      const some = parse('rows', await next());
      read += some.length;
      yield some;
    }
    const digest = parse('digest', await next());
    if (digest.rows !== read) throw unreadable(`${name} has ${read} of ${digest.rows} rows`);
    digests.set(name, digest);
    count(read);
  }
  return {
    contents,
    rows,
    sequence: async (wanted): Promise<SequenceState> => {
      const { name, ...state } = parse('sequence', await next());
      if (name !== wanted) throw unreadable(`${name} is where ${wanted} belongs`);
      return state;
    },
    digest: async ({ name }) => {
      const digest = digests.get(name);
      if (digest === undefined) throw unreadable(`the rows of ${name} were not read`);
      return digest;
    },
  };
};

/** Reads the beginning of what `writeBackup` wrote. */
export const readBackup = async (stream: AsyncIterable<Buffer>): Promise<OpenedBackup> => {
  const reader = createReader(stream);
  const given = parse('manifest', await reader.next());
  const read = { files: 0, tables: 0, rows: 0 };
  return {
    manifest: given,
    files: readFiles(reader, () => {
      read.files += 1;
    }),
    source: fileRows(given, reader, (rows) => {
      read.tables += 1;
      read.rows += rows;
    }),
    end: async () => {
      const end = parse('end', await reader.next());
      await reader.assertEnded();
      if (JSON.stringify(end) !== JSON.stringify(read)) throw unreadable('it has other numbers of rows than it says');
      return end;
    },
  };
};

/** Reads the whole backup, and throws if anything is missing or not what was written. */
export const checkBackup = async (backup: OpenedBackup): Promise<Totals> => {
  await backup.files(async (_, content) => {
    for await (const part of content) void part;
  });
  for (const table of backup.source.contents.tables) for await (const rows of backup.source.rows(table)) void rows;
  for (const name of backup.source.contents.sequences) await backup.source.sequence(name);
  return backup.end();
};
