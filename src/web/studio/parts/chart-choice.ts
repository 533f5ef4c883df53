/** The pictures of the chart types, for a screen of Studio. The event `choose` has the type. */
import { css, LitElement, type TemplateResult } from 'lit';
import type { ChartType } from '../../../model/dashboard/chart.js';
import { createFormat } from '../../base/format.js';
import { baseStyles, themeStyles } from '../../base/theme.js';
import { chartPicker, chartPickerStyles } from '../../editor/chart-picker.js';
import type { ChartFit } from '../../editor/charts.js';
import { DarkState } from '../base/dark-state.js';

const english = createFormat('en');

class ChartChoice extends LitElement {
  static override properties = { fits: { attribute: false }, chosen: {} };
  static override styles = [
    themeStyles,
    baseStyles,
    chartPickerStyles,
    css`
      :host {
        background: none;
      }
    `,
  ];
  declare fits: readonly ChartFit[];
  declare chosen: ChartType;

  constructor() {
    super();
    this.fits = [];
    new DarkState(this);
  }

  protected override render(): TemplateResult {
    return chartPicker(this.fits, this.chosen, english, (detail) =>
      this.dispatchEvent(new CustomEvent('choose', { detail })),
    );
  }
}

customElements.define('studio-chart-choice', ChartChoice);
