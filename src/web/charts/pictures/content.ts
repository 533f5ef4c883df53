/** What the picture of a card shows. Plain values: a picture is drawn without the page. */
import type { ECharts } from 'echarts/core';
import type { ChartTheme } from '../../../model/theme/palette.js';
import type { Draw, Drawing } from '../model/drawing.js';
import type { Start } from '../model/echarts.js';

export type ImageType = 'png' | 'svg';

export type TableRow = { readonly cells: readonly string[]; readonly isStrong: boolean };

export type Content =
  | { readonly kind: 'chart'; readonly drawing: Drawing; readonly draw: Draw; readonly start: Start }
  | { readonly kind: 'table'; readonly rows: readonly TableRow[]; readonly isNumber: readonly boolean[] }
  | { readonly kind: 'value'; readonly value: string; readonly lines: readonly string[] };

export type CardPicture = {
  readonly title: string;
  /** Lines below the title: the filters. */
  readonly notes: readonly string[];
  /** Lines below the content: what is missing, and the moment. */
  readonly feet: readonly string[];
  readonly width: number;
  readonly theme: ChartTheme;
  readonly content: Content;
};

type Area = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
/** Something with a place in the picture, in CSS pixels. `y` of a text is that of its baseline. */
export type Mark =
  | {
      readonly kind: 'text';
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly size: number;
      readonly weight: number;
      readonly colour: string;
      readonly anchor: 'start' | 'middle' | 'end';
    }
  | (Area & { readonly kind: 'box'; readonly colour: string })
  | (Area & {
      readonly kind: 'chart';
      /** `finished` is called when all of the chart is drawn, perhaps before `open` returns. */
      readonly open: (options: Parameters<Start>[1], finished?: () => void) => ECharts;
    });

export type Sheet = {
  readonly width: number;
  readonly height: number;
  readonly background: string;
  readonly fontFamily: string;
  readonly marks: readonly Mark[];
};
