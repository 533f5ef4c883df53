/** Draws the picture of a card as PNG or SVG. Nothing of it becomes a part of the page. */
import { type ECharts, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { escapeMarkup } from '../../../model/markup.js';
import { arrange, type Measure } from './arrange.js';
import type { CardPicture, ImageType, Mark, Sheet } from './content.js';

use([SVGRenderer]);

/** Pixels for each CSS pixel. */
const density = 2;
/** Browsers refuse larger canvases. */
const mostPixels = 16_000;

type TextMark = Extract<Mark, { readonly kind: 'text' }>;
type ChartMark = Extract<Mark, { readonly kind: 'chart' }>;

const contextOf = (canvas: HTMLCanvasElement): CanvasRenderingContext2D => {
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser gives no canvas.');
  return context;
};

const measureIn = (fontFamily: string): Measure => {
  const context = contextOf(document.createElement('canvas'));
  return (text, size, weight) => {
    context.font = `${weight} ${size}px ${fontFamily}`;
    return context.measureText(text).width;
  };
};

const aligned = { start: 'left', middle: 'center', end: 'right' } as const;

const writeText = (
  context: CanvasRenderingContext2D,
  { x, y, text, size, weight, colour, anchor }: TextMark,
  font: string,
) => {
  context.font = `${weight} ${size}px ${font}`;
  context.fillStyle = colour;
  context.textAlign = aligned[anchor];
  context.fillText(text, x, y);
};

/** ECharts draws many marks in several frames. */
const opened = ({ open }: ChartMark, scale: number): Promise<ECharts> =>
  new Promise((resolve) => {
    let chart: ECharts | undefined;
    let isFinished = false;
    const settle = (): void => {
      if (isFinished && chart !== undefined) resolve(chart);
    };
    chart = open({ devicePixelRatio: scale }, () => {
      isFinished = true;
      settle();
    });
    settle();
  });

const drawChart = async (context: CanvasRenderingContext2D, mark: ChartMark, scale: number): Promise<void> => {
  const chart = await opened(mark, scale);
  try {
    const drawn = chart.renderToCanvas({ pixelRatio: scale });
    context.drawImage(drawn, mark.x, mark.y, mark.width, mark.height);
  } finally {
    chart.dispose();
  }
};

const toPng = async (sheet: Sheet): Promise<Blob> => {
  const { width, height, marks } = sheet;
  const scale = Math.min(density, mostPixels / Math.max(width, height));
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  const context = contextOf(canvas);
  context.scale(scale, scale);
  context.fillStyle = sheet.background;
  context.fillRect(0, 0, width, height);
  for (const mark of marks) {
    if (mark.kind === 'text') writeText(context, mark, sheet.fontFamily);
    else if (mark.kind === 'chart') await drawChart(context, mark, scale);
    else {
      context.fillStyle = mark.colour;
      context.fillRect(mark.x, mark.y, mark.width, mark.height);
    }
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('The picture is too large.')) : resolve(blob)),
      'image/png',
    ),
  );
};

/** XML has no control characters. */
const escaped = (text: string): string => escapeMarkup(text.replaceAll(/(?![\t\n])\p{Cc}/gu, ' '));

const chartSvg = ({ open, ...area }: ChartMark): string => {
  const chart = open({ renderer: 'svg', ssr: true });
  try {
    const size = `x="${area.x}" y="${area.y}" width="${area.width}" height="${area.height}"`;
    return chart.renderToSVGString().replace(/^<svg [^>]*?(?= xmlns)/, `<svg ${size}`);
  } finally {
    chart.dispose();
  }
};

const markSvg = (mark: Mark): string => {
  if (mark.kind === 'chart') return chartSvg(mark);
  const { x, y, colour } = mark;
  if (mark.kind === 'box') {
    return `<rect x="${x}" y="${y}" width="${mark.width}" height="${mark.height}" fill="${escaped(colour)}"/>`;
  }
  const font = `font-size="${mark.size}" font-weight="${mark.weight}" fill="${escaped(colour)}"`;
  return `<text x="${x}" y="${y}" ${font} text-anchor="${mark.anchor}">${escaped(mark.text)}</text>`;
};

const toSvg = ({ width, height, background, fontFamily, marks }: Sheet): Blob => {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(fontFamily)}">`;
  const ground = `<rect width="${width}" height="${height}" fill="${escaped(background)}"/>`;
  return new Blob([`${head}${ground}${marks.map(markSvg).join('')}</svg>`], { type: 'image/svg+xml' });
};

/** Draws the picture. PNG has twice the density of the page. */
export const drawPicture = async (picture: CardPicture, type: ImageType): Promise<Blob> => {
  const sheet = arrange(picture, measureIn(picture.theme.fontFamily));
  return type === 'png' ? toPng(sheet) : toSvg(sheet);
};
