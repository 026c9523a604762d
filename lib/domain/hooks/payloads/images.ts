import { type ProjectFacts, projectUrl } from './parts.ts';

/** An image whose address has no host. Its parts are bounded, so that a hostile text takes no longer than its length allows. */
const IMAGE = /!\[([^\n\]]{0,500})\]\((?!https?:\/\/|\/\/)([^\n()]{1,500})\)/g;
const FENCE = /^ {0,3}(```|~~~)/;

/** A text whose images can be shown elsewhere too: with their whole addresses, outside of blocks of code. */
export function withAbsoluteImages(text: string | null, { project, baseUrl }: ProjectFacts): string | null {
  if (text === null || !text.includes('![')) return text;
  let fence: string | undefined;
  return text
    .split('\n')
    .map((line) => {
      const [, mark] = FENCE.exec(line) ?? [];
      if (mark !== undefined && (fence === undefined || fence === mark)) {
        fence = fence === undefined ? mark : undefined;
        return line;
      }
      return fence === undefined ? line.replace(IMAGE, absolute) : line;
    })
    .join('\n');

  function absolute(_: string, title: string, path: string): string {
    const base = path.startsWith('/uploads/') ? projectUrl(project, baseUrl) : baseUrl;
    return `![${title}](${base}${path.startsWith('/') ? '' : '/'}${path})`;
  }
}
