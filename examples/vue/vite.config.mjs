import vue from '@vitejs/plugin-vue';

// Vue leaves the elements to the browser.
const isCustomElement = (tag) => tag.startsWith('guestlist-');

export default { plugins: [vue({ template: { compilerOptions: { isCustomElement } } })] };
