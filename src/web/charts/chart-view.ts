/** Draws an answer on a canvas. Fires `settled` when its script has come and the chart is drawn, or cannot be. Text from the data becomes canvas text or DOM text, never HTML. */
import type { ECharts } from 'echarts/core';
import { css, html, LitElement, type PropertyValues, svg, type TemplateResult } from 'lit';
import type { GuestMetric } from '../../domain/guest/view.js';
import type { Cell, MetricAnswer } from '../../domain/query/engine.js';
import type { Format } from '../base/format.js';
import { createLatest } from '../base/latest.js';
import { emptyState, errorState, loadingState, stateStyles } from '../base/states.js';
import { baseStyles, readChartTheme } from '../base/theme.js';
import { truncationNote } from './model/columns.js';
import type { Drawing, LegendItem, Mark, Picture } from './model/drawing.js';
import { type Family, rendererOf } from './registry.js';
import { placeTooltip, tooltipNode, tooltipStyles } from './tooltip.js';

export class ChartView extends LitElement {
  static override properties = {
    metric: { attribute: false },
    answer: { attribute: false },
    format: { attribute: false },
    colours: { attribute: false },
    /** Changes with the theme, which makes the chart read its colours again. */
    themeKey: { attribute: false },
    isClickable: { attribute: false },
    isPrinted: { attribute: false },
    family: { state: true },
    problem: { state: true },
    picture: { state: true },
  };
  declare metric: GuestMetric;
  declare answer: MetricAnswer;
  declare format: Format;
  declare colours: readonly string[];
  declare themeKey: string;
  declare isClickable: boolean;
  /** True while the page is printed: the chart has the density of paper. */
  declare isPrinted: boolean;
  declare family: Family | undefined;
  /** Why the chart cannot be drawn. `isRetriable`: its script did not arrive. */
  declare problem: { readonly text: string; readonly isRetriable: boolean } | undefined;
  declare picture: Picture | undefined;

  #chart: ECharts | undefined;
  #tip: HTMLElement | undefined;
  #observed: Element | null = null;
  readonly #loads = createLatest();
  readonly #resizes = new ResizeObserver(() => this.#draw());

  constructor() {
    super();
    this.colours = [];
    this.themeKey = '';
    this.isClickable = false;
    this.isPrinted = false;
  }

  static override styles = [
    baseStyles,
    stateStyles,
    tooltipStyles,
    css`
      :host {
        height: 100%;
      }
      .frame {
        position: relative;
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
      .scroll.whole {
        overflow: visible;
        mask-image: none;
      }
      .canvas {
        width: 100%;
        height: 100%;
      }
      ul {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 14px;
        max-height: 54px;
        margin: 0 0 6px;
        padding: 0;
        overflow: auto;
        list-style: none;
        font-size: 12px;
        color: var(--gl-muted);
      }
      li {
        display: inline-flex;
        align-items: center;
        gap: 6px;
        min-width: 0;
        overflow-wrap: anywhere;
      }
      li svg {
        flex: none;
      }
      .note {
        margin: 6px 0 0;
        font-size: 12px;
        line-height: 1.35;
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
    this.#observed = null;
    this.#loads.cancel();
    this.#dispose();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('metric');
    if (changed.has('metric') && before?.chart.type !== this.metric.chart.type) this.#load();
  }

  protected override updated(changed: PropertyValues<this>): void {
    this.#observe();
    if (changed.has('isPrinted') && changed.get('isPrinted') !== undefined) this.#dispose();
    if ([...changed.keys()].some((name) => name !== 'picture' && name !== 'problem')) this.#draw();
    const isSettled = this.family !== undefined || this.problem !== undefined;
    if (isSettled && (changed.has('family') || changed.has('problem'))) this.dispatchEvent(new Event('settled'));
  }

  override render() {
    const { problem, picture } = this;
    if (problem !== undefined) return this.#problem(problem);
    if (this.family === undefined) return loadingState(`Loading ${this.metric.name}`);
    const truncation = truncationNote(this.answer, this.format);
    const notes = [...(truncation === null ? [] : [truncation]), ...(picture?.notes ?? [])];
    return html`<div class="frame">
      ${picture === undefined || picture.legend.length === 0 ? null : legend(picture.legend)}
      <div class=${this.isPrinted ? 'scroll whole' : 'scroll'} role="img" aria-label=${picture?.summary ?? this.metric.name} @scroll=${this.#hintAtMore}>
        <div class="canvas"></div>
      </div>
      ${notes.length === 0 ? null : html`<p class="note quiet">${notes.map((note) => `${note}.`).join(' ')}</p>`}
    </div>`;
  }

  #problem({ text, isRetriable }: NonNullable<ChartView['problem']>): TemplateResult {
    if (!isRetriable) return emptyState(text);
    return errorState('This chart can’t be shown', text, () => this.#load());
  }

  #load(): void {
    const renderer = rendererOf(this.metric.chart.type);
    this.problem = undefined;
    this.family = undefined;
    this.picture = undefined;
    this.#dispose();
    if (renderer.kind !== 'chart') return;
    this.#loads.run(
      renderer.load,
      (family) => {
        this.family = family;
      },
      () => {
        this.problem = { text: 'A part of the page could not be loaded.', isRetriable: true };
      },
    );
  }

  #observe(): void {
    const scroll = this.renderRoot.querySelector('.scroll');
    if (scroll === this.#observed) return;
    this.#resizes.disconnect();
    this.#observed = scroll;
    if (scroll !== null) this.#resizes.observe(scroll);
  }

  #dispose(): void {
    this.#hideTip();
    this.#chart?.dispose();
    this.#chart = undefined;
  }

  #draw(): void {
    const scroll = this.renderRoot.querySelector('.scroll');
    const canvas = this.renderRoot.querySelector<HTMLElement>('.canvas');
    if (!this.isConnected || this.family === undefined) return;
    if (scroll === null || canvas === null || scroll.clientWidth === 0 || scroll.clientHeight === 0) return;
    const drawn = this.family.draw(this.#drawing(scroll.clientWidth, scroll.clientHeight));
    if (typeof drawn === 'string') {
      this.#dispose();
      this.problem = { text: drawn, isRetriable: false };
      return;
    }
    this.picture = drawn;
    const isTaller = drawn.height !== null && drawn.height > scroll.clientHeight;
    // Paper cannot be scrolled: the card becomes as high as its chart.
    const beyond = isTaller && drawn.height !== null ? drawn.height - scroll.clientHeight : 0;
    if (this.isPrinted) this.dispatchEvent(new CustomEvent('beyond', { detail: beyond }));
    canvas.style.height = isTaller ? `${drawn.height}px` : '100%';
    const chart = this.#chart ?? this.#start(canvas, this.family);
    chart.resize();
    this.#hideTip();
    this.#hintAtMore();
    chart.setOption(drawn.option, { notMerge: true });
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

  #drawing(width: number, height: number): Drawing {
    const isReducedMotion =
      matchMedia('(prefers-reduced-motion: reduce)').matches || this.isPrinted || this.#chart !== undefined;
    const { answer, format, metric } = this;
    const theme = readChartTheme(this, this.colours);
    return { name: metric.name, answer, chart: metric.chart, format, theme, isReducedMotion, width, height };
  }

  #start(canvas: HTMLElement, family: Family): ECharts {
    const chart = family.start(canvas, this.isPrinted ? { devicePixelRatio: paperDensity } : {});
    this.#chart = chart;
    const pixels = chart.getZr();
    pixels.on('click', (event: Pixel) => this.#click(this.#axisMark(chart, event)));
    pixels.on('mousemove', (event: Pixel) => {
      if (this.picture?.pointing.by !== 'item') this.#showTip(this.#axisMark(chart, event), event);
    });
    pixels.on('globalout', () => this.#hideTip());
    chart.on('mouseout', () => {
      if (this.picture?.pointing.by === 'item') this.#hideTip();
    });
    chart.on('mousemove', (params: unknown) => {
      const event = pixelIn(params);
      if (this.picture?.pointing.by === 'item' && event !== null) this.#showTip(markIn(params), event);
    });
    chart.on('click', (params: unknown) => {
      if (this.picture?.pointing.by === 'item') this.#click(markIn(params));
    });
    return chart;
  }

  #axisMark(chart: ECharts, { offsetX, offsetY }: Pixel): Mark | null {
    const pointing = this.picture?.pointing;
    if (pointing === undefined || pointing.by === 'item') return null;
    if (!chart.containPixel('grid', [offsetX, offsetY])) return null;
    const at = chart.convertFromPixel({ gridIndex: 0 }, [offsetX, offsetY]);
    const value = Array.isArray(at) ? (at[pointing.by === 'y' ? 1 : 0] ?? 0) : at;
    const index = pointing.times === null ? Math.round(value) : nearest(pointing.times, value);
    return index >= 0 && index < pointing.count ? { series: 0, index } : null;
  }

  #click(mark: Mark | null): void {
    const value = mark === null ? undefined : this.picture?.valueAt(mark);
    if (value === undefined) return;
    this.dispatchEvent(new CustomEvent<Cell>('clicked', { detail: value }));
    if (this.isClickable) this.dispatchEvent(new CustomEvent<Cell>('point', { detail: value }));
  }

  #showTip(mark: Mark | null, { offsetX, offsetY }: Pixel): void {
    const tip = mark === null ? null : (this.picture?.tip(mark) ?? null);
    this.#hideTip();
    const area = this.renderRoot.querySelector<HTMLElement>('.scroll');
    if (tip === null || area === null) return;
    this.#tip = tooltipNode(tip);
    area.parentElement?.append(this.#tip);
    placeTooltip(this.#tip, area, [offsetX, offsetY - area.scrollTop]);
    this.#tip.style.marginTop = `${area.offsetTop}px`;
  }

  #hideTip(): void {
    this.#tip?.remove();
    this.#tip = undefined;
  }
}

/** Pixels for each CSS pixel of a printed chart. */
const paperDensity = 3;

type Pixel = { readonly offsetX: number; readonly offsetY: number };

const legend = (items: readonly LegendItem[]): TemplateResult => html`<ul aria-hidden="true">
  ${items.map(
    ({ name, colour, hasPattern }) =>
      html`<li>
        <svg width="9" height="9" viewBox="0 0 9 9">
          ${svg`<circle cx="4.5" cy="4.5" r=${hasPattern ? 3.2 : 4.5} fill=${hasPattern ? 'none' : colour} stroke=${colour} stroke-width=${hasPattern ? 2 : 0} />`}
        </svg>
        ${name}
      </li>`,
  )}
</ul>`;

const nearest = (times: readonly number[], at: number): number => {
  const distances = times.map((time) => Math.abs(time - at));
  return distances.reduce((best, distance, index) => (distance < (distances[best] ?? Number.NaN) ? index : best), 0);
};

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const pixelIn = (params: unknown): Pixel | null => {
  const event = field(params, 'event');
  const [offsetX, offsetY] = [field(event, 'offsetX'), field(event, 'offsetY')];
  return typeof offsetX === 'number' && typeof offsetY === 'number' ? { offsetX, offsetY } : null;
};

const markIn = (params: unknown): Mark | null => {
  const [series, index, kind] = [field(params, 'seriesIndex'), field(params, 'dataIndex'), field(params, 'dataType')];
  if (typeof series !== 'number' || typeof index !== 'number') return null;
  return { series, index, kind: typeof kind === 'string' ? kind : undefined };
};
