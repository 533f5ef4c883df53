/**
 * Draws an answer on a canvas. Fires `settled` when its script has come and the chart is drawn, or cannot be; `point` with
 * the cell of a mark that was chosen; `period` with the period that was dragged over. Text from the data becomes canvas
 * text or DOM text, never HTML.
 */
import type { ECharts } from 'echarts/core';
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import type { CrossFilter, GuestMetric } from '../../model/guest/view.js';
import type { Cell, MetricAnswer } from '../../model/query/engine.js';
import type { Format } from '../base/format.js';
import { createLatest } from '../base/latest.js';
import { loadPart } from '../base/load-part.js';
import { isOthers } from '../base/others.js';
import { exported } from '../base/parts.js';
import { emptyState, errorState, loadingState, stateStyles } from '../base/states.js';
import { baseStyles, plainName, readChartTheme } from '../base/theme.js';
import { ownTurn } from '../base/turns.js';
import { type Period, periodOf, type Range, rangeOf, shortestDrag } from './brush.js';
import { legend, legendStyles } from './legend.js';
import { withChosen } from './model/chosen.js';
import { overlapNote, truncationNote } from './model/columns.js';
import type { Drawing, Mark, Picture } from './model/drawing.js';
import type { Choice } from './model/plot.js';
import type { SlotMemory } from './model/slots.js';
import { inSentences } from './model/summary.js';
import { type Family, rendererOf } from './registry.js';
import { placeTooltip, tooltipNode, tooltipStyles } from './tooltip.js';

export class ChartView extends LitElement {
  static override properties = {
    metric: { attribute: false },
    answer: { attribute: false },
    format: { attribute: false },
    colours: { attribute: false },
    /** Changes with the theme, which makes the chart read its colours again. */
    slots: { attribute: false },
    themeKey: { attribute: false },
    isClickable: { attribute: false },
    chosen: { attribute: false },
    isPrinted: { attribute: false },
    family: { state: true },
    problem: { state: true },
    picture: { state: true },
    switchedOff: { state: true },
    zoom: { state: true },
    said: { state: true },
    picked: { state: true },
  };
  declare metric: GuestMetric;
  declare answer: MetricAnswer;
  declare format: Format;
  declare colours: readonly string[];
  /** The colours of values, which the charts of a dashboard share. Undefined: this chart has its own. */
  declare slots: SlotMemory | undefined;
  declare themeKey: string;
  declare isClickable: boolean;
  /** True while the page is printed: the chart has the density of paper. */
  declare isPrinted: boolean;
  declare family: Family | undefined;
  /** Why the chart cannot be drawn. `isRetriable`: its script did not arrive. */
  declare problem: { readonly text: string; readonly isRetriable: boolean } | undefined;
  declare picture: Picture | undefined;
  /** The mark of this chart that filters the others. */
  declare chosen: CrossFilter | undefined;
  /** Keys of the series that the reader switched off. They stay off when the data is read again. */
  declare switchedOff: ReadonlySet<string>;
  /** The period shown, if the reader chose one here. */
  declare zoom: Range | null;
  /** The mark that the keyboard is on, in words. */
  declare said: string;

  /** The series that the reader chose of many; null: the largest. */
  declare picked: ReadonlySet<string> | null;

  #chart: ECharts | undefined;
  #tip: HTMLElement | undefined;
  #observed: Element | null = null;
  /** The mark that the keyboard is on: its place in the picture's order. */
  #at = -1;
  /** Where a drag began, and the strip that shows it. */
  #drag: { readonly mark: Mark; readonly x: number; readonly strip: HTMLElement } | undefined;
  readonly #ownSlots: SlotMemory = {};
  readonly #loads = createLatest();
  /** Width and height of the last drawing. */
  #size = '';
  /** What the card has grown by, on paper. */
  #beyond = 0;
  readonly #resizes = new ResizeObserver(() => {
    if (this.#size !== sizeOf(this.renderRoot.querySelector('.scroll'))) this.#draw();
  });

  constructor() {
    super();
    this.colours = [];
    this.themeKey = '';
    this.isClickable = false;
    this.isPrinted = false;
    this.switchedOff = new Set();
    this.zoom = null;
    this.said = '';
    this.picked = null;
  }

  static override styles = [
    baseStyles,
    stateStyles,
    tooltipStyles,
    legendStyles,
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
      .scroll:focus-visible {
        outline-offset: -2px;
        border-radius: 6px;
      }
      .brush {
        position: absolute;
        top: 0;
        bottom: 0;
        left: 0;
        pointer-events: none;
        border: 1px solid var(--gl-accent);
        border-width: 0 1px;
        background: color-mix(in srgb, var(--gl-accent) 14%, transparent);
      }
      .reset {
        align-self: flex-end;
        flex: none;
        min-height: 26px;
        margin-bottom: 4px;
        padding: 0 8px;
        font-size: 12px;
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
    document.fonts.addEventListener('loadingdone', this.#fontsCame);
    if (this.hasUpdated) this.#observe();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.fonts.removeEventListener('loadingdone', this.#fontsCame);
    this.#resizes.disconnect();
    this.#observed = null;
    this.#loads.cancel();
    this.#dispose();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('metric');
    if (changed.has('metric') && before?.metricId !== this.metric.metricId) {
      this.switchedOff = new Set();
      this.zoom = null;
      this.picked = null;
    }
    if (changed.has('metric') && before?.chart.type !== this.metric.chart.type) this.#load();
  }

  protected override updated(changed: PropertyValues<this>): void {
    this.#observe();
    if (changed.has('isPrinted') && changed.get('isPrinted') !== undefined) {
      this.#dispose();
      this.#growBy(0);
    }
    if ([...changed.keys()].some((name) => !silent.has(String(name)))) this.#draw();
    const isSettled = this.family !== undefined || this.problem !== undefined;
    if (isSettled && (changed.has('family') || changed.has('problem'))) this.dispatchEvent(new Event('settled'));
  }

  override render() {
    const { problem, picture } = this;
    if (problem !== undefined) return this.#problem(problem);
    if (this.family === undefined) {
      const { name, chart } = this.metric;
      return loadingState(this.format.text('Loading {name}', { name }), chart.type);
    }
    const ofAnswer = [truncationNote(this.answer, this.format), overlapNote(this.answer, this.format)];
    const notes = [...ofAnswer.filter((note) => note !== null), ...(picture?.notes ?? [])];
    return html`<div class="frame">
      ${picture === undefined || picture.legend.length === 0 ? null : legend(picture.legend, this.#toggle, this.format.text)}
      ${this.#seriesPicker()}
      ${this.zoom === null ? null : html`<button class="button reset" part="button" type="button" @click=${this.#resetZoom}>${this.format.text('Reset zoom')}</button>`}
      <div
        class=${this.isPrinted ? 'scroll whole' : 'scroll'}
        role="application"
        aria-roledescription=${this.format.text('chart')}
        aria-label=${this.format.text('{name}, chart. Arrow keys move between values.', { name: this.metric.name })}
        tabindex="0"
        @scroll=${this.#hintAtMore}
        @keydown=${this.#key}
        @blur=${this.#leave}
      >
        <div class="canvas" role="img" aria-label=${picture?.summary ?? this.metric.name}></div>
      </div>
      <span class="sr" aria-live="polite">${this.said}</span>
      ${notes.length === 0 ? null : html`<p class="note quiet" part="note">${inSentences(notes, this.format)}</p>`}
    </div>`;
  }

  /** Comes with the controls. */
  #seriesPicker(): TemplateResult | null {
    const offered = this.picture?.offered;
    if (offered === undefined || this.isPrinted) return null;
    return html`<guestlist-series exportparts=${exported} .offered=${offered} .text=${this.format.text} @pick=${this.#pick}></guestlist-series>`;
  }

  readonly #pick = ({ detail }: CustomEvent<ReadonlySet<string> | null>): void => {
    this.picked = detail;
    this.switchedOff = new Set();
  };

  #problem({ text, isRetriable }: NonNullable<ChartView['problem']>): TemplateResult {
    if (!isRetriable) return emptyState(text);
    const { format } = this;
    return errorState(format.text, format.text('This chart can’t be shown'), text, () => this.#load(), true);
  }

  #load(): void {
    const renderer = rendererOf(this.metric.chart.type);
    this.problem = undefined;
    this.family = undefined;
    this.picture = undefined;
    this.#dispose();
    if (renderer.kind !== 'chart') return;
    this.#loads.run(
      async () => {
        const family = await loadPart(renderer.load);
        await ownTurn();
        return family;
      },
      (family) => {
        this.family = family;
      },
      () => {
        this.problem = { text: this.format.text('A part of the page could not be loaded.'), isRetriable: true };
      },
    );
  }

  readonly #toggle = (key: string): void => {
    const hidden = new Set(this.switchedOff);
    if (!hidden.delete(key)) hidden.add(key);
    this.switchedOff = hidden;
  };

  readonly #resetZoom = (): void => {
    this.zoom = null;
  };

  #observe(): void {
    const scroll = this.renderRoot.querySelector('.scroll');
    if (scroll === this.#observed) return;
    this.#resizes.disconnect();
    this.#observed = scroll;
    if (scroll !== null) this.#resizes.observe(scroll);
  }

  /** A canvas does not draw again by itself. */
  readonly #fontsCame = async ({ fontfaces }: FontFaceSetLoadEvent): Promise<void> => {
    const names = getComputedStyle(this).fontFamily;
    if (!fontfaces.some(({ family }) => names.includes(plainName(family)))) return;
    await ownTurn();
    if (this.#chart !== undefined) this.#draw();
  };

  #dispose(): void {
    this.#leave();
    this.#chart?.dispose();
    this.#chart = undefined;
    this.#size = '';
  }

  #draw(): void {
    const scroll = this.renderRoot.querySelector('.scroll');
    const canvas = this.renderRoot.querySelector<HTMLElement>('.canvas');
    if (!this.isConnected || this.family === undefined) return;
    if (scroll === null || canvas === null || scroll.clientWidth === 0 || scroll.clientHeight === 0) return;
    this.#size = sizeOf(scroll);
    // What the card grew by for this chart is not the chart's to fill, or it would shrink again.
    const room = scroll.clientHeight - this.#beyond;
    const drawn = this.family.draw(this.#drawing(scroll.clientWidth, room));
    if (typeof drawn === 'string') {
      this.#dispose();
      this.problem = { text: drawn, isRetriable: false };
      return;
    }
    this.picture = drawn;
    const isTaller = drawn.height !== null && drawn.height > room;
    // Paper cannot be scrolled: the card becomes as high as its chart.
    if (this.isPrinted) this.#growBy(isTaller && drawn.height !== null ? drawn.height - room : 0);
    canvas.style.height = isTaller ? `${drawn.height}px` : '100%';
    const chart = this.#chart ?? this.#start(canvas, this.family);
    chart.resize();
    this.#leave();
    this.#hintAtMore();
    chart.setOption(withChosen(drawn, this.chosen).option, { notMerge: true });
  }

  #growBy(beyond: number): void {
    this.#beyond = beyond;
    this.dispatchEvent(new CustomEvent('beyond', { detail: beyond }));
  }

  /** Marks a chart that is taller than its card: it fades out at the bottom. */
  readonly #hintAtMore = (): void => {
    const scroll = this.renderRoot.querySelector<HTMLElement>('.scroll');
    if (scroll === null) return;
    const hidden = scroll.scrollHeight - scroll.clientHeight;
    scroll.toggleAttribute('data-more', hidden - scroll.scrollTop > 4);
  };

  /** What the reader has switched off and zoomed to. */
  get choice(): Choice {
    return { hidden: this.switchedOff, zoom: this.zoom, ...(this.picked === null ? {} : { picked: this.picked }) };
  }

  /** The colours of the values that the chart shows. */
  get shownSlots(): SlotMemory {
    return this.slots ?? this.#ownSlots;
  }

  #drawing(width: number, height: number): Drawing {
    const isReducedMotion =
      matchMedia('(prefers-reduced-motion: reduce)').matches || this.isPrinted || this.#chart !== undefined;
    const { answer, format, metric, choice, shownSlots: slots } = this;
    const theme = readChartTheme(this, this.colours);
    const { name, chart } = metric;
    return { name, answer, chart, format, theme, isReducedMotion, choice, slots, width, height };
  }

  #start(canvas: HTMLElement, family: Family): ECharts {
    const chart = family.start(canvas, this.isPrinted ? { devicePixelRatio: paperDensity } : {});
    this.#chart = chart;
    const pixels = chart.getZr();
    pixels.on('click', (event: Pixel) => this.#click(this.#axisMark(chart, event)));
    pixels.on('mousemove', (event: Pixel) => {
      if (this.#drag !== undefined) this.#dragTo(event.offsetX);
      else if (this.picture?.pointing.by !== 'item') this.#showTip(this.#axisMark(chart, event), event);
    });
    pixels.on('mousedown', (event: Pixel) => this.#startDrag(chart, event));
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
    if (!chart.containPixel({ gridIndex: 'all' }, [offsetX, offsetY])) return null;
    const at = chart.convertFromPixel({ gridIndex: 0 }, [offsetX, offsetY]);
    const value = Array.isArray(at) ? (at[pointing.by === 'y' ? 1 : 0] ?? 0) : at;
    const index = pointing.times === null ? Math.round(value) : nearest(pointing.times, value);
    return index >= 0 && index < pointing.count ? { series: 0, index } : null;
  }

  /** A drag over a chart of time chooses a period. */
  #startDrag(chart: ECharts, event: Pixel): void {
    const area = this.renderRoot.querySelector<HTMLElement>('.scroll');
    const isOverTime = this.picture?.periods != null && this.picture.pointing.by === 'x';
    const mark = isOverTime ? this.#axisMark(chart, event) : null;
    if (mark === null || area === null) return;
    const strip = document.createElement('div');
    strip.className = 'brush';
    strip.hidden = true;
    area.append(strip);
    this.#drag = { mark, x: event.offsetX, strip };
    const end = (up: MouseEvent): void => {
      const x = up.clientX - area.getBoundingClientRect().left;
      this.#endDrag(chart, { offsetX: x, offsetY: event.offsetY });
    };
    window.addEventListener('mouseup', end, { once: true });
  }

  #dragTo(x: number): void {
    if (this.#drag === undefined) return;
    const { strip, x: start } = this.#drag;
    this.#hideTip();
    strip.hidden = Math.abs(x - start) < shortestDrag;
    strip.style.width = `${Math.abs(x - start)}px`;
    strip.style.transform = `translateX(${Math.min(x, start)}px)`;
  }

  #endDrag(chart: ECharts, { offsetX, offsetY }: Pixel): void {
    const drag = this.#drag;
    const { periods, pointing } = this.picture ?? {};
    this.#drag = undefined;
    drag?.strip.remove();
    if (drag === undefined || periods == null || pointing === undefined || pointing.by === 'item') return;
    if (Math.abs(offsetX - drag.x) < shortestDrag || chart.isDisposed()) return;
    const edge = offsetX < drag.x !== this.#isMirrored ? 0 : pointing.count - 1;
    const range = rangeOf(periods, drag.mark.index, this.#axisMark(chart, { offsetX, offsetY })?.index ?? edge);
    if (range === null) return;
    const detail = periodOf(periods, range);
    const chosen = new CustomEvent<Period>('period', { detail, cancelable: true });
    // Without a listener that makes a filter of it, the chart itself shows the period.
    if (this.dispatchEvent(chosen)) this.zoom = range;
  }

  readonly #key = (event: KeyboardEvent): void => {
    const marks = this.#marks();
    const next = this.#at + 1;
    const previous = this.#at < 0 ? marks.length - 1 : this.#at - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: this.#isMirrored ? previous : next,
      ArrowDown: next,
      ArrowLeft: this.#isMirrored ? next : previous,
      ArrowUp: previous,
      Home: 0,
      End: marks.length - 1,
    };
    const to = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (to !== undefined && marks.length > 0) this.#goTo(Math.min(marks.length - 1, Math.max(0, to)), marks);
    else if (event.key === 'Escape' && this.#at >= 0) this.#leave();
    else if (event.key === 'Enter' && this.#at >= 0) this.#click(marks[this.#at] ?? null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** Charts for right-to-left languages start on the right. */
  get #isMirrored(): boolean {
    return getComputedStyle(this).direction === 'rtl';
  }

  #marks(): readonly Mark[] {
    const pointing = this.picture?.pointing;
    if (pointing === undefined) return [];
    if (pointing.by === 'item') return pointing.marks();
    return Array.from({ length: pointing.count }, (_, index) => ({ series: 0, index }));
  }

  /** Shows a mark's tooltip, and says it to screen readers. */
  #goTo(at: number, marks: readonly Mark[]): void {
    const mark = marks[at];
    const chart = this.#chart;
    const area = this.renderRoot.querySelector<HTMLElement>('.scroll');
    if (mark === undefined || chart === undefined || area === null) return;
    this.#at = at;
    const pixel = this.#pixelOf(chart, mark, area);
    if (pixel.offsetY < area.scrollTop || pixel.offsetY > area.scrollTop + area.clientHeight) {
      area.scrollTop = pixel.offsetY - area.clientHeight / 2;
    }
    this.#showTip(mark, pixel);
    this.#point(chart, mark);
    const tip = this.picture?.tip(mark);
    this.said = tip == null ? '' : `${tip.title}: ${tip.lines.map(({ name, value }) => `${name} ${value}`).join(', ')}`;
  }

  /** Where a mark is drawn. A mark without a place on axes has its tooltip in the middle. */
  #pixelOf(chart: ECharts, mark: Mark, area: HTMLElement): Pixel {
    const middle = { offsetX: area.clientWidth / 2, offsetY: area.scrollTop + area.clientHeight / 2 };
    const pointing = this.picture?.pointing;
    if (pointing === undefined) return middle;
    if (pointing.by === 'item') {
      const at = pointing.at?.(mark) ?? null;
      const [offsetX, offsetY] = at === null ? [] : chart.convertToPixel({ seriesIndex: mark.series }, [...at]);
      return offsetX === undefined || offsetY === undefined ? middle : { offsetX, offsetY };
    }
    const place = pointing.times === null ? mark.index : (pointing.times[mark.index] ?? 0);
    if (pointing.by === 'y') return { ...middle, offsetY: chart.convertToPixel({ yAxisIndex: 0 }, place) };
    return { ...middle, offsetX: chart.convertToPixel({ xAxisIndex: 0 }, place) };
  }

  #point(chart: ECharts, { series: seriesIndex, index: dataIndex, kind: dataType }: Mark): void {
    const isItem = this.picture?.pointing.by === 'item';
    if (isItem) chart.dispatchAction({ type: 'downplay' });
    chart.dispatchAction({ type: isItem ? 'highlight' : 'showTip', seriesIndex, dataIndex, dataType });
  }

  /** Ends the keyboard's walk. */
  readonly #leave = (): void => {
    this.#hideTip();
    if (this.#at < 0) return;
    this.#at = -1;
    this.said = '';
    this.#chart?.dispatchAction({ type: 'hideTip' });
    this.#chart?.dispatchAction({ type: 'downplay' });
  };

  #click(mark: Mark | null): void {
    const value = mark === null ? undefined : this.picture?.valueAt(mark);
    if (value === undefined || isOthers(value)) return;
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

const sizeOf = (area: Element | null): string => `${area?.clientWidth} ${area?.clientHeight}`;

/** Pixels for each CSS pixel of a printed chart. */
const paperDensity = 3;

type Pixel = { readonly offsetX: number; readonly offsetY: number };

/** Properties whose change does not change the drawing. */
const silent: ReadonlySet<string> = new Set(['picture', 'problem', 'said']);

/** The index of the time that is nearest. The times ascend. */
const nearest = (times: readonly number[], at: number): number => {
  let [low, high] = [0, times.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < at) low = middle;
    else high = middle;
  }
  return at - (times[low] ?? 0) <= (times[high] ?? 0) - at ? low : high;
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
