/** Files that are attached to texts, for texts that come to another project. */

import { mapLimit } from '../../store/table/map-limit.ts';
import type { Deps } from '../deps.ts';

/** Files of one text that are copied; links to further ones lead nowhere. */
const MAX_FILES = 1000;
const CONCURRENCY = 8;

interface FileLink {
  readonly secret: string;
  readonly name: string;
}

/** The links of a text to files of its project, each once, such as `/uploads/<32 hexadecimal digits>/a.png`. */
function fileLinksIn(text: string): FileLink[] {
  const found = new Map<string, FileLink>();
  for (const [link, secret, name] of text.matchAll(LINK)) {
    if (found.size >= MAX_FILES) break;
    const decoded = nameFrom(name!);
    if (decoded !== undefined) found.set(link, { secret: secret!, name: decoded });
  }
  return [...found.values()];
}

/** With the whole web URL of a project before it, it is a link to that project. */
const LINK = /(?<![\w/.-])\/uploads\/([0-9a-f]{32})\/([^\s()<>[\]"'?#/\\]{1,400})/g;

function nameFrom(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Copies the files that texts link to, under the names they have. Idempotent. */
export async function copyFiles(
  { store }: Deps,
  projectId: number,
  toProjectId: number,
  texts: readonly string[],
): Promise<void> {
  if (projectId === toProjectId) return;
  const links = texts.flatMap(fileLinksIn);
  await mapLimit(CONCURRENCY, links, ({ secret, name }) =>
    store.uploads.copy(projectId, secret, name, toProjectId),
  );
}
