/** The field of a search in a list. */
import { html, type TemplateResult } from 'lit';

type Search = {
  readonly label: string;
  /** Left out: the label. */
  readonly placeholder?: string;
  readonly value: string;
  readonly search: (text: string) => void;
};

export const searchField = ({ label, placeholder = label, value, search }: Search): TemplateResult =>
  html`<input type="search" part="input" aria-label=${label} placeholder=${placeholder} autocomplete="off" .value=${value}
    @input=${({ target }: Event) => search((target as HTMLInputElement).value)} />`;
