/**
 * An editor for a policy file, for JSON, or for SQL (`language="sql"`): colours, line numbers, faults at their place, and
 * the words that may be written where the cursor is. `read-only`: it only shows. `short`: it is a few lines high. It stands in a shadow root, because its styles are adopted there, which the strict content policy allows.
 */
import { autocompletion, type Completion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { sql } from '@codemirror/lang-sql';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { CodeFault } from '../base/sql-faults.js';

/** A word of the language or of this installation, and what it is. */
export type CodeWord = { readonly label: string; readonly detail: string };

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--ink)' },
  { tag: [tags.number, tags.bool, tags.keyword], color: 'var(--good)' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
]);

const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--paper)', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-content': { fontFamily: 'ui-monospace, monospace', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-scroller': { maxHeight: '70vh', minHeight: 'var(--code-height, 320px)', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--paper)', color: 'var(--soft)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--paper)' },
});

/** For a text of few lines. */
const shortTheme = EditorView.theme({ '.cm-scroller': { minHeight: '56px', maxHeight: '220px' } });

/** Offers the words that go on with what stands before the cursor. Quotes and brackets of an expression end a word. */
const completing = (words: () => readonly CodeWord[]) => (context: CompletionContext) => {
  const before = context.matchBefore(/[\w.$-]+/);
  if (before === null && !context.explicit) return null;
  const options: Completion[] = words().map(({ label, detail }) => ({ label, detail, type: 'text' }));
  return { from: before?.from ?? context.pos, options, validFor: /^[\w.$-]*$/ };
};

export class Code extends HTMLElement {
  words: readonly CodeWord[] = [];
  #view: EditorView | undefined;
  #text = '';
  #isOurs = false;
  #faults: readonly CodeFault[] = [];

  get text(): string {
    return this.#view?.state.doc.toString() ?? this.#text;
  }

  /** A text that the editor has already is not written again, so the cursor stays. */
  set text(text: string) {
    this.#text = text;
    const view = this.#view;
    if (view === undefined || view.state.doc.toString() === text) return;
    this.#isOurs = true;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    this.#isOurs = false;
  }

  set faults(faults: readonly CodeFault[]) {
    this.#faults = faults;
    const view = this.#view;
    if (view === undefined) return;
    const marks = faults.map(({ line, column, message, severity }): Diagnostic => {
      const from = this.#offset(view, line, column);
      return { from, to: view.state.doc.lineAt(from).to, severity: severity ?? 'error', message };
    });
    view.dispatch(setDiagnostics(view.state, marks));
  }

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    const state = EditorState.create({ doc: this.#text, extensions: this.#extensions() });
    this.#view = new EditorView({ state, parent: root, root });
    // A region that scrolls must be reachable by itself, for who only reads.
    this.#view.scrollDOM.tabIndex = 0;
    this.faults = this.#faults;
  }

  disconnectedCallback(): void {
    this.#text = this.text;
    this.#view?.destroy();
    this.#view = undefined;
  }

  /** Puts the cursor at a place, and shows it. */
  goTo(line: number, column: number): void {
    const view = this.#view;
    if (view === undefined) return;
    const anchor = this.#offset(view, line, column);
    view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
    view.focus();
  }

  #offset({ state: { doc } }: EditorView, line: number, column: number): number {
    const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
    return Math.min(found.from + Math.max(column, 1) - 1, found.to);
  }

  #extensions(): readonly Extension[] {
    const changed = EditorView.updateListener.of(({ docChanged }) => {
      if (docChanged && !this.#isOurs) this.dispatchEvent(new CustomEvent('text-change', { detail: this.text }));
    });
    return [
      [
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
      ],
      [
        // JSON is YAML too.
        this.getAttribute('language') === 'sql' ? sql() : yaml(),
        this.hasAttribute('read-only') ? [EditorState.readOnly.of(true), EditorView.lineWrapping] : [],
        syntaxHighlighting(colours),
        autocompletion({ override: [completing(() => this.words)] }),
      ],
      // The key Tab leaves the editor, as it leaves every other field.
      keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
      [EditorView.contentAttributes.of({ 'aria-label': this.getAttribute('label') ?? '' }), changed],
      this.hasAttribute('short') ? [shortTheme, theme] : theme,
    ];
  }
}

customElements.define('studio-code', Code);
