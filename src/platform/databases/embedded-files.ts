/**
 * The file system of the embedded database: a folder, like PGlite's own NodeFS. PGlite runs its server with `fsync`
 * off, and NodeFS cannot flush files. This class can flush. It also keeps the server's messages about a folder that
 * cannot be opened.
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** An open file or folder of Emscripten's NODEFS. A folder has no file descriptor. */
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
 * Lets the server flush its files. A file that this process has not changed needs no flush, because it was flushed
 * before the server started. This saves a recovery from flushing a thousand files.
 */
const addFlush = ({ realPath, node_ops: nodes, stream_ops: streams }: NodeFiles): void => {
  const changed = new WeakSet<object>();
  const { write } = streams;
  const { setattr } = nodes;
  streams.write = (stream, ...rest) => {
    changed.add(stream.node);
    return write(stream, ...rest);
  };
  // The server truncates files with this call, among other uses.
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

/** The option `-F` means `fsync=off`. Emscripten supports only `fsync` of the methods to flush the log. */
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
      // The reason of a failed start is in the first lines. Later lines are not needed.
      if (this.said.length < 20) this.said.push(line);
    };
    const flush = (module: { FS: { filesystems: object } }): void =>
      addFlush(Reflect.get(module.FS.filesystems, 'NODEFS') as NodeFiles);
    const preRun = [...(emscriptenOpts.preRun ?? []), ...(this.isFlushed ? [flush] : [])];
    return { emscriptenOpts: { ...emscriptenOpts, preRun, print: keep, printErr: keep } as typeof emscriptenOpts };
  }
}

/** Returns the reason that the server gave for its exit, from lines such as `FATAL: ...`. */
const reasonOf = (said: readonly string[]): string | undefined => {
  const words = said.flatMap((line) => /(?:FATAL|PANIC|DETAIL): +(.*)/.exec(line)?.[1] ?? []);
  return words.length === 0 ? undefined : words.join(' ');
};

/**
 * Opens the database in `folder`. With `isFlushed`, each write is flushed to disk before it is acknowledged. If the
 * files are damaged, throws an Error that says how to fix it.
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
