/** Reads the body of a response as text. Rejects if it is larger than `maxBytes`. */
export const readText = async (
  response: { readonly body: AsyncIterable<Uint8Array> | null },
  maxBytes: number,
): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};
