/** Verifies the signature of a message (DKIM, RFC 6376), apart from the library that signs. */
import { createHash, createPublicKey, verify } from 'node:crypto';

type Header = { readonly name: string; readonly raw: string };

const parse = (raw: string): { readonly headers: readonly Header[]; readonly body: string } => {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw.slice(0, end).split(/\r\n(?![ \t])/);
  return {
    headers: lines.map((line) => ({ name: line.slice(0, line.indexOf(':')).toLowerCase(), raw: line })),
    body: raw.slice(end + 4),
  };
};

/** Section 3.4.2. */
const relaxedHeader = ({ name, raw }: Header): string => {
  const value = raw.slice(raw.indexOf(':') + 1).replaceAll('\r\n', '');
  return `${name}:${value.replace(/[ \t]+/g, ' ').trim()}`;
};

/** Section 3.4.4. */
const relaxedBody = (body: string): string => {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  const text = lines.join('\r\n').replace(/(\r\n)*$/, '');
  return text === '' ? '' : `${text}\r\n`;
};

const tagsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(';')
      .filter((part) => part.includes('='))
      .map((part) => [part.slice(0, part.indexOf('=')).trim(), part.slice(part.indexOf('=') + 1).replace(/\s+/g, '')]),
  );

export type Verdict = { readonly domain: string; readonly signed: readonly string[]; readonly isGood: boolean };

/** `txt` answers as a name server: the record of `selector._domainkey.domain`. */
export const verifyDkim = (raw: string, txt: (name: string) => string | undefined): Verdict | undefined => {
  const { headers, body } = parse(raw);
  const signature = headers.find(({ name }) => name === 'dkim-signature');
  if (signature === undefined) return undefined;
  const tags = tagsOf(signature.raw.slice(signature.raw.indexOf(':') + 1));
  const { a, b = '', bh, c, d = '', h = '', s } = tags;
  if (a !== 'rsa-sha256' || c !== 'relaxed/relaxed') throw new Error(`not known here: ${a} ${c}`);
  const signed = h.split(':').map((name) => name.toLowerCase());
  const rest = [...headers].reverse();
  const chosen = signed.flatMap((name) => {
    const at = rest.findIndex((header) => header.name === name);
    return at < 0 ? [] : rest.splice(at, 1);
  });
  const unsigned = { ...signature, raw: signature.raw.replace(/([;\s]b=)[^;]*/, '$1') };
  const text = [...chosen.map(relaxedHeader), relaxedHeader(unsigned)].join('\r\n');
  const { p = '' } = tagsOf(txt(`${s}._domainkey.${d}`) ?? '');
  const key = createPublicKey({ key: Buffer.from(p, 'base64'), format: 'der', type: 'spki' });
  const isBody = createHash('sha256').update(relaxedBody(body), 'latin1').digest('base64') === bh;
  const isHead = verify('sha256', Buffer.from(text, 'latin1'), key, Buffer.from(b, 'base64'));
  return { domain: d, signed, isGood: isBody && isHead };
};
