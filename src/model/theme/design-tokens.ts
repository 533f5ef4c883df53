/**
 * Reads a theme in the Design Tokens format (https://www.designtokens.org/tr/drafts/format/): nested groups of tokens
 * with `$value`, and aliases such as `{brand.blue}`. Pure: the service reads theme files with it, the elements their
 * attribute. Every value of a result is safe in a style sheet.
 */

/** Values of CSS custom properties by their names, such as `--gl-accent`. */
export type Properties = Readonly<Record<string, string>>;
/** `scheme`: undefined if the theme follows the page. `dark` holds what differs from `light`. */
export type Theme = {
  readonly scheme?: 'light' | 'dark' | undefined;
  readonly light: Properties;
  readonly dark: Properties;
};
/** A fault names the place of the token, such as `color.accent`. */
export type DecodedTheme = { readonly theme: Theme; readonly faults: readonly string[] };

type Json = Readonly<Record<string, unknown>>;
type Read = (value: unknown) => string | undefined;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hex = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i;

const byte = (part: unknown): string | undefined =>
  typeof part === 'number' && part >= 0 && part <= 1
    ? Math.round(part * 255)
        .toString(16)
        .padStart(2, '0')
    : undefined;

/** `#rrggbb`, or an object with `colorSpace` srgb and `components`, or with `hex` for other colour spaces. */
const colour: Read = (value) => {
  if (typeof value === 'string') return hex.test(value) ? value : undefined;
  if (!isRecord(value)) return undefined;
  const { colorSpace, components, alpha = 1, hex: fallback } = value;
  const parts = Array.isArray(components) ? [...components, ...(alpha === 1 ? [] : [alpha])].map(byte) : [];
  const isSrgb = colorSpace === 'srgb' && parts.length >= 3 && parts.length <= 4;
  if (isSrgb && parts.every((part) => part !== undefined)) return `#${parts.join('')}`;
  return typeof fallback === 'string' && hex.test(fallback) ? fallback : undefined;
};

const dimension: Read = (value) => {
  const text = isRecord(value) ? `${value.value}${value.unit}` : value;
  return typeof text === 'string' && /^\d{1,4}(?:\.\d{1,3})?(?:px|rem)$/.test(text) ? text : undefined;
};

/** The elements load it from the place of their script. Until it comes, a font with its sizes stands for it. */
const shippedFont = 'Inter';

const fontFamily: Read = (value) => {
  const names = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  const clean = names.map((name) => (typeof name === 'string' ? name.trim().replace(/^(["'])(.*)\1$/, '$2') : ''));
  if (clean.length === 0 || !clean.every((name) => /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,60}$/u.test(name))) return undefined;
  return clean
    .flatMap((name) => (name === shippedFont ? [name, `${name} Fallback`] : [name]))
    .map((name) => (/^(?:sans-serif|serif|monospace|system-ui|ui-[a-z-]+)$/.test(name) ? name : `'${name}'`))
    .join(', ');
};

const colours = [
  ...['surface', 'raised', 'subtle', 'border', 'grid', 'text', 'muted', 'accent', 'on-accent'],
  ...['danger', 'good', 'warning', 'bad', 'skeleton', 'other'],
  ...Array.from({ length: 8 }, (_, index) => `series.${index + 1}`),
];

type Kind = { readonly property: string; readonly read: Read; readonly expected: string };

const colourKind = (name: string): Kind => ({
  property: `--gl-${name.replace('.', '-')}`,
  read: colour,
  expected: 'a colour such as "#2459c9", or {"colorSpace": "srgb", "components": [0.1, 0.3, 0.8]}',
});
const size = (property: string): Kind => ({ property, read: dimension, expected: 'a size such as "12px"' });

/** The tokens that have an effect, by their paths. */
const knownTokens: ReadonlyMap<string, Kind> = new Map([
  ...colours.map((name) => [`color.${name}`, colourKind(name)] as const),
  ['font.family', { property: '--gl-font', read: fontFamily, expected: 'names of fonts' }],
  ['radius', size('--gl-radius')],
  ['gap', size('--gl-gap')],
  ['row-height', size('--gl-row-height')],
]);

type Token = { readonly path: string; readonly value: unknown };

const deepest = 12;

const tokensOf = (group: Json, path: readonly string[] = []): readonly Token[] => {
  if ('$value' in group) return [{ path: path.join('.'), value: group.$value }];
  if (path.length > deepest) return [];
  return Object.entries(group).flatMap(([name, child]) =>
    name.startsWith('$') || !isRecord(child) ? [] : tokensOf(child, [...path, name]),
  );
};

/** Follows aliases; undefined for one that leads nowhere, or in a circle. */
const resolved = (value: unknown, tokens: ReadonlyMap<string, unknown>, steps = 0): unknown => {
  const alias = typeof value === 'string' ? /^\{([^{}]+)\}$/.exec(value)?.[1] : undefined;
  if (alias === undefined) return value;
  return steps > deepest ? undefined : resolved(tokens.get(alias), tokens, steps + 1);
};

/** Groups whose names are ours. Tokens of other groups are there for aliases. */
const isOwnGroup = (path: string): boolean => /^(?:dark\.)?(?:color|font)\./.test(path) || path.startsWith('dark.');

const schemeOf = ({ $extensions: extensions }: Json): unknown =>
  isRecord(extensions) && isRecord(extensions.guestlist) ? extensions.guestlist.scheme : undefined;

/** Reads all tokens that are right. A fault leaves out its token. */
export const decodeTheme = (given: unknown): DecodedTheme => {
  const root = isRecord(given) ? given : {};
  const tokens = tokensOf(root);
  const values = new Map(tokens.map(({ path, value }) => [path, value]));
  const [light, dark] = [new Map<string, string>(), new Map<string, string>()];
  const faults = isRecord(given) ? [] : ['a theme is an object of tokens'];
  for (const { path, value } of tokens) {
    const isDark = path.startsWith('dark.');
    const kind = knownTokens.get(isDark ? path.slice('dark.'.length) : path);
    if (kind === undefined) {
      if (isOwnGroup(path)) faults.push(`${path}: there is no such token`);
      continue;
    }
    const text = kind.read(resolved(value, values));
    if (text === undefined) faults.push(`${path}: takes ${kind.expected}`);
    else (isDark ? dark : light).set(kind.property, text);
  }
  const scheme = schemeOf(root);
  const isScheme = scheme === 'light' || scheme === 'dark';
  if (!isScheme && scheme !== undefined) faults.push('$extensions.guestlist.scheme: takes "light" or "dark"');
  const theme = { light: Object.fromEntries(light), dark: Object.fromEntries(dark) };
  return { theme: isScheme ? { ...theme, scheme } : theme, faults };
};
