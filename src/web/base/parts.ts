/** The parts of the elements that a page may style by `::part(…)`. */
const parts = [
  ...['head', 'heading', 'filters', 'filter', 'locked', 'control', 'button', 'icon-button', 'chip', 'option', 'day'],
  ...['card', 'card-header', 'title', 'body', 'legend', 'series', 'input', 'value', 'note', 'state', 'tooltip'],
  ...['table', 'header-cell', 'cell', 'menu', 'menu-item', 'dialog', 'tabs', 'tab', 'tenants', 'side-bar'],
] as const;

/** For the attribute `exportparts` of each element inside of another. */
export const exported = parts.join(', ');
