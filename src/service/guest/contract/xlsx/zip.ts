/** Archives in pieces, with memory for one piece at a time. */
export type Part = { readonly path: string; readonly pieces: AsyncIterable<string> };

/** Writes the parts as a ZIP archive while they are read. `madeAt` is the date of every part. */
export async function* zipped(parts: AsyncIterable<Part>, madeAt: Date): AsyncGenerator<Uint8Array> {
  const { strToU8, Zip, ZipDeflate } = await import('fflate');
  let ready: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    ready.push(chunk);
  });
  const taken = (): readonly Uint8Array[] => {
    const pieces = ready;
    ready = [];
    return pieces;
  };
  for await (const { path, pieces } of parts) {
    const entry = new ZipDeflate(path, { level: 3 });
    entry.mtime = madeAt;
    zip.add(entry);
    for await (const piece of pieces) {
      entry.push(strToU8(piece));
      // The compression keeps small pieces. An empty one lets the reader serve others meanwhile.
      if (ready.length === 0) yield new Uint8Array();
      yield* taken();
    }
    entry.push(new Uint8Array(), true);
    yield* taken();
  }
  zip.end();
  yield* taken();
}
