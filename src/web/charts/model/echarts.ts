/** Starts ECharts on an element of the page. Nothing here or in ECharts writes HTML, which strict pages refuse. */
import { AriaComponent, GridComponent, TooltipComponent } from 'echarts/components';
import { type ECharts, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

type Parts = Parameters<typeof use>[0];
type Canvas = NonNullable<Parameters<typeof init>[0]>;
type Options = Parameters<typeof init>[2];

/** `options`: for a chart that is no part of the page. */
export type Start = (canvas: Canvas, options?: Options) => ECharts;

/** Registers the parts of a chart family. Returns the function that starts a chart with them. */
export const startWith = (parts: Parts): Start => {
  use([AriaComponent, GridComponent, TooltipComponent, CanvasRenderer]);
  use(parts);
  return (canvas, options) => init(withoutHtml(canvas), null, { renderer: 'canvas', ...options });
};

/**
 * ECharts empties its element by `innerHTML = ''`. A page with `require-trusted-types-for 'script'` refuses any text
 * there, so this element is emptied without HTML, and takes no other text.
 */
const withoutHtml = (canvas: Canvas): Canvas =>
  Object.defineProperty(canvas, 'innerHTML', {
    configurable: true,
    get: () => '',
    set: (text: string) => {
      if (text !== '') throw new Error('A chart must not write HTML.');
      canvas.replaceChildren();
    },
  });
