import { randomBytes } from 'node:crypto';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type AttachedFile, named, requireAttachable } from '../uploads/uploads.ts';
import type { WikiOf } from './access.ts';
import { UPLOADS } from './page-names.ts';
import { addFile } from './pages.ts';

/** A file in a wiki's repository. */
export interface WikiAttachment extends AttachedFile {
  readonly path: string;
  readonly branch: string;
}

/**
 * Commits a file to a wiki, below a directory whose name nobody guesses.
 * @param branch default: the default branch
 * @throws 413 above `max_attachment_size`, 400 for a branch that does not exist
 */
export async function attachToWiki(
  deps: Deps,
  actor: Actor,
  wiki: WikiOf,
  file: { readonly filename: string; readonly bytes: Uint8Array },
  branch?: string,
): Promise<WikiAttachment> {
  await requireAttachable(deps, file);
  const secret = randomBytes(16).toString('hex');
  const attached = { ...named(file.filename), secret };
  const path = `${UPLOADS}/${secret}/${attached.name}`;
  return { ...attached, path, branch: await addFile(deps, actor, wiki, { path, bytes: file.bytes, branch }) };
}
