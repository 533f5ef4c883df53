/** The base of every screen: loads what its address names, and shows loading, failure and content in the same way. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { type Api, StudioError } from './api.js';
import { Part } from './part.js';
import type { Place } from './routes.js';
import { watchTenantNames } from './tenant-names.js';

export abstract class Screen<Data> extends Part {
  static override properties = {
    api: { attribute: false },
    place: { attribute: false },
    data: { state: true },
    failure: { state: true },
    notice: { state: true },
    isBusy: { state: true },
  };
  declare api: Api;
  declare place: Place;
  declare data: Data | undefined;
  declare failure: string | null;
  /** What the last action did or why it failed. */
  declare notice: { readonly text: string; readonly isBad: boolean } | null;
  /** Whether an action is under way. */
  declare isBusy: boolean;
  #loading = new AbortController();

  constructor() {
    super();
    this.failure = null;
    this.notice = null;
    this.isBusy = false;
  }

  protected abstract load(signal: AbortSignal): Promise<Data>;
  protected abstract content(data: Data): TemplateResult;

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('place') && this.needsLoad(changed.get('place') as Place | undefined)) void this.reload();
  }

  /** Whether another address needs other data. */
  protected needsLoad(before: Place | undefined): boolean {
    return before === undefined || before.rest.join('/') !== this.place.rest.join('/');
  }

  override connectedCallback(): void {
    super.connectedCallback();
    watchTenantNames(() => this.requestUpdate(), this.gone);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#loading.abort();
  }

  /** Loads anew. What is shown stays until then. */
  protected async reload(): Promise<void> {
    this.#loading.abort();
    const loading = new AbortController();
    this.#loading = loading;
    try {
      const data = await this.load(loading.signal);
      if (loading.signal.aborted) return;
      this.data = data;
      this.failure = null;
    } catch (error) {
      if (!loading.signal.aborted) this.failure = textOf(error);
    }
  }

  /** Runs an action, says what it did, and loads anew. Returns whether it succeeded. */
  protected async act(work: () => Promise<string | null>): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.notice = null;
    try {
      const text = await work();
      if (text !== null) this.notice = { text, isBad: false };
      await this.reload();
      return true;
    } catch (error) {
      this.notice = { text: textOf(error), isBad: true };
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  /** Whether the content says what was done, so that the page does not move for it. Failures stand above. */
  protected get saysNotice(): boolean {
    return false;
  }

  protected override render(): TemplateResult {
    const isAbove = this.data === undefined || this.notice?.isBad !== false || !this.saysNotice;
    return html`${isAbove ? noticeOf(this.notice) : nothing}
      ${this.failure === null ? nothing : failureOf(this.failure, () => void this.reload())}
      ${this.data === undefined ? (this.failure === null ? skeleton : nothing) : this.content(this.data)}`;
  }
}

export const textOf = (error: unknown): string =>
  error instanceof StudioError || error instanceof Error ? error.message : String(error);

const noticeOf = (notice: Screen<unknown>['notice']): TemplateResult =>
  html`<p class=${notice?.isBad === true ? 'notice bad' : 'notice'} role=${notice?.isBad === true ? 'alert' : 'status'} ?hidden=${notice === null}>
    ${notice?.text}
  </p>`;

const failureOf = (text: string, again: () => void): TemplateResult => html`<div class="failure" role="alert">
  <p>${text}</p>
  <button type="button" @click=${again}>Try again</button>
</div>`;

const skeleton = html`<div class="skeleton" role="status" aria-busy="true" aria-label="Loading"><i></i><i></i><i></i></div>`;
