import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { renderedAsciidoc } from '../markdown/asciidoc.ts';
import { asWritten, piecesAsWritten } from '../markdown/render.ts';
import { renderedFor } from '../references/render.ts';
import type { WikiOf } from './access.ts';
import type { PageText, PageWithText } from './pages.ts';

/** Facts about a page, before its text: at most 10,000 characters, so that a text without an end costs nothing. */
const FRONT_MATTER = /^---[ \t]*\r?\n(?:[^\n]{0,1000}\n){0,100}?---[ \t]*(?:\r?\n|$)/;

/**
 * Returns the sanitized HTML of a page for one reader. RDoc and Org mode are shown as written, and so are long texts, in
 * pieces; references are links in Markdown alone.
 */
export async function renderedPage(
  deps: Deps,
  { format, text: content }: PageWithText,
  { actor, wiki, baseUrl }: { readonly actor: Actor; readonly wiki: WikiOf; readonly baseUrl: string },
): Promise<PageText> {
  if (typeof content !== 'string') return piecesAsWritten(content);
  if (format === 'rdoc' || format === 'org') return asWritten(content);
  const text = content.replace(FRONT_MATTER, '');
  const project = 'project' in wiki ? wiki.project : undefined;
  if (format === 'asciidoc') {
    const projectUrl = project && { projectUrl: `${baseUrl}/${project.project.fullPath}` };
    return renderedAsciidoc(text, { baseUrl, ...projectUrl });
  }
  return renderedFor(deps, text, { actor, baseUrl, project });
}
