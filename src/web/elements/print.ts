/** Prints one element of a page: the rest of the page is left out while the browser prints. */

const left = 'data-guestlist-unprinted';
const above = 'data-guestlist-above-print';

/** An app often gives its main part a fixed height. On paper that would cut everything below the first page. */
const rules = `
@page { size: A4; margin: 12mm; }
@media print {
  [${left}] { display: none !important; }
  [${above}] {
    display: block !important; position: static !important; overflow: visible !important; float: none !important;
    width: auto !important; min-width: 0 !important; max-width: none !important;
    height: auto !important; min-height: 0 !important; max-height: none !important;
    margin: 0 !important; padding: 0 !important; border: 0 !important;
    background: none !important; transform: none !important; filter: none !important; contain: none !important;
  }
}`;

const parentOf = (node: Element): Element | null => {
  if (node.assignedSlot !== null) return node.assignedSlot;
  if (node.parentElement !== null) return node.parentElement;
  const root = node.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
};

const siblingsOf = (node: Element): readonly Element[] => {
  const { parentNode } = node;
  return parentNode === null ? [] : [...parentNode.children].filter((other) => other !== node);
};

/** Leaves everything but `element` out of the page's next print. Returns the function that undoes it. */
export const isolateForPrint = (element: Element): (() => void) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  const roots = new Set<Document | ShadowRoot>();
  const marked: [Element, string][] = [];
  const mark = (node: Element, name: string): void => {
    if (node.hasAttribute(name)) return;
    node.setAttribute(name, '');
    marked.push([node, name]);
  };
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    const root = node.getRootNode();
    if (root instanceof Document || root instanceof ShadowRoot) roots.add(root);
    if (node !== element) mark(node, above);
    for (const other of siblingsOf(node)) if (!(other instanceof HTMLHeadElement)) mark(other, left);
  }
  for (const root of roots) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  return () => {
    for (const [node, name] of marked) node.removeAttribute(name);
    for (const root of roots) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((each) => each !== sheet);
  };
};

const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));

/** Resolves when nothing is busy in two frames in a row. */
export const untilIdle = async (isBusy: () => boolean): Promise<void> => {
  for (let idle = 0; idle < 2; idle = isBusy() ? 0 : idle + 1) await frame();
};
