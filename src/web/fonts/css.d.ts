/** A style sheet as its text: the bundles take it so. */
declare module '*.css' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: an import of a file has one value
  export default text;
}
