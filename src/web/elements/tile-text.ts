/** The text of a tile, parsed. What is not of the small subset stays plain text; nothing becomes HTML by itself. */

export type Inline =
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'bold'; readonly text: string }
  | { readonly kind: 'italic'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly address: string };

export type Block = { readonly kind: 'paragraph' | 'list'; readonly lines: readonly (readonly Inline[])[] };

const marked = /\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|\[([^\][\n]+)\]\(([^()\s]+)\)/g;

/** The address of a link, which must be https. Undefined: it is none, and the text stays as it was written. */
const addressOf = (written: string): string | undefined => {
  const address = URL.canParse(written) ? new URL(written) : undefined;
  return address?.protocol === 'https:' ? address.href : undefined;
};

const inlineOf = ([whole, bold, italic, label, written]: RegExpMatchArray): Inline => {
  if (bold !== undefined) return { kind: 'bold', text: bold };
  if (italic !== undefined) return { kind: 'italic', text: italic };
  const address = addressOf(written ?? '');
  return address === undefined ? { kind: 'plain', text: whole } : { kind: 'link', text: label ?? '', address };
};

const parseLine = (line: string): readonly Inline[] => {
  const found: Inline[] = [];
  let end = 0;
  for (const match of line.matchAll(marked)) {
    if (match.index > end) found.push({ kind: 'plain', text: line.slice(end, match.index) });
    found.push(inlineOf(match));
    end = match.index + match[0].length;
  }
  if (end < line.length) found.push({ kind: 'plain', text: line.slice(end) });
  return found;
};

const bullet = /^\s*[-*]\s+/;

/** An empty line ends a paragraph or list; so does a line of the other kind. */
export const parseTileText = (text: string): readonly Block[] => {
  const blocks: { kind: Block['kind']; lines: (readonly Inline[])[] }[] = [];
  let isOpen = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const kind = bullet.test(line) ? 'list' : 'paragraph';
    const last = blocks.at(-1);
    const isEmpty = line.trim() === '';
    const parsed = parseLine(line.replace(bullet, ''));
    if (!isEmpty && isOpen && last?.kind === kind) last.lines.push(parsed);
    else if (!isEmpty) blocks.push({ kind, lines: [parsed] });
    isOpen = !isEmpty;
  }
  return blocks;
};
