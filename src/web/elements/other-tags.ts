/**
 * The tags of other clients of this interface, so that a page can move over and stay as it is: their attributes beside ours,
 * and their way to tell that a token has ended.
 */
import { GuestlistDashboard } from './dashboard-element.js';
import type { EmbedElement } from './embed-element.js';
import { GuestlistMetric } from './metric-element.js';

/** A number counts as pixels. Undefined if the text is no size. */
const sizeOf = (text: string | null): string | undefined => {
  const size = text !== null && /^\d+$/.test(text) ? `${text}px` : text;
  return size !== null && CSS.supports('width', size) ? size : undefined;
};

const coloursIn = (value: unknown): string | undefined =>
  Array.isArray(value) ? value.filter((colour) => typeof colour === 'string').join(',') : undefined;

/** Calls the function of the page that the attribute `handle-server-event` names. */
const callHandler = (element: EmbedElement): void => {
  const name = element.getAttribute('handle-server-event');
  const handler: unknown = name === null || !Object.hasOwn(window, name) ? undefined : Reflect.get(window, name);
  if (typeof handler === 'function') handler({ type: 'TOKEN_EXPIRED' });
};

const adopt = (element: EmbedElement): void => {
  element.addEventListener('token-expired', () => callHandler(element));
  element.addController({
    hostUpdate: () => {
      const colours = coloursIn(element.chartColors) ?? coloursIn(element.options.chartColors);
      if (colours !== undefined) element.chartColors = colours;
      for (const side of ['width', 'height']) {
        const size = sizeOf(element.getAttribute(side));
        if (size !== undefined) element.style.setProperty(side, size);
      }
    },
  });
};

/** Registers both elements under these tags as well. A tag that the page has registered before stays as it is. */
export const registerAs = (dashboardTag: string, metricTag: string): void => {
  class OtherDashboard extends GuestlistDashboard {
    constructor() {
      super();
      adopt(this);
    }
  }
  class OtherMetric extends GuestlistMetric {
    constructor() {
      super();
      adopt(this);
    }
  }
  if (customElements.get(dashboardTag) === undefined) customElements.define(dashboardTag, OtherDashboard);
  if (customElements.get(metricTag) === undefined) customElements.define(metricTag, OtherMetric);
};
