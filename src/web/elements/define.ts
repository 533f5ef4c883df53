/** Defines elements. The first definition of a name stays. */
export const defineAll = (elements: Readonly<Record<string, CustomElementConstructor>>): void => {
  for (const [name, element] of Object.entries(elements)) {
    if (customElements.get(name) === undefined) customElements.define(name, element);
  }
};
