/**
 * The file system of the embedded database: a folder, as PGlite's own NodeFS has it. PGlite runs its server with `fsync` off, and NodeFS has no
 * way to flush. This one has, and it keeps what the server says of a folder that it cannot open.
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** What Emscripten's NODEFS has of an open file or folder; a folder has no descriptor. */
type Stream = { readonly nfd?: number | null; readonly node: object };
type NodeFiles = {
  readonly realPath: (node: object) => string;
  readonly node_ops: { setattr: (node: object, ...rest: readonly unknown[]) => unknown };
  readonly stream_ops: {
    write: (stream: Stream, ...rest: readonly unknown[]) => number;
    fsync?: (stream: Stream) => number;
  };
};

const flushFolder = (path: string): void => {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};

/**
 * Lets the server flush its files. What this process has not changed needs no flush: it was flushed before the server started. So a recovery
 * does not flush each of a thousand files in turn.
 */
const addFlush = ({ realPath, node_ops: nodes, stream_ops: streams }: NodeFiles): void => {
  const changed = new WeakSet<object>();
  const { write } = streams;
  const { setattr } = nodes;
  streams.write = (stream, ...rest) => {
    changed.add(stream.node);
    return write(stream, ...rest);
  };
  // Cuts a file off, among others.
  nodes.setattr = (node, ...rest) => {
    changed.add(node);
    return setattr(node, ...rest);
  };
  streams.fsync = ({ nfd, node }) => {
    if (nfd === undefined || nfd === null) flushFolder(realPath(node));
    else if (changed.has(node)) fdatasyncSync(nfd);
    return 0;
  };
};

/** `-F` is `fsync=off`. Of the ways to flush the log, Emscripten passes on `fsync` alone. */
const flushingParams = [...PGlite.defaultStartParams.filter((param) => param !== '-F'), '-c', 'wal_sync_method=fsync'];

class EmbeddedFiles extends NodeFS {
  readonly said: string[] = [];

  constructor(
    folder: string,
    private readonly isFlushed: boolean,
  ) {
    super(folder);
  }

  override async init(...[pg, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options);
    const keep = (line: string): void => {
      // The server tells the reason at once; the rest of its life it has nothing to say here.
      if (this.said.length < 20) this.said.push(line);
    };
    const flush = (module: { FS: { filesystems: object } }): void =>
      addFlush(Reflect.get(module.FS.filesystems, 'NODEFS') as NodeFiles);
    const preRun = [...(emscriptenOpts.preRun ?? []), ...(this.isFlushed ? [flush] : [])];
    return { emscriptenOpts: { ...emscriptenOpts, preRun, print: keep, printErr: keep } as typeof emscriptenOpts };
  }
}

/** The server's own words on why it ended: `FATAL: ...`. */
const reasonOf = (said: readonly string[]): string | undefined => {
  const words = said.flatMap((line) => /(?:FATAL|PANIC|DETAIL): +(.*)/.exec(line)?.[1] ?? []);
  return words.length === 0 ? undefined : words.join(' ');
};

/**
 * Opens the database in `folder`. `isFlushed`: whether each write is on the disk before it is acknowledged. Throws an Error that says what to do
 * where the files are damaged.
 */
export const openFiles = async (folder: string, isFlushed: boolean): Promise<PGlite> => {
  const files = new EmbeddedFiles(folder, isFlushed);
  try {
    return await PGlite.create({ fs: files, ...(isFlushed ? { startParams: flushingParams } : {}) });
  } catch (cause) {
    const reason = reasonOf(files.said) ?? (cause instanceof Error ? cause.message : String(cause));
    throw new Error(
      `The embedded database in ${folder} is damaged and cannot be opened (${reason}). Restore the data folder from a backup; or move ${folder} away and start with --accept-loss, which begins an empty one.`,
      { cause },
    );
  }
};
