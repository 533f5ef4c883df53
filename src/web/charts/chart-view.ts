/** Draws a plot with ECharts on a canvas. Text from the data becomes canvas text or DOM text, never HTML. */
import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, TooltipComponent } from 'echarts/components';
import { type ECharts, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { css, html, LitElement, type PropertyValues, svg } from 'lit';
import type { GuestMetric } from '../../domain/guest/view.js';
import type { Cell } from '../../domain/query/engine.js';
import type { Format } from '../base/format.js';
import { baseStyles, readChartTheme } from '../base/theme.js';
import type { ChartTheme } from '../base/tokens.js';
import { chartOption, colourAt, type Drawing, heightNeeded } from './chart-options.js';
import { type Plot, summaryOf } from './plot.js';
import { tooltipNode, tooltipStyles } from './tooltip.js';

use([BarChart, LineChart, GridComponent, TooltipComponent, CanvasRenderer]);

export class ChartView extends LitElement {
  static override properties = {
    metric: { attribute: false },
    plot: { attribute: false },
    format: { attribute: false },
    colours: { attribute: false },
    /** Changes with the theme, which makes the chart read its colours again. */
    themeKey: { attribute: false },
    isClickable: { attribute: false },
  };
  declare metric: GuestMetric;
  declare plot: Plot;
  declare format: Format;
  declare colours: readonly string[];
  declare themeKey: string;
  declare isClickable: boolean;

  #chart: ECharts | undefined;
  readonly #resizes = new ResizeObserver(() => this.#draw());

  constructor() {
    super();
    this.colours = [];
    this.themeKey = '';
    this.isClickable = false;
  }

  static override styles = [
    baseStyles,
    tooltipStyles,
    css`
      :host {
        height: 100%;
      }
      .frame {
        display: flex;
        flex-direction: column;
        height: 100%;
      }
      .scroll {
        position: relative;
        flex: 1;
        min-height: 0;
        overflow: hidden auto;
        scrollbar-width: thin;
      }
      .scroll[data-more] {
        mask-image: linear-gradient(to bottom, #000 calc(100% - 36px), transparent);
      }
      .canvas {
        width: 100%;
        height: 100%;
      }
      ul {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 14px;
        margin: 0 0 6px;
        padding: 0;
        list-style: none;
        font-size: 12px;
        color: var(--gl-muted);
      }
      li {
        display: inline-flex;
        align-items: center;
        gap: 6px;
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) this.#observe();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resizes.disconnect();
    this.#chart?.dispose();
    this.#chart = undefined;
  }

  protected override firstUpdated(): void {
    this.#observe();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.size > 0) this.#draw();
  }

  override render() {
    return html`<div class="frame">
      ${this.plot.series.length > 1 ? this.#legend() : null}
      <div
        class="scroll"
        role="img"
        aria-label=${summaryOf(this.metric, this.plot, this.format)}
        @scroll=${this.#hintAtMore}
      >
        <div class="canvas"></div>
      </div>
    </div>`;
  }

  #legend() {
    const theme = this.#theme();
    return html`<ul aria-hidden="true">
      ${this.plot.series.map(
        ({ name }, index) =>
          html`<li>
            <svg width="9" height="9" viewBox="0 0 9 9">${svg`<circle cx="4.5" cy="4.5" r="4.5" fill=${colourAt(theme, index)} />`}</svg>
            ${name}
          </li>`,
      )}
    </ul>`;
  }

  #theme(): ChartTheme {
    return readChartTheme(this, this.colours);
  }

  #observe(): void {
    const scroll = this.renderRoot.querySelector('.scroll');
    if (scroll !== null) this.#resizes.observe(scroll);
  }

  #draw(): void {
    const scroll = this.renderRoot.querySelector('.scroll');
    const canvas = this.renderRoot.querySelector<HTMLElement>('.canvas');
    if (!this.isConnected || scroll === null || canvas === null || scroll.clientWidth === 0) return;
    const drawing = this.#drawing(scroll.clientWidth);
    const needed = heightNeeded(drawing);
    canvas.style.height = needed !== null && needed > scroll.clientHeight ? `${needed}px` : '100%';
    if (canvas.clientHeight === 0) return;
    const chart = this.#chart ?? this.#start(canvas);
    chart.resize();
    const option = chartOption(drawing);
    const formatter = (params: unknown) => tooltipNode(drawing, dataIndexOf(params));
    this.#hintAtMore();
    chart.setOption({ ...option, tooltip: { ...option.tooltip, formatter } }, { notMerge: true });
  }

  /** Marks a chart that is taller than its card: it fades out at the bottom and can be scrolled by keyboard. */
  readonly #hintAtMore = (): void => {
    const scroll = this.renderRoot.querySelector<HTMLElement>('.scroll');
    if (scroll === null) return;
    const hidden = scroll.scrollHeight - scroll.clientHeight;
    scroll.toggleAttribute('data-more', hidden - scroll.scrollTop > 4);
    if (hidden > 4) scroll.tabIndex = 0;
    else scroll.removeAttribute('tabindex');
  };

  #drawing(width: number): Drawing {
    const isReducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches || this.#chart !== undefined;
    const { plot, format } = this;
    return { plot, format, chart: this.metric.chart, theme: this.#theme(), isReducedMotion, width };
  }

  #start(canvas: HTMLElement): ECharts {
    const chart = init(canvas, null, { renderer: 'canvas' });
    this.#chart = chart;
    chart.getZr().on('click', ({ offsetX, offsetY }: { offsetX: number; offsetY: number }) => {
      if (this.isClickable && chart.containPixel('grid', [offsetX, offsetY])) this.#click(chart, [offsetX, offsetY]);
    });
    return chart;
  }

  #click(chart: ECharts, pixel: [number, number]): void {
    const index = nearestPoint(this.plot, chart.convertFromPixel({ seriesIndex: 0 }, pixel), this.#isHorizontal(chart));
    const point = this.plot.points[index];
    if (point === undefined) return;
    this.dispatchEvent(new CustomEvent<Cell>('point', { detail: point.value }));
  }

  #isHorizontal(chart: ECharts): boolean {
    const { yAxis } = chart.getOption();
    return Array.isArray(yAxis) && yAxis[0]?.type === 'category';
  }
}

const nearestPoint = (plot: Plot, at: number | number[], isHorizontal: boolean): number => {
  const value = Array.isArray(at) ? (at[isHorizontal ? 1 : 0] ?? 0) : at;
  if (plot.axis === 'category') return Math.round(value);
  const distances = plot.points.map((point) => Math.abs((point.time ?? Number.POSITIVE_INFINITY) - value));
  return distances.indexOf(Math.min(...distances));
};

const dataIndexOf = (params: unknown): number => {
  const first: unknown = Array.isArray(params) ? params[0] : params;
  const isItem = typeof first === 'object' && first !== null && 'dataIndex' in first;
  return isItem && typeof first.dataIndex === 'number' ? first.dataIndex : -1;
};
