/** Renders Markdown with its references linked. */
import type { Deps } from '../deps.ts';
import { referencesIn } from '../markdown/references.ts';
import { rendered } from '../markdown/render.ts';
import type { Reading } from './reading.ts';
import { resolveReferences } from './resolve.ts';

/** Returns the sanitized HTML of a text for one reader. */
export async function renderedFor(deps: Deps, text: string, reading: Reading): Promise<string> {
  const { baseUrl, project } = reading;
  const references = referencesIn(text, { baseUrl, withQuotes: true });
  const links = await resolveReferences(deps, references, reading);
  const projectUrl = project === undefined ? {} : { projectUrl: `${baseUrl}/${project.project.fullPath}` };
  return rendered(text, { baseUrl, links, ...projectUrl });
}
