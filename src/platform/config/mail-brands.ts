/**
 * How messages look, for all tenants and for single ones. From the configuration alone, so nothing that a guest writes
 * becomes a sender or a picture.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';

export const mailAddress = z
  .string()
  .regex(/^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/, 'an address, such as reports@analytics.example');

export const mailLanguage = z
  .string()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, 'a language such as de or pt-BR');

/** One line, so that it can be no second header. */
const line = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u, 'one line without control characters');

export const senderName = line(80);
export const mailText = line(500);
export const logoFile = z.string().min(1).max(500);

/** What a tenant has of its own. What is left out is that of all tenants. */
export const tenantBrands = z.record(
  z.string().min(1).max(255),
  z.strictObject({
    from: mailAddress.optional(),
    senderName: senderName.optional(),
    replyTo: mailAddress.optional(),
    language: mailLanguage.optional(),
    logo: logoFile.optional(),
    opening: mailText.optional(),
    closing: mailText.optional(),
  }),
);

export type Logo = { readonly contentType: 'image/png' | 'image/jpeg'; readonly content: Uint8Array };

export type MailBrand = {
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | null;
  /** Of messages to users whose session names none; null: English. */
  readonly language: string | null;
  readonly logo: Logo | null;
  /** A sentence at the beginning, and one at the end. */
  readonly opening: string | null;
  readonly closing: string | null;
};

type Brand = Readonly<Record<'senderName' | 'replyTo' | 'language' | 'logo' | 'opening' | 'closing', string | null>>;
type MailSettings = Brand & { readonly from: string | null; readonly tenants: z.output<typeof tenantBrands> };

const mostLogoBytes = 102_400;

/** By the first bytes: a name can lie. */
const typeOf = (bytes: Uint8Array): Logo['contentType'] | undefined => {
  if (Buffer.from(bytes.subarray(0, 8)).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))) return 'image/png';
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff ? 'image/jpeg' : undefined;
};

const readLogo = (file: string, folder: string): Logo | string => {
  let content: Buffer;
  try {
    content = readFileSync(resolve(folder, file));
  } catch (error) {
    return `cannot be read (${error instanceof Error && 'code' in error ? error.code : 'unknown'}): name a file beside the configuration`;
  }
  if (content.byteLength > mostLogoBytes) return `has more than ${mostLogoBytes} bytes: make it smaller`;
  const contentType = typeOf(content);
  return contentType === undefined ? 'is no PNG and no JPEG: mail programs show only these' : { contentType, content };
};

export type BrandFault = { readonly path: string; readonly mend: string };
export type BrandOf = (clientId: string) => MailBrand;

/** Reads the logos too, so that no file is missing when a message leaves. `brandOf` is null where nothing goes by e-mail. */
export const loadBrands = (mail: MailSettings, folder: string) => {
  const faults: BrandFault[] = [];
  const logoAt = (path: string, file: string | null | undefined): Logo | null => {
    if (file === null || file === undefined) return null;
    const logo = readLogo(file, folder);
    if (typeof logo !== 'string') return logo;
    faults.push({ path, mend: logo });
    return null;
  };
  const { senderName: name, replyTo, language, opening, closing } = mail;
  const usual = { replyTo, language, opening, closing, logo: logoAt('mail.logo', mail.logo) };
  const from = { name: name ?? '', address: mail.from ?? '' };
  const own = new Map<string, MailBrand>();
  for (const [clientId, { from: address, senderName: ownName, logo, ...brand }] of Object.entries(mail.tenants)) {
    own.set(clientId, {
      ...usual,
      ...Object.fromEntries(Object.entries(brand).filter(([, value]) => value !== undefined)),
      from: { name: ownName ?? from.name, address: address ?? from.address },
      logo: logoAt(`mail.tenants.${clientId}.logo`, logo) ?? usual.logo,
    });
  }
  const brandOf: BrandOf = (clientId) => own.get(clientId) ?? { ...usual, from };
  return { brandOf, faults };
};
