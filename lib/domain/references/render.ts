/** Renders Markdown with its references linked. */
import { inTurns } from '../../git/work.ts';
import type { Deps } from '../deps.ts';
import { referencesIn } from '../markdown/references.ts';
import { rendered } from '../markdown/render.ts';
import { externalLinks } from './external.ts';
import type { Reading } from './reading.ts';
import { resolveReferences } from './resolve.ts';

/** Returns the sanitized HTML of a text for one reader. @param inline of a title: without paragraphs and other blocks */
export async function renderedFor(
  deps: Deps,
  text: string,
  reading: Reading,
  { inline = false } = {},
): Promise<string> {
  const { baseUrl, project } = reading;
  const references = await inTurns(referencesIn(text, { baseUrl, withQuotes: true }));
  const [own, elsewhere] = await Promise.all([
    resolveReferences(deps, references, reading),
    externalLinks(deps, text, references, reading),
  ]);
  const links = elsewhere.size === 0 ? own : new Map([...elsewhere, ...own]);
  const projectUrl = project === undefined ? {} : { projectUrl: `${baseUrl}/${project.project.fullPath}` };
  return rendered(text, { baseUrl, links, external: elsewhere.size > 0, inline, ...projectUrl });
}
