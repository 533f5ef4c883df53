/** Takes files that are dropped on the page or chosen, asks how their sources are called, and sends them. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Api } from '../base/api.js';
import { link } from '../base/kit.js';
import { addressOf, navigate } from '../base/routes.js';
import { textOf } from '../base/screen.js';
import { isDatabaseFile, sendFile, sizeOf, sourceNameOf, type UploadedSource } from '../base/uploads.js';

type Item = {
  readonly file: File;
  readonly source: string;
  readonly sent: number;
  readonly state: 'chosen' | 'sending' | 'done' | 'failed';
  readonly failure: string | null;
};

const accept = '.csv,.tsv,.txt,.parquet,.duckdb,.ddb,.db';

export class FileUpload extends LitElement {
  static override properties = {
    api: { attribute: false },
    maxBytes: { attribute: false },
    taken: { attribute: false },
    target: { attribute: false },
    items: { state: true },
    isOver: { state: true },
    isTogether: { state: true },
    isSending: { state: true },
  };
  declare api: Api;
  declare maxBytes: number;
  /** The names of all sources. */
  declare taken: readonly string[];
  /** The source that gets newer files. Null: each file becomes a source. */
  declare target: UploadedSource | null;
  declare items: readonly Item[];
  declare isOver: boolean;
  /** Whether CSV and Parquet files become tables of one source. */
  declare isTogether: boolean;
  declare isSending: boolean;
  #listening = new AbortController();
  #sending = new AbortController();

  constructor() {
    super();
    this.items = [];
    this.isOver = false;
    this.isTogether = false;
    this.isSending = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** A file may be dropped anywhere on the page: beside the zone, the browser would otherwise leave Studio for it. */
  override connectedCallback(): void {
    super.connectedCallback();
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true;
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.isOver = true;
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) this.isOver = false;
    };
    const drop = (event: DragEvent): void => {
      this.isOver = false;
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.#take([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener('dragover', over, { signal });
    window.addEventListener('dragleave', leave, { signal });
    window.addEventListener('drop', drop, { signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#listening.abort();
    this.#sending.abort();
  }

  #take(files: readonly File[]): void {
    if (this.isSending || files.length === 0) return;
    const items: Item[] = this.items.filter(({ state }) => state === 'chosen');
    for (const file of files) {
      const taken = [...this.taken, ...items.map(({ source }) => source)];
      const source = this.target?.name ?? sourceNameOf(file.name, taken);
      const failure = file.size > this.maxBytes ? `Larger than ${sizeOf(this.maxBytes)}, the limit here.` : null;
      items.push({ file, source, sent: 0, state: failure === null ? 'chosen' : 'failed', failure });
    }
    this.items = items;
  }

  #change(at: number, change: Partial<Item>): void {
    this.items = this.items.map((item, index) => (index === at ? { ...item, ...change } : item));
  }

  protected override render(): TemplateResult {
    const chosen = (event: Event): void => {
      const input = event.target as HTMLInputElement;
      this.#take([...(input.files ?? [])]);
      input.value = '';
    };
    const what = this.target === null ? 'Drop CSV, Parquet or DuckDB files here' : 'Drop a newer file here';
    return html`<section class="card drop ${this.isOver ? 'over' : ''}" aria-label="Upload files">
      <p><strong>${what}</strong>, or
        <label class="button quiet pick">choose files<input type="file" multiple accept=${accept} ?disabled=${this.isSending} @change=${chosen} /></label>
        <span class="soft">${this.#hint()} Up to ${sizeOf(this.maxBytes)} each.</span></p>
      ${this.items.length === 0 ? nothing : this.#form()}
    </section>`;
  }

  #hint(): string {
    if (this.target === null) return 'The first line of a CSV file has the names of its columns.';
    return this.target.kind === 'tables'
      ? 'A CSV or Parquet file replaces the table of its name, or adds one.'
      : 'A DuckDB file replaces the whole file.';
  }

  #form(): TemplateResult {
    const waits = this.items.some(({ state }) => state === 'chosen');
    return html`<form @submit=${this.#send}>
      ${this.#togetherChoice()}
      <ul class="files">${this.items.map((item, index) => this.#item(item, index))}</ul>
      <div class="buttons">
        ${
          this.isSending
            ? html`<button type="button" class="quiet" @click=${() => this.#sending.abort()}>Cancel</button>`
            : html`<button type="button" class="quiet" @click=${() => this.#clear()}>${waits ? 'Cancel' : 'Close'}</button>`
        }
        ${waits || this.isSending ? html`<button ?disabled=${this.isSending}>${this.isSending ? 'Uploading…' : 'Upload'}</button>` : nothing}
      </div>
    </form>`;
  }

  #clear(): void {
    this.items = [];
  }

  #togetherChoice(): TemplateResult | typeof nothing {
    const tables = this.items.filter(({ file, state }) => !isDatabaseFile(file) && state === 'chosen');
    if (this.target !== null || tables.length < 2 || this.isSending) return nothing;
    const choose = (event: Event): void => {
      this.isTogether = (event.target as HTMLInputElement).checked;
    };
    return html`<label class="inline"><input type="checkbox" name="together" .checked=${this.isTogether} @change=${choose} />
      CSV and Parquet files are tables of one source</label>`;
  }

  /** The source of an item: with files of one source, that of the first. */
  #sourceOf(item: Item): string {
    if (!this.isTogether || isDatabaseFile(item.file)) return item.source;
    return this.items.find(({ file }) => !isDatabaseFile(file))?.source ?? item.source;
  }

  #item(item: Item, index: number): TemplateResult {
    const { file, source, sent, state, failure } = item;
    const isNamed = this.target === null && state === 'chosen' && this.#sourceOf(item) === source;
    const name = (event: Event): void =>
      this.#change(index, { source: (event.target as HTMLInputElement).value.trim() });
    const left = (): void => {
      this.items = this.items.filter((_, at) => at !== index);
    };
    return html`<li>
      <span class="file"><strong>${file.name}</strong> <span class="soft">${sizeOf(file.size)}</span></span>
      ${isNamed ? html`<label>Source<input name="source" required maxlength="120" autocomplete="off" .value=${source} ?disabled=${this.isSending} @change=${name} /></label>` : nothing}
      ${state === 'sending' ? progressOf(file, sent) : nothing}
      ${state === 'done' ? html`<span class="badge good">uploaded</span> ${this.target === null ? link(addressOf('models', ['new'], { source: this.#sourceOf(item) }), 'Describe its tables') : nothing}` : nothing}
      ${failure === null ? nothing : html`<p class="notice bad" role="alert">${failure}</p>`}
      ${state === 'chosen' && !this.isSending ? html`<button type="button" class="text" @click=${left}>Leave out<span class="sr"> ${file.name}</span></button>` : nothing}
    </li>`;
  }

  readonly #send = async (event: Event): Promise<void> => {
    event.preventDefault();
    this.#sending = new AbortController();
    this.isSending = true;
    const made = new Set<string>();
    for (const [index, item] of this.items.entries()) {
      if (item.state !== 'chosen' || this.#sending.signal.aborted) continue;
      const source = this.#sourceOf(item);
      await this.#sendOne(index, source, made.has(source));
      if (this.items[index]?.state === 'done') made.add(source);
    }
    this.isSending = false;
    const [only] = made;
    const isWhole = this.items.every(({ state }) => state === 'done');
    if (this.target === null && isWhole && made.size === 1 && only !== undefined) {
      navigate(addressOf('models', ['new'], { source: only }));
    } else if (made.size > 0) this.dispatchEvent(new CustomEvent('uploaded', { detail: { isWhole } }));
  };

  async #sendOne(at: number, source: string, isMade: boolean): Promise<void> {
    const file = this.items[at]?.file;
    if (file === undefined) return;
    this.#change(at, { state: 'sending', sent: 0 });
    const progress = (sent: number): void => this.#change(at, { sent });
    try {
      const sending = { source, file, isNewer: isMade || this.target !== null };
      await sendFile(this.api, sending, progress, this.#sending.signal);
      this.#change(at, { state: 'done' });
    } catch (error) {
      this.#change(at, { state: 'failed', failure: textOf(error) });
    }
  }
}

const progressOf = (file: File, sent: number): TemplateResult =>
  sent < file.size
    ? html`<progress max=${file.size} value=${sent} aria-label="Uploading ${file.name}"></progress>`
    : html`<progress aria-label="Reading ${file.name}"></progress><span class="soft" role="status">Reading the file…</span>`;

customElements.define('studio-upload', FileUpload);
