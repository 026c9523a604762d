/** Packages that bring no types, or more than is used of them. */
declare module 'markdown-it-footnote' {
  import type { MarkdownIt } from 'markdown-it';

  const plugin: (parser: MarkdownIt) => void;
  export default plugin;
}

declare module 'markdown-it-emoji/lib/data/full.mjs' {
  const names: Readonly<Record<string, string>>;
  export default names;
}

declare module '@asciidoctor/core' {
  export function convert(text: string, options: object): Promise<unknown>;
  export const LoggerManager: { logger: unknown };
  export const NullLogger: new () => unknown;
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
