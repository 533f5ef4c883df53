/** Arranges the picture of a card: title, filters, content, and what the reader must know, one below the other. */
import { light } from '../../../model/theme/palette.js';
import type { CardPicture, Content, Mark, Sheet, TableRow } from './content.js';

/** Width of a text in CSS pixels. */
export type Measure = (text: string, size: number, weight: number) => number;

type Part = { readonly marks: readonly Mark[]; readonly height: number };
type Style = { readonly size: number; readonly weight: number; readonly colour: string };
type Frame = { readonly x: number; readonly width: number; readonly measure: Measure };

const padding = 20;

/** Divides the text into lines that fit. A word that is too long is divided too. */
const wrap = (text: string, width: number, fits: (line: string) => number): readonly string[] => {
  const lines: string[] = [];
  let line = '';
  for (const piece of text.split(/(?<=\s)|(?=\S{24})/u).flatMap((word) => divided(word, width, fits))) {
    if (line !== '' && fits((line + piece).trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += line === '' ? piece.trimStart() : piece;
  }
  return line.trim() === '' ? lines : [...lines, line.trimEnd()];
};

const divided = (word: string, width: number, fits: (line: string) => number): readonly string[] => {
  if (fits(word) <= width || word.length < 2) return [word];
  const letters = [...word];
  const half = Math.ceil(letters.length / 2);
  return [letters.slice(0, half), letters.slice(half)].flatMap((part) => divided(part.join(''), width, fits));
};

const paragraph = (text: string, y: number, style: Style, { x, width, measure }: Frame): Part => {
  const { size, weight } = style;
  const lines = wrap(text, width, (line) => measure(line, size, weight));
  const lineHeight = Math.round(size * 1.4);
  const marks = lines.map(
    (line, index): Mark => ({
      kind: 'text',
      x,
      y: y + index * lineHeight + size,
      text: line,
      anchor: 'start',
      ...style,
    }),
  );
  return { marks, height: lines.length * lineHeight };
};

const paragraphs = (texts: readonly string[], y: number, style: Style, frame: Frame): Part =>
  texts.reduce<Part>(
    (above, text) => {
      const part = paragraph(text, y + above.height, style, frame);
      return { marks: [...above.marks, ...part.marks], height: above.height + part.height };
    },
    { marks: [], height: 0 },
  );

type Arrange<Kind extends Content['kind']> = (
  content: Extract<Content, { readonly kind: Kind }>,
  y: number,
  picture: CardPicture,
  frame: Frame,
) => Part;

const legendOf = (
  items: readonly { readonly name: string; readonly colour: string }[],
  y: number,
  { theme }: CardPicture,
  { x, width, measure }: Frame,
): Part => {
  const marks: Mark[] = [];
  let [left, top] = [0, 0];
  for (const { name, colour } of items) {
    const wide = measure(name, 12, 400) + 30;
    if (left > 0 && left + wide > width) [left, top] = [0, top + 18];
    marks.push({ kind: 'box', x: x + left, y: y + top + 3, width: 9, height: 9, colour });
    const at = { x: x + left + 15, y: y + top + 12 };
    marks.push({ kind: 'text', ...at, text: name, size: 12, weight: 400, colour: theme.muted, anchor: 'start' });
    left += wide;
  }
  return { marks, height: items.length === 0 ? 0 : top + 26 };
};

const arrangeChart: Arrange<'chart'> = ({ drawing, draw, start }, y, picture, frame) => {
  const wide = { ...drawing, width: frame.width, isReducedMotion: true };
  const drawn = draw(wide);
  const muted: Style = { size: 12, weight: 400, colour: picture.theme.muted };
  if (typeof drawn === 'string') return paragraph(drawn, y, muted, frame);
  const legend = legendOf(drawn.legend, y, picture, frame);
  const height = Math.max(drawing.height, drawn.height ?? 0);
  const area = { x: frame.x, y: y + legend.height, width: frame.width, height };
  const open: Extract<Mark, { readonly kind: 'chart' }>['open'] = (options, finished) => {
    const chart = start(document.createElement('div'), { width: frame.width, height, ...options });
    if (finished !== undefined) chart.on('finished', finished);
    chart.setOption({ ...drawn.option, animation: false }, { notMerge: true });
    return chart;
  };
  const notes = paragraphs(drawn.notes, area.y + height + 6, muted, frame);
  return {
    marks: [...legend.marks, { kind: 'chart', ...area, open }, ...notes.marks],
    height: legend.height + height + (notes.height > 0 ? notes.height + 6 : 0),
  };
};

const rowHeight = 26;

/** Widths in proportion to the longest text of each column. */
const columnWidths = (rows: readonly TableRow[], { width, measure }: Frame): readonly number[] => {
  const count = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const wanted = Array.from({ length: count }, (_, index) =>
    Math.min(260, Math.max(40, ...rows.map(({ cells }) => measure(cells[index] ?? '', 12, 600) + 20))),
  );
  const sum = wanted.reduce((total, each) => total + each, 0);
  return wanted.map((each) => (each * width) / Math.max(1, sum));
};

const shortened = (text: string, width: number, measure: (text: string) => number): string => {
  if (measure(text) <= width) return text;
  let letters = [...text];
  while (letters.length > 1 && measure(`${letters.join('')}…`) > width) letters = letters.slice(0, -1);
  return `${letters.join('')}…`;
};

const arrangeTable: Arrange<'table'> = ({ rows, isNumber }, y, { theme }, frame) => {
  const widths = columnWidths(rows, frame);
  const marks = rows.flatMap(({ cells, isStrong }, row): readonly Mark[] => {
    const top = y + row * rowHeight;
    const weight = isStrong ? 600 : 400;
    const texts = cells.map((cell, index): Mark => {
      const left = frame.x + widths.slice(0, index).reduce((sum, each) => sum + each, 0);
      const width = widths[index] ?? 0;
      const isEnd = isNumber[index] === true;
      const text = shortened(cell, width - 12, (part) => frame.measure(part, 12, weight));
      const at = { x: isEnd ? left + width - 6 : left + 6, y: top + 17 };
      const colour = isStrong ? theme.muted : theme.text;
      return { kind: 'text', ...at, text, size: 12, weight, colour, anchor: isEnd ? 'end' : 'start' };
    });
    const line = { x: frame.x, y: top + rowHeight - 1, width: frame.width, height: 1 };
    return [...texts, { kind: 'box', ...line, colour: theme.grid }];
  });
  return { marks, height: rows.length * rowHeight };
};

const arrangeValue: Arrange<'value'> = ({ value, lines }, y, { theme }, frame) => {
  const middle = frame.x + frame.width / 2;
  const size = Math.max(20, Math.min(56, (56 * frame.width) / Math.max(1, frame.measure(value, 56, 650))));
  const centred = { kind: 'text', x: middle, anchor: 'middle' } as const;
  const marks: readonly Mark[] = [
    { ...centred, y: y + 16 + size, text: value, size, weight: 650, colour: theme.text },
    ...lines
      .flatMap((line) => wrap(line, frame.width, (part) => frame.measure(part, 13, 400)))
      .map((text, index): Mark => {
        return { ...centred, y: y + size + 44 + index * 20, text, size: 13, weight: 400, colour: theme.muted };
      }),
  ];
  return { marks, height: size + 40 + (marks.length - 1) * 20 };
};

const arrangeContent = (y: number, picture: CardPicture, frame: Frame): Part => {
  const { content } = picture;
  if (content.kind === 'chart') return arrangeChart(content, y, picture, frame);
  return content.kind === 'table' ? arrangeTable(content, y, picture, frame) : arrangeValue(content, y, picture, frame);
};

/** Returns the picture as marks with places. Colours and font are those of the card's theme. */
export const arrange = (picture: CardPicture, measure: Measure): Sheet => {
  const { theme, title, notes, feet } = picture;
  const width = Math.max(280, Math.round(picture.width));
  const frame: Frame = { x: padding, width: width - 2 * padding, measure };
  const muted: Style = { size: 12, weight: 400, colour: theme.muted };
  const head = paragraph(title, padding, { size: 15, weight: 600, colour: theme.text }, frame);
  const filters = paragraphs(notes, padding + head.height + 2, muted, frame);
  const top = padding + head.height + filters.height + 14;
  const content = arrangeContent(top, picture, frame);
  const foot = paragraphs(feet, top + content.height + 12, muted, frame);
  return {
    width,
    height: Math.ceil(top + content.height + 12 + foot.height + padding - 6),
    background: theme.surface || light.surface,
    fontFamily: theme.fontFamily,
    marks: [...head.marks, ...filters.marks, ...content.marks, ...foot.marks],
  };
};
