/** The base of Studio's parts and screens: they share the page's style sheet, and what they began ends when they leave the page. */
import { LitElement } from 'lit';

export abstract class Part extends LitElement {
  #gone = new AbortController();

  /** Aborts when it leaves the page. It is another one each time that it comes back. */
  protected get gone(): AbortSignal {
    return this.#gone.signal;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#gone = new AbortController();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#gone.abort();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}
