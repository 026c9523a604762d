/** Packages that bring no types. */
declare module 'markdown-it-footnote' {
  import type { MarkdownIt } from 'markdown-it';

  const plugin: (parser: MarkdownIt) => void;
  export default plugin;
}

declare module 'markdown-it-emoji/lib/data/full.mjs' {
  const names: Readonly<Record<string, string>>;
  export default names;
}

declare module 'commonmark-spec' {
  /** The examples of the specification; `→` in them is a tab. */
  export const tests: readonly {
    readonly number: number;
    readonly section: string;
    readonly markdown: string;
    readonly html: string;
  }[];
}
