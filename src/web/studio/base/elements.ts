/** Loads the script of the elements, once: Studio shows charts with the very elements that a host's page has. */
let loading: Promise<void> | undefined;

export const loadElements = (): Promise<void> => {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.type = 'module';
    script.src = '/elements.js';
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => {
      loading = undefined;
      reject(new Error('The charts could not be loaded. Try again.'));
    });
    document.head.append(script);
  });
  return loading;
};
