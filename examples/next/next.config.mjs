// The packages are installed here, not in a folder above.
export default { turbopack: { root: import.meta.dirname } };
